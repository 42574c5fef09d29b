//! Putting rutter into the client's files, and taking it out again.
//!
//! These files are somebody else's. So none is ever parsed and written anew: [`places`] works out *edits* of a text, and
//! every byte that no edit names stays what it was. [`record`] keeps where these edits are, without a byte of the file, so
//! that they can be taken back exactly. [`file`] writes: beside, then renamed, and only if the file is still the one that
//! was read. [`site`] is one such file from end to end, [`work`] several of them as one.

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
