//! The client's configuration, and tests of hooks against the client that runs them.
//!
//! [`settings`] reads the client's configuration as the client does: settings files, plugins, servers and permissions.
//!
//! [`lint`] finds mistakes in it that the client does not report.
//! [`matcher`] evaluates matchers and `if` rules of hooks as the client does.
//!
//! [`live`] drives a real Claude Code client offline, with a scripted model on loopback, a temporary
//! project and the hooks under test, and records the run.

#![warn(missing_docs)]

pub mod lint;
pub mod live;
pub mod matcher;
pub mod settings;
pub mod text_edit;
