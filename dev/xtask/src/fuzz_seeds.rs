//! `cargo xtask fuzz-seeds`: writes initial corpora for the fuzz targets.

use std::path::Path;

use anyhow::{Context as _, Result};
use rutter_contract::{EventName, payload};
use serde_json::Value;

/// Writes captured payloads, measured answers, Bash calls, tool calls, an export, redaction texts and examples of lint
/// rules as the corpora of their targets.
pub(crate) fn run(root: &Path) -> Result<()> {
    let folder = |name: &str| root.join("fuzz/corpus").join(name);
    for name in ["payload", "answer", "call", "record", "redact", "tool_call", "lint"] {
        std::fs::create_dir_all(folder(name))?;
    }
    for event in EventName::ALL {
        for (number, payload) in payload::recorded_payloads(event).iter().enumerate() {
            let path = folder("payload").join(format!("{}-{number}", event.kebab()));
            crate::files::replace_file(&path, payload.to_string().as_bytes())?;
        }
    }
    let text = std::fs::read_to_string(root.join("fixtures/verdicts/2.1.325.json"))?;
    let all: Value = serde_json::from_str(&text)?;
    for (number, case) in all["cases"].as_array().context("a list of cases")?.iter().enumerate() {
        let name = case["event"].as_str().unwrap_or_default();
        let event = EventName::ALL.iter().position(|event| event.as_str() == name).unwrap_or(0);
        let exit = case["exit"].as_i64().unwrap_or(0).rem_euclid(4);
        let mut seed = vec![u8::try_from(event)?, 1, u8::try_from(exit)?];
        seed.extend(case["stdout"].as_str().unwrap_or_default().bytes());
        seed.push(0);
        seed.extend(case["stderr"].as_str().unwrap_or_default().bytes());
        crate::files::replace_file(&folder("answer").join(number.to_string()), &seed)?;
    }
    for file in ["secrets", "lookalikes"] {
        let path = root.join("crates/redact/fixtures").join(file).with_extension("json");
        let all: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
        for case in all.as_array().context("a list of cases")? {
            let (name, text) = (case["name"].as_str(), case["text"].as_str());
            let path = folder("redact").join(format!("{file}-{}", name.unwrap_or_default()));
            crate::files::replace_file(&path, text.unwrap_or_default().as_bytes())?;
        }
    }
    for runner in std::fs::read_dir(root.join("crates/hooks/fixtures/calls"))? {
        let runner = runner?.path();
        if !runner.is_dir() {
            continue;
        }
        for payload in std::fs::read_dir(&runner)? {
            let payload = payload?.path();
            let name = [&runner, &payload]
                .map(|path| path.file_stem().unwrap_or_default().to_string_lossy());
            let path = folder("call").join(name.join("-"));
            crate::files::replace_file(&path, &std::fs::read(payload)?)?;
        }
    }
    for rule in rutter_check::lint::RULES {
        let page = rule.page();
        // Blocks stand between fences; the word after the first fence is the language.
        let blocks = page.split("```").skip(1).step_by(2);
        let blocks = blocks.filter_map(|block| block.strip_prefix("json\n"));
        for (number, example) in blocks.enumerate() {
            let path = folder("lint").join(format!("{}-{number}", rule.id));
            let seed = [&[0, 0], example.as_bytes()].concat();
            crate::files::replace_file(&path, &seed)?;
        }
    }
    let export = std::fs::read(root.join("crates/memory/fixtures/store/1.jsonl"))?;
    crate::files::replace_file(&folder("record").join("export"), &export)?;
    for (number, calls) in load_tool_calls(root)?.windows(6).enumerate() {
        let path = folder("tool_call").join(number.to_string());
        crate::files::replace_file(&path, calls.join("\n").as_bytes())?;
    }
    Ok(())
}

/// Returns tool calls that together use every tool, in the format of the target.
fn load_tool_calls(root: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(root.join("tools/mcp/walk.json"))?;
    let walk: Value = serde_json::from_str(&text)?;
    let mut calls = Vec::new();
    for step in walk["steps"].as_array().context("a list of steps")? {
        let mut arguments = step["with"].clone();
        if let Some(other) = step["start"].as_object() {
            arguments = walk["start"].clone();
            arguments.as_object_mut().context("an object")?.extend(other.clone());
        }
        calls.push(format!("{} {arguments}", step["call"].as_str().unwrap_or_default()));
    }
    Ok(calls)
}
