//! Adds rutter to the client's files, and removes it again.
//!
//! These files belong to the user. They are never parsed and written anew: [`places`] computes *edits* of a text, and
//! every byte outside an edit stays unchanged. [`record`] stores the positions of these edits, without any content of
//! the file, so that they can be reverted exactly. [`file`] writes a temporary file and renames it, and only if the
//! original has not changed since it was read. [`site`] handles one such file from end to end, [`work`] several of them
//! as one change.

mod change;
mod checkout;
mod document;
mod exclude;
mod file;
mod hooks;
mod layout;
mod lock;
mod nearer;
mod outline;
mod places;
pub(crate) mod plugin;
mod program;
mod record;
mod registered;
mod scope;
pub(crate) mod server;
mod site;
mod table;
#[cfg(test)]
mod tests;
mod work;

pub(crate) use change::Change;
pub(crate) use document::Malformed;
pub(crate) use exclude::Exclude;
pub(crate) use file::Contents;
pub(crate) use nearer::{
    Asker, asked, beside, checkout_settings, denied, is_installed_in, is_same, runs, steps_back,
};
pub(crate) use outline::{Outline, position};
#[cfg(test)]
pub(crate) use places::is_installed;
pub(crate) use places::{Place, install};
pub(crate) use program::{build_folder, choose as choose_start, is_found};
pub(crate) use record::{Record, Records};
pub(crate) use registered::is_registered;
pub(crate) use scope::Scope;
pub(crate) use server::{PLUGIN_RULE, entry as server_entry, foreign_server, tool_rules};
pub(crate) use site::{Site, Step, Way};
pub(crate) use table::{Group, Start, groups, is_ours, is_shared, program as program_of, quoted};
pub(crate) use work::carry_out;
