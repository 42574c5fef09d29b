//! The rules of each event: what an answer that was read does.

use super::answer::Reading;
use super::{HookRun, Message, MessageKind, Outcome, Tool, Turn, Verdict};
use crate::javascript::{self, Kind, Node};
use crate::name::EventName;
use crate::output::utf16_units;
use crate::spec::{EventSpec, Honoured, PlainStdout};
use crate::table::{PREVIEW_UNITS, TEXT_LIMIT_UNITS};
use crate::version::Contract;

/// What the client says where a reason is missing.
const NO_REASON: &str = "Blocked by hook";
/// What the client says of exit 2 where the JSON names another event; stderr is lost.
const UNREADABLE: &str = "blocked (exit 2); its output could not be processed";
/// What the client says where a question came without a reason.
const NO_QUESTION: &str = "asked for confirmation for this tool";
/// What the client says where exit 2 came without stderr.
const NO_STDERR: &str = "No stderr output";

pub(super) fn apply(
    run: &HookRun<'_>,
    spec: &'static EventSpec,
    reading: &Reading<'_>,
    contract: Contract,
) -> Verdict {
    let failed = run.exit != 0 || reading.is_error();
    let verdict = Verdict {
        event: run.event,
        client: contract.version(),
        outcome: if failed { Outcome::Error } else { Outcome::Success },
        tool: guards_tool(run.event).then_some(Tool::Unchanged),
        turn: Turn::Continues,
        action: String::new(),
        to_model: Vec::new(),
        to_user: Vec::new(),
        dropped: Vec::new(),
        diagnostics: Vec::new(),
        corrected: None,
    };
    let said = Said::of(reading.valid());
    let mut case = Case { run, spec, reading, contract, said, verdict, prevents: None };
    case.rule();
    case.dropped();
    case.verdict.action = case.action();
    case.verdict
}

fn guards_tool(event: EventName) -> bool {
    matches!(event, EventName::PreToolUse | EventName::PermissionRequest)
}

/// The fields of a valid answer.
#[derive(Default)]
struct Said<'a> {
    stops: bool,
    stop_reason: Option<&'a str>,
    message: Option<&'a str>,
    blocks: bool,
    approves: bool,
    reason: Option<&'a str>,
    context: Option<&'a str>,
    specific: Option<&'a Node>,
}

impl<'a> Said<'a> {
    fn of(node: Option<&'a Node>) -> Self {
        let Some(node) = node else { return Self::default() };
        let text = |key: &str| node.get(key).and_then(Node::text);
        let filled = |text: Option<&'a str>| text.filter(|text| !text.is_empty());
        let specific = node.get("hookSpecificOutput");
        Self {
            stops: matches!(node.get("continue").map(|node| &node.kind), Some(Kind::Bool(false))),
            stop_reason: filled(text("stopReason")),
            message: filled(text("systemMessage")),
            blocks: text("decision") == Some("block"),
            approves: text("decision") == Some("approve"),
            reason: filled(text("reason")),
            context: filled(specific.and_then(|node| node.get("additionalContext")?.text())),
            specific,
        }
    }

    /// A field of `hookSpecificOutput` that is a string with something in it.
    fn own(&self, key: &str) -> Option<&'a str> {
        self.specific.and_then(|node| node.get(key)?.text()).filter(|text| !text.is_empty())
    }

    fn has(&self, key: &str) -> bool {
        self.specific.is_some_and(|node| node.get(key).is_some())
    }
}

struct Case<'a> {
    run: &'a HookRun<'a>,
    spec: &'static EventSpec,
    reading: &'a Reading<'a>,
    contract: Contract,
    said: Said<'a>,
    verdict: Verdict,
    /// What is prevented on an event that guards something other than a tool or a turn.
    prevents: Option<&'static str>,
}

impl<'a> Case<'a> {
    fn rule(&mut self) {
        if matches!(self.reading, Reading::Async(_)) {
            // It runs on; what it says later is another answer.
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

    // What a text becomes.

    fn tell_model(&mut self, kind: MessageKind, text: &str) {
        self.verdict.to_model.push(message(kind, text));
    }

    fn tell_user(&mut self, kind: MessageKind, text: &str) {
        self.verdict.to_user.push(message(kind, text));
    }

    fn context(&mut self) {
        let mut fields = self.spec.output_at(self.contract).into_iter().flatten();
        let heard = fields.any(|field| field.name == "additionalContext" && !field.inert);
        // White space alone is a text too: on Stop it keeps the agent going.
        if let Some(text) = self.said.context.filter(|_| heard) {
            self.tell_model(MessageKind::Context, text);
        }
    }

    fn system_message(&mut self) {
        let shown = self.spec.system_message.honoured == Honoured::Yes;
        if let Some(text) = self.said.message.filter(|_| shown) {
            self.tell_user(MessageKind::Text, text);
        }
    }

    /// Plain stdout counts only when the hook succeeded.
    fn plain(&self) -> Option<&'a str> {
        match self.reading {
            Reading::Plain(text) if self.run.exit == 0 => Some(text),
            _ => None,
        }
    }

    fn plain_context(&mut self) {
        let read = self.spec.plain_stdout.value == PlainStdout::Context;
        if let Some(text) = self.plain().filter(|_| read) {
            self.tell_model(MessageKind::Text, text);
        }
    }

    /// stderr as the client quotes it: whole, white space and all.
    fn stderr(&self) -> &'a str {
        match (self.reading, self.run.stderr) {
            (Reading::Foreign(..), _) => UNREADABLE,
            (_, "") => NO_STDERR,
            (_, text) => text,
        }
    }

    /// Whether exit 2 counts as a block.
    fn exit_blocks(&self) -> bool {
        self.run.exit == 2
            && !missing_script(self.run)
            && match self.reading {
                Reading::Foreign(..) => {
                    self.run.event == EventName::PreToolUse
                        && self.contract.unreadable_exit_2_blocks_tools()
                }
                Reading::Void(..) => self.contract.exit_2_blocks_despite_invalid_json(),
                _ => true,
            }
    }

    /// A block and its reason, said in JSON or by exit 2; the reason of the JSON counts first.
    fn blocked(&self) -> Option<(MessageKind, &'a str)> {
        (self.said.blocks || self.exit_blocks()).then(|| self.complaint())
    }

    /// What a failing hook complains of: the reason of its JSON counts first, also where it blocks nothing.
    fn complaint(&self) -> (MessageKind, &'a str) {
        if self.said.blocks {
            (MessageKind::Reason, self.said.reason.unwrap_or(NO_REASON))
        } else {
            (MessageKind::Stderr, self.stderr())
        }
    }

    /// `continue: false` on an event that honours it.
    fn stopped(&mut self) -> bool {
        if self.said.stops {
            self.verdict.turn = Turn::Stops;
            if let Some(reason) = self.said.stop_reason {
                self.tell_user(MessageKind::Reason, reason);
            }
        }
        self.said.stops
    }

    /// What a failing hook shows the user, where a failure is all that exit 2 means.
    fn failure_to_user(&mut self) {
        if self.run.exit != 0 && !javascript::trim(self.run.stderr).is_empty() {
            self.tell_user(MessageKind::Stderr, self.stderr());
        }
    }

    // The events.

    fn pre_tool_use(&mut self) {
        let decision = self.said.own("permissionDecision");
        let reason = self.said.own("permissionDecisionReason");
        let rewrites = self.said.has("updatedInput");
        let hidden = self.contract.output_hides_block_reason() && self.said.specific.is_some();
        let blocked = match decision {
            Some("deny") => Some((MessageKind::Reason, reason.or(self.said.reason))),
            _ if self.said.blocks && hidden => Some((MessageKind::Reason, reason)),
            _ if self.said.blocks => Some((MessageKind::Reason, self.said.reason)),
            _ if self.exit_blocks() => Some((MessageKind::Stderr, Some(self.stderr()))),
            _ => None,
        };
        if !(blocked.is_some() && self.contract.block_outweighs_stop()) {
            self.stopped();
        }
        self.system_message();
        // A turn that ends has no next request to carry a reason.
        let goes_on = self.verdict.turn == Turn::Continues;
        if let Some((kind, text)) = blocked {
            self.verdict.tool = Some(Tool::Blocked);
            if goes_on {
                self.tell_model(kind, text.unwrap_or(NO_REASON));
            }
        } else {
            let (tool, reason) = match decision {
                Some("defer") => (Tool::Deferred, None),
                Some("ask") => (Tool::Asks, Some(reason.unwrap_or(NO_QUESTION))),
                Some("allow") if rewrites => (Tool::Rewritten, None),
                Some("allow") => (Tool::Runs, None),
                _ if rewrites => (Tool::Rewritten, None),
                _ if self.said.approves => (Tool::Runs, None),
                _ => (Tool::Unchanged, None),
            };
            self.verdict.tool = Some(tool);
            if tool == Tool::Deferred {
                self.verdict.turn = Turn::Stops;
            }
            if let Some(reason) = reason.filter(|_| goes_on) {
                self.tell_model(MessageKind::Reason, reason);
            }
        }
        if self.verdict.turn == Turn::Continues {
            self.context();
        }
    }

    fn permission_request(&mut self) {
        let decision = self.said.specific.and_then(|node| node.get("decision"));
        let behavior = decision.and_then(|node| node.get("behavior")?.text());
        match (behavior, decision) {
            (Some("allow"), Some(decision)) => {
                let rewrites = decision.get("updatedInput").is_some();
                self.verdict.tool = Some(if rewrites { Tool::Rewritten } else { Tool::Runs });
            }
            (Some("deny"), Some(decision)) => {
                self.verdict.tool = Some(Tool::Blocked);
                let interrupts = matches!(
                    decision.get("interrupt").map(|node| &node.kind),
                    Some(Kind::Bool(true))
                );
                let text =
                    decision.get("message").and_then(Node::text).filter(|text| !text.is_empty());
                if interrupts {
                    self.verdict.turn = Turn::Stops;
                } else if let Some(text) = text {
                    self.tell_model(MessageKind::Reason, text);
                }
            }
            _ => {}
        }
    }

    fn prompt(&mut self) {
        if self.stopped() {
            return;
        }
        if let Some((kind, reason)) = self.blocked() {
            self.verdict.turn = Turn::Erased;
            self.tell_user(kind, reason);
            return;
        }
        self.system_message();
        self.context();
        self.plain_context();
    }

    fn after_tool(&mut self) {
        let stops = self.run.event == EventName::PostToolUse && self.stopped();
        self.system_message();
        if stops {
            return;
        }
        if let Some((kind, reason)) = self.blocked() {
            self.tell_model(kind, reason);
        }
        self.context();
    }

    fn batch(&mut self) {
        let stopped = self.stopped();
        self.system_message();
        if let Some((kind, reason)) = self.blocked() {
            if !stopped {
                self.tell_user(kind, reason);
            }
            self.verdict.turn = Turn::Stops;
        }
        if self.verdict.turn == Turn::Continues {
            self.context();
        }
    }

    fn stop(&mut self) {
        self.system_message();
        if self.stopped() {
            return;
        }
        if let Some((kind, reason)) = self.blocked() {
            self.verdict.turn = Turn::KeptGoing;
            self.tell_model(kind, reason);
        }
        self.context();
        if !self.verdict.to_model.is_empty() {
            self.verdict.turn = Turn::KeptGoing;
        }
    }

    fn pre_compact(&mut self) {
        if let Some((kind, reason)) = self.blocked() {
            self.prevents = Some("There is no compaction.");
            self.tell_user(kind, reason);
            // What `/compact` printed is in the next request.
            self.tell_model(kind, reason);
        } else if let Some(text) = self.plain() {
            self.tell_model(MessageKind::Text, text);
        } else if self.reading.valid().is_some() && self.run.exit == 0 {
            // Any JSON but a block is taken for instructions, word for word.
            let text = javascript::trim(self.run.stdout);
            self.tell_model(MessageKind::Text, text);
        } else {
            self.compact_failure();
        }
    }

    /// What `/compact` says of a hook that failed, which is in the next request too. Of an answer that is void
    /// it quotes all.
    fn compact_failure(&mut self) {
        if self.reading.is_error() && !self.exit_blocks() {
            let text = javascript::trim(self.run.stdout);
            self.tell_user(MessageKind::Text, text);
            self.tell_model(MessageKind::Text, text);
        } else if self.run.exit != 0 {
            let (kind, text) = self.complaint();
            self.tell_user(kind, text);
            self.tell_model(kind, text);
        }
    }

    fn post_compact(&mut self) {
        // Whatever a hook that succeeds prints is shown, JSON too, and what `/compact` showed is in the next
        // request.
        let text = javascript::trim(self.run.stdout);
        let shown =
            matches!(self.reading, Reading::Plain(_) | Reading::Valid(_)) && self.run.exit == 0;
        if shown {
            self.tell_user(MessageKind::Text, text);
            self.tell_model(MessageKind::Text, text);
        } else {
            self.compact_failure();
        }
    }

    fn model_switch(&mut self) {
        self.system_message();
        let reason = self.said.own("permissionDecisionReason");
        match self.said.own("permissionDecision") {
            Some("deny" | "ask") => {
                self.prevents = Some("The model stays as it is.");
                self.tell_user(MessageKind::Reason, reason.unwrap_or(NO_REASON));
            }
            _ => {
                if let Some((kind, reason)) = self.blocked() {
                    self.prevents = Some("The model stays as it is.");
                    self.tell_user(kind, reason);
                }
            }
        }
    }

    fn task(&mut self) {
        if self.run.event == EventName::TeammateIdle && self.stopped() {
            return;
        }
        if let Some((kind, reason)) = self.blocked() {
            self.tell_model(kind, reason);
            match self.run.event {
                EventName::TeammateIdle => self.verdict.turn = Turn::KeptGoing,
                EventName::TaskCreated => self.prevents = Some("The task is not created."),
                _ => self.prevents = Some("The task is not completed."),
            }
        }
    }

    fn config_change(&mut self) {
        if self.blocked().is_some() {
            self.prevents = Some("The change is not applied.");
        }
    }

    fn elicitation(&mut self) {
        self.prevents = match self.said.own("action") {
            _ if self.run.exit == 2 => Some("The question is declined."),
            Some("accept") => Some("The question is answered with the hook's values."),
            Some("decline") => Some("The question is declined."),
            Some("cancel") => Some("The question is dismissed."),
            _ => None,
        };
    }

    fn worktree(&mut self) {
        if self.run.exit != 0 {
            self.prevents = Some("The worktree is not created.");
            let (kind, text) = self.complaint();
            self.tell_model(kind, text);
            return;
        }
        // Whatever it is: JSON is taken for a path as well, and the model reads that there is no such folder.
        if !matches!(self.reading, Reading::Silent) {
            self.prevents = Some("The last line of stdout is taken for the worktree's path.");
            let path = javascript::trim(self.run.stdout).lines().next_back().unwrap_or_default();
            self.verdict.to_model.push(whole(MessageKind::Text, path));
        }
    }

    fn display(&mut self) {
        let shown = self.said.own("displayContent").filter(|_| self.run.exit == 0);
        self.verdict.to_user.extend(shown.map(|text| whole(MessageKind::Text, text)));
    }

    fn context_only(&mut self) {
        self.system_message();
        // In a headless run it is the first thing that the user says.
        let prompt = self.said.own("initialUserMessage");
        self.verdict.to_model.extend(prompt.map(|text| whole(MessageKind::Text, text)));
        self.context();
        self.plain_context();
        if self.said.blocks && self.contract.session_start_passes_reason_on(self.run.event) {
            let reason = self.said.reason.unwrap_or(NO_REASON);
            self.tell_model(MessageKind::Reason, reason);
        }
        self.failure_to_user();
    }

    /// What happens, in a sentence.
    fn action(&self) -> String {
        let tool = match self.verdict.tool {
            Some(Tool::Blocked) => "The tool does not run.",
            Some(Tool::Asks) => "The tool does not run: in a headless run nobody can be asked.",
            Some(Tool::Deferred) => "The tool does not run: the run ends with the call pending.",
            Some(Tool::Rewritten) => "The tool runs with the hook's input.",
            Some(Tool::Runs) => "The tool call is allowed.",
            Some(Tool::Unchanged) => "The tool call goes its normal way, as if there were no hook.",
            None => "",
        };
        let turn = match self.verdict.turn {
            Turn::Stops => "The turn ends.",
            Turn::KeptGoing => "The agent keeps going.",
            Turn::Erased => "The prompt is taken back and never reaches the model.",
            Turn::Continues => "",
        };
        let sentences = [tool, turn, self.prevents.unwrap_or_default()];
        let said: Vec<&str> =
            sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect();
        if !said.is_empty() {
            return said.join(" ");
        }
        if matches!(self.reading, Reading::Async(_)) {
            return "The hook goes to the background and decides nothing.".to_owned();
        }
        if self.verdict.to_model.is_empty() && self.verdict.to_user.is_empty() {
            return "Nothing happens: it is as if there were no hook.".to_owned();
        }
        "Everything goes its way; only what is said below is added.".to_owned()
    }

    /// What the client ignores of the answer.
    fn dropped(&mut self) {
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
            Reading::Async(node) => {
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

    /// The client takes the fields of one variant and ignores the other's.
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

    /// Whether a top-level key does anything on this event.
    fn counts(&self, key: &str) -> bool {
        let honoured = |honoured| honoured != Honoured::No;
        match key {
            // `true` asks for what happens anyway.
            "continue" => !self.said.stops || honoured(self.spec.continue_false.honoured),
            "stopReason" => self.said.stops && honoured(self.spec.continue_false.honoured),
            "systemMessage" => honoured(self.spec.system_message.honoured),
            "decision" => {
                let acts = honoured(self.spec.top_level_decision.honoured);
                acts && (self.said.blocks || self.run.event == EventName::PreToolUse)
            }
            "reason" => {
                self.said.blocks && honoured(self.spec.top_level_decision.honoured)
                    || self.said.approves && self.run.event == EventName::PreToolUse
            }
            "terminalSequence" | "async" | "asyncTimeout" => true,
            _ => false,
        }
    }
}

/// An interpreter that does not find its script exits with 2 as well. Where that would keep an agent going
/// for ever, the client looks at stderr and takes it for a failure.
pub(super) fn missing_script(run: &HookRun<'_>) -> bool {
    use EventName::{Stop, SubagentStop, TaskCompleted, TeammateIdle};
    let loops = matches!(run.event, Stop | SubagentStop | TaskCompleted | TeammateIdle);
    let stderr = run.stderr.to_lowercase();
    loops
        && run.exit == 2
        && javascript::trim(run.stdout).is_empty()
        && (stderr.contains("no such file") || stderr.contains("can't open"))
}

/// A key as a part of a JSON pointer.
pub(super) fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// A text that no limit applies to.
fn whole(kind: MessageKind, text: &str) -> Message {
    Message { kind, text: text.to_owned(), truncated: false }
}

/// A text as its reader gets it. Reasons and stderr pass whole, whatever their length.
fn message(kind: MessageKind, text: &str) -> Message {
    let capped = matches!(kind, MessageKind::Context | MessageKind::Text);
    let truncated = capped && text.len() > TEXT_LIMIT_UNITS && utf16_units(text) > TEXT_LIMIT_UNITS;
    let text = if truncated { crate::output::head(text, PREVIEW_UNITS) } else { text };
    Message { kind, text: text.to_owned(), truncated }
}
