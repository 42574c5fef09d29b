//! Skips for tests that need a tool which may be missing.

use std::io::Write as _;

/// Reports that a test was skipped, with the reason. Fails if skipping is forbidden (`RUTTER_NO_SKIP=1`, which CI
/// sets).
///
/// Appends the reason to the file that `RUTTER_SKIPS` names, for `scripts/test` to print at its end.
///
/// # Panics
/// If skipping is forbidden.
pub fn skip_test(what: &str, why: &str) {
    assert!(std::env::var_os("RUTTER_NO_SKIP").is_none(), "{what} must run here: {why}");
    report_skip(what, why);
}

/// Reports that a test was skipped, with the reason, for skips that even CI permits: if a third party's service does
/// not answer.
///
/// # Panics
/// If the list of skips cannot be written.
#[expect(clippy::print_stderr, reason = "a skip that nobody reads is a lie")]
pub fn report_skip(what: &str, why: &str) {
    eprintln!("SKIPPED {what}: {why}");
    if let Some(path) = std::env::var_os("RUTTER_SKIPS") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        // A single write: many tests may append at the same time.
        let line = format!("{what}: {why}\n");
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.expect("the list of skips can be written");
    }
}
