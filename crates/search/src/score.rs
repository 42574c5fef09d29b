//! The score of a document for a query: the share of the query that it covers, by words and by meaning.
//!
//! The lexical part is BM25 divided by the best possible BM25, so it is an absolute share of the query from 0 to 1 that
//! does not depend on the size of the store. If a document shares few words with the query, meaning decides alone: that
//! of the whole text, and for the best candidates that of each word.

use crate::embed::TextCoverage;

/// BM25 parameters: saturation of repeated words, and influence of the document length.
const BM25_K1: f64 = 1.2;
const BM25_B: f64 = 0.75;
/// Share of meaning in a score.
pub const MEANING_SHARE: f64 = 0.4;
/// Weight of the word-by-word coverage, relative to lexical part and meaning together.
pub const COVERAGE_WEIGHT: f64 = 0.3;

/// Minimum confidence of a document that is shown without being asked for.
pub const MIN_CONFIDENCE: f64 = 0.5;

/// Statistics of all documents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorpusStats {
    /// Number of documents.
    pub documents: f64,
    /// Average number of terms per document.
    pub length: f64,
}

/// Returns the information value of a term that `found` of all documents contain. Always greater than zero.
///
/// A small store says little about which words are rare, so it is treated as a part of a larger one: `background` is
/// the share of all texts about software that contain the term.
pub fn term_weight(found: f64, documents: f64, background: f64) -> f64 {
    let (all, with) = (documents + BACKGROUND_DOCUMENTS, found + BACKGROUND_DOCUMENTS * background);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

/// Number of documents that the background counts as.
const BACKGROUND_DOCUMENTS: f64 = 200.0;

/// Returns the contribution of a term to the score of a document that contains it `times` times.
pub fn term_gain(weight: f64, times: f64, length: f64, corpus: CorpusStats) -> f64 {
    let stretch = 1.0 - BM25_B + BM25_B * length / corpus.length.max(1.0);
    weight * times * (BM25_K1 + 1.0) / (times + BM25_K1 * stretch)
}

/// Returns the largest possible contribution of a term.
pub fn max_term_gain(weight: f64) -> f64 {
    weight * (BM25_K1 + 1.0)
}

/// The similarity of a document and a query, by several measures.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DocumentFit {
    /// Share of the query's words that the document contains.
    pub lexical: f64,
    /// Sum of the weights of the shared words. It does not depend on the length of the query.
    pub evidence: f64,
    /// Cosine of the two vectors.
    pub meaning: f64,
    /// Shares of query and document that are covered, word by word, by words of similar meaning.
    pub coverage: TextCoverage,
    /// Share of the best phrase that the query covers, for a document with phrases that say when it applies.
    pub phrase: Option<f64>,
    /// True if many documents say nearly the same as the best one, and this is one of them.
    pub is_in_crowd: bool,
}

impl DocumentFit {
    /// Combines all measures into a score from 0 to 1; `meaning` is the share of meaning in it.
    pub fn score(&self, meaning: f64) -> f64 {
        let whole = (1.0 - meaning) * self.lexical + meaning * self.meaning.max(0.0);
        if meaning > 0.0 {
            (whole + COVERAGE_WEIGHT * self.coverage.question) / (1.0 + COVERAGE_WEIGHT)
        } else {
            whole
        }
    }

    /// Returns the probability, from 0 to 1, that the document is relevant, in a store of `documents` documents.
    ///
    /// A score is a share of the query, and one word covers `thanks, go on`. So the probability also needs evidence,
    /// which grows with the weight of the shared words. The more documents there are, the easier it is to find one that
    /// fits by chance. A document with phrases is relevant if its phrases fit, or if the rest fits very well. The
    /// coefficients are logistic regressions; `docs/measurements/recall.md` describes their data. On that data, the floor
    /// keeps the rate of wrongly shown documents within the limit.
    pub fn confidence(&self, documents: f64) -> f64 {
        let meaning = self.meaning.max(0.0);
        let (both, evidence) = (self.lexical * meaning, self.evidence.ln_1p());
        let size = (documents.clamp(MIN_FITTED_DOCUMENTS, MAX_FITTED_DOCUMENTS)
            / MIN_FITTED_DOCUMENTS)
            .ln();
        let by_text = -12.92 + 7.63 * meaning + 10.57 * both + 2.81 * evidence - 0.4 * size;
        let logit = match self.phrase {
            Some(phrase) => {
                let by_phrase = -12.84
                    + 1.3 * meaning
                    + 5.9 * both
                    + 2.0 * evidence
                    + 4.9 * phrase
                    + 9.2 * self.coverage.document
                    - 0.25 * size;
                by_phrase.max(by_text - WITH_PHRASES_STRICTER)
            }
            None => by_text,
        };
        let logit = logit + if self.is_in_crowd { CROWD_AGREEMENT } else { 0.0 };
        1.0 / (1.0 + (-logit).exp())
    }
}

/// Reduction of the logit of a document with phrases that is judged by its text.
const WITH_PHRASES_STRICTER: f64 = 1.33;
/// Increase of the logit of a document if many others say nearly the same.
const CROWD_AGREEMENT: f64 = 0.5;

/// Range of store sizes for the regression. In a store of three a near miss is as near; above the range no data was
/// fitted.
const MIN_FITTED_DOCUMENTS: f64 = 100.0;
const MAX_FITTED_DOCUMENTS: f64 = 10_000.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_terms_weigh_more() {
        let weights: Vec<f64> =
            [0.0, 1.0, 10.0, 500.0, 1_000.0].map(|found| term_weight(found, 1_000.0, 0.0)).to_vec();
        assert!(weights.windows(2).all(|pair| pair[0] > pair[1]), "{weights:?}");
        assert!(weights[4] > 0.0);
        // In a store of three, even a word that all documents contain gets its weight from the background.
        assert!(term_weight(3.0, 3.0, 0.5) < term_weight(0.0, 3.0, 0.0) / 3.0);
    }

    fn covered(share: f64) -> TextCoverage {
        TextCoverage { question: share, document: share }
    }

    #[test]
    fn score_is_at_most_one() {
        let corpus = CorpusStats { documents: 10.0, length: 20.0 };
        let weight = term_weight(1.0, 10.0, 0.0);
        for (times, length) in [(1.0, 20.0), (5.0, 1.0), (1e6, 1.0)] {
            assert!(term_gain(weight, times, length, corpus) <= max_term_gain(weight));
        }
        assert!(term_gain(weight, 1.0, 10.0, corpus) > term_gain(weight, 1.0, 40.0, corpus));
        let all = DocumentFit {
            lexical: 1.0,
            evidence: 10.0,
            meaning: 1.0,
            coverage: covered(1.0),
            ..DocumentFit::default()
        };
        assert!(
            (all.score(MEANING_SHARE) - 1.0).abs() < 1e-12 && (all.score(0.0) - 1.0).abs() < 1e-12
        );
        assert!(
            DocumentFit { meaning: -0.5, ..DocumentFit::default() }.score(MEANING_SHARE) == 0.0
        );
        assert!(
            DocumentFit { coverage: covered(1.0), ..DocumentFit::default() }.score(0.0) == 0.0,
            "words alone"
        );
    }

    #[test]
    fn confidence_needs_several_measures() {
        let of = |lexical, evidence, meaning| {
            DocumentFit {
                lexical,
                evidence,
                meaning,
                coverage: covered(0.5),
                ..DocumentFit::default()
            }
            .confidence(100.0)
        };
        assert!(of(1.0, 3.0, 0.0) < MIN_CONFIDENCE, "words alone, and few");
        assert!(of(0.0, 0.0, 0.7) < MIN_CONFIDENCE, "meaning alone");
        assert!(of(0.3, 15.0, 0.7) > MIN_CONFIDENCE);
        let grows = |one: f64, other: f64| other > one && other <= 1.0;
        assert!(grows(of(0.1, 5.0, 0.5), of(0.2, 5.0, 0.5)));
        assert!(grows(of(0.1, 5.0, 0.5), of(0.1, 9.0, 0.5)));
        assert!(grows(of(0.1, 5.0, 0.5), of(0.1, 5.0, 0.6)));
        assert!(of(0.0, 0.0, -1.0) > 0.0);
        let fit = DocumentFit {
            lexical: 0.2,
            evidence: 9.0,
            meaning: 0.6,
            coverage: covered(0.5),
            ..DocumentFit::default()
        };
        assert!(fit.confidence(1_000.0) < fit.confidence(100.0));
        assert!(fit.confidence(1e6).to_bits() == fit.confidence(1e5).to_bits());
        let phrase = |share| DocumentFit { phrase: Some(share), ..fit }.confidence(100.0);
        assert!(phrase(0.1) < phrase(0.9) && phrase(0.1) < fit.confidence(100.0));
        let crowd = DocumentFit { is_in_crowd: true, ..fit };
        assert!(crowd.confidence(100.0) > fit.confidence(100.0));
    }
}
