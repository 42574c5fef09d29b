use rutter_testkit::CommandOutput;

use crate::support::{
    TestHome, assert_output, contains_text, read_all_bytes, run_rutter_with_stdin,
};

/// Creates a store with a GHAP and two memories.
fn filled_store() -> TestHome {
    let home = TestHome::new();
    home.start_ghap();
    home.ok(&["ghap", "resolve", "--status", "confirmed", "--result", "the quokka is green"]);
    home.ok(&["remember", "the Quokka lives in CI", "--category", "fact"]);
    home.ok(&["remember", "something else", "--category", "fact"]);
    home
}

#[test]
fn export_import_round_trip() {
    let (here, there) = (filled_store(), TestHome::new());
    let file = here.path("export.jsonl");
    assert_output!(here, here.rutter(&["export", "--output", file.to_str().unwrap()]), @"
    exit 0
    --- stderr
    note: 6 rows in [HOME]/export.jsonl
    ");
    let import = ["import", "jsonl", file.to_str().unwrap(), "--own", "--yes"];
    let ran = there.rutter(&import).assert_success();
    assert_eq!(ran.stdout, "6 added, 0 updated, 0 here already\n");
    assert!(ran.stderr.contains(", new here): 0 runs, 0 failures, 1 GHAP, 2 memories"), "{ran}");
    let again = there.json(&import);
    assert_eq!(again["kept"], 6, "{again}");
    let (exported, imported) = (here.rutter(&["export"]), there.rutter(&["export"]));
    assert!(exported.stdout.lines().count() > 5, "{exported}");
    assert_eq!(exported.stdout, imported.stdout);
    assert_eq!(exported.stdout, std::fs::read_to_string(&file).unwrap());
}

#[test]
fn export_can_be_piped() {
    let (here, there) = (filled_store(), TestHome::new());
    let lines = here.rutter(&["export", "--project"]).assert_success().stdout;
    let import = std::process::Command::new("sh")
        .args([
            "-c",
            "printf %s \"$1\" | \"$2\" import jsonl - --own --yes",
            "sh",
            &lines,
            env!("CARGO_BIN_EXE_rutter"),
        ])
        .env("RUTTER_HOME", there.memory())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(import.stdout).unwrap(), "6 added, 0 updated, 0 here already\n");
}

#[test]
fn invalid_import_changes_nothing() {
    let home = filled_store();
    let before = home.rutter(&["export"]).stdout;
    let file = home.path("wrong.jsonl");
    std::fs::write(&file, format!("{before}{{\"memory\":{{}}}}\n")).unwrap();
    assert_output!(home, home.rutter(&["import", "jsonl", file.to_str().unwrap(), "--own", "--yes"]), @"
    exit 1
    --- stderr
    error: line 11: missing field `id`; nothing was imported
    ");
    assert_output!(home, home.rutter(&["import", "jsonl", "/nonexistent"]), @"
    exit 1
    --- stderr
    error: cannot read /nonexistent: No such file or directory (os error 2)
    ");
    assert_output!(home, home.rutter(&["import", "jsonl", "/"]), @"
    exit 1
    --- stderr
    error: the file cannot be read: Is a directory (os error 21); nothing was imported
    ");
    assert_output!(home, home.rutter(&["export", "--output", "/nonexistent/x"]), @"
    exit 1
    --- stderr
    error: cannot write /nonexistent/x: No such file or directory (os error 2)
    ");
    assert_output!(home, home.rutter(&["export", "--project", "nothing"]), @"
    exit 1
    --- stderr
    error: no project is known as `nothing`; `rutter project list` shows them
    ");
    assert_eq!(home.rutter(&["export"]).stdout, before);
}

#[test]
fn forget_confirms_and_erases_bytes() {
    let home = filled_store();
    assert!(contains_text(&read_all_bytes(&home.memory()), "uokka"));
    assert_output!(home, home.rutter(&["forget", "--query", "quokka"]), @"
    exit 1
    --- stderr
      [ID]     ghap    CRLF files parse
      [ID]     memory  the Quokka lives in CI
    error: not on a terminal, so rutter cannot ask for confirmation, and this cannot be undone; add --yes
    ");
    assert_output!(home, home.rutter(&["forget", "--query", "quokka", "--yes"]), @"
    exit 0
    --- stdout
    forgot 2 rows
    --- stderr
      [ID]     ghap    CRLF files parse
      [ID]     memory  the Quokka lives in CI
    ");
    assert!(!contains_text(&read_all_bytes(&home.memory()), "uokka"));
    assert_output!(home, home.rutter(&["forget", "--query", "quokka", "--yes"]), @"
    exit 0
    --- stderr
    note: no row contains all of these words; nothing was deleted
    ");
    assert_output!(home, home.rutter(&["forget", "--query", " ", "--yes"]), @"
    exit 2
    --- stderr
    error: --query needs words; --all forgets everything
    ");
    assert_output!(home, home.rutter(&["forget", "--yes"]), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      <ID|--query <WORDS>|--project [<NAME>]|--all>

    Usage: rutter forget --yes <ID|--query <WORDS>|--project [<NAME>]|--all>

    For more information, try '--help'.
    ");
    assert_output!(home, home.rutter(&["forget", "--all", "--query", "x"]), @"
    exit 2
    --- stderr
    error: the argument '--all' cannot be used with '--query <WORDS>'

    Usage: rutter forget <ID|--query <WORDS>|--project [<NAME>]|--all>

    For more information, try '--help'.
    ");
    assert_output!(home, home.rutter(&["forget", "dead0000"]), @"
    exit 1
    --- stderr
    error: no row has an id that ends in [ID]
    ");
    let id = home.json(&["memories"])[0]["id"].as_str().unwrap().to_owned();
    assert_output!(home, home.rutter(&["forget", &id, "--yes", "--json"]), @r#"
    exit 0
    --- stdout
    {
      "rows": 1,
      "erased": true,
      "files": []
    }
    --- stderr
      [ID]     memory  something else
    "#);
}

#[test]
fn forget_project_and_all() {
    let home = filled_store();
    assert_output!(home, home.rutter(&["forget", "--project", "--yes"]), @"
    exit 0
    --- stdout
    forgot 3 rows
    --- stderr
      ship (dir:[HOME]/ship): 1 GHAP, 0 episodes, 2 memories, 0 values, 0 outcomes, 1 session
    ");
    assert_output!(home, home.rutter(&["forget", "--project", "--yes"]), @"
    exit 1
    --- stderr
    error: no project is known as `dir:[HOME]/ship`; `rutter project list` shows them
    ");
    let home = filled_store();
    assert_output!(home, home.rutter(&["forget", "--all", "--yes"]), @"
    exit 0
    --- stdout
    forgot 3 rows
    --- stderr
      ship (dir:[HOME]/ship)
      everything, in every project
    ");
    let empty =
        format!("{{\"rutter-export\":{{\"schema\":{}}}}}\n", rutter_memory::store::SCHEMA_VERSION);
    assert_eq!(home.rutter(&["export"]).stdout, empty);
    assert!(!contains_text(&read_all_bytes(&home.memory()), "uokka"));
}

#[test]
fn missing_home_asks_for_variable() {
    // An invalid HOME instead of none: without HOME, the system may return the home directory of the user of the test.
    let ran =
        CommandOutput::run(crate::support::rutter_command(&["memories"]).env("HOME", "nowhere"));
    assert!(ran.exit == Some(1) && ran.stderr.contains("set RUTTER_HOME"), "{ran}");
    assert_eq!(run_rutter_with_stdin(&["contract", "explain", "Stop"], b"{}").exit, Some(0));
}

#[test]
fn import_without_format_names_the_command() {
    let home = TestHome::new();
    assert_output!(home, home.rutter(&["import", "my memory.jsonl", "--json"]), @"
    exit 2
    --- stderr
    error: the format is missing; type `rutter import jsonl 'my memory.jsonl' --json`
    ");
    let ran = home.rutter(&["import"]);
    assert_eq!(ran.exit, Some(2), "{ran}");
}
