//! Short torture, on every run of the tests. `cargo xtask torture` is the long one.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests have their own clock")]

/// Many writers at once, and writers killed at any moment.
mod kills;

#[test]
fn no_test_file_is_forgotten() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
