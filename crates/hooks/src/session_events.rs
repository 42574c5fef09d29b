//! The SessionStart and SessionEnd hooks.

use rutter_contract::input::{RawPayload, SessionStart};

use super::{Call, Heard, card, fingerprint};
use crate::context::{Context, Section};
use crate::session_context::{SessionWanted, session_context_with};
use crate::speech;
use crate::speech::Hands;
use rutter_memory::Clean;
use rutter_memory::config::Notify;
use rutter_memory::session::Source;
use rutter_memory::store::entry::What;

const EVENT: &str = "SessionStart";

pub(super) fn start(wire: &RawPayload<'_>, call: Option<Call>, heard: &mut Heard) {
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
    let mut context = context(&mut call, source, heard);
    if !call.may_speak() {
        return;
    }
    // Items that could not be recorded as shown are omitted; the rest of the context is still printed.
    if !context.items.is_empty() {
        let shown = call.shown_context(EVENT, &fingerprint(""), &context);
        if !call.record_said(shown, heard) {
            context.items.clear();
        }
    }
    let message = match call.config.notify {
        Notify::Off => String::new(),
        Notify::Card if source == Source::Startup => card::project_card(&mut call, heard),
        Notify::Brief | Notify::Card => notice(&context).unwrap_or_default(),
    };
    call.say_with_message::<SessionStart>(&context.markdown(), &message, heard);
}

/// Assembles the context of the session. A new session gets everything; after a compaction and on resume it gets the
/// GHAP and the preferences that are not in its context; a fork has its context already.
fn context(call: &mut Call, source: Source, heard: &mut Heard) -> Context {
    let (place, client, now) = (call.place.clone(), call.client.clone(), call.around.now);
    let settings = call.config.hooks.session_start.clone();
    let branch = call.located.branch.clone();
    let (hands, has_called) = call.hands_here();
    let is_new = source == Source::Startup && settings.inject_light_context;
    let has_preferences = settings.inject_light_context && source != Source::Fork;
    let goes_on = matches!(source, Source::Resume | Source::Compact);
    // No database, no context; `record` has logged the reason.
    let Ok(store) = call.store() else { return Context::default() };
    let own = if goes_on { heard.take("GHAP", store.active(&place, &client, None)) } else { None };
    // An agent that has called a tool needs no introduction to the tools.
    let introduces = is_new && (!has_called || hands != Hands::Tools);
    let none_unless = |is_wanted: bool, most: u32| if is_wanted { most as usize } else { 0 };
    let wanted = SessionWanted {
        to: Some((&client, None)),
        own: own.as_ref().and_then(Option::as_ref),
        orphan: !goes_on,
        preferences: none_unless(has_preferences, settings.preferences),
        values: none_unless(is_new, settings.values),
        recent_work: none_unless(is_new, settings.recent_work),
        card: is_new,
        branch: branch.as_deref(),
        last: if introduces { speech::introduction(&hands) } else { String::new() },
        ..SessionWanted::new(&place, &hands, &settings, None)
    };
    session_context_with(store.reader(), &wanted, now, |what, error| {
        heard.faults.push(Clean::new(&format!("{what}: {error}")));
    })
}

/// Returns a line for the user about the context of the session; None if the context has no items and no GHAP.
fn notice(context: &Context) -> Option<String> {
    let count =
        |section: Section| context.items.iter().filter(|item| item.section == section).count();
    let mut parts = Vec::new();
    if let Some(line) = context.before.lines().next() {
        parts.push(line.trim_end_matches('.').to_owned());
    }
    for (section, one, many) in [
        (Section::Preferences, "preference", "preferences"),
        (Section::Values, "value", "values"),
        (Section::RecentWork, "line of recent work", "lines of recent work"),
    ] {
        match count(section) {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            number => parts.push(format!("{number} {many}")),
        }
    }
    (!parts.is_empty()).then(|| format!("the session begins with: {}", parts.join(", ")))
}

pub(super) fn end(call: Option<Call>, heard: &mut Heard) {
    let Some(mut call) = call else { return };
    let abandon =
        call.config.hooks.session_end.on_unresolved == rutter_memory::config::Unresolved::Abandon;
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
