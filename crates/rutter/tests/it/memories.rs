use std::process::Command;

use rutter_testkit::CommandOutput;

use crate::support::{TestHome, assert_output};

#[test]
fn memories_are_listed_and_edited() {
    let home = TestHome::new();
    assert_output!(home, home.rutter(&["remember", "CI runs on Postgres 17", "--category", "fact", "--tag", "ci", "--tag", "db"]), @"
    exit 0
    --- stdout
    [ID]     fact #ci #db: CI runs on Postgres 17
    ");
    home.ok(&[
        "remember",
        "no emojis in commits",
        "--category",
        "preference",
        "--everywhere",
        "--importance",
        "0.9",
    ]);
    assert_output!(home, home.rutter(&["memories"]), @"
    exit 0
    --- stdout
    ID        CATEGORY    IMPORTANCE  WHERE       TAGS   TEXT
    [ID]      preference  0.9         everywhere         no emojis in commits
    [ID]      fact        0.5         project     ci db  CI runs on Postgres 17
    ");
    assert_output!(home, home.rutter(&["memories", "--category", "fact", "--json"]), @r#"
    exit 0
    --- stdout
    [
      {
        "short": "[ID]    ",
        "id": "[UUID]",
        "project": "dir:[HOME]/ship",
        "category": "fact",
        "text": "CI runs on Postgres 17",
        "importance": 0.5,
        "tags": [
          "ci",
          "db"
        ],
        "created": "[TIME]",
        "changed": "[TIME]"
      }
    ]
    "#);
    assert_output!(home, home.rutter(&["memories", "--tag", "ci", "--tag", "rust"]), @"
    exit 0
    --- stderr
    note: there are no memories; `rutter remember` adds one
    ");
    assert_eq!(home.json(&["memories", "--everywhere"]).as_array().unwrap().len(), 1);
    let memories = home.json(&["memories", "--tag", "ci"]);
    let id = memories[0]["short"].as_str().unwrap();
    assert_output!(home, home.rutter(&["edit", id, "--text", "CI runs on Postgres 18", "--tag", "ci", "--category", "event"]), @"
    exit 0
    --- stdout
    [ID]     event #ci: CI runs on Postgres 18
    ");
    assert_output!(home, home.rutter(&["edit", id, "--importance", "7"]), @"
    exit 1
    --- stderr
    error: importance must be a number from 0 to 1, not 7
    ");
    assert_output!(home, home.rutter(&["edit", "0000", "--importance", "1"]), @"
    exit 1
    --- stderr
    error: no memory has an id that ends in 0000
    ");
}

#[test]
fn phrases_are_shown_and_find() {
    let home = TestHome::new();
    let text = "export GPG_TTY before signing";
    let fact = ["remember", text, "--category", "fact"];
    let with = |phrases: &[&'static str]| {
        let phrases = phrases.iter().flat_map(|phrase| ["--applies-when", *phrase]);
        fact.iter().copied().chain(phrases).collect::<Vec<_>>()
    };
    assert_output!(home, home.rutter(&with(&["git commit hangs", "committing fails over ssh"])), @"
    exit 0
    --- stdout
    [ID]     fact: export GPG_TTY before signing
      applies when: git commit hangs
      applies when: committing fails over ssh
    ");
    assert_output!(home, home.rutter(&with(&["git commit hangs", "no pinentry"])), @"
    exit 0
    --- stdout
    [ID]     fact: export GPG_TTY before signing
      applies when: git commit hangs
      applies when: committing fails over ssh
      applies when: no pinentry
    --- stderr
    note: memory [ID]     already has this text, so only the phrases were added
    ");
    let why =
        home.rutter(&["recall", "committing over ssh fails", "--why"]).assert_success().stdout;
    assert!(why.contains("  applies when: committing fails over ssh\n"), "{why}");
    let found = home.json(&["recall", "committing over ssh fails"]);
    assert_eq!(found[0]["text"], text);
    assert_eq!(found[0]["applies_when"][2], "no pinentry");
    assert_eq!(found[0]["above_floor"], true);
    let id = found[0]["short"].as_str().unwrap();
    assert_output!(home, home.rutter(&["edit", id, "--applies-when", ""]), @"
    exit 0
    --- stdout
    [ID]     fact: export GPG_TTY before signing
    ");
    let many = ["a", "b", "c", "d", "e", "f", "g"];
    assert_output!(home, home.rutter(&with(&many)), @"
    exit 1
    --- stderr
    error: there are 7 phrases in applies_when; at most 6 are allowed
    ");
}

#[test]
fn invalid_memories_are_refused() {
    let home = TestHome::new();
    assert_output!(home, home.rutter(&["remember", "x"]), @"
    exit 2
    --- stderr
    error: the following required arguments were not provided:
      --category <CATEGORY>

    Usage: rutter remember --category <CATEGORY> <TEXT>

    For more information, try '--help'.
    ");
    assert_output!(home, home.rutter(&["remember", "x", "--category", "fat"]), @"
    exit 2
    --- stderr
    error: invalid value 'fat' for '--category <CATEGORY>'
      [possible values: preference, fact, event, workflow, context, error, decision]

      tip: a similar value exists: 'fact'

    For more information, try '--help'.
    ");
    assert_output!(home, home.rutter(&["remember", " ", "--category", "fact"]), @"
    exit 1
    --- stderr
    error: the memory is empty; say what it is
    ");
    assert_output!(home, home.rutter(&["remember", "x", "--category", "fact", "--tag", "two words"]), @"
    exit 1
    --- stderr
    error: `two words` is not a tag: use letters, digits, `-`, `_` and `.`
    ");
    assert_eq!(home.json(&["memories", "--all"]).as_array().unwrap().len(), 0);
}

#[test]
fn remembered_secret_is_redacted() {
    let home = TestHome::new();
    let token = ["ghp", "_", "R7tQx2LmZ9vKcD4wPq8sYh3NbF6gJa1eUo5T"].concat();
    let ran = home
        .rutter(&["remember", &format!("the token is {token}"), "--category", "fact"])
        .assert_success();
    assert!(!ran.stdout.contains(&token) && ran.stdout.contains("[redacted:"), "{ran}");
}

#[test]
fn new_remote_keeps_memories() {
    let home = TestHome::new();
    let git = |args: &[&str]| {
        let ran = CommandOutput::run(
            Command::new("git")
                .args(args)
                .current_dir(home.path("ship"))
                .env("HOME", home.path("")),
        );
        drop(ran.assert_success());
    };
    home.ok(&["remember", "before git", "--category", "fact"]);
    git(&["init", "-q"]);
    home.ok(&["remember", "with git", "--category", "fact"]);
    git(&["remote", "add", "origin", "https://ada:secret@github.com/ada/ship.git"]);
    home.ok(&["remember", "with a remote", "--category", "fact"]);
    assert_eq!(home.json(&["memories"]).as_array().unwrap().len(), 3);
    assert_output!(home, home.rutter(&["project", "show"]), @"
    exit 0
    --- stdout
    [ID]     ship
      key      github.com/ada/ship
      also     dir:[HOME]/ship
      also     git:[HOME]/ship/.git
      folder   [HOME]/ship
      since    [TIME]
      holds    0 GHAPs, 0 episodes, 3 memories, 0 values, 0 outcomes, 0 sessions
    ");
    std::fs::create_dir(home.path("boat")).unwrap();
    drop(
        CommandOutput::run(
            home.command(&["remember", "x", "--category", "fact"]).current_dir(home.path("boat")),
        )
        .assert_success(),
    );
    assert_output!(home, home.rutter(&["project", "list"]), @"
    exit 0
    --- stdout
    ID        NAME  GHAPS  EPISODES  MEMORIES  OUTCOMES  KEY
    [ID]      boat  0      0         1         0         dir:[HOME]/boat
    [ID]      ship  0      0         3         0         github.com/ada/ship
    ");
    // A merge cannot be undone, so the user has to confirm it.
    assert_output!(home, home.rutter(&["project", "merge", "boat", "ship"]), @"
    exit 1
    --- stderr
      from  dir:[HOME]/boat: 0 GHAPs, 0 episodes, 1 memory, 0 values, 0 outcomes, 0 sessions
      into  github.com/ada/ship: 0 GHAPs, 0 episodes, 3 memories, 0 values, 0 outcomes, 0 sessions
    error: not on a terminal, so rutter cannot ask for confirmation, and a merge cannot be undone; add --yes
    ");
    assert_output!(home, home.rutter(&["project", "merge", "boat", "ship", "--yes"]), @"
    exit 0
    --- stdout
    dir:[HOME]/boat is part of github.com/ada/ship now
    --- stderr
      from  dir:[HOME]/boat: 0 GHAPs, 0 episodes, 1 memory, 0 values, 0 outcomes, 0 sessions
      into  github.com/ada/ship: 0 GHAPs, 0 episodes, 3 memories, 0 values, 0 outcomes, 0 sessions
    ");
    assert_output!(home, home.rutter(&["project", "merge", "boat", "ship"]), @"
    exit 1
    --- stderr
    error: no project is known as `boat`; `rutter project list` shows them
    ");
    assert_output!(home, home.rutter(&["project", "show", "nothing"]), @"
    exit 1
    --- stderr
    error: no project is known as `nothing`; `rutter project list` shows them
    ");
    assert_eq!(home.json(&["memories"]).as_array().unwrap().len(), 4);
}

#[test]
fn duplicate_memory_is_not_added() {
    let home = TestHome::new();
    let first = home.json(&["remember", "Use tabs, never spaces.", "--category", "preference"]);
    assert_eq!((&first["known"], &first["importance"]), (&false.into(), &1.0.into()));
    assert_output!(home, home.rutter(&["remember", "use TABS never  spaces", "--category", "preference"]), @"
    exit 0
    --- stdout
    [ID]     preference: Use tabs, never spaces.
    --- stderr
    note: memory [ID]     already has this text, so nothing was added
    ");
    let lower =
        ["remember", "use tabs never spaces", "--category", "preference", "--importance", "0.5"];
    let told = home.rutter(&lower).assert_success().stderr;
    assert!(told.contains("--importance 0.5` changes its importance"), "{told}");
    // Other words, another category or another scope make another memory.
    for args in [
        &["use tabs, never two spaces", "--category", "preference"][..],
        &["use tabs never spaces", "--category", "decision"],
        &["use tabs never spaces", "--category", "preference", "--everywhere"],
    ] {
        assert_eq!(home.json(&[&["remember"], args].concat())["known"], false, "{args:?}");
    }
    assert_eq!(home.json(&["memories"]).as_array().unwrap().len(), 4);
}
