//! The learning memory behind `rutter`.

pub mod project;
pub mod redact;
