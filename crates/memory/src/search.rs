//! Finding what was stored: names taken apart, and vectors in a file beside the database.

pub mod vectors;
pub mod words;
