//! Claude Code's hook contract.
//!
//! A hook is a program that the client runs on an event. The client writes one JSON object to the hook's
//! stdin, and reads an answer from its stdout and exit code. Field names, accepted answers and the handling
//! of wrong answers differ from event to event, and the client drops most mistakes silently.
//!
//! This crate has the whole contract in one place, [`table`], and derives the rest from it:
//!
//! - [`input`]: a type for each event's payload, which keeps unknown fields and unknown events;
//! - [`output`]: a builder for each event's answer, without the fields that the event does not accept;
//! - [`answer`]: the same for an event that is known only at run time;
//! - [`schema`]: JSON Schemas of payloads and answers;
//! - [`payload`]: payloads captured from the real client;
//! - [`verdict`]: the client's reaction to a right or wrong answer;
//! - [`version`]: the differences between client versions.
//!
//! ```
//! use rutter_contract::input::{Input, PreToolUse};
//! use rutter_contract::output::HookOutput;
//!
//! # let stdin = rutter_contract::payload::recorded_payloads(rutter_contract::EventName::PreToolUse)[0].to_string();
//! if let Input::PreToolUse(call) = Input::parse(stdin.as_bytes())? {
//!     if call.tool_name == "Bash" {
//!         let answer = HookOutput::<PreToolUse>::new().deny("no shell in this project").answer();
//!         assert!(answer.stdout.contains(r#""permissionDecision":"deny""#));
//!     }
//! }
//! # Ok::<(), rutter_contract::input::ParseError>(())
//! ```
//!
//! The crate does no I/O and depends on serde alone.

#![warn(missing_docs)]

pub mod answer;
pub mod describe;
mod event;
pub mod input;
pub mod javascript;
pub mod known_issues;
mod lone_surrogates;
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
pub use lone_surrogates::replace_lone_surrogates;
pub use name::{EventName, UnknownEvent};
pub use near::{find_misspelled, find_nearest};
