use std::collections::{BTreeMap, BTreeSet};

use rutter_histories::generate;
use rutter_histories::truth::{ChangeRole, ExpectedText, FailureCause, FailureEnding};
use serde_json::Value;

const TEST_SEEDS: std::ops::Range<u64> = 0..120;

#[test]
fn generation_is_deterministic() {
    for seed in [0, 1, 17, 4711] {
        let (one, other) = (generate(seed), generate(seed));
        assert_eq!(one.steps, other.steps);
    }
    assert_ne!(generate(2).steps, generate(4).steps);
}

/// Kinds of mess that the histories must have.
const REQUIRED_MESS: [&str; 75] = [
    "several edits",
    "several failures at once",
    "one bug fails several tests",
    "another fix in between",
    "a wrong attempt, undone",
    "a wrong attempt, left",
    "a green run in between that does not cover it",
    "decoy after the fix in the same file",
    "decoy after the fix in another file",
    "decoy: docstring",
    "decoy: comment",
    "decoy: version constant",
    "decoy: import order",
    "decoy: another function",
    "decoy: document",
    "decoy: a formatter",
    "bug: assertion",
    "bug: exception",
    "bug: import error",
    "bug: compile error",
    "bug: configuration value",
    "bug: lint finding",
    "fix: an edit",
    "fix: in two edits",
    "fix: the whole file written",
    "fix: sed -i",
    "fix: cat > file <<'EOF'",
    "fix: python3 - <<'EOF'",
    "fix: git apply",
    "fix: git checkout FILE",
    "fix: git stash",
    "fix: git revert",
    "fix: ruff check --fix",
    "fix: a variable",
    "fix: a flag",
    "fix: a wrapper",
    "red: make test",
    "red: just test",
    "red: mise run test",
    "red: npm test",
    "red: ./run_tests.sh",
    "red: tox",
    "red: docker compose run --rm app",
    "red: rtk",
    "red: | tail",
    "red: | head",
    "red: | grep",
    "green: by name",
    "green: by file",
    "green: by keyword",
    "green: by package or folder",
    "green: cargo nextest",
    "green: make test",
    "not covered by: another test",
    "not covered by: another keyword",
    "not covered by: another file",
    "not covered by: another package",
    "not covered by: deselected",
    "not covered by: only collected",
    "not covered by: only the library",
    "not covered by: a linter or build",
    "the test is removed",
    "the test is renamed",
    "the test is skipped",
    "return: by an edit",
    "return: from outside",
    "return: in another checkout",
    "return: in a subagent",
    "return: on other lines",
    "return: moved to another file",
    "return: written differently",
    "return: several at once",
    "return: the same test in another way",
    "the same test name in another package",
    "return: by chance",
];

#[test]
fn every_kind_of_mess_is_drawn() {
    let mut missing: BTreeSet<&str> = REQUIRED_MESS.into_iter().collect();
    let mut languages = BTreeSet::new();
    for history in (0..1_000).map(generate) {
        languages.insert(history.language);
        let truth = &history.truth;
        let of_failures = truth.failures.iter().flat_map(|failure| &failure.tags);
        let of_sightings = truth.sightings.iter().flat_map(|sighting| &sighting.tags);
        for tag in history.tags.iter().chain(of_failures).chain(of_sightings) {
            missing.remove(tag.as_str());
        }
        if missing.is_empty() && languages.len() == 5 {
            return;
        }
    }
    panic!("never drawn: {missing:?}");
}

#[test]
fn required_closings_have_passed() {
    let mut closed = 0;
    for history in TEST_SEEDS.map(generate) {
        for failure in &history.truth.failures {
            assert!(failure.failed_at.contains(&failure.opened));
            let Some(at) = failure.required_at else { continue };
            assert!(failure.passed_at.contains(&at) && failure.may_close_at(at));
            assert!(failure.failed_at.iter().all(|red| *red != at));
            closed += 1;
        }
    }
    assert!(closed > 200, "{closed}");
}

#[test]
fn expected_fixes_have_earlier_lessons() {
    let mut due = 0;
    for history in TEST_SEEDS.map(generate) {
        let truth = &history.truth;
        for sighting in &truth.sightings {
            if !matches!(sighting.expectation, ExpectedText::Show | ExpectedText::ShowOrHedge) {
                continue;
            }
            due += 1;
            let lesson = truth.failures.iter().find(|failure| {
                failure.check == sighting.check
                    && failure.cause == sighting.cause
                    && failure.required_at.is_some_and(|at| at < sighting.step)
                    && failure.session < sighting.context.0
                    && matches!(
                        failure.resolution,
                        Some(FailureEnding::Fixed | FailureEnding::Command)
                    )
            });
            assert!(lesson.is_some(), "seed {} step {}", history.seed, sighting.step);
            match sighting.cause {
                FailureCause::Bug(_) => assert!(!truth.right[&sighting.cause].is_empty()),
                FailureCause::Environment => assert!(truth.remedy.is_some()),
                FailureCause::Chance => panic!("nothing is learnt from chance"),
            }
        }
    }
    assert!(due > 80, "{due}");
}

/// A line of an unrelated change is never a line of a fix.
#[test]
fn decoys_are_not_fixes() {
    for history in TEST_SEEDS.map(generate) {
        for change in &history.truth.changes {
            if change.role != ChangeRole::Unrelated {
                continue;
            }
            for line in &change.lines {
                let is_right = history.truth.right.values().any(|right| right.contains(line));
                assert!(!is_right, "seed {}: {line}", history.seed);
            }
        }
    }
}

/// Every payload has the keys that recorded payloads of the client have.
#[test]
fn payload_keys_match_client() {
    let path = rutter_testkit::repository_root().join("crates/contract/recorded/2.1.325.json");
    let recorded: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut known: BTreeMap<(String, String), Vec<BTreeSet<String>>> = BTreeMap::new();
    let keys = |value: &Value| -> BTreeSet<String> {
        value.as_object().into_iter().flat_map(|fields| fields.keys().cloned()).collect()
    };
    let kind = |payload: &Value| {
        let word = |key: &str| payload[key].as_str().unwrap_or_default().to_owned();
        (word("hook_event_name"), word("tool_name"))
    };
    for payload in recorded.as_object().unwrap().values().filter_map(Value::as_array).flatten() {
        let payload = payload.get("payload").unwrap_or(payload);
        known.entry(kind(payload)).or_default().push(keys(payload));
    }
    let mut checked = 0;
    for history in (0..40).map(generate) {
        for step in &history.steps {
            let (event, tool) = kind(&step.payload);
            let Some(seen) = known.get(&(event.clone(), tool.clone())) else { continue };
            let mut own = keys(&step.payload);
            own.remove("agent_id");
            own.remove("agent_type");
            let fits = seen.iter().any(|seen| {
                own.is_subset(seen)
                    && seen
                        .iter()
                        .all(|key| own.contains(key) || key == "model" || key.starts_with("agent_"))
            });
            assert!(fits, "{event} {tool}: {own:?}, seen {seen:?}");
            checked += 1;
        }
    }
    assert!(checked > 500, "{checked}");
}

#[test]
fn edits_and_files_agree() {
    for history in (0..60).map(generate) {
        for step in &history.steps {
            let response = &step.payload["tool_response"];
            let Some(path) = response["filePath"].as_str() else { continue };
            let path = path.strip_prefix("@BASE@/").unwrap();
            let written = step.writes.iter().find(|(at, _)| at == path);
            let text = written.and_then(|(_, text)| text.clone()).unwrap_or_default();
            let original = response["originalFile"].as_str().unwrap_or_default();
            match (response["oldString"].as_str(), response["newString"].as_str()) {
                (Some(old), Some(new)) => assert_eq!(original.replacen(old, new, 1), text),
                _ => assert_eq!(response["content"], text.as_str()),
            }
            for hunk in response["structuredPatch"].as_array().unwrap() {
                let lines: Vec<&str> = original.lines().collect();
                let mut at = usize::try_from(hunk["oldStart"].as_u64().unwrap()).unwrap();
                for line in hunk["lines"].as_array().unwrap() {
                    let line = line.as_str().unwrap();
                    if !line.starts_with('+') {
                        assert_eq!(lines[at - 1], &line[1..]);
                        at += 1;
                    }
                }
            }
        }
    }
}
