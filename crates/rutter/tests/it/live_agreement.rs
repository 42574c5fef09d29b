//! `contract test` and the real client agree on every hook of `fixtures/live/`.
//!
//! The client runs the hooks behind recorders. Then the hooks run without a client, on the payloads that the client sent.

use std::fmt::Write as _;
use std::path::Path;

use rutter_check::live::{
    ClientBinary, Disagreement, EventScenario, HookFiring, HookWrapper, ModelScript, ModelTurn,
    RunRecord, Sandbox, find_disagreements, group_firings,
};
use rutter_check::tester::{TrialEnding, TrialEnvironment, TrialRunner, judge_trial};
use rutter_contract::EventName;
use rutter_contract::table::event_spec;
use rutter_contract::version::{Contract, Version};
use rutter_testkit::{report_skip, repository_root};
use serde_json::{Value, json};

use crate::live_support::client_from_env;

const RUTTER: &str = env!("CARGO_BIN_EXE_rutter");
/// Number of cases at which the fixtures are complete.
const MIN_CASES: usize = 80;

/// Events on which the cases of a session have a call each.
const SHARED_EVENTS: [EventName; 2] = [EventName::PreToolUse, EventName::PostToolUse];

/// The client that asks no permission hooks in a run without a user.
const OLD_CLIENT: Version = Version::new(2, 1, 197);

/// A case of the fixtures.
struct LiveCase {
    event: EventName,
    name: String,
    hooks: Vec<Value>,
    /// True if the case ends its session.
    is_alone: bool,
}

/// Reads the cases, without those that need a program which is missing.
fn load_cases() -> Vec<LiveCase> {
    let folder = repository_root().join("fixtures/live");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "json")) {
        let stem = file.file_stem().unwrap().to_str().unwrap().replace('-', "");
        let event = EventName::ALL
            .into_iter()
            .find(|event| event.as_str().eq_ignore_ascii_case(&stem))
            .unwrap_or_else(|| panic!("{} names no event", file.display()));
        let list: Vec<Value> =
            serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        for case in list {
            let name = case["name"].as_str().unwrap().to_owned();
            let needs = case["needs"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let mut missing = needs.filter(|program| !Path::new("/usr/bin").join(program).exists());
            if let Some(program) = missing.next_back() {
                report_skip(&format!("{event}: {name}"), &format!("there is no {program}"));
                continue;
            }
            let hooks = case["hooks"].as_array().unwrap().clone();
            let is_alone = case["alone"] == true;
            cases.push(LiveCase { event, name, hooks, is_alone });
        }
    }
    cases
}

/// A session of the client with the hooks of one case, or of several cases with a call each.
struct CaseSession<'a> {
    event: EventName,
    cases: Vec<&'a LiveCase>,
}

/// Puts cases on calls of tools into common sessions.
fn plan_sessions(cases: &[LiveCase]) -> Vec<CaseSession<'_>> {
    let mut sessions: Vec<CaseSession<'_>> = Vec::new();
    for case in cases {
        let is_shared = !case.is_alone && SHARED_EVENTS.contains(&case.event);
        let known = sessions
            .iter_mut()
            .find(|session| is_shared && session.event == case.event && !session.cases[0].is_alone);
        match known {
            Some(session) => session.cases.push(case),
            None => sessions.push(CaseSession { event: case.event, cases: vec![case] }),
        }
    }
    sessions
}

impl CaseSession<'_> {
    fn is_shared(&self) -> bool {
        self.cases.len() > 1
    }

    /// Returns the hooks of a case, restricted to its call if the session has several.
    fn hooks_of(&self, number: usize) -> Vec<Value> {
        let mut hooks = self.cases[number].hooks.clone();
        if self.is_shared() {
            for hook in &mut hooks {
                hook["if"] = json!(format!("Bash({})", call_line(number)));
            }
        }
        hooks
    }

    /// Runs the session. Returns the record, the firings and the hooks.
    fn run(&self, client: &ClientBinary) -> (RunRecord, Vec<HookFiring>, HookWrapper) {
        let scenario = EventScenario::for_event(self.event);
        let mut sandbox = Sandbox::new().unwrap();
        sandbox.keep_settings();
        let folder = sandbox.project().parent().unwrap().join("records");
        let mut wrapper = HookWrapper::new(RUTTER.into(), &["contract", "record-hook"], folder);
        let groups: Vec<Value> =
            (0..self.cases.len()).map(|number| json!({ "hooks": self.hooks_of(number) })).collect();
        let settings = json!({ "hooks": { self.event.as_str(): groups } });
        let (settings, _) = wrapper.wrap(&settings, None, &|text, _| text.to_owned());
        sandbox.file(".claude/settings.json", settings.to_string());
        scenario.prepare(&mut sandbox);
        if self.is_shared() {
            let call = |number| {
                let input = json!({ "command": call_line(number), "description": "a step" });
                ModelTurn::call("Bash", input)
            };
            sandbox.script(ModelScript::new((0..self.cases.len()).map(call)));
        }
        sandbox.hook(scenario.hook());
        for hook in wrapper.hooks() {
            sandbox.recorded_hook(hook.event, &hook.folder);
        }
        let record = sandbox.run(client).unwrap();
        let contract = Contract::for_client(client.version());
        let firings = group_firings(wrapper.hooks(), &record, contract);
        (record, firings, wrapper)
    }
}

/// Returns the command of the call of a case. Guards of the fixtures look for `touch`.
fn call_line(number: usize) -> String {
    format!("echo touch case {number}")
}

/// Runs the hooks without a client, on the recorded payloads, and compares them with the recorded runs.
fn compare_trials(
    client: &ClientBinary,
    record: &RunRecord,
    firings: &[HookFiring],
    wrapper: &HookWrapper,
) -> Vec<Disagreement> {
    let contract = Contract::for_client(client.version());
    let environment = TrialEnvironment {
        project: record.project().to_owned(),
        home: record.project().parent().unwrap().join("home"),
        temporary: record.project().parent().unwrap().to_owned(),
        is_copy: true,
        variables: vec![("PATH".into(), "/usr/bin:/bin".into())],
    };
    let runner = TrialRunner::new(environment).unwrap();
    let mut found = Vec::new();
    for fired in firings.iter().flat_map(|firing| &firing.hooks).filter(|fired| !fired.is_cut_off) {
        let hook = wrapper.hooks()[fired.hook].tested_hook();
        let trial = runner.run_with_stdin(&hook, &fired.run.stdin, None);
        let judged = judge_trial(&hook, trial, contract);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut add = |what: &str, explained: String, observed: String| {
            if explained != observed {
                found.push(Disagreement { what: what.to_owned(), explained, observed });
            }
        };
        let (own, live) = (&judged.trial, &fired.judged.trial);
        add("effect", judged.effect.to_string(), fired.judged.effect.to_string());
        if own.ending != TrialEnding::TimedOut {
            add("stdout", text(&own.stdout), text(&live.stdout));
            if !matches!(own.ending, TrialEnding::NotStarted(_)) {
                add("stderr", text(&own.stderr), text(&live.stderr));
            }
        }
        let is_same_kind = matches!(
            (&own.ending, &live.ending),
            (TrialEnding::NotStarted(_), TrialEnding::NotStarted(_))
        );
        if !is_same_kind {
            add("ending", format!("{:?}", own.ending), format!("{:?}", live.ending));
        }
    }
    found
}

#[expect(clippy::print_stdout, reason = "the numbers belong to the result")]
fn assert_agreement(variable: &str) {
    let Some(client) = client_from_env(variable) else { return };
    let contract = Contract::for_client(client.version());
    let only = std::env::var("RUTTER_LIVE_CASE").unwrap_or_default();
    let mut report = String::new();
    let (mut number, mut wrong) = (0, 0);
    let mut cases = load_cases();
    cases.retain(|case| {
        event_spec(case.event).is_at(contract)
            && format!("{}: {}", case.event, case.name).contains(&only)
    });
    let mut silent = 0;
    for session in plan_sessions(&cases) {
        let (record, firings, wrapper) = session.run(&client);
        if client.version() == OLD_CLIENT && session.event == EventName::PermissionRequest {
            // Without a user, this client denies at once.
            assert_eq!(record.calls_of(session.event).count(), 0);
            assert!(firings.is_empty() && record.debug_log.contains("Bash tool permission denied"));
            silent += session.cases.len();
            continue;
        }
        for (at, case) in session.cases.iter().enumerate() {
            number += 1;
            let hooks: Vec<usize> = session
                .hooks_of(at)
                .iter()
                .map(|hook| wrapper.find(case.event, hook).unwrap())
                .collect();
            let mut own = firings.clone();
            own.retain(|firing| firing.hooks.iter().any(|fired| hooks.contains(&fired.hook)));
            let mut found = find_disagreements(&own, wrapper.hooks(), &record);
            found.extend(compare_trials(&client, &record, &own, &wrapper));
            let fired: Vec<usize> =
                own.iter().flat_map(|firing| &firing.hooks).map(|fired| fired.hook).collect();
            for hook in hooks.iter().filter(|hook| !fired.contains(hook)) {
                found.push(Disagreement {
                    what: format!("hook {hook}"),
                    explained: "runs".to_owned(),
                    observed: "does not run".to_owned(),
                });
            }
            wrong += usize::from(!found.is_empty());
            for Disagreement { what, explained, observed } in &found {
                writeln!(
                    report,
                    "{}: {}: {what}: `contract test` says {explained:?}, the client {observed:?}",
                    case.event, case.name
                )
                .unwrap();
            }
            if !found.is_empty() && !only.is_empty() {
                let texts = record.texts_to_model();
                writeln!(report, "{own:#?}\n{}\n{}\n{texts:#?}", record.stdout, record.debug_log)
                    .unwrap();
            }
        }
    }
    println!(
        "client {}: {number} cases, {} agree, {wrong} disagree; {silent} on an event that does not fire",
        client.version(),
        number - wrong
    );
    assert!(report.is_empty(), "{report}");
    assert!(number >= MIN_CASES || !only.is_empty(), "{number} cases");
}

#[test]
fn newest_client_agrees_with_contract_test() {
    assert_agreement("RUTTER_TEST_CLIENT");
}

#[test]
fn oldest_client_agrees_with_contract_test() {
    assert_agreement("RUTTER_TEST_CLIENT_OLD");
}
