//! The client's configuration, read as the client reads it.
//!
//! A client that is started in a folder reads settings files, plugins, registrations of MCP servers and a state file of
//! its own. This module reads the same files by the same rules. It reports what the client uses, what the client skips,
//! and where each of them is written. It does not judge any of this: codes, messages and advice belong to the callers.
//!
//! Nothing here reads the environment or looks for a home folder. Callers pass all paths.
//!
//! Settings contain tokens. Faults name keys and types, but never quote a value. A name may still contain a secret that
//! was pasted into the wrong place, so callers redact names before they show them.

mod file;
mod location;
mod outline;
mod storage;

pub use file::{FileReadError, is_same_path, read_regular_file};
pub use location::{FileLocation, line_and_column};
pub use outline::{JsonItem, JsonOutline, JsonType};
pub use storage::client_storage_folder;
