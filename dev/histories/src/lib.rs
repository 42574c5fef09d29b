//! Generated coding histories with known truth, and the evaluation of the product on them.
//!
//! A seed makes a virtual [`project`] in one of several languages. Its files decide the output of each tool
//! [run](runs), byte for byte. A [story](generate) sends an agent through several sessions: bugs, wrong attempts, fixes
//! among unrelated edits, green runs that cover the failure and green runs that do not, and recurring failures. The
//! [`world`] turns the story into payloads of the client's hooks and records the [`truth`]. [`play`] sends the payloads
//! to the product, [`judge`] compares the product's texts and closed episodes with the truth, and [`report`] counts.
//!
//! Nothing here depends on the product's implementation, except [`play::InProcess`].

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
