//! Tests of the readers with recorded output of real runs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests write their own files")]

/// Recorded outputs: whole, cut, coloured and with mixed streams.
mod outcomes;
/// Rules that hold for every reader of runner output.
mod readers;

#[test]
fn declares_every_test_file() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
