//! Several hooks on one event: the client runs them in parallel and merges their answers.

use rutter_contract::EventName;
use rutter_contract::verdict::MessageKind;
use serde::Serialize;
use serde_json::Value;

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
    /// The results of all orders of completion, if they differ.
    pub outcomes: Vec<OrderOutcome>,
    /// The contexts of all hooks, joined as the model reads them if the hooks end in this order.
    pub context: Option<String>,
    /// The texts that the model reads, one by one. The reason of an overruled decision is none of them.
    #[serde(skip)]
    pub texts: Vec<String>,
}

/// The result of several hooks if one of them ends at a certain place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OrderOutcome {
    /// The hook.
    pub hook: usize,
    /// The place at which the hook must end to have this result.
    pub place: CompletionPlace,
    /// The effect.
    pub effect: TrialEffect,
    /// The input that the call then gets. None if it keeps its own.
    pub new_input: Option<Value>,
}

/// The place of a hook in the order of completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CompletionPlace {
    /// Before all other hooks that answer: the first answer to a permission request wins.
    First,
    /// After all other hooks that replace the input: the last input wins.
    Last,
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
    let outcomes = list_outcomes(event, effect, answers);
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
    let depends_on_order = !outcomes.is_empty();
    Some(MergedAnswer { effect, decided_by, overruled, depends_on_order, outcomes, context, texts })
}

/// Lists the results of the orders of completion. Returns nothing if they are all the same.
fn list_outcomes(
    event: EventName,
    effect: TrialEffect,
    answers: &[(usize, &JudgedTrial)],
) -> Vec<OrderOutcome> {
    let is_request = event == EventName::PermissionRequest;
    let place = if is_request { CompletionPlace::First } else { CompletionPlace::Last };
    // A call that is denied or deferred gets no input.
    let takes_input = !matches!(effect, TrialEffect::Blocked | TrialEffect::Deferred);
    let competes = |trial: &JudgedTrial| {
        if is_request {
            is_decision(trial.effect)
        } else {
            takes_input && trial.new_input.is_some()
        }
    };
    let outcomes: Vec<OrderOutcome> = (answers.iter().filter(|(_, trial)| competes(trial)))
        .map(|(hook, trial)| {
            let effect = if is_request { trial.effect } else { effect };
            OrderOutcome { hook: *hook, place, effect, new_input: trial.new_input.clone() }
        })
        .collect();
    let is_same = |one: &OrderOutcome, other: &OrderOutcome| {
        (one.effect, &one.new_input) == (other.effect, &other.new_input)
    };
    match outcomes.first() {
        Some(first) if outcomes.iter().any(|other| !is_same(first, other)) => outcomes,
        _ => Vec::new(),
    }
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

    fn rewrite(command: &str, decision: &str) -> String {
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{decision}","updatedInput":{{"command":"{command}"}}}}}}"#
        )
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
    fn precedence_of_guards_has_no_order() {
        let defer =
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}"#;
        let by_precedence = [DENY, defer, ASK, ALLOW];
        for (strong, one) in by_precedence.iter().enumerate() {
            for (weak, other) in by_precedence.iter().enumerate().skip(strong + 1) {
                for answers in [[(*one, 0), (*other, 0)], [(*other, 0), (*one, 0)]] {
                    let merged = merge(EventName::PreToolUse, &answers);
                    let winner = usize::from(answers[0].0 != *one);
                    assert_eq!(merged.decided_by, [winner], "{strong} and {weak}");
                    assert_eq!(merged.overruled, [1 - winner], "{strong} and {weak}");
                    assert!(!merged.depends_on_order && merged.outcomes.is_empty());
                }
            }
        }
    }

    #[test]
    fn last_input_wins() {
        let (ls, pwd) = (rewrite("ls", "allow"), rewrite("pwd", "allow"));
        let merged = merge(EventName::PreToolUse, &[(&ls, 0), ("", 0), (&pwd, 0)]);
        assert!(merged.depends_on_order);
        let outcomes: Vec<_> = (merged.outcomes.iter())
            .map(|outcome| {
                (
                    outcome.hook,
                    outcome.place,
                    outcome.new_input.as_ref().unwrap()["command"].clone(),
                )
            })
            .collect();
        let last = CompletionPlace::Last;
        assert_eq!(outcomes, [(0, last, "ls".into()), (2, last, "pwd".into())]);
        for answers in [[(&*ls, 0), (&*ls, 0)], [(&*ls, 0), (DENY, 0)]] {
            assert!(!merge(EventName::PreToolUse, &answers).depends_on_order, "{answers:?}");
        }
    }

    #[test]
    fn first_answer_to_permission_request_wins() {
        let behavior = |word: &str| {
            format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{{"behavior":"{word}"}}}}}}"#
            )
        };
        let (allow, deny) = (behavior("allow"), behavior("deny"));
        let merged = merge(EventName::PermissionRequest, &[(&allow, 0), (&deny, 0), ("", 0)]);
        let outcomes: Vec<_> = merged
            .outcomes
            .iter()
            .map(|outcome| (outcome.hook, outcome.place, outcome.effect))
            .collect();
        let first = CompletionPlace::First;
        assert_eq!(outcomes, [(0, first, TrialEffect::Allowed), (1, first, TrialEffect::Blocked)]);
        let same = merge(EventName::PermissionRequest, &[(&deny, 0), (&deny, 0)]);
        assert!(!same.depends_on_order && same.decided_by == [0, 1]);
    }
}
