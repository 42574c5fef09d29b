//! Builds an answer for an event that is known only at run time, for hooks that are not written in Rust.
//!
//! [`crate::output`] checks the parts of an answer when a hook is compiled. This module checks the same rules, from the
//! same table, when the answer is built: a part that the client would drop is an error.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::name::EventName;
use crate::output::{HookAnswer, truncate_to_limit};
use crate::spec::{DecisionModel, EventSpec, FieldType, Honoured, PlainStdout};
use crate::table::{TEXT_LIMIT_UNITS, event_spec};
use crate::version::Contract;

/// A part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerPart {
    /// Lets the action go on without asking.
    Allow,
    /// Prevents the action, with the reason.
    Deny(String),
    /// Asks the user, with the reason.
    Ask(String),
    /// Ends a headless run with the call pending.
    Defer,
    /// Blocks, or keeps the agent working, with the reason.
    Block(String),
    /// Ends the turn, with the reason for the user.
    Stop(String),
    /// Text for the model.
    Context(String),
    /// Text for the user.
    Message(String),
    /// The new input of a tool call.
    Input(Map<String, Value>),
}

/// The reason for which a part cannot be in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerError {
    /// The client drops the part on this event.
    NotTaken {
        /// The event.
        event: EventName,
        /// The part.
        part: &'static str,
        /// The parts that the event takes.
        takes: Vec<&'static str>,
    },
    /// Two parts exclude each other.
    Contradiction {
        /// The first part.
        first: &'static str,
        /// The second part.
        second: &'static str,
    },
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotTaken { event, part, takes } if takes.is_empty() => {
                write!(f, "{event} takes no answer, so the client would drop `{part}`")
            }
            Self::NotTaken { event, part, takes } => {
                write!(
                    f,
                    "the client would drop `{part}` on {event}; it takes {}",
                    takes.join(", ")
                )
            }
            Self::Contradiction { first, second } => {
                write!(f, "an answer has either `{first}` or `{second}`")
            }
        }
    }
}

impl std::error::Error for AnswerError {}

impl AnswerPart {
    /// The names of the parts.
    pub const NAMES: [&'static str; 9] =
        ["allow", "deny", "ask", "defer", "block", "stop", "context", "message", "input"];

    /// Returns the name of the part.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny(_) => "deny",
            Self::Ask(_) => "ask",
            Self::Defer => "defer",
            Self::Block(_) => "block",
            Self::Stop(_) => "stop",
            Self::Context(_) => "context",
            Self::Message(_) => "message",
            Self::Input(_) => "input",
        }
    }

    /// Returns true for a part of which an answer has only one.
    const fn is_decision(&self) -> bool {
        matches!(
            self,
            Self::Allow
                | Self::Deny(_)
                | Self::Ask(_)
                | Self::Defer
                | Self::Block(_)
                | Self::Stop(_)
        )
    }
}

/// Returns the names of the parts that an event takes.
pub fn answer_parts(event: EventName, contract: Contract) -> Vec<&'static str> {
    let spec = event_spec(event);
    AnswerPart::NAMES.into_iter().filter(|part| takes_part(spec, part, contract)).collect()
}

fn takes_part(spec: &EventSpec, part: &str, contract: Contract) -> bool {
    if !spec.is_at(contract) {
        return false;
    }
    let has_field = |name: &str| {
        spec.output_at(contract)
            .is_some_and(|mut fields| fields.any(|field| field.name == name && !field.inert))
    };
    let honours = |effect: Honoured| matches!(effect, Honoured::Yes);
    match (part, spec.decision.value) {
        ("allow" | "deny", DecisionModel::PermissionDecision | DecisionModel::DecisionBehavior) => {
            true
        }
        ("ask" | "defer", DecisionModel::PermissionDecision) => {
            permission_values(spec, contract).contains(&part)
        }
        ("block", _) => honours(spec.top_level_decision.honoured),
        ("stop", _) => honours(spec.continue_false.honoured),
        ("context", _) => {
            has_field("additionalContext") || spec.plain_stdout.value == PlainStdout::CompactPrompt
        }
        ("message", _) => {
            honours(spec.system_message.honoured)
                && spec.plain_stdout.value != PlainStdout::CompactPrompt
        }
        ("input", _) => {
            has_field("updatedInput") || spec.decision.value == DecisionModel::DecisionBehavior
        }
        _ => false,
    }
}

/// Returns the values of `permissionDecision` on an event.
fn permission_values(spec: &EventSpec, contract: Contract) -> Vec<&'static str> {
    let field = spec
        .output
        .and_then(|fields| fields.iter().find(|field| field.name == "permissionDecision"));
    match field.map(|field| field.ty) {
        Some(FieldType::Choice(choice)) => choice.values_at(contract).collect(),
        _ => Vec::new(),
    }
}

/// Builds an answer. Texts for the model and the user are cut to the client's limit.
pub fn build_answer(
    event: EventName,
    parts: &[AnswerPart],
    contract: Contract,
) -> Result<HookAnswer, AnswerError> {
    let spec = event_spec(event);
    let mut decisions = parts.iter().filter(|part| part.is_decision());
    if let (Some(first), Some(second)) = (decisions.next(), decisions.next()) {
        return Err(AnswerError::Contradiction { first: first.name(), second: second.name() });
    }
    for part in parts {
        if !takes_part(spec, part.name(), contract) {
            let takes = answer_parts(event, contract);
            return Err(AnswerError::NotTaken { event, part: part.name(), takes });
        }
    }
    let mut builder = AnswerBuilder { spec, root: Map::new(), specific: Map::new(), plain: None };
    for part in parts {
        builder.add_part(part);
    }
    Ok(HookAnswer { stdout: builder.into_stdout(), ..HookAnswer::default() })
}

struct AnswerBuilder {
    spec: &'static EventSpec,
    root: Map<String, Value>,
    specific: Map<String, Value>,
    /// Text that is printed without JSON.
    plain: Option<String>,
}

impl AnswerBuilder {
    fn add_part(&mut self, part: &AnswerPart) {
        match part {
            AnswerPart::Allow => self.decide("allow", None),
            AnswerPart::Deny(reason) => self.decide("deny", Some(reason)),
            AnswerPart::Ask(reason) => self.decide("ask", Some(reason)),
            AnswerPart::Defer => self.decide("defer", None),
            AnswerPart::Block(reason) => {
                self.root.insert("decision".to_owned(), json!("block"));
                self.root.insert("reason".to_owned(), json!(reason));
            }
            AnswerPart::Stop(reason) => {
                self.root.insert("continue".to_owned(), json!(false));
                self.root.insert("stopReason".to_owned(), json!(reason));
            }
            AnswerPart::Context(text)
                if self.spec.plain_stdout.value == PlainStdout::CompactPrompt =>
            {
                self.plain = Some(text.clone());
            }
            AnswerPart::Context(text) => {
                let text = truncate_to_limit(text, TEXT_LIMIT_UNITS);
                self.specific.insert("additionalContext".to_owned(), json!(text));
            }
            AnswerPart::Message(text) => {
                self.root.insert("systemMessage".to_owned(), json!(text));
            }
            AnswerPart::Input(input)
                if self.spec.decision.value == DecisionModel::DecisionBehavior =>
            {
                self.behavior().insert("updatedInput".to_owned(), json!(input));
            }
            AnswerPart::Input(input) => {
                self.specific.insert("updatedInput".to_owned(), json!(input));
            }
        }
    }

    fn decide(&mut self, decision: &str, reason: Option<&str>) {
        if self.spec.decision.value == DecisionModel::DecisionBehavior {
            let behavior = self.behavior();
            behavior.insert("behavior".to_owned(), json!(decision));
            if let Some(reason) = reason {
                behavior.insert("message".to_owned(), json!(reason));
            }
            return;
        }
        self.specific.insert("permissionDecision".to_owned(), json!(decision));
        if let Some(reason) = reason {
            self.specific.insert("permissionDecisionReason".to_owned(), json!(reason));
        }
    }

    /// Returns the `decision` object of a permission request. A new input allows the request.
    fn behavior(&mut self) -> &mut Map<String, Value> {
        let entry =
            self.specific.entry("decision").or_insert_with(|| json!({ "behavior": "allow" }));
        if !entry.is_object() {
            *entry = json!({});
        }
        match entry {
            Value::Object(object) => object,
            _ => &mut self.root,
        }
    }

    fn into_stdout(mut self) -> String {
        if let Some(plain) = self.plain {
            return plain;
        }
        if !self.specific.is_empty() {
            let mut specific = Map::new();
            specific.insert("hookEventName".to_owned(), json!(self.spec.name.as_str()));
            specific.append(&mut self.specific);
            self.root.insert("hookSpecificOutput".to_owned(), Value::Object(specific));
        }
        if self.root.is_empty() { String::new() } else { Value::Object(self.root).to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{HookRun, MistakeSeverity, judge_answer};

    fn part(name: &str) -> AnswerPart {
        let text = || "REASON-MARK".to_owned();
        match name {
            "allow" => AnswerPart::Allow,
            "deny" => AnswerPart::Deny(text()),
            "ask" => AnswerPart::Ask(text()),
            "defer" => AnswerPart::Defer,
            "block" => AnswerPart::Block(text()),
            "stop" => AnswerPart::Stop(text()),
            "context" => AnswerPart::Context(text()),
            "message" => AnswerPart::Message(text()),
            _ => AnswerPart::Input(Map::from_iter([("command".to_owned(), json!("ls"))])),
        }
    }

    #[test]
    fn client_drops_no_part() {
        let mut built = 0;
        for version in Contract::MEASURED {
            let contract = Contract::for_client(version);
            for event in EventName::ALL {
                for name in answer_parts(event, contract) {
                    let answer = build_answer(event, &[part(name)], contract).unwrap();
                    let run = HookRun { event, stdout: &answer.stdout, stderr: "", exit: 0 };
                    let verdict = judge_answer(&run, contract);
                    let worst: Vec<_> = (verdict.diagnostics.iter())
                        // Without a denial, `stop` ends the turn after the call, which may be meant.
                        .filter(|one| {
                            one.severity == MistakeSeverity::Error && one.code != "stop-is-no-guard"
                        })
                        .collect();
                    assert!(
                        worst.is_empty() && verdict.dropped.is_empty(),
                        "{event} {name}: {verdict:?}"
                    );
                    built += 1;
                }
            }
        }
        assert!(built > 100, "{built}");
    }

    #[test]
    fn dropped_parts_are_errors() {
        let contract = Contract::newest();
        let error = build_answer(EventName::PostToolUse, &[part("deny")], contract).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the client would drop `deny` on PostToolUse; it takes block, stop, context, message"
        );
        let both = build_answer(EventName::PreToolUse, &[part("deny"), part("allow")], contract);
        assert_eq!(both.unwrap_err().to_string(), "an answer has either `deny` or `allow`");
    }

    #[test]
    fn answers_have_the_events_form() {
        let contract = Contract::newest();
        let stdout =
            |event, parts: &[AnswerPart]| build_answer(event, parts, contract).unwrap().stdout;
        assert_eq!(
            stdout(EventName::PreToolUse, &[part("deny"), AnswerPart::Message("m".to_owned())]),
            r#"{"systemMessage":"m","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"REASON-MARK"}}"#
        );
        assert_eq!(
            stdout(EventName::PermissionRequest, &[part("deny")]),
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"REASON-MARK"}}}"#
        );
        assert_eq!(
            stdout(EventName::PermissionRequest, &[part("input")]),
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"ls"}}}}"#
        );
        assert_eq!(
            stdout(EventName::Stop, &[part("block")]),
            r#"{"decision":"block","reason":"REASON-MARK"}"#
        );
        assert_eq!(stdout(EventName::PreCompact, &[part("context")]), "REASON-MARK");
        assert_eq!(stdout(EventName::Stop, &[]), "");
    }
}
