//! `go test -json`: the same text, split into events.

use std::borrow::Cow;

use serde::Deserialize;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "Output", default)]
    output: Option<Cow<'a, str>>,
}

/// Joins the text of the events; None if the text is not a stream of events.
pub(super) fn unwrapped(text: &str) -> Option<String> {
    text.lines().find(|line| line.starts_with("{\"Time\":") || line.starts_with("{\"Action\":"))?;
    let mut out = String::with_capacity(text.len() / 3);
    for line in text.lines() {
        match serde_json::from_str::<Event>(line) {
            Ok(Event { output: Some(output) }) => out.push_str(&output),
            Ok(Event { output: None }) => {}
            // Compiler messages are printed as plain text between the events.
            Err(_) => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    Some(out)
}
