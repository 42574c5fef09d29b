//! Integration tests of the memory crate, with real files and real SQLite.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests write their own files, have their own clock and are told about tools"
)]

/// Context at session start: order, budget, and the user's message.
mod beginnings;
/// Session and agent behind each call of an MCP tool.
mod callers;
/// Recorded Bash payloads of real test runs.
mod calls;
/// Redaction per channel: secrets go through hooks into a store and back.
mod channels;
/// Clustering of experiences, and the stability of cluster ids.
mod clusters;
/// Copies of files made before a command runs.
mod copies;
/// Limits on the crate's dependencies.
mod dependencies;
/// Effects of injected text: helped or hurt.
mod effects;
/// Episodes: a failure, the attempts, the fix, and the same failure again.
mod episodes;
/// Export as JSON lines and import without loss, in any order.
mod exchange;
/// Full or read-only disks, damaged files, clocks that run backwards.
mod faults;
/// Forgetting removes every byte from every file.
mod forget;
/// GHAPs from start to the experience they leave.
mod ghaps;
/// Repositories created by the real git.
mod git_world;
/// The store handle that hooks use.
mod hot;
/// Imports of foreign rows, and the origin of rows.
mod imports;
/// Search index files: torn, missing, foreign, old.
mod index;
/// Changes that must not count as a fix, and fixes that must not be missed.
mod lessons;
mod loop_cases;
mod loop_changes;
mod loop_runs;
/// Failures that a prompt names.
mod mentions;
/// Random command sequences against a model, with reopening in between.
mod model;
/// Text after a failure without a known fix.
mod offer;
/// Client payloads with arbitrary values in any field.
mod payloads;
/// Project of a folder, compared with git's answers.
mod project;
/// Repositories, archives and users that try to claim another project.
mod project_attacks;
/// Projects that take a stronger key, and projects that stay separate.
mod projects;
/// Recall of the right lesson for an ordinary sentence.
mod recall;
/// Silence where no stored entry fits.
mod restraint;
/// A secret planted in any text reaches no file.
mod secrets;
/// Hook texts about GHAPs.
mod spoken;
/// A session as a sequence of hook payloads.
mod story;
/// A separate test environment for each test.
mod support;
/// Maintenance and its limits.
mod tend;
/// Values: lessons that several experiences share, and their standing.
mod values;
/// Project, lesson and machine that a value belongs to.
mod values_places;
/// Values in the output of hooks and commands.
mod values_said;
/// Migration from every earlier schema version.
mod versions;

#[test]
fn no_test_file_is_forgotten() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
