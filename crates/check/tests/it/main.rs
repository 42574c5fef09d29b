//! The live suite: the contract put to the real client.
//!
//! What the builder of answers promises stands in the types: a capability trait is implemented for an
//! event, so the client acts on it. Each file here takes some of the traits and shows on the client that
//! it does, for every event that has them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests are told about clients by the environment")]

/// Bash calls, many in a session, and what a hook is told of each.
mod bash;
/// What a hook is told of a Bash call, as far as the reading of outcomes rests on it.
mod bash_calls;
/// What real runs printed, put through the client.
mod bash_outputs;
/// Refusing, and keeping an agent going.
mod blocks;
/// Text for the model.
mod context;
/// Permissions, elicitations, and what single events decide.
mod decisions;
/// Every event fires, and its payload is what the table says.
mod fires;
/// Text for the user.
mod messages;
/// What the older of the measured clients does otherwise.
mod older;
/// Ending the turn.
mod stops;
/// The clients under test, and the promises they are held to.
mod support;
/// Measured answers, put to the client again.
mod verdicts;
/// Files to watch.
mod watches;

#[test]
fn no_test_file_is_forgotten() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
