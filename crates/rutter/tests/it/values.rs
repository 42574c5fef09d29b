use serde_json::Value;

use crate::support::{Home, START, assert_output, bytes_below, holds};

/// The same trap in other words each time.
const CAUSES: [&str; 5] = [
    "the discount was rounded before the tax was added",
    "each line was rounded before the lines were added up",
    "amounts were rounded in between, before the tax",
    "rounding happened twice, before and after the tax was added",
    "the amount was rounded before the fee was taken off",
];

fn learnt(causes: &[&str]) -> Home {
    let home = Home::new();
    for cause in causes {
        home.ok(START);
        home.ok(&[
            "ghap",
            "resolve",
            "--status",
            "falsified",
            "--result",
            "still red",
            "--surprise",
            cause,
            "--root-cause-category",
            "wrong-assumption",
            "--root-cause",
            cause,
            "--takeaway",
            "round once, at the end",
        ]);
    }
    home
}

fn cluster(home: &Home) -> Value {
    let clusters = home.json(&["values", "clusters", "--axis", "root-cause"]);
    assert_eq!(clusters.as_array().unwrap().len(), 1, "{clusters}");
    clusters[0].clone()
}

#[test]
fn from_experiences_to_a_sentence() {
    let home = learnt(&CAUSES);
    let cluster = cluster(&home);
    assert_eq!(cluster["size"], 5);
    assert_eq!(cluster["axis"], "root-cause");
    let id = cluster["id"].as_str().unwrap();
    let whole = home.json(&["values", "show", id]);
    assert_eq!(whole["members"].as_array().unwrap().len(), 5);
    assert_eq!(whole["members"][0]["ghap"], cluster["medoid"], "the one in the middle is first");

    let refused = home.rutter(&["values", "add", id, "Pin the version of the compiler"]);
    assert_eq!(refused.exit, Some(1));
    assert!(refused.stderr.contains("it does not fit cluster"), "{}", refused.stderr);
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
    assert!(again.stderr.contains("says the same"), "{}", again.stderr);
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

/// Five that are all but the same are five.
#[test]
fn near_duplicates_count() {
    let home = learnt(&[CAUSES[0]; 5]);
    assert_eq!(cluster(&home)["size"], 5);
    let id = cluster(&home)["short"].as_str().unwrap().to_owned();
    // Of a tight cluster, too, something can be said.
    home.ok(&["values", "add", &id, "do not round the discount before the tax is added"]);
}

#[test]
fn nothing_is_said_to_be_nothing() {
    let home = Home::new();
    assert_output!(home, home.rutter(&["values", "clusters"]), @"
    exit 0
    --- stderr
    note: there are none: a cluster is three experiences or more that are alike, and there are 0
    ");
    assert_output!(home, home.rutter(&["values", "list"]), @"
    exit 0
    --- stderr
    note: there are none; `rutter values clusters` lists what experiences have in common, and `rutter values add` says it
    ");
    assert_output!(home, home.rutter(&["values", "show", "0123abcd"]), @"
    exit 1
    --- stderr
    error: no cluster has an id that ends in [ID]
    ");
    assert_eq!(home.json(&["values", "clusters"]), serde_json::json!([]));
}

#[test]
fn a_value_is_forgotten_to_the_byte_and_travels() {
    let home = learnt(&CAUSES);
    let id = cluster(&home)["short"].as_str().unwrap().to_owned();
    let text = "Round an amount once, at the zebra end, never before it is added up";
    let added = home.json(&["values", "add", &id, text]);
    let export = home.rutter(&["export"]).success().stdout;
    assert!(export.contains("zebra"));
    home.ok(&["forget", added["short"].as_str().unwrap(), "--yes"]);
    assert!(!holds(&bytes_below(&home.memory()), "zebra"));
    let other = Home::new();
    std::fs::write(other.path("lines.jsonl"), export).unwrap();
    other.ok(&["import", "jsonl", other.path("lines.jsonl").to_str().unwrap()]);
    let listed = other.json(&["values", "list", "--all"]);
    assert_eq!(listed[0]["text"], text, "{listed}");
    assert_eq!(cluster(&other)["size"], 5);
}
