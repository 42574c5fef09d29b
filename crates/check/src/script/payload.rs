//! The keys that a script reads from its payload, compared with the keys that the client sends.

use std::collections::BTreeSet;
use std::ops::Range;

use rutter_contract::EventName;
use rutter_contract::table::{self, UNIVERSAL_INPUT};

use super::ScriptContext;

/// A read of a key that the client never sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsentKey {
    /// Position of the read.
    pub range: Range<usize>,
    /// The key, below `tool_input` with this prefix.
    pub key: String,
    /// The path that was probably meant.
    pub meant: Option<&'static str>,
    /// The events that send the key. Empty if none does.
    pub sent_by: Vec<EventName>,
}

/// A read of a key of the payload.
#[derive(Debug)]
pub(super) struct KeyRead {
    pub(super) range: Range<usize>,
    /// True for a key of `tool_input`.
    pub(super) is_tool_input: bool,
    pub(super) key: String,
    /// The keys that the same expression or statement reads instead.
    pub(super) alternatives: Vec<String>,
}

/// Words of other programs whose hooks send other payloads. A script that names one may serve several programs.
const OTHER_PROGRAMS: [&str; 22] = [
    "cursor",
    "codex",
    "gemini",
    "copilot",
    "windsurf",
    "opencode",
    "droid",
    "cline",
    "kiro",
    "qwen",
    "amp",
    "aider",
    "continue.dev",
    "roo",
    "vscode",
    "vs code",
    "antigravity",
    "crush",
    "goose",
    "augment",
    "trae",
    "openclaw",
];

/// Keys of other payloads, with the path that has their value.
const MEANT_PATHS: &[(&[&str], &str)] = &[
    (&["tool", "toolName", "tool_type", "toolType"], "tool_name"),
    (
        &[
            "input",
            "toolInput",
            "args",
            "arguments",
            "params",
            "parameters",
            "tool_args",
            "toolArgs",
        ],
        "tool_input",
    ),
    (&["command", "cmd"], "tool_input.command"),
    (&["file_path", "filePath", "file", "path", "filename"], "tool_input.file_path"),
    (&["content", "new_content"], "tool_input.content"),
    (&["old_string", "oldString"], "tool_input.old_string"),
    (&["new_string", "newString"], "tool_input.new_string"),
    (
        &[
            "tool_output",
            "toolOutput",
            "output",
            "result",
            "tool_result",
            "toolResult",
            "toolResponse",
            "response",
            "stdout",
            "stderr",
        ],
        "tool_response",
    ),
    (&["user_prompt", "userPrompt", "user_message", "userMessage", "text", "query"], "prompt"),
    (&["sessionId", "session"], "session_id"),
    (&["transcriptPath", "transcript"], "transcript_path"),
    (
        &[
            "event",
            "eventName",
            "event_name",
            "hook_event",
            "hookEvent",
            "hookEventName",
            "hook_type",
            "phase",
        ],
        "hook_event_name",
    ),
    (&["workingDirectory", "working_directory", "working_dir"], "cwd"),
    (&["permissionMode"], "permission_mode"),
    (&["stopHookActive"], "stop_hook_active"),
    (&["subagent_type", "agent_name", "agentName", "agentType"], "agent_type"),
    (&["agentId"], "agent_id"),
    (&["notificationType"], "notification_type"),
    (&["lastAssistantMessage"], "last_assistant_message"),
];

/// Keys of other payloads that have no counterpart. A read of any other unknown key may be an optional extension.
const KEYS_WITHOUT_COUNTERPART: [&str; 4] = ["exit_code", "exitCode", "exit_status", "returncode"];

/// Wrong keys of `tool_input`: the tools, the keys, and the right key.
const TOOL_INPUT_KEYS: &[(&[&str], &[&str], &str)] = &[
    (
        &["Edit", "Write", "Read", "MultiEdit"],
        &["path", "filePath", "file", "filename", "filepath", "fileName", "file_name"],
        "file_path",
    ),
    (&["Bash"], &["cmd", "script", "bash_command", "shell_command"], "command"),
];

/// Returns the reads of keys that the client does not send to the script. The keys that the script gives to what it reads
/// are the text of `written_keys`: they are no reads.
pub(super) fn find_unsent_keys(
    reads: &[KeyRead],
    text: &str,
    written_keys: &[Range<usize>],
    context: &ScriptContext<'_>,
) -> Vec<UnsentKey> {
    if is_for_other_programs(text) {
        return Vec::new();
    }
    let sent = sent_keys(context.events);
    let unwritten = without_ranges(text, written_keys);
    let read: BTreeSet<&str> = reads
        .iter()
        .flat_map(|read| std::iter::once(&read.key).chain(&read.alternatives))
        .map(String::as_str)
        .collect();
    let mut found = Vec::new();
    for read_key in reads {
        let KeyRead { range, key, alternatives, .. } = read_key;
        if read_key.is_tool_input {
            found.extend(find_wrong_input_key(read_key, &read, context));
            continue;
        }
        if sent.contains(key.as_str())
            || alternatives.iter().any(|other| sent.contains(other.as_str()))
        {
            continue;
        }
        let sent_by: Vec<EventName> = EventName::ALL
            .into_iter()
            .filter(|event| table::event_spec(*event).input.iter().any(|field| field.name == key))
            .collect();
        // A script for several events may read the keys of each.
        if !sent_by.is_empty() && (context.events.len() != 1 || is_for_several_events(text, &read))
        {
            continue;
        }
        let meant = meant_path(key, &sent);
        let is_known = meant.is_some()
            || KEYS_WITHOUT_COUNTERPART.contains(&key.as_str())
            || !sent_by.is_empty();
        if !is_known {
            continue;
        }
        // The script reads the right key too: this read is for another version or another program.
        if meant.is_some_and(|path| {
            let first = path.split('.').next().unwrap_or(path);
            mentions_key(&unwritten, first) && path.split('.').all(|name| text.contains(name))
        }) {
            continue;
        }
        let (range, key) = (range.clone(), key.clone());
        found.push(UnsentKey { range, key, meant, sent_by });
    }
    found
}

fn find_wrong_input_key(
    read: &KeyRead,
    all: &BTreeSet<&str>,
    context: &ScriptContext<'_>,
) -> Option<UnsentKey> {
    if context.tools.is_empty() {
        return None;
    }
    let (tools, _, meant) =
        TOOL_INPUT_KEYS.iter().find(|(_, keys, _)| keys.contains(&read.key.as_str()))?;
    let is_for_tools = context.tools.iter().all(|tool| tools.contains(tool));
    let path = if *meant == "command" { "tool_input.command" } else { "tool_input.file_path" };
    (is_for_tools && !all.contains(meant)).then(|| UnsentKey {
        range: read.range.clone(),
        key: format!("tool_input.{}", read.key),
        meant: Some(path),
        sent_by: Vec::new(),
    })
}

/// Returns the keys that the client sends with the events, or with any event if there are none.
fn sent_keys(events: &[EventName]) -> BTreeSet<&'static str> {
    let all = EventName::ALL;
    let events = if events.is_empty() { &all[..] } else { events };
    events
        .iter()
        .flat_map(|event| table::event_spec(*event).input)
        .chain(UNIVERSAL_INPUT)
        .map(|field| field.name)
        .collect()
}

fn meant_path(key: &str, sent: &BTreeSet<&'static str>) -> Option<&'static str> {
    let (_, path) = MEANT_PATHS.iter().find(|(keys, _)| keys.contains(&key))?;
    sent.contains(path.split('.').next()?).then_some(path)
}

/// Returns true if a text names another program with hooks.
pub fn is_for_other_programs(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    OTHER_PROGRAMS.iter().any(|program| has_word(&text, program))
}

fn is_for_several_events(text: &str, read: &BTreeSet<&str>) -> bool {
    read.contains("hook_event_name") || has_word(text, "hook_event_name")
}

/// Returns true if a text has a word that is not a part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |sign: char| sign.is_alphanumeric();
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

/// Returns a text with spaces in place of the ranges.
fn without_ranges(text: &str, ranges: &[Range<usize>]) -> String {
    let mut rest = text.to_owned();
    for range in ranges {
        if rest.get(range.clone()).is_some() {
            rest.replace_range(range.clone(), &" ".repeat(range.len()));
        }
    }
    rest
}

/// Returns true if a text has a word that may be a key: one that is neither expanded nor assigned as a variable.
fn mentions_key(text: &str, key: &str) -> bool {
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
    text.match_indices(key).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + key.len()..]);
        let is_word = !before.ends_with(is_part) && !behind.starts_with(is_part);
        let is_expanded = before.ends_with('$') || before.ends_with("${");
        let is_assigned = behind.starts_with('=') && !behind.starts_with("==");
        is_word && !is_expanded && !is_assigned
    })
}
