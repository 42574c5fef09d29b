//! Tests of the memory from outside.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests write their own files, have their own clock and are told about tools"
)]

/// Which project a folder belongs to, against what git says about it.
mod project;
/// The texts redaction is measured on.
mod corpus;
/// How much of what is secret is taken, and how little of what is not.
mod redaction;

#[test]
fn no_test_file_is_forgotten() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
