//! Several hooks on one event: the client runs them in parallel and merges their answers.

use rutter_contract::EventName;
use rutter_contract::verdict::MessageKind;
use serde::Serialize;

use super::judgement::{JudgedTrial, TrialEffect};

/// The merged answer of several hooks to one payload. Hooks are numbers in the order of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MergedAnswer {
    /// The effect.
    pub effect: TrialEffect,
    /// The hooks that have this effect.
    pub decided_by: Vec<usize>,
    /// The hooks whose decision has no effect.
    pub overruled: Vec<usize>,
    /// True if another order of completion has another result.
    pub depends_on_order: bool,
    /// The contexts of all hooks, joined as the model reads them if the hooks end in this order.
    pub context: Option<String>,
    /// The texts that the model reads, one by one. The reason of an overruled decision is none of them.
    #[serde(skip)]
    pub texts: Vec<String>,
}

/// Returns the precedence of an effect: deny, defer, ask, allow, and then effects that decide nothing.
fn precedence(effect: TrialEffect) -> u8 {
    match effect {
        TrialEffect::Blocked => 9,
        TrialEffect::Deferred => 8,
        TrialEffect::Asked => 7,
        TrialEffect::Rewritten => 6,
        TrialEffect::Allowed => 5,
        TrialEffect::Stopped => 4,
        TrialEffect::Context => 3,
        TrialEffect::Message => 2,
        TrialEffect::Silent => 1,
        TrialEffect::Voided | TrialEffect::Failed | TrialEffect::TimedOut => 0,
    }
}

/// Returns true if an effect decides about the action.
fn is_decision(effect: TrialEffect) -> bool {
    (5..=9).contains(&precedence(effect))
}

/// Merges the answers of hooks to one payload as the client does. Returns None without hooks.
pub fn merge_answers(event: EventName, answers: &[(usize, &JudgedTrial)]) -> Option<MergedAnswer> {
    let effect =
        answers.iter().map(|(_, trial)| trial.effect).max_by_key(|effect| precedence(*effect))?;
    let with = |is_wanted: &dyn Fn(TrialEffect) -> bool| -> Vec<usize> {
        answers.iter().filter(|(_, trial)| is_wanted(trial.effect)).map(|(hook, _)| *hook).collect()
    };
    let decided_by = with(&|other| other == effect);
    let overruled = with(&|other| other != effect && is_decision(other));
    let rewrites = with(&|other| other == TrialEffect::Rewritten).len();
    // The first answer to a permission request wins; of several inputs, the last one.
    let is_first_wins = event == EventName::PermissionRequest && !overruled.is_empty();
    let depends_on_order = is_first_wins || (effect == TrialEffect::Rewritten && rewrites > 1);
    // The model reads one reason: that of the last denial, or of the first answer to a permission request.
    let reason_of = match event {
        EventName::PreToolUse => decided_by.last().copied(),
        EventName::PermissionRequest => {
            answers.iter().find(|(_, trial)| is_decision(trial.effect)).map(|(hook, _)| *hook)
        }
        _ => None,
    };
    let texts: Vec<String> = answers
        .iter()
        .filter_map(|(hook, trial)| Some((hook, trial.verdict.as_ref()?)))
        .flat_map(|(hook, verdict)| verdict.to_model.iter().map(move |message| (hook, message)))
        .filter(|(hook, message)| {
            let is_reason = matches!(message.kind, MessageKind::Reason | MessageKind::Stderr);
            !is_reason || reason_of.is_none_or(|deciding| deciding == **hook)
        })
        .map(|(_, message)| message.text.clone())
        .collect();
    let context = (!texts.is_empty()).then(|| texts.join("\n"));
    Some(MergedAnswer { effect, decided_by, overruled, depends_on_order, context, texts })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rutter_contract::version::Contract;

    use super::super::judgement::judge_trial;
    use super::super::trial::{HookStart, HookTrial, TestedHook, TrialEnding};
    use super::*;

    fn answer(event: EventName, stdout: &str, exit: i32) -> JudgedTrial {
        let hook = TestedHook {
            event,
            start: HookStart::Shell("x".to_owned()),
            plugin: None,
            timeout: None,
            blocks_on_failure: false,
        };
        let (ending, stdout) = (TrialEnding::Exited(exit), stdout.as_bytes().to_vec());
        let trial = HookTrial { ending, stdout, stderr: Vec::new(), took: Duration::ZERO };
        judge_trial(&hook, trial, Contract::newest())
    }

    fn merge(event: EventName, answers: &[(&str, i32)]) -> MergedAnswer {
        let trials: Vec<JudgedTrial> =
            answers.iter().map(|(stdout, exit)| answer(event, stdout, *exit)).collect();
        let numbered: Vec<(usize, &JudgedTrial)> = trials.iter().enumerate().collect();
        merge_answers(event, &numbered).unwrap()
    }

    const ALLOW: &str =
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#;
    const ASK: &str =
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}"#;
    const DENY: &str =
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#;

    #[test]
    fn deny_overrules_ask_and_allow() {
        let merged = merge(EventName::PreToolUse, &[(ALLOW, 0), (ASK, 0), (DENY, 0), ("", 0)]);
        assert_eq!(merged.effect, TrialEffect::Blocked);
        assert_eq!((merged.decided_by, merged.overruled), (vec![2], vec![0, 1]));
        let merged = merge(EventName::PreToolUse, &[(ALLOW, 0), ("", 1)]);
        assert_eq!((merged.effect, merged.overruled), (TrialEffect::Allowed, vec![]));
    }

    #[test]
    fn contexts_are_joined() {
        let merged =
            merge(EventName::SessionStart, &[("branch: main", 0), ("", 0), ("todo: none", 0)]);
        assert_eq!(merged.context.as_deref(), Some("branch: main\ntodo: none"));
        assert_eq!(merged.decided_by, [0, 2]);
    }

    #[test]
    fn one_reason_reaches_the_model() {
        let deny = |reason: &str| {
            format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"{reason}"}}}}"#
            )
        };
        let ask = deny("asked").replace("\"deny\"", "\"ask\"");
        let answers = [(&*deny("first"), 0), (&*ask, 0), (&*deny("second"), 0)];
        assert_eq!(merge(EventName::PreToolUse, &answers).texts, ["second"]);
        assert_eq!(merge(EventName::PreToolUse, &[(&ask, 0), ("", 1)]).texts, ["asked"]);
        let block = r#"{"decision":"block","reason":"look"}"#;
        assert_eq!(
            merge(EventName::PostToolUse, &[(block, 0), (block, 0)]).texts,
            ["look", "look"]
        );
    }

    #[test]
    fn order_matters_for_inputs_and_permission_requests() {
        let input = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls"}}}"#;
        assert!(merge(EventName::PreToolUse, &[(input, 0), (input, 0)]).depends_on_order);
        assert!(!merge(EventName::PreToolUse, &[(input, 0), (DENY, 0)]).depends_on_order);
        let behavior = |word: &str| {
            format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{{"behavior":"{word}"}}}}}}"#
            )
        };
        let merged =
            merge(EventName::PermissionRequest, &[(&behavior("allow"), 0), (&behavior("deny"), 0)]);
        assert!(merged.depends_on_order, "{merged:?}");
    }
}
