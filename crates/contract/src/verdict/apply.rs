//! The effects of a parsed answer, by the rules of each event.

use super::answer::ParsedAnswer;
use super::{HookOutcome, HookRun, Message, MessageKind, ToolCallEffect, TurnEffect, Verdict};
use crate::javascript::{self, JsonKind, JsonNode};
use crate::name::EventName;
use crate::output::utf16_units;
use crate::spec::{EventSpec, Honoured, PlainStdout};
use crate::table::{PREVIEW_UNITS, TEXT_LIMIT_UNITS};
use crate::version::Contract;

mod dropped;
mod events;

/// The client's text for a missing reason.
const MISSING_REASON_TEXT: &str = "Blocked by hook";
/// The client's text for exit 2 if the JSON names another event; stderr is lost.
const OTHER_EVENT_TEXT: &str = "blocked (exit 2); its output could not be processed";
/// The client's text for `ask` without a reason.
const MISSING_QUESTION_TEXT: &str = "asked for confirmation for this tool";
/// The older client's text for a denial without `permissionDecisionReason`.
const MISSING_DENIAL_TEXT: &str = "denied this tool";
/// The client's text for a denied permission request without a message.
const MISSING_MESSAGE_TEXT: &str = "Permission denied by hook";
/// The client's text for exit 2 without stderr.
const MISSING_STDERR_TEXT: &str = "No stderr output";

/// The sentence about an elicitation that the hook answers.
const QUESTION_ANSWERED_TEXT: &str = "The question is answered with the hook's values.";
/// The sentence about a worktree that the hook creates.
const PATH_TAKEN_TEXT: &str = "The last line of stdout is taken for the worktree's path.";

pub(super) fn apply_answer(
    run: &HookRun<'_>,
    spec: &'static EventSpec,
    reading: &ParsedAnswer<'_>,
    contract: Contract,
) -> Verdict {
    let failed = run.exit != 0 || reading.is_error();
    let verdict = Verdict {
        event: run.event,
        client: contract.version(),
        outcome: if failed { HookOutcome::Error } else { HookOutcome::Success },
        tool: guards_tool(run.event).then_some(ToolCallEffect::Unchanged),
        turn: TurnEffect::Continues,
        action: String::new(),
        is_prevented: false,
        to_model: Vec::new(),
        to_user: Vec::new(),
        dropped: Vec::new(),
        diagnostics: Vec::new(),
        corrected: None,
    };
    let said = AnswerFields::from_node(reading.valid());
    let mut case = VerdictBuilder { run, spec, reading, contract, said, verdict, prevents: None };
    case.apply_event_rule();
    case.record_dropped();
    case.verdict.action = case.action();
    case.verdict.is_prevented = case
        .prevents
        .is_some_and(|text| ![QUESTION_ANSWERED_TEXT, PATH_TAKEN_TEXT].contains(&text));
    case.verdict
}

fn guards_tool(event: EventName) -> bool {
    matches!(event, EventName::PreToolUse | EventName::PermissionRequest)
}

/// The fields of a valid answer.
#[derive(Default)]
struct AnswerFields<'a> {
    stops: bool,
    stop_reason: Option<&'a str>,
    message: Option<&'a str>,
    blocks: bool,
    approves: bool,
    reason: Option<&'a str>,
    context: Option<&'a str>,
    specific: Option<&'a JsonNode>,
}

impl<'a> AnswerFields<'a> {
    fn from_node(node: Option<&'a JsonNode>) -> Self {
        let Some(node) = node else { return Self::default() };
        let text = |key: &str| node.get(key).and_then(JsonNode::text);
        let filled = |text: Option<&'a str>| text.filter(|text| !text.is_empty());
        let specific = node.get("hookSpecificOutput");
        Self {
            stops: matches!(
                node.get("continue").map(|node| &node.kind),
                Some(JsonKind::Bool(false))
            ),
            stop_reason: filled(text("stopReason")),
            message: filled(text("systemMessage")),
            blocks: text("decision") == Some("block"),
            approves: text("decision") == Some("approve"),
            reason: filled(text("reason")),
            context: filled(specific.and_then(|node| node.get("additionalContext")?.text())),
            specific,
        }
    }

    /// Returns a field of `hookSpecificOutput` if it is a non-empty string.
    fn specific_text(&self, key: &str) -> Option<&'a str> {
        self.specific.and_then(|node| node.get(key)?.text()).filter(|text| !text.is_empty())
    }

    fn has_specific(&self, key: &str) -> bool {
        self.specific.is_some_and(|node| node.get(key).is_some())
    }
}

struct VerdictBuilder<'a> {
    run: &'a HookRun<'a>,
    spec: &'static EventSpec,
    reading: &'a ParsedAnswer<'a>,
    contract: Contract,
    said: AnswerFields<'a>,
    verdict: Verdict,
    /// A sentence about the prevented or replaced action, on an event that guards neither a tool nor a turn.
    prevents: Option<&'static str>,
}

impl<'a> VerdictBuilder<'a> {
    fn tell_model(&mut self, kind: MessageKind, text: &str) {
        self.verdict.to_model.push(limited_message(kind, text));
    }

    fn tell_user(&mut self, kind: MessageKind, text: &str) {
        self.verdict.to_user.push(limited_message(kind, text));
    }

    fn add_context(&mut self) {
        let mut fields = self.spec.output_at(self.contract).into_iter().flatten();
        let heard = fields.any(|field| field.name == "additionalContext" && !field.inert);
        // White space counts as text: on Stop it keeps the agent going.
        if let Some(text) = self.said.context.filter(|_| heard) {
            self.tell_model(MessageKind::Context, text);
        }
    }

    fn add_system_message(&mut self) {
        let shown = self.spec.system_message.honoured == Honoured::Yes;
        if let Some(text) = self.said.message.filter(|_| shown) {
            self.tell_user(MessageKind::Text, text);
        }
    }

    /// Returns plain stdout, which counts only if the hook succeeded.
    fn plain_stdout(&self) -> Option<&'a str> {
        match self.reading {
            ParsedAnswer::Plain(text) if self.run.exit == 0 => Some(text),
            _ => None,
        }
    }

    /// Returns true if plain stdout is context on this event.
    fn has_plain_context(&self) -> bool {
        self.spec.plain_stdout.value == PlainStdout::Context
    }

    fn add_plain_context(&mut self) {
        if let Some(text) = self.plain_stdout().filter(|_| self.has_plain_context()) {
            self.tell_model(MessageKind::Text, text);
        }
    }

    /// Returns stderr as the client quotes it: untrimmed.
    fn quoted_stderr(&self) -> &'a str {
        match (self.reading, self.run.stderr) {
            (ParsedAnswer::Foreign(..), _) => OTHER_EVENT_TEXT,
            (_, "") => MISSING_STDERR_TEXT,
            (_, text) => text,
        }
    }

    /// Returns true if exit 2 counts as a block.
    fn exit_blocks(&self) -> bool {
        self.run.exit == 2
            && !missing_script(self.run)
            && match self.reading {
                ParsedAnswer::Foreign(..) => {
                    self.run.event == EventName::PreToolUse
                        && self.contract.unreadable_exit_2_blocks_tools()
                }
                ParsedAnswer::Void(..) => self.contract.exit_2_blocks_despite_invalid_json(),
                _ => true,
            }
    }

    /// Returns the reason of a block by JSON or exit 2; the reason in the JSON has precedence.
    fn block_reason(&self) -> Option<(MessageKind, &'a str)> {
        (self.said.blocks || self.exit_blocks()).then(|| self.failure_reason())
    }

    /// Returns the reason in the JSON of a failed hook, otherwise its stderr, even if the hook blocks nothing.
    fn failure_reason(&self) -> (MessageKind, &'a str) {
        if self.said.blocks {
            (MessageKind::Reason, self.said.reason.unwrap_or(MISSING_REASON_TEXT))
        } else {
            (MessageKind::Stderr, self.quoted_stderr())
        }
    }

    /// Applies `continue: false` on an event that honours it.
    fn apply_stop(&mut self) -> bool {
        if self.said.stops {
            self.verdict.turn = TurnEffect::Stops;
            if let Some(reason) = self.said.stop_reason {
                self.tell_user(MessageKind::Reason, reason);
            }
        }
        self.said.stops
    }

    /// Shows a failed hook's stderr to the user, on events on which exit 2 is just a failure.
    fn add_failure(&mut self) {
        if self.run.exit != 0 && !javascript::trim(self.run.stderr).is_empty() {
            self.tell_user(MessageKind::Stderr, self.quoted_stderr());
        }
    }

    /// Returns the effects in a sentence.
    fn action(&self) -> String {
        let tool = match self.verdict.tool {
            Some(ToolCallEffect::Blocked) => "The tool does not run.",
            Some(ToolCallEffect::Asks) => {
                "The tool does not run: a headless run cannot ask the user."
            }
            Some(ToolCallEffect::Deferred) => {
                "The tool does not run: the run ends with the call pending."
            }
            Some(ToolCallEffect::Rewritten) => "The tool runs with the hook's input.",
            Some(ToolCallEffect::Runs) => "The tool call is allowed.",
            Some(ToolCallEffect::Unchanged) => "The tool call continues as if there were no hook.",
            None => "",
        };
        let turn = match self.verdict.turn {
            TurnEffect::Stops => "The turn ends.",
            TurnEffect::KeptGoing => "The agent keeps going.",
            TurnEffect::Erased => "The prompt is erased and does not reach the model.",
            TurnEffect::Continues => "",
        };
        let sentences = [tool, turn, self.prevents.unwrap_or_default()];
        let said: Vec<&str> =
            sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect();
        if !said.is_empty() {
            return said.join(" ");
        }
        if matches!(self.reading, ParsedAnswer::Async { .. }) {
            return "The hook goes to the background and decides nothing.".to_owned();
        }
        if self.verdict.to_model.is_empty() && self.verdict.to_user.is_empty() {
            return "No effect: as if there were no hook.".to_owned();
        }
        "The event continues; only the messages below are added.".to_owned()
    }
}

/// Returns true if the client reads exit 2 as a missing script. An interpreter without its script also exits
/// with 2; on events on which that would keep an agent going forever, the client checks stderr for it.
pub(super) fn missing_script(run: &HookRun<'_>) -> bool {
    use EventName::{Stop, SubagentStop, TaskCompleted, TeammateIdle};
    let loops = matches!(run.event, Stop | SubagentStop | TaskCompleted | TeammateIdle);
    let stderr = run.stderr.to_lowercase();
    loops
        && run.exit == 2
        && javascript::trim(run.stdout).is_empty()
        && (stderr.contains("no such file") || stderr.contains("can't open"))
}

/// Escapes a key for a JSON pointer.
pub(super) fn escape_pointer_key(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Creates a message that no limit applies to.
fn unlimited_message(kind: MessageKind, text: &str) -> Message {
    Message { kind, text: text.to_owned(), truncated: false }
}

/// Returns the preview of a long text. It ends with a whole line, unless that would leave less than half of it.
fn preview_of(text: &str) -> &str {
    let preview = crate::output::prefix_within(text, PREVIEW_UNITS);
    let lines = preview.rfind('\n').map(|end| &preview[..end]);
    lines.filter(|lines| utf16_units(lines) > PREVIEW_UNITS / 2).unwrap_or(preview)
}

/// Creates a message within the client's limit. The limit does not apply to reasons and stderr.
fn limited_message(kind: MessageKind, text: &str) -> Message {
    let capped = matches!(kind, MessageKind::Context | MessageKind::Text);
    let truncated = capped && text.len() > TEXT_LIMIT_UNITS && utf16_units(text) > TEXT_LIMIT_UNITS;
    let text = if truncated { preview_of(text) } else { text };
    Message { kind, text: text.to_owned(), truncated }
}
