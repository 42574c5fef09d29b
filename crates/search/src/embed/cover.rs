//! Word-by-word coverage: the shares of two texts that each covers of the other.
//!
//! A vector mixes all words of a text, so a lesson that answers one half of a question is not near the whole question.
//! Therefore the best candidates are compared again: for each token of the question, the nearest token of the document.

use super::table::Token;
use super::{VECTOR_DIMS, dot, for_each_token};

/// Maximum number of different tokens that are read from a text.
const MAX_TEXT_TOKENS: usize = 256;
/// Maximum number of tokens of a question, those with the highest weights. A long text is a log, and each token costs
/// time for each candidate.
const MAX_QUESTION_TOKENS: usize = 48;

/// The different tokens of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenSet(Vec<Token>);

impl TokenSet {
    /// Tokenises a text.
    pub fn from_text(text: &str) -> Self {
        let mut found = Vec::new();
        for_each_token(text, |token| {
            if token != Token::UNKNOWN && !found.contains(&token) {
                found.push(token);
            }
            found.len() < MAX_TEXT_TOKENS
        });
        found.sort_unstable();
        Self(found)
    }

    /// Returns the database form: two bytes per token.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|token| token.number().to_le_bytes()).collect()
    }

    /// Reads the database form. Returns None if a token is not in the table; then the document counts as having no
    /// tokens.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (pairs, rest) = bytes.as_chunks();
        let tokens = pairs.iter().map(|pair| Token::from_number(u16::from_le_bytes(*pair)));
        rest.is_empty().then(|| tokens.collect::<Option<_>>().map(Self)).flatten()
    }
}

/// A question, prepared for comparison with documents.
pub struct CoverageQuery {
    tokens: Vec<(Token, f32)>,
    dot: fn(&[u8; VECTOR_DIMS], &[u8; VECTOR_DIMS]) -> i32,
}

impl CoverageQuery {
    /// Selects the tokens with the highest weights. The weight is the length of a token's vector: frequent tokens are
    /// short.
    pub fn new(text: &str) -> Self {
        let dot = dot::best_dot();
        let mut tokens: Vec<(Token, f32)> = TokenSet::from_text(text)
            .0
            .into_iter()
            .map(|token| (token, row_length(token, dot) * token.scale()))
            .collect();
        tokens.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        tokens.truncate(MAX_QUESTION_TOKENS);
        Self { tokens, dot }
    }

    /// Compares the question with a document, token by token.
    pub fn compare(&self, document: &TokenSet) -> TextCoverage {
        let rows: Vec<_> =
            document.0.iter().map(|token| (*token, row_length(*token, self.dot))).collect();
        let mut nearest_to_row = vec![0.0_f32; rows.len()];
        let mut question = WeightedShare::default();
        for (token, weight) in &self.tokens {
            let own = 1.0 / row_length(*token, self.dot);
            let mut nearest = 0.0_f32;
            for ((other, length), nearest_to_row) in rows.iter().zip(&mut nearest_to_row) {
                let near = if other == token {
                    1.0
                } else {
                    #[expect(
                        clippy::cast_precision_loss,
                        reason = "256 products of bytes are below 2^23"
                    )]
                    let dot = (self.dot)(token.row(), other.row()) as f32;
                    dot * own / length
                };
                nearest = nearest.max(near);
                *nearest_to_row = nearest_to_row.max(near);
            }
            question.add(*weight, nearest);
        }
        let mut of_document = WeightedShare::default();
        for ((token, length), nearest) in rows.iter().zip(nearest_to_row) {
            of_document.add(length * token.scale(), nearest);
        }
        TextCoverage { question: question.value(), document: of_document.value() }
    }
}

/// The shares of two texts that each covers of the other, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TextCoverage {
    /// Share of the question that the document covers.
    pub question: f64,
    /// Share of the document that the question covers.
    pub document: f64,
}

/// A weighted mean of similarities.
#[derive(Default)]
struct WeightedShare {
    sum: f64,
    weight: f64,
}

impl WeightedShare {
    fn add(&mut self, weight: f32, similarity: f32) {
        self.sum += f64::from(weight * similarity);
        self.weight += f64::from(weight);
    }

    fn value(&self) -> f64 {
        if self.weight > 0.0 { (self.sum / self.weight).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// Returns the length of a token's row. Never 0: the table has no zero rows, which would have no direction.
fn row_length(token: Token, dot: fn(&[u8; VECTOR_DIMS], &[u8; VECTOR_DIMS]) -> i32) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "256 squares of bytes are below 2^23")]
    let square = dot(token.row(), token.row()) as f32;
    square.max(1.0).sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn covered(question: &str, document: &str) -> f64 {
        CoverageQuery::new(question).compare(&TokenSet::from_text(document)).question
    }

    #[test]
    fn text_covers_its_parts() {
        let text = "the Redis client was never closed";
        assert!((covered(text, text) - 1.0).abs() < 1e-6);
        assert!((covered("redis client", text) - 1.0).abs() < 1e-6);
        assert!(covered(text, "redis") < 1.0);
    }

    #[test]
    fn synonyms_cover_more() {
        let question = "the car was stolen";
        assert!(
            covered(question, "somebody took the automobile, a theft")
                > covered(question, "somebody ate the apple, a fruit") + 0.05
        );
        let about_cars =
            TokenSet::from_text("the car and a long list of other things: apples, rain");
        let shares = CoverageQuery::new("the car").compare(&about_cars);
        assert!(shares.question > 0.99 && shares.document < 0.8, "{shares:?}");
        assert!(covered("", "a") == 0.0 && covered("a", "") == 0.0);
    }

    #[test]
    fn table_rows_are_not_zero() {
        for number in 0..=u16::MAX {
            if let Some(token) = Token::from_number(number) {
                assert!(dot::portable_dot(token.row(), token.row()) > 0, "{number}");
            }
        }
    }

    proptest! {
        #[test]
        fn tokens_come_back_from_their_bytes(text in "\\PC{0,300}") {
            let tokens = TokenSet::from_text(&text);
            prop_assert_eq!(TokenSet::from_bytes(&tokens.to_bytes()), Some(tokens));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(tokens) = TokenSet::from_bytes(&bytes) {
                prop_assert_eq!(tokens.to_bytes(), bytes);
            }
        }

        #[test]
        fn coverage_is_share_and_portable(one in "\\PC{0,120}", other in "[a-z ]{0,200}") {
            let (asked, document) = (CoverageQuery::new(&one), TokenSet::from_text(&other));
            let shares = asked.compare(&document);
            prop_assert!((0.0..=1.0).contains(&shares.question));
            prop_assert!((0.0..=1.0).contains(&shares.document));
            let plain = CoverageQuery { tokens: asked.tokens, dot: dot::portable_dot };
            prop_assert_eq!(plain.compare(&document), shares);
        }
    }
}
