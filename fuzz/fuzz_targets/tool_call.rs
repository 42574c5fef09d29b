//! Any tool calls, one per line: the name, a space, the arguments. No call panics, a refused or read-only call changes
//! nothing, and every result fits the tool's output schema.

#![no_main]

use std::collections::HashMap;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use rutter_memory::{Clean, Store, StoreError, Time};
use rutter_server::tools::{self, ToolEffect, TOOLS};
use rutter_server::{ServerContext, CallChannel, CallerIdentity};
use serde_json::Value;

/// Returns the server context of all runs, in one folder; each run empties the store in it.
fn desk() -> &'static ServerContext {
    static DESK: OnceLock<(tempfile::TempDir, ServerContext)> = OnceLock::new();
    let (_, desk) = DESK.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let desk = ServerContext {
            data: folder.path().join("memory"),
            config: folder.path().join("config.toml"),
            folder: folder.path().to_owned(),
            started_in: None,
            default_caller: CallerIdentity::Session(Clean::new("session")),
            channel: CallChannel::Client,
            off: false,
            home: || None,
            now,
            called: || "rutter".to_owned(),
        };
        (folder, desk)
    });
    desk
}

fn now() -> Time {
    Time::from_millis(1_763_200_000_000)
}

/// Returns the output schema of every tool, compiled.
fn announced() -> &'static HashMap<&'static str, jsonschema::Validator> {
    static ANNOUNCED: OnceLock<HashMap<&'static str, jsonschema::Validator>> = OnceLock::new();
    ANNOUNCED.get_or_init(|| {
        let output = |tool: &tools::ToolSpec| Value::Object((*tool.output()).clone());
        TOOLS.iter().map(|tool| (tool.name, jsonschema::draft202012::new(&output(tool)).expect("a schema"))).collect()
    })
}

fn rows() -> Vec<String> {
    let mut rows = Vec::new();
    let mut store = Store::open(&desk().data, now()).expect("a store");
    store
        .export::<StoreError>(None, |record| {
            rows.push(serde_json::to_string(record).expect("written"));
            Ok(())
        })
        .expect("what was taken can be written");
    rows
}

fuzz_target!(|text: &str| {
    let mut before = rows();
    if before.len() > 1 {
        // Only if necessary: creating a store takes longer than all the calls.
        drop(std::fs::remove_dir_all(&desk().data));
        before = rows();
    }
    for line in text.lines().take(8) {
        let (name, arguments) = line.split_once(' ').unwrap_or((line, "null"));
        let Ok(arguments) = serde_json::from_str(arguments) else { continue };
        let looks = TOOLS.iter().any(|tool| tool.name == name && tool.effect == ToolEffect::Reads);
        let done = tools::call_tool(desk(), name, arguments, None);
        let after = rows();
        match done {
            Ok(answer) => {
                assert!(!looks || after == before, "{name} changed something");
                assert!(announced()[name].is_valid(&answer.structured), "{name} gave {}", answer.structured);
            }
            Err(refusal) => {
                assert!(after == before, "{name} was refused and changed something");
                assert!(!refusal.to_string().is_empty());
            }
        }
        before = after;
    }
});
