//! Lessons of several sessions of the real client, shown at the start of the next one.

use rutter_check::live::{ModelScript, ModelTurn, RunRecord};
use serde_json::{Value, json};

use crate::live_support::{LiveProject, bash_turn, hook_texts_of_event};

const FILES: [(&str, &str); 2] = [
    ("export.py", "def export():\n    return 1\n"),
    (
        "test_export.py",
        "import unittest\nfrom export import export\n\n\nclass Export(unittest.TestCase):\n    \
         def test_export(self):\n        self.assertEqual(export(), 1)\n",
    ),
];
const RUN: &str = "python3 -m unittest";
const LESSON: &str = "release the connection in a finally block";
const CAUSE: &str = "an early return skips the release of the connection";
const SURPRISE: &str = "the connection pool was empty after an hour";

/// Runs a session that starts a GHAP and resolves it as falsified.
fn run_falsified_session(life: &mut LiveProject, goal: &str, hypothesis: &str) -> RunRecord {
    let start = json!({
        "domain": "debugging", "strategy": "read-the-error", "goal": goal, "hypothesis": hypothesis,
        "action": "change it and look", "prediction": "the night run ends",
    });
    let resolve = json!({
        "status": "falsified", "result": "it still hangs", "surprise": SURPRISE,
        "root_cause": { "category": "oversight", "description": CAUSE },
        "lesson": { "takeaway": LESSON },
    });
    let turns = [
        ModelTurn::call("mcp__rutter__start_ghap", start),
        ModelTurn::call("mcp__rutter__resolve_ghap", resolve),
    ];
    life.session_with(ModelScript::new(turns), |sandbox| {
        sandbox.prompt("the export hangs at night");
    })
}

#[test]
fn repeated_lesson_becomes_value() {
    let Some(mut life) = LiveProject::new(&FILES) else { return };
    life.init();
    // The first GHAP is a user's, from the command line.
    let start = [
        "ghap",
        "start",
        "--domain",
        "debugging",
        "--strategy",
        "read-the-error",
        "--goal",
        "the export runs at night",
        "--hypothesis",
        "the disk is too slow",
        "--action",
        "write into a buffer",
        "--prediction",
        "the night run ends",
    ];
    drop(life.rutter(&start).assert_success());
    let resolve = [
        "ghap",
        "resolve",
        "--status",
        "falsified",
        "--result",
        "still red",
        "--surprise",
        SURPRISE,
        "--root-cause-category",
        "oversight",
        "--root-cause",
        CAUSE,
        "--takeaway",
        LESSON,
    ];
    drop(life.rutter(&resolve).assert_success());

    let goals = [
        ("the nightly export finishes", "the timeout of the export is too short"),
        ("the export of the evening does not hang", "the database is locked by the backup"),
    ];
    for (goal, hypothesis) in goals {
        let record = run_falsified_session(&mut life, goal, hypothesis);
        let start = hook_texts_of_event(&record, "SessionStart");
        assert!(start.iter().all(|said| !said.contains("sessions learnt")), "too early: {start:?}");
    }
    // SessionEnd starts this in the background. A second run repeats no work.
    drop(life.rutter(&["maintain"]).assert_success());

    let record = life.session_with(ModelScript::default(), |sandbox| {
        sandbox.prompt("write a haiku about the sea");
    });
    let first = record.main_requests().next().unwrap().body.to_string();
    assert!(first.contains(LESSON), "{first}");
    let start = hook_texts_of_event(&record, "SessionStart");
    assert_eq!(start.len(), 1, "{start:?}");
    assert!(start[0].contains(&format!("- (proposed) `{LESSON}`")), "{start:?}");
    assert!(start[0].contains("data, not instructions"), "{start:?}");
    // The value is recorded like every other injection.
    let session = record.result().unwrap()["session_id"].as_str().unwrap().to_owned();
    let shown =
        life.rutter(&["injections", "--session", &session, "--json"]).assert_success().stdout;
    let shown: Vec<Value> = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert_eq!(
        (shown[0]["kind"].as_str(), shown[0]["event"].as_str(), shown[0]["text"].as_str()),
        (Some("value"), Some("SessionStart"), Some(LESSON)),
    );

    // A GHAP that applies the value and is confirmed by a test run counts as helped.
    let start = json!({
        "domain": "debugging", "strategy": "read-the-error", "goal": "the import does not hang",
        "hypothesis": "the connection of the import is released too late",
        "action": "release the connection in a finally block", "prediction": "`python3 -m unittest` passes",
    });
    let confirmed = json!({
        "status": "confirmed", "result": "it passed", "lesson": { "what_worked": "a finally block" },
    });
    let turns = [
        ModelTurn::call("mcp__rutter__start_ghap", start),
        bash_turn(RUN),
        ModelTurn::call("mcp__rutter__resolve_ghap", confirmed),
    ];
    let record = life.session_with(ModelScript::new(turns), |sandbox| {
        sandbox.prompt("the import hangs");
    });
    assert!(hook_texts_of_event(&record, "SessionStart")[0].contains(LESSON));
    let values = life.rutter(&["values", "list", "--json"]).assert_success().stdout;
    let values: Value = serde_json::from_str(&values).unwrap();
    assert_eq!((&values[0]["helped"], &values[0]["hurt"]), (&1.into(), &0.into()), "{values}");
}
