//! The client's verdict on a trial, as one word.

use std::fmt;

use rutter_contract::EventName;
use rutter_contract::verdict::{
    HookOutcome, HookRun, Message, MessageKind, MistakeSeverity, ToolCallEffect, TurnEffect,
    Verdict, decode_stdout, judge_answer,
};
use rutter_contract::version::{Contract, Version};
use serde::Serialize;
use serde_json::Value;

use super::trial::{HookTrial, TestedHook, TrialEnding};

/// The effect of a hook on what the event announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialEffect {
    /// The call, the prompt or the end of the turn is prevented.
    Blocked,
    /// The run ends with the call pending.
    Deferred,
    /// The client asks the user.
    Asked,
    /// The call runs with another input.
    Rewritten,
    /// The call is allowed without asking.
    Allowed,
    /// The turn ends.
    Stopped,
    /// Text for the model, and nothing else.
    Context,
    /// Text for the user, and nothing else.
    Message,
    /// The hook decides nothing and says nothing.
    Silent,
    /// The client drops the answer.
    Voided,
    /// The hook failed, and the event continues.
    Failed,
    /// The hook did not end in time, and the event continues.
    TimedOut,
}

impl TrialEffect {
    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Deferred => "deferred",
            Self::Asked => "asked",
            Self::Rewritten => "rewritten",
            Self::Allowed => "allowed",
            Self::Stopped => "stopped",
            Self::Context => "context",
            Self::Message => "message",
            Self::Silent => "silent",
            Self::Voided => "voided",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
        }
    }

    /// Returns true if the hook meant something else, or could not say it.
    pub fn is_fault(self) -> bool {
        matches!(self, Self::Voided | Self::Failed | Self::TimedOut)
    }
}

impl fmt::Display for TrialEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A trial with the client's verdict.
#[derive(Debug, Clone)]
pub struct JudgedTrial {
    /// The trial.
    pub trial: HookTrial,
    /// The effect.
    pub effect: TrialEffect,
    /// The verdict on the answer. None if there is no answer to judge.
    pub verdict: Option<Verdict>,
    /// The input that the call gets instead. None if the hook replaces none.
    pub new_input: Option<Value>,
}

/// Returns true for events on which the client ignores `onFailure`.
pub fn ignores_on_failure(event: EventName) -> bool {
    use EventName::{Stop, SubagentStop, TaskCompleted, TeammateIdle};
    matches!(event, Stop | SubagentStop | TaskCompleted | TeammateIdle)
}

/// The client's text for a failure that blocks.
const FAILED_CLOSED_TEXT: &str = "failed; blocking because onFailure is \"block\"";
/// First client version that reads `onFailure`.
const FIRST_ON_FAILURE_VERSION: Version = Version::new(2, 1, 295);

/// Returns true if a failure of the hook blocks.
pub(super) fn fails_closed(hook: &TestedHook, contract: Contract) -> bool {
    hook.blocks_on_failure
        && !ignores_on_failure(hook.event)
        && contract.has(FIRST_ON_FAILURE_VERSION)
}

/// Judges a trial as the client does.
pub fn judge_trial(hook: &TestedHook, trial: HookTrial, contract: Contract) -> JudgedTrial {
    let exit = match trial.ending {
        TrialEnding::Exited(code) => Some(code),
        // The client knows only that it failed.
        TrialEnding::Killed(_) => Some(1),
        TrialEnding::TimedOut | TrialEnding::NotStarted(_) => None,
    };
    let verdict = exit.map(|exit| {
        let (stdout, stderr) =
            (decode_stdout(&trial.stdout), String::from_utf8_lossy(&trial.stderr));
        let run = HookRun { event: hook.event, stdout: &stdout, stderr: &stderr, exit };
        judge_answer(&run, contract)
    });
    let effect = match (&verdict, &trial.ending) {
        (Some(verdict), _) => effect_of(verdict, exit.unwrap_or_default(), trial.stdout.is_empty()),
        (None, TrialEnding::TimedOut) => TrialEffect::TimedOut,
        (None, _) => TrialEffect::Failed,
    };
    let new_input = verdict.as_ref().and_then(|_| find_new_input(&trial.stdout));
    if !fails_closed(hook, contract) || !effect.is_fault() {
        return JudgedTrial { trial, effect, verdict, new_input };
    }
    let mut verdict = verdict;
    if let Some(verdict) = verdict.as_mut().filter(|verdict| verdict.tool.is_some()) {
        let mut tell = |text: &str| {
            let (kind, text) = (MessageKind::Stderr, text.trim().to_owned());
            verdict.to_model.push(Message { kind, text, truncated: false });
        };
        // The model reads what a failed hook has to say, or the answer that the client cannot use.
        let answer = serde_json::from_slice::<serde_json::Value>(&trial.stdout);
        if let Ok(answer) = answer.and_then(|answer| serde_json::to_string_pretty(&answer)) {
            tell(FAILED_CLOSED_TEXT);
            tell(&answer);
        } else {
            let stderr = String::from_utf8_lossy(&trial.stderr);
            tell(&format!("{FAILED_CLOSED_TEXT}\n{}", stderr.trim()));
        }
    }
    JudgedTrial { trial, effect: TrialEffect::Blocked, verdict, new_input }
}

/// Returns `updatedInput` of an answer.
fn find_new_input(stdout: &[u8]) -> Option<Value> {
    let answer: Value = serde_json::from_slice(stdout).ok()?;
    let places = ["/hookSpecificOutput/updatedInput", "/hookSpecificOutput/decision/updatedInput"];
    places.into_iter().find_map(|place| answer.pointer(place)).cloned()
}

fn effect_of(verdict: &Verdict, exit: i32, is_silent: bool) -> TrialEffect {
    let by_tool = match verdict.tool {
        Some(ToolCallEffect::Blocked) => Some(TrialEffect::Blocked),
        Some(ToolCallEffect::Deferred) => Some(TrialEffect::Deferred),
        Some(ToolCallEffect::Asks) => Some(TrialEffect::Asked),
        Some(ToolCallEffect::Rewritten) => Some(TrialEffect::Rewritten),
        Some(ToolCallEffect::Runs) => Some(TrialEffect::Allowed),
        Some(ToolCallEffect::Unchanged) | None => None,
    };
    if let Some(effect) = by_tool {
        return effect;
    }
    match verdict.turn {
        TurnEffect::Erased | TurnEffect::KeptGoing => return TrialEffect::Blocked,
        _ if verdict.is_prevented => return TrialEffect::Blocked,
        TurnEffect::Stops => return TrialEffect::Stopped,
        TurnEffect::Continues => {}
    }
    if !verdict.to_model.is_empty() {
        return TrialEffect::Context;
    }
    let is_lost = !verdict.dropped.is_empty()
        && verdict.severity().is_some_and(|severity| severity != MistakeSeverity::Info);
    if verdict.outcome == HookOutcome::Error {
        let is_failure = is_silent || exit != 0;
        return if is_failure { TrialEffect::Failed } else { TrialEffect::Voided };
    }
    if is_lost {
        TrialEffect::Voided
    } else if verdict.to_user.is_empty() {
        TrialEffect::Silent
    } else {
        TrialEffect::Message
    }
}

impl JudgedTrial {
    /// Returns the texts that the model or the user reads, or else the beginning of what the hook printed.
    pub fn texts(&self) -> Vec<&str> {
        let Some(verdict) = &self.verdict else { return Vec::new() };
        let messages = verdict.to_model.iter().chain(&verdict.to_user);
        let mut texts: Vec<&str> = Vec::new();
        for message in messages {
            if !texts.contains(&message.text.as_str()) {
                texts.push(&message.text);
            }
        }
        texts
    }

    /// Returns the effect in a sentence.
    pub fn sentence(&self) -> String {
        match (&self.verdict, &self.trial.ending, self.effect) {
            (_, _, TrialEffect::Blocked) if self.verdict.as_ref().is_none_or(|v| !is_block(v)) => {
                "The hook failed, and `onFailure` is \"block\".".to_owned()
            }
            (Some(_), TrialEnding::Killed(signal), _) => {
                format!("Signal {signal} ended the hook; the event continues.")
            }
            (Some(verdict), ..) => verdict.action.clone(),
            (None, TrialEnding::NotStarted(reason), _) => {
                format!("The hook cannot be started ({reason}); the event continues.")
            }
            (None, ..) => {
                "The hook did not end in time: the client drops its output, and the event continues.".to_owned()
            }
        }
    }
}

fn is_block(verdict: &Verdict) -> bool {
    effect_of(verdict, 0, false) == TrialEffect::Blocked
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::trial::HookStart;
    use super::*;

    fn judge(event: EventName, stdout: &str, ending: TrialEnding, blocks: bool) -> TrialEffect {
        let hook = TestedHook {
            event,
            start: HookStart::Shell("x".to_owned()),
            plugin: None,
            timeout: None,
            blocks_on_failure: blocks,
        };
        let trial = HookTrial {
            ending,
            stdout: stdout.as_bytes().to_vec(),
            stderr: b"why".to_vec(),
            took: Duration::ZERO,
        };
        let judged = judge_trial(&hook, trial, Contract::newest());
        assert!(judged.sentence().ends_with('.'), "{}", judged.sentence());
        judged.effect
    }

    #[test]
    fn effects_have_names() {
        use TrialEnding::{Exited, Killed, TimedOut};
        let decision = |word: &str| {
            format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{word}"}}}}"#
            )
        };
        let guard = EventName::PreToolUse;
        for (event, stdout, ending, expected) in [
            (guard, decision("deny"), Exited(0), TrialEffect::Blocked),
            (guard, decision("allow"), Exited(0), TrialEffect::Allowed),
            (guard, decision("ask"), Exited(0), TrialEffect::Asked),
            (guard, decision("defer"), Exited(0), TrialEffect::Deferred),
            (guard, decision("never"), Exited(0), TrialEffect::Voided),
            (guard, r#"{"permissionDecision":"deny"}"#.to_owned(), Exited(0), TrialEffect::Voided),
            (guard, String::new(), Exited(2), TrialEffect::Blocked),
            (guard, String::new(), Exited(1), TrialEffect::Failed),
            (guard, String::new(), Exited(0), TrialEffect::Silent),
            (guard, decision("deny"), TimedOut, TrialEffect::TimedOut),
            (guard, String::new(), Killed(11), TrialEffect::Failed),
            (EventName::Stop, String::new(), Exited(2), TrialEffect::Blocked),
            (EventName::PreCompact, String::new(), Exited(2), TrialEffect::Blocked),
            (EventName::TaskCreated, String::new(), Exited(2), TrialEffect::Blocked),
            (
                EventName::UserPromptSubmit,
                r#"{"decision":"block"}"#.to_owned(),
                Exited(0),
                TrialEffect::Blocked,
            ),
            (EventName::SessionStart, "branch: main".to_owned(), Exited(0), TrialEffect::Context),
            (EventName::SessionStart, String::new(), Exited(2), TrialEffect::Failed),
            (EventName::PostToolUse, String::new(), Exited(2), TrialEffect::Context),
        ] {
            assert_eq!(
                judge(event, &stdout, ending.clone(), false),
                expected,
                "{event} {stdout} {ending:?}"
            );
        }
    }

    #[test]
    fn failures_block_where_the_entry_says_so() {
        use TrialEnding::{Exited, TimedOut};
        assert_eq!(judge(EventName::PreToolUse, "", Exited(1), true), TrialEffect::Blocked);
        assert_eq!(judge(EventName::PreToolUse, "", TimedOut, true), TrialEffect::Blocked);
        assert_eq!(
            judge(EventName::Stop, "", Exited(1), true),
            TrialEffect::Failed,
            "ignored there"
        );
        assert_eq!(judge(EventName::PreToolUse, "", Exited(0), true), TrialEffect::Silent);
    }

    proptest::proptest! {
        #[test]
        fn any_output_is_judged(
            stdout in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
            shape in 0_usize..4,
            exit in 0_i32..256,
            event in 0_usize..EventName::ALL.len(),
            blocks in proptest::bool::ANY,
        ) {
            let text = String::from_utf8_lossy(&stdout);
            let stdout = match shape {
                0 => text.into_owned(),
                1 => format!("{{{text}}}"),
                2 => format!("{{\"decision\":{text:?}}}"),
                _ => format!("{{\"hookSpecificOutput\":{{\"hookEventName\":{text:?}}}}}"),
            };
            let event = EventName::ALL.into_iter().nth(event).unwrap();
            judge(event, &stdout, TrialEnding::Exited(exit), blocks);
        }
    }
}
