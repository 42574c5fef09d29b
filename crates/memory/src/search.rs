//! Finding the right lesson for an ordinary sentence, and nothing when there is none.
//!
//! Words and meaning: terms in an index of the database, vectors in a file beside it, both joined by what share of the
//! query a document covers.

pub mod background;
pub mod document;
pub mod rank;
pub mod score;
pub mod terms;
pub mod vectors;
pub mod words;
