//! Tests of the contract from outside: schemas, fixtures, properties.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests write their own files and are told about tools"
)]

/// What the crate is allowed to depend on.
mod dependencies;
/// Whatever the builder says is valid, and whatever the table allows to be sent is read.
mod properties;
/// Accept and reject fixtures, captured payloads, and the schemas themselves.
mod schemas;
/// Compiling and finding what the other modules need.
mod support;
/// What the client does with an answer, against what it did.
mod verdicts;

#[test]
fn no_test_file_is_forgotten() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
