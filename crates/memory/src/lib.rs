//! The learning memory behind `rutter`: what an agent set out to do, what really happened, and what that leaves.
//!
//! Everything is synchronous and local. [`store::Store`] is the whole memory for commands and servers; a hook uses
//! [`store::hot`], which never waits long, never migrates and never checkpoints, and falls back to the
//! [`store::spool`]. Texts enter as [`Clean`], which cannot be made without taking the secrets out, so there is no
//! way around the redaction. Nothing here prints, reads the environment or asks what time it is.

pub mod bash_call;
pub mod change;
pub mod config;
pub mod context;
pub mod document;
pub mod episode;
pub mod experience;
pub mod ghap;
pub mod hook;
mod id;
pub mod injection;
pub mod log;
pub mod memory;
mod mention;
pub mod origin;
pub mod outcome;
pub mod pause;
pub mod project;
pub mod quiet;
pub mod quote;
pub mod rank;
mod reference;
pub mod run;
pub mod session;
mod speech;
pub mod store;
pub mod tally;
pub mod value;

pub use id::{Id, IdSuffix};
pub use rutter_redact::{Clean, Limit, TextError, UnknownChoice, checksum};
pub use rutter_runs::{BadTime, Time};
pub use speech::Hands;
pub use store::{Store, StoreError};
