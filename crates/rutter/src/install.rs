//! Putting rutter into the client's settings, and taking it out again.
//!
//! A settings file is somebody else's. So it is never parsed and written anew: [`settings`] works out *edits* of its text,
//! and every byte that no edit names stays what it was. [`record`] keeps where these edits are, without a byte of the
//! file, so that they can be taken back exactly. [`file`] writes: beside, then renamed, and only if the file is still the
//! one that was read.

mod change;
mod exclude;
mod file;
mod layout;
mod nearer;
mod outline;
pub(crate) mod plugin;
mod program;
mod record;
mod scope;
mod settings;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use change::Change;
pub(crate) use exclude::Exclude;
pub(crate) use file::Contents;
pub(crate) use nearer::{Asker, beside, is_same, steps_back};
pub(crate) use outline::{Outline, position};
pub(crate) use program::{build_folder, choose as choose_start, is_found};
pub(crate) use record::{Record, Records};
pub(crate) use scope::Scope;
pub(crate) use settings::{Malformed, install, is_empty, is_installed, uninstall};
pub(crate) use table::{Group, Start, groups, is_ours, is_shared, program as program_of};
