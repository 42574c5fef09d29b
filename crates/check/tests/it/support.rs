//! The clients under test, and the check of promises.

use std::collections::BTreeSet;

use rutter_check::live::{ClientBinary, EventScenario, RunRecord, Sandbox};
use rutter_contract::HookEvent;
use rutter_contract::output::HookAnswer;

/// A text that occurs only in the answer under test.
pub(crate) const MARK: &str = "MARK-5c1e9";

/// Promises that the client breaks in a headless run, with the reason. If the client keeps a listed promise,
/// its test fails.
const EXPECTED_FAILURES: &[(&str, &str)] = &[
    ("SessionStart: ShowsMessage", "shown in a terminal only"),
    ("SubagentStart: ShowsMessage", "seen nowhere without a terminal"),
    ("SubagentStop: ShowsMessage", "seen nowhere without a terminal"),
    ("PermissionRequest: ShowsMessage", "seen nowhere without a terminal"),
    ("PermissionDenied: ShowsMessage", "seen nowhere without a terminal"),
    ("Setup: ShowsMessage", "seen nowhere without a terminal"),
    ("TaskCreated: ShowsMessage", "seen nowhere without a terminal"),
    ("TaskCompleted: ShowsMessage", "seen nowhere without a terminal"),
    ("CwdChanged: ShowsMessage", "a brief notice in the terminal"),
    ("FileChanged: ShowsMessage", "a brief notice in the terminal"),
    ("DirectoryAdded: ShowsMessage", "goes to the model, after /add-dir in a terminal only"),
];

/// Returns the newest measured client; prints a skip message and returns `None` if it is not available.
pub(crate) fn client() -> Option<ClientBinary> {
    client_from_env("RUTTER_TEST_CLIENT")
}

/// Returns the oldest measured client.
pub(crate) fn old_client() -> Option<ClientBinary> {
    client_from_env("RUTTER_TEST_CLIENT_OLD")
}

fn client_from_env(variable: &str) -> Option<ClientBinary> {
    const SUITE: &str = "the live suite";
    if let Some(path) = std::env::var_os(variable) {
        return Some(ClientBinary::open(path).unwrap());
    }
    // `scripts/test` sets it if a client is not available and the tests may be skipped.
    if let Ok(why) = std::env::var("RUTTER_NO_CLIENT") {
        rutter_testkit::report_skip(SUITE, &why);
    } else {
        rutter_testkit::skip_test(SUITE, &format!("{variable} is not set; scripts/test sets it"));
    }
    None
}

/// Returns the scenario of `E` with a hook that gives this answer to its first call.
pub(crate) fn scenario_sandbox<E: HookEvent>(answer: HookAnswer) -> Sandbox {
    let scenario = EventScenario::for_event(E::NAME);
    let mut sandbox = scenario.sandbox().unwrap();
    sandbox.hook(scenario.hook().answers_once(answer));
    sandbox
}

/// Runs the scenario of `E` with an answer. Asserts that the client ran the hook and accepted its answer.
pub(crate) fn run_with_answer<E: HookEvent>(answer: HookAnswer) -> Option<RunRecord> {
    let client = client()?;
    let failed = answer.exit != 0;
    let record = scenario_sandbox::<E>(answer).run(&client).unwrap();
    assert!(record.calls_of(E::NAME).next().is_some(), "{} did not fire", E::NAME);
    // For some events the client reports no hook result; a report must not call our answer wrong.
    let wrong = record.hook_responses(E::NAME).into_iter().find(|said| said.outcome == "error");
    assert!(failed || wrong.is_none(), "{wrong:?}");
    Some(record)
}

/// Asserts that the client keeps a promise, or breaks it as expected.
pub(crate) fn check_promise<E: HookEvent>(what: &str, kept: bool, record: &RunRecord) {
    let name = format!("{}: {what}", E::NAME);
    match EXPECTED_FAILURES.iter().find(|(listed, _)| *listed == name) {
        Some((_, reason)) => assert!(!kept, "{name} is kept, but listed as: {reason}"),
        None => assert!(kept, "{name} is not kept:\n{}{}", record.stdout, record.stderr),
    }
}

/// Returns the events with a capability, from the generated code.
pub(crate) fn capable(capability: &str) -> BTreeSet<&'static str> {
    let generated = include_str!("../../../contract/src/output/capabilities.rs");
    let start = format!("impl {capability} for ");
    let lines = generated.lines().filter_map(|line| line.strip_prefix(&start));
    lines.filter_map(|rest| rest.strip_suffix(" {}")).collect()
}

/// Defines a test for each event with a capability, and a test that the list is complete.
macro_rules! for_each_capable {
    ($capability:ident, $check:ident, $($test:ident: $event:ident,)*) => {
        $(#[test] fn $test() { $check::<rutter_contract::input::$event>(); })*

        #[test]
        fn every_capable_event_is_tested() {
            let tested = std::collections::BTreeSet::from([$(stringify!($event)),*]);
            assert_eq!(tested, $crate::support::capable(stringify!($capability)));
        }
    };
}
pub(crate) use for_each_capable;

#[test]
fn expected_failures_name_promises() {
    for (name, _) in EXPECTED_FAILURES {
        let (event, capability) = name.split_once(": ").unwrap();
        assert!(capable(capability).contains(event), "{name} is no promise");
    }
}
