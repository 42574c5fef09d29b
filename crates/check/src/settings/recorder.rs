//! The recorder in front of command hooks: `rutter contract record on` adds it to the text of a settings file, and `off` removes
//! it.
//!
//! The recorder is added by insertions, and every byte of the original stays in the text. So it is removed exactly without a
//! copy of the file, whatever else was edited in the meantime. All readers of settings see the hooks without the recorder.
//!
//! | Original | With the recorder |
//! |---|---|
//! | `guard.sh -v` | `exec RUTTER contract recorded-run EVENT ID -- guard.sh -v` |
//! | any other shell line | `exec RUTTER contract recorded-run EVENT ID -c 'LINE'` |
//! | a program with `args` | RUTTER, with `contract`, `recorded-run`, EVENT, ID, `--` and the program before the arguments |

use std::ops::Range;

use rutter_contract::EventName;
use serde_json::Value;

use super::outline::{JsonItem, JsonOutline, JsonType};
use crate::text_edit::{TextEdit, apply_edits};

/// The words of the recorder's command line, between the program and the event.
pub const RECORDER_WORDS: [&str; 2] = ["contract", "recorded-run"];
/// The word before a program with arguments.
pub const PROGRAM_WORD: &str = "--";
/// The option before a line for a shell.
pub const SHELL_OPTION: &str = "-c";

/// The recorder's words in a shell line.
const RECORDER_MARK: &str = " contract recorded-run ";
/// Start of a shell line with the recorder. No shell waits for the end of the recorder.
const LINE_START: &str = "exec ";
/// The text that ends a quotation, adds a quote and starts a quotation, after the quote that is there. In JSON.
const QUOTE_REST: &str = r"\\''";
/// Programs that no shell has built in, so that a line can start them without a shell of its own.
const KNOWN_PROGRAMS: [&str; 11] =
    ["bash", "bun", "deno", "node", "npx", "perl", "python", "python3", "ruby", "sh", "uv"];

/// A text of settings after the recorder was added or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecorderEdit {
    /// The new text.
    pub text: String,
    /// Number of changed entries.
    pub entries: usize,
}

/// Puts the recorder in front of the command hooks for which `identify` returns an id. Returns None if the text is not JSON.
pub fn add_recorder(
    text: &str,
    program: &str,
    identify: &dyn Fn(EventName, &Value) -> Option<String>,
) -> Option<RecorderEdit> {
    edit_handlers(text, |outline, handler| {
        if handler.recorded_parts(outline).is_some() {
            return None;
        }
        let value: Value = serde_json::from_str(outline.slice(&handler.range)).ok()?;
        let id = identify(handler.event, &value)?;
        handler.plan_addition(outline, &value, program, &id)
    })
}

/// Removes the recorder from all hooks. Returns None if the text is not JSON.
pub fn remove_recorder(text: &str) -> Option<RecorderEdit> {
    edit_handlers(text, |outline, handler| {
        Some(match handler.recorded_parts(outline)? {
            RecordedParts::Line { prefix, quoted } => {
                let mut edits = vec![removal(prefix)];
                edits.extend(quoted.into_iter().flat_map(|quoted| unquote_edits(text, quoted)));
                edits
            }
            RecordedParts::Arguments { command, removed } => vec![
                TextEdit {
                    range: handler.command.clone(),
                    text: outline.slice(&command).to_owned(),
                },
                removal(removed),
            ],
        })
    })
}

/// Returns true if a text may have the recorder in it.
pub(super) fn may_have_recorder(text: &str) -> bool {
    text.contains(RECORDER_WORDS[1])
}

fn removal(range: Range<usize>) -> TextEdit {
    TextEdit { range, text: String::new() }
}

fn insertion(at: usize, text: impl Into<String>) -> TextEdit {
    TextEdit { range: at..at, text: text.into() }
}

/// A command hook in the text of a settings file.
struct CommandHandler {
    event: EventName,
    range: Range<usize>,
    /// The value of `command`, with its quotes.
    command: Range<usize>,
    /// The value of `args`.
    args: Option<Range<usize>>,
}

/// The parts of the recorder in an entry.
enum RecordedParts {
    /// In a shell line: the text before the original line, and the quoted line up to its last quote.
    Line { prefix: Range<usize>, quoted: Option<Range<usize>> },
    /// In a list of arguments: the original program, and the range to remove.
    Arguments { command: Range<usize>, removed: Range<usize> },
}

/// Applies the edits of all command hooks.
fn edit_handlers(
    text: &str,
    plan: impl Fn(&JsonOutline<'_>, &CommandHandler) -> Option<Vec<TextEdit>>,
) -> Option<RecorderEdit> {
    let (outline, root) = JsonOutline::parse(text).ok()?;
    let planned: Vec<Vec<TextEdit>> = find_handlers(&outline, &root)
        .iter()
        .filter_map(|handler| plan(&outline, handler))
        .collect();
    let entries = planned.len();
    let mut edits: Vec<TextEdit> = planned.into_iter().flatten().collect();
    edits.sort_by_key(|edit| edit.range.start);
    Some(RecorderEdit { text: apply_edits(text, &edits), entries })
}

/// Returns all command hooks of a settings file, including those under duplicate keys.
fn find_handlers(outline: &JsonOutline<'_>, root: &Range<usize>) -> Vec<CommandHandler> {
    let members = |object: &Range<usize>, key: &str, kind: JsonType| -> Vec<Range<usize>> {
        if outline.json_type(object) != JsonType::Object {
            return Vec::new();
        }
        let found = outline.items(object).into_iter();
        let found = found.filter(|item| item.key.as_deref() == Some(key)).map(|item| item.value);
        found.filter(|value| outline.json_type(value) == kind).collect()
    };
    let elements = |list: &Range<usize>| -> Vec<JsonItem> {
        if outline.json_type(list) == JsonType::List { outline.items(list) } else { Vec::new() }
    };
    let mut handlers = Vec::new();
    for hooks in members(root, "hooks", JsonType::Object) {
        for event in outline.items(&hooks) {
            let Some(Ok(name)) = event.key.as_deref().map(str::parse::<EventName>) else {
                continue;
            };
            for group in elements(&event.value) {
                for list in members(&group.value, "hooks", JsonType::List) {
                    let found = elements(&list).into_iter();
                    handlers.extend(
                        found.filter_map(|item| CommandHandler::find(outline, name, item.value)),
                    );
                }
            }
        }
    }
    handlers
}

impl CommandHandler {
    fn find(outline: &JsonOutline<'_>, event: EventName, range: Range<usize>) -> Option<Self> {
        if outline.json_type(&range) != JsonType::Object {
            return None;
        }
        let text = |value: &Range<usize>| serde_json::from_str::<String>(outline.slice(value)).ok();
        let kind = outline.member(&range, "type")?;
        let command = outline.member(&range, "command")?;
        text(&command)?;
        let args = outline.member(&range, "args");
        (text(&kind)? == "command").then_some(Self { event, range, command, args })
    }

    /// Returns the edits that add the recorder. None if the client cannot start the hook as it is written.
    fn plan_addition(
        &self,
        outline: &JsonOutline<'_>,
        value: &Value,
        program: &str,
        id: &str,
    ) -> Option<Vec<TextEdit>> {
        let event = self.event.as_str();
        if let Some(args) = &self.args {
            let items = outline.items(args);
            if !value["args"].as_array()?.iter().all(Value::is_string) {
                return None;
            }
            let command = outline.slice(&self.command);
            let [first, second] = RECORDER_WORDS;
            let words = format!(
                "\"{first}\", \"{second}\", \"{event}\", \"{id}\", \"{PROGRAM_WORD}\", {command}"
            );
            let added = match items.first() {
                Some(item) => insertion(item.range.start, words + ", "),
                None => insertion(args.start + 1, words),
            };
            let program = Value::from(program).to_string();
            return Some(vec![TextEdit { range: self.command.clone(), text: program }, added]);
        }
        if value["shell"] == "powershell" {
            return None;
        }
        let line = value["command"].as_str()?;
        let start = format!("{LINE_START}{}{RECORDER_MARK}{event} {id} ", quote_word(program));
        let inside = self.command.start + 1..self.command.end - 1;
        let json = |text: String| {
            let text = Value::from(text).to_string();
            text[1..text.len() - 1].to_owned()
        };
        if starts_without_shell(line) {
            return Some(vec![insertion(inside.start, json(format!("{start}{PROGRAM_WORD} ")))]);
        }
        let mut edits = vec![insertion(inside.start, json(format!("{start}{SHELL_OPTION} '")))];
        let quotes = quote_ends(outline.text, inside.clone());
        edits.extend(quotes.into_iter().map(|end| insertion(end, QUOTE_REST)));
        edits.push(insertion(inside.end, "'"));
        Some(edits)
    }

    /// Returns the parts of the recorder, if the entry has it.
    fn recorded_parts(&self, outline: &JsonOutline<'_>) -> Option<RecordedParts> {
        if let Some(args) = &self.args {
            let items = outline.items(args);
            let word = |index: usize| {
                let item = items.get(index)?;
                serde_json::from_str::<String>(outline.slice(&item.value)).ok()
            };
            let is = |index: usize, text: &str| word(index).as_deref() == Some(text);
            if !(is(0, RECORDER_WORDS[0]) && is(1, RECORDER_WORDS[1]) && is(4, PROGRAM_WORD)) {
                return None;
            }
            word(5)?;
            let removed = match items.get(6) {
                Some(next) => items[0].range.start..next.range.start,
                None => items[0].range.start..items[5].range.end,
            };
            return Some(RecordedParts::Arguments { command: items[5].value.clone(), removed });
        }
        let inside = self.command.start + 1..self.command.end - 1;
        let raw = outline.slice(&inside);
        let (_, rest) = raw.strip_prefix(LINE_START)?.split_once(RECORDER_MARK)?;
        let mut words = rest.splitn(4, ' ');
        words.next()?.parse::<EventName>().ok()?;
        let id = words.next()?;
        let way = words.next()?;
        let line = words.next()?;
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let start = inside.end - line.len();
        if way == PROGRAM_WORD {
            return Some(RecordedParts::Line { prefix: inside.start..start, quoted: None });
        }
        let body = line.strip_prefix('\'')?.strip_suffix('\'').filter(|_| way == SHELL_OPTION)?;
        let quoted = start + 1..start + 1 + body.len();
        Some(RecordedParts::Line { prefix: inside.start..start + 1, quoted: Some(quoted) })
    }
}

/// Returns the ends of all single quotes in a part of a JSON string.
fn quote_ends(text: &str, part: Range<usize>) -> Vec<usize> {
    let bytes = text.as_bytes();
    let (mut ends, mut at) = (Vec::new(), part.start);
    while at < part.end {
        let length = match bytes[at] {
            b'\\' if bytes.get(at + 1) == Some(&b'u') => 6,
            b'\\' => 2,
            _ => 1,
        };
        let is_escaped = text.get(at..at + 6).is_some_and(|text| text == "\\u0027");
        if bytes[at] == b'\'' || is_escaped {
            ends.push(at + length);
        }
        at += length;
    }
    ends
}

/// Returns the edits that turn a quoted line back: those of its quotes, and that of the last one.
fn unquote_edits(text: &str, quoted: Range<usize>) -> Vec<TextEdit> {
    let (mut edits, mut after) = (Vec::new(), quoted.start);
    for end in quote_ends(text, quoted.clone()) {
        // The quotes of an added text are no quotes of the line.
        if end <= after {
            continue;
        }
        let added = end..end + QUOTE_REST.len();
        if added.end <= quoted.end && text.get(added.clone()) == Some(QUOTE_REST) {
            after = added.end;
            edits.push(removal(added));
        }
    }
    edits.push(removal(quoted.end..quoted.end + 1));
    edits
}

/// Returns true if a line is a program with words, which the client's shell expands: no operators, no builtin, no assignment.
fn starts_without_shell(line: &str) -> bool {
    let is_operator = |sign: char| ";&|<>()`#\\\n\r\0".contains(sign);
    let first = line.split([' ', '\t']).next().unwrap_or_default();
    let is_program = first.contains('/') || KNOWN_PROGRAMS.contains(&first);
    is_program && !first.contains('=') && !line.contains(is_operator)
}

/// Quotes a word for a shell if necessary.
fn quote_word(word: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "/.-_+".contains(sign);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn add(text: &str) -> RecorderEdit {
        add_recorder(text, "/opt/our tools/rutter", &|_, _| Some("0123abcd".to_owned())).unwrap()
    }

    fn settings(handler: &str) -> String {
        format!(
            "{{\"hooks\": {{\"PreToolUse\": [{{\"matcher\": \"Bash\", \"hooks\": [{handler}]}}]}}}}"
        )
    }

    fn handler(text: &str) -> Value {
        let value: Value = serde_json::from_str(text).unwrap();
        value["hooks"]["PreToolUse"][0]["hooks"][0].clone()
    }

    #[test]
    fn every_form_is_restored_exactly() {
        for original in [
            r#"{"type":"command","command":"./guard.sh -v \"$CLAUDE_PROJECT_DIR\"","timeout": 5}"#,
            r#"{ "type" : "command",	"command" : "a && echo 'x' | b\u0027c\u0027 \\u0027 \\''\\'' \/" }"#,
            r#"{"type":"command","command":"'"}"#,
            r#"{"type":"command","command":""}"#,
            r#"{"type":"command","command":"old","command":"grep -q 'x' || exit 2","if":"Bash(git *)"}"#,
            r#"{"type":"command","command":"python3","args":[ "-c" , "print('a')"]}"#,
            r#"{"args":[],"type":"command","command":"/bin/\u0074rue"}"#,
            r#"{"args":[ ],"type":"command","command":"/bin/true", "async": true}"#,
            "{\r\n\t\"type\": \"command\", \r\n\t\"command\": \"x\\ny\" }",
        ] {
            let original = settings(original);
            let recorded = add(&original);
            assert_eq!(recorded.entries, 1, "{original}");
            assert_ne!(recorded.text, original);
            assert_eq!(add(&recorded.text).entries, 0, "it is added once: {}", recorded.text);
            let removed = remove_recorder(&recorded.text).unwrap();
            assert_eq!(removed, RecorderEdit { text: original, entries: 1 });
        }
    }

    #[test]
    fn commands_have_their_form() {
        let command = |line: &str| {
            let text = settings(&json!({ "type": "command", "command": line }).to_string());
            handler(&add(&text).text)["command"].as_str().unwrap().to_owned()
        };
        let start = "exec '/opt/our tools/rutter' contract recorded-run PreToolUse 0123abcd";
        assert_eq!(command("\"$X\"/guard.sh -v"), format!("{start} -- \"$X\"/guard.sh -v"));
        assert_eq!(command("python3 x.py"), format!("{start} -- python3 x.py"));
        for line in ["exit 2", "A=/x b", "./a; b", "./a $(b)", "if /x; then y; fi", "guard"] {
            assert_eq!(command(line), format!("{start} -c '{line}'"));
        }
        assert_eq!(command("echo 'a'"), format!("{start} -c 'echo '\\''a'\\'''"));
        let exec = settings(r#"{"type":"command","command":"g","args":["-v"],"timeout":9}"#);
        let expected = json!({
            "type": "command",
            "command": "/opt/our tools/rutter",
            "args": ["contract", "recorded-run", "PreToolUse", "0123abcd", "--", "g", "-v"],
            "timeout": 9,
        });
        assert_eq!(handler(&add(&exec).text), expected);
    }

    #[test]
    fn other_hooks_are_left_alone() {
        for other in [
            r#"{"type":"prompt","prompt":"x"}"#,
            r#"{"type":"command","command":"x","shell":"powershell"}"#,
            r#"{"type":"command","command":"x","args":[1]}"#,
            r#"{"type":"command","command":"x","args":"y"}"#,
            r#"{"type":"command","command":"\ud800"}"#,
            r#"{"type":"command"}"#,
            "7",
        ] {
            let original = settings(other);
            assert_eq!(add(&original), RecorderEdit { text: original, entries: 0 });
        }
        let refused =
            add_recorder(&settings("{\"type\":\"command\",\"command\":\"x\"}"), "r", &|_, _| None);
        assert_eq!(refused.unwrap().entries, 0);
        assert_eq!(add_recorder("{", "r", &|_, _| None), None);
        let own =
            settings(r#"{"type":"command","command":"echo contract recorded-run Stop 12 -- x"}"#);
        assert_eq!(remove_recorder(&own).unwrap().entries, 0);
    }

    #[test]
    fn edits_of_users_stay() {
        let recorded = add(&settings(r#"{"type":"command","command":"./guard.sh"}"#)).text;
        let edited = recorded.replace("./guard.sh", "./other.sh -v").replace("Bash", "Edit");
        let removed = remove_recorder(&edited).unwrap().text;
        assert_eq!(
            removed,
            settings(r#"{"type":"command","command":"./other.sh -v"}"#).replace("Bash", "Edit")
        );
        // A formatter puts each argument on a line of its own.
        let recorded = add(&settings(r#"{"type":"command","command":"a","args":["b"]}"#)).text;
        let pretty =
            serde_json::to_string_pretty(&serde_json::from_str::<Value>(&recorded).unwrap());
        let removed = remove_recorder(&pretty.unwrap()).unwrap().text;
        assert_eq!(handler(&removed), json!({ "type": "command", "command": "a", "args": ["b"] }));
    }
}
