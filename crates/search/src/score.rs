//! How well a document fits a query: what share of the query it covers, by words and by meaning.
//!
//! The lexical part is BM25 over what BM25 would be at best, so it is an absolute share of the query from 0 to 1, whatever
//! the size of the store. Where few words are shared, the meaning decides by itself: that of the whole, and for what is
//! best so far that of each word.

/// BM25: how soon more of the same word stops counting, and how much length counts.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// How much of a score is meaning.
pub const MEANING: f64 = 0.4;
/// How much it counts beside both what is covered word by word.
pub const COVERED: f64 = 0.3;

/// Of what is less likely to fit nobody is told who did not ask.
pub const FLOOR: f64 = 0.5;

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

/// What a document has in common with a query.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Fit {
    /// Which share of the query's words it has.
    pub lexical: f64,
    /// How much the words say that it shares with the query: their weights, whatever the length of the query.
    pub evidence: f64,
    /// How near its meaning is as a whole.
    pub meaning: f64,
    /// Which share of the query is covered, word by word, by words near in meaning.
    pub covered: f64,
}

impl Fit {
    /// All parts as one, from 0 to 1; `meaning` is how much of it is meaning.
    pub fn score(&self, meaning: f64) -> f64 {
        let whole = (1.0 - meaning) * self.lexical + meaning * self.meaning.max(0.0);
        if meaning > 0.0 { (whole + COVERED * self.covered) / (1.0 + COVERED) } else { whole }
    }

    /// How likely it is that a document is what was meant, from 0 to 1, in a store of so many.
    ///
    /// A score is a share of the query: `thanks, go on` is covered by one word. So it takes evidence as well, which grows
    /// with what the shared words say; and among more documents one that fits by chance is found more easily. The numbers
    /// are a logistic regression, `docs/reference/recall.md` says on what. The floor is where nothing of what was fitted
    /// to is shown wrongly more often than it may.
    pub fn confidence(&self, documents: f64) -> f64 {
        let meaning = self.meaning.max(0.0);
        let logit =
            -9.88 + 7.63 * meaning + 10.57 * self.lexical * meaning + 2.81 * self.evidence.ln_1p()
                - 0.66 * documents.clamp(FEWEST, MOST).ln();
        1.0 / (1.0 + (-logit).exp())
    }
}

/// Below, chance does not count less: in a store of three a near miss is as near. Above, nothing was fitted.
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
