//! Claude Code's hook contract.
//!
//! A hook is a program that the client runs when something happens. The client writes one JSON
//! object to its stdin, and reads an answer from its stdout and exit code. What a key is called, which
//! event takes which answer, and what the client does with a wrong one differs from event to event,
//! and the client drops most mistakes without a word.
//!
//! This crate has the whole contract in one place, [`table`], and what follows from it:
//!
//! - [`input`]: a type for each event's payload; unknown fields and unknown events are kept;
//! - [`output`]: an answer for each event that cannot say what the event forbids;
//! - [`schema`]: JSON Schemas of both;
//! - [`payload`]: payloads that the real client sent;
//! - [`verdict`]: what the client does with an answer, right or wrong;
//! - [`version`]: what differs between clients.
//!
//! ```
//! use rutter_contract::input::{Input, PreToolUse};
//! use rutter_contract::output::HookOutput;
//!
//! # let stdin = rutter_contract::payload::recorded(rutter_contract::EventName::PreToolUse)[0].to_string();
//! if let Input::PreToolUse(call) = Input::parse(stdin.as_bytes())? {
//!     if call.tool_name == "Bash" {
//!         let answer = HookOutput::<PreToolUse>::new().deny("no shell in this project").answer();
//!         assert!(answer.stdout.contains(r#""permissionDecision":"deny""#));
//!     }
//! }
//! # Ok::<(), rutter_contract::input::ParseError>(())
//! ```
//!
//! It does no I/O and depends on serde alone.

#![warn(missing_docs)]

pub mod describe;
mod event;
pub mod input;
pub mod javascript;
mod name;
mod near;
pub mod output;
pub mod payload;
pub mod schema;
pub mod spec;
pub mod table;
pub mod verdict;
pub mod version;

pub use event::HookEvent;
pub use name::{EventName, UnknownEvent};
pub use near::nearest;
