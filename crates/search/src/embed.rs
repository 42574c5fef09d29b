//! Embeddings: turns a text into a vector of 256 small numbers, so that texts about the same thing are near each other
//! even if they share no word.
//!
//! The vector of a text is the sum of the vectors of its tokens, from a table in the binary. There is nothing to load,
//! so a hook of a few milliseconds can afford it. `docs/reference/recall.md` describes the table, its origin and its
//! quality.

mod cover;
mod dot;
mod fold;
mod table;
mod wordpiece;

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::words;
pub use cover::TokenSet;
pub use cover::{CoverageQuery, TextCoverage};
use table::Token;

/// Number of dimensions of a vector.
pub const VECTOR_DIMS: usize = 256;

/// Version of the tokenisation. Increase it whenever the same text and the same table would give another vector.
const TOKENISATION_VERSION: u64 = 1;

/// Identifies the table and the tokenisation. Vectors with different hashes cannot be compared.
pub const EMBEDDING_HASH: u64 = table::TABLE_HASH.wrapping_add(TOKENISATION_VERSION);

/// The components of a vector: bytes that hold numbers from -128 to 127.
type Components = [u8; VECTOR_DIMS];

/// Text length in bytes from which words repeat so often that it pays to look each one up only once.
const MIN_WORD_CACHE_BYTES: usize = 4096;

/// Maximum number of tokens that are read. No lesson is as long, and a log pasted into a prompt must not slow down a
/// hook.
const MAX_TOKENS: usize = 8192;

/// The meaning of a text as a direction: whole numbers, and the `scale` that brings them to length one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vector {
    numbers: Components,
    scale: f32,
}

/// Returns the vector of a text, or None if the vocabulary has none of its words.
pub fn embed(text: &str) -> Option<Vector> {
    let mut total = [0_f32; VECTOR_DIMS];
    let mut left = MAX_TOKENS;
    for_each_token(text, |token| {
        if token != Token::UNKNOWN {
            let scale = token.scale();
            for (sum, &number) in total.iter_mut().zip(token.row()) {
                *sum += f32::from(number.cast_signed()) * scale;
            }
        }
        left -= 1;
        left > 0
    });
    Vector::from_sums(&total)
}

/// Passes the tokens of a text to `goes_on` until it returns false.
fn for_each_token(text: &str, mut goes_on: impl FnMut(Token) -> bool) {
    let mut take = |token| {
        if goes_on(token) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let mut read = wordpiece::Tokeniser::default();
    // A break only means that the caller has enough tokens.
    let _ = if text.len() < MIN_WORD_CACHE_BYTES {
        words::name_parts(text).try_for_each(|part| read.tokens(part, &mut take))
    } else {
        let mut known: HashMap<&str, Vec<Token>> = HashMap::new();
        words::name_parts(text).try_for_each(|part| {
            let tokens = known.entry(part).or_insert_with(|| {
                let mut tokens = Vec::new();
                let _ = read.tokens(part, &mut |token| {
                    tokens.push(token);
                    ControlFlow::Continue(())
                });
                tokens
            });
            tokens.iter().try_for_each(|token| take(*token))
        })
    };
}

impl Vector {
    /// Returns the vector with these numbers, or None if all are 0, because that has no direction.
    pub fn new(numbers: [i8; VECTOR_DIMS]) -> Option<Self> {
        Self::from_components(numbers.map(i8::cast_unsigned))
    }

    fn from_components(numbers: Components) -> Option<Self> {
        let square = dot::portable_dot(&numbers, &numbers);
        #[expect(clippy::cast_precision_loss, reason = "256 squares of bytes are below 2^23")]
        (square > 0).then(|| Self { numbers, scale: 1.0 / (square as f32).sqrt() })
    }

    /// Returns the vector of whole numbers with the direction of the sums.
    pub fn from_sums(sums: &[f32; VECTOR_DIMS]) -> Option<Self> {
        let largest = sums.iter().fold(0_f32, |largest, sum| largest.max(sum.abs()));
        if largest <= 0.0 {
            return None;
        }
        let by = 127.0 / largest;
        let rounded = sums.map(|sum| {
            let scaled = sum * by;
            #[expect(clippy::cast_possible_truncation, reason = "that is the rounding")]
            let whole = (scaled + 0.5_f32.copysign(scaled)) as i8;
            whole.cast_unsigned()
        });
        Self::from_components(rounded)
    }

    /// Returns the numbers.
    pub fn numbers(&self) -> [i8; VECTOR_DIMS] {
        self.numbers.map(u8::cast_signed)
    }

    /// Returns the factor that gives the vector a length of one.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// Returns the similarity of two texts: 1 for the same text, about 0 for unrelated ones.
    pub fn cosine(&self, other: &Self) -> f32 {
        VectorComparer::new_for(self, 1).cosine_with(&other.numbers, other.scale)
    }

    /// Reads a vector from the database form: the numbers alone, because the scale follows from them.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::from_components(bytes.try_into().ok()?)
    }

    pub fn as_bytes(&self) -> &Components {
        &self.numbers
    }
}

/// Compares many vectors with one, using the best instructions of the processor. All instruction sets give the same
/// result, because they add whole numbers.
pub struct VectorComparer<'a> {
    vector: &'a Vector,
    dot: fn(&Components, &Components) -> i32,
}

impl<'a> VectorComparer<'a> {
    /// Prepares about `comparisons` comparisons. CPU detection on a virtual processor takes 27 µs, as long as 800 plain
    /// ones.
    pub fn new_for(vector: &'a Vector, comparisons: usize) -> Self {
        Self { vector, dot: if comparisons < 800 { dot::portable_dot } else { dot::best_dot() } }
    }

    pub fn cosine_with(&self, numbers: &Components, scale: f32) -> f32 {
        let dot = (self.dot)(&self.vector.numbers, numbers);
        #[expect(clippy::cast_precision_loss, reason = "256 products of bytes are below 2^23")]
        let dot = dot as f32;
        dot * self.vector.scale * scale
    }
}

#[cfg(test)]
mod tests;
