//! `go test -json`: the same text, cut into events.

use std::borrow::Cow;

use serde::Deserialize;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "Output", default)]
    output: Option<Cow<'a, str>>,
}

/// The text of the events; none where it is no stream of them.
pub(super) fn unwrapped(text: &str) -> Option<String> {
    text.lines().find(|line| line.starts_with("{\"Time\":") || line.starts_with("{\"Action\":"))?;
    let mut out = String::with_capacity(text.len() / 3);
    for line in text.lines() {
        match serde_json::from_str::<Event>(line) {
            Ok(Event { output: Some(output) }) => out.push_str(&output),
            Ok(Event { output: None }) => {}
            // What the compiler says is written between them as it is.
            Err(_) => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    Some(out)
}
