//! The kinds of files with hooks, each with its own rules for faults. Measured on clients 2.1.325 and 2.1.197; the keys
//! without a search were read in the code of the former.

/// Keys of settings in which the client does not search for guard hooks.
const UNSEARCHED_KEYS: &[&str] = &[
    "mcpServers",
    "managedMcpServers",
    "lspServers",
    "pluginConfigs",
    "enabledPlugins",
    "extraKnownMarketplaces",
    "env",
    "skillOverrides",
    "modelSettings",
];
/// Such keys of frontmatter.
const UNSEARCHED_FRONTMATTER_KEYS: &[&str] = &["metadata", "mcpServers", "lspServers"];
/// Such keys of a plugin's manifest.
const UNSEARCHED_MANIFEST_KEYS: &[&str] = &["metadata", "mcpServers", "lspServers", "experimental"];

/// A kind of file with hooks. Each has its own rules for faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookContainer {
    /// A settings file. The client skips it for a wrong guard; the older client for any wrong entry.
    Settings,
    /// A hooks file of a plugin. For a wrong guard the newer client loads nothing of the plugin. The older client
    /// ignores the file for any fault.
    PluginHooks,
    /// The manifest of a plugin. For a wrong guard the newer client loads nothing of the plugin, the older one for any
    /// fault.
    PluginManifest,
    /// The frontmatter of a skill or command. For a wrong guard, or if `hooks` is not an object, the newer client loads
    /// it without hooks and without allowed tools. The older client ignores its hooks for any fault.
    Skill,
    /// The frontmatter of an agent. For a wrong guard, or if `hooks` is not an object, the newer client does not load
    /// the agent. The older client ignores its hooks for any fault.
    Agent,
    /// The frontmatter of a command or agent of a plugin. Both clients ignore its hooks.
    IgnoredHooks,
}

impl HookContainer {
    pub(super) fn unsearched_keys(self) -> &'static [&'static str] {
        match self {
            Self::Settings => UNSEARCHED_KEYS,
            Self::PluginHooks => &[],
            Self::PluginManifest => UNSEARCHED_MANIFEST_KEYS,
            Self::Skill | Self::Agent | Self::IgnoredHooks => UNSEARCHED_FRONTMATTER_KEYS,
        }
    }

    /// Returns true for frontmatter, in which a null or empty `hooks` counts as absent.
    pub(super) fn is_frontmatter(self) -> bool {
        matches!(self, Self::Skill | Self::Agent | Self::IgnoredHooks)
    }
}
