//! The client's configuration, and tests of hooks against the client that runs them.
//!
//! [`settings`] reads the client's configuration as the client does: settings files, plugins, servers and permissions.
//!
//! [`matcher`] evaluates matchers and `if` rules of hooks as the client does.
//!
//! [`script`] reads the commands of hooks and the scripts that they start, and finds mistakes that are certain.
//!
//! [`lint`] asks all three for the mistakes in a configuration that the client does not report.
//!
//! [`adapt`] translates between the client and hooks that were written for other documentation.
//!
//! [`schema`] describes files with hooks as JSON Schemas, for editors.
//!
//! [`live`] drives a real Claude Code client offline, with a scripted model on loopback, a temporary
//! project and the hooks under test, and records the run.
//!
//! [`tester`] runs a hook as the client does, without a client, and reports what it blocks. [`process`] starts programs that
//! may hang.

#![warn(missing_docs)]

pub mod adapt;
pub mod lint;
pub mod live;
pub mod matcher;
pub mod process;
pub mod schema;
pub mod script;
pub mod settings;
pub mod tester;
pub mod text_edit;
