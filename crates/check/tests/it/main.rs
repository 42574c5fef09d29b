//! The live suite: tests of the contract with the real client.
//!
//! The types of the answer builder make promises: if an event implements a capability trait, the client acts
//! on the corresponding field. Each file here tests some of the traits on the client, for every event that
//! implements them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests are told about clients by the environment")]

/// Helpers for sessions with many Bash calls.
mod bash;
/// Payloads of Bash calls, as far as the outcome parsing relies on them.
mod bash_calls;
/// Recorded output of real test runs, passed through the client.
mod bash_outputs;
/// Refusals, and keeping an agent going.
mod blocks;
/// Text for the model.
mod context;
/// Permissions, elicitations, and decisions of single events.
mod decisions;
/// Every event fires, and its payload fits the table.
mod fires;
/// Hooks in the frontmatter of skills, agents and commands.
mod frontmatter;
/// Mistakes that the linter reports, given to the client.
mod lint;
/// The form of a case of the linter.
mod lint_case;
/// The cases of the linter.
mod lint_cases;
/// Planted mistakes and clean projects, given to the linter.
mod lint_corpus;
/// Sessions that show single mistakes.
mod lint_sessions;
/// Matchers and `if` rules, given to the client.
mod matchers;
/// Text for the user.
mod messages;
/// Differences of the older measured client.
mod older;
/// Broken scripts, before and after their correction.
mod script_fix;
/// The limit for hooks that keep an agent going.
mod stop_cap;
/// Ending the turn.
mod stops;
/// The clients under test, and the check of promises.
mod support;
/// Measured answers, given to the client again.
mod verdicts;
/// Files to watch.
mod watches;

#[test]
fn test_files_are_declared() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
