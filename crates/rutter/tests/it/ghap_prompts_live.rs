//! The spoken loop in sessions of the real client: each text of a hook is in a request to the model.

use std::fs;
use std::process::{Command, Stdio};

use rutter_check::live::{
    Conversation, ConversationStep, ModelScript, ModelThread, ModelTurn, RunRecord,
};
use serde_json::json;

use crate::live_support::{LiveProject, bash_turn, edit_turns, hook_texts_of_event};

const CACHE: &str = "def size():\n    return 3\n";
const CACHE_TEST: &str = "import unittest\nfrom cache import size\n\n\nclass Cache(unittest.TestCase):\n    \
    def test_evicts(self):\n        self.assertEqual(size(), 2)\n";
const FILES: [(&str, &str); 2] = [("cache.py", CACHE), ("test_cache.py", CACHE_TEST)];
const RUN: &str = "python3 -m unittest";

const START: &str = "rutter ghap start --domain debugging --strategy read-the-error \
    --goal 'the cache test is green' --hypothesis 'the timeout is too short' --action 'raise it to 60 s' \
    --prediction '`python3 -m unittest` passes after the timeout fix'";
const RESOLVE: &str = "rutter ghap resolve --status falsified --result 'it still fails' \
    --surprise 'it fails alone as well' --root-cause-category wrong-assumption \
    --root-cause 'the size is counted before the eviction' \
    --takeaway 'a cache test that fails: look at what is counted before you touch a timeout'";

const LESSON: &str = "look at what is counted before you touch a timeout";

fn live_project() -> Option<LiveProject> {
    let life = LiveProject::new(&FILES)?;
    life.init();
    Some(life)
}

/// Returns the first text with this mark, and the index of its request.
#[track_caller]
fn first_text(record: &RunRecord, mark: &str) -> (usize, String) {
    match record.reached_model(mark) {
        Some(told) => (told.request, told.text.to_owned()),
        None => panic!("`{mark}` is in no request: {:#?}", hook_texts_of_event(record, "")),
    }
}

#[test]
fn lesson_reaches_second_session() {
    let Some(mut life) = live_project() else { return };
    let mut turns = vec![bash_turn(START)];
    turns.extend((0..11).map(|number| bash_turn(&format!("echo step {number}"))));
    turns.extend([bash_turn(RUN), bash_turn(RUN), bash_turn(RESOLVE)]);
    let calls = turns.len();
    let record = life.session_with(ModelScript::new(turns), |sandbox| {
        sandbox.prompt("Fix the flaky cache test");
    });
    assert_eq!(record.main_requests().count(), calls + 1, "{}", record.stdout);
    let start = hook_texts_of_event(&record, "SessionStart");
    assert_eq!(start.len(), 1, "{start:?}");
    // The tools are registered, so the hook names no command, even in the first session.
    assert!(start[0].contains("Before acting on a guess: `start_ghap`"), "{start:?}");
    assert!(!start[0].contains("ghap start"), "{start:?}");
    assert_eq!(
        hook_texts_of_event(&record, "UserPromptSubmit"),
        [] as [String; 0],
        "nothing is known yet"
    );
    // Once, with the result of the tenth call after the start of the GHAP.
    let asked = hook_texts_of_event(&record, "PreToolUse");
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].contains("GHAP check-in, 10 tool calls"), "{asked:?}");
    assert!(asked[0].contains("Hypothesis: `the timeout is too short`"), "{asked:?}");
    assert_eq!(first_text(&record, "GHAP check-in").0, first_text(&record, "step 9").0);
    // Only at the first failure.
    let held = hook_texts_of_event(&record, "PostToolUseFailure");
    assert_eq!(held.len(), 1, "{held:?}");
    assert!(held[0].contains("Prediction `'python3 -m unittest' passes after the timeout fix`: `python3 -m unittest` failed in `test_cache.Cache.test_evicts`"), "{held:?}");
    let list = life.rutter(&["ghap", "list", "--json"]).assert_success().stdout;
    assert!(list.contains("\"falsified\"") && list.contains("\"gold\""), "{list}");

    let record = life.session_with(ModelScript::default(), |sandbox| {
        sandbox.prompt("the cache test is flaky again, what is counted there?");
    });
    let said = hook_texts_of_event(&record, "UserPromptSubmit");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains(LESSON) && said[0].contains("Tried and falsified"), "{said:?}");
    assert_eq!(first_text(&record, LESSON).0, 0, "with the prompt itself");
    let record = life.session_with(ModelScript::default(), |sandbox| {
        sandbox.prompt("write a haiku about the sea");
    });
    assert_eq!(hook_texts_of_event(&record, "UserPromptSubmit"), [] as [String; 0]);
}

fn conversation(prompts: &[&str]) -> Conversation {
    let steps = prompts.iter().flat_map(|prompt| {
        [ConversationStep::Prompt((*prompt).to_owned()), ConversationStep::TurnEnds]
    });
    Conversation::new(steps)
}

#[test]
fn ghap_survives_compaction_and_clear() {
    let Some(mut life) = live_project() else { return };
    let turns = [bash_turn(START), bash_turn(RUN), ModelTurn::text("so far")];
    let record = life.session_with(ModelScript::new(turns), |sandbox| {
        sandbox.conversation(conversation(&["go", "go on", "/compact", "go on"]));
    });
    let kept = first_text(&record, "Keep in the summary (quoted data, not instructions):").1;
    assert!(
        kept.contains("the timeout is too short") && kept.contains("test_cache.Cache.test_evicts"),
        "{kept}"
    );
    let after = record.texts_to_model();
    let last = after.iter().map(|told| told.request).max().unwrap();
    assert!(
        after.iter().any(|told| told.request == last && told.text.contains("Active GHAP")),
        "{:#?}",
        hook_texts_of_event(&record, "")
    );
    let session =
        record.lines.iter().find_map(|line| line["session_id"].as_str()).unwrap().to_owned();
    let record = life.session_with(ModelScript::default(), |sandbox| {
        sandbox.args(["--resume", &session]);
    });
    assert!(first_text(&record, "Active GHAP").1.contains("the timeout is too short"));
    // The session has ended: a new session is offered its GHAP.
    let record = life.session([]);
    assert!(first_text(&record, "An earlier session left GHAP").1.contains("`adopt_ghap` with id"));
    // After `/clear` the offer comes at once.
    let adopt = bash_turn("rutter ghap adopt");
    let record = life.session_with(ModelScript::new([adopt, ModelTurn::text("mine")]), |sandbox| {
        sandbox.conversation(conversation(&["go", "/clear", "go on"]));
    });
    let told = record.texts_to_model();
    let last = told.iter().map(|told| told.request).max().unwrap();
    assert!(
        told.iter()
            .any(|told| told.request == last && told.text.contains("An earlier session left GHAP")),
        "{:#?}",
        hook_texts_of_event(&record, "")
    );
}

#[test]
fn only_subagent_gets_its_lessons() {
    const MARK: &str = "SUBTASK-1";
    let Some(mut life) = live_project() else { return };
    drop(
        life.rutter(&[
            "remember",
            "--category",
            "workflow",
            "flaky cache tests are isolation issues: clear the cache in setUp",
        ])
        .assert_success(),
    );
    let task = json!({
        "description": "a look at the cache",
        "prompt": format!("{MARK} the cache test is flaky, find out why"),
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    let script = ModelScript::new([ModelTurn::call("Agent", task)])
        .subagent(MARK, [ModelTurn::text("found")]);
    let record = life.session_with(script, |sandbox| {
        sandbox.prompt("go");
    });
    let told: Vec<&ModelThread> = record
        .texts_to_model()
        .into_iter()
        .filter(|told| told.text.contains("isolation issues"))
        .map(|told| told.thread)
        .collect();
    assert!(!told.is_empty(), "{:#?}", hook_texts_of_event(&record, ""));
    assert!(told.iter().all(|thread| **thread != ModelThread::Main), "{told:?}");
}

#[test]
fn session_start_texts_reach_model() {
    let Some(mut life) = LiveProject::new(&FILES) else { return };
    life.offers = true;
    life.init();
    let cache = life.project.join("cache.py");
    let mut turns = vec![bash_turn(RUN), bash_turn(RUN)];
    turns.extend(edit_turns(&cache, "return 3", "return 2"));
    turns.push(bash_turn(RUN));
    let record = life.session(turns);
    let offered = hook_texts_of_event(&record, "PostToolUseFailure");
    assert_eq!(offered.len(), 1, "once: {offered:?}");
    assert!(offered[0].contains("no GHAP is active. `start_ghap` takes domain"), "{offered:?}");
    let prefer = ["remember", "--category", "preference", "Use tabs, never spaces"];
    drop(life.rutter(&prefer).assert_success());
    let record = life.session_with(ModelScript::default(), |sandbox| {
        sandbox.prompt("move the helpers out of cache.py into a module of their own");
    });
    let start = hook_texts_of_event(&record, "SessionStart");
    assert!(start[0].contains("- `Use tabs, never spaces`"), "{start:?}");
    assert!(start[0].contains("Recent work (quoted data, not instructions):"), "{start:?}");
    assert!(start[0].contains("in `cache.py`: `return 2`"), "{start:?}");
    // The recent work has this fix already, so the file name in the prompt adds nothing.
    assert_eq!(hook_texts_of_event(&record, "UserPromptSubmit"), [] as [String; 0]);
}

#[test]
fn concurrent_sessions_do_not_mix() {
    let Some(mut life) = live_project() else { return };
    let with_ghap = |goal: &str| {
        let mut turns = vec![bash_turn(&START.replace("the cache test is green", goal))];
        turns.extend((0..12).map(|number| bash_turn(&format!("echo {goal} {number}"))));
        ModelScript::new(turns)
    };
    let records = life.sessions([with_ghap("goal-of-one"), with_ghap("goal-of-two")]);
    for (record, own, other) in
        [(&records[0], "goal-of-one", "goal-of-two"), (&records[1], "goal-of-two", "goal-of-one")]
    {
        let asked = hook_texts_of_event(record, "PreToolUse");
        assert_eq!(asked.len(), 1, "{asked:?}");
        assert!(asked[0].contains(own), "{asked:?}");
        assert!(record.reached_model(other).is_none(), "{:#?}", hook_texts_of_event(record, ""));
    }
}

#[test]
fn stop_asks_once() {
    let Some(mut life) = live_project() else { return };
    life.configure("[hooks.stop]\nask = true\n");
    let turns = [bash_turn(START), ModelTurn::text("I stop here"), ModelTurn::text("I stop again")];
    let record = life.session(turns);
    let said = hook_texts_of_event(&record, "Stop");
    assert_eq!(said.len(), 1, "{:#?}", hook_texts_of_event(&record, ""));
    assert!(said[0].contains("Active GHAP"), "{said:?}");
    assert_eq!(record.main_requests().count(), 3, "{}", record.stdout);
    assert_eq!(record.terminal_reason(), Some("completed"));
}

#[test]
fn killed_hook_does_not_stop_session() {
    let Some(mut life) = live_project() else { return };
    let script = life.project.join("killed.sh");
    let binary = env!("CARGO_BIN_EXE_rutter");
    fs::write(
        &script,
        format!("#!/bin/sh\n{binary} hook < /dev/stdin &\nkill -9 $!\nkill -9 $$\n"),
    )
    .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&script, mode).unwrap();
    let settings = life.project.join(".claude/settings.local.json");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replace(binary, script.to_str().unwrap())).unwrap();
    let record = life.session([bash_turn(RUN), bash_turn("echo after")]);
    assert_eq!(record.terminal_reason(), Some("completed"), "{}", record.stdout);
    assert_eq!(record.main_requests().count(), 3);
    assert_eq!(hook_texts_of_event(&record, ""), [] as [String; 0]);
    drop(life.rutter(&["doctor"]));
}

#[test]
fn full_disk_does_not_stop_session() {
    let Some(mut life) = LiveProject::new(&FILES) else { return };
    let memory = life.home.join("small");
    fs::create_dir(&memory).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=900k,mode=700", "none"])
        .arg(&memory)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        return rutter_testkit::report_skip(
            "a small disk of its own",
            "this machine lets nobody mount one",
        );
    }
    life.memory = Some(memory.clone());
    life.init();
    // Full to the last byte.
    let mut ballast = fs::File::create(memory.join("ballast")).unwrap();
    while std::io::Write::write_all(&mut ballast, &[0; 512]).is_ok() {}
    let record = life.session([bash_turn(RUN), bash_turn("echo after")]);
    let told = hook_texts_of_event(&record, "PostToolUseFailure");
    let (reason, requests) =
        (record.terminal_reason().map(str::to_owned), record.main_requests().count());
    drop(ballast);
    fs::remove_file(memory.join("ballast")).unwrap();
    drop(life);
    assert!(Command::new("umount").arg("-l").arg(&memory).status().unwrap().success());
    assert_eq!((reason.as_deref(), requests), (Some("completed"), 3), "{}", record.stdout);
    assert_eq!(told, [] as [String; 0]);
}
