//! One module per command.

pub(crate) mod completions;
pub(crate) mod contract;
