//! Search by words: documents that share terms with a query, with BM25 scores.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::query::DocumentQuery;
use super::search_files::SearchFiles;
use crate::document::DocumentKind;
use crate::store::StoreResult;
use rutter_search::background;
use rutter_search::cache::EVERYWHERE_PROJECT;
use rutter_search::postings::{IndexedDocument, PostingFile};
use rutter_search::score::{self, CorpusStats};
use rutter_search::terms::{Term, extract_distinct, extract_terms as terms_of};

/// Maximum number of query terms that are looked up: the rarest by their frequency in all texts.
const MAX_LOOKED_UP_TERMS: usize = 48;
/// Maximum number of postings that are read. Terms with the most postings distinguish documents the least.
const MAX_POSTINGS: f64 = 40_000.0;

/// A document that shares words with a query.
pub(super) struct LexicalMatch {
    pub(super) document: i64,
    /// Share of the query's words that the document contains.
    pub(super) share: f64,
    /// Sum of the weights of the shared words, independent of the length of the query.
    pub(super) evidence: f64,
}

/// A term of a query.
struct QueryTerm {
    /// Index among the terms that were looked up.
    number: usize,
    term: Term,
    /// The term as the search files name it.
    filed: String,
    /// Number of documents that contain it.
    found: f64,
    weight: f64,
}

/// The result of a search by words.
#[derive(Default)]
pub(super) struct WordSearch {
    /// The documents that share words with the query.
    pub(super) found: Vec<LexicalMatch>,
    /// The terms of the query that some document contains, rarest first.
    asked: Vec<QueryTerm>,
    /// The highest possible BM25 score of a document.
    ideal: f64,
}

impl WordSearch {
    /// Scores documents that say the same again, as if only one of them were in the store: a word is not common because
    /// one lesson was written down many times. Each document is its number of terms and its terms.
    pub(super) fn score_as_one(
        &self,
        query: &DocumentQuery<'_>,
        corpus: CorpusStats,
        documents: &[(u32, String)],
    ) -> Vec<(f64, f64)> {
        let terms: Vec<Term> = self.asked.iter().map(|asked| asked.term.clone()).collect();
        let mut counter = TermCounter::new(&terms);
        let counts: Vec<Vec<u16>> = documents
            .iter()
            .map(|(_, text)| {
                counter.count_in(text);
                counter.times.iter_mut().map(std::mem::take).collect()
            })
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "a count of documents")]
        let extra = |of: usize| of.saturating_sub(1) as f64;
        let corpus = CorpusStats {
            documents: (corpus.documents - extra(documents.len())).max(1.0),
            ..corpus
        };
        let mut ideal = self.ideal;
        let mut weights: Vec<(usize, f64)> = Vec::with_capacity(self.asked.len());
        for (number, asked) in self.asked.iter().enumerate() {
            let here = counts.iter().filter(|times| times[number] > 0).count();
            let found = (asked.found - extra(here)).max(1.0);
            let background = background::background_share(&asked.term.text);
            let weight = score::term_weight(found, corpus.documents, background);
            ideal += score::max_term_gain(weight) - score::max_term_gain(asked.weight);
            weights.push((number, weight));
        }
        weights.sort_by(|one, other| other.1.total_cmp(&one.1));
        weights.truncate(query.max_terms);
        let scored = documents.iter().zip(&counts).map(|((length, _), times)| {
            let (mut score, mut evidence) = (0.0, 0.0);
            for (number, weight) in weights.iter().filter(|(number, _)| times[*number] > 0) {
                let (times, length) = (times[*number].into(), f64::from(*length));
                score += score::term_gain(*weight, times, length, corpus);
                evidence += weight;
            }
            ((score / ideal).min(1.0), evidence)
        });
        scored.collect()
    }
}

/// Returns the documents that share words with a query. Reads the search files and the newer documents of the database,
/// or only the database if the files are incomplete.
pub(super) fn search_by_words(
    connection: &Connection,
    index: &SearchFiles,
    query: &DocumentQuery<'_>,
    corpus: CorpusStats,
) -> StoreResult<WordSearch> {
    let looked_up = rarest_terms(query.text);
    if let Some(file) = index.terms() {
        let newer = UnindexedDocuments::load(connection, query, &looked_up, file.high_water())?;
        if let Some(found) =
            score_documents(query, corpus, &looked_up, &newer, Some((&file, index)))
        {
            return Ok(found);
        }
    }
    // Without a complete file, read all documents from the database.
    let all = UnindexedDocuments::load(connection, query, &looked_up, i64::MIN)?;
    Ok(score_documents(query, corpus, &looked_up, &all, None).unwrap_or_default())
}

/// Searches a few texts that are not indexed, as if they were the whole store. Document ids are positions in `texts`.
pub(super) fn search_texts(query: &DocumentQuery<'_>, texts: &[&str]) -> Vec<LexicalMatch> {
    let looked_up = rarest_terms(query.text);
    let mut wanted = TermCounter::new(&looked_up);
    let mut found =
        UnindexedDocuments { documents: Vec::new(), lists: vec![Vec::new(); looked_up.len()] };
    let mut terms = 0.0;
    for (row, text) in (0..).zip(texts) {
        let words: Vec<String> = terms_of(text).into_iter().map(|term| term.text).collect();
        let length = u32::try_from(words.len()).unwrap_or(u32::MAX);
        terms += f64::from(length);
        if wanted.count_in(&words.join(" ")) {
            found.add(
                IndexedDocument { row, project: EVERYWHERE_PROJECT, kind: 0, length },
                &mut wanted.times,
            );
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a count of texts")]
    let documents = texts.len().max(1) as f64;
    let corpus = CorpusStats { documents, length: terms / documents };
    score_documents(query, corpus, &looked_up, &found, None).unwrap_or_default().found
}

/// Returns the terms to look up. A term that is rare in texts in general is probably rare in this store.
fn rarest_terms(text: &str) -> Vec<Term> {
    let mut all: Vec<(f64, Term)> = extract_distinct(text)
        .into_iter()
        .map(|term| (background::background_share(&term.text), term))
        .collect();
    all.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1)));
    all.into_iter().take(MAX_LOOKED_UP_TERMS).map(|(_, term)| term).collect()
}

/// Documents outside the search files that contain a term of the query.
struct UnindexedDocuments {
    documents: Vec<IndexedDocument>,
    /// For each term, the positions of the documents that contain it, and how often.
    lists: Vec<Vec<(u32, u16)>>,
}

impl UnindexedDocuments {
    fn load(
        connection: &Connection,
        query: &DocumentQuery<'_>,
        looked_up: &[Term],
        high_water: i64,
    ) -> StoreResult<Self> {
        let mut found = Self { documents: Vec::new(), lists: vec![Vec::new(); looked_up.len()] };
        let mut newer = connection.prepare_cached(
            "SELECT id, project, length, terms, kind FROM document WHERE id > ?1 AND axis = ?2
             ORDER BY id DESC LIMIT ?3",
        )?;
        let mut newer = newer.query(params![high_water, query.axis, query.max_unindexed])?;
        let mut wanted: Option<TermCounter<'_>> = None;
        while let Some(row) = newer.next()? {
            let wanted = wanted.get_or_insert_with(|| TermCounter::new(looked_up));
            if wanted.count_in(row.get_ref(3)?.as_str().unwrap_or_default()) {
                let project: Option<i64> = row.get(1)?;
                let project = project.unwrap_or(EVERYWHERE_PROJECT);
                let kind = row.get::<_, DocumentKind>(4)?.file_number();
                let length = row.get(2)?;
                let document = IndexedDocument { row: row.get(0)?, project, kind, length };
                found.add(document, &mut wanted.times);
            }
        }
        Ok(found)
    }

    /// Adds a document that contains each term `times` times, and resets `times`.
    fn add(&mut self, document: IndexedDocument, times: &mut [u16]) {
        let place = u32::try_from(self.documents.len()).unwrap_or(u32::MAX);
        self.documents.push(document);
        for (list, times) in self.lists.iter_mut().zip(times) {
            if *times > 0 {
                list.push((place, std::mem::take(times)));
            }
        }
    }
}

/// Query terms to be counted in many texts.
struct TermCounter<'a> {
    numbers: HashMap<&'a str, usize>,
    /// True for the [`term_shape`] of each term. It rejects nearly every other term without hashing it.
    shapes: [bool; 1 << 10],
    times: Vec<u16>,
}

impl<'a> TermCounter<'a> {
    fn new(looked_up: &'a [Term]) -> Self {
        let mut shapes = [false; 1 << 10];
        let numbers = looked_up.iter().enumerate().map(|(number, term)| {
            shapes[term_shape(&term.text)] = true;
            (term.text.as_str(), number)
        });
        let numbers = numbers.collect();
        Self { numbers, shapes, times: vec![0; looked_up.len()] }
    }

    /// Counts the query terms in the terms of a document. Returns true if there is any.
    fn count_in(&mut self, terms: &str) -> bool {
        let mut any = false;
        for term in terms.split(' ').filter(|term| self.shapes[term_shape(term)]) {
            if let Some(number) = self.numbers.get(term) {
                self.times[*number] = self.times[*number].saturating_add(1);
                any = true;
            }
        }
        any
    }
}

/// Hashes the first byte, the last byte and the length of a term to ten bits.
fn term_shape(term: &str) -> usize {
    let bytes = term.as_bytes();
    let end = |byte: Option<&u8>| usize::from(byte.copied().unwrap_or_default() & 31);
    (end(bytes.first()) << 5) ^ end(bytes.last()) ^ ((bytes.len() & 7) << 7)
}

/// Returns the documents that contain the terms, in the file and outside it, or None if a part of the file is lost.
fn score_documents(
    query: &DocumentQuery<'_>,
    corpus: CorpusStats,
    looked_up: &[Term],
    newer: &UnindexedDocuments,
    filed: Option<(&PostingFile, &SearchFiles)>,
) -> Option<WordSearch> {
    let gone = match filed {
        Some((file, index)) => index.gone_from(file)?,
        None => Vec::new(),
    };
    let count = |number: usize, marked: &str| {
        let of_file = match filed {
            Some((file, _)) => {
                let list = file.find_list(marked)?;
                list.len() - file.count_places(&list, &gone)?
            }
            None => 0,
        };
        Some(of_file + newer.lists[number].len())
    };
    let (asked, ideal) = select_query_terms(query, corpus, looked_up, count)?;

    // BM25 score and evidence of each document.
    let mut scores = vec![(0.0, 0.0); newer.documents.len()];
    let mut of_file = vec![(0.0, 0.0); filed.map_or(0, |(file, _)| file.documents())];
    let mut left = MAX_POSTINGS;
    for (order, term) in asked.iter().take(query.max_terms).enumerate() {
        // The two rarest terms are always read.
        if order >= 2 && term.found > left {
            break;
        }
        left -= term.found;
        let gain = |document: IndexedDocument, times: u16| {
            score::term_gain(term.weight, times.into(), document.length.into(), corpus)
        };
        for (place, times) in &newer.lists[term.number] {
            let (score, evidence) = &mut scores[*place as usize];
            *score += gain(newer.documents[*place as usize], *times);
            *evidence += term.weight;
        }
        if let Some((file, _)) = filed {
            for (place, times) in file.read_list(&file.find_list(&term.filed)?)? {
                let (score, evidence) = of_file.get_mut(place as usize)?;
                *score += gain(file.document(place)?, times);
                *evidence += term.weight;
            }
        }
    }
    for place in gone {
        of_file[place as usize] = (0.0, 0.0);
    }
    let mut found = Vec::new();
    let mut take = |document: IndexedDocument, (score, evidence): (f64, f64)| {
        if query.scope().includes(document.project, document.kind) {
            let share = (score / ideal).min(1.0);
            found.push(LexicalMatch { document: document.row, share, evidence });
        }
    };
    for (document, score) in
        newer.documents.iter().zip(scores).filter(|(_, (score, _))| *score > 0.0)
    {
        take(*document, score);
    }
    for (place, score) in (0..).zip(of_file).filter(|(_, (score, _))| *score > 0.0) {
        take(filed?.0.document(place)?, score);
    }
    Some(WordSearch { found, asked, ideal })
}

/// Returns the terms to search, rarest first, and the highest possible score of a document.
fn select_query_terms(
    query: &DocumentQuery<'_>,
    corpus: CorpusStats,
    looked_up: &[Term],
    count: impl Fn(usize, &str) -> Option<usize>,
) -> Option<(Vec<QueryTerm>, f64)> {
    let (mut asked, mut ideal) = (Vec::new(), 0.0);
    for (number, term) in looked_up.iter().enumerate() {
        let filed = format!("{}{}", query.axis.term_prefix(), term.text);
        #[expect(clippy::cast_precision_loss, reason = "a count of documents")]
        let found = count(number, &filed)? as f64;
        // The parts of an unknown compound name are looked up as terms of the query already.
        if term.whole && found == 0.0 {
            continue;
        }
        let weight =
            score::term_weight(found, corpus.documents, background::background_share(&term.text));
        ideal += score::max_term_gain(weight);
        if found > 0.0 {
            asked.push(QueryTerm { number, term: term.clone(), filed, found, weight });
        }
    }
    asked.sort_by(|one, other| {
        other.weight.total_cmp(&one.weight).then_with(|| one.filed.cmp(&other.filed))
    });
    Some((asked, ideal.max(f64::MIN_POSITIVE)))
}
