//! Messy coding histories with known truth, and the examination that is made of them.
//!
//! A seed makes a virtual [`project`] in one of several languages. Its files decide what a [run](runs) of a tool prints, byte
//! for byte. A [story](generate) sends an agent through several sessions: bugs, wrong attempts, fixes among unrelated edits,
//! green runs that cover the failure and green runs that do not, and the return of it all. The [`world`] turns that into the
//! payloads of the client's hooks and keeps the [`truth`] beside them. [`play`] gives the payloads to the product, [`judge`]
//! compares what the product says and closes with the truth, and [`report`] counts.
//!
//! Nothing here depends on how the product works, except [`play::InProcess`].

#![allow(clippy::similar_names, reason = "`text` and `test` are the words of this domain")]

pub mod command;
pub mod diff;
pub mod dump;
pub mod history;
pub mod judge;
pub mod languages;
pub mod play;
pub mod project;
pub mod report;
pub mod runs;
pub mod show;
pub mod source;
mod story;
pub mod truth;
pub mod unit;
pub mod world;

pub use story::generate;
