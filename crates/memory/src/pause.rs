//! Pauses: the user can pause rutter everywhere or in one session.
//!
//! Pauses are stored in a small file next to the database, because hooks check them on every call. Without a pause, the
//! check is one failing `open`.

use std::io;

use crate::Clean;
use crate::data_dir::{DataDir, read_own_text, replace_private};

/// The entry that pauses all sessions.
pub const ALL_SESSIONS: &str = "*";
/// Maximum number of paused sessions; the oldest are dropped.
const MAX_PAUSED_SESSIONS: usize = 200;

/// Returns true if a session is paused.
pub fn is_paused(files: &DataDir, session: &str) -> bool {
    paused_sessions(files)
        .is_ok_and(|all| all.iter().any(|one| one == ALL_SESSIONS || one == session))
}

/// Returns the paused sessions by their client's name, or [`ALL_SESSIONS`].
pub fn paused_sessions(files: &DataDir) -> io::Result<Vec<String>> {
    match read_own_text(&files.paused()) {
        Ok(text) => Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Pauses a session, or everything.
pub fn pause(files: &DataDir, session: Option<&Clean>) -> io::Result<()> {
    files.make_folder()?;
    // Without the lock, two processes at once would lose one of the pauses.
    let _making = files.lock_for_changes()?;
    let mut all = paused_sessions(files)?;
    let name = session.map_or(ALL_SESSIONS, Clean::as_str).to_owned();
    all.retain(|one| *one != name);
    all.push(name);
    let skip = all.len().saturating_sub(MAX_PAUSED_SESSIONS);
    write_paused(files, &all[skip..])
}

/// Ends the pause of a session, or all pauses. Returns true if there was one.
pub fn resume(files: &DataDir, session: Option<&Clean>) -> io::Result<bool> {
    if !files.paused().exists() {
        return Ok(false);
    }
    let _making = files.lock_for_changes()?;
    let all = paused_sessions(files)?;
    let left: Vec<String> = match session {
        Some(session) => {
            all.iter().filter(|one| one.as_str() != session.as_str()).cloned().collect()
        }
        None => Vec::new(),
    };
    if left.len() == all.len() {
        return Ok(false);
    }
    write_paused(files, &left)?;
    Ok(true)
}

/// Removes the names of paused sessions; a pause of everything stays.
pub(crate) fn forget_paused_sessions(files: &DataDir) -> io::Result<()> {
    let _making = files.lock_for_changes()?;
    let mut all = paused_sessions(files)?;
    all.retain(|one| one == ALL_SESSIONS);
    write_paused(files, &all)
}

fn write_paused(files: &DataDir, all: &[String]) -> io::Result<()> {
    let mut text = all.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    replace_private(&files.paused(), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_and_resumes_sessions() {
        let folder = tempfile::tempdir().unwrap();
        let files = DataDir::new(folder.path().join("memory"));
        let (one, other) = (Clean::new("one"), Clean::new("other"));
        assert!(!is_paused(&files, "one") && !resume(&files, None).unwrap());
        pause(&files, Some(&one)).unwrap();
        pause(&files, Some(&one)).unwrap();
        assert!(is_paused(&files, "one") && !is_paused(&files, "other"));
        assert_eq!(paused_sessions(&files).unwrap(), ["one"]);
        pause(&files, None).unwrap();
        assert!(is_paused(&files, "other"));
        assert!(resume(&files, Some(&one)).unwrap() && !resume(&files, Some(&other)).unwrap());
        assert!(is_paused(&files, "one"), "everything is");
        pause(&files, Some(&one)).unwrap();
        forget_paused_sessions(&files).unwrap();
        assert_eq!(paused_sessions(&files).unwrap(), [ALL_SESSIONS]);
        assert!(resume(&files, None).unwrap() && !is_paused(&files, "one"));
        assert!(!files.paused().exists(), "nothing is left behind");
    }
}
