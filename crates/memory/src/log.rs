//! The log of faults that hooks cannot report otherwise, the log of near misses, and that of the gates.
//!
//! Two files each of at most [`MAX_LOG_BYTES`] each. Lines are [`Clean`] and describe the fault, never the work of the user.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::data_dir::{DataDir, read_own};
use crate::quote::truncate_start;
use crate::{Clean, Id, Time};

/// Size in bytes above which a new file begins.
pub const MAX_LOG_BYTES: u64 = 1024 * 1024;
/// Names of all files of the log.
pub const LOG_FILES: [&str; 6] = [
    "rutter.log",
    "rutter.log.1",
    "near-misses.log",
    "near-misses.log.1",
    "gates.log",
    "gates.log.1",
];
/// Name of the file with near misses.
const NEAR_MISSES: &str = "near-misses.log";
/// Name of the file with the decisions of the gates.
const GATES: &str = "gates.log";
/// Maximum length of the file in a decision, in quarters of a token. The rest of a line is short.
const MAX_DECISION_FILE_CHARS: usize = 300;
/// Prefix of lines about a hook that failed.
const HOOK_PREFIX: &str = "hook: ";
/// Prefix of lines about a data directory that others could write to.
const PERMISSIONS_PREFIX: &str = "permissions: ";
/// Maximum number of characters in a line: a fault in a loop must not push out everything else.
const MAX_LOG_LINE_CHARS: usize = 1_000;

/// Appends a line. The caller is already handling a fault, so it may ignore an error of the log.
pub fn append_line(files: &DataDir, now: Time, text: &Clean) -> io::Result<()> {
    append_to_file(files, "rutter.log", now, text)
}

/// Appends a near miss to a log of its own. It has ids and a checksum of the prompt, but no text of the user.
pub fn append_near_miss(files: &DataDir, missed: &NearMiss) -> io::Result<()> {
    let NearMiss { at, row, confidence, prompt } = missed;
    let line = Clean::new(&format!("{row} {confidence:.2} {prompt}"));
    append_to_file(files, NEAR_MISSES, *at, &line)
}

/// Returns the near misses, oldest first. Lines that cannot be read are left out.
pub fn near_misses(files: &DataDir) -> io::Result<Vec<NearMiss>> {
    let lines = lines_with_prefix(files, NEAR_MISSES, Time::from_millis(0), "")?;
    let parse = |(at, line): (Time, String)| {
        let mut fields = line.split(' ');
        let (row, confidence) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(NearMiss { at, row, confidence, prompt: Clean::new(fields.next()?) })
    };
    Ok(lines.into_iter().filter_map(parse).collect())
}

/// A decision of a gate about a call that it did not accept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateDecision {
    /// The gate.
    pub gate: String,
    /// The action of the gate: `observed`, `held`, `asked`, `denied`, `passed`.
    pub done: String,
    /// The key of the project.
    pub project: String,
    /// The client's session.
    pub session: String,
    /// The tool of the call.
    pub tool: String,
    /// The file, relative to the root of the checkout; a long path without its start.
    pub file: String,
    /// The reason.
    pub because: String,
    /// A checksum of the call.
    pub call: String,
}

/// Appends a decision of a gate to a log of its own.
pub fn append_gate_decision(
    files: &DataDir,
    now: Time,
    mut decision: GateDecision,
) -> io::Result<()> {
    // A line that is cut cannot be read again.
    decision.file = truncate_start(&decision.file, MAX_DECISION_FILE_CHARS);
    let line = serde_json::to_string(&decision)?;
    append_to_file(files, GATES, now, &Clean::new(&line))
}

/// Returns the decisions of the gates since a time, oldest first. Lines that cannot be read are left out.
pub fn gate_decisions(files: &DataDir, since: Time) -> io::Result<Vec<(Time, GateDecision)>> {
    let lines = lines_with_prefix(files, GATES, since, "")?;
    let parse =
        |(at, line): (Time, String)| Some((at, serde_json::from_str::<GateDecision>(&line).ok()?));
    Ok(lines.into_iter().filter_map(parse).collect())
}

/// A row that stayed just below the floor on a prompt for which nothing was shown.
#[derive(Debug, Clone, PartialEq)]
pub struct NearMiss {
    /// Time of the prompt.
    pub at: Time,
    /// The row.
    pub row: Id,
    /// The likelihood that it was relevant.
    pub confidence: f64,
    /// A checksum of the prompt.
    pub prompt: Clean,
}

fn append_to_file(files: &DataDir, name: &str, now: Time, text: &Clean) -> io::Result<()> {
    let folder = files.log();
    crate::data_dir::make_subfolder(&folder)?;
    let path = folder.join(name);
    let file = crate::data_dir::open_for_append(&path)?;
    let mut line: String =
        text.chars().map(|c| if c == '\n' { ' ' } else { c }).take(MAX_LOG_LINE_CHARS).collect();
    line.insert_str(0, &format!("{now} "));
    line.push('\n');
    (&file).write_all(line.as_bytes())?;
    if file.metadata()?.len() > MAX_LOG_BYTES {
        rotate_log(&path, &file)?;
    }
    Ok(())
}

/// Starts a new file. Of several processes that see a full file, only one may move it, and only while it is still
/// there.
fn rotate_log(path: &Path, file: &fs::File) -> io::Result<()> {
    if file.try_lock().is_ok() && fs::metadata(path)?.ino() == file.metadata()?.ino() {
        fs::rename(path, path.with_extension("log.1"))?;
    }
    Ok(())
}

/// Logs that others could write to the data directory, which had this mode and is closed now.
pub fn append_permission_change(files: &DataDir, now: Time, mode: u32) -> io::Result<()> {
    let line = format!(
        "{PERMISSIONS_PREFIX}other users could write to the data folder (mode {mode:04o}); the \
         permission was removed"
    );
    append_line(files, now, &Clean::new(&line))
}

/// Returns the log lines, oldest first, about a data directory that others could write to.
pub fn permission_changes(files: &DataDir, since: Time) -> io::Result<Vec<(Time, String)>> {
    lines_with_prefix(files, "rutter.log", since, PERMISSIONS_PREFIX)
}

/// Returns the failures of hooks since a time, oldest first.
pub fn hook_faults(files: &DataDir, since: Time) -> io::Result<Vec<(Time, String)>> {
    lines_with_prefix(files, "rutter.log", since, HOOK_PREFIX)
}

/// Returns the lines since a time that start with a prefix, without the prefix.
fn lines_with_prefix(
    files: &DataDir,
    name: &str,
    since: Time,
    start: &str,
) -> io::Result<Vec<(Time, String)>> {
    let mut found = Vec::new();
    for name in [&format!("{name}.1"), name] {
        let bytes = match read_own(&files.log().join(name)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&bytes);
        found.extend(text.lines().filter_map(|line| {
            let (at, said) = line.split_once(' ')?;
            let fault = said.strip_prefix(start)?;
            let at = at.parse().ok().filter(|at: &Time| *at >= since)?;
            Some((at, fault.to_owned()))
        }));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_hooks_are_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let files = DataDir::new(folder.path());
        assert_eq!(hook_faults(&files, Time::from_millis(0)).unwrap(), []);
        for (millis, line) in
            [(1_000, "hook: too old"), (3_000, "hook: spooled: busy"), (4_000, "spool: refused")]
        {
            append_line(&files, Time::from_millis(millis), &Clean::new(line)).unwrap();
        }
        let found = hook_faults(&files, Time::from_millis(2_000)).unwrap();
        assert_eq!(found, [(Time::from_millis(3_000), "spooled: busy".to_owned())]);
    }

    #[test]
    fn near_misses_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let files = DataDir::new(folder.path());
        assert_eq!(near_misses(&files).unwrap(), []);
        let at = Time::from_millis(1_763_200_000_000);
        let missed =
            NearMiss { at, row: Id::new(at), confidence: 0.41, prompt: Clean::new("00ff") };
        append_near_miss(&files, &missed).unwrap();
        append_to_file(&files, NEAR_MISSES, at, &Clean::new("half a li")).unwrap();
        append_line(&files, at, &Clean::new("hook: other")).unwrap();
        assert_eq!(near_misses(&files).unwrap(), [missed]);
    }

    #[test]
    fn two_files_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let files = DataDir::new(folder.path());
        let now = Time::from_millis(1_763_200_000_000);
        let text = Clean::new(&"a fault\n".repeat(200));
        for _ in 0..3_000 {
            append_line(&files, now, &text).unwrap();
        }
        let mut sizes: Vec<(String, u64)> = fs::read_dir(files.log())
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                (entry.file_name().to_string_lossy().into_owned(), entry.metadata().unwrap().len())
            })
            .collect();
        sizes.sort();
        let names: Vec<&str> = sizes.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["rutter.log", "rutter.log.1"]);
        assert!(sizes.iter().all(|(_, size)| *size < MAX_LOG_BYTES + 2_000), "{sizes:?}");
        // Each entry is one line.
        let text = fs::read_to_string(files.log().join("rutter.log")).unwrap();
        assert!(text.lines().all(|line| line.starts_with("2025-11-15T")), "{text:.100}");
    }
}
