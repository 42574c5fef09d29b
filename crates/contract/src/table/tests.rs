//! Consistency of the table. Other tests compare it with the client.

use super::*;
use crate::spec::{DecisionModel, FieldType, Honoured, MatcherValues, PlainStdout};
use crate::version::Version;

#[test]
fn rows_follow_name_order() {
    for (row, name) in EVENTS.iter().zip(EventName::ALL) {
        assert_eq!(row.name, name);
        assert_eq!(event_spec(name).name, name);
    }
}

#[test]
fn counts_events_with_specific_output() {
    assert_eq!(EVENTS.iter().filter(|event| event.output.is_some()).count(), 22);
}

#[test]
fn lists_plain_stdout_context_events() {
    let names: Vec<&str> = EVENTS
        .iter()
        .filter(|event| event.plain_stdout.value == PlainStdout::Context)
        .map(|event| event.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["UserPromptSubmit", "UserPromptExpansion", "SessionStart", "PostModelSwitch"]
    );
}

#[test]
fn older_client_has_thirty_events() {
    let old = Contract::for_client(Contract::MEASURED[0]);
    let missing: Vec<&str> =
        EVENTS.iter().filter(|event| !event.is_at(old)).map(|event| event.name.as_str()).collect();
    assert_eq!(missing, ["PreModelSwitch", "PostModelSwitch", "DirectoryAdded"]);
    assert_eq!(events_at(old).count(), 30);
    assert_eq!(events_at(Contract::newest()).count(), 33);
}

#[test]
fn matchers_name_input_fields() {
    for event in EVENTS {
        if let Some(field) = event.matcher.field {
            assert!(event.input.iter().any(|own| own.name == field), "{}: {field}", event.name);
        }
        let ignored = matches!(event.matcher.values, MatcherValues::Ignored);
        assert_eq!(ignored, event.matcher.field.is_none(), "{}", event.name);
    }
}

/// An event with a decision has the field of its decision model.
#[test]
fn decision_models_match_output_fields() {
    for event in EVENTS {
        let has = |key: &str| {
            event.output.is_some_and(|fields| fields.iter().any(|field| field.name == key))
        };
        let key = match event.decision.value {
            DecisionModel::PermissionDecision => "permissionDecision",
            DecisionModel::DecisionBehavior => "decision",
            DecisionModel::PathReturn => "worktreePath",
            DecisionModel::ElicitationAction => "action",
            DecisionModel::Retry => "retry",
            DecisionModel::RewriteDisplay => "displayContent",
            DecisionModel::TopLevelBlock | DecisionModel::ExitOrTopLevelBlock => {
                assert_eq!(event.top_level_decision.honoured, Honoured::Yes, "{}", event.name);
                continue;
            }
            DecisionModel::ContextOnly => "additionalContext",
            DecisionModel::ExitOrContinue | DecisionModel::None => continue,
        };
        assert!(has(key), "{}: {key}", event.name);
    }
}

#[test]
fn field_names_and_versions_are_valid() {
    for event in EVENTS {
        for fields in [Some(event.input), event.output].into_iter().flatten() {
            let mut names: Vec<&str> = fields.iter().map(|field| field.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), fields.len(), "{}", event.name);
            let young =
                |since: Option<Version>| since.is_some_and(|since| since > Contract::NEWEST);
            for field in fields {
                assert!(!young(field.since), "{}.{}", event.name, field.name);
                if let FieldType::Choice(choice) = field.ty {
                    assert!(!choice.values.is_empty());
                    assert!(choice.values.iter().all(|value| !young(value.since)));
                }
            }
        }
    }
}

#[test]
fn texts_are_not_empty() {
    for event in EVENTS {
        for text in [
            event.when.value,
            event.exit.zero.value,
            event.exit.two.value,
            event.exit.other.value,
            event.top_level_decision.fact.value,
            event.continue_false.fact.value,
            event.system_message.fact.value,
        ] {
            assert!(text.len() > 1, "{}", event.name);
        }
    }
}
