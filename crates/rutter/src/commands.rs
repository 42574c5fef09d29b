//! One module per command.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod contract;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod episodes;
pub(crate) mod exchange;
pub(crate) mod forget;
pub(crate) mod ghap;
pub(crate) mod init;
pub(crate) mod injections;
pub(crate) mod mcp;
pub(crate) mod memories;
pub(crate) mod notify;
pub(crate) mod outcome;
pub(crate) mod pause;
pub(crate) mod plugin;
pub(crate) mod project;
pub(crate) mod recall;
pub(crate) mod sessions;
pub(crate) mod status;
pub(crate) mod tend;
pub(crate) mod trust;
pub(crate) mod uninstall;
pub(crate) mod values;
