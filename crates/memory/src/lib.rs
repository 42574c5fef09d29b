//! The learning memory behind `rutter`: what an agent set out to do, what really happened, and what that leaves.
//!
//! Everything is synchronous and local. [`store::Store`] is the whole memory for commands and servers; a hook uses
//! [`store::hot`], which never waits long, never migrates and never checkpoints, and falls back to the
//! [`store::spool`]. Texts enter as [`Clean`], which cannot be made without taking the secrets out, so there is no
//! way around the redaction. Nothing here prints, reads the environment or asks what time it is.

pub mod change;
pub mod config;
pub mod data_dir;
pub mod document;
pub mod episode;
pub mod experience;
pub mod ghap;
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
pub mod session;
pub mod store;
pub mod value;

pub use id::{Id, IdSuffix};
pub use rutter_redact::{Clean, Limit, TextError, UnknownChoice, checksum};
pub use rutter_runs::{BadTime, Time};
pub use store::{Store, StoreError};
