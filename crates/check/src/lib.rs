//! Hooks and the client that runs them, put to the test.
//!
//! [`live`] drives a real Claude Code client offline: a scripted model on loopback, a throwaway
//! project, the hooks under test, and a record of all that happened.

#![warn(missing_docs)]

pub mod live;
