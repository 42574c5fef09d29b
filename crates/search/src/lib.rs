//! Finding the right lesson for an ordinary sentence, and nothing when there is none.
//!
//! Words and meaning: terms and vectors in files beside the database, both joined by what share of the query a document
//! covers.

pub mod background;
pub mod cache;
pub mod cluster;
pub mod document;
pub mod embed;
pub mod file;
pub mod postings;
pub mod score;
pub mod terms;
pub mod vectors;
pub mod words;
