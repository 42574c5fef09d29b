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
pub use cover::Asked;
pub use cover::Tokens;
use table::Token;

/// Number of dimensions of a vector.
pub const DIMS: usize = 256;

/// Version of the tokenisation. Increase it whenever the same text and the same table would give another vector.
const READING: u64 = 1;

/// Identifies the table and the tokenisation. Vectors with different hashes cannot be compared.
pub const HASH: u64 = table::HASH.wrapping_add(READING);

/// The components of a vector: bytes that hold numbers from -128 to 127.
type Numbers = [u8; DIMS];

/// Text length in bytes from which words repeat so often that it pays to look each one up only once.
const LONG: usize = 4096;

/// Maximum number of tokens that are read. No lesson is as long, and a log pasted into a prompt must not slow down a
/// hook.
const MOST_TOKENS: usize = 8192;

/// The meaning of a text as a direction: whole numbers, and the `scale` that brings them to length one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vector {
    numbers: Numbers,
    scale: f32,
}

/// Returns the vector of a text, or None if the vocabulary has none of its words.
pub fn embed(text: &str) -> Option<Vector> {
    let mut total = [0_f32; DIMS];
    let mut left = MOST_TOKENS;
    each_token(text, |token| {
        if token != Token::UNKNOWN {
            let scale = token.scale();
            for (sum, &number) in total.iter_mut().zip(token.row()) {
                *sum += f32::from(number.cast_signed()) * scale;
            }
        }
        left -= 1;
        left > 0
    });
    Vector::near(&total)
}

/// Passes the tokens of a text to `goes_on` until it returns false.
fn each_token(text: &str, mut goes_on: impl FnMut(Token) -> bool) {
    let mut take = |token| {
        if goes_on(token) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let mut read = wordpiece::Words::default();
    // A break only means that the caller has enough tokens.
    let _ = if text.len() < LONG {
        words::parts(text).try_for_each(|part| read.tokens(part, &mut take))
    } else {
        let mut known: HashMap<&str, Vec<Token>> = HashMap::new();
        words::parts(text).try_for_each(|part| {
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
    pub fn new(numbers: [i8; DIMS]) -> Option<Self> {
        Self::of(numbers.map(i8::cast_unsigned))
    }

    fn of(numbers: Numbers) -> Option<Self> {
        let square = dot::portable(&numbers, &numbers);
        #[expect(clippy::cast_precision_loss, reason = "256 squares of bytes are below 2^23")]
        (square > 0).then(|| Self { numbers, scale: 1.0 / (square as f32).sqrt() })
    }

    /// Returns the vector of whole numbers with the direction of the sums.
    pub fn near(sums: &[f32; DIMS]) -> Option<Self> {
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
        Self::of(rounded)
    }

    /// Returns the numbers.
    pub fn numbers(&self) -> [i8; DIMS] {
        self.numbers.map(u8::cast_signed)
    }

    /// Returns the factor that gives the vector a length of one.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// Returns the similarity of two texts: 1 for the same text, about 0 for unrelated ones.
    pub fn cosine(&self, other: &Self) -> f32 {
        Near::to(self, 1).at(&other.numbers, other.scale)
    }

    /// Reads a vector from the database form: the numbers alone, because the scale follows from them.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        Self::of(bytes.try_into().ok()?)
    }

    pub fn bytes(&self) -> &Numbers {
        &self.numbers
    }
}

/// Compares many vectors with one, using the best instructions of the processor. All instruction sets give the same
/// result, because they add whole numbers.
pub struct Near<'a> {
    vector: &'a Vector,
    dot: fn(&Numbers, &Numbers) -> i32,
}

impl<'a> Near<'a> {
    /// Prepares about `comparisons` comparisons. CPU detection on a virtual processor takes 27 µs, as long as 800 plain
    /// ones.
    pub fn to(vector: &'a Vector, comparisons: usize) -> Self {
        Self { vector, dot: if comparisons < 800 { dot::portable } else { dot::best() } }
    }

    pub fn at(&self, numbers: &Numbers, scale: f32) -> f32 {
        let dot = (self.dot)(&self.vector.numbers, numbers);
        #[expect(clippy::cast_precision_loss, reason = "256 products of bytes are below 2^23")]
        let dot = dot as f32;
        dot * self.vector.scale * scale
    }
}

#[cfg(test)]
mod tests;
