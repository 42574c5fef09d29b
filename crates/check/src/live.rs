//! Offline runs of the real client.
//!
//! A [`Sandbox`] is a project and a home for one run, with the settings, hooks and files under test. A
//! [`ModelScript`] holds the model's turns; [`ScriptedModel`] serves them on loopback. A [`ClientBinary`] runs in the
//! sandbox against the model, and the [`RunRecord`] has all results: the exact texts that reached the model, the
//! payload of each hook call, the client's output and its log. An [`EventScenario`] is a sandbox prepared so that one
//! event fires.
//!
//! ```no_run
//! use rutter_check::live::{ClientBinary, EventScenario, TestHook};
//! use rutter_contract::EventName;
//! use rutter_contract::{input::PreToolUse, output::HookOutput};
//!
//! let client = ClientBinary::open("/opt/clients/2.1.325/claude")?;
//! let mut sandbox = EventScenario::for_event(EventName::PreToolUse).sandbox()?;
//! let deny = HookOutput::<PreToolUse>::new().deny("no shell here").answer();
//! sandbox.hook(TestHook::for_event(EventName::PreToolUse).answers(deny));
//! let record = sandbox.run(&client)?;
//! assert!(record.reached_model("no shell here").is_some());
//! # Ok::<(), rutter_check::live::LiveError>(())
//! ```
//!
//! The client gets nothing of the user's: a minimal environment, a `HOME` in the sandbox, a made-up key, and
//! an address on 127.0.0.1 to send it to.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

mod agreement;
mod client;
mod conversation;
mod hook;
mod model;
mod process;
mod record;
mod recorder;
mod sandbox;
pub mod scenario;
mod script;
mod tool_calls;
mod wrapped_settings;

pub use agreement::{Disagreement, FiredHook, HookFiring, find_disagreements, group_firings};
pub use client::ClientBinary;
pub use conversation::{Conversation, ConversationStep};
pub use hook::TestHook;
pub use model::{ModelRequest, ModelThread, ScriptedModel};
pub use process::ProcessEnding;
pub use record::{HookResponse, ModelText, RecordedHookCall, RunRecord};
pub use recorder::{RecordedHookEnd, RecordedHookRun, read_hook_runs, record_hook_run};
pub use sandbox::Sandbox;
pub use scenario::EventScenario;
pub use script::{ContentBlock, ModelScript, ModelTurn};
pub use tool_calls::{CALLABLE_TOOLS, prepare_tool_calls};
pub use wrapped_settings::{HookWrapper, LeftOutSettings, WrappedHook};

/// An error in driving a client. Misbehaviour of the client itself is in the [`RunRecord`].
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// A file of the sandbox could not be created or read.
    #[error("the sandbox's {path} cannot be used: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The scripted model could not listen.
    #[error("the scripted model cannot listen on 127.0.0.1: {0}")]
    Listen(#[source] io::Error),
    /// The client could not be started, written to or ended.
    #[error(
        "{path} cannot be run: {source}; give the path of a Claude Code binary for this machine"
    )]
    Client {
        /// The binary.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The binary's answer to `--version` is not Claude Code's.
    #[error("{path} is not a Claude Code client: `--version` printed `{printed}`")]
    NotAClient {
        /// The binary.
        path: PathBuf,
        /// The first line of its output.
        printed: String,
    },
    /// The client did not reach the awaited point of the conversation.
    #[error("the client did not come to {awaited} within {limit:?}; stderr: {stderr}")]
    Stuck {
        /// The awaited point.
        awaited: String,
        /// The time limit.
        limit: Duration,
        /// The client's stderr so far.
        stderr: String,
    },
}
