//! The parts of an answer that the client ignores.

use super::{VerdictBuilder, escape_pointer_key};
use crate::javascript::JsonNode;
use crate::name::EventName;
use crate::spec::Honoured;
use crate::verdict::answer::ParsedAnswer;
use crate::verdict::{Message, MessageKind};

impl VerdictBuilder<'_> {
    /// Records the ignored parts of the answer.
    pub(super) fn record_dropped(&mut self) {
        let node = match self.reading {
            ParsedAnswer::Silent => return,
            ParsedAnswer::Plain(_) => {
                let text = |message: &Message| message.kind == MessageKind::Text;
                let heard = self.verdict.to_model.iter().chain(&self.verdict.to_user).any(text);
                if !heard {
                    self.verdict.dropped.push(String::new());
                }
                return;
            }
            ParsedAnswer::Broken(_) | ParsedAnswer::Void(..) | ParsedAnswer::Foreign(..) => {
                self.verdict.dropped.push(String::new());
                return;
            }
            ParsedAnswer::Async { node, .. } => {
                for (key, _) in node.members() {
                    if !matches!(key.as_str(), "async" | "asyncTimeout") {
                        self.verdict.dropped.push(format!("/{}", escape_pointer_key(key)));
                    }
                }
                return;
            }
            ParsedAnswer::Valid(node) => node,
        };
        for (key, value) in node.members() {
            if key == "hookSpecificOutput" {
                let known = |key: &str| {
                    key == "hookEventName"
                        || self
                            .spec
                            .output_at(self.contract)
                            .into_iter()
                            .flatten()
                            .any(|field| field.name == key && !field.inert)
                };
                for (own, _) in value.members() {
                    if !known(own) {
                        self.verdict
                            .dropped
                            .push(format!("/hookSpecificOutput/{}", escape_pointer_key(own)));
                    }
                }
                self.record_dropped_in_decision(value);
            } else if !self.has_effect(key) {
                self.verdict.dropped.push(format!("/{}", escape_pointer_key(key)));
            }
        }
    }

    /// Records ignored fields of a permission decision: the client reads those of one variant only.
    fn record_dropped_in_decision(&mut self, specific: &JsonNode) {
        if self.run.event != EventName::PermissionRequest {
            return;
        }
        let Some(decision) = specific.get("decision") else { return };
        let allowed: &[&str] = match decision.get("behavior").and_then(JsonNode::text) {
            Some("allow") => &["behavior", "updatedInput", "updatedPermissions"],
            _ => &["behavior", "message", "interrupt"],
        };
        for (key, _) in decision.members() {
            if !allowed.contains(&key.as_str()) {
                self.verdict
                    .dropped
                    .push(format!("/hookSpecificOutput/decision/{}", escape_pointer_key(key)));
            }
        }
    }

    /// Returns true if a top-level key has an effect on this event.
    fn has_effect(&self, key: &str) -> bool {
        let honoured = |honoured| honoured != Honoured::No;
        match key {
            // `continue: true` requests the default behaviour, so it is not ignored.
            "continue" => !self.said.stops || honoured(self.spec.continue_false.honoured),
            "stopReason" => self.said.stops && honoured(self.spec.continue_false.honoured),
            "systemMessage" => honoured(self.spec.system_message.honoured),
            "decision" => {
                let acts = honoured(self.spec.top_level_decision.honoured);
                acts && (self.said.blocks || self.run.event == EventName::PreToolUse)
            }
            "reason" => {
                let denies = self.run.event == EventName::PreToolUse
                    && self.said.specific_text("permissionDecision") == Some("deny")
                    && self.said.specific_text("permissionDecisionReason").is_none()
                    && !self.contract.output_hides_block_reason();
                denies
                    || self.said.blocks && honoured(self.spec.top_level_decision.honoured)
                    || self.said.approves && self.run.event == EventName::PreToolUse
            }
            "terminalSequence" | "async" | "asyncTimeout" => true,
            _ => false,
        }
    }
}
