//! Hooks as small scripts, and the reports on them.

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::super::payloads::test_payloads;
use super::super::trial::{HookStart, TrialEnvironment};
use super::*;

fn report(event: EventName, script: &str) -> HookTestReport {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("hook.sh");
    File::create(&path).unwrap().write_all(script.as_bytes()).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    report_in(scratch.path(), event)
}

fn report_in(folder: &Path, event: EventName) -> HookTestReport {
    let environment = TrialEnvironment {
        project: folder.to_owned(),
        home: folder.to_owned(),
        temporary: folder.to_owned(),
        variables: vec![("PATH".into(), "/usr/bin:/bin".into())],
        is_copy: true,
    };
    let payloads = test_payloads(event, &[], &environment);
    let runner = TrialRunner::new(environment).unwrap();
    let hook = TestedHook {
        event,
        start: HookStart::Shell("./hook.sh".to_owned()),
        plugin: None,
        timeout: Some(Duration::from_millis(800)),
        blocks_on_failure: false,
    };
    let search = ["/usr/bin".into(), "/bin".into()];
    let programs = ProgramFolder::create(folder.join("programs"), &search).unwrap();
    let facts = ScriptFacts::read(&hook, runner.environment(), &[]);
    let contract = Contract::newest();
    run_hook_test(&runner, &hook, &payloads, &|_| true, &facts, &|| Some(&programs), contract)
        .report
}

fn group(report: &HookTestReport, effect: TrialEffect) -> Vec<&str> {
    let groups = report.answers.iter().filter(|group| group.effect == effect);
    groups.flat_map(|group| &group.payloads).map(|payload| payload.name.as_str()).collect()
}

fn codes(report: &HookTestReport) -> Vec<&str> {
    report.defects.iter().map(|defect| defect.code).collect()
}

#[test]
fn guard_blocks_what_it_is_written_for() {
    let report = report(
        EventName::PreToolUse,
        "#!/bin/sh\nif grep -q 'git push --force'; then echo 'no forced push' >&2; exit 2; fi\n",
    );
    assert_eq!(group(&report, TrialEffect::Blocked), ["Bash: git push --force"]);
    assert_eq!(report.conclusion, HookConclusion::Works, "{:?}", report.defects);
    assert!(report.payloads > 60 && report.unrun_payloads == 0);
    let blocked = &report.answers[0];
    assert_eq!(blocked.texts, ["no forced push\n"]);
    let audit = report.audit.unwrap();
    assert!(audit.cases.iter().any(|case| case.condition == "without grep" && case.fails_open));
    assert!(report.latency.p50_ms > 0.0 && report.latency.p95_ms >= report.latency.p50_ms);
}

#[test]
fn silence_is_unknown() {
    let report = report(EventName::PreToolUse, "#!/bin/sh\nexit 0\n");
    assert_eq!(report.conclusion, HookConclusion::Unknown);
    assert_eq!((report.answers.len(), report.audit), (1, None));
}

#[test]
fn lost_deny_is_a_defect() {
    let report = report(
        EventName::PreToolUse,
        "#!/bin/sh\ngrep -q 'rm -rf /\"' && echo '{\"permissionDecision\":\"deny\"}'\nexit 0\n",
    );
    assert!(codes(&report).contains(&"top-level-permission"), "{:?}", report.defects);
    assert!(group(&report, TrialEffect::Voided).contains(&"Bash: rm -rf /"));
    assert_eq!(report.conclusion, HookConclusion::Defects);
}

#[test]
fn stop_loop_is_found() {
    let script = "#!/bin/sh\necho '{\"decision\":\"block\",\"reason\":\"run the tests\"}'\n";
    assert!(codes(&report(EventName::Stop, script)).contains(&"stop-loop"));
    let careful = "#!/bin/sh\ngrep -q '\"stop_hook_active\":true' && exit 0\n\
                   echo '{\"decision\":\"block\",\"reason\":\"run the tests\"}'\n";
    assert!(!codes(&report(EventName::Stop, careful)).contains(&"stop-loop"));
}

#[test]
fn dead_inputs_are_read_in_the_script() {
    let script = "#!/bin/bash\ninput=$(cat)\nprompt=$(echo \"$input\" | jq -r '.userPrompt')\necho \"$prompt\"\n";
    let report = report(EventName::UserPromptSubmit, script);
    let [dead] = &report.dead_inputs[..] else { panic!("{:?}", report.dead_inputs) };
    assert_eq!((dead.key.as_str(), dead.meant), ("userPrompt", Some("prompt")));
    assert!(codes(&report).contains(&"dead-input"));
}

#[test]
fn hanging_hook_is_given_up() {
    let begun = Instant::now();
    let report = report(EventName::PreToolUse, "#!/bin/sh\nsleep 100\n");
    assert_eq!((report.payloads, codes(&report)), (2, vec!["hook-timed-out"]));
    assert!(report.unrun_payloads > 50);
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn late_command_is_given_up_sooner_on_another_event() {
    let folder = tempfile::tempdir().unwrap();
    let environment = TrialEnvironment {
        project: folder.path().to_owned(),
        home: folder.path().to_owned(),
        temporary: folder.path().to_owned(),
        variables: vec![("PATH".into(), "/usr/bin:/bin".into())],
        is_copy: true,
    };
    let runner = TrialRunner::new(environment.clone()).unwrap();
    let run = |event| {
        let hook = TestedHook {
            event,
            start: HookStart::Shell("sleep 60".to_owned()),
            plugin: None,
            timeout: Some(Duration::from_millis(100)),
            blocks_on_failure: false,
        };
        let (payloads, facts) = (test_payloads(event, &[], &environment), ScriptFacts::default());
        let contract = Contract::newest();
        run_hook_test(&runner, &hook, &payloads, &|_| true, &facts, &|| None, contract).report
    };
    assert_eq!(run(EventName::PreToolUse).payloads, 2);
    assert_eq!(run(EventName::PostToolUse).payloads, 1);
}
