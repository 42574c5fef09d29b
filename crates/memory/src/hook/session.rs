//! A session begins, goes on or ends.

use rutter_contract::input::{SessionStart, Wire};

use super::{Call, Heard};
use crate::session::Source;
use crate::speech::Hands;
use crate::store::entry::What;
use crate::{Clean, speech};

/// How many runs a session is told of when it begins.
const RUNS: usize = 2;

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
    match texts(&mut call, source) {
        Ok(texts) if call.may_speak() => {
            call.say::<SessionStart>(&speech::together(texts, room), heard);
        }
        Ok(_) => {}
        Err(fault) => heard.faults.push(fault),
    }
}

/// What is worth saying, the most important first.
fn texts(call: &mut Call, source: Source) -> Result<Vec<String>, Clean> {
    let (place, client, now) = (call.place.clone(), call.client.clone(), call.around.now);
    let light = call.config.hooks.session_start.inject_light_context;
    let branch = call.located.branch.clone();
    let (hands, called) = call.hands_here();
    // Without the database there is nothing to say; why that is was written down with the record.
    let Ok(store) = call.store() else { return Ok(Vec::new()) };
    let fault = |error| Clean::new(&format!("start: {error}"));
    let mut texts = Vec::new();
    match source {
        Source::Resume | Source::Compact => {
            let ghap = store.active(&place, &client, None).map_err(fault)?;
            texts.extend(ghap.map(|ghap| speech::active(&ghap, &hands)));
        }
        _ => {
            let orphans = store.orphans(&place, &client, now).map_err(fault)?;
            texts.extend(orphans.first().map(|ghap| speech::orphan(ghap, now, &hands)));
            if source == Source::Startup && light {
                let runs = store.last_runs(&place, RUNS).map_err(fault)?;
                texts.push(speech::card(branch.as_deref(), &runs, now));
                // Who has called a tool knows what they are for.
                if !called || hands != Hands::Tools {
                    texts.push(speech::introduction(&hands));
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
