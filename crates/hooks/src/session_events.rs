//! The SessionStart and SessionEnd hooks.

use rutter_contract::input::SessionStart;

use super::{HookCall, HookEnv, HookResult, ReceivedEvent, card, fingerprint};
use crate::context::{Context, ContextSection, LessonLookup};
use crate::messages;
use crate::messages::AgentInterface;
use crate::session_context::{SessionContextRequest, assemble_session_context};
use rutter_memory::Clean;
use rutter_memory::config::Notify;
use rutter_memory::fingerprints::Fingerprints;
use rutter_memory::session::StoredSessionSource;
use rutter_memory::store::entry::EntryKind;

pub(super) fn handle_session_start(
    event: &ReceivedEvent<'_>,
    env: impl FnOnce() -> HookEnv,
    result: &mut HookResult,
) {
    let Some(mut call) = HookCall::open(event, env) else { return };
    // After `/clear` the shell may be in another project.
    if !call.enter_session_folder() {
        return;
    }
    let source = event.wire.text("source").and_then(|source| source.parse().ok());
    let source = source.unwrap_or(StoredSessionSource::Startup);
    let mut entries = vec![EntryKind::Began(source)];
    if call.config.cohort.is_control(&call.client) {
        entries.push(EntryKind::Watched);
    }
    call.record(entries, result);
    // Without a fingerprint file, every tool call asks the database.
    result.needs_maintenance |=
        !call.env.files.database().exists() || Fingerprints::read(&call.env.files).is_none();
    if !call.may_print() {
        return;
    }
    let mut context = start_context(&mut call, source, result);
    if !call.may_print() {
        return;
    }
    // Items that could not be recorded as shown are omitted; the rest of the context is still printed.
    if !context.items.is_empty() {
        let shown = call.shown_context_entries(&fingerprint(""), &context);
        if !call.record_shown(shown, result) {
            context.items.clear();
        }
    }
    let message = match call.config.notify {
        Notify::Off => String::new(),
        Notify::Card if source == StoredSessionSource::Startup => {
            card::project_card(&mut call, result)
        }
        Notify::Brief | Notify::Card => start_notice(&context).unwrap_or_default(),
    };
    call.print_context_and_message::<SessionStart>(&context.markdown(), &message, result);
}

/// Assembles the context of the session. A new session gets everything; after a compaction and on resume it gets the
/// GHAP and the preferences that are not in its context; a fork has its context already.
fn start_context(
    call: &mut HookCall,
    source: StoredSessionSource,
    result: &mut HookResult,
) -> Context {
    let (place, client, now) = (call.place.clone(), call.client.clone(), call.env.now);
    let settings = call.config.hooks.session_start.clone();
    let branch = call.located.branch.clone();
    let (interface, has_called) = call.interface_at_start();
    let is_new = source == StoredSessionSource::Startup && settings.inject_light_context;
    let has_preferences = settings.inject_light_context && source != StoredSessionSource::Fork;
    let goes_on = matches!(source, StoredSessionSource::Resume | StoredSessionSource::Compact);
    // No database, no context; `record` has logged the reason.
    let Ok(store) = call.store() else { return Context::default() };
    let own = if goes_on {
        result.ok_or_log("GHAP", store.active_ghap(&place, &client, None))
    } else {
        None
    };
    // An agent that has called a tool needs no introduction to the tools.
    let introduces = is_new && (!has_called || interface != AgentInterface::McpTools);
    let none_unless = |is_wanted: bool, most: u32| if is_wanted { most as usize } else { 0 };
    let request = SessionContextRequest {
        to: Some((&client, None)),
        own_ghap: own.as_ref().and_then(Option::as_ref),
        orphan: !goes_on,
        preferences: none_unless(has_preferences, settings.preferences),
        values: none_unless(is_new, settings.values),
        lessons: none_unless(is_new, settings.lessons),
        recent_work: none_unless(is_new, settings.recent_work),
        card: is_new,
        branch: branch.as_deref(),
        last: if introduces { messages::render_introduction(&interface) } else { String::new() },
        ..SessionContextRequest::new(&place, &interface, &settings, None)
    };
    assemble_session_context(store.reader(), &request, now, |what, error| {
        result.errors.push(Clean::new(&format!("{what}: {error}")));
    })
}

/// Returns a line for the user about the context of the session; None if the context has no items and no GHAP.
fn start_notice(context: &Context) -> Option<String> {
    let count = |section: ContextSection| {
        context.items.iter().filter(|item| item.section == section).count()
    };
    let mut parts = Vec::new();
    if let Some(line) = context.before.lines().next() {
        parts.push(line.trim_end_matches('.').to_owned());
    }
    for (section, one, many) in [
        (ContextSection::Preferences, "preference", "preferences"),
        (ContextSection::Values, "value", "values"),
        (ContextSection::Lessons(LessonLookup::Tool), "lesson to look up", "lessons to look up"),
        (ContextSection::Lessons(LessonLookup::Command), "lesson to look up", "lessons to look up"),
        (ContextSection::RecentWork, "line of recent work", "lines of recent work"),
    ] {
        match count(section) {
            0 => {}
            1 => parts.push(format!("1 {one}")),
            number => parts.push(format!("{number} {many}")),
        }
    }
    (!parts.is_empty()).then(|| format!("the session begins with: {}", parts.join(", ")))
}

pub(super) fn handle_session_end(
    event: &ReceivedEvent<'_>,
    env: impl FnOnce() -> HookEnv,
    result: &mut HookResult,
) {
    let Some(mut call) = HookCall::open(event, env) else { return };
    let abandon = call.config.hooks.session_end.on_unresolved
        == rutter_memory::config::UnresolvedPolicy::Abandon;
    call.record(vec![EntryKind::Ended { abandon }], result);
    result.needs_maintenance = true;
    let client = call.client.clone();
    if call.is_before_deadline()
        && let Ok(store) = call.store()
        && let Ok(Some(summary)) = store.session_log_line(&client)
    {
        result.notes.push(summary);
    }
}
