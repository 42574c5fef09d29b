//! Diagnostics for the mistakes in an answer.

use super::answer::Reading;
use super::apply::{escaped, missing_script};
use super::catalogue::entry;
use super::validate::{Issue, Problem};
use super::{Diagnostic, HookRun, MessageKind, Severity, Tool, Turn, Verdict};
use crate::javascript::{self, Kind, Node};
use crate::name::EventName;
use crate::spec::{DecisionModel, EventSpec, Honoured};
use crate::table;
use crate::version::Contract;

/// Keys that programs are known to leak: the internal state of an older hook library.
const INTERNAL: &[&str] =
    &["context_files", "suggestions", "exit_code", "continue_execution", "suppress_output"];

/// Maximum number of diagnostics for one answer. A text with more mistakes was not meant as an answer.
const MOST: usize = 40;

/// Maximum length, in bytes, of a text in which to search for an embedded object.
const SEARCHED: usize = 1024 * 1024;

pub(super) fn diagnose(
    run: &HookRun<'_>,
    spec: &'static EventSpec,
    reading: &Reading<'_>,
    contract: Contract,
    verdict: &mut Verdict,
) {
    let mut found = Found { spec, contract, list: Vec::new() };
    match reading {
        Reading::Silent => {}
        Reading::Plain(text) => found.plain(text, run, verdict),
        Reading::Broken(error) => found.broken(javascript::trim(run.stdout), error),
        Reading::Void(node, issues) => found.void(node, issues),
        Reading::Foreign(_, name) => found.add(
            "event-name-other",
            "/hookSpecificOutput/hookEventName",
            format!("hookEventName is `{name}`, and the hook runs for {}", spec.name),
        ),
        Reading::Async { .. } => found.plainly("background", "/async"),
        Reading::Valid(node) => found.valid(node, verdict),
    }
    found.lengths(verdict);
    found.exit(run, reading, verdict);
    found.headless(reading, verdict);
    verdict.diagnostics = found.list;
}

struct Found {
    spec: &'static EventSpec,
    contract: Contract,
    list: Vec<Diagnostic>,
}

impl Found {
    fn add(&mut self, code: &'static str, path: impl Into<String>, message: String) {
        if self.list.len() == MOST {
            return;
        }
        let known = entry(code);
        let severity = known.map_or(Severity::Error, |mistake| mistake.severity);
        let help = known.map_or_else(String::new, |mistake| mistake.help.to_owned());
        let help = match code {
            "permission-elsewhere"
            | "decision-value"
            | "ok-answer"
            | "action-answer"
            | "exit-2-ignored" => {
                format!("{help}: {}", how_to_decide(self.spec))
            }
            _ => help,
        };
        self.list.push(Diagnostic { code, severity, path: path.into(), message, help });
    }

    /// Adds a diagnostic with the title of the mistake as its message.
    fn plainly(&mut self, code: &'static str, path: impl Into<String>) {
        let title = entry(code).map_or(code, |mistake| mistake.title);
        self.add(code, path, title.to_owned());
    }

    fn plain(&mut self, text: &str, run: &HookRun<'_>, verdict: &Verdict) {
        let event = self.spec.name;
        if text.starts_with('{') {
            match first_object(text) {
                Some(end) => {
                    let rest = javascript::trim(&text[end..]);
                    let code =
                        if rest.starts_with('{') { "two-objects" } else { "text-after-json" };
                    self.add(code, "", format!("after the JSON stands {}", shown(rest)));
                }
                None => self.plainly("truncated-json", ""),
            }
        } else if let Some((before, _)) = embedded_object(text) {
            self.add("text-before-json", "", format!("before the JSON stands {}", shown(before)));
        } else if verdict.dropped.iter().any(String::is_empty) && run.exit == 0 {
            self.add(
                "text-unread",
                "",
                format!("plain stdout on {event} goes to the debug log alone"),
            );
        }
    }

    fn broken(&mut self, text: &str, error: &javascript::NotJson) {
        let second =
            first_object(text).is_some_and(|end| javascript::trim(&text[end..]).starts_with('{'));
        if second {
            self.plainly("two-objects", "");
            return;
        }
        let line = text[..error.at].matches('\n').count() + 1;
        let column = text[..error.at].rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let message = format!("line {line}, column {column}: expected {}", error.expected);
        self.add("broken-json", "", message);
    }

    fn void(&mut self, node: &Node, issues: &[Issue]) {
        for issue in issues {
            self.issue(issue);
        }
        // The client ignores the whole answer, but the other mistakes would remain after these are fixed.
        let unknown: Vec<String> = node
            .members()
            .iter()
            .filter(|(key, _)| !known_key(key))
            .map(|(key, _)| format!("/{}", escaped(key)))
            .collect();
        self.unknown(node, &unknown);
    }

    fn issue(&mut self, issue: &Issue) {
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
            (Problem::Missing, "hookEventName") => {
                self.add(
                    "event-name-missing",
                    "/hookSpecificOutput",
                    "hookSpecificOutput has no hookEventName: the whole answer is void".to_owned(),
                );
            }
            (Problem::Value { received, .. }, "hookEventName")
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
            (Problem::Value { received, .. }, "hookEventName")
                if EventName::formerly(received).is_some() =>
            {
                let meant = EventName::formerly(received).unwrap_or(event);
                let message =
                    format!("Claude Code calls `{received}` {meant}: the whole answer is void");
                self.add("event-name-legacy", path, message);
            }
            (Problem::Value { received, .. }, "hookEventName") if received != "null" => {
                let meant =
                    EventName::nearest(received).map(|name| format!("; did you mean `{name}`?"));
                let message = format!(
                    "`{received}` takes no hookSpecificOutput{}",
                    meant.unwrap_or_default()
                );
                self.add("event-name-unknown", path, message);
            }
            (Problem::Missing, "decision") => self.plainly("decision-missing", path),
            (problem, _) if received_null(problem) => {
                self.add("null-value", path, format!("`{key}` is null: the whole answer is void"));
            }
            (Problem::Value { received, expected }, "permissionDecision") => {
                let message = format!(
                    "permissionDecision is `{received}`, not {}: the whole answer is void",
                    expected.join(", ")
                );
                self.add("permission-value", path, message);
            }
            (Problem::Value { received, .. }, "decision") => {
                let message = format!(
                    "decision is `{received}`, not block or approve: the whole answer is void"
                );
                self.add("decision-value", path, message);
            }
            (Problem::Type { expected: "boolean", received: "string" }, _) => {
                self.add(
                    "text-boolean",
                    path,
                    format!("`{key}` is a string: the whole answer is void"),
                );
            }
            (Problem::Type { expected, received }, _) => {
                let message =
                    format!("`{key}` is {received}, not {expected}: the whole answer is void");
                self.add("wrong-type", path, message);
            }
            (Problem::Value { received, expected }, _) => {
                let message = format!(
                    "`{key}` is `{received}`, not one of {}: the whole answer is void",
                    expected.join(", ")
                );
                self.add("wrong-type", path, message);
            }
            (Problem::Missing, _) => {
                self.add(
                    "wrong-type",
                    path,
                    format!("`{key}` is missing: the whole answer is void"),
                );
            }
        }
    }

    fn valid(&mut self, node: &Node, verdict: &Verdict) {
        let event = self.spec.name;
        if event == EventName::WorktreeCreate {
            self.plainly("json-as-path", "");
            return;
        }
        self.unknown(node, &verdict.dropped);
        let decision = node.get("decision").and_then(Node::text);
        let blocks = decision == Some("block");
        if event == EventName::PreToolUse && decision.is_some() {
            let value = decision.unwrap_or_default();
            self.add(
                "deprecated-decision",
                "/decision",
                format!("decision `{value}` on PreToolUse works and is deprecated"),
            );
        }
        let reason = node.get("reason").and_then(Node::text).unwrap_or_default();
        if blocks && reason.is_empty() && self.spec.top_level_decision.honoured != Honoured::No {
            self.plainly("no-reason", "/decision");
        }
        let output = node.get("hookSpecificOutput");
        let own = |key: &str| output.and_then(|output| output.get(key)?.text()).unwrap_or_default();
        if own("permissionDecision") == "deny"
            && own("permissionDecisionReason").is_empty()
            && !verdict.to_model.iter().any(|message| !reason.is_empty() && message.text == reason)
            && verdict.tool == Some(Tool::Blocked)
        {
            self.plainly("no-reason", "/hookSpecificOutput/permissionDecision");
        }
        let decision = output.and_then(|output| output.get("decision"));
        let refused = decision.is_some_and(|decision| {
            decision.get("behavior").and_then(Node::text) == Some("deny")
                && decision.get("message").and_then(Node::text).unwrap_or_default().is_empty()
        });
        if event == EventName::PermissionRequest && refused {
            self.plainly("no-reason", "/hookSpecificOutput/decision");
        }
        if verdict.tool == Some(Tool::Rewritten) {
            let path = match event {
                EventName::PermissionRequest => "/hookSpecificOutput/decision/updatedInput",
                _ => "/hookSpecificOutput/updatedInput",
            };
            self.plainly("rewritten-input", path);
        }
        let stops = matches!(node.get("continue").map(|node| &node.kind), Some(Kind::Bool(false)));
        if event == EventName::PreToolUse && stops && verdict.tool != Some(Tool::Blocked) {
            self.plainly("stop-is-no-guard", "/continue");
        }
        let context =
            node.get("hookSpecificOutput").and_then(|output| output.get("additionalContext"));
        let said = context.and_then(Node::text).is_some_and(|text| !text.is_empty());
        let heard = verdict.to_model.iter().any(|message| message.kind == MessageKind::Context);
        let takes = self
            .spec
            .output
            .is_some_and(|fields| fields.iter().any(|field| field.name == "additionalContext"));
        if said && !heard && takes && verdict.turn != Turn::Continues {
            self.plainly("context-unread", "/hookSpecificOutput/additionalContext");
        }
    }

    /// Adds a diagnostic for each dropped key.
    fn unknown(&mut self, node: &Node, dropped: &[String]) {
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
                "type" if legacy => self.plainly("type-content", path),
                "content" | "prompt" | "auto_captured" | "suggested_action"
                    if legacy && !nested => {}
                "context" => self.plainly("context-key", path),
                "additionalContext" if !nested => self.plainly("top-level-context", path),
                "permissionDecision" if !nested => self.plainly("top-level-permission", path),
                "permissionDecisionReason" => {}
                "permissionDecision" => {
                    let message =
                        format!("permissionDecision decides nothing on {}", self.spec.name);
                    self.add("permission-elsewhere", path, message);
                }
                "decision" if nested => self.plainly("decision-nested", path),
                "reason" if nested => {}
                "systemMessage" if nested => self.plainly("message-nested", path),
                "ok" => self.plainly("ok-answer", path),
                "action" if !nested => self.plainly("action-answer", path),
                "token_count" => self.plainly("token-count", path),
                key if INTERNAL.contains(&key) => internal.push(path.clone()),
                "decision" if node.get("decision").and_then(Node::text) == Some("approve") => {
                    self.plainly("approve-ignored", path);
                }
                "reason" if node.get("decision").is_some() || node.get("ok").is_some() => {}
                "stopReason" if node.get("continue").is_some() => {}
                // Accepted and without effect on every event: not worth a diagnostic.
                "suppressOutput" => {}
                key if !nested && known_key(key) => {
                    self.add(
                        "ignored-here",
                        path,
                        format!("`{key}` does nothing on {}", self.spec.name),
                    );
                }
                key => self.nameless(path, key, nested),
            }
        }
        if !internal.is_empty() {
            let message = format!("the client does not know {}", internal.join(", "));
            self.add("internal-fields", internal[0].clone(), message);
        }
    }

    fn nameless(&mut self, path: &str, key: &str, nested: bool) {
        let own = self.spec.output.into_iter().flatten().find(|field| nested && field.name == key);
        if own.is_some_and(|field| field.inert) {
            self.add("ignored-here", path, format!("`{key}` does nothing on {}", self.spec.name));
            return;
        }
        if let Some(since) = own.and_then(|field| field.since) {
            let message =
                format!("`{key}` came with {since}; client {} drops it", self.contract.version());
            self.add("newer-key", path, message);
            return;
        }
        self.add(
            "unknown-key",
            path,
            format!("`{key}` is not a key that {} knows", self.spec.name),
        );
    }

    fn lengths(&mut self, verdict: &Verdict) {
        for message in
            verdict.to_model.iter().chain(&verdict.to_user).filter(|message| message.truncated)
        {
            let path = match message.kind {
                MessageKind::Context => "/hookSpecificOutput/additionalContext",
                _ => "",
            };
            self.plainly("too-long", path);
        }
    }

    fn exit(&mut self, run: &HookRun<'_>, reading: &Reading<'_>, verdict: &Verdict) {
        let event = self.spec.name;
        let decided = verdict.tool.is_some_and(|tool| tool > Tool::Unchanged)
            || verdict.turn != Turn::Continues
            || reading.valid().is_some_and(|node| node.get("decision").is_some());
        let silent = run.stderr.is_empty() && matches!(reading, Reading::Silent);
        // Codes from 126 on come from the shell: the hook did not choose them.
        let meant = !matches!(run.exit, 0 | 2) && run.exit < 126;
        if meant && self.spec.can_block.value && !decided && !silent {
            let message = format!("exit {} is a failure of the hook: {event} goes on", run.exit);
            self.add("exit-1", "", message);
        }
        if run.exit != 2 {
            return;
        }
        let mut texts = verdict.to_model.iter().chain(&verdict.to_user);
        let quoted = texts.any(|message| message.kind == MessageKind::Stderr);
        if missing_script(run) {
            self.plainly("missing-script", "");
        } else if !exit_2_acts(event) {
            let message = format!("on {event} exit 2 means: {}", self.spec.exit.two.value);
            self.add("exit-2-ignored", "", message);
        } else if run.stderr.is_empty() && quoted {
            self.plainly("exit-2-silent", "");
        }
    }

    fn headless(&mut self, reading: &Reading<'_>, verdict: &Verdict) {
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
            self.plainly("asked-elsewhere", "");
        }
        let place = "/hookSpecificOutput/permissionDecision";
        let decision = reading
            .valid()
            .and_then(|node| node.get("hookSpecificOutput")?.get("permissionDecision"));
        if decision.is_none() {
            return;
        }
        match verdict.tool {
            Some(Tool::Asks) => self.plainly("asks-nobody", place),
            Some(Tool::Deferred) => self.plainly("defers", place),
            _ => {}
        }
    }
}

fn received_null(problem: &Problem) -> bool {
    match problem {
        Problem::Type { received, .. } => *received == "null",
        Problem::Value { received, .. } => received == "null",
        Problem::Missing => false,
    }
}

/// Returns true if the client has this top-level key.
fn known_key(key: &str) -> bool {
    matches!(key, "decision" | "reason" | "hookSpecificOutput")
        || table::UNIVERSAL_OUTPUT.iter().any(|field| field.name == key)
}

/// Returns true if exit 2 has an effect on the event that a hook author could intend.
fn exit_2_acts(event: EventName) -> bool {
    use EventName::{PermissionRequest, PostToolUse, PostToolUseFailure};
    let spec = table::event(event);
    match event {
        PermissionRequest => false,
        PostToolUse | PostToolUseFailure => true,
        _ => spec.can_block.value,
    }
}

/// Returns the form of a block on the event.
pub(super) fn how_to_decide(spec: &EventSpec) -> &'static str {
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
        DecisionModel::ContextOnly | DecisionModel::None => "this event decides nothing",
    }
}

/// Returns the end of the object at the start of a text.
pub(super) fn first_object(text: &str) -> Option<usize> {
    javascript::parse_first(text).ok().map(|(_, end)| end)
}

/// Finds an object after other text; returns the text before it and the object.
pub(super) fn embedded_object(text: &str) -> Option<(&str, &str)> {
    if text.len() > SEARCHED {
        return None;
    }
    let start = text.match_indices('{').take(20).map(|(at, _)| at).find(|start| {
        javascript::parse(javascript::trim(&text[*start..]))
            .is_ok_and(|node| !node.members().is_empty())
    })?;
    Some((javascript::trim(&text[..start]), &text[start..]))
}

/// Returns the beginning of a text, for a message.
fn shown(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(40).collect();
    if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
}
