//! The learning memory behind `rutter`: what an agent set out to do, what really happened, and what that leaves.

pub mod project;
pub mod redact;
