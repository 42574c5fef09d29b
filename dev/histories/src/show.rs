//! A readable form of a history: commands, edits, the product's texts, and the truth.

use std::fmt::Write as _;

use crate::history::History;
use crate::play::Played;
use crate::truth::{Cause, Expectation, FailureTruth, Name};

/// Returns a history as text; `is_full` adds the output of every run.
pub fn show(history: &History, played: Option<&Played>, is_full: bool) -> String {
    let mut text = format!(
        "seed {}: {:?}, {}\n",
        history.seed,
        history.language,
        history.tags.iter().cloned().collect::<Vec<_>>().join(", ")
    );
    for (index, step) in history.steps.iter().enumerate() {
        if !step.note.is_empty() {
            let agent = if step.payload.get("agent_id").is_some() { " (subagent)" } else { "" };
            let place = &history.folders[step.checkout];
            let _ = writeln!(text, "{index:>4} {place}{agent}: {}", step.note);
        }
        if is_full {
            let response = &step.payload["tool_response"];
            let output = step.payload["error"].as_str().or_else(|| response["stdout"].as_str());
            for line in output.unwrap_or_default().lines() {
                let _ = writeln!(text, "        | {line}");
            }
            for hunk in response["structuredPatch"].as_array().into_iter().flatten() {
                for line in hunk["lines"].as_array().into_iter().flatten() {
                    let line = line.as_str().unwrap_or_default();
                    if !line.starts_with(' ') {
                        let _ = writeln!(text, "        {line}");
                    }
                }
            }
        }
        for sighting in history.truth.sightings.iter().filter(|sighting| sighting.step == index) {
            let _ = writeln!(
                text,
                "       truth: {} fails ({}); {}",
                name(&sighting.name),
                cause(history, sighting.cause),
                expectation(sighting.expectation)
            );
        }
        for failure in &history.truth.failures {
            if failure.required_at == Some(index) {
                let _ =
                    writeln!(text, "       truth: {} is covered and closed", name(&failure.name));
            }
        }
        let Some(played) = played else { continue };
        for line in played.said.get(index).map(String::as_str).unwrap_or_default().lines() {
            let _ = writeln!(text, "       said:  {line}");
        }
        for event in played.events.iter().filter(|event| event.step == index) {
            let what = if event.is_opened {
                "opened".to_owned()
            } else {
                format!("closed as {}", event.episode.ending.as_deref().unwrap_or_default())
            };
            let test = event.episode.test.as_deref().unwrap_or(&event.episode.words);
            let _ = writeln!(text, "       episode {what}: {test}");
        }
    }
    text.push_str("fixes:\n");
    for (of, lines) in &history.truth.right {
        let _ = writeln!(text, "  {}", cause(history, *of));
        for line in lines {
            let _ = writeln!(text, "    {line}");
        }
    }
    text.push_str("failures:\n");
    for failure in &history.truth.failures {
        let _ = writeln!(text, "  {}", failure_line(history, failure));
    }
    text
}

fn failure_line(history: &History, failure: &FailureTruth) -> String {
    format!(
        "{} ({}), first at {}, last red at {:?}, passed at {:?}, {} [{}]",
        name(&failure.name),
        cause(history, failure.cause),
        failure.opened,
        failure.failed_at.last(),
        failure.passed_at,
        match failure.required_at {
            Some(at) => format!("closed at {at}"),
            None => "never closed".to_owned(),
        },
        failure.tags.iter().cloned().collect::<Vec<_>>().join(", ")
    )
}

fn name(name: &Name) -> String {
    match name {
        Name::Test(leaf) => leaf.clone(),
        Name::Finding(texts) => texts.join(" + "),
    }
}

fn cause(history: &History, cause: Cause) -> String {
    match cause {
        Cause::Bug(bug) => history.project.bugs[bug].key.clone(),
        Cause::Environment => "environment".to_owned(),
        Cause::Chance => "chance".to_owned(),
    }
}

fn expectation(expectation: Expectation) -> &'static str {
    match expectation {
        Expectation::Show => "the earlier fix should be shown",
        Expectation::ShowOrHedge => "the earlier fix should be shown, or what changed",
        Expectation::OtherCause => "it failed for another reason before",
        Expectation::Silence => "nothing was learnt about it",
        Expectation::Free => "nothing is due",
    }
}
