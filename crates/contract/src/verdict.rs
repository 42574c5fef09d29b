//! What the client does with a hook's answer.
//!
//! The order is the client's own: trim, parse, validate, apply the JSON, then the exit code, then the
//! rules of the event. The verdict is that of a headless run (`claude -p`); where an interactive session
//! differs, a diagnostic says so.
//!
//! ```
//! use rutter_contract::verdict::{HookRun, judge};
//! use rutter_contract::{EventName, version::Contract};
//!
//! let run = HookRun { event: EventName::PreToolUse, stdout: r#"{"permissionDecision":"deny"}"#, stderr: "", exit: 0 };
//! let verdict = judge(&run, Contract::newest());
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
mod validate;

use answer::Reading;

/// A hook process that has ended.
#[derive(Debug, Clone, Copy)]
pub struct HookRun<'a> {
    /// The event it ran for.
    pub event: EventName,
    /// What it printed.
    pub stdout: &'a str,
    /// What it printed to stderr.
    pub stderr: &'a str,
    /// Its exit code.
    pub exit: i32,
}

/// What the client itself reports of the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the client's")]
pub enum Outcome {
    Success,
    Error,
}

/// What becomes of the tool call that the event guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// The normal flow decides, as if there were no hook.
    Unchanged,
    /// Explicitly allowed.
    Runs,
    /// Runs with another input.
    Rewritten,
    /// The user is asked; without one it does not run.
    Asks,
    /// The run ends with the call pending.
    Deferred,
    /// It does not run.
    Blocked,
}

/// What becomes of the turn of the agent that the event belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Turn {
    /// It goes its way, as if there were no hook.
    Continues,
    /// The hook ends it.
    Stops,
    /// It would have ended, and the hook keeps it going.
    KeptGoing,
    /// The prompt is taken back and never reaches the model.
    Erased,
}

/// Which part of an answer a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageKind {
    /// `additionalContext`
    Context,
    /// The reason of a decision.
    Reason,
    /// stderr, or what the client says in its place.
    Stderr,
    /// Plain stdout, or a message.
    Text,
}

/// A text and what reaches its reader of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// What it is.
    pub kind: MessageKind,
    /// What its reader sees of it.
    pub text: String,
    /// Whether that is only the beginning.
    pub truncated: bool,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Something that was said is not heard.
    Warning,
    /// The answer, or the guard it was meant to be, is lost.
    Error,
}

/// A remark on an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Which mistake; [`catalogue`] has its page.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The place in the JSON, as a pointer; empty for the answer as a whole.
    pub path: String,
    /// What is the matter.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// An answer that does what the judged one was meant to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Corrected {
    /// What to print.
    pub stdout: String,
    /// The exit code.
    pub exit: u8,
}

/// What the client does with an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The event.
    pub event: EventName,
    /// The client whose contract was applied.
    pub client: Version,
    /// What the client reports of the hook.
    pub outcome: Outcome,
    /// What becomes of the tool call; `None` for events that guard none.
    pub tool: Option<Tool>,
    /// What becomes of the turn.
    pub turn: Turn,
    /// What happens, in a sentence.
    #[serde(skip)]
    pub action: String,
    /// What the model gets to read.
    pub to_model: Vec<Message>,
    /// What the user gets to read.
    pub to_user: Vec<Message>,
    /// What the client ignores: pointers into the JSON; the empty one is all of it.
    pub dropped: Vec<String>,
    /// What the author should know.
    pub diagnostics: Vec<Diagnostic>,
    /// An answer that does what this one was meant to, where that is clear.
    pub corrected: Option<Corrected>,
}

impl Verdict {
    /// The worst of the diagnostics.
    pub fn severity(&self) -> Option<Severity> {
        self.diagnostics.iter().map(|diagnostic| diagnostic.severity).max()
    }
}

/// Says what the client does with a hook's answer.
pub fn judge(run: &HookRun<'_>, contract: Contract) -> Verdict {
    let spec = table::event(run.event);
    let reading = Reading::of(run.stdout, spec, contract);
    let mut verdict = apply::apply(run, spec, &reading, contract);
    diagnose::diagnose(run, spec, &reading, contract, &mut verdict);
    verdict.corrected = correct::correct(run, spec, &reading, contract, &verdict);
    verdict
}

/// The text as the client would see it: bytes that are no UTF-8 are replaced, white space is cut.
pub fn decode(stdout: &[u8]) -> String {
    javascript::trim(&String::from_utf8_lossy(stdout)).to_owned()
}
