//! What could be put before an agent, out of the database.

use rusqlite::Connection;

use super::documents::{self, Ask};
use super::entry::Place;
use super::hot::HotStore;
use super::{
    Files, Store, StoreError, episode_files, episodes, ghaps, injections, memories, origins, values,
};
use crate::context::{self, Candidate, Context, Depth, LeftOut, Section, Source};
use crate::document::Axis;
use crate::mention::Mentions;
use crate::value::Standing;
use crate::{Clean, Id, Time, reference};

/// How many are looked at for one that is shown.
const LOOKED_AT: usize = 4;

/// For whom a context is put together. That decides which episodes are shown: an episode is one failure of one test, and
/// most texts that share words with it are about something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Somebody who asked: every episode that fits.
    Asker,
    /// An agent that was given a prompt: episodes whose test or error the prompt names, and one-line references to what is
    /// known about the files that it names.
    Prompt,
    /// A subagent that was given a task: episodes whose test, error or file the task names.
    Subagent,
}

/// What is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// For what.
    pub text: &'a str,
    /// Where.
    pub place: &'a Place,
    /// Of other projects too.
    pub everywhere: bool,
    /// Of which kinds; none is all.
    pub kinds: &'a [Source],
    /// How much.
    pub depth: Depth,
    /// At most so many things.
    pub limit: usize,
    /// At most so many tokens.
    pub tokens: usize,
    /// For whom it is.
    pub audience: Audience,
    /// To whom it is shown, by the client's name for the session; nothing is shown twice to the same agent.
    pub to: Option<(&'a str, Option<&'a Clean>)>,
}

impl Wanted<'_> {
    fn has(&self, kind: Source) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

impl HotStore {
    /// What to put before an agent.
    pub fn context(&self, wanted: &Wanted<'_>, now: Time) -> Result<Context, StoreError> {
        assemble(&self.connection, &self.files, wanted, documents::UNFILED, now)
    }

    /// What to put before an agent, of rows that were chosen before.
    pub fn context_of(
        &self,
        rows: &[(Id, f64)],
        wanted: &Wanted<'_>,
        now: Time,
    ) -> Result<Context, StoreError> {
        let mut candidates = Vec::new();
        for (row, confidence) in rows {
            let kind = documents::kind_of(&self.connection, *row)?;
            // What is in no index can only be a value.
            let kind = kind.map_or(Source::Value, Source::from);
            if let Some(text) = said(&self.connection, kind, *row, wanted, now)? {
                let refused =
                    is_shown(&self.connection, wanted, *row, now)?.then_some(LeftOut::Shown);
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
}

impl HotStore {
    /// The gist of a row in one line, for the user; None if it is gone or has none.
    pub fn notice(&self, row: Id, kind: Source) -> Result<Option<String>, StoreError> {
        let connection = &self.connection;
        Ok(match kind {
            Source::Episode => episodes::select(connection, "WHERE episode.uid = ?1", [row])?
                .pop()
                .and_then(|episode| reference::fix_notice(&episode)),
            Source::Experience | Source::Memory | Source::Value => {
                documents::lesson(connection, row)?.map(|lesson| reference::lesson_notice(&lesson))
            }
        })
    }
}

impl Store {
    /// What would be put before an agent.
    pub fn context(&mut self, wanted: &Wanted<'_>, now: Time) -> Result<Context, StoreError> {
        self.bring_up_to_date()?;
        assemble(&self.connection, &self.files, wanted, u32::MAX, now)
    }
}

fn assemble(
    connection: &Connection,
    files: &Files,
    wanted: &Wanted<'_>,
    unfiled: u32,
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
    for recall in documents::recall(connection, files, &ask, unfiled, now)? {
        let (row, kind) = (recall.hit.row, Source::from(recall.hit.kind));
        if !wanted.has(kind) {
            continue;
        }
        let refused = if !recall.above_floor {
            Some(LeftOut::BelowFloor)
        } else if is_shown(connection, wanted, row, now)? {
            Some(LeftOut::Shown)
        } else if kind == Source::Episode && !is_named(connection, row, wanted.audience, &mentions)?
        {
            Some(LeftOut::NotNamed)
        } else {
            None
        };
        // Nobody reads the whole text of what is not shown.
        let text = match refused {
            Some(_) => Some(recall.text.to_string()),
            None => said(connection, kind, row, wanted, now)?,
        };
        if let Some(text) = text {
            let confidence = recall.hit.confidence;
            let section = Section::Recalled;
            let candidate = Candidate { row, kind, section, confidence, refused, text };
            ranked.push((recall.rank, candidate));
        }
    }
    if wanted.has(Source::Value) {
        ranked.extend(fitting_values(connection, wanted, now)?);
        ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    }
    let candidates = ranked.into_iter().map(|(_, candidate)| candidate).collect();
    let mut context = Context::choose(candidates, wanted.depth, wanted.limit, wanted.tokens);
    if wanted.has(Source::Episode) && wanted.audience == Audience::Prompt {
        let references = references(connection, wanted, &mentions, &context, now)?;
        let most = (context.items.len() + episode_files::MAX_REFERENCES).min(wanted.limit);
        context.add_references(references, most, wanted.tokens);
    }
    Ok(context)
}

/// What is known about the files that the text names, without what is shown in full.
fn references(
    connection: &Connection,
    wanted: &Wanted<'_>,
    mentions: &Mentions<'_>,
    context: &Context,
    now: Time,
) -> Result<Vec<Candidate>, StoreError> {
    let mut found = episode_files::references(connection, wanted.place, mentions, now)?;
    found.retain(|candidate| context.items.iter().all(|item| item.row != candidate.row));
    for candidate in &mut found {
        let is_shown = match wanted.to {
            Some((client, agent)) => {
                injections::is_referred_to(connection, client, agent, candidate.row, now)?
            }
            None => false,
        };
        candidate.refused = is_shown.then_some(LeftOut::Shown);
    }
    Ok(found)
}

/// Returns true if a text names an episode as its audience needs it.
fn is_named(
    connection: &Connection,
    row: Id,
    audience: Audience,
    mentions: &Mentions<'_>,
) -> Result<bool, StoreError> {
    if audience == Audience::Asker {
        return Ok(true);
    }
    let episode = episodes::select(connection, "WHERE episode.uid = ?1", [row])?.pop();
    Ok(episode.is_some_and(|episode| {
        mentions.name_failure(&episode)
            || (audience == Audience::Subagent && mentions.name_file_of(&episode))
    }))
}

/// The values that have anything to do with what is wanted, each with its rank.
fn fitting_values(
    connection: &Connection,
    wanted: &Wanted<'_>,
    now: Time,
) -> Result<Vec<(f64, Candidate)>, StoreError> {
    let mut found = Vec::new();
    let near = values::bearing(connection, wanted.place, wanted.everywhere, wanted.text)?;
    for near in
        near.into_iter().filter(|near| near.rank > 0.0).take(wanted.limit.saturating_mul(LOOKED_AT))
    {
        let (row, confidence) = (near.value.id, near.confidence);
        let refused = if !near.is_above_floor() {
            Some(LeftOut::BelowFloor)
        } else if is_shown(connection, wanted, row, now)? {
            Some(LeftOut::Shown)
        } else {
            None
        };
        let text = match refused {
            Some(_) => near.value.text.to_string(),
            None => {
                marked(connection, row, wanted.place, context::of_value(&near.value, wanted.depth))?
            }
        };
        let (kind, section) = (Source::Value, Section::Recalled);
        found.push((near.rank, Candidate { row, kind, section, confidence, refused, text }));
    }
    Ok(found)
}

/// A text with the mark of its row behind it.
fn marked(
    connection: &Connection,
    row: Id,
    place: &Place,
    text: String,
) -> Result<String, StoreError> {
    Ok(match origins::unconfirmed(connection, row, place)? {
        Some(unconfirmed) => unconfirmed.mark(&text),
        None => text,
    })
}

fn is_shown(
    connection: &Connection,
    wanted: &Wanted<'_>,
    row: Id,
    now: Time,
) -> Result<bool, StoreError> {
    match wanted.to {
        Some((client, agent)) => injections::is_in_context(connection, client, agent, row, now),
        None => Ok(false),
    }
}

/// What is said of a row; nothing of one that is gone.
fn said(
    connection: &Connection,
    kind: Source,
    row: Id,
    wanted: &Wanted<'_>,
    now: Time,
) -> Result<Option<String>, StoreError> {
    let depth = wanted.depth;
    let unconfirmed = origins::unconfirmed(connection, row, wanted.place)?;
    let text = match kind {
        Source::Value => documents::missing_is_none(values::one(connection, row))?
            .filter(|value| value.standing != Standing::Retired)
            .map(|value| context::of_value(&value, depth)),
        Source::Memory => documents::missing_is_none(memories::one(connection, row))?
            .map(|memory| context::of_memory(&memory, depth)),
        Source::Experience => documents::missing_is_none(ghaps::by_id(connection, row))?
            .and_then(|ghap| context::of_ghap(&ghap, depth, now)),
        Source::Episode => episodes::select(connection, "WHERE episode.uid = ?1", [row])?
            .pop()
            .and_then(|episode| context::of_episode(&episode, depth, unconfirmed, now)),
    };
    Ok(match unconfirmed {
        Some(unconfirmed) if kind != Source::Episode => text.map(|text| unconfirmed.mark(&text)),
        _ => text,
    })
}
