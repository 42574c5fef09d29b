use std::process::Stdio;

use rutter_testkit::CommandOutput;
use serde_json::json;

use crate::hook::assert_silent;
use crate::support::{GHAP_START_ARGS, TestHome, assert_output};

impl TestHome {
    /// Runs a command like an agent in a session of the client.
    pub(crate) fn run_in_session(&self, session: &str, args: &[&str]) -> CommandOutput {
        let mut command = self.command(args);
        CommandOutput::run(command.env("CLAUDE_CODE_SESSION_ID", session).stdin(Stdio::null()))
    }

    /// Runs the hooks of a session that fixes a failure, and of a second one that gets the fix.
    fn play_two_sessions(&self) {
        self.write_config(&[]);
        self.ok(&["maintain"]);
        let began = json!({ "source": "startup" });
        drop(self.hook(&self.event("one", "SessionStart", &began)).assert_success());
        for payload in [self.failing_run("one"), self.edit("one"), self.passing_run("one")] {
            assert_silent(&self.hook(&payload));
        }
        assert_silent(&self.hook(&self.event("one", "SessionEnd", &json!({ "reason": "other" }))));
        self.wait_for_housekeeping();
        assert_ne!(self.hook(&self.failing_run("two")).assert_success().stdout, "");
    }

    /// Waits for the housekeeping that hooks have started: `export` waits for its lock.
    pub(crate) fn wait_for_housekeeping(&self) {
        self.ok(&["export"]);
    }
}

/// Replaces the size of the database, which differs in every run.
fn mask_size(mut ran: CommandOutput) -> CommandOutput {
    if let Some((before, _)) = ran.stdout.rsplit_once(", ") {
        ran.stdout = format!("{before}, [SIZE]\n");
    }
    ran
}

#[test]
fn status_shows_current_state() {
    let home = TestHome::new();
    assert_output!(home, mask_size(home.rutter(&["status"])), @"
    exit 0
    --- stdout
    project   dir:[HOME]/ship, nothing is known about it yet
    session   of the command line, not seen yet
    hooks     not installed for this folder; `rutter init` installs them
    GHAP      none; `rutter ghap start` starts one
    runs      none
    failing   none
    left open none
    here      0 memories, 0 experiences, 0 episodes, 0 outcomes, 0 GHAPs, 0 values, 0 injections
    in all    0 memories, 0 experiences, 0 episodes, 0 outcomes, 0 GHAPs, 0 values, 0 injections
    store     [HOME]/memory/rutter.db, [SIZE]
    ");
    home.play_two_sessions();
    home.ok(&["remember", "CI runs on Postgres 17", "--category", "fact"]);
    drop(home.run_in_session("two", GHAP_START_ARGS).assert_success());
    let tool = json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } });
    for _ in 0..3 {
        assert_silent(&home.hook(&home.event("two", "PreToolUse", &tool)));
    }
    assert_output!(home, mask_size(home.run_in_session("two", &["status"])), @"
    exit 0
    --- stdout
    project   ship (dir:[HOME]/ship)
    session   two, live, startup, started just now
    hooks     installed, not paused
    GHAP      [ID]     CRLF files parse
              hypothesis lines are split at LF alone
              prediction `cargo test parser` passes
              3 tool calls since it was changed or asked about; no run has confirmed or contradicted it; changed just now
    runs      failed just now python3 -m unittest
    failing   [ID]     just now tests.test_cart.Cart.test_total
    left open none
    here      1 memory, 0 experiences, 2 episodes, 3 outcomes, 1 GHAP, 0 values, 1 injection
    in all    1 memory, 0 experiences, 2 episodes, 3 outcomes, 1 GHAP, 0 values, 1 injection
    store     [HOME]/memory/rutter.db, [SIZE]
    ");
    // Outside of the session the GHAP does not count, and it is not an orphan.
    let outside = home.json(&["status"]);
    assert!(outside["ghap"].is_null() && outside["client"].is_null(), "{outside}");
    assert_eq!(outside["orphans"], json!([]));
    let inside = home.run_in_session("two", &["status", "--json"]).assert_success().stdout;
    let inside: serde_json::Value = serde_json::from_str(&inside).unwrap();
    assert_eq!(
        (&inside["ghap"]["calls"], &inside["session"]["client"]),
        (&json!(3), &json!("two"))
    );
    assert!(inside["quiet"].is_null(), "{inside}");
    assert_eq!(inside["here"]["outcomes"], 3);
    assert_eq!(inside["store"]["spool"], 0);
    // After the end of the session, another one can adopt the GHAP.
    assert_silent(&home.hook(&home.event("two", "SessionEnd", &json!({ "reason": "other" }))));
    home.wait_for_housekeeping();
    assert_eq!(home.json(&["status"])["orphans"].as_array().unwrap().len(), 1);
}

#[test]
fn sessions_list_and_show() {
    let home = TestHome::new();
    assert_output!(home, home.rutter(&["sessions", "list"]), @"
    exit 0
    --- stderr
    note: no session was seen in this project; add `--all` to list other projects
    ");
    home.play_two_sessions();
    drop(home.run_in_session("two", GHAP_START_ARGS).assert_success());
    assert_output!(home, home.rutter(&["sessions", "list"]), @"
    exit 0
    --- stdout
    ID        STATE  SOURCE   SEEN                      RUNS                    GHAPS  SHOWN  CLIENT'S ID
    [ID]      live   startup  [TIME]  1 (0 passed, 1 failed)  1      1      two
    [ID]      ended  startup  [TIME]  2 (1 passed, 1 failed)  0      0      one
    ");
    assert_output!(home, home.rutter(&["sessions", "show", "one"]), @"
    exit 0
    --- stdout
    [ID]     ended, startup
      client   one
      project  dir:[HOME]/ship
      started  [TIME]
      seen     [TIME]
      ended    [TIME]
      cohort   -
      calls    0 tool calls while a GHAP was active
      runs     2 (1 passed, 1 failed)
               [TIME] failed python3 -m unittest
               [TIME] passed python3 -m unittest
      GHAPs    0
      shown    0
    ");
    let listed = home.json(&["sessions", "list", "--limit", "1"]);
    let short = listed[0]["short"].as_str().unwrap();
    assert_output!(home, home.rutter(&["sessions", "show", short]), @"
    exit 0
    --- stdout
    [ID]     live, startup
      client   two
      project  dir:[HOME]/ship
      started  [TIME]
      seen     [TIME]
      cohort   -
      calls    0 tool calls while a GHAP was active
      runs     1 (0 passed, 1 failed)
               [TIME] failed python3 -m unittest
      GHAPs    1
               [TIME] [ID]     active CRLF files parse
      shown    1
               [TIME] PostToolUseFailure: [ID]     episode, 100 % likely tests.test_cart.Cart.test_total: AssertionError: 90.0 != 100
    ");
    let whole = home.json(&["sessions", "show", "two"]);
    assert_eq!((&whole["over"], &whole["failed"]), (&json!(false), &json!(1)));
    assert_eq!(whole["shown"][0]["event"], "PostToolUseFailure");
    assert_eq!(whole["set_out"][0]["goal"], "CRLF files parse");
    assert_output!(home, home.rutter(&["sessions", "show", "three"]), @"
    exit 1
    --- stderr
    error: no session is known as `three`; `rutter sessions list --all` shows them
    ");
}

#[test]
fn injections_are_listed() {
    let home = TestHome::new();
    assert_output!(home, home.rutter(&["injections"]), @"
    exit 0
    --- stderr
    note: nothing was shown in this project; add `--all` to list other projects
    ");
    home.play_two_sessions();
    assert_output!(home, home.rutter(&["injections"]), @"
    exit 0
    --- stdout
    WHEN                      EVENT               AGENT  LIKELY  EFFECT  ROW       KIND     TEXT
    [TIME]  PostToolUseFailure  main   100 %   -       [ID]      episode  tests.test_cart.Cart.test_total: AssertionError: 90.0 != 100
    ");
    let shown = home.json(&["injections", "--session", "two"]);
    let short = shown[0]["short"].as_str().unwrap();
    assert_eq!(home.json(&["injections", "--row", short]), shown);
    assert_eq!(home.json(&["injections", "--session", "one"]), json!([]));
    assert_output!(home, home.rutter(&["injections", "--row", "beef"]), @"
    exit 1
    --- stderr
    error: no row that was shown has an id that ends in beef
    ");
    // An import can have an injection without the row that it showed.
    let exported = home.rutter(&["export"]).assert_success().stdout;
    let without: Vec<&str> =
        exported.lines().filter(|line| !line.starts_with("{\"episode\"")).collect();
    assert!(without.len() < exported.lines().count());
    let other = TestHome::new();
    std::fs::write(other.path("rows"), without.join("\n")).unwrap();
    other.ok(&["import", "jsonl", other.path("rows").to_str().unwrap(), "--own", "--yes"]);
    assert_output!(other, other.rutter(&["injections", "--all"]), @"
    exit 0
    --- stdout
    WHEN                      EVENT               AGENT  LIKELY  EFFECT  ROW       KIND  TEXT
    [TIME]  PostToolUseFailure  main   100 %   -       [ID]      gone
    ");
    // Forgetting a row deletes its injections.
    home.ok(&["forget", short, "--yes"]);
    assert_eq!(home.json(&["injections"]), json!([]));
}

#[test]
fn pause_stops_recording() {
    let home = TestHome::new();
    assert_output!(home, home.rutter(&["pause"]), @"
    exit 0
    --- stdout
    paused everywhere: hooks record nothing and say nothing
      `rutter pause --off` ends the pause
    ");
    // Nothing is recorded either: hooks create no directory and no spool.
    for payload in [
        home.failing_run("one"),
        home.event("one", "SessionStart", &json!({ "source": "startup" })),
    ] {
        assert_silent(&home.hook(&payload));
    }
    let left: Vec<_> = std::fs::read_dir(home.memory()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_output!(home, home.rutter(&["context"]), @"
    exit 0
    --- stderr
    note: nothing would be put before an agent
    note: an agent is told nothing at the moment: all hooks are paused; `rutter pause --off` ends the pause
    ");
    assert_output!(home, home.rutter(&["pause", "--off"]), @"
    exit 0
    --- stdout
    nothing is paused
    ");
    assert_output!(home, home.rutter(&["pause", "--off"]), @"
    exit 0
    --- stdout
    nothing is paused
    --- stderr
    note: nothing was paused
    ");
}

#[test]
fn pause_of_single_session() {
    let home = TestHome::new();
    home.play_two_sessions();
    assert_output!(home, home.rutter(&["pause", "--session"]), @"
    exit 2
    --- stderr
    error: this command does not run inside a Claude Code session; give a session id from `rutter sessions list`
    ");
    assert_output!(home, home.rutter(&["pause", "--session", "nobody"]), @"
    exit 1
    --- stderr
    error: no session is known as `nobody`; `rutter sessions list --all` shows them
    ");
    assert_output!(home, home.run_in_session("three", &["pause", "--session"]), @"
    exit 0
    --- stdout
    paused in session three: hooks neither record nor say anything there
      `rutter pause --session three --off` ends it
    ");
    assert_silent(&home.hook(&home.failing_run("three")));
    assert_ne!(home.hook(&home.failing_run("four")).assert_success().stdout, "");
    home.wait_for_housekeeping();
    assert_output!(home, mask_size(home.run_in_session("three", &["status"])), @"
    exit 0
    --- stdout
    project   ship (dir:[HOME]/ship)
    session   three, not seen yet
    hooks     this session is paused; `rutter pause --session --off` ends the pause
    GHAP      none; `rutter ghap start` starts one
    runs      failed just now python3 -m unittest
    failing   [ID]     just now tests.test_cart.Cart.test_total
    left open none
    here      0 memories, 0 experiences, 2 episodes, 4 outcomes, 0 GHAPs, 0 values, 2 injections
    in all    0 memories, 0 experiences, 2 episodes, 4 outcomes, 0 GHAPs, 0 values, 2 injections
    store     [HOME]/memory/rutter.db, [SIZE]
    ");
    assert!(home.json(&["status"])["quiet"].is_null());
    // By its short id, from outside of the session.
    let sessions = home.json(&["sessions", "list"]);
    let four = sessions.as_array().unwrap().iter().find(|one| one["client"] == "four").unwrap();
    let paused = home.json(&["pause", "--session", four["short"].as_str().unwrap()]);
    assert_eq!(paused, json!({ "everywhere": false, "sessions": ["three", "four"] }));
    let paused = home.json(&["pause", "--session", "three", "--off"]);
    assert_eq!(paused, json!({ "everywhere": false, "sessions": ["four"] }));
    assert_ne!(home.hook(&home.failing_run("three")).assert_success().stdout, "");
    // Without a session, `--off` ends every pause.
    home.ok(&["pause"]);
    assert_eq!(home.json(&["status"])["quiet"], "paused");
    assert_eq!(home.json(&["pause", "--off"]), json!({ "everywhere": false, "sessions": [] }));
}

#[test]
fn silence_reason_is_shown() {
    let home = TestHome::new();
    home.write_config(&[("user_prompt_submit", "enabled = false")]);
    let said = home.run_in_session("one", &["context", "x"]).assert_success().stderr;
    assert!(said.contains("`hooks.user_prompt_submit` is switched off"), "{said}");
    let config = home.memory().join("config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("[cohort]\ncontrol = 1.0\n{text}")).unwrap();
    let said = home.run_in_session("one", &["status"]).assert_success().stdout;
    assert!(said.contains("recorded and told nothing"), "{said}");
    // The name of a slash command is not part of the query.
    home.ok(&["remember", "CI runs on Postgres 17", "--category", "fact"]);
    let of = |prompt: &str| home.json(&["context", prompt])["markdown"].clone();
    assert_eq!(of("/fix postgres 17 in CI"), of("postgres 17 in CI"));
}
