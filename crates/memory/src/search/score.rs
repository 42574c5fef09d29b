//! How well a document fits a query: what share of the query it covers, by words and by meaning.
//!
//! The lexical part is BM25 over what BM25 would be at best, so it is an absolute share of the query from 0 to 1, whatever
//! the size of the store. Where few words are shared, the meaning decides by itself.

/// BM25: how soon more of the same word stops counting, and how much length counts.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// How much of a score is meaning.
pub const MEANING: f64 = 0.4;

/// Of what is less likely to fit nobody is told who did not ask.
pub const FLOOR: f64 = 0.85;

/// What is known of all documents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corpus {
    /// How many there are.
    pub documents: f64,
    /// How many terms one has on average.
    pub length: f64,
}

/// How much it says that a document has a term that `found` of all documents have. Never zero or less.
///
/// A small store says little about which words are rare, so it is read as a part of a larger one: `background` is the
/// share of all texts about software that have the term.
pub fn weight(found: f64, documents: f64, background: f64) -> f64 {
    let (all, with) = (documents + BACKGROUND, found + BACKGROUND * background);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// How many documents the background stands for.
const BACKGROUND: f64 = 200.0;

/// What a term that stands in a document so often adds to its score.
pub fn gain(weight: f64, times: f64, length: f64, corpus: Corpus) -> f64 {
    let stretch = 1.0 - B + B * length / corpus.length.max(1.0);
    weight * times * (K1 + 1.0) / (times + K1 * stretch)
}

/// The most that a term could add.
pub fn best(weight: f64) -> f64 {
    weight * (K1 + 1.0)
}

/// Both parts as one.
pub fn fused(lexical: f64, meaning: f64) -> f64 {
    (1.0 - MEANING) * lexical + MEANING * meaning.max(0.0)
}

/// How likely it is that a document is what was meant, from 0 to 1.
///
/// A score is a share of the query: `thanks, go on` is covered by one word. So it takes evidence as well, which grows
/// with what the shared words say, and both halves together count more than each. The numbers are a logistic regression on
/// `fixtures/recall`, sets a and b: right lessons against what came first for prompts that no lesson bears on.
pub fn confidence(lexical: f64, evidence: f64, meaning: f64) -> f64 {
    let meaning = meaning.max(0.0);
    let logit = -11.8 + 2.2 * evidence.ln_1p() + 11.9 * meaning + 6.6 * lexical * meaning;
    1.0 / (1.0 + (-logit).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_terms_weigh_more_and_none_weighs_nothing() {
        let weights: Vec<f64> =
            [0.0, 1.0, 10.0, 500.0, 1_000.0].map(|found| weight(found, 1_000.0, 0.0)).to_vec();
        assert!(weights.windows(2).all(|pair| pair[0] > pair[1]), "{weights:?}");
        assert!(weights[4] > 0.0);
        // In a store of three even a word that all of them have is weighed by what it is elsewhere.
        assert!(weight(3.0, 3.0, 0.5) < weight(0.0, 3.0, 0.0) / 3.0);
    }

    #[test]
    fn a_document_covers_at_most_the_query() {
        let corpus = Corpus { documents: 10.0, length: 20.0 };
        let weight = weight(1.0, 10.0, 0.0);
        for (times, length) in [(1.0, 20.0), (5.0, 1.0), (1e6, 1.0)] {
            assert!(gain(weight, times, length, corpus) <= best(weight));
        }
        assert!(gain(weight, 1.0, 10.0, corpus) > gain(weight, 1.0, 40.0, corpus));
        assert!((fused(1.0, 1.0) - 1.0).abs() < 1e-12);
        assert!(fused(0.0, -0.5) == 0.0);
    }

    #[test]
    fn confidence_grows_with_each_part_and_needs_more_than_one() {
        assert!(confidence(1.0, 3.0, 0.0) < FLOOR, "words alone, and few");
        assert!(confidence(0.0, 0.0, 0.7) < FLOOR, "meaning alone");
        assert!(confidence(0.3, 15.0, 0.7) > FLOOR);
        let grows = |one: f64, other: f64| other > one && other <= 1.0;
        assert!(grows(confidence(0.1, 5.0, 0.5), confidence(0.2, 5.0, 0.5)));
        assert!(grows(confidence(0.1, 5.0, 0.5), confidence(0.1, 9.0, 0.5)));
        assert!(grows(confidence(0.1, 5.0, 0.5), confidence(0.1, 5.0, 0.6)));
        assert!(confidence(0.0, 0.0, -1.0) > 0.0);
    }
}
