//! Diagnostics for the mistakes in an answer.

use super::answer::ParsedAnswer;
use super::apply::{escape_pointer_key, missing_script};
use super::catalogue::find_mistake;
use super::validate::{ValidationIssue, ValidationProblem};
use super::{
    AnswerDiagnostic, HookRun, MessageKind, MistakeSeverity, ToolCallEffect, TurnEffect, Verdict,
};
use crate::javascript::{self, JsonKind, JsonNode};
use crate::name::EventName;
use crate::spec::{DecisionModel, EventSpec, Honoured};
use crate::table;
use crate::version::Contract;

/// Keys that programs are known to leak: the internal state of an older hook library.
const LEAKED_KEYS: &[&str] =
    &["context_files", "suggestions", "exit_code", "continue_execution", "suppress_output"];

/// Maximum number of diagnostics for one answer. A text with more mistakes was not meant as an answer.
const MAX_DIAGNOSTICS: usize = 40;

/// Maximum length, in bytes, of a text in which to search for an embedded object.
const MAX_SEARCHED_BYTES: usize = 1024 * 1024;

pub(super) fn diagnose(
    run: &HookRun<'_>,
    spec: &'static EventSpec,
    reading: &ParsedAnswer<'_>,
    contract: Contract,
    verdict: &mut Verdict,
) {
    let mut found = DiagnosticCollector { spec, contract, list: Vec::new() };
    match reading {
        ParsedAnswer::Silent => {}
        ParsedAnswer::Plain(text) => found.add_plain_text(text, run, verdict),
        ParsedAnswer::Broken(error) => found.add_broken_json(javascript::trim(run.stdout), error),
        ParsedAnswer::Void(node, issues) => found.add_validation_issues(node, issues),
        ParsedAnswer::Foreign(_, name) => found.add(
            "event-name-other",
            "/hookSpecificOutput/hookEventName",
            format!("hookEventName is `{name}`, but the hook runs for {}", spec.name),
        ),
        ParsedAnswer::Async { .. } => found.add_with_title("background", "/async"),
        ParsedAnswer::Valid(node) => found.add_valid_answer(node, verdict),
    }
    found.add_length_warnings(verdict);
    found.add_exit_code(run, reading, verdict);
    found.add_headless_remarks(reading, verdict);
    verdict.diagnostics = found.list;
}

struct DiagnosticCollector {
    spec: &'static EventSpec,
    contract: Contract,
    list: Vec<AnswerDiagnostic>,
}

impl DiagnosticCollector {
    fn add(&mut self, code: &'static str, path: impl Into<String>, message: String) {
        if self.list.len() == MAX_DIAGNOSTICS {
            return;
        }
        let known = find_mistake(code);
        let severity = known.map_or(MistakeSeverity::Error, |mistake| mistake.severity);
        let help = known.map_or_else(String::new, |mistake| mistake.help.to_owned());
        let help = match code {
            "permission-elsewhere"
            | "decision-value"
            | "ok-answer"
            | "action-answer"
            | "exit-2-ignored" => {
                format!("{help}: {}", decision_form(self.spec))
            }
            _ => help,
        };
        self.list.push(AnswerDiagnostic { code, severity, path: path.into(), message, help });
    }

    /// Adds a diagnostic with the title of the mistake as its message.
    fn add_with_title(&mut self, code: &'static str, path: impl Into<String>) {
        let title = find_mistake(code).map_or(code, |mistake| mistake.title);
        self.add(code, path, title.to_owned());
    }

    fn add_plain_text(&mut self, text: &str, run: &HookRun<'_>, verdict: &Verdict) {
        let event = self.spec.name;
        if text.starts_with('{') {
            match first_object_end(text) {
                Some(end) => {
                    let rest = javascript::trim(&text[end..]);
                    let code =
                        if rest.starts_with('{') { "two-objects" } else { "text-after-json" };
                    self.add(code, "", format!("text after the JSON: {}", excerpt(rest)));
                }
                None => self.add_with_title("truncated-json", ""),
            }
        } else if let Some((before, _)) = find_embedded_object(text) {
            self.add("text-before-json", "", format!("text before the JSON: {}", excerpt(before)));
        } else if verdict.dropped.iter().any(String::is_empty) && run.exit == 0 {
            self.add(
                "text-unread",
                "",
                format!("plain stdout on {event} goes only to the debug log"),
            );
        }
    }

    fn add_broken_json(&mut self, text: &str, error: &javascript::JsonSyntaxError) {
        let second = first_object_end(text)
            .is_some_and(|end| javascript::trim(&text[end..]).starts_with('{'));
        if second {
            self.add_with_title("two-objects", "");
            return;
        }
        let line = text[..error.at].matches('\n').count() + 1;
        let column = text[..error.at].rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let message = format!("line {line}, column {column}: expected {}", error.expected);
        self.add("broken-json", "", message);
    }

    fn add_validation_issues(&mut self, node: &JsonNode, issues: &[ValidationIssue]) {
        for issue in issues {
            self.add_issue(issue);
        }
        // The client ignores the whole answer, but the other mistakes would remain after these are fixed.
        let unknown: Vec<String> = node
            .members()
            .iter()
            .filter(|(key, _)| !is_known_key(key))
            .map(|(key, _)| format!("/{}", escape_pointer_key(key)))
            .collect();
        self.add_dropped_keys(node, &unknown);
    }

    fn add_issue(&mut self, issue: &ValidationIssue) {
        let event = self.spec.name;
        let path = issue.path.clone();
        let key = path.rsplit('/').next().unwrap_or_default().to_owned();
        match (&issue.problem, key.as_str()) {
            _ if self.spec.output.is_none() && path.starts_with("/hookSpecificOutput") => {
                self.add(
                    "output-rejected",
                    "/hookSpecificOutput",
                    format!("{event} rejects a hookSpecificOutput"),
                );
            }
            (ValidationProblem::Missing, "hookEventName") => {
                self.add(
                    "event-name-missing",
                    "/hookSpecificOutput",
                    "hookSpecificOutput has no hookEventName: the whole answer is void".to_owned(),
                );
            }
            (ValidationProblem::Value { received, .. }, "hookEventName")
                if EventName::ALL
                    .iter()
                    .any(|name| name.as_str().eq_ignore_ascii_case(received))
                    && received.parse::<EventName>().is_err() =>
            {
                let message = format!(
                    "`{received}` is not spelt as the client spells it: the whole answer is void"
                );
                self.add("event-name-case", path, message);
            }
            (ValidationProblem::Value { received, .. }, "hookEventName")
                if EventName::from_mistaken_name(received).is_some() =>
            {
                let meant = EventName::from_mistaken_name(received).unwrap_or(event);
                let message =
                    format!("Claude Code calls `{received}` {meant}: the whole answer is void");
                self.add("event-name-legacy", path, message);
            }
            (ValidationProblem::Value { received, .. }, "hookEventName") if received != "null" => {
                let meant =
                    EventName::nearest(received).map(|name| format!("; did you mean `{name}`?"));
                let message = format!(
                    "`{received}` takes no hookSpecificOutput{}",
                    meant.unwrap_or_default()
                );
                self.add("event-name-unknown", path, message);
            }
            (ValidationProblem::Missing, "decision") => {
                self.add_with_title("decision-missing", path);
            }
            (problem, _) if is_null(problem) => {
                self.add("null-value", path, format!("`{key}` is null: the whole answer is void"));
            }
            (ValidationProblem::Value { received, expected }, "permissionDecision") => {
                let message = format!(
                    "permissionDecision is `{received}`, not {}: the whole answer is void",
                    expected.join(", ")
                );
                self.add("permission-value", path, message);
            }
            (ValidationProblem::Value { received, .. }, "decision") => {
                let message = format!(
                    "decision is `{received}`, not block or approve: the whole answer is void"
                );
                self.add("decision-value", path, message);
            }
            (ValidationProblem::Type { expected: "boolean", received: "string" }, _) => {
                self.add(
                    "text-boolean",
                    path,
                    format!("`{key}` is a string: the whole answer is void"),
                );
            }
            (ValidationProblem::Type { expected, received }, _) => {
                let message =
                    format!("`{key}` is {received}, not {expected}: the whole answer is void");
                self.add("wrong-type", path, message);
            }
            (ValidationProblem::Value { received, expected }, _) => {
                let message = format!(
                    "`{key}` is `{received}`, not one of {}: the whole answer is void",
                    expected.join(", ")
                );
                self.add("wrong-type", path, message);
            }
            (ValidationProblem::Missing, _) => {
                self.add(
                    "wrong-type",
                    path,
                    format!("`{key}` is missing: the whole answer is void"),
                );
            }
        }
    }

    fn add_valid_answer(&mut self, node: &JsonNode, verdict: &Verdict) {
        let event = self.spec.name;
        if event == EventName::WorktreeCreate {
            self.add_with_title("json-as-path", "");
            return;
        }
        self.add_dropped_keys(node, &verdict.dropped);
        let decision = node.get("decision").and_then(JsonNode::text);
        let blocks = decision == Some("block");
        if event == EventName::PreToolUse && decision.is_some() {
            let value = decision.unwrap_or_default();
            self.add(
                "deprecated-decision",
                "/decision",
                format!("decision `{value}` on PreToolUse works and is deprecated"),
            );
        }
        let reason = node.get("reason").and_then(JsonNode::text).unwrap_or_default();
        if blocks && reason.is_empty() && self.spec.top_level_decision.honoured != Honoured::No {
            self.add_with_title("no-reason", "/decision");
        }
        let output = node.get("hookSpecificOutput");
        let own = |key: &str| output.and_then(|output| output.get(key)?.text()).unwrap_or_default();
        if own("permissionDecision") == "deny"
            && own("permissionDecisionReason").is_empty()
            && !verdict.to_model.iter().any(|message| !reason.is_empty() && message.text == reason)
            && verdict.tool == Some(ToolCallEffect::Blocked)
        {
            self.add_with_title("no-reason", "/hookSpecificOutput/permissionDecision");
        }
        let decision = output.and_then(|output| output.get("decision"));
        let refused = decision.is_some_and(|decision| {
            decision.get("behavior").and_then(JsonNode::text) == Some("deny")
                && decision.get("message").and_then(JsonNode::text).unwrap_or_default().is_empty()
        });
        if event == EventName::PermissionRequest && refused {
            self.add_with_title("no-reason", "/hookSpecificOutput/decision");
        }
        if verdict.tool == Some(ToolCallEffect::Rewritten) {
            let path = match event {
                EventName::PermissionRequest => "/hookSpecificOutput/decision/updatedInput",
                _ => "/hookSpecificOutput/updatedInput",
            };
            self.add_with_title("rewritten-input", path);
        }
        let stops =
            matches!(node.get("continue").map(|node| &node.kind), Some(JsonKind::Bool(false)));
        if event == EventName::PreToolUse && stops && verdict.tool != Some(ToolCallEffect::Blocked)
        {
            self.add_with_title("stop-is-no-guard", "/continue");
        }
        let context =
            node.get("hookSpecificOutput").and_then(|output| output.get("additionalContext"));
        let said = context.and_then(JsonNode::text).is_some_and(|text| !text.is_empty());
        let heard = verdict.to_model.iter().any(|message| message.kind == MessageKind::Context);
        let takes = self
            .spec
            .output
            .is_some_and(|fields| fields.iter().any(|field| field.name == "additionalContext"));
        if said && !heard && takes && verdict.turn != TurnEffect::Continues {
            self.add_with_title("context-unread", "/hookSpecificOutput/additionalContext");
        }
    }

    /// Adds a diagnostic for each dropped key.
    fn add_dropped_keys(&mut self, node: &JsonNode, dropped: &[String]) {
        let legacy = node.get("type").is_some() && node.get("content").is_some();
        let mut internal = Vec::new();
        for path in dropped {
            let key = path.rsplit('/').next().unwrap_or_default();
            let nested = path.starts_with("/hookSpecificOutput/");
            let in_decision = path.starts_with("/hookSpecificOutput/decision/");
            match key {
                "" => {}
                _ if in_decision => {
                    let other = ["message", "interrupt", "updatedInput", "updatedPermissions"]
                        .contains(&key);
                    let code = if other { "other-variant" } else { "unknown-key" };
                    self.add(code, path, format!("`{key}` is ignored in this decision"));
                }
                "type" if legacy => self.add_with_title("type-content", path),
                "content" | "prompt" | "auto_captured" | "suggested_action"
                    if legacy && !nested => {}
                "context" => self.add_with_title("context-key", path),
                "additionalContext" if !nested => self.add_with_title("top-level-context", path),
                "permissionDecision" if !nested => {
                    self.add_with_title("top-level-permission", path);
                }
                "permissionDecisionReason" => {}
                "permissionDecision" => {
                    let message =
                        format!("permissionDecision decides nothing on {}", self.spec.name);
                    self.add("permission-elsewhere", path, message);
                }
                "decision" if nested => self.add_with_title("decision-nested", path),
                "reason" if nested => {}
                "systemMessage" if nested => self.add_with_title("message-nested", path),
                "ok" => self.add_with_title("ok-answer", path),
                "action" if !nested => self.add_with_title("action-answer", path),
                "token_count" => self.add_with_title("token-count", path),
                key if LEAKED_KEYS.contains(&key) => internal.push(path.clone()),
                "decision" if node.get("decision").and_then(JsonNode::text) == Some("approve") => {
                    self.add_with_title("approve-ignored", path);
                }
                "reason" if node.get("decision").is_some() || node.get("ok").is_some() => {}
                "stopReason" if node.get("continue").is_some() => {}
                // Accepted and without effect on every event: not worth a diagnostic.
                "suppressOutput" => {}
                key if !nested && is_known_key(key) => {
                    self.add(
                        "ignored-here",
                        path,
                        format!("`{key}` does nothing on {}", self.spec.name),
                    );
                }
                key => self.add_unknown_key(path, key, nested),
            }
        }
        if !internal.is_empty() {
            let message = format!("the client does not know {}", internal.join(", "));
            self.add("internal-fields", internal[0].clone(), message);
        }
    }

    fn add_unknown_key(&mut self, path: &str, key: &str, nested: bool) {
        let own = self.spec.output.into_iter().flatten().find(|field| nested && field.name == key);
        if own.is_some_and(|field| field.inert) {
            self.add("ignored-here", path, format!("`{key}` does nothing on {}", self.spec.name));
            return;
        }
        if let Some(since) = own.and_then(|field| field.since) {
            let message = format!(
                "`{key}` was added in {since}; client {} drops it",
                self.contract.version()
            );
            self.add("newer-key", path, message);
            return;
        }
        self.add(
            "unknown-key",
            path,
            format!("`{key}` is not a key that {} knows", self.spec.name),
        );
    }

    fn add_length_warnings(&mut self, verdict: &Verdict) {
        for message in
            verdict.to_model.iter().chain(&verdict.to_user).filter(|message| message.truncated)
        {
            let path = match message.kind {
                MessageKind::Context => "/hookSpecificOutput/additionalContext",
                _ => "",
            };
            self.add_with_title("too-long", path);
        }
    }

    fn add_exit_code(&mut self, run: &HookRun<'_>, reading: &ParsedAnswer<'_>, verdict: &Verdict) {
        let event = self.spec.name;
        let decided = verdict.tool.is_some_and(|tool| tool > ToolCallEffect::Unchanged)
            || verdict.turn != TurnEffect::Continues
            || reading.valid().is_some_and(|node| node.get("decision").is_some());
        let silent = run.stderr.is_empty() && matches!(reading, ParsedAnswer::Silent);
        // Codes from 126 on come from the shell: the hook did not choose them.
        let meant = !matches!(run.exit, 0 | 2) && run.exit < 126;
        if meant && self.spec.can_block.value && !decided && !silent {
            let message = format!("exit {} is a failure of the hook: {event} continues", run.exit);
            self.add("exit-1", "", message);
        }
        if run.exit != 2 {
            return;
        }
        let mut texts = verdict.to_model.iter().chain(&verdict.to_user);
        let quoted = texts.any(|message| message.kind == MessageKind::Stderr);
        if missing_script(run) {
            self.add_with_title("missing-script", "");
        } else if !exit_2_has_effect(event) {
            let message = format!("on {event} exit 2 means: {}", self.spec.exit.two.value);
            self.add("exit-2-ignored", "", message);
        } else if run.stderr.is_empty() && quoted {
            self.add_with_title("exit-2-silent", "");
        }
    }

    fn add_headless_remarks(&mut self, reading: &ParsedAnswer<'_>, verdict: &Verdict) {
        let message = reading.valid().and_then(|node| node.get("systemMessage")?.text());
        let unseen =
            matches!(self.spec.system_message.honoured, Honoured::Terminal | Honoured::Unknown);
        if message.is_some_and(|message| !message.is_empty()) && unseen {
            let where_to = self.spec.system_message.fact.value;
            self.add(
                "message-unseen",
                "/systemMessage",
                format!("systemMessage on {}: {where_to}", self.spec.name),
            );
        }
        if self.spec.name == EventName::PermissionRequest
            && !self.contract.asks_permission_headless()
        {
            self.add_with_title("asked-elsewhere", "");
        }
        let place = "/hookSpecificOutput/permissionDecision";
        let decision = reading
            .valid()
            .and_then(|node| node.get("hookSpecificOutput")?.get("permissionDecision"));
        if decision.is_none() {
            return;
        }
        match verdict.tool {
            Some(ToolCallEffect::Asks) => self.add_with_title("asks-nobody", place),
            Some(ToolCallEffect::Deferred) => self.add_with_title("defers", place),
            _ => {}
        }
    }
}

fn is_null(problem: &ValidationProblem) -> bool {
    match problem {
        ValidationProblem::Type { received, .. } => *received == "null",
        ValidationProblem::Value { received, .. } => received == "null",
        ValidationProblem::Missing => false,
    }
}

/// Returns true if the client has this top-level key.
fn is_known_key(key: &str) -> bool {
    matches!(key, "decision" | "reason" | "hookSpecificOutput")
        || table::UNIVERSAL_OUTPUT.iter().any(|field| field.name == key)
}

/// Returns true if exit 2 has an effect on the event that a hook author could intend.
fn exit_2_has_effect(event: EventName) -> bool {
    use EventName::{PermissionRequest, PostToolUse, PostToolUseFailure};
    let spec = table::event_spec(event);
    match event {
        PermissionRequest => false,
        PostToolUse | PostToolUseFailure => true,
        _ => spec.can_block.value,
    }
}

/// Returns the form of a block on the event.
pub(super) fn decision_form(spec: &EventSpec) -> &'static str {
    match spec.decision.value {
        DecisionModel::TopLevelBlock | DecisionModel::ExitOrTopLevelBlock => {
            "{\"decision\": \"block\", \"reason\": …}"
        }
        DecisionModel::PermissionDecision => {
            "hookSpecificOutput.permissionDecision of allow, deny or ask"
        }
        DecisionModel::DecisionBehavior => "hookSpecificOutput.decision.behavior of allow or deny",
        DecisionModel::PathReturn => "print the path, or fail with any exit code but 0",
        DecisionModel::ElicitationAction => {
            "hookSpecificOutput.action of accept, decline or cancel"
        }
        DecisionModel::Retry => "hookSpecificOutput.retry",
        DecisionModel::RewriteDisplay => "hookSpecificOutput.displayContent",
        DecisionModel::ExitOrContinue => {
            "exit 2 with the reason on stderr, or {\"continue\": false}"
        }
        DecisionModel::ContextOnly | DecisionModel::None => "this event has no decision",
    }
}

/// Returns the end of the object at the start of a text.
pub(super) fn first_object_end(text: &str) -> Option<usize> {
    javascript::parse_first(text).ok().map(|(_, end)| end)
}

/// Finds an object after other text; returns the text before it and the object.
pub(super) fn find_embedded_object(text: &str) -> Option<(&str, &str)> {
    if text.len() > MAX_SEARCHED_BYTES {
        return None;
    }
    let start = text.match_indices('{').take(20).map(|(at, _)| at).find(|start| {
        javascript::parse(javascript::trim(&text[*start..]))
            .is_ok_and(|node| !node.members().is_empty())
    })?;
    Some((javascript::trim(&text[..start]), &text[start..]))
}

/// Returns the beginning of a text, for a message.
fn excerpt(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(40).collect();
    if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
}
