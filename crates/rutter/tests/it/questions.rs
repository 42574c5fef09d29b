//! Questions of the binary on a pseudoterminal, and in an editor.

use std::process::Stdio;

use crate::support::{TestHome, run_on_terminal};

#[test]
fn missing_fields_are_asked() {
    let home = TestHome::new();
    let command = home.command(&["ghap", "start", "--goal", "CRLF files parse", "--json"]);
    let (stdout, shown, exit) = run_on_terminal(
        command,
        "dancing\ndebugging\nread-the-error\n\na hypothesis\nan action\nit passes\n",
    );
    assert_eq!(exit, Some(0), "{shown}");
    // A wrong word or an empty line repeats the question, with the reason.
    assert_eq!(shown.matches("What kind of work is it? (debugging, ").count(), 2, "{shown}");
    assert!(shown.contains("`dancing` is not one of the choices\n"), "{shown}");
    assert_eq!(shown.matches("What is your hypothesis?").count(), 2, "{shown}");
    assert!(shown.contains("Type an answer, or press Ctrl-D to cancel."), "{shown}");
    assert!(!shown.contains("What is your goal?"), "{shown}");
    let ghap: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(ghap["hypothesis"], "a hypothesis");

    let command = home.command(&["ghap", "resolve", "--json"]);
    let (stdout, shown, exit) =
        run_on_terminal(command, "falsified\nred\nthe lexer\noversight\ntwo places\n");
    assert_eq!(exit, Some(0), "{shown}");
    let ghap: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(ghap["resolution"]["root_cause"]["category"], "oversight");
}

#[test]
fn only_yes_confirms_forget() {
    let home = TestHome::new();
    home.ok(&["remember", "x", "--category", "fact"]);
    for answer in ["n\n", "\n", "yess\n", "\u{4}"] {
        let (_, shown, exit) = run_on_terminal(home.command(&["forget", "--all"]), answer);
        assert_eq!(exit, Some(1), "{answer:?}: {shown}");
        assert!(
            shown.contains("Delete this permanently? [y/N]")
                && shown.contains("nothing was deleted")
                && !shown.contains("error"),
            "{shown}"
        );
    }
    assert_eq!(home.json(&["memories"]).as_array().unwrap().len(), 1);
    let (stdout, shown, exit) = run_on_terminal(home.command(&["forget", "--all"]), "Yes\n");
    assert_eq!((stdout.as_str(), exit), ("forgot 1 row\n", Some(0)), "{shown}");
}

#[test]
fn declining_to_trust_is_no_error() {
    let home = TestHome::new();
    std::fs::write(home.path("ship/.rutter.toml"), "notify = \"card\"\n").unwrap();
    let (_, shown, exit) = run_on_terminal(home.command(&["trust"]), "n\n");
    assert_eq!(exit, Some(1), "{shown}");
    assert!(shown.contains("nothing was trusted") && !shown.contains("error"), "{shown}");
}

#[test]
fn near_answer_gets_suggestion() {
    let home = TestHome::new();
    let command = home.command(&["ghap", "start", "--json"]);
    let lines = "debug\ndebugging\nroot cause\nread-the-error\ng\nh\na\np\n";
    let (_, shown, exit) = run_on_terminal(command, lines);
    assert_eq!(exit, Some(0), "{shown}");
    assert!(
        shown.contains("`debug` is not one of the choices; did you mean debugging?"),
        "{shown}"
    );
    assert!(
        shown.contains("`root cause` is not one of the choices; did you mean root-cause-analysis?")
    );
}

/// Returns the `notify` line that `init` has added to the configuration.
fn notify_line(home: &TestHome) -> Option<String> {
    let text = std::fs::read_to_string(home.memory().join("config.toml")).ok()?;
    text.lines().find(|line| line.starts_with("notify")).map(str::to_owned)
}

#[test]
fn init_asks_for_notify_once() {
    let asked = |home: &TestHome, answer: &str| {
        let program = home.program("bin");
        drop(home.rutter(&["uninstall"]));
        let (_, shown, exit) = run_on_terminal(home.command(&["init", "--bin", &program]), answer);
        assert_eq!(exit, Some(0), "{shown}");
        shown
    };
    for (answer, expected) in [
        ("\n", Some("notify = \"brief\"")),
        ("Card\n", Some("notify = \"card\"")),
        ("banner\noff\n", Some("notify = \"off\"")),
        ("\u{4}", None),
    ] {
        let home = TestHome::new();
        let shown = asked(&home, answer);
        assert!(shown.contains("What should rutter show you"), "{shown}");
        assert_eq!(
            shown.contains("`banner` is not one of the choices."),
            answer.starts_with("banner")
        );
        assert_eq!(notify_line(&home).as_deref(), expected, "{answer:?}");
        if expected.is_some() {
            assert!(!asked(&home, "").contains("What should rutter show you"), "once");
        }
    }
    // Without a terminal, `init` does not ask and writes nothing.
    let home = TestHome::new();
    drop(home.init(&[]).assert_success());
    assert_eq!(notify_line(&home), None);
    // The rest of an existing file stays.
    home.write_config(&[]);
    asked(&home, "card\n");
    let text = std::fs::read_to_string(home.memory().join("config.toml")).unwrap();
    assert!(text.starts_with("notify = \"card\"\n\n[hooks.session_start]\n"), "{text}");
    home.ok(&["config", "check"]);
}

/// Runs a command with an editor that runs this script on the file.
fn run_with_editor(home: &TestHome, args: &[&str], script: &str) -> rutter_testkit::CommandOutput {
    let editor = home.path("editor");
    std::fs::write(&editor, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = home.command(args);
    rutter_testkit::CommandOutput::run(
        command.env("EDITOR", format!("{} --wait", editor.display())).stdin(Stdio::null()),
    )
}

#[test]
fn missing_fields_in_editor() {
    let home = TestHome::new();
    let args =
        ["ghap", "start", "--domain", "debugging", "--strategy", "ask-user", "--editor", "--json"];
    let script = "sed -i -e 's/^<!-- goal.*/&\\n# the goal/' -e 's/^<!-- hypothesis.*/&\\none\\n## two/' \
                  -e 's/^<!-- action.*/&\\nact/' -e 's/^<!-- prediction.*/&\\nit passes/' \"$2\"";
    let ran = run_with_editor(&home, &args, script).assert_success();
    let ghap: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (ghap["goal"].as_str(), ghap["hypothesis"].as_str()),
        (Some("# the goal"), Some("one\n## two"))
    );
    let ran =
        run_with_editor(&home, &["ghap", "resolve", "--status", "confirmed", "--editor"], "exit 3");
    assert_eq!(ran.exit, Some(1));
    assert!(
        ran.stderr.contains("the editor ended with exit status: 3; nothing was changed"),
        "{ran}"
    );
    let ran =
        run_with_editor(&home, &["ghap", "resolve", "--status", "confirmed", "--editor"], "true");
    assert!(ran.stderr.contains("`result` is empty; nothing was changed"), "{ran}");
}

#[test]
fn memory_is_edited_in_editor() {
    let home = TestHome::new();
    let memory = home.json(&["remember", "one thing", "--category", "fact"]);
    let id = memory["short"].as_str().unwrap();
    drop(run_with_editor(&home, &["edit", id], "sed -i s/one/another/ \"$2\"").assert_success());
    assert_eq!(home.json(&["memories"])[0]["text"], "another thing");
    let ran = home.rutter(&["edit", id]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("set EDITOR"), "{ran}");
}

#[test]
fn hooks_run_after_consent() {
    let home = TestHome::new();
    let project = home.path("ship");
    for (answer, exit, is_run) in [("n\n", Some(1), false), ("yes\n", Some(0), true)] {
        let words = ["contract", "test", "--event", "Stop", "--in-place", "--", "touch ran"];
        let mut command = home.command(&words);
        command.env("PATH", "/usr/bin:/bin").current_dir(&project);
        let (stdout, shown, ended) = run_on_terminal(command, answer);
        assert_eq!(ended, exit, "{shown}");
        assert!(shown.contains("  touch ran"), "{shown}");
        assert!(shown.contains("Run 1 command in this folder? [y/N]"), "{shown}");
        assert_eq!(stdout.contains("result: unknown"), is_run, "{stdout}");
        assert_eq!(project.join("ran").exists(), is_run);
    }
}
