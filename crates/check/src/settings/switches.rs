//! Settings that switch hooks off or change their environment, after precedence.

use rutter_contract::javascript::{JsonKind, JsonNode};
use rutter_contract::version::Contract;

use super::layers::{SettingsLayer, SettingsSource};
use super::location::FileLocation;

/// Variable that makes the client run no hooks.
pub const SIMPLE_VARIABLE: &str = "CLAUDE_CODE_SIMPLE";
/// Settings key that disables all hooks.
pub const DISABLE_HOOKS_KEY: &str = "disableAllHooks";

/// Returns the value of a settings key from the strongest layer for which `value` accepts it, and its position.
fn strongest_value<T>(
    layers: &[SettingsLayer],
    key: &str,
    value: impl Fn(&SettingsLayer, &JsonNode) -> Option<T>,
) -> Option<(T, FileLocation)> {
    layers.iter().find_map(|layer| {
        let (document, node) = layer.setting(key)?;
        Some((value(layer, node)?, document.location(node.at)))
    })
}

/// Returns the position of the setting that disables all hooks.
pub fn find_disabled_hooks(layers: &[SettingsLayer]) -> Option<FileLocation> {
    let value = strongest_value(layers, DISABLE_HOOKS_KEY, |_, node| as_flag(node));
    value.and_then(|(is_set, location)| is_set.then_some(location))
}

/// Returns the position of the managed setting that disables all hooks outside managed settings.
pub fn find_managed_hooks_only(layers: &[SettingsLayer]) -> Option<FileLocation> {
    let value = strongest_value(layers, "allowManagedHooksOnly", |layer, node| {
        as_flag(node).filter(|_| layer.whose == SettingsSource::Managed)
    });
    value.and_then(|(is_set, location)| is_set.then_some(location))
}

/// Returns the position of the managed setting that disables all hooks of settings, but not those of plugins.
pub fn find_plugin_hooks_only(layers: &[SettingsLayer]) -> Option<FileLocation> {
    let value = strongest_value(layers, PLUGINS_ONLY_KEY, |layer, node| {
        (layer.whose == SettingsSource::Managed).then(|| locks_surface(node, "hooks"))
    });
    value.and_then(|(is_locked, location)| is_locked.then_some(location))
}

/// Managed setting that reserves surfaces, such as `hooks` and `mcp`, for plugins.
pub(super) const PLUGINS_ONLY_KEY: &str = "strictPluginOnlyCustomization";

/// Returns true if a value of [`PLUGINS_ONLY_KEY`] reserves a surface for plugins.
pub(super) fn locks_surface(node: &JsonNode, surface: &str) -> bool {
    match &node.kind {
        JsonKind::Bool(locks) => *locks,
        JsonKind::List(surfaces) => surfaces.iter().any(|one| one.text() == Some(surface)),
        _ => false,
    }
}

fn as_flag(node: &JsonNode) -> Option<bool> {
    match node.kind {
        JsonKind::Bool(flag) => Some(flag),
        _ => None,
    }
}

/// Returns the value of a variable in the `env` settings, and its position.
pub fn find_env_setting(
    layers: &[SettingsLayer],
    name: &str,
    contract: Contract,
) -> Option<(String, FileLocation)> {
    layers.iter().find_map(|layer| {
        let (document, env) = layer.setting("env")?;
        // Measured: the newer client ignores this variable in the settings of a folder.
        if name == SIMPLE_VARIABLE && layer.whose.is_in_checkout() && contract.has(Contract::NEWEST)
        {
            return None;
        }
        let node = env.get(name)?;
        let text = match &node.kind {
            JsonKind::Text(text) | JsonKind::Number(text) => text.clone(),
            JsonKind::Bool(flag) => flag.to_string(),
            _ => return None,
        };
        Some((text, document.location(node.at)))
    })
}

/// Returns true if the client treats the value of a variable as yes. Measured: `1` is yes, `0` is not.
pub fn is_truthy(value: &str) -> bool {
    matches!(value.trim().to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on")
}
