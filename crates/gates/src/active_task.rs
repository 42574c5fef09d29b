//! The task that an agent works on: by its claim in the index, by the marker, or by the prompt that started it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde_json::Value;

use crate::task::{Task, TaskStatus};
use crate::task_index::TaskIndex;

/// Size of the pieces in which a transcript is read from its end.
const BLOCK_BYTES: u64 = 64 * 1024;
/// Longest line of a transcript that is looked into. Prompts are shorter; longer lines hold images and files.
const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;
/// Number of bytes at the end of a transcript that are read.
const MAX_TRANSCRIPT_BYTES: u64 = 64 * 1024 * 1024;
/// Names of the tool that starts an agent, in all versions of the client.
const AGENT_TOOLS: [&str; 2] = ["Task", "Agent"];

/// Finds the task that an agent works on. Returns None if there is none, or if it is ambiguous.
///
/// Only tasks in progress without children count. First those with this `agent`, then those without an agent, then, if the
/// agent is unknown, all. If several are left, `marker`, the id of the task that was started last, decides.
pub fn find_active_task<'a>(
    index: &'a TaskIndex,
    agent: Option<&str>,
    marker: Option<&str>,
) -> Option<&'a Task> {
    let active: Vec<&Task> = index
        .tasks()
        .iter()
        .filter(|task| task.is_leaf() && task.status == TaskStatus::InProgress)
        .collect();
    let candidates: Vec<&Task> = match agent {
        None => active,
        Some(agent) => {
            let of = |name: Option<&str>| -> Vec<&Task> {
                active.iter().copied().filter(|task| task.agent.as_deref() == name).collect()
            };
            let own = of(Some(agent));
            if own.is_empty() { of(None) } else { own }
        }
    };
    match candidates.as_slice() {
        [only] => Some(only),
        several => several.iter().copied().find(|task| Some(task.id.as_str()) == marker),
    }
}

/// Finds the first id behind the word `task` in a text, in any case, that is the id of a task: `Work on task 1.2.3`.
pub fn find_task_in_text<'a>(text: &str, index: &'a TaskIndex) -> Option<&'a Task> {
    const WORD: &str = "task";
    let bytes = text.as_bytes();
    let is_word = |at: usize| {
        let ends = at.checked_sub(1).is_none_or(|before| !bytes[before].is_ascii_alphanumeric());
        ends && bytes[at..].len() > WORD.len()
            && bytes[at..at + WORD.len()].eq_ignore_ascii_case(WORD.as_bytes())
    };
    (0..bytes.len()).filter(|at| is_word(*at)).find_map(|at| {
        let rest = &text[at + WORD.len()..];
        let id = rest.trim_start_matches([' ', '\t', '\n', '\r', ':', '#', '`', '"', '\'', '*']);
        if id.len() == rest.len() {
            return None;
        }
        let is_id_sign = |sign: char| sign.is_alphanumeric() || matches!(sign, '.' | '-' | '_');
        let end = id.find(|sign| !is_id_sign(sign)).unwrap_or(id.len());
        index.find(id[..end].trim_end_matches(['.', '-', '_']))
    })
}

/// Finds the task of the last prompt in a transcript that started an agent and names a task. The transcript has one JSON
/// value per line and is read from its end; lines that are no JSON are left out.
///
/// With several agents at once, the last prompt is not the one of the agent that ends: ask [`find_active_task`] first.
pub fn find_task_in_transcript(path: &Path, index: &TaskIndex) -> io::Result<Option<String>> {
    // A pipe would block.
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no regular file"));
    }
    let mut found = None;
    visit_lines_from_end(File::open(path)?, &mut |line| {
        found = find_task_in_line(line, index);
        found.is_none()
    })?;
    Ok(found)
}

fn find_task_in_line(line: &[u8], index: &TaskIndex) -> Option<String> {
    let has_tool = AGENT_TOOLS.iter().any(|tool| {
        let quoted = format!("\"{tool}\"");
        line.windows(quoted.len()).any(|window| window == quoted.as_bytes())
    });
    if !has_tool {
        return None;
    }
    let line: Value = serde_json::from_slice(line).ok()?;
    let content = line.get("message")?.get("content")?.as_array()?;
    let prompts = content.iter().rev().filter_map(|block| {
        let is_call = block.get("type")? == "tool_use";
        let is_agent = AGENT_TOOLS.contains(&block.get("name")?.as_str()?);
        if is_call && is_agent { block.get("input")?.get("prompt")?.as_str() } else { None }
    });
    prompts.into_iter().find_map(|prompt| Some(find_task_in_text(prompt, index)?.id.clone()))
}

/// Passes the lines of a file to a function, the last first, until it returns false.
fn visit_lines_from_end(mut file: File, visit: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut at = file.seek(SeekFrom::End(0))?;
    let end = at.saturating_sub(MAX_TRANSCRIPT_BYTES);
    // The pieces of the line whose beginning was not read yet, the last first.
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    let mut length = 0;
    let mut finish = |pieces: &mut Vec<Vec<u8>>, length: &mut usize| {
        let line: Vec<u8> = pieces.drain(..).rev().flatten().collect();
        let is_whole = std::mem::take(length) <= MAX_LINE_BYTES;
        !is_whole || line.is_empty() || visit(&line)
    };
    while at > end {
        let size = BLOCK_BYTES.min(at - end);
        at -= size;
        file.seek(SeekFrom::Start(at))?;
        let mut block = Vec::new();
        (&mut file).take(size).read_to_end(&mut block)?;
        while let Some(line_end) = block.iter().rposition(|byte| *byte == b'\n') {
            let piece = block.split_off(line_end + 1);
            block.truncate(line_end);
            length += piece.len();
            pieces.push(piece);
            if !finish(&mut pieces, &mut length) {
                return Ok(());
            }
        }
        length += block.len();
        // Of a line that is too long, only the length is kept.
        if length > MAX_LINE_BYTES {
            pieces.clear();
        } else {
            pieces.push(block);
        }
    }
    // The beginning of a file that was not read to its beginning is not a whole line.
    if at == 0 {
        finish(&mut pieces, &mut length);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use serde_json::json;

    use super::*;

    fn index(states: &[(&str, &str, Option<&str>)]) -> TaskIndex {
        let entry = |(id, status, agent): &(&str, &str, Option<&str>)| json!({ "id": id, "status": status, "agent": agent, "parent": null });
        TaskIndex::from_entries(states.iter().map(entry).collect()).unwrap()
    }

    fn active(index: &TaskIndex, agent: Option<&str>, marker: Option<&str>) -> Option<String> {
        find_active_task(index, agent, marker).map(|task| task.id.clone())
    }

    #[test]
    fn claim_of_agent_comes_first() {
        let index = index(&[
            ("1", "in-progress", Some("tester")),
            ("2", "in-progress", Some("coder")),
            ("3", "in-progress", None),
            ("4", "done", Some("writer")),
            ("5", "in-progress", Some("twin")),
            ("6", "in-progress", Some("twin")),
        ]);
        assert_eq!(active(&index, Some("coder"), Some("1")).as_deref(), Some("2"));
        // An agent without a claim gets the one that nobody has claimed, never that of another.
        assert_eq!(active(&index, Some("writer"), Some("2")).as_deref(), Some("3"));
        assert_eq!(active(&index, Some("twin"), None), None);
        assert_eq!(active(&index, Some("twin"), Some("6")).as_deref(), Some("6"));
        assert_eq!(active(&index, Some("twin"), Some("4")), None);
        assert_eq!(active(&index, None, None), None);
        assert_eq!(active(&index, None, Some("2")).as_deref(), Some("2"));
    }

    /// The original took the first task in progress at any level, and so a parent.
    #[test]
    fn parents_are_never_active() {
        let entries = vec![
            json!({ "id": "1", "status": "in-progress", "parent": null }),
            json!({ "id": "1.1", "status": "done", "parent": "1" }),
            json!({ "id": "1.2", "status": "pending", "parent": "1", "dependencies": ["1.3"] }),
        ];
        let index = TaskIndex::from_entries(entries).unwrap();
        assert_eq!(active(&index, None, Some("1")), None);
    }

    #[test]
    fn ids_are_found_in_text() {
        let index = index(&[
            ("1", "done", None),
            ("1.2", "done", None),
            ("1.2.3", "done", None),
            ("auth-2", "done", None),
        ]);
        for (text, expected) in [
            ("Work on task 1.2.3", Some("1.2.3")),
            ("TASK 1.2. Then stop.", Some("1.2")),
            ("do Task: `1.2.3`!", Some("1.2.3")),
            ("task #auth-2", Some("auth-2")),
            ("task 9.9 and then task 1", Some("1")),
            ("multitask 1.2", None),
            ("task1.2", None),
            ("tasks 1.2", None),
            ("task 1.2.34", None),
            ("ask for 1.2.3", None),
            ("täsk → task 1.2", Some("1.2")),
            ("task", None),
            ("task ", None),
            ("", None),
        ] {
            let found = find_task_in_text(text, &index).map(|task| task.id.as_str());
            assert_eq!(found, expected, "{text:?}");
        }
    }

    fn call(tool: &str, prompt: &str) -> String {
        let block = json!({ "type": "tool_use", "name": tool, "input": { "prompt": prompt } });
        json!({ "type": "assistant", "message": { "content": [block] } }).to_string()
    }

    fn find(lines: &str) -> Option<String> {
        let index = index(&[("1.1", "in-progress", None), ("1.2", "in-progress", None)]);
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        find_task_in_transcript(file.path(), &index).unwrap()
    }

    /// The original read the transcript as one JSON value, which it never is.
    #[test]
    fn last_prompt_of_transcript_counts() {
        let (first, second) = (call("Task", "Do task 1.1"), call("Agent", "do TASK 1.2."));
        let noise = json!({ "message": { "content": "the Agent said: task 1.1" } }).to_string();
        let other = call("Bash", "task 1.1");
        let unknown = call("Agent", "task 7.7");
        let found = find(
            &[&first, &second, &noise, &other, &unknown, "no json \"Task\""]
                .map(|line| format!("{line}\n"))
                .concat(),
        );
        assert_eq!(found.as_deref(), Some("1.2"));
        assert_eq!(find(&first).as_deref(), Some("1.1"));
        assert_eq!(find(&format!("{second}\r\n{first}\r\n")).as_deref(), Some("1.1"));
        assert_eq!(find(&format!("{noise}\n{other}\n")), None);
        assert_eq!(find(""), None);
    }

    #[test]
    fn long_transcripts_are_read_across_blocks() {
        let wanted = call("Agent", &format!("{} task 1.2", "x".repeat(200_000)));
        let filler = format!("{}\n", json!({ "text": "y".repeat(70_001) }));
        let huge = format!("{{\"text\": \"{}\"}}\n", "z".repeat(MAX_LINE_BYTES));
        for more in [0, 1, 5] {
            let first = call("Task", "task 1.1");
            let text = format!("{first}\n{wanted}\n{huge}{}", filler.repeat(more));
            assert_eq!(find(&text).as_deref(), Some("1.2"), "{more}");
        }
        // Of a line that is longer, nothing is taken.
        let long = call("Agent", &format!("{} task 1.2", "x".repeat(MAX_LINE_BYTES)));
        assert_eq!(
            find(&format!("{}\n{long}\n", call("Task", "task 1.1"))).as_deref(),
            Some("1.1")
        );
    }

    #[test]
    fn odd_transcripts_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let index = index(&[]);
        assert!(find_task_in_transcript(folder.path(), &index).is_err());
        assert!(find_task_in_transcript(&folder.path().join("gone"), &index).is_err());
    }
}
