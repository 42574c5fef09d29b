//! Tests that need a tool which a bare machine may lack.

use std::io::Write as _;

/// Says that a test did not run and why, or fails where nothing may be skipped
/// (`RUTTER_NO_SKIP=1`, which CI sets).
///
/// With `RUTTER_SKIPS` naming a file, the reason is added to it, for `scripts/test` to print at its end.
///
/// # Panics
/// Where nothing may be skipped.
pub fn skip(what: &str, why: &str) {
    assert!(std::env::var_os("RUTTER_NO_SKIP").is_none(), "{what} must run here: {why}");
    excuse(what, why);
}

/// Says that a test did not run and why, where even CI may skip it: when somebody else's service does
/// not answer.
///
/// # Panics
/// When the list of skips cannot be written.
#[expect(clippy::print_stderr, reason = "a skip that nobody reads is a lie")]
pub fn excuse(what: &str, why: &str) {
    eprintln!("SKIPPED {what}: {why}");
    if let Some(path) = std::env::var_os("RUTTER_SKIPS") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        // In one write: many tests may add to the list at the same time.
        let line = format!("{what}: {why}\n");
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.expect("the list of skips can be written");
    }
}
