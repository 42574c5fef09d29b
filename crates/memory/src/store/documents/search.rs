//! Search for documents by words and by meaning.

use std::borrow::Cow;
use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::lexical::{WordSearch, search_by_words, search_texts};
use super::query::DocumentQuery;
use super::search_files::SearchFiles;
use super::written_phrases;
use crate::document::{Axis, DocumentKind};
use crate::store::{DataDir, StoreResult};
use crate::{Id, Time};
use rutter_search::cache::EVERYWHERE_PROJECT;
use rutter_search::embed::{CoverageQuery as Covering, TokenSet, Vector, embed};
use rutter_search::score::{CorpusStats, DocumentFit};

/// Number of bytes that are used from each end of a long prompt: about a thousand words.
const PROMPT_END_BYTES: usize = 6_000;
/// Number of best candidates that are compared word by word.
const MAX_RESCORED_HITS: usize = 20;

/// A document that fits a query.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentHit {
    /// The document.
    pub(crate) document: i64,
    /// The row that the document is made from.
    pub row: Id,
    /// The kind of the row.
    pub kind: DocumentKind,
    /// The project of the row, or None for every project.
    pub(crate) project: Option<i64>,
    /// The time of the row.
    pub at: Time,
    /// The similarity with the query, by several measures.
    pub fit: DocumentFit,
    /// All measures combined.
    pub score: f64,
    /// The probability that the document is relevant.
    pub confidence: f64,
    /// The vector of the document.
    pub(crate) vector: Option<Vector>,
}

/// Returns the documents that fit best, best first; ties in the order of writing.
///
/// All database reads belong to the transaction `moment`, and the files are opened after it began: see `index`.
pub(crate) fn find_documents(
    moment: &Transaction<'_>,
    files: &DataDir,
    query: &DocumentQuery<'_>,
) -> StoreResult<Vec<DocumentHit>> {
    let text = cut_middle(query.text);
    let query = &DocumentQuery { text: &text, ..*query };
    let index = SearchFiles::load(moment, files)?;
    let counted = AxisStats::load(moment, query)?;
    let by_words = match counted.all {
        Some(corpus) if query.meaning < 1.0 => search_by_words(moment, &index, query, corpus)?,
        _ => WordSearch::default(),
    };
    let asked = if query.meaning > 0.0 { embed(query.text) } else { None };
    let by_meaning = match &asked {
        Some(asked) => search_by_meaning(moment, &index, query, asked)?,
        None => Vec::new(),
    };
    let mut documents: Vec<i64> = top_documents(
        by_meaning.into_iter().map(|(id, near)| (id, near.into())),
        query.max_candidates,
    );
    documents.extend(top_documents(
        by_words.found.iter().map(|fit| (fit.document, fit.share)),
        query.max_candidates,
    ));
    documents.sort_unstable();
    documents.dedup();
    let lexical: HashMap<i64, (f64, f64)> = by_words
        .found
        .iter()
        .filter(|fit| documents.binary_search(&fit.document).is_ok())
        .map(|fit| (fit.document, (fit.share, fit.evidence)))
        .collect();
    let mut hits = Vec::with_capacity(documents.len());
    let mut select = moment.prepare_cached(
        "SELECT row, kind, project, at, axis, vector FROM document WHERE id = ?1",
    )?;
    for document in documents {
        let (lexical, evidence) = lexical.get(&document).copied().unwrap_or_default();
        let hit = select
            .query_row([document], |row| {
                let vector = row.get_ref(5)?.as_blob_or_null()?.and_then(Vector::from_bytes);
                let meaning = asked.as_ref().zip(vector.as_ref());
                let meaning = meaning.map_or(0.0, |(asked, vector)| asked.cosine(vector).into());
                let fit = DocumentFit { lexical, evidence, meaning, ..DocumentFit::default() };
                Ok((
                    row.get::<_, Axis>(4)?,
                    DocumentHit {
                        document,
                        row: row.get(0)?,
                        kind: row.get(1)?,
                        project: row.get(2)?,
                        at: row.get(3)?,
                        fit,
                        score: fit.score(query.meaning),
                        confidence: fit.confidence(counted.visible),
                        vector,
                    },
                ))
            })
            .optional()?;
        // The files are only hints: the database decides.
        if let Some((axis, hit)) = hit
            && axis == query.axis
            && query
                .scope()
                .includes(hit.project.unwrap_or(EVERYWHERE_PROJECT), hit.kind.file_number())
        {
            hits.push(hit);
        }
    }
    sort_by_score(&mut hits);
    if query.meaning > 0.0 {
        rescore_by_words(moment, query, counted.visible, &mut hits)?;
        sort_by_score(&mut hits);
        if let Some(corpus) = counted.all {
            count_crowd_once(moment, query, &by_words, (corpus, counted.visible), &mut hits)?;
        }
    }
    Ok(hits)
}

/// Minimum cosine of the best document and a document that says nearly the same.
const MIN_CROWD_COSINE: f32 = 0.75;
/// The same if the best document has phrases. They are about daily work and make the texts of different lessons more alike.
const MIN_CROWD_COSINE_WITH_PHRASES: f32 = 0.8;
/// Minimum number of documents of a crowd.
const MIN_CROWD_DOCUMENTS: usize = 8;

/// Raises the confidence of documents that say nearly the same as the best one: it is computed as if the store had only
/// one of them. Otherwise the words of a lesson that was written down many times would count as common.
fn count_crowd_once(
    connection: &Connection,
    query: &DocumentQuery<'_>,
    by_words: &WordSearch,
    (corpus, visible): (CorpusStats, f64),
    hits: &mut [DocumentHit],
) -> StoreResult {
    let Some(first) = hits.first() else { return Ok(()) };
    let Some(best) = first.vector else { return Ok(()) };
    let least = match first.fit.phrase {
        Some(_) => MIN_CROWD_COSINE_WITH_PHRASES,
        None => MIN_CROWD_COSINE,
    };
    let is_near =
        |hit: &DocumentHit| hit.vector.as_ref().is_some_and(|vector| vector.cosine(&best) >= least);
    let crowd: Vec<usize> = (0..hits.len()).filter(|at| is_near(&hits[*at])).collect();
    if crowd.len() < MIN_CROWD_DOCUMENTS {
        return Ok(());
    }
    let mut select =
        connection.prepare_cached("SELECT length, terms FROM document WHERE id = ?1")?;
    let documents = crowd
        .iter()
        .map(|at| {
            let document = hits[*at].document;
            Ok(select.query_row([document], |row| Ok((row.get(0)?, row.get(1)?)))?)
        })
        .collect::<StoreResult<Vec<(u32, String)>>>()?;
    #[expect(clippy::cast_precision_loss, reason = "a count of documents")]
    let visible = visible - (crowd.len() - 1) as f64;
    let scores = by_words.score_as_one(query, corpus, &documents);
    for (at, (lexical, evidence)) in crowd.into_iter().zip(scores) {
        let hit = &mut hits[at];
        hit.fit.is_in_crowd = true;
        let fit = DocumentFit {
            lexical: lexical.max(hit.fit.lexical),
            evidence: evidence.max(hit.fit.evidence),
            ..hit.fit
        };
        hit.confidence = fit.confidence(visible);
    }
    Ok(())
}

/// Compares a query with a few texts that are not indexed, and returns the similarity of each in their order.
pub(crate) fn compare_texts(text: &str, texts: &[&str]) -> Vec<DocumentFit> {
    let text = cut_middle(text);
    let query = DocumentQuery::new(&text);
    let mut all = vec![DocumentFit::default(); texts.len()];
    let Some(asked) = embed(query.text) else { return all };
    let mut covering = None;
    // A text that shares no word never reaches the minimum confidence, and most share none.
    for shared in search_texts(&query, texts) {
        let Some((at, text)) =
            usize::try_from(shared.document).ok().and_then(|at| Some((at, *texts.get(at)?)))
        else {
            continue;
        };
        let meaning = embed(text).map_or(0.0, |vector| asked.cosine(&vector).into());
        let covering = covering.get_or_insert_with(|| Covering::new(query.text));
        let coverage = covering.compare(&TokenSet::from_text(text));
        all[at] = DocumentFit {
            lexical: shared.share,
            evidence: shared.evidence,
            meaning,
            coverage,
            ..DocumentFit::default()
        };
    }
    all
}

fn sort_by_score(hits: &mut [DocumentHit]) {
    hits.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.row.cmp(&other.row)));
}

/// Compares the best hits and their phrases with the query word by word, and updates their scores.
fn rescore_by_words(
    connection: &Connection,
    query: &DocumentQuery<'_>,
    visible: f64,
    hits: &mut [DocumentHit],
) -> StoreResult {
    let asked = Covering::new(query.text);
    let count = MAX_RESCORED_HITS.min(hits.len());
    let best = &mut hits[..count];
    let phrases = match query.axis {
        Axis::Full => {
            let rows: Vec<(DocumentKind, Id)> =
                best.iter().map(|hit| (hit.kind, hit.row)).collect();
            written_phrases(connection, &rows)?
        }
        _ => vec![Vec::new(); best.len()],
    };
    let mut tokens = connection.prepare_cached("SELECT tokens FROM document WHERE id = ?1")?;
    for (hit, phrases) in best.iter_mut().zip(phrases) {
        hit.fit.coverage = tokens.query_row([hit.document], |row| {
            let tokens = TokenSet::from_bytes(row.get_ref(0)?.as_blob().unwrap_or_default());
            Ok(tokens.map(|tokens| asked.compare(&tokens)).unwrap_or_default())
        })?;
        let covered =
            phrases.iter().map(|phrase| asked.compare(&TokenSet::from_text(phrase)).document);
        hit.fit.phrase = covered.reduce(f64::max);
        hit.score = hit.fit.score(query.meaning);
        hit.confidence = hit.fit.confidence(visible);
    }
    Ok(())
}

/// Statistics of the documents on an axis.
struct AxisStats {
    all: Option<CorpusStats>,
    /// Number of documents in the scope of the query.
    visible: f64,
}

impl AxisStats {
    fn load(connection: &Connection, query: &DocumentQuery<'_>) -> StoreResult<Self> {
        let mut rows = connection
            .prepare_cached("SELECT project, documents, terms FROM corpus WHERE axis = ?1")?;
        let mut rows = rows.query([query.axis])?;
        let (mut documents, mut terms, mut visible) = (0.0, 0.0, 0.0);
        while let Some(row) = rows.next()? {
            let (project, here): (i64, f64) = (row.get(0)?, row.get(1)?);
            documents += here;
            terms += row.get::<_, f64>(2)?;
            if project == 0 || query.project.is_none_or(|asked| asked == project) {
                visible += here;
            }
        }
        let all = (documents > 0.0).then(|| CorpusStats { documents, length: terms / documents });
        Ok(Self { all, visible })
    }
}

/// Returns the beginning and end of a long prompt: they hold the request, and the middle holds pasted text.
fn cut_middle(text: &str) -> Cow<'_, str> {
    if text.len() <= 2 * PROMPT_END_BYTES {
        return text.into();
    }
    let (start, end) = (
        text.floor_char_boundary(PROMPT_END_BYTES),
        text.ceil_char_boundary(text.len() - PROMPT_END_BYTES),
    );
    format!("{}\n{}", &text[..start], &text[end..]).into()
}

/// Returns the `kept` documents with the highest scores above zero.
fn top_documents(scores: impl Iterator<Item = (i64, f64)>, kept: usize) -> Vec<i64> {
    let mut all: Vec<(i64, f64)> = scores.filter(|(_, score)| *score > 0.0).collect();
    let order =
        |one: &(i64, f64), other: &(i64, f64)| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0));
    if all.len() > kept {
        all.select_nth_unstable_by(kept, order);
        all.truncate(kept);
    }
    all.into_iter().map(|(id, _)| id).collect()
}

/// Returns the documents nearest to a vector, with their cosines.
fn search_by_meaning(
    connection: &Connection,
    index: &SearchFiles,
    query: &DocumentQuery<'_>,
    asked: &Vector,
) -> StoreResult<Vec<(i64, f32)>> {
    let scope = query.scope();
    let filed = index.vectors().and_then(|file| {
        let near = file.scan(asked, query.max_candidates, scope, |row| !index.is_gone(row))?;
        Some((near, file.high_water()))
    });
    let (mut near, high_water) = filed.unwrap_or((Vec::new(), i64::MIN));
    let mut newer = connection.prepare_cached(
        "SELECT id, project, vector, kind FROM document WHERE id > ?1 AND axis = ?2 AND vector IS NOT NULL
         ORDER BY id DESC LIMIT ?3",
    )?;
    let mut newer = newer.query(params![high_water, query.axis, query.max_unindexed])?;
    while let Some(row) = newer.next()? {
        let project: Option<i64> = row.get(1)?;
        if scope.includes(
            project.unwrap_or(EVERYWHERE_PROJECT),
            row.get::<_, DocumentKind>(3)?.file_number(),
        ) && let Some(vector) = Vector::from_bytes(row.get_ref(2)?.as_blob().unwrap_or_default())
        {
            near.push((row.get(0)?, asked.cosine(&vector)));
        }
    }
    Ok(near)
}
