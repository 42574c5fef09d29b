//! Finds other settings files that run rutter, so that an event is handled only once.
//!
//! The client runs identical commands once, even if several settings files contain them. But shared entries differ from
//! the user's own, and a plugin's entries always run as well. A user with two of these would get every message twice.
//! So the less specific entry defers to the more specific one, event by event.

use std::path::{Path, PathBuf};

use rutter_check::settings::{
    FIRST_CHECKOUT_SETTINGS_VERSION, checkout_settings_file, covers_server, is_same_path,
    read_regular_file,
};
use rutter_contract::version::Version;
use rutter_memory::project::WorkTree;
use serde_json::Value;

use super::InstallScope;
use super::server::SERVER_RULE;
use super::table::{hook_program, is_our_hook, is_shared_hook};

/// Largest settings file that is read.
const MAX_SETTINGS_BYTES: u64 = 4 * 1024 * 1024;

/// Returns our entries in settings, with their events.
fn our_entries(settings: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let events = settings["hooks"].as_object().into_iter().flatten();
    events.flat_map(|(event, groups)| {
        let groups = groups.as_array().into_iter().flatten();
        let handlers = groups.filter_map(|group| group["hooks"].as_array()).flatten();
        handlers
            .filter(|handler| is_our_hook(handler))
            .map(move |handler| (event.as_str(), handler))
    })
}

/// Returns the other scopes that run rutter, each with its file and one of its entries. Unreadable files are skipped,
/// because clients skip them too.
pub(crate) fn other_installs(
    scope: InstallScope,
    folder: &Path,
    client: Option<&Path>,
) -> Vec<(InstallScope, PathBuf, Value)> {
    let own = scope.settings_file(folder, client);
    let others = InstallScope::WITH_SETTINGS_FILE.into_iter().filter(|other| *other != scope);
    let files = others.filter_map(|other| Some((other, other.settings_file(folder, client)?)));
    files
        // In the home folder, the project's settings are the user's settings.
        .filter(|(_, path)| !own.as_deref().is_some_and(|own| is_same_path(own, path)))
        .filter_map(|(other, path)| {
            let settings = settings_with_rutter(&path)?;
            let entry = our_entries(&settings).next()?.1.clone();
            Some((other, path, entry))
        })
        .collect()
}

/// The event and environment of a hook that a shared file started.
pub(crate) struct SharedHook<'a> {
    /// Scope of the shared file.
    pub(crate) from: &'a str,
    /// Name of the event.
    pub(crate) event: &'a str,
    /// Folder in which the client was started.
    pub(crate) folder: &'a Path,
    /// The client's user-level configuration folder.
    pub(crate) client: Option<&'a Path>,
    /// The user's home folder.
    pub(crate) home: Option<&'a Path>,
    /// Version of the client, if known.
    pub(crate) version: Option<Version>,
}

/// Returns true if a hook that a shared file started must leave the event to another entry.
///
/// Only hooks from shared files call this. It costs a few lookups of files that mostly do not exist, which is the price
/// of not handling an event twice.
pub(crate) fn defers_to_other_entry(asker: &SharedHook<'_>) -> bool {
    let SharedHook { from, folder, client, version, .. } = *asker;
    let plugin = from == InstallScope::Plugin.as_str();
    if !plugin && from != InstallScope::Project.as_str() {
        return false;
    }
    let project = InstallScope::Project.settings_file(folder, client);
    let own = project.clone().filter(|_| !plugin);
    let mut nearer: Vec<PathBuf> = [InstallScope::Local, InstallScope::User]
        .into_iter()
        .filter_map(|scope| scope.settings_file(folder, client))
        .collect();
    if version.is_some_and(|version| version >= FIRST_CHECKOUT_SETTINGS_VERSION) {
        nearer.extend(checkout_settings(folder, asker.home));
    }
    nearer.retain(|path| !own.as_deref().is_some_and(|own| is_same_path(own, path)));
    // Shared entries do not count as more specific, except that a plugin's entry defers to the project's.
    nearer.iter().any(|path| runs_on_event(path, asker.event, false))
        || (plugin && project.is_some_and(|path| runs_on_event(&path, asker.event, true)))
}

/// Returns the local settings of the main checkout, if a client that is started in a folder may read them.
fn checkout_settings(folder: &Path, home: Option<&Path>) -> Option<PathBuf> {
    checkout_settings_file(folder, home, &WorkTree::containing(folder)?.common_dir)
}

/// Returns true if a file runs rutter on an event. An entry with a missing program does not count, because it has no
/// effect.
fn runs_on_event(path: &Path, event: &str, shared: bool) -> bool {
    let Some(settings) = settings_with_rutter(path) else { return false };
    our_entries(&settings).any(|(on, entry)| {
        let program = Path::new(hook_program(entry).unwrap_or_default());
        on == event
            && (shared || !is_shared_hook(entry))
            && (!program.is_absolute() || program.is_file())
    })
}

/// Returns the file and the rule that denies the agent all of rutter's tools. A deny rule in any file takes precedence
/// over allow rules.
pub(crate) fn find_deny_rule(folder: &Path, client: Option<&Path>) -> Option<(PathBuf, String)> {
    find_rule_in_list("deny", folder, client)
}

/// Returns the file and the rule that makes the client ask before every call. It takes precedence over allow rules.
pub(crate) fn find_ask_rule(folder: &Path, client: Option<&Path>) -> Option<(PathBuf, String)> {
    find_rule_in_list("ask", folder, client)
}

/// Returns the file and the rule of a list that covers all of rutter's tools.
fn find_rule_in_list(
    list: &str,
    folder: &Path,
    client: Option<&Path>,
) -> Option<(PathBuf, String)> {
    let files = InstallScope::WITH_SETTINGS_FILE
        .into_iter()
        .filter_map(|scope| scope.settings_file(folder, client));
    files.into_iter().find_map(|path| {
        let settings = settings_with_word(&path, list)?;
        let mut rules = settings["permissions"][list].as_array()?.iter().filter_map(Value::as_str);
        let rule = rules.find(|rule| covers_server(rule, SERVER_RULE))?.to_owned();
        Some((path, rule))
    })
}

/// Returns true if a settings file has an entry of ours.
pub(crate) fn has_our_hooks(path: &Path) -> bool {
    settings_with_rutter(path).is_some_and(|settings| our_entries(&settings).next().is_some())
}

/// Returns true if a client that is started in a folder runs rutter's hooks: by a settings file that it reads, or by
/// the plugin.
pub(crate) fn is_installed_in(folder: &Path, client: Option<&Path>, home: Option<&Path>) -> bool {
    let scopes = InstallScope::WITH_SETTINGS_FILE
        .into_iter()
        .filter_map(|scope| scope.settings_file(folder, client));
    let mut files: Vec<PathBuf> = scopes.collect();
    files.extend(checkout_settings(folder, home));
    files.iter().any(|path| {
        let Some(settings) = settings_with_rutter(path) else { return false };
        let plugins = settings["enabledPlugins"].as_object();
        let has_plugin = plugins
            .into_iter()
            .flatten()
            .any(|(name, enabled)| name.starts_with("rutter@") && enabled.as_bool() == Some(true));
        has_plugin || our_entries(&settings).next().is_some()
    })
}

/// Reads settings that mention rutter.
fn settings_with_rutter(path: &Path) -> Option<Value> {
    settings_with_word(path, "rutter")
}

/// Reads settings that contain a word. Most files do not contain it and need not be parsed.
fn settings_with_word(path: &Path, word: &str) -> Option<Value> {
    let bytes = read_regular_file(path, MAX_SETTINGS_BYTES).ok()?;
    bytes.windows(word.len()).any(|there| there == word.as_bytes()).then(|| parse_json(&bytes))?
}

fn parse_json(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).ok()
}
