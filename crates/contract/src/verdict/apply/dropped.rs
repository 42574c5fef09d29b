//! The parts of an answer that the client ignores.

use super::{Case, escaped};
use crate::javascript::Node;
use crate::name::EventName;
use crate::spec::Honoured;
use crate::verdict::answer::Reading;
use crate::verdict::{Message, MessageKind};

impl Case<'_> {
    /// Records the ignored parts of the answer.
    pub(super) fn dropped(&mut self) {
        let node = match self.reading {
            Reading::Silent => return,
            Reading::Plain(_) => {
                let text = |message: &Message| message.kind == MessageKind::Text;
                let heard = self.verdict.to_model.iter().chain(&self.verdict.to_user).any(text);
                if !heard {
                    self.verdict.dropped.push(String::new());
                }
                return;
            }
            Reading::Broken(_) | Reading::Void(..) | Reading::Foreign(..) => {
                self.verdict.dropped.push(String::new());
                return;
            }
            Reading::Async { node, .. } => {
                for (key, _) in node.members() {
                    if !matches!(key.as_str(), "async" | "asyncTimeout") {
                        self.verdict.dropped.push(format!("/{}", escaped(key)));
                    }
                }
                return;
            }
            Reading::Valid(node) => node,
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
                        self.verdict.dropped.push(format!("/hookSpecificOutput/{}", escaped(own)));
                    }
                }
                self.dropped_in_decision(value);
            } else if !self.counts(key) {
                self.verdict.dropped.push(format!("/{}", escaped(key)));
            }
        }
    }

    /// Records ignored fields of a permission decision: the client reads those of one variant only.
    fn dropped_in_decision(&mut self, specific: &Node) {
        if self.run.event != EventName::PermissionRequest {
            return;
        }
        let Some(decision) = specific.get("decision") else { return };
        let allowed: &[&str] = match decision.get("behavior").and_then(Node::text) {
            Some("allow") => &["behavior", "updatedInput", "updatedPermissions"],
            _ => &["behavior", "message", "interrupt"],
        };
        for (key, _) in decision.members() {
            if !allowed.contains(&key.as_str()) {
                self.verdict.dropped.push(format!("/hookSpecificOutput/decision/{}", escaped(key)));
            }
        }
    }

    /// Returns true if a top-level key has an effect on this event.
    fn counts(&self, key: &str) -> bool {
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
                    && self.said.own("permissionDecision") == Some("deny")
                    && self.said.own("permissionDecisionReason").is_none()
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
