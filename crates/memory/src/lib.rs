//! The learning memory of `rutter`: records the plans of an agent, the results, and the lessons from both.
//!
//! Everything is synchronous and local. [`store::Store`] is the whole memory for commands and servers. Hooks use
//! [`store::hook_store`], which never waits long, never migrates and never checkpoints, and falls back to the
//! [`store::spool`]. Texts enter as [`Clean`], which removes secrets when it is created, so no text can bypass the
//! redaction. This crate does not print, read the environment or read the clock.

pub mod applies_when;
pub mod cached_file;
pub mod change;
pub mod command_episode;
pub mod config;
pub mod data_dir;
pub mod document;
pub mod episode;
pub mod experience;
pub mod fingerprints;
pub mod ghap;
pub mod hook_consent;
pub mod hook_recording;
mod id;
pub mod injection;
pub mod log;
pub mod memory;
pub mod origin;
pub mod outcome;
pub mod pause;
pub mod project;
pub mod quote;
pub mod rank;
pub mod run;
mod same_words;
pub mod session;
pub mod store;
pub mod value;

pub use id::{Id, IdSuffix};
pub use rutter_redact::{Clean, Limit, TextError, UnknownChoice, checksum};
pub use rutter_runs::{ParseTimeError, Time};
pub use store::{Store, StoreError, StoreResult};
