//! The catalogue of known mistakes: a description of each, its cause, the fix, and an example.
//! `docs/reference/mistakes.md` is generated from these entries.

use super::MistakeSeverity::{self, Error, Info, Warning};
use crate::name::EventName;
use crate::name::EventName::{
    Notification, PermissionRequest, PostToolUse, PreToolUse, SessionEnd, SessionStart, Stop,
    SubagentStop, UserPromptSubmit, WorktreeCreate,
};

/// A known mistake in an answer.
#[derive(Debug)]
pub struct Mistake {
    /// The code in reports.
    pub code: &'static str,
    /// The severity.
    pub severity: MistakeSeverity,
    /// A one-line description.
    pub title: &'static str,
    /// The cause and the consequence.
    pub why: &'static str,
    /// The fix.
    pub help: &'static str,
    /// An answer with the mistake.
    pub example: MistakeExample,
}

/// An answer to an event.
#[derive(Debug)]
pub struct MistakeExample {
    /// The event.
    pub event: EventName,
    /// The hook's stdout.
    pub stdout: &'static str,
    /// The hook's stderr.
    pub stderr: &'static str,
    /// The hook's exit code.
    pub exit: i32,
}

const fn stdout_example(event: EventName, stdout: &'static str) -> MistakeExample {
    MistakeExample { event, stdout, stderr: "", exit: 0 }
}

/// Returns the entry of a code.
pub fn find_mistake(code: &str) -> Option<&'static Mistake> {
    CATALOGUE.iter().find(|mistake| mistake.code == code)
}

/// All known mistakes.
pub static CATALOGUE: &[Mistake] = &[
    Mistake {
        code: "type-content",
        severity: Error,
        title: "`{\"type\", \"content\"}` is another program's message",
        why: "The client knows neither key. It reads the object, finds nothing to do, and says \
              so only in its debug log.",
        help: "put the text into hookSpecificOutput.additionalContext, with hookEventName beside it",
        example: stdout_example(
            PostToolUse,
            r#"{"type":"suggestion","content":"Test FAILED","prompt":"Track it?"}"#,
        ),
    },
    Mistake {
        code: "context-key",
        severity: Error,
        title: "`context` is not a key of the contract",
        why: "It is accepted as an unknown key and dropped.",
        help: "the key is hookSpecificOutput.additionalContext, with hookEventName beside it",
        example: stdout_example(UserPromptSubmit, r#"{"context":"Branch: main"}"#),
    },
    Mistake {
        code: "top-level-context",
        severity: Error,
        title: "`additionalContext` at the top level is dropped",
        why: "Other agents read it there; Claude Code reads it only inside hookSpecificOutput.",
        help: "move it into hookSpecificOutput, with hookEventName beside it",
        example: stdout_example(SessionStart, r#"{"additionalContext":"Branch: main"}"#),
    },
    Mistake {
        code: "top-level-permission",
        severity: Error,
        title: "`permissionDecision` at the top level is dropped: the tool runs",
        why: "It is the shape of GitHub Copilot. Claude Code takes it for an unknown key, so a \
              deny denies nothing.",
        help: "move it into hookSpecificOutput, with hookEventName beside it",
        example: stdout_example(
            PreToolUse,
            r#"{"permissionDecision":"deny","permissionDecisionReason":"not here"}"#,
        ),
    },
    Mistake {
        code: "permission-value",
        severity: Error,
        title: "`permissionDecision` has a value that does not exist",
        why: "A known key with an unknown value voids the whole answer, and the tool runs.",
        help: "use allow, deny, ask or defer",
        example: stdout_example(
            PreToolUse,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"block","permissionDecisionReason":"not here"}}"#,
        ),
    },
    Mistake {
        code: "permission-elsewhere",
        severity: Error,
        title: "`permissionDecision` on an event that does not read it",
        why: "Only PreToolUse and PreModelSwitch read it. On other events it is an unknown key \
              without effect.",
        help: "use the decision field of this event",
        example: stdout_example(
            SubagentStop,
            r#"{"hookSpecificOutput":{"hookEventName":"SubagentStop","permissionDecision":"deny","permissionDecisionReason":"tests are red"}}"#,
        ),
    },
    Mistake {
        code: "decision-value",
        severity: Error,
        title: "top-level `decision` accepts only `block` and `approve`",
        why: "Any other value voids the whole answer, on every event.",
        help: "use the decision field of this event; to allow the action, print nothing",
        example: stdout_example(PreToolUse, r#"{"decision":"deny","reason":"not here"}"#),
    },
    Mistake {
        code: "decision-nested",
        severity: Error,
        title: "only PermissionRequest reads `decision` inside hookSpecificOutput",
        why: "Elsewhere it is an unknown key: the agent stops although the hook wanted it to \
              go on.",
        help: "move decision and reason to the top level",
        example: stdout_example(
            Stop,
            r#"{"hookSpecificOutput":{"hookEventName":"Stop","decision":"block","reason":"tests are red"}}"#,
        ),
    },
    Mistake {
        code: "deprecated-decision",
        severity: Warning,
        title: "top-level `decision` on PreToolUse works and is deprecated",
        why: "`approve` allows and `block` denies, today. The documentation says not to rely \
              on it.",
        help: "use hookSpecificOutput.permissionDecision",
        example: stdout_example(PreToolUse, r#"{"decision":"block","reason":"not here"}"#),
    },
    Mistake {
        code: "approve-ignored",
        severity: Warning,
        title: "`approve` has no effect here",
        why: "The client accepts it on every event, but acts on it only before a tool call.",
        help: "leave it out: an empty answer allows the action",
        example: stdout_example(Stop, r#"{"decision":"approve"}"#),
    },
    Mistake {
        code: "event-name-missing",
        severity: Error,
        title: "hookSpecificOutput without `hookEventName` is void",
        why: "The client needs it to know which fields to expect, and drops the whole answer \
              without it.",
        help: "add \"hookEventName\" with the name of the firing event",
        example: stdout_example(
            SessionStart,
            r#"{"hookSpecificOutput":{"additionalContext":"Branch: main"}}"#,
        ),
    },
    Mistake {
        code: "event-name-unknown",
        severity: Error,
        title: "`hookEventName` names no event that takes a hookSpecificOutput",
        why: "A misspelt name voids the answer, and so does an event that takes no \
              hookSpecificOutput.",
        help: "write the name of the firing event as the client writes it",
        example: stdout_example(
            PreToolUse,
            r#"{"hookSpecificOutput":{"hookEventName":"PreCompact","additionalContext":"check-in"}}"#,
        ),
    },
    Mistake {
        code: "event-name-case",
        severity: Error,
        title: "`hookEventName` is case-sensitive",
        why: "The client does not recognise `pretooluse`, and the whole answer is void.",
        help: "write the name of the firing event as the client writes it",
        example: stdout_example(
            PreToolUse,
            r#"{"hookSpecificOutput":{"hookEventName":"pretooluse","additionalContext":"check-in"}}"#,
        ),
    },
    Mistake {
        code: "event-name-legacy",
        severity: Error,
        title: "`hookEventName` is a name that Claude Code never had",
        why: "Many documents have PreToolCall and PostToolCall; other agents use BeforeTool or \
              AfterAgent. The client knows PreToolUse, PostToolUse and Stop.",
        help: "write the name of the firing event as the client writes it",
        example: stdout_example(
            PreToolUse,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolCall","additionalContext":"check-in"}}"#,
        ),
    },
    Mistake {
        code: "event-name-other",
        severity: Error,
        title: "`hookEventName` names another event",
        why: "The client treats that as an error of the hook and drops the whole answer; on \
              most events it ignores even exit 2.",
        help: "write the name of the event that the hook runs for; it is in hook_event_name on stdin",
        example: stdout_example(
            PostToolUse,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"x"}}"#,
        ),
    },
    Mistake {
        code: "output-rejected",
        severity: Error,
        title: "this event rejects a hookSpecificOutput",
        why: "A hookSpecificOutput on this event voids the whole answer.",
        help: "leave hookSpecificOutput out",
        example: stdout_example(
            SessionEnd,
            r#"{"hookSpecificOutput":{"hookEventName":"SessionEnd","additionalContext":"bye"}}"#,
        ),
    },
    Mistake {
        code: "message-nested",
        severity: Error,
        title: "`systemMessage` inside hookSpecificOutput is dropped",
        why: "It is a field of the top level; inside it is an unknown key.",
        help: "move it to the top level",
        example: stdout_example(
            PreToolUse,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","systemMessage":"hello"}}"#,
        ),
    },
    Mistake {
        code: "ok-answer",
        severity: Error,
        title: "`{\"ok\"}` is the answer of a prompt hook's model, not of a command",
        why: "A command that prints it decides nothing.",
        help: "use the decision field of this event",
        example: stdout_example(Stop, r#"{"ok":false,"reason":"tests are red"}"#),
    },
    Mistake {
        code: "action-answer",
        severity: Error,
        title: "`action` at the top level is dropped",
        why: "Elicitations read it inside hookSpecificOutput; no other event reads it at all.",
        help: "use the decision field of this event",
        example: stdout_example(PreToolUse, r#"{"action":"block","reason":"not here"}"#),
    },
    Mistake {
        code: "text-boolean",
        severity: Error,
        title: "a boolean in quotes voids the answer",
        why: "\"true\" is a string. A shell script that pastes a variable between quotes makes \
              one.",
        help: "leave the quotes off",
        example: stdout_example(Stop, r#"{"continue":"true"}"#),
    },
    Mistake {
        code: "null-value",
        severity: Error,
        title: "`null` is not the same as leaving a key out",
        why: "A null field voids the whole answer. Serialisers write null for empty optionals.",
        help: "leave the key out",
        example: stdout_example(
            UserPromptSubmit,
            r#"{"systemMessage":null,"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"x"}}"#,
        ),
    },
    Mistake {
        code: "wrong-type",
        severity: Error,
        title: "a known key of the wrong type voids the answer",
        why: "The client drops all of it, and reports the first such key only.",
        help: "give it the type that the schema of this event asks for",
        example: stdout_example(
            SessionStart,
            r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":{"text":"x"}}}"#,
        ),
    },
    Mistake {
        code: "decision-missing",
        severity: Error,
        title: "a PermissionRequest answer needs `hookSpecificOutput.decision`",
        why: "Without it the whole answer is void, whatever else it says.",
        help: "add \"decision\": {\"behavior\": \"allow\"} or {\"behavior\": \"deny\", \"message\": …}",
        example: stdout_example(
            PermissionRequest,
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","permissionDecision":"deny","permissionDecisionReason":"not here"}}"#,
        ),
    },
    Mistake {
        code: "other-variant",
        severity: Warning,
        title: "a field of the other decision is ignored",
        why: "`updatedInput` and `updatedPermissions` go with allow, `message` and `interrupt` \
              with deny.",
        help: "leave it out",
        example: stdout_example(
            PermissionRequest,
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","message":"fine"}}}"#,
        ),
    },
    Mistake {
        code: "text-before-json",
        severity: Error,
        title: "text before the JSON makes all of it plain text",
        why: "Only an answer whose first character is `{` is read as JSON. A greeting from a \
              profile script is enough to lose a deny.",
        help: "print the JSON alone; send everything else to stderr or a file",
        example: stdout_example(
            PreToolUse,
            "starting up\n{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"not here\"}}",
        ),
    },
    Mistake {
        code: "text-after-json",
        severity: Error,
        title: "text after the JSON makes all of it plain text",
        why: "Output that starts with `{` and does not end with `}` counts as plain text. On \
              the events whose plain stdout is context, the model reads the raw JSON.",
        help: "print the JSON alone; send everything else to stderr or a file",
        example: stdout_example(
            PreToolUse,
            "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"not here\"}}\nall good\n",
        ),
    },
    Mistake {
        code: "two-objects",
        severity: Error,
        title: "two objects are not valid JSON",
        why: "A hook answers with one object. Two of them, on one line or several, are an \
              error, and on older clients plain text.",
        help: "merge them into one",
        example: stdout_example(
            Stop,
            "{\"decision\":\"block\",\"reason\":\"tests are red\"}\n{\"continue\":true}",
        ),
    },
    Mistake {
        code: "truncated-json",
        severity: Error,
        title: "the JSON ends too early",
        why: "It starts with `{` and does not end: the client takes it for plain text.",
        help: "print the whole object with a JSON encoder",
        example: stdout_example(
            UserPromptSubmit,
            r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"x""#,
        ),
    },
    Mistake {
        code: "broken-json",
        severity: Error,
        title: "it looks like JSON but is invalid",
        why: "Trailing commas, single quotes, comments, raw line breaks in strings: JSON.parse \
              refuses them, and the answer is lost.",
        help: "print it with a JSON encoder (jq, json.dumps, JSON.stringify) instead of pasting strings together",
        example: stdout_example(SessionStart, r#"{"systemMessage":"hello",}"#),
    },
    Mistake {
        code: "too-long",
        severity: Warning,
        title: "the text is longer than 10,000 UTF-16 units",
        why: "The reader gets the first 2,000 and the path of a file with the rest.",
        help: "shorten it; put the important part first",
        // A placeholder: the real text would fill the page.
        example: stdout_example(SessionStart, LONG_TEXT),
    },
    Mistake {
        code: "exit-1",
        severity: Error,
        title: "exit 1 does not block",
        why: "Only exit 2 blocks. Any other code is a failure of the hook, which the client \
              ignores: the action continues.",
        help: "exit 2, or print the decision as JSON and exit 0",
        example: MistakeExample {
            event: PreToolUse,
            stdout: "",
            stderr: "no shell in this project",
            exit: 1,
        },
    },
    Mistake {
        code: "exit-2-silent",
        severity: Warning,
        title: "exit 2 without stderr blocks without a reason",
        why: "The reader gets \"No stderr output\", and the agent cannot act on that.",
        help: "write the reason to stderr",
        example: MistakeExample { event: PreToolUse, stdout: "", stderr: "", exit: 2 },
    },
    Mistake {
        code: "exit-2-ignored",
        severity: Error,
        title: "exit 2 blocks nothing on this event",
        why: "The event cannot be blocked, or not by an exit code.",
        help: "use the decision field of this event, if it has one",
        example: MistakeExample {
            event: PermissionRequest,
            stdout: "",
            stderr: "not here",
            exit: 2,
        },
    },
    Mistake {
        code: "missing-script",
        severity: Error,
        title: "the client treats this exit 2 as a missing script",
        why: "An interpreter that finds no script also exits with 2. With nothing on stdout and \
              \"no such file\" or \"can't open\" on stderr, the client ignores the exit code, \
              so that a broken hook does not keep the agent running for ever.",
        help: "check the path of the script; if the hook did run, use other words or JSON",
        example: MistakeExample {
            event: Stop,
            stdout: "",
            stderr: "python3: can't open file 'gate.py': [Errno 2] No such file or directory",
            exit: 2,
        },
    },
    Mistake {
        code: "stop-is-no-guard",
        severity: Error,
        title: "`continue: false` on PreToolUse ends the turn after the tool has run",
        why: "The pending call still runs: measured in five of five runs.",
        help: "deny the call as well: hookSpecificOutput.permissionDecision",
        example: stdout_example(PreToolUse, r#"{"continue":false,"stopReason":"not here"}"#),
    },
    Mistake {
        code: "internal-fields",
        severity: Warning,
        title: "the answer contains internal fields of the hook's program",
        why: "`context_files`, `suggestions`, `exit_code` and the like mean nothing to the client.",
        help: "serialise the answer, not the program's state",
        example: stdout_example(
            SessionStart,
            r#"{"context_files":["tests/"],"exit_code":0,"systemMessage":"hello"}"#,
        ),
    },
    Mistake {
        code: "token-count",
        severity: Warning,
        title: "`token_count` is dropped",
        why: "The client counts for itself.",
        help: "leave it out",
        example: stdout_example(
            SessionStart,
            r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"x","token_count":3}}"#,
        ),
    },
    Mistake {
        code: "unknown-key",
        severity: Warning,
        title: "a key that the client does not know is dropped",
        why: "Unknown keys are no error to the client: it mentions them in its debug log and \
              nowhere else.",
        help: "check the spelling and the place against the schema of this event",
        example: stdout_example(Stop, r#"{"desicion":"block","reason":"tests are red"}"#),
    },
    Mistake {
        code: "ignored-here",
        severity: Warning,
        title: "the client knows this key and ignores it on this event",
        why: "The effect of a key depends on the event.",
        help: "leave it out, or use a key that this event acts on",
        example: stdout_example(Notification, r#"{"decision":"block","reason":"quiet"}"#),
    },
    Mistake {
        code: "newer-key",
        severity: Warning,
        title: "a later client version added this key",
        why: "The given client version drops it as unknown.",
        help: "leave it out, or require the newer client",
        example: stdout_example(
            PostToolUse,
            r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","classifierContext":"x"}}"#,
        ),
    },
    Mistake {
        code: "text-unread",
        severity: Warning,
        title: "plain stdout goes to the debug log on this event",
        why: "It is context only on SessionStart, UserPromptSubmit, UserPromptExpansion and \
              PostModelSwitch.",
        help: "answer with JSON, if this event takes a text at all",
        example: stdout_example(PostToolUse, "remember to run the tests"),
    },
    Mistake {
        code: "json-as-path",
        severity: Error,
        title: "a WorktreeCreate command prints the path, not JSON",
        why: "The client uses the last line of its stdout as the path, whatever it is. The JSON \
              form is for HTTP handlers.",
        help: "print the path alone",
        example: stdout_example(
            WorktreeCreate,
            r#"{"hookSpecificOutput":{"hookEventName":"WorktreeCreate","worktreePath":"/w/a"}}"#,
        ),
    },
    Mistake {
        code: "context-unread",
        severity: Warning,
        title: "the context is not delivered",
        why: "Another part of the answer, or the exit code, ends the turn before the model \
              reads again.",
        help: "send only one of the two",
        example: MistakeExample {
            event: UserPromptSubmit,
            stdout: r#"{"decision":"block","reason":"no","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"x"}}"#,
            stderr: "",
            exit: 0,
        },
    },
    Mistake {
        code: "no-reason",
        severity: Warning,
        title: "a block without a reason",
        why: "The reader gets \"Blocked by hook\", and the agent cannot act on that.",
        help: "add a reason",
        example: stdout_example(Stop, r#"{"decision":"block"}"#),
    },
    Mistake {
        code: "message-unseen",
        severity: Info,
        title: "the message is not seen in a headless run",
        why: "On this event the client shows a systemMessage only in a terminal, or not at all.",
        help: "nothing, if it is for a person at a terminal",
        example: stdout_example(SessionStart, r#"{"systemMessage":"hello"}"#),
    },
    Mistake {
        code: "asked-elsewhere",
        severity: Info,
        title: "this client asks for permission only if a user can answer",
        why: "In a plain headless run of it PermissionRequest does not fire; with a permission prompt it does.",
        help: "nothing; use PreToolUse for checks that must always run",
        example: stdout_example(
            PermissionRequest,
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#,
        ),
    },
    Mistake {
        code: "rewritten-input",
        severity: Info,
        title: "the new input must fit the tool's own schema",
        why: "It replaces the whole input. If it does not fit, the call fails and the model \
              reads why.",
        help: "nothing, if it fits; start from tool_input of the payload and change what must change",
        example: stdout_example(
            PreToolUse,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"ls"}}}"#,
        ),
    },
    Mistake {
        code: "asks-nobody",
        severity: Info,
        title: "`ask` is a refusal in a headless run",
        why: "In a headless run the call does not run and the reason goes to the model. In an \
              interactive session the user is asked and reads the reason.",
        help: "nothing, if that is intended; `deny` works the same in both",
        example: stdout_example(
            PreToolUse,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}"#,
        ),
    },
    Mistake {
        code: "defers",
        severity: Info,
        title: "`defer` works in a headless run with a single tool call",
        why: "The run ends with the call pending. An interactive session cannot hand the call \
              over.",
        help: "nothing, if that is intended",
        example: stdout_example(
            PreToolUse,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"defer"}}"#,
        ),
    },
    Mistake {
        code: "background",
        severity: Info,
        title: "the hook goes to the background",
        why: "`async: true` on the first line ends the wait. Everything else on that line is \
              dropped; later output may still have a systemMessage or context, both for the \
              model.",
        help: "nothing, if that is intended; a decision needs a hook that the client waits for",
        example: stdout_example(PostToolUse, r#"{"async":true}"#),
    },
];

const LONG_TEXT: &str = "(a text of more than 10,000 UTF-16 units)";
