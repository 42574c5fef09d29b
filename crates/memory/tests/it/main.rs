//! Integration tests of the memory crate, with real files and real SQLite.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests write their own files, have their own clock and are told about tools"
)]

/// Phrases that say when a lesson applies.
mod applies_when;
/// Clustering of experiences, and the stability of cluster ids.
mod clusters;
/// Commands that failed, and the variants that worked.
mod commands;
/// Limits on the crate's dependencies.
mod dependencies;
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
mod hot_store;
/// Imports of foreign rows, and the origin of rows.
mod imports;
/// Search index files: torn, missing, foreign, old.
mod index;
/// Maintenance and its limits.
mod maintenance;
/// Random command sequences against a model, with reopening in between.
mod model;
/// Project of a folder, compared with git's answers.
mod project;
/// Repositories, archives and users that try to claim another project.
mod project_attacks;
/// Projects that take a stronger key, and projects that stay separate.
mod projects;
/// A secret planted in any text reaches no file.
mod secrets;
/// Values: lessons that several experiences share, and their standing.
mod values;
/// Project, lesson and machine that a value belongs to.
mod values_places;
/// Migration from every earlier schema version.
mod versions;

#[test]
fn declares_every_test_file() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
