use rutter_testkit::Ran;

use crate::support::{Home, assert_output, bytes_below, holds, rutter_with};

/// Creates a store with a GHAP and two memories.
fn filled() -> Home {
    let home = Home::new();
    home.start();
    home.ok(&["ghap", "resolve", "--status", "confirmed", "--result", "the quokka is green"]);
    home.ok(&["remember", "the Quokka lives in CI", "--category", "fact"]);
    home.ok(&["remember", "something else", "--category", "fact"]);
    home
}

#[test]
fn out_and_in_again_is_the_same() {
    let (here, there) = (filled(), Home::new());
    let file = here.path("export.jsonl");
    assert_output!(here, here.rutter(&["export", "--output", file.to_str().unwrap()]), @"
    exit 0
    --- stderr
    note: 6 rows in [HOME]/export.jsonl
    ");
    let import = ["import", "jsonl", file.to_str().unwrap(), "--own", "--yes"];
    let ran = there.rutter(&import).success();
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
fn an_export_can_be_piped_in() {
    let (here, there) = (filled(), Home::new());
    let lines = here.rutter(&["export", "--project"]).success().stdout;
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
fn a_file_that_is_wrong_is_refused_whole() {
    let home = filled();
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
fn forgetting_asks_first_and_leaves_no_byte() {
    let home = filled();
    assert!(holds(&bytes_below(&home.memory()), "uokka"));
    assert_output!(home, home.rutter(&["forget", "--query", "quokka"]), @"
    exit 1
    --- stderr
      [ID]     ghap    CRLF files parse
      [ID]     memory  the Quokka lives in CI
    error: there is no terminal to ask on, and forgetting is for good; add --yes
    ");
    assert_output!(home, home.rutter(&["forget", "--query", "quokka", "--yes"]), @"
    exit 0
    --- stdout
    forgot 2 rows
    --- stderr
      [ID]     ghap    CRLF files parse
      [ID]     memory  the Quokka lives in CI
    ");
    assert!(!holds(&bytes_below(&home.memory()), "uokka"));
    assert_output!(home, home.rutter(&["forget", "--query", "quokka", "--yes"]), @"
    exit 0
    --- stderr
    note: nothing holds all of these words; nothing was forgotten
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
fn a_project_and_everything_can_be_forgotten() {
    let home = filled();
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
    let home = filled();
    assert_output!(home, home.rutter(&["forget", "--all", "--yes"]), @"
    exit 0
    --- stdout
    forgot 3 rows
    --- stderr
      ship (dir:[HOME]/ship)
      everything, in every project
    ");
    let empty = format!("{{\"rutter-export\":{{\"schema\":{}}}}}\n", rutter_memory::store::VERSION);
    assert_eq!(home.rutter(&["export"]).stdout, empty);
    assert!(!holds(&bytes_below(&home.memory()), "uokka"));
}

#[test]
fn without_a_home_the_toolkit_works_and_the_memory_says_what_to_set() {
    // An invalid HOME instead of none: without HOME, the system may return the home directory of the user of the test.
    let ran = Ran::of(crate::support::command(&["memories"]).env("HOME", "nowhere"));
    assert!(ran.exit == Some(1) && ran.stderr.contains("set RUTTER_HOME"), "{ran}");
    assert_eq!(rutter_with(&["contract", "explain", "Stop"], b"{}").exit, Some(0));
}

#[test]
fn import_without_format_names_the_command() {
    let home = Home::new();
    assert_output!(home, home.rutter(&["import", "my memory.jsonl", "--json"]), @"
    exit 2
    --- stderr
    error: the format is missing; type `rutter import jsonl 'my memory.jsonl' --json`
    ");
    let ran = home.rutter(&["import"]);
    assert_eq!(ran.exit, Some(2), "{ran}");
}
