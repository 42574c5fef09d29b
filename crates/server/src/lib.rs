//! The memory as tools that an agent calls.
//!
//! [`tools`] is what can be called: each tool is a type for what it takes, a type for what it gives, and a plain function
//! between the two, on the same [`Store`](rutter_memory::Store) that hooks and commands use. Nothing in there waits for anything, so a
//! command can call a tool in its own process. [`mcp`] speaks the protocol, on the SDK, and is the only part that knows it;
//! [`http`] is who may come where it is spoken on a socket. Whatever awaits is here and in no other crate.

mod desk;
pub mod halves;
pub mod http;
pub mod mcp;
mod schema;
mod shelf;
pub mod tools;

pub use desk::{Desk, Door, Whose};

/// What is wrong with a text that is no JSON: where, and not what, for the text is somebody's.
fn no_json(error: &serde_json::Error) -> String {
    let what = if error.is_eof() { "it ends too early" } else { "it cannot be read" };
    format!("no JSON: {what}, at line {}, column {}", error.line(), error.column())
}
