//! The effects of a parsed answer on each event.

use super::{
    MISSING_DENIAL_TEXT, MISSING_MESSAGE_TEXT, MISSING_QUESTION_TEXT, MISSING_REASON_TEXT,
    VerdictBuilder, unlimited_message,
};
use crate::javascript::{self, JsonKind, JsonNode};
use crate::name::EventName;
use crate::verdict::answer::ParsedAnswer;
use crate::verdict::{MessageKind, ToolCallEffect, TurnEffect};

impl VerdictBuilder<'_> {
    /// Applies the rule of the event.
    pub(super) fn apply_event_rule(&mut self) {
        // A background hook keeps running; its later output is another answer.
        let background = match self.reading {
            ParsedAnswer::Async { at_once, .. } => {
                *at_once || !self.contract.late_async_exit_2_blocks() || self.run.exit != 2
            }
            _ => false,
        };
        if background {
            // On events with plain stdout as context, the older client does add the output of such a hook.
            let goes_on = javascript::trim(self.run.stdout).contains('\n')
                && matches!(self.reading, ParsedAnswer::Async { at_once: true, .. });
            if goes_on && self.contract.late_output_is_context() && self.has_plain_context() {
                self.tell_model(MessageKind::Text, javascript::trim(self.run.stdout));
            }
            return;
        }
        match self.run.event {
            EventName::PreToolUse => self.pre_tool_use(),
            EventName::PermissionRequest => self.permission_request(),
            EventName::UserPromptSubmit | EventName::UserPromptExpansion => self.prompt(),
            EventName::PostToolUse | EventName::PostToolUseFailure => self.after_tool(),
            EventName::PostToolBatch => self.batch(),
            EventName::Stop | EventName::SubagentStop => self.stop(),
            EventName::PreCompact => self.pre_compact(),
            EventName::PostCompact => self.post_compact(),
            EventName::PreModelSwitch => self.model_switch(),
            EventName::TaskCreated | EventName::TaskCompleted | EventName::TeammateIdle => {
                self.task();
            }
            EventName::Elicitation | EventName::ElicitationResult => self.elicitation(),
            EventName::WorktreeCreate => self.worktree(),
            EventName::MessageDisplay => self.display(),
            EventName::ConfigChange => self.config_change(),
            _ => self.context_only(),
        }
    }

    fn pre_tool_use(&mut self) {
        let decision = self.said.specific_text("permissionDecision");
        let reason = self.said.specific_text("permissionDecisionReason");
        let rewrites = self.said.has_specific("updatedInput");
        let old = self.contract.output_hides_block_reason();
        let hidden = old && decision.is_none() && self.said.specific.is_some();
        let blocked = match decision {
            Some("deny") if old => {
                Some((MessageKind::Reason, Some(reason.unwrap_or(MISSING_DENIAL_TEXT))))
            }
            Some("deny") => Some((MessageKind::Reason, reason.or(self.said.reason))),
            _ if self.said.blocks && hidden => {
                Some((MessageKind::Reason, Some(reason.unwrap_or(MISSING_DENIAL_TEXT))))
            }
            _ if self.said.blocks => Some((MessageKind::Reason, self.said.reason)),
            _ if self.exit_blocks() => Some((MessageKind::Stderr, Some(self.quoted_stderr()))),
            _ => None,
        };
        if !(blocked.is_some() && self.contract.block_outweighs_stop()) {
            self.apply_stop();
        }
        self.add_system_message();
        // No request that could carry a reason follows the end of the turn.
        let goes_on = self.verdict.turn == TurnEffect::Continues;
        if let Some((kind, text)) = blocked {
            self.verdict.tool = Some(ToolCallEffect::Blocked);
            if goes_on {
                self.tell_model(kind, text.unwrap_or(MISSING_REASON_TEXT));
            }
        } else {
            let (tool, reason) = match decision {
                Some("defer") => (ToolCallEffect::Deferred, None),
                Some("ask") => {
                    (ToolCallEffect::Asks, Some(reason.unwrap_or(MISSING_QUESTION_TEXT)))
                }
                Some("allow") if rewrites => (ToolCallEffect::Rewritten, None),
                Some("allow") => (ToolCallEffect::Runs, None),
                _ if rewrites => (ToolCallEffect::Rewritten, None),
                _ if self.said.approves => (ToolCallEffect::Runs, None),
                _ => (ToolCallEffect::Unchanged, None),
            };
            self.verdict.tool = Some(tool);
            if tool == ToolCallEffect::Deferred {
                self.verdict.turn = TurnEffect::Stops;
            }
            if let Some(reason) = reason.filter(|_| goes_on) {
                self.tell_model(MessageKind::Reason, reason);
            }
        }
        if self.verdict.turn == TurnEffect::Continues {
            self.add_context();
        }
    }

    fn permission_request(&mut self) {
        let decision = self.said.specific.and_then(|node| node.get("decision"));
        let behavior = decision.and_then(|node| node.get("behavior")?.text());
        match (behavior, decision) {
            (Some("allow"), Some(decision)) => {
                // An empty object changes nothing: the call runs with its original input.
                let rewrites =
                    decision.get("updatedInput").is_some_and(|input| !input.members().is_empty());
                self.verdict.tool =
                    Some(if rewrites { ToolCallEffect::Rewritten } else { ToolCallEffect::Runs });
            }
            (Some("deny"), Some(decision)) => {
                self.verdict.tool = Some(ToolCallEffect::Blocked);
                let interrupts = matches!(
                    decision.get("interrupt").map(|node| &node.kind),
                    Some(JsonKind::Bool(true))
                );
                let text = decision
                    .get("message")
                    .and_then(JsonNode::text)
                    .filter(|text| !text.is_empty());
                if interrupts {
                    self.verdict.turn = TurnEffect::Stops;
                } else {
                    self.tell_model(MessageKind::Reason, text.unwrap_or(MISSING_MESSAGE_TEXT));
                }
            }
            _ => {}
        }
    }

    fn prompt(&mut self) {
        if self.apply_stop() {
            return;
        }
        if let Some((kind, reason)) = self.block_reason() {
            self.verdict.turn = TurnEffect::Erased;
            self.tell_user(kind, reason);
            return;
        }
        self.add_system_message();
        self.add_context();
        self.add_plain_context();
    }

    fn after_tool(&mut self) {
        let stops = self.run.event == EventName::PostToolUse && self.apply_stop();
        self.add_system_message();
        if stops {
            return;
        }
        if let Some((kind, reason)) = self.block_reason() {
            self.tell_model(kind, reason);
        }
        self.add_context();
    }

    fn batch(&mut self) {
        let stopped = self.apply_stop();
        self.add_system_message();
        if let Some((kind, reason)) = self.block_reason() {
            if !stopped {
                self.tell_user(kind, reason);
            }
            self.verdict.turn = TurnEffect::Stops;
        }
        if self.verdict.turn == TurnEffect::Continues {
            self.add_context();
        }
    }

    fn stop(&mut self) {
        self.add_system_message();
        if self.apply_stop() {
            return;
        }
        if let Some((kind, reason)) = self.block_reason() {
            self.verdict.turn = TurnEffect::KeptGoing;
            self.tell_model(kind, reason);
        }
        self.add_context();
        if !self.verdict.to_model.is_empty() {
            self.verdict.turn = TurnEffect::KeptGoing;
        }
    }

    fn pre_compact(&mut self) {
        if let Some((kind, reason)) = self.block_reason() {
            self.prevents = Some("There is no compaction.");
            self.tell_user(kind, reason);
            // The next request contains the output of `/compact`.
            self.tell_model(kind, reason);
        } else if let Some(text) = self.plain_stdout() {
            self.tell_model(MessageKind::Text, text);
        } else if self.reading.valid().is_some() && self.run.exit == 0 {
            // The client takes any JSON except a block as instructions, verbatim.
            let text = javascript::trim(self.run.stdout);
            self.tell_model(MessageKind::Text, text);
        } else {
            self.compact_failure();
        }
    }

    /// Adds the message of `/compact` about a failed hook, which is in the next request too. The message quotes
    /// a void answer completely.
    fn compact_failure(&mut self) {
        if self.reading.is_error() && !self.exit_blocks() {
            let stdout = javascript::trim(self.run.stdout);
            // A void answer is quoted with an indentation of two spaces.
            let indented = match self.reading {
                ParsedAnswer::Void(..) => serde_json::from_str::<serde_json::Value>(stdout)
                    .and_then(|answer| serde_json::to_string_pretty(&answer))
                    .ok(),
                _ => None,
            };
            let text = indented.as_deref().unwrap_or(stdout);
            self.tell_user(MessageKind::Text, text);
            self.tell_model(MessageKind::Text, text);
        } else if self.run.exit != 0 {
            let (kind, text) = self.failure_reason();
            self.tell_user(kind, text);
            self.tell_model(kind, text);
        }
    }

    fn post_compact(&mut self) {
        // The client shows all output of a successful hook, JSON too, and the next request contains the output
        // of `/compact`.
        let text = javascript::trim(self.run.stdout);
        let shown = matches!(self.reading, ParsedAnswer::Plain(_) | ParsedAnswer::Valid(_))
            && self.run.exit == 0;
        if shown {
            self.tell_user(MessageKind::Text, text);
            self.tell_model(MessageKind::Text, text);
        } else {
            self.compact_failure();
        }
    }

    fn model_switch(&mut self) {
        self.add_system_message();
        let reason = self.said.specific_text("permissionDecisionReason");
        match self.said.specific_text("permissionDecision") {
            Some("deny" | "ask") => {
                self.prevents = Some("The model stays as it is.");
                self.tell_user(MessageKind::Reason, reason.unwrap_or(MISSING_REASON_TEXT));
            }
            _ => {
                if let Some((kind, reason)) = self.block_reason() {
                    self.prevents = Some("The model stays as it is.");
                    self.tell_user(kind, reason);
                }
            }
        }
    }

    fn task(&mut self) {
        if self.run.event == EventName::TeammateIdle && self.apply_stop() {
            return;
        }
        if let Some((kind, reason)) = self.block_reason() {
            self.tell_model(kind, reason);
            match self.run.event {
                EventName::TeammateIdle => self.verdict.turn = TurnEffect::KeptGoing,
                EventName::TaskCreated => self.prevents = Some("The task is not created."),
                _ => self.prevents = Some("The task is not completed."),
            }
        }
    }

    fn config_change(&mut self) {
        if self.block_reason().is_some() {
            self.prevents = Some("The change is not applied.");
        }
    }

    fn elicitation(&mut self) {
        self.prevents = match self.said.specific_text("action") {
            _ if self.run.exit == 2 => Some("The question is declined."),
            Some("accept") => Some(super::QUESTION_ANSWERED_TEXT),
            Some("decline") => Some("The question is declined."),
            Some("cancel") => Some("The question is dismissed."),
            _ => None,
        };
    }

    fn worktree(&mut self) {
        if self.run.exit != 0 {
            self.prevents = Some("The worktree is not created.");
            let (kind, text) = self.failure_reason();
            self.tell_model(kind, text);
            return;
        }
        // The client takes JSON for a path as well, and the model reads that the folder does not exist.
        if !matches!(self.reading, ParsedAnswer::Silent) {
            self.prevents = Some(super::PATH_TAKEN_TEXT);
            let path = javascript::trim(self.run.stdout).lines().next_back().unwrap_or_default();
            self.verdict.to_model.push(unlimited_message(MessageKind::Text, path));
        }
    }

    fn display(&mut self) {
        let shown = self.said.specific_text("displayContent").filter(|_| self.run.exit == 0);
        self.verdict.to_user.extend(shown.map(|text| unlimited_message(MessageKind::Text, text)));
    }

    fn context_only(&mut self) {
        self.add_system_message();
        // In a headless run this is the first user message.
        let prompt = self.said.specific_text("initialUserMessage");
        self.verdict.to_model.extend(prompt.map(|text| unlimited_message(MessageKind::Text, text)));
        self.add_context();
        self.add_plain_context();
        if self.said.blocks && self.contract.session_start_passes_reason_on(self.run.event) {
            let reason = self.said.reason.unwrap_or(MISSING_REASON_TEXT);
            self.tell_model(MessageKind::Reason, reason);
        }
        self.add_failure();
    }
}
