//! Tests of the generator, the judge and the evaluation.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests have their own clock")]

/// The judge, on handwritten texts and on a product that knows the truth.
mod judging;
/// The virtual projects: bugs, fixes and the output of tools.
mod projects;
/// The product, on a few histories.
mod silent_loop;
/// The histories and their truth.
mod truths;

#[test]
fn declares_every_test_file() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
