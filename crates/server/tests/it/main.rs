//! Tests of the tools, with a real store in a temporary folder and hooks that get the payloads of a client.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests write their own files")]
#![allow(
    clippy::needless_pass_by_value,
    reason = "what is sent is written where it is called, and a `&` before each is noise"
)]

/// Arbitrary arguments.
mod arbitrary;
/// `assemble_context`.
mod context;
/// The tiers gold, silver and bronze.
mod evidence;
/// `search_experiences` and `premortem`.
mod experiences;
/// Complete deletion by `forget`.
mod forget;
/// The life cycle of a GHAP through the tools.
mod ghaps;
/// Hook messages about rows that a tool wrote.
mod hooks;
/// Stored text that tries to pass for instructions or markup.
mod hostile;
/// Limits of lengths, counts and ranges.
mod limits;
/// Lists and their pages.
mod lists;
/// `remember` and `recall_memories`.
mod memories;
/// Orphaned GHAPs.
mod orphans;
/// The owner of a call.
mod owners;
/// Pauses and exclusions.
mod quiet;
/// Agreement of announced schemas, arguments and answers.
mod schemas;
/// Redaction of secrets in every text argument.
mod secrets;
/// `status`.
mod status;
/// A separate environment for each test.
mod support;

#[test]
fn every_test_file_is_declared() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
/// Clusters of experiences and their values.
mod values;
