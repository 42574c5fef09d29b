//! The score of a document for a query: the share of the query that it covers, by words and by meaning.
//!
//! The lexical part is BM25 divided by the best possible BM25, so it is an absolute share of the query from 0 to 1 that
//! does not depend on the size of the store. If a document shares few words with the query, meaning decides alone: that
//! of the whole text, and for the best candidates that of each word.

/// BM25 parameters: saturation of repeated words, and influence of the document length.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Share of meaning in a score.
pub const MEANING: f64 = 0.4;
/// Weight of the word-by-word coverage, relative to lexical part and meaning together.
pub const COVERED: f64 = 0.3;

/// Minimum confidence of a document that is shown without being asked for.
pub const FLOOR: f64 = 0.5;

/// Statistics of all documents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corpus {
    /// Number of documents.
    pub documents: f64,
    /// Average number of terms per document.
    pub length: f64,
}

/// Returns the information value of a term that `found` of all documents contain. Always greater than zero.
///
/// A small store says little about which words are rare, so it is treated as a part of a larger one: `background` is
/// the share of all texts about software that contain the term.
pub fn weight(found: f64, documents: f64, background: f64) -> f64 {
    let (all, with) = (documents + BACKGROUND, found + BACKGROUND * background);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// Number of documents that the background counts as.
const BACKGROUND: f64 = 200.0;

/// Returns the contribution of a term to the score of a document that contains it `times` times.
pub fn gain(weight: f64, times: f64, length: f64, corpus: Corpus) -> f64 {
    let stretch = 1.0 - B + B * length / corpus.length.max(1.0);
    weight * times * (K1 + 1.0) / (times + K1 * stretch)
}

/// Returns the largest possible contribution of a term.
pub fn best(weight: f64) -> f64 {
    weight * (K1 + 1.0)
}

/// The similarity of a document and a query, by several measures.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Fit {
    /// Share of the query's words that the document contains.
    pub lexical: f64,
    /// Sum of the weights of the shared words. It does not depend on the length of the query.
    pub evidence: f64,
    /// Cosine of the two vectors.
    pub meaning: f64,
    /// Share of the query that is covered, word by word, by words of similar meaning.
    pub covered: f64,
}

impl Fit {
    /// Combines all measures into a score from 0 to 1; `meaning` is the share of meaning in it.
    pub fn score(&self, meaning: f64) -> f64 {
        let whole = (1.0 - meaning) * self.lexical + meaning * self.meaning.max(0.0);
        if meaning > 0.0 { (whole + COVERED * self.covered) / (1.0 + COVERED) } else { whole }
    }

    /// Returns the probability, from 0 to 1, that the document is relevant, in a store of `documents` documents.
    ///
    /// A score is a share of the query, and one word covers `thanks, go on`. So the probability also needs evidence,
    /// which grows with the weight of the shared words. The more documents there are, the easier it is to find one that
    /// fits by chance. The coefficients are a logistic regression; `docs/measurements/recall.md` describes its data. On
    /// that data, the floor keeps the rate of wrongly shown documents within the limit.
    pub fn confidence(&self, documents: f64) -> f64 {
        let meaning = self.meaning.max(0.0);
        let logit =
            -9.88 + 7.63 * meaning + 10.57 * self.lexical * meaning + 2.81 * self.evidence.ln_1p()
                - 0.66 * documents.clamp(FEWEST, MOST).ln();
        1.0 / (1.0 + (-logit).exp())
    }
}

/// Range of store sizes for the regression. In a store of three a near miss is as near; above the range no data was
/// fitted.
const FEWEST: f64 = 100.0;
const MOST: f64 = 10_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_terms_weigh_more_and_none_weighs_nothing() {
        let weights: Vec<f64> =
            [0.0, 1.0, 10.0, 500.0, 1_000.0].map(|found| weight(found, 1_000.0, 0.0)).to_vec();
        assert!(weights.windows(2).all(|pair| pair[0] > pair[1]), "{weights:?}");
        assert!(weights[4] > 0.0);
        // In a store of three, even a word that all documents contain gets its weight from the background.
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
        let all = Fit { lexical: 1.0, evidence: 10.0, meaning: 1.0, covered: 1.0 };
        assert!((all.score(MEANING) - 1.0).abs() < 1e-12 && (all.score(0.0) - 1.0).abs() < 1e-12);
        assert!(Fit { meaning: -0.5, ..Fit::default() }.score(MEANING) == 0.0);
        assert!(Fit { covered: 1.0, ..Fit::default() }.score(0.0) == 0.0, "words alone");
    }

    #[test]
    fn confidence_grows_with_each_part_and_needs_more_than_one() {
        let of = |lexical, evidence, meaning| {
            Fit { lexical, evidence, meaning, covered: 0.5 }.confidence(100.0)
        };
        assert!(of(1.0, 3.0, 0.0) < FLOOR, "words alone, and few");
        assert!(of(0.0, 0.0, 0.7) < FLOOR, "meaning alone");
        assert!(of(0.3, 15.0, 0.7) > FLOOR);
        let grows = |one: f64, other: f64| other > one && other <= 1.0;
        assert!(grows(of(0.1, 5.0, 0.5), of(0.2, 5.0, 0.5)));
        assert!(grows(of(0.1, 5.0, 0.5), of(0.1, 9.0, 0.5)));
        assert!(grows(of(0.1, 5.0, 0.5), of(0.1, 5.0, 0.6)));
        assert!(of(0.0, 0.0, -1.0) > 0.0);
        let fit = Fit { lexical: 0.2, evidence: 9.0, meaning: 0.6, covered: 0.5 };
        assert!(fit.confidence(1_000.0) < fit.confidence(100.0));
        assert!(fit.confidence(1e6).to_bits() == fit.confidence(1e5).to_bits());
    }
}
