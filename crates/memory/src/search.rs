//! Finding what was stored: names taken apart.

pub mod words;
