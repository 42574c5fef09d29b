//! Finding the right lesson for an ordinary sentence, and nothing when there is none.

pub mod score;
pub mod terms;
