//! The UserPromptSubmit hook: shows lessons that fit the prompt, and verdicts on predictions that were not shown yet.

use std::borrow::Cow;

use rutter_contract::input::UserPromptSubmit;

use super::{HookCall, HookEnv, HookResult, ReceivedEvent, fingerprint};
use crate::context::{Context, OmissionReason};
use crate::messages;
use crate::recall_context::{self, Audience, ContextRequest};
use rutter_memory::config::{Notify, RecallScope};
use rutter_memory::log::{self, NearMiss};
use rutter_memory::store::entry::EntryKind;

pub(super) fn handle_prompt(
    event: &ReceivedEvent<'_>,
    env: impl FnOnce() -> HookEnv,
    result: &mut HookResult,
) {
    let Some(prompt) = event.wire.text("prompt") else { return };
    if is_client_generated(event.wire.text("source").as_deref(), &prompt) {
        return;
    }
    let Some(mut call) = HookCall::open(event, env) else { return };
    // A prompt is recorded as activity of the session, but is not worth an entry in the spool.
    if call.store().is_err() {
        return;
    }
    let (mut shown, mut texts) = (Vec::new(), Vec::new());
    if call.may_print() {
        let settled = pending_verdict(&mut call, result);
        let context = recall_for_prompt(&mut call, &prompt, result);
        log_near_miss(&call, &prompt, &context);
        if call.may_print() {
            shown.extend(call.shown_context_entries(&fingerprint(&prompt), &context));
            if let Some((entry, text)) = settled {
                shown.push(entry);
                texts.push(text);
            }
            if call.config.notify != Notify::Off {
                call.notice =
                    first_item_notice(&mut call, &context, result).filter(|_| texts.is_empty());
            }
            texts.push(context.markdown());
        }
    }
    texts.retain(|text| !text.is_empty());
    // One transaction is enough here: a prompt that is lost with a panic was only activity of the session.
    if call.record_with_shown(vec![EntryKind::Seen], shown, result) {
        call.print_context::<UserPromptSubmit>(&texts.join("\n\n"), result);
    }
}

/// Prefixes of tags in prompts that the client generates.
const CLIENT_TAG_PREFIXES: [&str; 8] = [
    "task-",
    "command-",
    "local-command",
    "bash-",
    "system-",
    "teammate-",
    "background-",
    "agent-",
];

/// Returns true if the client generated the prompt, for example to report a finished task.
fn is_client_generated(source: Option<&str>, prompt: &str) -> bool {
    let by_source =
        matches!(source, Some("system" | "loop_wakeup" | "schedule_wakeup" | "poll_event"));
    let tag = prompt.trim_start().strip_prefix('<').and_then(|rest| rest.split(['>', ' ']).next());
    // Users type tags too; only the client's tags count.
    by_source
        || tag.is_some_and(|tag| CLIENT_TAG_PREFIXES.iter().any(|start| tag.starts_with(start)))
}

/// Returns the prompt without the name of a slash command.
pub fn strip_slash_command(prompt: &str) -> &str {
    let trimmed = prompt.trim();
    match trimmed.strip_prefix('/').and_then(|rest| rest.split_once(char::is_whitespace)) {
        Some((name, rest)) if !name.contains('/') => rest,
        None if trimmed.starts_with('/') && !trimmed[1..].contains('/') => "",
        _ => trimmed,
    }
}

/// Minimum likelihood of a row that is logged as a near miss.
const MIN_NEAR_MISS: f64 = 0.25;

/// Logs the best row below the floor, if nothing was shown, so that the floor can be judged later.
fn log_near_miss(call: &HookCall, prompt: &str, context: &Context) {
    if !context.items.is_empty() {
        return;
    }
    let below = context.left_out.iter().filter(|(candidate, reason)| {
        *reason == OmissionReason::BelowFloor && candidate.confidence >= MIN_NEAR_MISS
    });
    let best = below.max_by(|(one, _), (other, _)| one.confidence.total_cmp(&other.confidence));
    if let Some((missed, _)) = best {
        let (at, row, confidence) = (call.env.now, missed.row, missed.confidence);
        let missed = NearMiss { at, row, confidence, prompt: fingerprint(prompt) };
        // Only a record for later; the prompt goes on without it.
        drop(log::append_near_miss(&call.env.files, &missed));
    }
}

/// Tags of blocks that the client adds to what the user typed.
const CLIENT_BLOCK_TAGS: [&str; 2] = ["ide_opened_file", "system-reminder"];

/// Returns the prompt without the blocks that the client adds: the file that is open in the editor says little about
/// what the user asks for.
fn strip_client_blocks(prompt: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(prompt);
    for tag in CLIENT_BLOCK_TAGS {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        while let Some(start) = text.find(&open) {
            let Some(length) = text[start..].find(&close) else { break };
            let end = start + length + close.len();
            text = Cow::Owned(format!("{}{}", &text[..start], &text[end..]));
        }
    }
    text
}

/// Returns the gist of the first item in one line, for the user.
fn first_item_notice(
    call: &mut HookCall,
    context: &Context,
    result: &mut HookResult,
) -> Option<String> {
    let first = context.items.first()?;
    let store = call.store().ok()?;
    result.ok_or_log("notice", recall_context::row_notice(store.reader(), first.row, first.kind))?
}

fn recall_for_prompt(call: &mut HookCall, prompt: &str, result: &mut HookResult) -> Context {
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let (now, settings) = (call.env.now, call.config.hooks.user_prompt_submit.clone());
    let everywhere = call.config.scope.recall == RecallScope::Everywhere;
    let prompt = strip_client_blocks(prompt);
    let asked = strip_slash_command(&prompt);
    if asked.is_empty() {
        return Context::default();
    }
    let request = ContextRequest {
        text: asked,
        place: &place,
        everywhere,
        kinds: &[],
        depth: settings.context_depth,
        limit: settings.limit as usize,
        tokens: settings.token_budget as usize,
        audience: Audience::Prompt,
        to: Some((&client, agent.as_ref())),
    };
    match call.store() {
        Ok(store) => result
            .ok_or_log("recall", recall_context::recall_context(store.reader(), &request, now))
            .unwrap_or_default(),
        Err(_) => Context::default(),
    }
}

/// Returns the verdict of a run on the prediction, if the deadline prevented it from being shown after the run.
fn pending_verdict(call: &mut HookCall, result: &mut HookResult) -> Option<(EntryKind, String)> {
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    if !call.config.hooks.outcome_capture.auto_capture {
        return None;
    }
    let store = call.store().ok()?;
    let settled = store
        .active_ghap(&place, &client, agent.as_ref())
        .and_then(|ghap| ghap.map_or(Ok(None), |ghap| store.run_verdict(ghap, None)));
    let settled = result.ok_or_log("prediction", settled)??;
    let text = messages::render_verdict(&settled, &call.interface());
    Some((EntryKind::Told(settled.ghap.id, settled.told), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_prompts_are_ignored() {
        for (source, prompt, machine) in [
            (None, "<task-notification>\n<task-id>b1</task-id>", true),
            (None, "  <local-command-stdout>ok</local-command-stdout>", true),
            (None, "<command-name>/x</command-name>", true),
            (Some("schedule_wakeup"), "look again", true),
            (Some("user"), "look again", false),
            (None, "<div> is not centred", false),
            (None, "<my-component> hangs on the second click", false),
            (None, "< 5 ms please", false),
            (None, "why does <my-Element> not render", false),
            (None, "", false),
        ] {
            assert_eq!(is_client_generated(source, prompt), machine, "{prompt}");
        }
    }

    #[test]
    fn client_blocks_are_stripped() {
        for (prompt, expected) in [
            ("<ide_opened_file>The user opened a.rs</ide_opened_file>\nfix it", "\nfix it"),
            ("a <system-reminder>x</system-reminder>b<system-reminder>y</system-reminder>", "a b"),
            ("why is <system-reminder> shown", "why is <system-reminder> shown"),
            ("plain", "plain"),
        ] {
            assert_eq!(strip_client_blocks(prompt), expected);
        }
    }

    #[test]
    fn slash_command_name_is_stripped() {
        for (prompt, expected) in [
            ("/fix the flaky test", "the flaky test"),
            ("/clear", ""),
            ("/usr/bin/env is missing", "/usr/bin/env is missing"),
            (" fix it ", "fix it"),
        ] {
            assert_eq!(strip_slash_command(prompt), expected);
        }
    }
}
