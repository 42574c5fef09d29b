//! Tests of the tools: a real memory in a folder that goes away, and hooks that are told what a client tells them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests write their own files")]
#![allow(
    clippy::needless_pass_by_value,
    reason = "what is sent is written where it is called, and a `&` before each is noise"
)]

/// Anything at all as arguments.
mod arbitrary;
/// `assemble_context`.
mod context;
/// Gold, silver and bronze.
mod evidence;
/// `search_experiences` and `premortem`.
mod experiences;
/// What is forgotten is nowhere.
mod forget;
/// The life of a GHAP, in the words of its tools.
mod ghaps;
/// What a hook says of what a tool wrote.
mod hooks;
/// Text that wants to be more than data.
mod hostile;
/// How long, how many, from where to where.
mod limits;
/// Lists: short, and page by page.
mod lists;
/// `remember` and `recall_memories`.
mod memories;
/// GHAPs whose session is over.
mod orphans;
/// On whose behalf a call is made.
mod owners;
/// Where somebody wants quiet.
mod quiet;
/// What is announced is what is taken, and what is given.
mod schemas;
/// A secret planted in any text that is sent is nowhere.
mod secrets;
/// `status`.
mod status;
/// A world of its own for each test.
mod support;

#[test]
fn no_test_file_is_forgotten() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
/// Clusters of experiences, and what was made of them.
mod values;
