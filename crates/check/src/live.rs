//! The real client, driven offline.
//!
//! A [`Sandbox`] is a project and a home that exist for one run, with the settings, hooks and files
//! under test. A [`Script`] is what the model will say; [`ScriptedModel`] says it, on loopback. A
//! [`Client`] is run in the sandbox against the model, and the [`Record`] has everything that can be
//! known of it afterwards: what reached the model word for word, what each hook was sent, what the
//! client printed and logged. A [`Scenario`] is a sandbox prepared so that one event fires.
//!
//! ```no_run
//! use rutter_check::live::{Client, Hook, Scenario};
//! use rutter_contract::EventName;
//! use rutter_contract::{input::PreToolUse, output::HookOutput};
//!
//! let client = Client::at("/opt/clients/2.1.325/claude")?;
//! let mut sandbox = Scenario::of(EventName::PreToolUse).sandbox()?;
//! let deny = HookOutput::<PreToolUse>::new().deny("no shell here").answer();
//! sandbox.hook(Hook::on(EventName::PreToolUse).answers(deny));
//! let record = sandbox.run(&client)?;
//! assert!(record.reached_model("no shell here").is_some());
//! # Ok::<(), rutter_check::live::LiveError>(())
//! ```
//!
//! The client is given nothing of the user's: an empty environment but for what it needs, a `HOME` in
//! the sandbox, a made-up key, and an address on 127.0.0.1 to send it to.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

mod client;
mod conversation;
mod hook;
mod model;
mod process;
mod record;
mod sandbox;
pub mod scenario;
mod script;

pub use client::Client;
pub use conversation::{Conversation, Step};
pub use hook::Hook;
pub use model::{Request, ScriptedModel, Thread};
pub use process::{Ending, Witness};
pub use record::{HookCall, HookResponse, Record, Told};
pub use sandbox::Sandbox;
pub use scenario::Scenario;
pub use script::{Block, Script, Turn};

/// Why a client could not be driven. What the client itself does wrong is in the [`Record`].
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// A file of the sandbox could not be made or read.
    #[error("the sandbox's {path} cannot be used: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The scripted model could not listen.
    #[error("the scripted model cannot listen on 127.0.0.1: {0}")]
    Listen(#[source] io::Error),
    /// The client could not be started, fed or ended.
    #[error(
        "{path} cannot be run: {source}; give the path of a Claude Code binary for this machine"
    )]
    Client {
        /// The binary.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The binary answers `--version` with something else.
    #[error("{path} is not a Claude Code client: `--version` printed `{printed}`")]
    NotAClient {
        /// The binary.
        path: PathBuf,
        /// The first line it printed.
        printed: String,
    },
    /// The client did not come to what the conversation waited for.
    #[error("the client did not come to {awaited} within {limit:?}; stderr: {stderr}")]
    Stuck {
        /// What was waited for.
        awaited: String,
        /// For how long.
        limit: Duration,
        /// What the client had complained of.
        stderr: String,
    },
}
