//! `cargo xtask eval said`: plays recorded histories into the binary, and lists every text that an agent would have read, with
//! the prompt or command before it, so that somebody can judge by reading whether it is relevant.

#![allow(clippy::print_stdout, reason = "the task's result")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::history::HistoryPlayer;

/// Maximum number of characters of a prompt or command in the list.
const MAX_CAUSE_CHARS: usize = 1_200;

/// A text that an agent would have read.
struct SaidText {
    event: String,
    session: String,
    /// The prompt, command or task before it.
    cause: String,
    said: String,
}

/// Numbers of calls of one event.
#[derive(Default)]
struct EventCounts {
    calls: usize,
    texts: usize,
    items: usize,
}

/// Plays histories, and prints counts by event and every text.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let (mut binary, mut event, mut as_json, mut histories) = (None, None, false, Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--binary" => {
                binary = Some(PathBuf::from(words.next().context("--binary needs a path")?));
            }
            "--event" => event = Some(*words.next().context("--event needs a name")?),
            "--json" => as_json = true,
            option if option.starts_with('-') => bail!("unknown option {option}"),
            history => histories.push(history),
        }
    }
    ensure!(!histories.is_empty(), "no history is named");
    let binary = binary.map_or_else(|| crate::dist::build_release(root), Ok)?;
    for history in histories {
        let folder = tempfile::tempdir()?;
        let player = HistoryPlayer::new(&binary, folder.path());
        let (counts, mut texts) = collect_texts(&player, Path::new(history))?;
        texts.retain(|text| event.is_none_or(|event| text.event == event));
        print_report(history, &counts, &texts, as_json);
    }
    Ok(())
}

fn collect_texts(
    player: &HistoryPlayer<'_>,
    history: &Path,
) -> Result<(BTreeMap<String, EventCounts>, Vec<SaidText>)> {
    let (mut counts, mut texts) = (BTreeMap::<String, EventCounts>::new(), Vec::new());
    player.play(
        history,
        |_| true,
        |call| {
            let event = counts.entry(call.event().to_owned()).or_default();
            event.calls += 1;
            if call.said.is_empty() {
                return;
            }
            event.texts += 1;
            event.items += count_items(&call.said);
            texts.push(SaidText {
                event: call.event().to_owned(),
                session: call.payload["session_id"].as_str().unwrap_or_default().to_owned(),
                cause: describe_cause(call.payload),
                said: call.said.clone(),
            });
        },
    )?;
    Ok((counts, texts))
}

/// Returns the number of items in a text: its list items, or one.
fn count_items(said: &str) -> usize {
    said.lines().filter(|line| line.starts_with("- ")).count().max(1)
}

/// Returns the text that a hook answered: the prompt, the command, or the task of a subagent.
fn describe_cause(payload: &Value) -> String {
    let input = &payload["tool_input"];
    let texts = [
        &payload["prompt"],
        &input["command"],
        &input["prompt"],
        &input["file_path"],
        &payload["agent_type"],
        &payload["source"],
    ];
    let cause = texts.into_iter().find_map(Value::as_str).unwrap_or_default();
    cause.chars().take(MAX_CAUSE_CHARS).collect()
}

fn print_report(
    history: &str,
    counts: &BTreeMap<String, EventCounts>,
    texts: &[SaidText],
    as_json: bool,
) {
    if as_json {
        for SaidText { event, session, cause, said } in texts {
            let line = json!({ "event": event, "session": session, "cause": cause, "said": said });
            println!("{line}");
        }
        return;
    }
    println!("{history}");
    println!("  {:<20} calls  texts  items", "event");
    for (event, EventCounts { calls, texts, items }) in counts {
        println!("  {event:<20} {calls:>5}  {texts:>5}  {items:>5}");
    }
    for (number, SaidText { event, session, cause, said }) in texts.iter().enumerate() {
        let indent = |text: &str| text.replace('\n', "\n    ");
        println!("\n{} {event}, session {session}", number + 1);
        println!("  > {}\n    {}", indent(cause), indent(said));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cause_is_what_hook_answered() {
        for (payload, cause) in [
            (json!({ "prompt": "fix it", "source": "user" }), "fix it"),
            (json!({ "tool_input": { "command": "make" } }), "make"),
            (json!({ "tool_input": { "file_path": "a.py", "old_string": "x" } }), "a.py"),
            (json!({ "source": "startup" }), "startup"),
        ] {
            assert_eq!(describe_cause(&payload), cause);
        }
        let long = "ä".repeat(MAX_CAUSE_CHARS + 1);
        assert_eq!(describe_cause(&json!({ "prompt": long })).chars().count(), MAX_CAUSE_CHARS);
    }

    #[test]
    fn items_are_list_lines() {
        assert_eq!(count_items("From earlier work here:\n- one\n- two\n  - part"), 2);
        assert_eq!(count_items("one line"), 1);
    }
}
