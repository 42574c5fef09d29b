//! The UserPromptSubmit hook: shows lessons that fit the prompt, and verdicts on predictions that were not shown yet.

use rutter_contract::input::{RawPayload, UserPromptSubmit};

use super::{Call, Heard, fingerprint};
use crate::context::Context;
use crate::recall_context::{self, Audience, Wanted};
use crate::speech;
use rutter_memory::config::{Notify, Recall};
use rutter_memory::store::entry::What;

const EVENT: &str = "UserPromptSubmit";

pub(super) fn hear(wire: &RawPayload<'_>, call: impl FnOnce() -> Option<Call>, heard: &mut Heard) {
    let Some(prompt) = wire.text("prompt") else { return };
    if is_machines(wire.text("source").as_deref(), &prompt) {
        return;
    }
    let Some(mut call) = call() else { return };
    // A prompt is recorded as activity of the session, but is not worth an entry in the spool.
    if call.store().is_err() {
        return;
    }
    let (mut records, mut texts) = (vec![What::Seen], Vec::new());
    if call.may_speak() {
        let settled = settled(&mut call, heard);
        let context = recalled(&mut call, &prompt, heard);
        if call.may_speak() {
            records.extend(call.shown_context(EVENT, &fingerprint(&prompt), &context));
            if let Some((told, text)) = settled {
                records.push(told);
                texts.push(text);
            }
            if call.config.notify != Notify::Off {
                call.notice = notice(&mut call, &context, heard).filter(|_| texts.is_empty());
            }
            texts.push(context.markdown());
        }
    }
    texts.retain(|text| !text.is_empty());
    // All entries are written in one transaction, before the text is printed.
    if !call.record_said(records, heard) {
        return call.record(vec![What::Seen], heard);
    }
    call.say::<UserPromptSubmit>(&texts.join("\n\n"), heard);
}

/// Prefixes of tags in prompts that the client generates.
const MACHINES: [&str; 8] = [
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
fn is_machines(source: Option<&str>, prompt: &str) -> bool {
    let by_source =
        matches!(source, Some("system" | "loop_wakeup" | "schedule_wakeup" | "poll_event"));
    let tag = prompt.trim_start().strip_prefix('<').and_then(|rest| rest.split(['>', ' ']).next());
    // Users type tags too; only the client's tags count.
    by_source || tag.is_some_and(|tag| MACHINES.iter().any(|start| tag.starts_with(start)))
}

/// Returns the prompt without the name of a slash command.
pub fn asked(prompt: &str) -> &str {
    let trimmed = prompt.trim();
    match trimmed.strip_prefix('/').and_then(|rest| rest.split_once(char::is_whitespace)) {
        Some((name, rest)) if !name.contains('/') => rest,
        None if trimmed.starts_with('/') && !trimmed[1..].contains('/') => "",
        _ => trimmed,
    }
}

/// Returns the gist of the first item in one line, for the user.
fn notice(call: &mut Call, context: &Context, heard: &mut Heard) -> Option<String> {
    let first = context.items.first()?;
    let store = call.store().as_ref().ok()?;
    heard.take("notice", recall_context::notice(store.reader(), first.row, first.kind))?
}

fn recalled(call: &mut Call, prompt: &str, heard: &mut Heard) -> Context {
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let (now, settings) = (call.around.now, call.config.hooks.user_prompt_submit.clone());
    let everywhere = call.config.scope.recall == Recall::Everywhere;
    let asked = asked(prompt);
    if asked.is_empty() {
        return Context::default();
    }
    let wanted = Wanted {
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
        Ok(store) => heard
            .take("recall", recall_context::recall_context(store.reader(), &wanted, now))
            .unwrap_or_default(),
        Err(_) => Context::default(),
    }
}

/// Returns the verdict of a run on the prediction, if the deadline prevented it from being shown after the run.
fn settled(call: &mut Call, heard: &mut Heard) -> Option<(What, String)> {
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    if !call.config.hooks.outcome_capture.auto_capture {
        return None;
    }
    let store = call.store().as_ref().ok()?;
    let settled = store
        .active(&place, &client, agent.as_ref())
        .and_then(|ghap| ghap.map_or(Ok(None), |ghap| store.settled(ghap, None)));
    let settled = heard.take("prediction", settled)??;
    let text = speech::settled(&settled, &call.hands());
    Some((What::Told(settled.ghap.id, settled.told), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_are_left_alone_and_people_are_not() {
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
            assert_eq!(is_machines(source, prompt), machine, "{prompt}");
        }
    }

    #[test]
    fn the_name_of_a_command_is_not_asked_for() {
        for (prompt, expected) in [
            ("/fix the flaky test", "the flaky test"),
            ("/clear", ""),
            ("/usr/bin/env is missing", "/usr/bin/env is missing"),
            (" fix it ", "fix it"),
        ] {
            assert_eq!(asked(prompt), expected);
        }
    }
}
