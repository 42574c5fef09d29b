//! A readable form of a history: commands, edits, the product's texts, and the truth.

use std::fmt::Write as _;

use crate::history::History;
use crate::play::PlayedHistory;
use crate::truth::{CheckName, ExpectedText, FailureCause, FailureTruth};

/// Returns a history as text; `is_full` adds the output of every run.
pub fn render_history(history: &History, played: Option<&PlayedHistory>, is_full: bool) -> String {
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
                show_name(&sighting.name),
                show_cause(history, sighting.cause),
                show_expectation(sighting.expectation)
            );
        }
        for failure in &history.truth.failures {
            if failure.required_at == Some(index) {
                let _ = writeln!(
                    text,
                    "       truth: {} is covered and closed",
                    show_name(&failure.name)
                );
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
        let _ = writeln!(text, "  {}", show_cause(history, *of));
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
        show_name(&failure.name),
        show_cause(history, failure.cause),
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

fn show_name(name: &CheckName) -> String {
    match name {
        CheckName::Test(leaf) => leaf.clone(),
        CheckName::Finding(texts) => texts.join(" + "),
    }
}

fn show_cause(history: &History, cause: FailureCause) -> String {
    match cause {
        FailureCause::Bug(bug) => history.project.bugs[bug].key.clone(),
        FailureCause::Environment => "environment".to_owned(),
        FailureCause::Chance => "chance".to_owned(),
    }
}

fn show_expectation(expectation: ExpectedText) -> &'static str {
    match expectation {
        ExpectedText::Show => "the earlier fix should be shown",
        ExpectedText::ShowOrHedge => "the earlier fix should be shown, or what changed",
        ExpectedText::OtherCause => "it failed for another reason before",
        ExpectedText::Silence => "nothing was learnt about it",
        ExpectedText::Free => "nothing is due",
    }
}
