//! Search: finds the lessons that fit an ordinary sentence, and returns nothing if no lesson fits.
//!
//! Combines words and meaning. Term lists and vectors are files next to the database; the score of a document is the
//! share of the query that it covers by both.

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
