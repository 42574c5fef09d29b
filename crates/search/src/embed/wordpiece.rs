//! Splits text into tokens with the algorithm of the vocabulary: the tokeniser of uncased BERT.
//!
//! Special tokens such as `[CLS]` are not recognised: in a text they are brackets and letters.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::fold::{FoldedChar, fold_char};
use super::table::{Token, WordPosition, longest_token};

/// Maximum length of a word in characters. A longer word is unknown.
const MAX_WORD_CHARS: usize = 100;

/// Number of words after which the tokens of words are cached: the next word was probably read before, and a cache hit
/// costs a third of finding the tokens.
const WORDS_BEFORE_CACHING: usize = 200;

/// The tokeniser. Keeps its buffers between calls.
#[derive(Debug, Default)]
pub(super) struct Tokeniser {
    word: String,
    length: usize,
    read: usize,
    /// Cached tokens of words, filled once many words were read.
    known: HashMap<String, Box<[Token]>>,
}

impl Tokeniser {
    /// Passes each token of a text to `each` until it breaks.
    pub(super) fn tokens(
        &mut self,
        text: &str,
        each: &mut impl FnMut(Token) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for c in text.chars() {
            match fold_char(c) {
                FoldedChar::Nothing => {}
                FoldedChar::Space => self.end_word(each)?,
                FoldedChar::Alone(c) => {
                    self.end_word(each)?;
                    self.push(c);
                    self.end_word(each)?;
                }
                FoldedChar::Letter(c) => self.push(c),
                FoldedChar::Letters(letters) => {
                    letters.into_iter().flatten().for_each(|c| self.push(c));
                }
            }
        }
        self.end_word(each)
    }

    fn push(&mut self, c: char) {
        self.length += 1;
        if self.length <= MAX_WORD_CHARS {
            self.word.push(c);
        }
    }

    /// Emits the tokens of the finished word: the longest token that starts it, the longest that continues it, and so
    /// on. If no token continues it, the whole word is unknown.
    fn end_word(&mut self, each: &mut impl FnMut(Token) -> ControlFlow<()>) -> ControlFlow<()> {
        if self.length == 0 {
            return ControlFlow::Continue(());
        }
        self.read += 1;
        let length = std::mem::take(&mut self.length);
        if let Some(tokens) = self.known.get(&self.word).filter(|_| length <= MAX_WORD_CHARS) {
            self.word.clear();
            return tokens.iter().try_for_each(|&token| each(token));
        }
        let mut tokens = [Token::UNKNOWN; MAX_WORD_CHARS];
        let known =
            (length <= MAX_WORD_CHARS).then(|| split_word(&self.word, &mut tokens)).flatten();
        let tokens = &tokens[..known.unwrap_or(1)];
        if self.read > WORDS_BEFORE_CACHING && length <= MAX_WORD_CHARS {
            self.known.insert(std::mem::take(&mut self.word), tokens.into());
        }
        self.word.clear();
        tokens.iter().try_for_each(|&token| each(token))
    }
}

/// Splits a word into tokens and returns their number, or None if it is unknown.
fn split_word(word: &str, tokens: &mut [Token; MAX_WORD_CHARS]) -> Option<usize> {
    let (mut rest, mut count) = (word, 0);
    while !rest.is_empty() {
        let place = if count == 0 { WordPosition::Beginning } else { WordPosition::Within };
        let Some((token, length)) = longest_token(rest, place) else {
            tokens[0] = Token::UNKNOWN;
            return None;
        };
        tokens[count] = token;
        count += 1;
        rest = &rest[length..];
    }
    Some(count)
}
