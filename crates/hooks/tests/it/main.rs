//! Tests of hooks from outside: payloads in, real files and real SQLite behind them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests write their own files and have their own clock"
)]

/// Recorded Bash payloads of real test runs.
mod calls;
/// Redaction per channel: secrets go through hooks into a store and back.
mod channels;
/// Phrases of a lesson that nobody wrote: the errors of its run.
mod derived_phrases;
/// Effects of injected text: helped or hurt.
mod effects;
/// Episodes: a failure, the attempts, the fix, and the same failure again.
mod episodes;
/// Copies of files made before a command runs.
mod file_copies;
/// Text after a failure without a known fix.
mod ghap_offer;
/// Hook texts about GHAPs.
mod ghap_prompts;
/// Hostile text in the output of every hook.
mod hostile;
/// Changes that must not count as a fix, and fixes that must not be missed.
mod lessons;
mod loop_cases;
mod loop_changes;
mod loop_runs;
/// Failures that a prompt names.
mod mentions;
/// Client payloads with arbitrary values in any field.
mod payloads;
/// Recall of the right lesson for an ordinary sentence.
mod recall;
/// Silence where no stored entry fits.
mod recall_precision;
/// Context at session start: order, budget, and the user's message.
mod session_start;
/// Session and agent behind each call of an MCP tool.
mod tool_callers;
/// Values in the output of hooks and commands.
mod values_in_hooks;

#[test]
fn declares_every_test_file() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
