//! Helpers for the tests of several crates.

#![allow(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "helpers of tests fail the test by panicking"
)]
#![allow(clippy::disallowed_methods, reason = "tests are told about tools by the environment")]

use std::path::{Path, PathBuf};
use std::time::Duration;

pub mod dice;
pub mod hostile_text;
pub mod lessons;
mod ran;
pub mod recordings;
pub mod redaction_corpus;
mod skip;
#[cfg(feature = "hooks")]
pub mod story;
#[cfg(feature = "memory")]
pub mod world;

pub use ran::CommandOutput;
pub use skip::{report_skip, skip_test};

/// Minimum deadline of the hooks in tests, so that they do not stay silent on a busy machine.
pub const MIN_HOOK_DEADLINE: Duration = Duration::from_secs(1);

/// The variable that gives the hooks of the binary the same minimum deadline.
pub const MIN_DEADLINE_VARIABLE: (&str, &str) = ("RUTTER_MIN_DEADLINE_MS", "1000");

/// The sections of the configuration that are about hooks, without `hooks.`.
pub const HOOK_SECTIONS: [&str; 10] = [
    "session_start",
    "user_prompt_submit",
    "ghap_checkin",
    "outcome_capture",
    "edits",
    "action_hints",
    "subagent_start",
    "pre_compact",
    "stop",
    "session_end",
];

/// Returns the root of the repository.
///
/// # Panics
/// If this crate has moved.
pub fn repository_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("dev/testkit").to_owned()
}

/// Asserts that every file of an integration suite is declared in its `main.rs`; an undeclared one would never run.
///
/// # Panics
/// If a file is not declared.
pub fn assert_every_file_is_declared(crate_folder: &str, declared: &str) {
    let folder = Path::new(crate_folder).join("tests/it");
    let mut modules = 0;
    for entry in std::fs::read_dir(folder).expect("the suite's folder") {
        let path = entry.expect("a readable folder").path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let module = path.file_stem().unwrap_or_default().to_string_lossy();
        let named = module == "main" || declared.contains(&format!("mod {module};"));
        assert!(named, "{} is declared nowhere", path.display());
        modules += 1;
    }
    assert!(modules > 1, "{crate_folder} has no tests");
}
