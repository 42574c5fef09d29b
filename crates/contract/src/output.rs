//! Builders for hook answers.
//!
//! [`HookOutput`] is typed by its event: it has a method only if the client acts on the corresponding field,
//! so an answer that the client would drop does not compile. The table decides which event has which methods.
//!
//! ```
//! use rutter_contract::input::{PostToolUse, SessionStart};
//! use rutter_contract::output::HookOutput;
//!
//! let answer = HookOutput::<SessionStart>::new().context("Branch: main").answer();
//! assert_eq!(
//!     answer.stdout,
//!     r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"Branch: main"}}"#
//! );
//!
//! let answer = HookOutput::<PostToolUse>::new().block("the build is red").answer();
//! assert_eq!(answer.stdout, r#"{"decision":"block","reason":"the build is red"}"#);
//! ```
//!
//! These do not compile: context on an event without `hookSpecificOutput`, a permission decision after the
//! call, a message that the client would discard:
//!
//! ```compile_fail,E0599
//! # use rutter_contract::{input::SessionEnd, output::HookOutput};
//! HookOutput::<SessionEnd>::new().context("lost");
//! ```
//! ```compile_fail,E0599
//! # use rutter_contract::{input::PostToolUse, output::HookOutput};
//! HookOutput::<PostToolUse>::new().deny("too late");
//! ```
//! ```compile_fail,E0599
//! # use rutter_contract::{input::SubagentStop, output::HookOutput};
//! HookOutput::<SubagentStop>::new().deny("not a permission");
//! ```
//! ```compile_fail,E0599
//! # use rutter_contract::{input::PreToolUse, output::HookOutput};
//! HookOutput::<PreToolUse>::new().block("deprecated");
//! ```
//! ```compile_fail,E0599
//! # use rutter_contract::{input::PreModelSwitch, output::HookOutput};
//! HookOutput::<PreModelSwitch>::new().defer();
//! ```
//! ```compile_fail,E0599
//! # use rutter_contract::{input::PreCompact, output::HookOutput};
//! HookOutput::<PreCompact>::new().system_message("would land in the compaction prompt");
//! ```

use std::fmt;
use std::marker::PhantomData;

use serde_json::{Map, Value};

use crate::event::HookEvent;
use crate::table::{CLASSIFIER_LIMIT_UNITS, TEXT_LIMIT_UNITS};

mod capabilities;
mod decisions;
mod limit;
mod plain;

pub use decisions::{InvalidPermissionUpdate, PermissionGrant};
pub(crate) use limit::prefix_within;
pub use limit::{truncate_to_limit, utf16_units};

macro_rules! capability {
    ($(#[doc = $doc:literal] $name:ident;)*) => {
        $(#[doc = $doc] pub trait $name: HookEvent {})*
    };
}

capability! {
    /// Marks events that accept `additionalContext`.
    TakesContext;
    /// Marks events that accept `sessionTitle`.
    TakesTitle;
    /// Marks events that accept `watchPaths`.
    TakesWatchPaths;
    /// Marks events that accept `suppressOriginalPrompt`.
    HidesPrompt;
    /// Marks events that accept `permissionDecision`.
    DecidesPermission;
    /// Marks events that accept `action` and `content`.
    AnswersElicitation;
    /// Marks events on which the client acts on a top-level `decision` of `block`.
    Blocks;
    /// Marks events on which the client acts on `continue: false`.
    StopsTurn;
    /// Marks events on which the client shows `systemMessage`, or may show it.
    ShowsMessage;
    /// Marks events on which the client passes control sequences to the terminal.
    WritesToTerminal;
    /// Marks events on which the client passes on stdout that is not JSON.
    SpeaksPlainly;
}

/// The output of a hook process: stdout, stderr and exit code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookAnswer {
    /// Text for stdout; empty if the hook has no answer.
    pub stdout: String,
    /// Text for stderr; empty unless `exit` is 2.
    pub stderr: String,
    /// The exit code.
    pub exit: u8,
}

/// A JSON answer to event `E`.
pub struct HookOutput<E> {
    keep_going: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    terminal_sequence: Option<String>,
    block_reason: Option<String>,
    specific: Map<String, Value>,
    event: PhantomData<fn() -> E>,
}

impl<E: HookEvent> HookOutput<E> {
    /// Creates an empty answer.
    pub fn new() -> Self {
        Self {
            keep_going: None,
            stop_reason: None,
            system_message: None,
            terminal_sequence: None,
            block_reason: None,
            specific: Map::new(),
            event: PhantomData,
        }
    }

    /// Returns the answer as JSON, for an HTTP handler or a test; `{}` if the answer is empty.
    pub fn to_value(&self) -> Value {
        let mut out = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                out.insert(key.to_owned(), value);
            }
        };
        put("continue", self.keep_going.map(Value::Bool));
        put("stopReason", self.stop_reason.clone().map(Value::String));
        put("systemMessage", self.system_message.clone().map(Value::String));
        put("terminalSequence", self.terminal_sequence.clone().map(Value::String));
        if let Some(reason) = &self.block_reason {
            put("decision", Some("block".into()));
            put("reason", Some(reason.clone().into()));
        }
        if !self.specific.is_empty() {
            let mut specific = Map::new();
            specific.insert("hookEventName".to_owned(), E::NAME.as_str().into());
            specific.extend(self.specific.clone());
            put("hookSpecificOutput", Some(Value::Object(specific)));
        }
        Value::Object(out)
    }

    /// Returns the answer of a command hook: empty stdout and exit 0 if the answer is empty.
    pub fn answer(&self) -> HookAnswer {
        let value = self.to_value();
        let silent = value.as_object().is_some_and(Map::is_empty);
        let stdout = if silent { String::new() } else { value.to_string() };
        HookAnswer { stdout, ..HookAnswer::default() }
    }

    fn set_specific(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.specific.insert(key.to_owned(), value.into());
        self
    }
}

impl<E: TakesContext> HookOutput<E> {
    /// Adds text to the model's context. A second call adds a line. Text above the client's limit is cut and
    /// marked here, because the client would keep only 2,000 units of it.
    #[must_use]
    pub fn context(self, text: impl AsRef<str>) -> Self {
        let earlier = self.specific.get("additionalContext").and_then(Value::as_str);
        let text = match earlier {
            Some(earlier) => format!("{earlier}\n{}", text.as_ref()),
            None => text.as_ref().to_owned(),
        };
        self.set_specific(
            "additionalContext",
            truncate_to_limit(&text, TEXT_LIMIT_UNITS).into_owned(),
        )
    }
}

impl<E: ShowsMessage> HookOutput<E> {
    /// Shows a message to the user.
    #[must_use]
    pub fn system_message(mut self, text: impl AsRef<str>) -> Self {
        self.system_message = Some(truncate_to_limit(text.as_ref(), TEXT_LIMIT_UNITS).into_owned());
        self
    }
}

impl<E: WritesToTerminal> HookOutput<E> {
    /// Writes a control sequence to the user's terminal: OSC 0, 1, 2, 9, 99, 777 or BEL. The client
    /// ignores all others, and ignores these too in a run without a terminal.
    #[must_use]
    pub fn terminal_sequence(mut self, sequence: impl Into<String>) -> Self {
        self.terminal_sequence = Some(sequence.into());
        self
    }
}

impl<E: StopsTurn> HookOutput<E> {
    /// Ends the agent's turn; the reason goes to the user. On `PreToolUse` the call still runs first:
    /// to prevent it, deny it.
    #[must_use]
    pub fn stop(mut self, reason: impl Into<String>) -> Self {
        self.keep_going = Some(false);
        self.stop_reason = Some(reason.into());
        self
    }
}

impl<E: Blocks> HookOutput<E> {
    /// Blocks the announced action, or keeps a stopping agent going, with a reason.
    #[must_use]
    pub fn block(mut self, reason: impl Into<String>) -> Self {
        self.block_reason = Some(reason.into());
        self
    }
}

impl<E: TakesTitle> HookOutput<E> {
    /// Sets the session's title.
    #[must_use]
    pub fn session_title(self, title: impl Into<String>) -> Self {
        self.set_specific("sessionTitle", title.into())
    }
}

impl<E: TakesWatchPaths> HookOutput<E> {
    /// Makes `FileChanged` fire for these absolute paths.
    #[must_use]
    pub fn watch_paths(self, paths: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let paths: Vec<Value> = paths.into_iter().map(|path| Value::String(path.into())).collect();
        self.set_specific("watchPaths", paths)
    }
}

impl<E: HidesPrompt + Blocks> HookOutput<E> {
    /// Blocks a prompt and leaves its text out of the message to the user.
    #[must_use]
    pub fn block_silently(self, reason: impl Into<String>) -> Self {
        self.block(reason).set_specific("suppressOriginalPrompt", true)
    }
}

impl HookOutput<crate::input::SessionStart> {
    /// Starts a headless session with this prompt.
    #[must_use]
    pub fn initial_user_message(self, text: impl Into<String>) -> Self {
        self.set_specific("initialUserMessage", text.into())
    }

    /// Makes the client reload its skills.
    #[must_use]
    pub fn reload_skills(self) -> Self {
        self.set_specific("reloadSkills", true)
    }
}

impl HookOutput<crate::input::PostToolUse> {
    /// Replaces the tool's result. The client ignores a value without the shape of that tool's output. Never cut.
    #[must_use]
    pub fn updated_tool_output(self, output: impl Into<Value>) -> Self {
        self.set_specific("updatedToolOutput", output)
    }

    /// Replaces an MCP tool's result; has no effect on built-in tools. Never cut.
    #[must_use]
    pub fn updated_mcp_tool_output(self, output: impl Into<Value>) -> Self {
        self.set_specific("updatedMCPToolOutput", output)
    }

    /// Passes text to the classifier of auto mode.
    #[must_use]
    pub fn classifier_context(self, text: impl AsRef<str>) -> Self {
        self.set_specific(
            "classifierContext",
            truncate_to_limit(text.as_ref(), CLASSIFIER_LIMIT_UNITS).into_owned(),
        )
    }
}

impl HookOutput<crate::input::MessageDisplay> {
    /// Shows this text instead of the model's. Never cut.
    #[must_use]
    pub fn display(self, content: impl Into<String>) -> Self {
        self.set_specific("displayContent", content.into())
    }
}

impl<E: HookEvent> Default for HookOutput<E> {
    fn default() -> Self {
        Self::new()
    }
}

// A derive would require these traits of `E`, which is only a type-level name.
impl<E> Clone for HookOutput<E> {
    fn clone(&self) -> Self {
        Self {
            keep_going: self.keep_going,
            stop_reason: self.stop_reason.clone(),
            system_message: self.system_message.clone(),
            terminal_sequence: self.terminal_sequence.clone(),
            block_reason: self.block_reason.clone(),
            specific: self.specific.clone(),
            event: PhantomData,
        }
    }
}

impl<E: HookEvent> fmt::Debug for HookOutput<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HookOutput<{}>({})", E::NAME, self.to_value())
    }
}

#[cfg(test)]
mod tests;
