//! Search queries.

use crate::document::{Axis, DocumentKind};
use rutter_search::cache::SearchScope;
use rutter_search::score;

/// Maximum number of query terms that are searched: the rarest. More cost time and add little.
const MAX_SEARCHED_TERMS: usize = 8;
/// Number of candidates by words, and by meaning, that are fused. More do not change the first ten.
const MAX_CANDIDATES: usize = 64;

/// A search query.
#[derive(Debug, Clone, Copy)]
pub struct DocumentQuery<'a> {
    /// The text.
    pub text: &'a str,
    /// The axis.
    pub axis: Axis,
    /// The kind of rows, or None for all kinds.
    pub kind: Option<DocumentKind>,
    /// The project to search, together with documents for every project, or None for all documents.
    pub project: Option<i64>,
    /// Share of meaning in a score, from 0 to 1.
    pub meaning: f64,
    /// Maximum number of query terms that are searched.
    pub max_terms: usize,
    /// Number of candidates by words, and by meaning, that are fused.
    pub max_candidates: usize,
    /// Maximum number of documents outside the search files that are read, the newest.
    pub max_unindexed: u32,
}

impl<'a> DocumentQuery<'a> {
    /// Creates a query with the defaults for a prompt.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            axis: Axis::Full,
            kind: None,
            project: None,
            meaning: score::MEANING_SHARE,
            max_terms: MAX_SEARCHED_TERMS,
            max_candidates: MAX_CANDIDATES,
            max_unindexed: u32::MAX,
        }
    }

    pub(super) fn scope(&self) -> SearchScope {
        let kind = self.kind.map(DocumentKind::file_number);
        SearchScope { axis: self.axis.file_number(), kind, project: self.project }
    }
}
