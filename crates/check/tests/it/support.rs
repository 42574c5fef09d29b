//! The clients under test, and the promises they are held to.

use std::collections::BTreeSet;

use rutter_check::live::{Client, Record, Sandbox, Scenario};
use rutter_contract::HookEvent;
use rutter_contract::output::Answer;

/// A text that occurs nowhere but in the answer under test.
pub(crate) const MARK: &str = "MARK-5c1e9";

/// Promises that the client does not keep in a headless run, and why. A listed one that it keeps
/// fails its test.
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

/// The newest client that the contract was measured on, or `None` after a word about the skip.
pub(crate) fn client() -> Option<Client> {
    named("RUTTER_TEST_CLIENT")
}

/// The oldest client that the contract was measured on.
pub(crate) fn old_client() -> Option<Client> {
    named("RUTTER_TEST_CLIENT_OLD")
}

fn named(variable: &str) -> Option<Client> {
    const SUITE: &str = "the live suite";
    if let Some(path) = std::env::var_os(variable) {
        return Some(Client::at(path).unwrap());
    }
    // `scripts/test` sets it where a client cannot be had, after deciding whether that may be.
    if let Ok(why) = std::env::var("RUTTER_NO_CLIENT") {
        rutter_testkit::excuse(SUITE, &why);
    } else {
        rutter_testkit::skip(SUITE, &format!("{variable} is not set; scripts/test sets it"));
    }
    None
}

/// The scenario of `E`, with a hook that gives this answer the first time.
pub(crate) fn sandbox<E: HookEvent>(answer: Answer) -> Sandbox {
    let scenario = Scenario::of(E::NAME);
    let mut sandbox = scenario.sandbox().unwrap();
    sandbox.hook(scenario.hook().answers_once(answer));
    sandbox
}

/// What comes of an answer to `E`. The client is held to having run the hook and read its answer.
pub(crate) fn answered<E: HookEvent>(answer: Answer) -> Option<Record> {
    let client = client()?;
    let failed = answer.exit != 0;
    let record = sandbox::<E>(answer).run(&client).unwrap();
    assert!(record.calls_of(E::NAME).next().is_some(), "{} did not fire", E::NAME);
    // Some events end no hook with a report; none that does may call an answer of ours wrong.
    let wrong = record.hook_responses(E::NAME).into_iter().find(|said| said.outcome == "error");
    assert!(failed || wrong.is_none(), "{wrong:?}");
    Some(record)
}

/// Holds the client to a promise, unless it is known not to keep it.
pub(crate) fn promise<E: HookEvent>(what: &str, kept: bool, record: &Record) {
    let name = format!("{}: {what}", E::NAME);
    match EXPECTED_FAILURES.iter().find(|(listed, _)| *listed == name) {
        Some((_, reason)) => assert!(!kept, "{name} is kept, but listed as: {reason}"),
        None => assert!(kept, "{name} is not kept:\n{}{}", record.stdout, record.stderr),
    }
}

/// The events that have a capability, by the generated code that gives it to them.
pub(crate) fn capable(capability: &str) -> BTreeSet<&'static str> {
    let generated = include_str!("../../../contract/src/output/capabilities.rs");
    let start = format!("impl {capability} for ");
    let lines = generated.lines().filter_map(|line| line.strip_prefix(&start));
    lines.filter_map(|rest| rest.strip_suffix(" {}")).collect()
}

/// A test for each event that has a capability, and one that none is left out.
macro_rules! for_each_capable {
    ($capability:ident, $check:ident, $($test:ident: $event:ident,)*) => {
        $(#[test] fn $test() { $check::<rutter_contract::input::$event>(); })*

        #[test]
        fn none_is_left_out() {
            let tested = std::collections::BTreeSet::from([$(stringify!($event)),*]);
            assert_eq!(tested, $crate::support::capable(stringify!($capability)));
        }
    };
}
pub(crate) use for_each_capable;

#[test]
fn every_expected_failure_names_a_promise() {
    for (name, _) in EXPECTED_FAILURES {
        let (event, capability) = name.split_once(": ").unwrap();
        assert!(capable(capability).contains(event), "{name} is no promise");
    }
}
