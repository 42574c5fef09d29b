//! Which documents fit a query, by words and by meaning.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::embed::{Asked as Covering, Tokens, Vector, embed};
use crate::search::background;
use crate::search::document::{Axis, Kind};
use crate::search::score::{self, Corpus, Fit};
use crate::search::terms::terms;
use crate::store::StoreError;
use crate::{Id, Time};

/// How many terms of a query are looked for: the rarest. More cost time and bring little.
const SEARCHED: usize = 8;
/// How many of them are looked up to find those: the rarest by what is known of all texts.
const LOOKED_UP: usize = 48;
/// How many places of terms are read at most. Words that stand everywhere tell documents apart the least.
const PLACES: f64 = 40_000.0;
/// How many of each half go on to be fused.
const KEPT: usize = 200;
/// How many of the best are looked at word by word.
const LOOKED_AT: usize = 30;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Query<'a> {
    /// In words.
    pub text: &'a str,
    /// On which axis.
    pub axis: Axis,
    /// Of which project's documents, and those of everywhere; none is all of them.
    pub project: Option<i64>,
    /// How much of a score is meaning, from 0 to 1.
    pub meaning: f64,
    /// How many terms are looked for at most.
    pub searched: usize,
}

impl<'a> Query<'a> {
    /// As a prompt asks.
    pub fn new(text: &'a str) -> Self {
        Self { text, axis: Axis::Full, project: None, meaning: score::MEANING, searched: SEARCHED }
    }
}

/// A document that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The document.
    pub(crate) document: i64,
    /// The row it is made of.
    pub row: Id,
    /// What that is.
    pub kind: Kind,
    /// Its project; none is everywhere.
    pub(crate) project: Option<i64>,
    /// When it was written.
    pub at: Time,
    /// What it has in common with the query.
    pub fit: Fit,
    /// All of that as one.
    pub score: f64,
    /// How likely it is what was meant.
    pub confidence: f64,
    /// Where it points.
    pub(crate) vector: Option<Vector>,
}

/// The documents that fit best, best first; ties by what was written first.
pub(crate) fn find(connection: &Connection, query: &Query<'_>) -> Result<Vec<Hit>, StoreError> {
    let corpus = Counted::of(connection, query)?;
    let lexical = by_words(connection, query, &corpus)?;
    let near =
        if query.meaning > 0.0 { by_meaning(connection, query)? } else { Meaning::default() };
    let mut documents: Vec<i64> = strongest(lexical.iter().map(|(id, (share, _))| (*id, *share)));
    documents.extend(strongest(near.all.iter().map(|(id, score)| (*id, f64::from(*score)))));
    documents.sort_unstable();
    documents.dedup();
    let mut hits = Vec::with_capacity(documents.len());
    let mut select = connection.prepare_cached(
        "SELECT row, kind, project, at, axis, vector FROM document WHERE id = ?1",
    )?;
    for document in documents {
        let (lexical, evidence) = lexical.get(&document).copied().unwrap_or_default();
        let fit = Fit { lexical, evidence, meaning: near.of(document), covered: 0.0 };
        let hit = select
            .query_row([document], |row| {
                let vector: Option<Vec<u8>> = row.get(5)?;
                Ok((
                    row.get::<_, Axis>(4)?,
                    Hit {
                        document,
                        row: row.get(0)?,
                        kind: row.get(1)?,
                        project: row.get(2)?,
                        at: row.get(3)?,
                        fit,
                        score: fit.score(query.meaning),
                        confidence: fit.confidence(corpus.visible),
                        vector: vector.and_then(|bytes| Vector::of_bytes(&bytes)),
                    },
                ))
            })
            .optional()?;
        if let Some((axis, hit)) = hit
            && axis == query.axis
            && (query.project.is_none() || hit.project.is_none() || hit.project == query.project)
        {
            hits.push(hit);
        }
    }
    by_score(&mut hits);
    if query.meaning > 0.0 {
        word_by_word(connection, query, &mut hits)?;
        by_score(&mut hits);
    }
    Ok(hits)
}

fn by_score(hits: &mut [Hit]) {
    hits.sort_by(|one, other| other.score.total_cmp(&one.score).then(one.row.cmp(&other.row)));
}

/// Looks more closely at the best.
fn word_by_word(
    connection: &Connection,
    query: &Query<'_>,
    hits: &mut [Hit],
) -> Result<(), StoreError> {
    let asked = Covering::new(query.text);
    let mut tokens = connection.prepare_cached("SELECT tokens FROM document WHERE id = ?1")?;
    for hit in hits.iter_mut().take(LOOKED_AT) {
        let tokens: Vec<u8> = tokens.query_row([hit.document], |row| row.get(0))?;
        hit.fit.covered = Tokens::of_bytes(&tokens).map_or(0.0, |tokens| asked.covered_by(&tokens));
        hit.score = hit.fit.score(query.meaning);
    }
    Ok(())
}

/// What there is on an axis.
struct Counted {
    all: Option<Corpus>,
    /// How many documents of it may be found.
    visible: f64,
}

impl Counted {
    fn of(connection: &Connection, query: &Query<'_>) -> Result<Self, StoreError> {
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
        let all = (documents > 0.0).then(|| Corpus { documents, length: terms / documents });
        Ok(Self { all, visible })
    }
}

/// The best of one half.
fn strongest(scores: impl Iterator<Item = (i64, f64)>) -> Vec<i64> {
    let mut all: Vec<(i64, f64)> = scores.filter(|(_, score)| *score > 0.0).collect();
    all.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    all.into_iter().take(KEPT).map(|(id, _)| id).collect()
}

/// A term of a query.
struct Asked {
    text: String,
    /// How many documents have it.
    found: f64,
    weight: f64,
}

fn by_words(
    connection: &Connection,
    query: &Query<'_>,
    corpus: &Counted,
) -> Result<HashMap<i64, (f64, f64)>, StoreError> {
    let Some(corpus) = corpus.all.filter(|_| query.meaning < 1.0) else {
        return Ok(HashMap::new());
    };
    let (asked, ideal) = asked(connection, query, corpus.documents)?;
    let mut scores: HashMap<i64, (f64, f64)> = HashMap::new();
    let mut lengths: HashMap<i64, f64> = HashMap::new();
    let mut places = connection.prepare_cached("SELECT doc FROM lexicon_place WHERE term = ?1")?;
    let mut length_of = connection.prepare_cached("SELECT length FROM document WHERE id = ?1")?;
    let mut left = PLACES;
    for (number, term) in asked.iter().take(query.searched).enumerate() {
        // The rarest are always read.
        if number >= 2 && term.found > left {
            break;
        }
        left -= term.found;
        let mut times: HashMap<i64, f64> = HashMap::new();
        let mut rows = places.query([&term.text])?;
        while let Some(row) = rows.next()? {
            *times.entry(row.get(0)?).or_default() += 1.0;
        }
        for (document, times) in times {
            let length = if let Some(length) = lengths.get(&document) {
                *length
            } else {
                let length: f64 = length_of.query_row([document], |row| row.get(0))?;
                lengths.insert(document, length);
                length
            };
            let (share, evidence) = scores.entry(document).or_default();
            *share += score::gain(term.weight, times, length, corpus) / ideal;
            *evidence += term.weight;
        }
    }
    scores.values_mut().for_each(|(share, _)| *share = share.min(1.0));
    Ok(scores)
}

/// The terms to look for, rarest first, and the most that a document could have of all.
fn asked(
    connection: &Connection,
    query: &Query<'_>,
    documents: f64,
) -> Result<(Vec<Asked>, f64), StoreError> {
    let mut all = terms(query.text);
    all.sort();
    all.dedup();
    // A term that is rare everywhere is likely to be rare here; only those are worth a look.
    all.sort_by(|one, other| {
        let share = |term: &str| background::share(term);
        share(&one.text).total_cmp(&share(&other.text)).then(one.cmp(other))
    });
    let mut count = connection.prepare_cached("SELECT doc FROM lexicon_count WHERE term = ?1")?;
    let (mut asked, mut ideal) = (Vec::new(), 0.0);
    for term in all.into_iter().take(LOOKED_UP) {
        let marked = format!("{}{}", query.axis.mark(), term.text);
        let found: f64 =
            count.query_row([&marked], |row| row.get(0)).optional()?.unwrap_or_default();
        // Of a name that nobody knows the parts were asked for already.
        if term.whole && found == 0.0 {
            continue;
        }
        let weight = score::weight(found, documents, background::share(&term.text));
        ideal += score::best(weight);
        if found > 0.0 {
            asked.push(Asked { text: marked, found, weight });
        }
    }
    asked.sort_by(|one, other| {
        other.weight.total_cmp(&one.weight).then_with(|| one.text.cmp(&other.text))
    });
    Ok((asked, ideal.max(f64::MIN_POSITIVE)))
}

/// How near documents are, by their numbers.
#[derive(Default)]
struct Meaning {
    all: Vec<(i64, f32)>,
}

impl Meaning {
    fn of(&self, document: i64) -> f64 {
        let place = self.all.binary_search_by_key(&document, |(id, _)| *id);
        place.map_or(0.0, |at| f64::from(self.all[at].1))
    }
}

fn by_meaning(connection: &Connection, query: &Query<'_>) -> Result<Meaning, StoreError> {
    let Some(asked) = embed(query.text) else { return Ok(Meaning::default()) };
    let mut rows = connection.prepare_cached(
        "SELECT id, vector FROM document WHERE axis = ?1 AND vector IS NOT NULL ORDER BY id",
    )?;
    let mut rows = rows.query(params![query.axis])?;
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        if let Some(vector) = Vector::of_bytes(row.get_ref(1)?.as_blob().unwrap_or_default()) {
            all.push((id, asked.cosine(&vector)));
        }
    }
    Ok(Meaning { all })
}
