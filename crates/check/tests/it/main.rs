//! Tests of the checks against the real client.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

/// Every event fires, and its payload is what the table says.
mod fires;
/// The clients under test.
mod support;

#[test]
fn no_test_file_is_forgotten() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
