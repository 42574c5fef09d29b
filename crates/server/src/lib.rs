//! The MCP server: serves the memory as tools that an agent calls.
//!
//! [`tools`] has the tools. Each one is an input type, an output type, and a plain function between them, on the same
//! [`Store`](rutter_memory::Store) that hooks and commands use. The tools are synchronous, so a command can call one in
//! its own process. [`mcp`] is the only module that knows the protocol; it uses the SDK. [`http`] serves the protocol
//! on a socket and decides which clients may connect. All async code of the workspace is in this crate.

pub mod http;
pub mod mcp;
mod refusal;
mod schema;
mod server_context;
mod store_pool;
pub mod tools;

pub use server_context::{CallChannel, CallerIdentity, ServerContext};

/// Describes a JSON error by its position only, because the text may be private.
fn describe_json_error(error: &serde_json::Error) -> String {
    let what = if error.is_eof() { "it ends too early" } else { "it cannot be read" };
    format!("not JSON: {what}, at line {}, column {}", error.line(), error.column())
}
