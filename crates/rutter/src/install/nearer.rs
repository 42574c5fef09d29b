//! Whether rutter is started from more than one place.
//!
//! The client runs a command once however many settings files have it, but what is shared is written otherwise than what is
//! the user's own, and a plugin's copy always runs as well. So whoever has rutter in two of these would be told everything
//! twice. What is further from the user therefore steps back, event by event.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rutter_contract::version::Version;
use rutter_memory::project::WorkTree;
use serde_json::Value;

use super::Scope;
use super::server::{RULE, covers};
use super::table::{is_ours, is_shared, program};

/// No settings are longer.
const LONGEST: u64 = 4 * 1024 * 1024;
const NONBLOCK: i32 = OFlags::NONBLOCK.bits().cast_signed();

/// The first client that was seen to read the local settings of the main checkout as well.
const READS_CHECKOUT: Version = Version::new(2, 1, 325);

/// The entries of ours in settings, with their events.
fn entries(settings: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let events = settings["hooks"].as_object().into_iter().flatten();
    events.flat_map(|(event, groups)| {
        let groups = groups.as_array().into_iter().flatten();
        let handlers = groups.filter_map(|group| group["hooks"].as_array()).flatten();
        handlers.filter(|handler| is_ours(handler)).map(move |handler| (event.as_str(), handler))
    })
}

/// Where rutter is started from beside this scope: the scope, its file, and one of its entries. What cannot be read is
/// started by no client either.
pub(crate) fn beside(
    scope: Scope,
    folder: &Path,
    client: Option<&Path>,
) -> Vec<(Scope, PathBuf, Value)> {
    let own = scope.settings(folder, client);
    let others = Scope::OF_SETTINGS.into_iter().filter(|other| *other != scope);
    let files = others.filter_map(|other| Some((other, other.settings(folder, client)?)));
    files
        // At home the settings of the project are those of the user.
        .filter(|(_, path)| !own.as_deref().is_some_and(|own| is_same(own, path)))
        .filter_map(|(other, path)| {
            let settings = ours_in(&path)?;
            let entry = entries(&settings).next()?.1.clone();
            Some((other, path, entry))
        })
        .collect()
}

/// Whether two paths lead to one file, which need not be there yet.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    let settled = |path: &Path| {
        path.canonicalize()
            .ok()
            .or_else(|| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)))
    };
    one == other || settled(one).is_some_and(|one| settled(other) == Some(one))
}

/// What a hook knows that a shared file has started.
pub(crate) struct Asker<'a> {
    /// Whose file it was.
    pub(crate) from: &'a str,
    /// The event.
    pub(crate) event: &'a str,
    /// The folder that the client was started in.
    pub(crate) folder: &'a Path,
    /// Where the client keeps what is the user's.
    pub(crate) client: Option<&'a Path>,
    /// The user's home.
    pub(crate) home: Option<&'a Path>,
    /// Which client it is, where it says so.
    pub(crate) version: Option<Version>,
}

/// Whether a hook that a shared file started is to leave the event to another one.
///
/// A hook asks this, but only one that a shared file started: it is the price of not being heard twice, a few files that
/// are mostly not there.
pub(crate) fn steps_back(asker: &Asker<'_>) -> bool {
    let Asker { from, folder, client, version, .. } = *asker;
    let plugin = from == Scope::Plugin.word();
    if !plugin && from != Scope::Project.word() {
        return false;
    }
    let project = Scope::Project.settings(folder, client);
    let own = project.clone().filter(|_| !plugin);
    let mut nearer: Vec<PathBuf> = [Scope::Local, Scope::User]
        .into_iter()
        .filter_map(|scope| scope.settings(folder, client))
        .collect();
    if version.is_some_and(|version| version >= READS_CHECKOUT) {
        nearer.extend(checkout_settings(folder, asker.home));
    }
    nearer.retain(|path| !own.as_deref().is_some_and(|own| is_same(own, path)));
    // What is shared itself is no nearer, but that a plugin leaves an event to the project.
    nearer.iter().any(|path| is_heard(path, asker.event, false))
        || (plugin && project.is_some_and(|path| is_heard(&path, asker.event, true)))
}

/// The local settings of the main checkout, which the newer client reads as well when it is started deeper inside or in a
/// worktree, unless that is bare or the home folder. Measured: it does not read the project's there, and 2.1.197 neither.
pub(crate) fn checkout_settings(folder: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let tree = WorkTree::around(folder)?;
    let main = tree.common_dir.parent().filter(|_| tree.common_dir.ends_with(".git"))?;
    let here = folder.canonicalize().ok()?;
    let home = home.and_then(|home| home.canonicalize().ok());
    let settings = Scope::Local.settings(main, None)?;
    (here != main && home.as_deref() != Some(main)).then_some(settings)
}

/// Whether a file has rutter run on an event, by a program that is there: one that is gone is heard by nobody.
fn is_heard(path: &Path, event: &str, shared: bool) -> bool {
    let Some(settings) = ours_in(path) else { return false };
    entries(&settings).any(|(on, entry)| {
        let program = Path::new(program(entry).unwrap_or_default());
        on == event
            && (shared || !is_shared(entry))
            && (!program.is_absolute() || program.is_file())
    })
}

/// Where a rule denies the agent all of rutter's tools: the file, and the rule. It counts from any of them, whatever
/// another one allows.
pub(crate) fn denied(folder: &Path, client: Option<&Path>) -> Option<(PathBuf, String)> {
    ruled("deny", folder, client)
}

/// Where a rule has the client ask before every call. It goes before one that allows, from any of them.
pub(crate) fn asked(folder: &Path, client: Option<&Path>) -> Option<(PathBuf, String)> {
    ruled("ask", folder, client)
}

/// Where a rule of a list is about all of rutter's tools.
fn ruled(list: &str, folder: &Path, client: Option<&Path>) -> Option<(PathBuf, String)> {
    let files = Scope::OF_SETTINGS.into_iter().filter_map(|scope| scope.settings(folder, client));
    files.into_iter().find_map(|path| {
        let settings = settings_in(&path, list)?;
        let mut rules = settings["permissions"][list].as_array()?.iter().filter_map(Value::as_str);
        let rule = rules.find(|rule| covers(rule, RULE))?.to_owned();
        Some((path, rule))
    })
}

/// Whether a settings file has an entry of ours.
pub(crate) fn runs(path: &Path) -> bool {
    ours_in(path).is_some_and(|settings| entries(&settings).next().is_some())
}

/// Returns true if a client that is started in a folder runs rutter's hooks: by a settings file that it reads, or by the
/// plugin.
pub(crate) fn is_installed_in(folder: &Path, client: Option<&Path>, home: Option<&Path>) -> bool {
    let scopes = Scope::OF_SETTINGS.into_iter().filter_map(|scope| scope.settings(folder, client));
    let mut files: Vec<PathBuf> = scopes.collect();
    files.extend(checkout_settings(folder, home));
    files.iter().any(|path| {
        let Some(settings) = ours_in(path) else { return false };
        let plugins = settings["enabledPlugins"].as_object();
        let has_plugin = plugins
            .into_iter()
            .flatten()
            .any(|(name, enabled)| name.starts_with("rutter@") && enabled.as_bool() == Some(true));
        has_plugin || entries(&settings).next().is_some()
    })
}

/// What a file says, if it is one: a hook waits for no pipe that has its name, and reads nothing that has no end.
pub(super) fn read(path: &Path) -> Option<Vec<u8>> {
    read_up_to(path, LONGEST)
}

/// The same of a file that is not longer than this.
pub(super) fn read_up_to(path: &Path, longest: u64) -> Option<Vec<u8>> {
    let file = File::options().read(true).custom_flags(NONBLOCK).open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > longest {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).ok()? + 1);
    file.take(longest + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= longest).then_some(bytes)
}

/// Settings that speak of rutter.
fn ours_in(path: &Path) -> Option<Value> {
    settings_in(path, "rutter")
}

/// Settings that have a word. Most files do not have it, and need not be parsed to see that.
fn settings_in(path: &Path, word: &str) -> Option<Value> {
    let bytes = read(path)?;
    bytes.windows(word.len()).any(|there| there == word.as_bytes()).then(|| parse(&bytes))?
}

fn parse(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).ok()
}
