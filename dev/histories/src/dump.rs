//! Writes a history as lines of JSON, in the form of recorded histories of real work.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::history::History;
use crate::truth::ExpectedText;
use crate::world::BASE_PLACEHOLDER;

/// Writes a history into a folder and returns the path of the file.
///
/// The first line has the checkouts; each further line has a payload, the files that changed before it, the environment
/// and a label: `run` for a run of a tool, `returns` for a recurring failure with a known fix.
pub fn dump_history(history: &History, folder: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join(format!("seed-{}.jsonl", history.seed));
    let file = File::create(&path).with_context(|| path.display().to_string())?;
    let mut out = BufWriter::new(file);
    let roots: Vec<String> =
        history.folders.iter().map(|folder| format!("{BASE_PLACEHOLDER}/{folder}")).collect();
    let head = json!({ "repo": format!("ada+{}", history.project.name), "roots": roots });
    writeln!(out, "{head}")?;
    for (index, step) in history.steps.iter().enumerate() {
        let files: Vec<Value> = step
            .writes
            .iter()
            .filter_map(|(path, text)| {
                Some(json!([format!("{BASE_PLACEHOLDER}/{path}"), text.as_ref()?]))
            })
            .collect();
        let mut sightings =
            history.truth.sightings.iter().filter(|sighting| sighting.step == index);
        let mut label = json!({});
        let is_due = sightings
            .any(|at| matches!(at.expectation, ExpectedText::Show | ExpectedText::ShowOrHedge));
        if let Some(run) = history.truth.runs.iter().find(|run| run.step == index) {
            label["run"] = json!({ "kind": "test", "tool": run.tool, "failed": run.is_failed });
        }
        if is_due {
            label["returns"] = json!({ "same_error": true, "across_sessions": true });
        }
        let line = json!({
            "at": time_of_day(step.at),
            "branch": "main",
            "files": files,
            "env": {
                "CLAUDE_PROJECT_DIR": roots[step.checkout],
                "CLAUDE_CODE_SESSION_ID": step.payload["session_id"],
            },
            "payload": step.payload,
            "label": label,
        });
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    // The player of recorded histories reads compressed files; without `xz` only the plain file is written.
    let packed = Command::new("xz").args(["--force", "--keep"]).arg(&path).status();
    if packed.is_ok_and(|status| status.success()) {
        return Ok(path.with_extension("jsonl.xz"));
    }
    Ok(path)
}

/// Returns a time of day that sorts as the steps do.
fn time_of_day(millis: i64) -> String {
    let seconds = millis / 1_000;
    let (days, seconds) = (seconds / 86_400, seconds % 86_400);
    format!(
        "2025-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        1 + days / 28,
        1 + days % 28,
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60,
        millis % 1_000
    )
}
