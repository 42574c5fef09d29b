//! Tests of hooks without a client: a hook is run as the client runs it, over many payloads.
//!
//! [`TrialRunner`] runs a hook once, and [`judge_trial`] says what the client does with the answer. [`test_payloads`] has the
//! payloads of an event. [`run_hook_test`] puts them together into a report, and [`merge_answers`] merges the answers of
//! several hooks. [`HookTestFile`] has the tests that an author keeps.
//!
//! A hook may do anything. Keeping it away from the user's files and from the network is up to the caller; [`copy_project`]
//! makes a copy of a project for it.

mod audit;
mod judgement;
mod latency_budget;
mod merge;
mod payloads;
mod project_copy;
mod report;
mod script_facts;
mod test_file;
mod test_update;
mod trial;

pub use audit::{AuditCase, FailOpenAudit, ProgramFolder};
pub use judgement::{JudgedTrial, TrialEffect, ignores_on_failure, judge_trial};
pub use latency_budget::latency_budget;
pub use merge::{CompletionPlace, MergedAnswer, OrderOutcome, merge_answers};
pub use payloads::{
    PayloadKind, TestPayload, base_payload, has_tool, test_payloads, transcript_path,
};
pub use project_copy::{CopiedProject, CopyError, MAX_COPY_BYTES, copy_project};
pub use report::{
    AnswerGroup, GroupedPayload, HookConclusion, HookDefect, HookLatency, HookTestReport,
    TestedPayloads, run_hook_test,
};
pub use script_facts::{DeadInput, ScriptFacts};
pub use test_file::{
    CaseAnswer, ExpectedVerdict, HookTestCase, HookTestFile, HookTestResult, ObservedAnswer,
    TestFileError,
};
pub use test_update::{UpdatedTests, update_tests};
pub use trial::{
    HookStart, HookTrial, MAX_TRIAL_TIME, TRIAL_SESSION_ID, TestedHook, TrialEnding,
    TrialEnvironment, TrialRunner,
};
