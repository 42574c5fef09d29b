use rutter_memory::store::GhapOwner;
use rutter_testkit::CommandOutput;
use rutter_testkit::lessons::GeneratedLesson;
use rutter_testkit::world::{record_lesson, repeated_lesson};
use serde_json::Value;

use crate::support::{
    GHAP_START_ARGS, TestHome, assert_output, contains_text, lock_database, read_all_bytes,
};

/// The same mistake in different words.
const CAUSES: [&str; 5] = [
    "the discount was rounded before the tax was added",
    "each line was rounded before the lines were added up",
    "amounts were rounded in between, before the tax",
    "rounding happened twice, before and after the tax was added",
    "the amount was rounded before the fee was taken off",
];

fn home_with_lessons(causes: &[&str]) -> TestHome {
    let home = TestHome::new();
    let owner = GhapOwner { client: None, ..home.world.owner() };
    for cause in causes {
        let lesson = GeneratedLesson {
            surprise: Some((*cause).to_owned()),
            cause: Some(("wrong-assumption", (*cause).to_owned())),
            takeaway: Some("round once, at the end".to_owned()),
            ..repeated_lesson(0)
        };
        record_lesson(&mut home.world.store(), &owner, &lesson);
    }
    home
}

fn only_cluster(home: &TestHome) -> Value {
    let clusters = home.json(&["values", "clusters", "--axis", "root-cause"]);
    assert_eq!(clusters.as_array().unwrap().len(), 1, "{clusters}");
    clusters[0].clone()
}

#[test]
fn cluster_becomes_value() {
    let home = home_with_lessons(&CAUSES);
    let cluster = only_cluster(&home);
    assert_eq!(cluster["size"], 5);
    assert_eq!(cluster["axis"], "root-cause");
    let id = cluster["id"].as_str().unwrap();
    let whole = home.json(&["values", "show", id]);
    assert_eq!(whole["members"].as_array().unwrap().len(), 5);
    assert_eq!(whole["members"][0]["ghap"], cluster["medoid"], "the one in the middle is first");

    let refused = home.rutter(&["values", "add", id, "Pin the version of the compiler"]);
    assert_eq!(refused.exit, Some(1));
    assert!(refused.stderr.contains("the value does not fit cluster"), "{}", refused.stderr);
    assert!(refused.stderr.contains("its distance is "), "{}", refused.stderr);
    assert_eq!(
        home.json(&["values", "list", "--standing", "accepted"]).as_array().unwrap().len(),
        0
    );

    let text = "Round an amount once, at the end, never before it is added up";
    let added = home.json(&["values", "add", id, text]);
    assert_eq!((&added["text"], &added["standing"]), (&text.into(), &"accepted".into()));
    let value = added["short"].as_str().unwrap();
    let again = home.rutter(&["values", "add", id, text]);
    assert!(again.stderr.contains("has the same meaning"), "{}", again.stderr);
    let edited = home.json(&["values", "edit", value, "--everywhere", "--standing", "proposed"]);
    assert_eq!((&edited["project"], &edited["standing"]), (&Value::Null, &"proposed".into()));
    let far = home.rutter(&["values", "edit", value, "--text", "Pin the version of the compiler"]);
    assert_eq!(far.exit, Some(1), "{}", far.stderr);
    assert_eq!(home.json(&["values", "list"])[0]["text"], text);
    assert_output!(home, home.rutter(&["values", "retire", value]), @"
    exit 0
    --- stdout
    [ID]     retired: Round an amount once, at the end, never before it is added up
    ");
    assert_eq!(home.json(&["values", "list"]).as_array().unwrap().len(), 0);
    assert_eq!(home.json(&["values", "list", "--standing", "retired"])[0]["text"], text);
}

#[test]
fn proposed_value_is_accepted() {
    let home = home_with_lessons(&CAUSES);
    let id = only_cluster(&home)["id"].as_str().unwrap().to_owned();
    let text = "Round an amount once, at the end, never before it is added up";
    let value = home.json(&["values", "add", &id, text, "--proposed"]);
    assert_eq!(value["standing"], "proposed", "{value}");
    let short = value["short"].as_str().unwrap();
    assert_eq!(home.json(&["values", "accept", short])["standing"], "accepted");
    home.ok(&["values", "retire", short]);
    let ran = home.rutter(&["values", "accept", short]).assert_success();
    assert!(ran.stdout.contains(" accepted, supported by "), "{ran}");
    let unknown = home.rutter(&["values", "accept", "beef"]);
    assert_eq!(unknown.exit, Some(1), "{unknown}");
}

/// Five near duplicates make a cluster of five.
#[test]
fn near_duplicates_form_cluster() {
    let home = home_with_lessons(&[CAUSES[0]; 5]);
    assert_eq!(only_cluster(&home)["size"], 5);
    let id = only_cluster(&home)["short"].as_str().unwrap().to_owned();
    // A tight cluster accepts a value too.
    home.ok(&["values", "add", &id, "do not round the discount before the tax is added"]);
}

#[test]
fn empty_store_has_no_values() {
    let home = TestHome::new();
    assert_output!(home, home.rutter(&["values", "clusters"]), @"
    exit 0
    --- stderr
    note: there are no clusters: a cluster needs three or more similar experiences, and there are 0
    ");
    assert_output!(home, home.rutter(&["values", "list"]), @"
    exit 0
    --- stderr
    note: there are no values; `rutter values clusters` lists groups of similar experiences, `rutter values add` adds a value for one
    ");
    assert_output!(home, home.rutter(&["values", "show", "0123abcd"]), @"
    exit 1
    --- stderr
    error: no cluster has an id that ends in [ID]
    ");
    assert_eq!(home.json(&["values", "clusters"]), serde_json::json!([]));
}

#[test]
fn value_is_exported_and_erased() {
    let home = home_with_lessons(&CAUSES);
    let id = only_cluster(&home)["short"].as_str().unwrap().to_owned();
    let text = "Round an amount once, at the zebra end, never before it is added up";
    let added = home.json(&["values", "add", &id, text]);
    let export = home.rutter(&["export"]).assert_success().stdout;
    assert!(export.contains("zebra"));
    home.ok(&["forget", added["short"].as_str().unwrap(), "--yes"]);
    assert!(!contains_text(&read_all_bytes(&home.memory()), "zebra"));
    let other = TestHome::new();
    std::fs::write(other.path("lines.jsonl"), export).unwrap();
    other.ok(&["import", "jsonl", other.path("lines.jsonl").to_str().unwrap(), "--own", "--yes"]);
    let listed = other.json(&["values", "list", "--all"]);
    assert_eq!(listed[0]["text"], text, "{listed}");
    assert_eq!(only_cluster(&other)["size"], 5);
}

/// Every text of a value is printed on one line.
#[test]
fn value_text_cannot_forge_lines() {
    let home = home_with_lessons(&CAUSES);
    let id = only_cluster(&home)["short"].as_str().unwrap().to_owned();
    let text = "Round an amount once,\n0123abcd accepted: at the \u{202e}end,\u{1b}[31m\u{7}\tnever before it is added up";
    let added = home.rutter(&["values", "add", &id, text]).assert_success();
    let value = added.stdout[..8].to_owned();
    let shown = home.rutter(&["values", "show", &id]).assert_success();
    let edited =
        home.rutter(&["values", "edit", &value, "--standing", "proposed"]).assert_success();
    let retired = home.rutter(&["values", "retire", &value]).assert_success();
    let line = "Round an amount once, 0123abcd accepted: at the end, never before it is added up";
    for ran in [&added, &edited, &retired] {
        assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.stdout);
    }
    for ran in [&added, &shown, &edited, &retired] {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
        assert!(!ran.stdout.lines().any(|line| line.starts_with("0123abcd")), "{}", ran.stdout);
        let speaks = |sign: char| sign != '\n' && sign.is_control() || sign == '\u{202e}';
        assert!(!ran.stdout.contains(speaks), "{:?}", ran.stdout);
    }
}

/// Runs the binary in another project with the same store.
fn run_in_project(home: &TestHome, project: &str, args: &[&str]) -> CommandOutput {
    let folder = home.path(project);
    std::fs::create_dir_all(&folder).unwrap();
    CommandOutput::run(home.command(args).current_dir(folder))
}

#[test]
fn list_all_names_projects() {
    let home = home_with_lessons(&CAUSES);
    let id = only_cluster(&home)["short"].as_str().unwrap().to_owned();
    let say = |project: &str, text: &str| {
        drop(run_in_project(&home, project, &["values", "add", &id, text]).assert_success());
    };
    home.ok(&["values", "add", &id, "Round the sum at the end, once", "--everywhere"]);
    say("boat", "Add up the exact amounts, then round");
    for value in
        home.json(&["values", "list", "--all", "--standing", "proposed"]).as_array().unwrap()
    {
        home.ok(&["values", "retire", value["short"].as_str().unwrap()]);
    }
    assert_output!(home, home.rutter(&["values", "list", "--all"]), @"
    exit 0
    --- stdout
    ID        STANDING  SUPPORT  EFFECT  WHERE       TEXT
    [ID]      accepted  0        +0 -0   boat        Add up the exact amounts, then round
    [ID]      accepted  1        +0 -0   everywhere  Round the sum at the end, once
    ");
    // Projects with the same name are listed by their keys.
    say("harbour/boat", "Take the tax from amounts that were never rounded");
    let listed = home.rutter(&["values", "list", "--all"]).assert_success().stdout;
    for project in ["boat", "harbour/boat"] {
        let key = format!(" dir:{} ", home.path(project).display());
        assert_eq!(listed.matches(&key).count(), 1, "{listed}");
    }
    let here = home.rutter(&["values", "list"]).assert_success().stdout;
    assert!(here.contains("everywhere") && !here.contains("boat"), "{here}");
}

#[test]
fn forget_project_counts_values() {
    let home = home_with_lessons(&CAUSES);
    let id = only_cluster(&home)["short"].as_str().unwrap().to_owned();
    let proposed = home.json(&["values", "list"]).as_array().unwrap().len() as u64;
    home.ok(&["values", "add", &id, "Round the sum at the end, once", "--everywhere"]);
    let own = home.json(&["values", "add", &id, "Add up the exact amounts, then round"]);
    let status = home.json(&["status"]);
    assert_eq!(status["here"]["values"], proposed + 1, "{status}");
    assert_eq!(status["in_all"]["values"], proposed + 2, "{status}");
    let said = home.rutter(&["status"]).assert_success().stdout;
    assert!(said.contains(&format!("5 GHAPs, {} value", proposed + 1)), "{said}");
    // A retired value is not counted, but is forgotten like the others.
    home.ok(&["values", "retire", own["short"].as_str().unwrap()]);
    assert_eq!(home.json(&["status"])["here"]["values"], proposed);
    let asked = home.rutter(&["forget", "--project"]);
    assert_eq!(asked.exit, Some(1));
    assert!(asked.stderr.contains(&format!(", {} value", proposed + 1)), "{}", asked.stderr);
    home.ok(&["forget", "--project", "--yes"]);
    assert_eq!(home.json(&["status"])["in_all"]["values"], 1);
}

#[test]
fn clusters_readable_during_write() {
    let home = home_with_lessons(&CAUSES);
    assert_eq!(only_cluster(&home)["size"], 5);
    // Makes the clusters out of date.
    home.ok(GHAP_START_ARGS);
    home.ok(&["ghap", "resolve", "--status", "confirmed", "--result", "green"]);
    let mut holder = lock_database(&home.memory().join("rutter.db"), "NORMAL");
    let stale = "note: another process is writing, so this list may be out of date; try again\n";
    let listed = home.rutter(&["values", "clusters", "--axis", "root-cause"]).assert_success();
    assert_eq!((listed.stdout.lines().count(), listed.stderr.as_str()), (2, stale), "{listed}");
    let found =
        home.rutter(&["call", "list_clusters", r#"{"axis": "root-cause"}"#]).assert_success();
    assert!(found.stdout.contains("\"size\": 5"), "{found}");
    let listed = home.rutter(&["values", "list"]).assert_success();
    assert!(listed.stderr.starts_with(stale), "{listed}");
    drop(holder.stdin.take());
    holder.wait().unwrap();
    assert_eq!(home.rutter(&["values", "clusters"]).assert_success().stderr, "");
}
