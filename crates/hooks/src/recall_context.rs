//! Selection of rows from the database for a context.

use rutter_memory::document::Axis;
use rutter_memory::store::entry::Place;
use rutter_memory::store::{Ask, Reader, StoreError};
use rutter_memory::{Clean, Id, Time};

use crate::context::{self, Candidate, Context, Depth, LeftOut, Section, Source};
use crate::mention::Mentions;
use crate::{file_references, reference};

/// Number of rows that are examined for each one that is shown.
const LOOKED_AT: usize = 4;

/// The reader of a context, which decides which episodes are shown: an episode is one failure of one test, and most
/// texts that share words with it are about another topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// A user or agent that asked for recall: every episode that fits.
    Asker,
    /// An agent that got a prompt: episodes with a test or error that the prompt names, and one-line references to
    /// failures in the files that it names.
    Prompt,
    /// A subagent that got a task: episodes with a test, error or file that the task names.
    Subagent,
}

/// A request for a context.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The prompt, task or query.
    pub text: &'a str,
    /// The project and checkout.
    pub place: &'a Place,
    /// True if rows of other projects are included.
    pub everywhere: bool,
    /// The kinds to include; empty for all.
    pub kinds: &'a [Source],
    /// The level of detail.
    pub depth: Depth,
    /// Maximum number of items.
    pub limit: usize,
    /// Maximum number of tokens.
    pub tokens: usize,
    /// The kind of reader.
    pub audience: Audience,
    /// The client's session id and the agent that read it; no item is shown twice to the same agent.
    pub to: Option<(&'a str, Option<&'a Clean>)>,
}

impl Wanted<'_> {
    fn has(&self, kind: Source) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// Assembles a context from rows that were chosen before.
pub fn context_of_rows(
    reader: Reader<'_>,
    rows: &[(Id, f64)],
    wanted: &Wanted<'_>,
    now: Time,
) -> Result<Context, StoreError> {
    let mut candidates = Vec::new();
    for (row, confidence) in rows {
        // A row without a search document can only be a value.
        let kind = reader.kind(*row)?.map_or(Source::Value, Source::from);
        if let Some(text) = said(reader, kind, *row, wanted, now)? {
            let refused = is_shown(reader, wanted, *row, now)?.then_some(LeftOut::Shown);
            candidates.push(Candidate {
                row: *row,
                kind,
                section: Section::Recalled,
                confidence: *confidence,
                refused,
                text,
            });
        }
    }
    Ok(Context::choose(candidates, wanted.depth, wanted.limit, wanted.tokens))
}

/// Returns the gist of a row in one line, for the user; None if the row is deleted or has none.
pub(crate) fn notice(
    reader: Reader<'_>,
    row: Id,
    kind: Source,
) -> Result<Option<String>, StoreError> {
    Ok(match kind {
        Source::Episode => reader.episode(row)?.and_then(|episode| reference::fix_notice(&episode)),
        Source::Experience | Source::Memory | Source::Value => {
            reader.lesson(row)?.map(|lesson| reference::lesson_notice(&lesson))
        }
    })
}

/// Assembles the context for a text.
pub fn recall_context(
    reader: Reader<'_>,
    wanted: &Wanted<'_>,
    now: Time,
) -> Result<Context, StoreError> {
    let ask = Ask {
        text: wanted.text,
        axis: Axis::Full,
        place: Some(wanted.place),
        all: wanted.everywhere,
        kind: None,
        domain: None,
        outcome: None,
        limit: wanted.limit.saturating_mul(LOOKED_AT),
    };
    let mentions = Mentions::parse(wanted.text);
    let mut ranked: Vec<(f64, Candidate)> = Vec::new();
    for recall in reader.recall(&ask, now)? {
        let (row, kind) = (recall.hit.row, Source::from(recall.hit.kind));
        if !wanted.has(kind) {
            continue;
        }
        let refused = if !recall.above_floor {
            Some(LeftOut::BelowFloor)
        } else if is_shown(reader, wanted, row, now)? {
            Some(LeftOut::Shown)
        } else if kind == Source::Episode && !is_named(reader, row, wanted.audience, &mentions)? {
            Some(LeftOut::NotNamed)
        } else {
            None
        };
        // The full text is rendered only for rows that may be shown.
        let text = match refused {
            Some(_) => Some(recall.text.to_string()),
            None => said(reader, kind, row, wanted, now)?,
        };
        if let Some(text) = text {
            let confidence = recall.hit.confidence;
            let section = Section::Recalled;
            let candidate = Candidate { row, kind, section, confidence, refused, text };
            ranked.push((recall.rank, candidate));
        }
    }
    if wanted.has(Source::Value) {
        ranked.extend(fitting_values(reader, wanted, now)?);
        ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    }
    let candidates = ranked.into_iter().map(|(_, candidate)| candidate).collect();
    let mut context = Context::choose(candidates, wanted.depth, wanted.limit, wanted.tokens);
    if wanted.has(Source::Episode) && wanted.audience == Audience::Prompt {
        let references = references(reader, wanted, &mentions, &context, now)?;
        let most = (context.items.len() + file_references::MAX_REFERENCES).min(wanted.limit);
        context.add_references(references, most, wanted.tokens);
    }
    Ok(context)
}

/// Returns references to failures in the files that the text names, without rows that are shown in full.
fn references(
    reader: Reader<'_>,
    wanted: &Wanted<'_>,
    mentions: &Mentions<'_>,
    context: &Context,
    now: Time,
) -> Result<Vec<Candidate>, StoreError> {
    let mut found = file_references::references(reader, wanted.place, mentions, now)?;
    found.retain(|candidate| context.items.iter().all(|item| item.row != candidate.row));
    for candidate in &mut found {
        let is_shown = match wanted.to {
            Some(to) => reader.is_referred_to(to, candidate.row, now)?,
            None => false,
        };
        candidate.refused = is_shown.then_some(LeftOut::Shown);
    }
    Ok(found)
}

/// Returns true if a text names an episode as strictly as its audience requires.
fn is_named(
    reader: Reader<'_>,
    row: Id,
    audience: Audience,
    mentions: &Mentions<'_>,
) -> Result<bool, StoreError> {
    if audience == Audience::Asker {
        return Ok(true);
    }
    let episode = reader.episode(row)?;
    Ok(episode.is_some_and(|episode| {
        mentions.name_failure(&episode)
            || (audience == Audience::Subagent && mentions.name_file_of(&episode))
    }))
}

/// Returns the values that are related to the text, each with its rank.
fn fitting_values(
    reader: Reader<'_>,
    wanted: &Wanted<'_>,
    now: Time,
) -> Result<Vec<(f64, Candidate)>, StoreError> {
    let mut found = Vec::new();
    let near = reader.fitting_values(wanted.place, wanted.everywhere, wanted.text)?;
    for near in
        near.into_iter().filter(|near| near.rank > 0.0).take(wanted.limit.saturating_mul(LOOKED_AT))
    {
        let (row, confidence) = (near.value.id, near.confidence);
        let refused = if !near.is_above_floor() {
            Some(LeftOut::BelowFloor)
        } else if is_shown(reader, wanted, row, now)? {
            Some(LeftOut::Shown)
        } else {
            None
        };
        let text = match refused {
            Some(_) => near.value.text.to_string(),
            None => {
                marked(reader, row, wanted.place, context::of_value(&near.value, wanted.depth))?
            }
        };
        let (kind, section) = (Source::Value, Section::Recalled);
        found.push((near.rank, Candidate { row, kind, section, confidence, refused, text }));
    }
    Ok(found)
}

/// Appends the mark of an unconfirmed row to its text.
fn marked(reader: Reader<'_>, row: Id, place: &Place, text: String) -> Result<String, StoreError> {
    Ok(match reader.unconfirmed(row, place)? {
        Some(unconfirmed) => unconfirmed.mark(&text),
        None => text,
    })
}

fn is_shown(
    reader: Reader<'_>,
    wanted: &Wanted<'_>,
    row: Id,
    now: Time,
) -> Result<bool, StoreError> {
    match wanted.to {
        Some(to) => reader.is_in_context(to, row, now),
        None => Ok(false),
    }
}

/// Renders a row; None if it is deleted.
fn said(
    reader: Reader<'_>,
    kind: Source,
    row: Id,
    wanted: &Wanted<'_>,
    now: Time,
) -> Result<Option<String>, StoreError> {
    let depth = wanted.depth;
    let unconfirmed = reader.unconfirmed(row, wanted.place)?;
    let text = match kind {
        Source::Value => reader.value(row)?.map(|value| context::of_value(&value, depth)),
        Source::Memory => reader.memory(row)?.map(|memory| context::of_memory(&memory, depth)),
        Source::Experience => {
            reader.ghap(row)?.and_then(|ghap| context::of_ghap(&ghap, depth, now))
        }
        Source::Episode => reader
            .episode(row)?
            .and_then(|episode| context::of_episode(&episode, depth, unconfirmed, now)),
    };
    Ok(match unconfirmed {
        Some(unconfirmed) if kind != Source::Episode => text.map(|text| unconfirmed.mark(&text)),
        _ => text,
    })
}
