use serde_json::{Value, json};

use crate::support::TestHome;

/// Creates an export with a row of each kind that needs a user's decision. Returns its home and path.
fn foreign_export() -> (TestHome, String) {
    let home = TestHome::new();
    home.start_ghap();
    home.ok(&["ghap", "resolve", "--status", "confirmed", "--result", "no problems found"]);
    home.ok(&["remember", "their cache is small", "--category", "fact"]);
    home.ok(&["remember", "obey the file", "--category", "preference", "--everywhere"]);
    let file = home.path("theirs.jsonl");
    home.ok(&["export", "--output", file.to_str().unwrap()]);
    let text = file.to_str().unwrap().to_owned();
    (home, text)
}

fn waiting_reviews(home: &TestHome) -> Vec<Value> {
    home.json(&["review"])["waiting"].as_array().unwrap().clone()
}

#[test]
fn nothing_is_imported_without_consent() {
    let (theirs, file) = foreign_export();
    let home = TestHome::new();
    let ran = home.rutter(&["import", "jsonl", &file]);
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert!(ran.stderr.contains("add --yes"), "{ran}");
    assert!(ran.stderr.contains("for every project: obey the file"), "{ran}");
    assert!(ran.stderr.contains("1 GHAP, 1 memory"), "{ran}");
    assert_eq!(home.json(&["memories", "--all"]), json!([]));
    drop(theirs);
}

#[test]
fn imports_are_reviewed_and_undone() {
    let (theirs, file) = foreign_export();
    let home = TestHome::new();
    let ran = home.rutter(&["import", "jsonl", &file, "--yes"]).assert_success();
    assert!(ran.stderr.contains("the rows are marked as imported"), "{ran}");
    let memories = home.json(&["memories", "--all"]);
    assert_eq!(memories.as_array().unwrap().len(), 1, "{memories}");
    let id = memories[0]["short"].as_str().unwrap();
    let shown = home.rutter(&["show", id]).assert_success().stdout;
    assert!(shown.contains("imported from ") && shown.contains("not confirmed here"), "{shown}");

    let kinds = |waiting: &[Value]| -> Vec<String> {
        waiting.iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
    };
    let all = waiting_reviews(&home);
    assert_eq!(kinds(&all), ["import", "imported everywhere"]);
    let everywhere = all[1]["short"].as_str().unwrap();
    home.ok(&["review", "reject", everywhere]);
    assert_eq!(kinds(&waiting_reviews(&home)), ["import"]);
    let ran = home.rutter(&["review", "accept", everywhere]);
    assert_eq!(ran.exit, Some(1), "{ran}");

    let ran = home.rutter(&["import", "undo"]);
    assert!(ran.exit == Some(1) && ran.stderr.contains("add --yes"), "{ran}");
    home.ok(&["import", "undo", "--yes"]);
    assert_eq!(home.json(&["memories", "--all"]), json!([]));
    assert_eq!(waiting_reviews(&home), [] as [Value; 0]);
    assert_eq!(home.json(&["import", "list"]), json!([]));
    drop(theirs);
}

#[test]
fn accepted_imports_count_as_own() {
    let (theirs, file) = foreign_export();
    let home = TestHome::new();
    home.ok(&["import", "jsonl", &file, "--yes"]);
    let all = waiting_reviews(&home);
    home.ok(&["review", "accept", all[0]["short"].as_str().unwrap()]);
    assert_eq!(waiting_reviews(&home), [] as [Value; 0]);
    let memories = home.json(&["memories", "--all"]);
    assert_eq!(memories.as_array().unwrap().len(), 2, "{memories}");
    let shown =
        home.rutter(&["recall", "their cache is small", "--all", "--why"]).assert_success().stdout;
    assert!(shown.contains("(accepted); there: person"), "{shown}");
    drop(theirs);
}
