//! `go test -json`: the same text, split into events.

use std::borrow::Cow;

use serde::Deserialize;

#[derive(Deserialize)]
struct GoTestEvent<'a> {
    #[serde(borrow, rename = "Output", default)]
    output: Option<Cow<'a, str>>,
}

/// Joins the text of the events; None if the text is not a stream of events.
pub(super) fn join_event_output(text: &str) -> Option<String> {
    text.lines().find(|line| line.starts_with("{\"Time\":") || line.starts_with("{\"Action\":"))?;
    let mut out = String::with_capacity(text.len() / 3);
    for line in text.lines() {
        match serde_json::from_str::<GoTestEvent>(line) {
            Ok(GoTestEvent { output: Some(output) }) => out.push_str(&output),
            Ok(GoTestEvent { output: None }) => {}
            // Compiler messages are printed as plain text between the events.
            Err(_) => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    Some(out)
}
