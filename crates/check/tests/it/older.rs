//! Differences of the older measured client.

use rutter_check::live::scenario::RAN_FILE;
use rutter_contract::EventName;
use rutter_contract::input::{PreToolUse, UserPromptExpansion, UserPromptSubmit};
use rutter_contract::output::{HookAnswer, HookOutput};

use crate::support::{MARK, client, old_client, scenario_sandbox};

/// Returns an answer with JSON that does not parse and exit 2.
fn broken_refusal() -> HookAnswer {
    HookAnswer { stdout: r#"{"continue":}"#.to_owned(), stderr: MARK.to_owned(), exit: 2 }
}

#[test]
fn clients_have_measured_versions() {
    use rutter_contract::version::Contract;
    let (Some(old), Some(new)) = (old_client(), client()) else { return };
    assert_eq!([old.version(), new.version()], Contract::MEASURED);
}

#[test]
fn denial_works_on_both() {
    for client in [old_client(), client()] {
        let Some(client) = client else { return };
        let answer = HookOutput::<PreToolUse>::new().deny(MARK).answer();
        let record = scenario_sandbox::<PreToolUse>(answer).run(&client).unwrap();
        assert!(!record.project().join(RAN_FILE).exists(), "{}", client.version());
        assert!(record.reached_model(MARK).is_some(), "{}", client.version());
    }
}

#[test]
fn older_client_accepts_broken_json() {
    let answer =
        || HookAnswer { stdout: format!(r#"{{"text": {MARK}}}"#), ..HookAnswer::default() };
    let Some(old) = old_client() else { return };
    let record = scenario_sandbox::<UserPromptSubmit>(answer()).run(&old).unwrap();
    assert!(record.reached_model(MARK).is_some());

    let Some(new) = client() else { return };
    let record = scenario_sandbox::<UserPromptSubmit>(answer()).run(&new).unwrap();
    assert_eq!(record.reached_model(MARK), None);
    let [response] = &record.hook_responses(EventName::UserPromptSubmit)[..] else { panic!() };
    assert_eq!(response.outcome, "error");
}

#[test]
fn older_client_ignores_invalid_json_block() {
    let invalid = || HookAnswer { stdout: r#"{"continue":"no"}"#.to_owned(), ..broken_refusal() };
    let Some(old) = old_client() else { return };
    let record = scenario_sandbox::<PreToolUse>(invalid()).run(&old).unwrap();
    assert!(record.project().join(RAN_FILE).exists());

    let Some(new) = client() else { return };
    for answer in [invalid(), broken_refusal()] {
        let record = scenario_sandbox::<PreToolUse>(answer).run(&new).unwrap();
        assert!(!record.project().join(RAN_FILE).exists());
        assert!(record.reached_model(MARK).is_some());
    }
}

#[test]
fn older_client_adds_no_denial_prefix() {
    let Some(old) = old_client() else { return };
    let answer = HookOutput::<PreToolUse>::new().deny(MARK).answer();
    let record = scenario_sandbox::<PreToolUse>(answer).run(&old).unwrap();
    assert_eq!(record.reached_model(MARK).unwrap().text, MARK);
}

#[test]
fn older_client_shows_blocked_expansion() {
    let Some(old) = old_client() else { return };
    let answer = HookOutput::<UserPromptExpansion>::new().block_silently(MARK).answer();
    let record = scenario_sandbox::<UserPromptExpansion>(answer).run(&old).unwrap();
    assert_eq!(record.requests, []);
    assert!(record.reached_user("Original prompt: /greet Ada").is_some());
}

#[test]
fn older_client_hides_message_headless() {
    let Some(old) = old_client() else { return };
    let answer = HookOutput::<UserPromptSubmit>::new().system_message(MARK).answer();
    let record = scenario_sandbox::<UserPromptSubmit>(answer).run(&old).unwrap();
    assert!(record.calls_of(EventName::UserPromptSubmit).next().is_some());
    assert_eq!(record.reached_user(MARK), None);
}
