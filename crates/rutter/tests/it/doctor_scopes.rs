//! `rutter doctor` with several settings files: which one runs rutter, which entries defer to it, and the advice.

use std::fs;
use std::os::unix::fs::symlink;

use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::doctor::DoctorSetup;

const LOCAL_SETTINGS: &str = "ship/.claude/settings.local.json";
const PROJECT_SETTINGS: &str = "ship/.claude/settings.json";
const USER_SETTINGS: &str = "home/.claude/settings.json";

/// The path of rutter in a setup.
fn rutter_path(setup: &DoctorSetup) -> String {
    setup.text("bin/rutter")
}

/// Makes a directory the root of a Git repository.
fn create_repository(setup: &DoctorSetup, folder: &str) {
    for name in ["objects", "refs"] {
        fs::create_dir_all(setup.path(folder).join(".git").join(name)).unwrap();
    }
    setup.write(&format!("{folder}/.git/HEAD"), "ref: refs/heads/main\n");
}

/// Runs the doctor in a directory and returns code and advice of every finding.
fn findings_in(setup: &DoctorSetup, folder: &str) -> Vec<(String, String)> {
    let ran =
        CommandOutput::run(setup.command(&["doctor", "--json"]).current_dir(setup.path(folder)));
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let text = |value: &Value| {
        value.as_str().unwrap().replace(setup.text("").trim_end_matches('/'), "[HOME]")
    };
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|finding| (text(&finding["code"]), text(&finding["advice"]))).collect()
}

#[test]
fn shared_hooks_run_without_trust() {
    let setup = DoctorSetup::without_init();
    setup.ok(&["init", "--project"]);
    setup.distrust_all();
    // The approval of a server does not count before the directory is trusted.
    let expected = [
        ("folder-untrusted", "start claude here once and accept the trust question"),
        ("server-pending", "start claude here once and choose to use the server"),
    ];
    let pairs = expected.map(|(code, advice)| (code.to_owned(), advice.to_owned()));
    assert_eq!(findings_in(&setup, "ship"), pairs);
    let report = setup.report();
    assert_eq!(report["servers"][0]["tools"], 16, "{report:#}");
    assert_eq!(report["hooks"].as_array().unwrap().len(), 9);
    assert_eq!(report["hooks"][0]["answer"], "heard", "{report:#}");
    // Only the exact line that `init` writes counts as rutter's: this one has a space more.
    let text = fs::read_to_string(setup.path(PROJECT_SETTINGS)).unwrap();
    setup.write(PROJECT_SETTINGS, &text.replace("; fi\"", " ; fi\""));
    let report = setup.report();
    let rows = report["hooks"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["answer"] == "untrusted"), "{report:#}");
}

#[test]
fn shared_hook_answers_doctor() {
    let mut setup = DoctorSetup::without_init();
    setup.ok(&["init", "--project"]);
    setup.ok(&["init", "--user", "--bin", &rutter_path(&setup)]);
    let heard = |setup: &DoctorSetup| {
        let report = setup.report();
        assert_eq!(report["findings"], json!([]), "{report:#}");
        let rows = report["hooks"].as_array().unwrap();
        let starts = rows.iter().filter(|row| row["event"] == "SessionStart");
        starts.map(|row| row["answer"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(heard(&setup), ["heard", "heard"]);
    // The same with another configuration directory of the client.
    fs::create_dir(setup.path("elsewhere")).unwrap();
    fs::copy(setup.path(USER_SETTINGS), setup.path("elsewhere/settings.json")).unwrap();
    fs::copy(setup.path("home/.claude.json"), setup.path("elsewhere/.claude.json")).unwrap();
    setup.variables.push(("CLAUDE_CONFIG_DIR", setup.text("elsewhere")));
    assert_eq!(heard(&setup), ["heard", "heard"]);
}

/// A hook that the doctor tries has the HOME of the user, which its shell line may use.
#[test]
fn hook_trial_has_home() {
    let setup = DoctorSetup::new();
    fs::create_dir(setup.path("home/bin")).unwrap();
    symlink(setup.path("bin/rutter"), setup.path("home/bin/rutter")).unwrap();
    setup.edit_settings(|settings| {
        settings["hooks"]["Stop"][0]["hooks"][0] =
            json!({ "type": "command", "command": "\"$HOME/bin/rutter\" hook", "timeout": 5 });
    });
    assert_eq!(findings_in(&setup, "ship"), [("hook-shell".to_owned(), "rutter init".to_owned())]);
}

#[test]
fn events_are_merged_across_files() {
    let setup = DoctorSetup::new();
    setup.ok(&["init", "--project"]);
    assert_eq!(findings_in(&setup, "ship"), []);
    // The shared file handles events that the nearer file lacks.
    setup.edit_settings(|settings| {
        let hooks = settings["hooks"].as_object_mut().unwrap();
        hooks.shift_remove("PreCompact");
        hooks.shift_remove("SubagentStart");
    });
    assert_eq!(findings_in(&setup, "ship"), []);
    // An event that both files lack is reported.
    let text = fs::read_to_string(setup.path(PROJECT_SETTINGS)).unwrap();
    let mut settings: Value = serde_json::from_str(&text).unwrap();
    settings["hooks"].as_object_mut().unwrap().shift_remove("PreCompact");
    setup.write(PROJECT_SETTINGS, &settings.to_string());
    assert_eq!(
        findings_in(&setup, "ship"),
        [("hooks-missing".to_owned(), "rutter init".to_owned())]
    );
    // The shared entry does not defer to a missing program, so it is not reported as a duplicate.
    setup.ok(&["uninstall", "--project"]);
    setup.ok(&["init", "--bin", &rutter_path(&setup)]);
    setup.ok(&["init", "--project"]);
    setup.replace_program("nowhere/rutter");
    assert_eq!(
        findings_in(&setup, "ship"),
        [("program-missing".to_owned(), "rutter init".to_owned())]
    );
}

#[test]
fn main_checkout_precedes_shared_settings() {
    let setup = DoctorSetup::new();
    create_repository(&setup, "ship");
    fs::create_dir(setup.path("ship/deep")).unwrap();
    let init = CommandOutput::run(
        setup.command(&["init", "--project"]).current_dir(setup.path("ship/deep")),
    );
    drop(init.assert_success());
    assert_eq!(findings_in(&setup, "ship/deep"), []);
    // An entry with a fixed path does not defer, so both would run. The advice removes the farther one.
    let path = setup.path("ship/deep/.claude/settings.json");
    fs::hard_link(setup.path("bin/rutter"), setup.path("home/rutter")).unwrap();
    let own = fs::read_to_string(setup.path(LOCAL_SETTINGS)).unwrap();
    fs::write(&path, own.replace(&rutter_path(&setup), &setup.text("home/rutter"))).unwrap();
    let expected = ("hooks-twice".to_owned(), "rutter uninstall --project".to_owned());
    assert_eq!(findings_in(&setup, "ship/deep"), [expected]);
    fs::remove_file(&path).unwrap();
    setup.write("ship/deep/.claude/settings.local.json", &own.replace("bin/rutter", "home/rutter"));
    let away = "cd [HOME]/ship && rutter uninstall --local".to_owned();
    assert_eq!(findings_in(&setup, "ship/deep"), [("hooks-twice".to_owned(), away)]);
}

#[test]
fn advice_names_affected_scope() {
    let setup = DoctorSetup::without_init();
    // Faults of the program, which the entry does not show.
    setup.ok(&["init", "--user", "--bin", &rutter_path(&setup)]);
    setup.program("other/rutter", "#!/bin/sh\necho 'a router, 1.0'\n");
    let text = fs::read_to_string(setup.path(USER_SETTINGS)).unwrap();
    setup.write(USER_SETTINGS, &text.replace(&rutter_path(&setup), &setup.text("other/rutter")));
    setup.assert_only_finding(
        "program-other",
        &format!("[HOME]/{USER_SETTINGS}:6:11"),
        "rutter init --user",
    );
    setup.write("target/CACHEDIR.TAG", "");
    fs::create_dir_all(setup.path("target/debug")).unwrap();
    fs::hard_link(setup.path("bin/rutter"), setup.path("target/debug/rutter")).unwrap();
    setup.write(
        USER_SETTINGS,
        &text.replace(&rutter_path(&setup), &setup.text("target/debug/rutter")),
    );
    let advice = "rutter init --user --bin PATH";
    setup.assert_only_finding("program-is-build", &format!("[HOME]/{USER_SETTINGS}:6:11"), advice);
    // A program that fails when the doctor runs it.
    let version = env!("CARGO_PKG_VERSION");
    setup.program(
        "other/rutter",
        &format!("#!/bin/sh\n[ \"$1\" = --version ] && echo 'rutter {version}' && exit\nexit 3\n"),
    );
    setup.write(USER_SETTINGS, &text.replace(&rutter_path(&setup), &setup.text("other/rutter")));
    let mut all = findings_in(&setup, "ship");
    // Hooks and server run different programs.
    let differs = ("server-program-differs".to_owned(), "rutter init --user".to_owned());
    assert_eq!(all.pop(), Some(differs), "{all:?}");
    assert_eq!(all.len(), 9, "{all:?}");
    let expected = ("hook-fails".to_owned(), "rutter init --user".to_owned());
    assert!(all.iter().all(|one| *one == expected), "{all:?}");
    fs::remove_file(setup.path(USER_SETTINGS)).unwrap();
    // Commands about the main checkout must run there.
    setup.ok(&["init", "--bin", &rutter_path(&setup)]);
    create_repository(&setup, "ship");
    fs::create_dir(setup.path("ship/deep")).unwrap();
    setup.edit_entry("Stop", "timeout", -5);
    let advice = "cd [HOME]/ship && rutter init".to_owned();
    assert_eq!(findings_in(&setup, "ship/deep"), [("hook-wrong".to_owned(), advice)]);
}

#[test]
fn shared_line_in_user_settings() {
    let setup = DoctorSetup::without_init();
    setup.ok(&["init", "--project"]);
    fs::create_dir(setup.path("home/.claude")).unwrap();
    fs::rename(setup.path(PROJECT_SETTINGS), setup.path(USER_SETTINGS)).unwrap();
    let place = format!("[HOME]/{USER_SETTINGS}:6:11");
    setup.assert_only_finding("hooks-shared-own", &place, "rutter init --user");
    // The same file through a symbolic link.
    fs::remove_dir(setup.path("ship/.claude")).unwrap();
    symlink(setup.path("home/.claude"), setup.path("ship/.claude")).unwrap();
    setup.assert_only_finding("hooks-shared-own", &place, "rutter init --user");
    let report = setup.report();
    let layers = report["layers"].as_array().unwrap().iter();
    let whose: Vec<&str> = layers.map(|layer| layer["whose"].as_str().unwrap()).collect();
    assert_eq!(whose, ["managed", "local", "user"], "it is looked at once");
    setup.ok(&["init", "--user", "--bin", &rutter_path(&setup)]);
    assert_eq!(findings_in(&setup, "ship"), []);
}

#[test]
fn shared_fixed_path_is_checked() {
    let mut setup = DoctorSetup::without_init();
    setup.ok(&["init", "--project", "--bin", &setup.text("opt/rutter")]);
    // A rutter on PATH does not help.
    setup.assert_only_finding(
        "program-not-in-path",
        &format!("[HOME]/{PROJECT_SETTINGS}:6:11"),
        "install rutter there, or choose another path: rutter init --project --bin PATH",
    );
    fs::create_dir(setup.path("opt")).unwrap();
    fs::rename(setup.path("bin/rutter"), setup.path("opt/rutter")).unwrap();
    let report = setup.report();
    assert_eq!(report["findings"], json!([]), "{report:#}");
    assert_eq!(report["hooks"][0]["answer"], "heard", "{report:#}");
    // Without `--bin`, rutter is searched on PATH.
    setup.ok(&["init", "--project"]);
    let place = format!("[HOME]/{PROJECT_SETTINGS}:6:11");
    setup.assert_only_finding("program-not-in-path", &place, "add the folder of rutter to PATH");
    setup
        .variables
        .push(("PATH", format!("{}:{}:/usr/bin:/bin", setup.text("opt"), setup.text("bin"))));
    assert_eq!(setup.report()["findings"], json!([]));
}

#[test]
fn shared_line_works_without_args() {
    let setup = DoctorSetup::without_init();
    setup.install_client("2.1.138 (Claude Code)");
    setup.ok(&["init", "--project"]);
    assert_eq!(findings_in(&setup, "ship"), []);
    setup.ok(&["init", "--bin", &rutter_path(&setup)]);
    assert_eq!(
        findings_in(&setup, "ship"),
        [("client-too-old".to_owned(), "claude update".to_owned())]
    );
}

/// The client of this test prints its version, or copies the settings that it is started with.
#[test]
fn client_gets_no_untrusted_hooks() {
    let setup = DoctorSetup::new();
    setup.program("ship/tools/rutter", "#!/bin/sh\n");
    let seen = setup.text("seen");
    setup.program(
        "bin/claude",
        &format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && echo '2.1.325 (Claude Code)' && exit\ncat .claude/*.json >>'{seen}'\n"
        ),
    );
    let entry = |handler: Value| json!([{ "hooks": [handler] }]);
    let theirs = json!({ "type": "command", "command": "./tools/rutter", "args": ["hook"] });
    // A clone can contain either file.
    setup.write(
        PROJECT_SETTINGS,
        &json!({ "hooks": { "Stop": entry(theirs.clone()) } }).to_string(),
    );
    let expanded = json!({ "type": "command", "command": "\"$(mischief)/rutter\" hook" });
    setup.edit_settings(|settings| {
        settings["hooks"]["Stop"] = entry(theirs);
        settings["hooks"]["PreCompact"] = entry(expanded);
    });
    for (trusted, handed) in [(false, 0), (true, 2)] {
        if trusted {
            setup.trust_dir(&setup.path("ship"));
        } else {
            setup.distrust_all();
        }
        drop(setup.rutter(&["doctor", "--live"]));
        let text = fs::read_to_string(setup.path("seen")).unwrap();
        fs::remove_file(setup.path("seen")).unwrap();
        // The other seven entries are the user's, and the doctor starts two sessions.
        assert_eq!(text.matches(&rutter_path(&setup)).count(), 2 * 7, "{text}");
        assert_eq!(text.matches("./tools/rutter").count(), 2 * handed, "{text}");
        assert_eq!(text.contains("mischief"), trusted, "{text}");
    }
}
