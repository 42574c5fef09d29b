//! A session begins, goes on or ends.

use rutter_contract::input::{SessionStart, Wire};

use super::{Call, Heard, fingerprint};
use crate::session::Source;
use crate::speech::Hands;
use crate::store::entry::What;
use crate::{Clean, Id, speech};

/// How many runs a session is told of when it begins.
const RUNS: usize = 2;
/// Of the room for all that is said, values have so many fifths at most.
const VALUES: usize = 2;
const EVENT: &str = "SessionStart";

pub(super) fn start(wire: &Wire<'_>, call: Option<Call>, heard: &mut Heard) {
    let Some(mut call) = call else { return };
    let source = wire.text("source").and_then(|source| source.parse().ok());
    let source = source.unwrap_or(Source::Startup);
    let mut whats = vec![What::Began(source)];
    if call.config.cohort.is_control(&call.client) {
        whats.push(What::Watched);
    }
    call.record(whats, heard);
    heard.tend |= !call.around.files.database().exists();
    if !call.may_speak() {
        return;
    }
    let room = call.config.hooks.session_start.token_budget as usize;
    let mut texts = match texts(&mut call, source) {
        Ok(texts) => texts,
        Err(fault) => return heard.faults.push(fault),
    };
    if source == Source::Startup && call.config.hooks.session_start.inject_light_context {
        // Behind what was left open, and before what can be missed.
        let first = speech::together(texts.first.clone(), room);
        let left = (room * VALUES / 5).min(room.saturating_sub(speech::cost(&first)));
        texts.values = values(&mut call, left, heard);
    }
    if !call.may_speak() {
        return;
    }
    let Texts { first, values, then } = texts;
    let all =
        |values: String| speech::together(first.into_iter().chain([values]).chain(then), room);
    let (text, rows) = values;
    if rows.is_empty() {
        return call.say::<SessionStart>(&all(String::new()), heard);
    }
    let rows: Vec<(Id, f64)> = rows.into_iter().map(|row| (row, 1.0)).collect();
    let shown = call.shown(EVENT, &fingerprint(""), &rows);
    // What could not be written down as said is left out, and all else is said.
    let text = if call.record_said(shown, heard) { text } else { String::new() };
    call.say::<SessionStart>(&all(text), heard);
}

/// What is worth saying, the most important first.
#[derive(Default)]
struct Texts {
    first: Vec<String>,
    /// What to work by, and which rows that are.
    values: (String, Vec<Id>),
    then: Vec<String>,
}

/// What to work by here, as far as it is not in the context and has room. Whatever is wrong with it, the rest is said.
fn values(call: &mut Call, room: usize, heard: &mut Heard) -> (String, Vec<Id>) {
    let (place, client, now) = (call.place.clone(), call.client.clone(), call.around.now);
    let most = call.config.hooks.session_start.values as usize;
    let Ok(store) = call.store() else { return Default::default() };
    let held = store.values(&place, most).and_then(|mut held| {
        let shown = held.iter().map(|held| store.is_shown(&client, None, held.value.id, now));
        let shown = shown.collect::<Result<Vec<_>, _>>()?;
        let mut shown = shown.into_iter();
        held.retain(|_| shown.next() == Some(false));
        Ok(held)
    });
    speech::values(&heard.take("values", held).unwrap_or_default(), room)
}

/// All but the values.
fn texts(call: &mut Call, source: Source) -> Result<Texts, Clean> {
    let (place, client, now) = (call.place.clone(), call.client.clone(), call.around.now);
    let light = call.config.hooks.session_start.inject_light_context;
    let branch = call.located.branch.clone();
    let (hands, called) = call.hands_here();
    // Without the database there is nothing to say; why that is was written down with the record.
    let Ok(store) = call.store() else { return Ok(Texts::default()) };
    let fault = |error| Clean::new(&format!("start: {error}"));
    let mut texts = Texts::default();
    match source {
        Source::Resume | Source::Compact => {
            let ghap = store.active(&place, &client, None).map_err(fault)?;
            texts.first.extend(ghap.map(|ghap| speech::active(&ghap, &hands)));
        }
        _ => {
            let orphans = store.orphans(&place, &client, now).map_err(fault)?;
            texts.first.extend(orphans.first().map(|ghap| speech::orphan(ghap, now, &hands)));
            if source == Source::Startup && light {
                let runs = store.last_runs(&place, RUNS).map_err(fault)?;
                texts.then.push(speech::card(branch.as_deref(), &runs, now));
                // Who has called a tool knows what they are for.
                if !called || hands != Hands::Tools {
                    texts.then.push(speech::introduction(&hands));
                }
            }
        }
    }
    Ok(texts)
}

pub(super) fn end(call: Option<Call>, heard: &mut Heard) {
    let Some(mut call) = call else { return };
    let abandon = call.config.hooks.session_end.on_unresolved == crate::config::Unresolved::Abandon;
    call.record(vec![What::Ended { abandon }], heard);
    heard.tend = true;
    let client = call.client.clone();
    if call.is_in_time()
        && let Ok(store) = call.store()
        && let Ok(Some(summary)) = store.summary(&client)
    {
        heard.notes.push(summary);
    }
}
