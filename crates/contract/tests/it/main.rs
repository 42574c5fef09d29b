//! Tests of the contract from outside: schemas, fixtures, properties.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests write their own files and are told about tools"
)]

/// The crate's dependencies.
mod dependencies;
/// Properties: the builder's output is always valid, and payloads that fit the table are always read.
mod properties;
/// Accept and reject fixtures, captured payloads, and the schemas themselves.
mod schemas;
/// Compiled schemas and fixtures for the other modules.
mod support;
/// Verdicts compared with the measured behaviour of the client.
mod verdicts;

#[test]
fn test_files_are_declared() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
