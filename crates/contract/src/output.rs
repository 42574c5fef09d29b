//! What a hook answers.
//!
//! [`HookOutput`] is typed by its event: a method is there only where the client acts on what it
//! says, so an answer that would be dropped does not compile. Which event takes what follows from the
//! table.
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
//! No context where there is no `hookSpecificOutput`, no permission decision after the fact, no
//! message where it would be thrown away:
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

pub use decisions::{Allow, NotSendable};
pub(crate) use limit::head;
pub use limit::{fit, utf16_units};

macro_rules! capability {
    ($(#[doc = $doc:literal] $name:ident;)*) => {
        $(#[doc = $doc] pub trait $name: HookEvent {})*
    };
}

capability! {
    /// Takes `additionalContext`.
    TakesContext;
    /// Takes `sessionTitle`.
    TakesTitle;
    /// Takes `watchPaths`.
    TakesWatchPaths;
    /// Takes `suppressOriginalPrompt`.
    HidesPrompt;
    /// Takes `permissionDecision`.
    DecidesPermission;
    /// Takes `action` and `content`.
    AnswersElicitation;
    /// Acts on a top-level `decision` of `block`.
    Blocks;
    /// Acts on `continue: false`.
    StopsTurn;
    /// Shows `systemMessage` to somebody, or may.
    ShowsMessage;
    /// Passes control sequences on to the terminal.
    WritesToTerminal;
    /// Passes on stdout that is no JSON.
    SpeaksPlainly;
}

/// What the client reads of a hook process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// For stdout; empty for silence.
    pub stdout: String,
    /// For stderr; empty unless `exit` is 2.
    pub stderr: String,
    /// The exit code.
    pub exit: u8,
}

/// An answer to event `E`, said in JSON.
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
    /// An answer that says nothing.
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

    /// The answer as JSON, for an HTTP handler or a test; `{}` when nothing was said.
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

    /// The answer of a command hook. Silence is empty stdout and exit 0.
    pub fn answer(&self) -> Answer {
        let value = self.to_value();
        let silent = value.as_object().is_some_and(Map::is_empty);
        let stdout = if silent { String::new() } else { value.to_string() };
        Answer { stdout, ..Answer::default() }
    }

    fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.specific.insert(key.to_owned(), value.into());
        self
    }
}

impl<E: TakesContext> HookOutput<E> {
    /// Puts text in front of the model. A second call adds a line; what is too long for the client is
    /// cut, with a mark, where the client would leave 2,000 units of it.
    #[must_use]
    pub fn context(self, text: impl AsRef<str>) -> Self {
        let earlier = self.specific.get("additionalContext").and_then(Value::as_str);
        let text = match earlier {
            Some(earlier) => format!("{earlier}\n{}", text.as_ref()),
            None => text.as_ref().to_owned(),
        };
        self.set("additionalContext", fit(&text, TEXT_LIMIT_UNITS).into_owned())
    }
}

impl<E: ShowsMessage> HookOutput<E> {
    /// Says something to the user.
    #[must_use]
    pub fn system_message(mut self, text: impl AsRef<str>) -> Self {
        self.system_message = Some(fit(text.as_ref(), TEXT_LIMIT_UNITS).into_owned());
        self
    }
}

impl<E: WritesToTerminal> HookOutput<E> {
    /// Writes a control sequence to the user's terminal: OSC 0, 1, 2, 9, 99, 777 or BEL. The client
    /// ignores every other one, and all of them in a run without a terminal.
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
    /// Blocks what the event announces, or keeps a stopping agent going, with a reason.
    #[must_use]
    pub fn block(mut self, reason: impl Into<String>) -> Self {
        self.block_reason = Some(reason.into());
        self
    }
}

impl<E: TakesTitle> HookOutput<E> {
    /// Names the session.
    #[must_use]
    pub fn session_title(self, title: impl Into<String>) -> Self {
        self.set("sessionTitle", title.into())
    }
}

impl<E: TakesWatchPaths> HookOutput<E> {
    /// Has `FileChanged` fire for these absolute paths.
    #[must_use]
    pub fn watch_paths(self, paths: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let paths: Vec<Value> = paths.into_iter().map(|path| Value::String(path.into())).collect();
        self.set("watchPaths", paths)
    }
}

impl<E: HidesPrompt + Blocks> HookOutput<E> {
    /// Blocks a prompt and leaves its text out of the message to the user.
    #[must_use]
    pub fn block_silently(self, reason: impl Into<String>) -> Self {
        self.block(reason).set("suppressOriginalPrompt", true)
    }
}

impl HookOutput<crate::input::SessionStart> {
    /// Starts a headless session with this prompt.
    #[must_use]
    pub fn initial_user_message(self, text: impl Into<String>) -> Self {
        self.set("initialUserMessage", text.into())
    }

    /// Has the client read its skills again.
    #[must_use]
    pub fn reload_skills(self) -> Self {
        self.set("reloadSkills", true)
    }
}

impl HookOutput<crate::input::PostToolUse> {
    /// Replaces what the tool returned. It must have the shape of that tool's output, or the client
    /// ignores it. Never cut.
    #[must_use]
    pub fn updated_tool_output(self, output: impl Into<Value>) -> Self {
        self.set("updatedToolOutput", output)
    }

    /// Replaces what an MCP tool returned; without effect on built-in tools. Never cut.
    #[must_use]
    pub fn updated_mcp_tool_output(self, output: impl Into<Value>) -> Self {
        self.set("updatedMCPToolOutput", output)
    }

    /// Tells the classifier of auto mode something.
    #[must_use]
    pub fn classifier_context(self, text: impl AsRef<str>) -> Self {
        self.set("classifierContext", fit(text.as_ref(), CLASSIFIER_LIMIT_UNITS).into_owned())
    }
}

impl HookOutput<crate::input::MessageDisplay> {
    /// Shows this instead of the model's text. Never cut.
    #[must_use]
    pub fn display(self, content: impl Into<String>) -> Self {
        self.set("displayContent", content.into())
    }
}

impl<E: HookEvent> Default for HookOutput<E> {
    fn default() -> Self {
        Self::new()
    }
}

// Derives would ask them of `E`, which is only a name here.
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
