//! Whether somebody has asked for quiet: everywhere, or in one session.
//!
//! A small file beside the database, because hooks look on every call: where nobody asked, that is one open that fails.

use std::io;

use crate::Clean;
use crate::data_dir::{Files, read_own_text, replace_private};

/// Stands for everything.
pub const EVERYTHING: &str = "*";
/// No list of sessions is longer; the oldest go.
const MOST: usize = 200;

/// Whether a session is to be left alone.
pub fn is_paused(files: &Files, session: &str) -> bool {
    paused(files).is_ok_and(|all| all.iter().any(|one| one == EVERYTHING || one == session))
}

/// What is paused: sessions by their client's name, or everything.
pub fn paused(files: &Files) -> io::Result<Vec<String>> {
    match read_own_text(&files.paused()) {
        Ok(text) => Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Asks for quiet in a session, or everywhere.
pub fn pause(files: &Files, session: Option<&Clean>) -> io::Result<()> {
    files.make_folder()?;
    // Two at once would forget what the other one asked for.
    let _making = files.making()?;
    let mut all = paused(files)?;
    let name = session.map_or(EVERYTHING, Clean::as_str).to_owned();
    all.retain(|one| *one != name);
    all.push(name);
    let skip = all.len().saturating_sub(MOST);
    write(files, &all[skip..])
}

/// Ends the quiet of a session, or all of it. Whether there was any.
pub fn resume(files: &Files, session: Option<&Clean>) -> io::Result<bool> {
    if !files.paused().exists() {
        return Ok(false);
    }
    let _making = files.making()?;
    let all = paused(files)?;
    let left: Vec<String> = match session {
        Some(session) => {
            all.iter().filter(|one| one.as_str() != session.as_str()).cloned().collect()
        }
        None => Vec::new(),
    };
    if left.len() == all.len() {
        return Ok(false);
    }
    write(files, &left)?;
    Ok(true)
}

/// Forgets which sessions were to be left alone; what holds everywhere stays.
pub(crate) fn forget_sessions(files: &Files) -> io::Result<()> {
    let _making = files.making()?;
    let mut all = paused(files)?;
    all.retain(|one| one == EVERYTHING);
    write(files, &all)
}

fn write(files: &Files, all: &[String]) -> io::Result<()> {
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
    fn quiet_is_asked_for_and_ended() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new(folder.path().join("memory"));
        let (one, other) = (Clean::new("one"), Clean::new("other"));
        assert!(!is_paused(&files, "one") && !resume(&files, None).unwrap());
        pause(&files, Some(&one)).unwrap();
        pause(&files, Some(&one)).unwrap();
        assert!(is_paused(&files, "one") && !is_paused(&files, "other"));
        assert_eq!(paused(&files).unwrap(), ["one"]);
        pause(&files, None).unwrap();
        assert!(is_paused(&files, "other"));
        assert!(resume(&files, Some(&one)).unwrap() && !resume(&files, Some(&other)).unwrap());
        assert!(is_paused(&files, "one"), "everything is");
        pause(&files, Some(&one)).unwrap();
        forget_sessions(&files).unwrap();
        assert_eq!(paused(&files).unwrap(), [EVERYTHING]);
        assert!(resume(&files, None).unwrap() && !is_paused(&files, "one"));
        assert!(!files.paused().exists(), "nothing is left behind");
    }
}
