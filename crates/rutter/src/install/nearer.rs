//! Whether rutter is started from more than one place.
//!
//! The client runs a command once however many settings files have it, but what is shared is written otherwise than what is
//! the user's own, and a plugin's copy always runs as well. So whoever has rutter in two of these would be told everything
//! twice. What is further from the user therefore steps back.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde_json::Value;

use super::Scope;
use super::server::denies;
use super::table::{is_ours, program};

/// No settings are longer.
const LONGEST: u64 = 4 * 1024 * 1024;
const NONBLOCK: i32 = OFlags::NONBLOCK.bits().cast_signed();

/// The entries of ours in settings.
pub(crate) fn entries(settings: &Value) -> impl Iterator<Item = &Value> {
    let events = settings["hooks"].as_object().into_iter().flat_map(|events| events.values());
    let groups = events.filter_map(Value::as_array).flatten();
    let handlers = groups.filter_map(|group| group["hooks"].as_array()).flatten();
    handlers.filter(|handler| is_ours(handler))
}

/// Where rutter is started from beside this scope: the scope, its file, and one of its entries. What cannot be read is
/// started by no client either.
pub(crate) fn beside(
    scope: Scope,
    folder: &Path,
    client: Option<&Path>,
) -> Vec<(Scope, PathBuf, Value)> {
    let others = Scope::OF_SETTINGS.into_iter().filter(|other| *other != scope);
    let files = others.filter_map(|other| Some((other, other.settings(folder, client)?)));
    files
        .filter_map(|(other, path)| {
            let entry = entry_in(&path)?;
            Some((other, path, entry))
        })
        .collect()
}

/// Whether a hook that the file of this scope started is to leave the event to another one.
///
/// A hook asks this, but only one that a shared file started: it is the price of not being heard twice, a few files that
/// are mostly not there.
pub(crate) fn steps_back(scope: &str, folder: &Path, client: Option<&Path>) -> bool {
    let nearer: &[Scope] = match scope {
        "project" => &[Scope::Local, Scope::User],
        "plugin" => &[Scope::Local, Scope::User, Scope::Project],
        _ => &[],
    };
    let mut files = nearer.iter().filter_map(|scope| scope.settings(folder, client));
    files.any(|path| {
        entry_in(&path).is_some_and(|entry| {
            // One whose program is gone is heard by nobody.
            let path = Path::new(program(&entry).unwrap_or_default());
            !path.is_absolute() || path.is_file()
        })
    })
}

/// Where a rule denies the agent all of rutter's tools: the file, and the rule. It counts from any of them, whatever
/// another one allows.
pub(crate) fn denied(folder: &Path, client: Option<&Path>) -> Option<(PathBuf, String)> {
    let files = Scope::OF_SETTINGS.into_iter().filter_map(|scope| scope.settings(folder, client));
    files.into_iter().find_map(|path| {
        let settings = settings_in(&path)?;
        let mut rules =
            settings["permissions"]["deny"].as_array()?.iter().filter_map(Value::as_str);
        let rule = rules.find(|rule| denies(rule))?.to_owned();
        Some((path, rule))
    })
}

/// Whether a settings file has an entry of ours.
pub(crate) fn runs(path: &Path) -> bool {
    entry_in(path).is_some()
}

/// What a file says, if it is one: a hook waits for no pipe that has its name, and reads nothing that has no end.
fn read(path: &Path) -> Option<Vec<u8>> {
    let file = File::options().read(true).custom_flags(NONBLOCK).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= LONGEST).then_some(bytes)
}

/// An entry of ours in a file.
fn entry_in(path: &Path) -> Option<Value> {
    let bytes = read(path)?;
    // Most files say nothing of us, and need not be parsed to see that.
    if !bytes.windows(6).any(|word| word == b"rutter") {
        return None;
    }
    entries(&parse(&bytes)?).next().cloned()
}

fn settings_in(path: &Path) -> Option<Value> {
    parse(&read(path)?)
}

fn parse(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).ok()
}
