//! What could be put before an agent, out of the database.

use rusqlite::{Connection, params};

use super::documents::{self, Ask};
use super::entry::Place;
use super::hot::HotStore;
use super::{
    Files, Owner, Store, StoreError, episodes, ghaps, injections, memories, projects, spoken,
    values,
};
use crate::context::{self, Candidate, Context, Depth, LeftOut, Source};
use crate::quote::tokens;
use crate::search::document::Axis;
use crate::value::Standing;
use crate::{Clean, Hands, Id, Time, speech};

/// How many are looked at for one that is shown.
const LOOKED_AT: usize = 4;
/// How many runs are told of where nothing is asked for.
const RUNS: usize = 3;
/// How many values stand before recent work at most.
const VALUES: usize = 5;

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
            if let Some(text) = said(&self.connection, kind, *row, wanted.depth, now)? {
                let refused =
                    is_shown(&self.connection, wanted, *row, now)?.then_some(LeftOut::Shown);
                candidates.push(Candidate {
                    row: *row,
                    kind,
                    confidence: *confidence,
                    refused,
                    text,
                });
            }
        }
        Ok(Context::choose(candidates, wanted.depth, wanted.limit, wanted.tokens))
    }
}

impl Store {
    /// What would be put before an agent.
    pub fn context(&mut self, wanted: &Wanted<'_>, now: Time) -> Result<Context, StoreError> {
        self.bring_up_to_date()?;
        assemble(&self.connection, &self.files, wanted, u32::MAX, now)
    }

    /// What is worth knowing where nothing is asked for: what `owner` works on, what was left open, how the last runs went, what to
    /// work by, what was learnt last. `hands` are what to go on with.
    pub fn recent(
        &self,
        wanted: &Wanted<'_>,
        owner: &Owner,
        branch: Option<&str>,
        hands: &Hands,
        now: Time,
    ) -> Result<Context, StoreError> {
        let client = wanted.to.map(|(client, _)| client).unwrap_or_default();
        let orphans = spoken::orphans(&self.connection, wanted.place, client, now)?;
        let runs = spoken::last_runs(&self.connection, wanted.place, RUNS)?;
        // A session that was silent for long may be over and still be whose own it is.
        let own = self.active_ghap(owner)?;
        let left = orphans.iter().filter(|ghap| own.as_ref().is_none_or(|own| own.id != ghap.id));
        let mut texts: Vec<String> = own.iter().map(|own| speech::active(own, hands)).collect();
        texts.extend(left.map(|ghap| speech::orphan(ghap, now, hands)));
        texts.push(speech::card(branch, &runs, now));
        let before = speech::together(texts, wanted.tokens);
        let room = wanted.tokens.saturating_sub(tokens(&before) + 1);
        let mut rows = Vec::new();
        if wanted.has(Source::Value) {
            // Recent work has its half, where it is wanted.
            let only = wanted.kinds == [Source::Value];
            let most = if only { wanted.limit } else { wanted.limit.div_ceil(2).min(VALUES) };
            let held = values::held_in(&self.connection, wanted.place, most)?;
            rows.extend(held.into_iter().map(|held| (held.value.id, Source::Value)));
        }
        rows.extend(last_learnt(&self.connection, wanted)?);
        let mut candidates = Vec::new();
        for (row, kind) in rows {
            if let Some(text) = said(&self.connection, kind, row, wanted.depth, now)? {
                let refused =
                    is_shown(&self.connection, wanted, row, now)?.then_some(LeftOut::Shown);
                candidates.push(Candidate { row, kind, confidence: 1.0, refused, text });
            }
        }
        let chosen = Context::choose(candidates, wanted.depth, wanted.limit, room);
        Ok(Context { before, ..chosen })
    }
}

/// What GHAPs and failures left that ended last. What was asked to be remembered is no work.
fn last_learnt(
    connection: &Connection,
    wanted: &Wanted<'_>,
) -> Result<Vec<(Id, Source)>, StoreError> {
    let project = projects::find(connection, wanted.place)?.unwrap_or(-1);
    let most = i64::try_from(wanted.limit.saturating_mul(LOOKED_AT)).unwrap_or(i64::MAX);
    let mut rows = connection.prepare_cached(
        "SELECT uid, 'experience', resolved AS ended FROM ghap
         WHERE ?4 AND status != 'active' AND (?2 OR project = ?1)
         UNION ALL
         SELECT uid, 'episode', ended FROM episode WHERE ?5 AND how = 'fixed' AND (?2 OR project = ?1)
         ORDER BY ended DESC LIMIT ?3",
    )?;
    let found = rows.query_map(
        params![
            project,
            wanted.everywhere,
            most,
            wanted.has(Source::Experience),
            wanted.has(Source::Episode)
        ],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(found.collect::<Result<_, _>>()?)
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
        } else {
            None
        };
        // Nobody reads the whole text of what is not shown.
        let text = match refused {
            Some(_) => Some(recall.text.to_string()),
            None => said(connection, kind, row, wanted.depth, now)?,
        };
        if let Some(text) = text {
            let confidence = recall.hit.confidence;
            ranked.push((recall.rank, Candidate { row, kind, confidence, refused, text }));
        }
    }
    if wanted.has(Source::Value) {
        ranked.extend(fitting_values(connection, wanted, now)?);
        ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    }
    let candidates = ranked.into_iter().map(|(_, candidate)| candidate).collect();
    Ok(Context::choose(candidates, wanted.depth, wanted.limit, wanted.tokens))
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
            None => context::of_value(&near.value, wanted.depth),
        };
        let kind = Source::Value;
        found.push((near.rank, Candidate { row, kind, confidence, refused, text }));
    }
    Ok(found)
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
    depth: Depth,
    now: Time,
) -> Result<Option<String>, StoreError> {
    Ok(match kind {
        Source::Value => documents::missing_is_none(values::one(connection, row))?
            .filter(|value| value.standing != Standing::Retired)
            .map(|value| context::of_value(&value, depth)),
        Source::Memory => documents::missing_is_none(memories::one(connection, row))?
            .map(|memory| context::of_memory(&memory, depth)),
        Source::Experience => documents::missing_is_none(ghaps::by_id(connection, row))?
            .and_then(|ghap| context::of_ghap(&ghap, depth, now)),
        Source::Episode => episodes::select(connection, "WHERE episode.uid = ?1", [row])?
            .pop()
            .and_then(|episode| context::of_episode(&episode, now)),
    })
}
