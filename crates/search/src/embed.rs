//! A text as 256 small numbers, so that texts about the same thing are near each other without sharing a word.
//!
//! The vector of a text is the sum of the vectors of its tokens, from a table in the binary. There is nothing to load,
//! so a hook of a few milliseconds can afford it. What the table is, how it was made and what it is worth stands in
//! `docs/reference/recall.md`.

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

/// Numbers in a vector.
pub const DIMS: usize = 256;

/// How texts are read. One more whenever the same text and the same table would give another vector.
const READING: u64 = 1;

/// What vectors are made with, the table and how texts are read: others cannot be compared with them.
pub const HASH: u64 = table::HASH.wrapping_add(READING);

/// Bytes that are numbers from -128 to 127.
type Numbers = [u8; DIMS];

/// In a text that is longer, words come again so often that it pays to look each up once.
const LONG: usize = 4096;

/// Where a text stops being read. No lesson is as long, and a log pasted into a prompt must not take a hook's time.
const MOST_TOKENS: usize = 8192;

/// What a text is about. Of length one, as near as whole numbers come: `scale` brings it to exactly that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vector {
    numbers: Numbers,
    scale: f32,
}

/// The vector of a text; nothing for a text of which the vocabulary knows no word.
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

/// Reads the tokens of a text until there are enough.
fn each_token(text: &str, mut goes_on: impl FnMut(Token) -> bool) {
    let mut take = |token| {
        if goes_on(token) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let mut read = wordpiece::Words::default();
    // Where it broke off there was enough.
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
    /// A vector of these numbers; nothing if all are 0, which has no direction.
    pub fn new(numbers: [i8; DIMS]) -> Option<Self> {
        Self::of(numbers.map(i8::cast_unsigned))
    }

    fn of(numbers: Numbers) -> Option<Self> {
        let square = dot::portable(&numbers, &numbers);
        #[expect(clippy::cast_precision_loss, reason = "256 squares of bytes are below 2^23")]
        (square > 0).then(|| Self { numbers, scale: 1.0 / (square as f32).sqrt() })
    }

    /// The vector of whole numbers that points where the sums do.
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

    /// The numbers.
    pub fn numbers(&self) -> [i8; DIMS] {
        self.numbers.map(u8::cast_signed)
    }

    /// What makes the numbers a vector of length one.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// How alike two texts are: 1 for the same, about 0 for nothing in common.
    pub fn cosine(&self, other: &Self) -> f32 {
        Near::to(self, 1).at(&other.numbers, other.scale)
    }

    /// As it is kept in the database: the numbers alone, for the scale follows from them.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        Self::of(bytes.try_into().ok()?)
    }

    pub fn bytes(&self) -> &Numbers {
        &self.numbers
    }
}

/// Compares vectors with one of them, by the best instructions that the processor has. The sums are of whole numbers,
/// so that all of them give the same.
pub struct Near<'a> {
    vector: &'a Vector,
    dot: fn(&Numbers, &Numbers) -> i32,
}

impl<'a> Near<'a> {
    /// For about so many comparisons. Asking a virtual processor what it can do takes 27 µs, as long as 800 plain ones.
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
