//! The client's reaction to a hook's answer.
//!
//! The order is the client's: trim, parse, validate, apply the JSON, then the exit code, then the rules of
//! the event. The verdict applies to a headless run (`claude -p`); if an interactive session differs, a
//! diagnostic describes the difference.
//!
//! ```
//! use rutter_contract::verdict::{HookRun, judge_answer};
//! use rutter_contract::{EventName, version::Contract};
//!
//! let run = HookRun { event: EventName::PreToolUse, stdout: r#"{"permissionDecision":"deny"}"#, stderr: "", exit: 0 };
//! let verdict = judge_answer(&run, Contract::newest());
//! assert_eq!(verdict.dropped, ["/permissionDecision"]);
//! assert_eq!(verdict.diagnostics[0].code, "top-level-permission");
//! ```

use serde::Serialize;

use crate::javascript;
use crate::name::EventName;
use crate::table;
use crate::version::{Contract, Version};

mod answer;
mod apply;
pub mod catalogue;
mod correct;
mod diagnose;
mod repair;
mod validate;

use answer::ParsedAnswer;

/// The result of a finished hook process.
#[derive(Debug, Clone, Copy)]
pub struct HookRun<'a> {
    /// The event that the hook ran for.
    pub event: EventName,
    /// The hook's stdout.
    pub stdout: &'a str,
    /// The hook's stderr.
    pub stderr: &'a str,
    /// The hook's exit code.
    pub exit: i32,
}

/// The client's report of the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the client's")]
pub enum HookOutcome {
    Success,
    Error,
}

/// The effect on the tool call that the event guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolCallEffect {
    /// The normal permission flow decides, as if there were no hook.
    Unchanged,
    /// The call is explicitly allowed.
    Runs,
    /// The call runs with another input.
    Rewritten,
    /// The client asks the user; in a run without a user the call does not run.
    Asks,
    /// The run ends with the call pending.
    Deferred,
    /// The call does not run.
    Blocked,
}

/// The effect on the turn of the agent that the event belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnEffect {
    /// The hook has no effect on the turn.
    Continues,
    /// The hook ends it.
    Stops,
    /// The turn would have ended, and the hook keeps it going.
    KeptGoing,
    /// The prompt is taken back and never reaches the model.
    Erased,
}

/// The part of an answer that a text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageKind {
    /// `additionalContext`
    Context,
    /// The reason of a decision.
    Reason,
    /// stderr, or the client's text in its place.
    Stderr,
    /// Plain stdout, or a message.
    Text,
}

/// A text as the model or the user receives it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// The part of the answer that the text comes from.
    pub kind: MessageKind,
    /// The received text.
    pub text: String,
    /// True if the text is only the beginning of the original.
    pub truncated: bool,
}

/// The severity of a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MistakeSeverity {
    /// Worth knowing.
    Info,
    /// The client ignores a part of the answer.
    Warning,
    /// The whole answer is lost, or the guard that it was meant to be.
    Error,
}

/// A remark on an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AnswerDiagnostic {
    /// The code of the mistake; [`catalogue`] has its page.
    pub code: &'static str,
    /// The severity of the mistake.
    pub severity: MistakeSeverity,
    /// The place in the JSON, as a pointer; empty for the answer as a whole.
    pub path: String,
    /// A description of the mistake.
    pub message: String,
    /// The fix.
    pub help: String,
}

/// An answer that has the intended effect of the judged one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CorrectedAnswer {
    /// The text for stdout.
    pub stdout: String,
    /// The exit code.
    pub exit: u8,
}

/// The client's reaction to an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The event.
    pub event: EventName,
    /// The client version of the applied contract.
    pub client: Version,
    /// The client's report of the hook.
    pub outcome: HookOutcome,
    /// The effect on the tool call; `None` for events that do not guard one.
    pub tool: Option<ToolCallEffect>,
    /// The effect on the turn.
    pub turn: TurnEffect,
    /// The effects, in a sentence.
    #[serde(skip)]
    pub action: String,
    /// True if the hook prevents the announced action on an event that guards neither a tool nor a turn: a compaction, a
    /// task, a model switch.
    #[serde(skip)]
    pub is_prevented: bool,
    /// The texts for the model.
    pub to_model: Vec<Message>,
    /// The texts for the user.
    pub to_user: Vec<Message>,
    /// The ignored parts, as pointers into the JSON; an empty pointer means all of it.
    pub dropped: Vec<String>,
    /// Remarks for the author of the hook.
    pub diagnostics: Vec<AnswerDiagnostic>,
    /// A corrected answer, if the intent of this one is clear.
    pub corrected: Option<CorrectedAnswer>,
}

impl Verdict {
    /// Returns the highest severity of the diagnostics.
    pub fn severity(&self) -> Option<MistakeSeverity> {
        self.diagnostics.iter().map(|diagnostic| diagnostic.severity).max()
    }
}

/// Determines the client's reaction to a hook's answer.
pub fn judge_answer(run: &HookRun<'_>, contract: Contract) -> Verdict {
    let spec = table::event_spec(run.event);
    let reading = ParsedAnswer::parse(run.stdout, spec, contract);
    let mut verdict = apply::apply_answer(run, spec, &reading, contract);
    diagnose::diagnose(run, spec, &reading, contract, &mut verdict);
    verdict.corrected = correct::correct_answer(run, spec, &reading, contract, &verdict);
    verdict
}

/// Decodes stdout like the client: replaces invalid UTF-8 and trims white space.
pub fn decode_stdout(stdout: &[u8]) -> String {
    javascript::trim(&String::from_utf8_lossy(stdout)).to_owned()
}
