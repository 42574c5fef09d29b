//! The report of a live run: each hook, its runs, and what became of its answers.

use rutter_check::live::{CALLABLE_TOOLS, Disagreement, FiredHook, HookFiring};
use rutter_check::matcher::{IfRule, tool_names};
use rutter_check::tester::{TrialEffect, TrialEnding};
use rutter_contract::EventName;
use rutter_contract::table::event_spec;
use rutter_contract::verdict::MistakeSeverity;
use rutter_contract::version::Contract;
use serde::Serialize;

use super::plan::{LiveHook, LivePlan, start_of};
use super::session::LiveSession;
use crate::ui::one_line;

/// Length of a text above which it is no coincidence that the model read it.
const MIN_CERTAIN_BYTES: usize = 16;
/// Longest text that is shown as the model reads it.
const MAX_TEXT_CHARS: usize = 2_000;

/// The report on a client.
#[derive(Debug, Serialize)]
pub(super) struct LiveReport {
    pub(super) client: String,
    pub(super) path: String,
    pub(super) sessions: usize,
    pub(super) hooks: Vec<LiveHookReport>,
    pub(super) disagreements: Vec<Disagreement>,
    pub(super) notes: Vec<String>,
}

/// The report on a hook.
#[derive(Debug, Serialize)]
pub(super) struct LiveHookReport {
    pub(super) event: EventName,
    pub(super) matcher: Option<String>,
    pub(super) command: String,
    pub(super) place: String,
    pub(super) state: HookState,
    /// The reason for which the hook did not run.
    pub(super) reason: Option<String>,
    pub(super) runs: Vec<LiveRunReport>,
}

/// The state of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum HookState {
    Fired,
    NotFired,
    NotTried,
}

/// The report on a run of a hook.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct LiveRunReport {
    /// The value that the matcher was compared with.
    pub(super) value: Option<String>,
    pub(super) ending: TrialEnding,
    pub(super) took_ms: f64,
    /// The place among the hooks of the same firing, by the time of their ends, from 1.
    pub(super) order: usize,
    /// Number of hooks of this firing.
    pub(super) of: usize,
    pub(super) effect: TrialEffect,
    pub(super) sentence: String,
    /// True if the tool ran, for events that announce a call.
    pub(super) tool_ran: Option<bool>,
    /// The texts that reached the model, as it read them.
    pub(super) to_model: Vec<String>,
    /// The texts that reached the user.
    pub(super) to_user: Vec<String>,
    pub(super) is_async: bool,
    /// True if the client killed the hook before its time limit, because another one had answered.
    pub(super) is_cut_off: bool,
    /// The mistakes in the answer, with their codes.
    pub(super) mistakes: Vec<String>,
}

impl LiveReport {
    /// Returns true if every hook that could be tried fired, and every answer counted as `explain` says.
    pub(super) fn is_good(&self) -> bool {
        let is_lost = |run: &LiveRunReport| run.effect.is_fault() && !run.is_cut_off;
        self.disagreements.is_empty()
            && self
                .hooks
                .iter()
                .all(|hook| hook.state != HookState::NotFired && !hook.runs.iter().any(is_lost))
    }
}

/// Reports on the hooks of a plan after its sessions.
pub(super) fn report_hooks(
    plan: &LivePlan,
    sessions: &[LiveSession],
    contract: Contract,
) -> Vec<LiveHookReport> {
    let mut reports: Vec<LiveHookReport> = Vec::new();
    for (number, hook) in plan.hooks.iter().enumerate() {
        // Each session has its prompt and its end; the session that is made for the event has its runs.
        let own = sessions.iter().filter(|session| session.planned.events.contains(&hook.event));
        let mut runs: Vec<LiveRunReport> =
            own.flat_map(|session| report_runs(hook, session)).collect();
        if runs.is_empty() {
            runs = sessions.iter().flat_map(|session| report_runs(hook, session)).collect();
        }
        let is_same = |other: &LiveHook| {
            let keys = ["command", "args", "if"];
            other.event == hook.event
                && keys.iter().all(|key| other.handler.get(key) == hook.handler.get(key))
        };
        let twin = plan.hooks[..number].iter().position(|other| is_same(other) && !other.is_void);
        let is_unfired = runs.is_empty();
        if let Some(twin) = twin {
            // Of two equal entries that match a call, the client runs one.
            runs.retain(|run| !reports[twin].runs.contains(run));
        }
        let is_duplicate = |twin: &usize| {
            let is_same_matcher = hook.matcher_text == plan.hooks[*twin].matcher_text;
            runs.is_empty() && (!is_unfired || is_same_matcher)
        };
        let (state, reason) = match twin.filter(is_duplicate) {
            Some(twin) => {
                let place = &plan.hooks[twin].place;
                let reason = format!("a duplicate of {place}: the client runs one of them");
                (HookState::NotTried, Some(reason))
            }
            None if !runs.is_empty() => (HookState::Fired, None),
            None => find_reason(hook, plan, sessions, contract),
        };
        let runs = if state == HookState::Fired { runs } else { Vec::new() };
        reports.push(LiveHookReport {
            event: hook.event,
            matcher: hook.matcher_text.clone(),
            command: command_line(hook),
            place: hook.place.clone(),
            state,
            reason,
            runs,
        });
    }
    reports
}

/// Returns the command of a hook as written, as one line.
fn command_line(hook: &LiveHook) -> String {
    one_line(&hook.start().to_line())
}

/// Returns the reports on the runs of a hook in a session, for payloads that its matcher takes.
fn report_runs(hook: &LiveHook, session: &LiveSession) -> Vec<LiveRunReport> {
    let Some(wrapped) = session.wrapper.find(hook.event, &hook.handler) else { return Vec::new() };
    let field = event_spec(hook.event).matcher.field;
    let mut runs = Vec::new();
    for firing in session.firings.iter().filter(|firing| firing.event == hook.event) {
        let value = field.and_then(|field| firing.payload[field].as_str()).map(str::to_owned);
        let is_taken =
            value.as_ref().is_none_or(|value| hook.matcher.matches(value) != Some(false))
                || hook.matcher.matches_as_bash();
        let Some(at) = firing.hooks.iter().position(|fired| fired.hook == wrapped) else {
            continue;
        };
        if is_taken {
            runs.push(report_run((firing, at), value, session));
        }
    }
    runs
}

fn report_run(
    (firing, at): (&HookFiring, usize),
    value: Option<String>,
    session: &LiveSession,
) -> LiveRunReport {
    let fired = &firing.hooks[at];
    let trial = &fired.judged.trial;
    let announces = matches!(firing.event, EventName::PreToolUse | EventName::PermissionRequest);
    LiveRunReport {
        value,
        ending: trial.ending.clone(),
        took_ms: (trial.took.as_secs_f64() * 10_000.0).round() / 10.0,
        order: at + 1,
        of: firing.hooks.len(),
        effect: fired.judged.effect,
        sentence: fired.judged.sentence(),
        tool_ran: announces.then(|| session.record.has_tool_run(&firing.payload)).flatten(),
        to_model: texts_to_model(fired, session),
        to_user: fired
            .judged
            .verdict
            .iter()
            .flat_map(|verdict| &verdict.to_user)
            .filter(|message| session.record.reached_user(message.text.trim()).is_some())
            .map(|message| message.text.clone())
            .collect(),
        is_async: fired.is_async,
        is_cut_off: fired.is_cut_off,
        mistakes: fired
            .judged
            .verdict
            .iter()
            .flat_map(|verdict| &verdict.diagnostics)
            .filter(|mistake| mistake.severity != MistakeSeverity::Info)
            .map(|mistake| format!("[{}] {}; {}", mistake.code, mistake.message, mistake.help))
            .collect(),
    }
}

/// Returns the texts of an answer that reached the model, in the client's words. The command of the recorder is replaced by
/// that of the hook.
fn texts_to_model(fired: &FiredHook, session: &LiveSession) -> Vec<String> {
    let hooks = session.wrapper.hooks();
    let own = &hooks[fired.hook];
    let original = start_of(&own.handler).to_line();
    // Another hook may have said the same.
    let others: Vec<&str> = hooks
        .iter()
        .map(|hook| hook.recorder_line.as_str())
        .filter(|line| *line != own.recorder_line)
        .collect();
    let all = session.record.texts_to_model();
    let mut texts = Vec::new();
    for message in fired.judged.verdict.iter().flat_map(|verdict| &verdict.to_model) {
        let wanted = message.text.trim();
        let excerpts = all
            .iter()
            .filter(|_| !wanted.is_empty())
            .flat_map(|told| told.text.match_indices(wanted).map(|(at, _)| (told.text, at)))
            .map(|(text, at)| (lines_around(text, at, wanted.len()), wanted))
            .filter(|(text, _)| !others.iter().any(|line| text.contains(line)));
        let best = excerpts
            .map(|(text, wanted)| (fit_of_excerpt(text, wanted, &own.recorder_line), text))
            // Of equals the first: later requests repeat the earlier ones.
            .reduce(|best, next| if next.0 > best.0 { next } else { best });
        let Some((_, excerpt)) = best.filter(|(fit, _)| *fit > 0) else { continue };
        let excerpt = excerpt.replace(&own.recorder_line, &original);
        let short: String = excerpt.chars().take(MAX_TEXT_CHARS).collect();
        if !texts.contains(&short) {
            texts.push(short);
        }
    }
    texts
}

/// Returns how well lines that the model read fit the text of a hook; 0 if they only happen to contain it.
fn fit_of_excerpt(lines: &str, wanted: &str, recorder_line: &str) -> u8 {
    let is_named = lines.contains(recorder_line) || lines.contains(" hook ");
    let ends = lines.trim_end().ends_with(wanted);
    match () {
        () if is_named && ends => 4,
        () if lines.trim() == wanted => 3,
        () if is_named && wanted.len() >= MIN_CERTAIN_BYTES => 2,
        () => u8::from(wanted.len() >= MIN_CERTAIN_BYTES),
    }
}

/// Returns the whole lines of a text in which a part of it lies.
fn lines_around(text: &str, at: usize, length: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |line| line + 1);
    let end = at + length;
    let end = text[end..].find('\n').map_or(text.len(), |line| end + line);
    &text[start..end]
}

/// Returns the reason for which a hook did not run.
fn find_reason(
    hook: &LiveHook,
    plan: &LivePlan,
    sessions: &[LiveSession],
    contract: Contract,
) -> (HookState, Option<String>) {
    let event = hook.event;
    let not_fired = |reason: String| (HookState::NotFired, Some(reason));
    let not_tried = |reason: String| (HookState::NotTried, Some(reason));
    if hook.is_void {
        return not_fired(
            "the client ignores the whole file; `rutter contract lint` says why".to_owned(),
        );
    }
    if let Some(place) = &plan.disabled {
        return not_fired(format!("disableAllHooks is set: {place}"));
    }
    if !event_spec(event).is_at(contract) {
        return not_tried(format!("client {} has no event {event}", contract.version()));
    }
    let rule = hook.handler["if"].as_str().map(IfRule::parse);
    if let Some(fault) = rule.as_ref().and_then(|rule| rule.find_fault(event, contract)) {
        return not_fired(format!(
            "its `if` never matches ({fault:?}); `rutter contract lint` says why"
        ));
    }
    let values: Vec<String> =
        sessions.iter().flat_map(|session| session.matcher_values(event)).collect();
    let has_fired = sessions.iter().any(|session| session.record.calls_of(event).next().is_some());
    if let Some(session) = sessions.iter().find(|session| session.planned.events.contains(&event)) {
        let uncalled: Vec<&String> = session
            .planned
            .tools
            .iter()
            .filter(|tool| hook.matcher.matches(tool) == Some(true) && !values.contains(tool))
            .filter(|tool| {
                !CALLABLE_TOOLS.contains(&tool.as_str())
                    && (tool.starts_with("mcp__") || tool_names(contract).contains(&tool.as_str()))
            })
            .collect();
        if let Some(tool) = uncalled.first()
            && !values.iter().any(|value| hook.matcher.matches(value) == Some(true))
        {
            return not_tried(format!("no call of {tool} can be made here"));
        }
    }
    if !has_fired {
        return not_fired(blocked_before(event, sessions).unwrap_or_else(|| {
            format!("{event} did not fire in the session; another hook may have ended it")
        }));
    }
    let is_matched = |value: &String| hook.matcher.matches(value) == Some(true);
    if event_spec(event).matcher.field.is_some() && !values.iter().any(is_matched) {
        let seen = values.join(", ");
        return not_fired(format!("its matcher matched nothing; {event} fired for {seen}"));
    }
    match rule {
        Some(IfRule::Tool { content: Some(_), .. }) => {
            not_tried("its `if` did not match the ordinary call that was made".to_owned())
        }
        _ => not_fired("the client did not run it, although the event fired".to_owned()),
    }
}

/// Returns the hook that prevented the calls after which an event would have fired.
fn blocked_before(event: EventName, sessions: &[LiveSession]) -> Option<String> {
    use EventName::{PostToolBatch, PostToolUse, PostToolUseFailure, PreToolUse, UserPromptSubmit};
    let session = sessions.iter().find(|session| session.planned.events.contains(&event))?;
    let earlier: &[EventName] = match event {
        PostToolUse | PostToolUseFailure | PostToolBatch => &[UserPromptSubmit, PreToolUse],
        _ => &[UserPromptSubmit],
    };
    let firing = session.firings.iter().find(|firing| {
        earlier.contains(&firing.event)
            && firing.hooks.iter().any(|fired| {
                matches!(
                    fired.judged.effect,
                    TrialEffect::Blocked
                        | TrialEffect::Asked
                        | TrialEffect::Deferred
                        | TrialEffect::Stopped
                )
            })
    })?;
    Some(format!("{event} did not fire: a {} hook prevented it", firing.event))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_need_the_words_of_the_client() {
        let recorder = "/tmp/rutter record-hook 1";
        let fit = |lines: &str, wanted: &str| fit_of_excerpt(lines, wanted, recorder);
        assert_eq!(fit("never infer pronouns from a name; no other", "no"), 0);
        assert_eq!(fit("PreToolUse:Bash hook returned blocking error: no", "no"), 4);
        assert_eq!(fit("[/tmp/rutter record-hook 1]: no", "no"), 4);
        assert_eq!(fit("no", "no"), 3);
        assert_eq!(fit("a reason: no forced pushes here, please", "no forced pushes here"), 1);
    }
}
