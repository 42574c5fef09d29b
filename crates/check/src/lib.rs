//! Tests of hooks against the client that runs them.
//!
//! [`live`] drives a real Claude Code client offline, with a scripted model on loopback, a temporary
//! project and the hooks under test, and records the run.

#![warn(missing_docs)]

pub mod live;
