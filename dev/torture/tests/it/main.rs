//! A short crash test on every test run. `cargo xtask torture` runs the long one.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests have their own clock")]

/// Many concurrent writers, and writers killed at random moments.
mod kills;

#[test]
fn test_files_are_declared() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
