//! Differences of the older measured client.

use rutter_check::live::scenario::RAN;
use rutter_contract::EventName;
use rutter_contract::input::{PreToolUse, UserPromptExpansion, UserPromptSubmit};
use rutter_contract::output::{Answer, HookOutput};

use crate::support::{MARK, client, old_client, sandbox};

/// Returns an answer with JSON that does not parse and exit 2.
fn broken_refusal() -> Answer {
    Answer { stdout: r#"{"continue":}"#.to_owned(), stderr: MARK.to_owned(), exit: 2 }
}

#[test]
fn both_are_the_versions_they_are_called() {
    use rutter_contract::version::Contract;
    let (Some(old), Some(new)) = (old_client(), client()) else { return };
    assert_eq!([old.version(), new.version()], Contract::MEASURED);
}

#[test]
fn a_denial_holds_on_both() {
    for client in [old_client(), client()] {
        let Some(client) = client else { return };
        let answer = HookOutput::<PreToolUse>::new().deny(MARK).answer();
        let record = sandbox::<PreToolUse>(answer).run(&client).unwrap();
        assert!(!record.project().join(RAN).exists(), "{}", client.version());
        assert!(record.reached_model(MARK).is_some(), "{}", client.version());
    }
}

#[test]
fn json_that_does_not_parse_was_text() {
    let answer = || Answer { stdout: format!(r#"{{"text": {MARK}}}"#), ..Answer::default() };
    let Some(old) = old_client() else { return };
    let record = sandbox::<UserPromptSubmit>(answer()).run(&old).unwrap();
    assert!(record.reached_model(MARK).is_some());

    let Some(new) = client() else { return };
    let record = sandbox::<UserPromptSubmit>(answer()).run(&new).unwrap();
    assert_eq!(record.reached_model(MARK), None);
    let [response] = &record.hook_responses(EventName::UserPromptSubmit)[..] else { panic!() };
    assert_eq!(response.outcome, "error");
}

#[test]
fn exit_2_with_invalid_json_did_not_block() {
    let invalid = || Answer { stdout: r#"{"continue":"no"}"#.to_owned(), ..broken_refusal() };
    let Some(old) = old_client() else { return };
    let record = sandbox::<PreToolUse>(invalid()).run(&old).unwrap();
    assert!(record.project().join(RAN).exists());

    let Some(new) = client() else { return };
    for answer in [invalid(), broken_refusal()] {
        let record = sandbox::<PreToolUse>(answer).run(&new).unwrap();
        assert!(!record.project().join(RAN).exists());
        assert!(record.reached_model(MARK).is_some());
    }
}

#[test]
fn the_reason_of_a_denial_stood_alone() {
    let Some(old) = old_client() else { return };
    let answer = HookOutput::<PreToolUse>::new().deny(MARK).answer();
    let record = sandbox::<PreToolUse>(answer).run(&old).unwrap();
    assert_eq!(record.reached_model(MARK).unwrap().text, MARK);
}

#[test]
fn a_blocked_expansion_could_not_be_hidden() {
    let Some(old) = old_client() else { return };
    let answer = HookOutput::<UserPromptExpansion>::new().block_silently(MARK).answer();
    let record = sandbox::<UserPromptExpansion>(answer).run(&old).unwrap();
    assert_eq!(record.requests, []);
    assert!(record.reached_user("Original prompt: /greet Ada").is_some());
}

#[test]
fn a_message_was_for_a_terminal_only() {
    let Some(old) = old_client() else { return };
    let answer = HookOutput::<UserPromptSubmit>::new().system_message(MARK).answer();
    let record = sandbox::<UserPromptSubmit>(answer).run(&old).unwrap();
    assert!(record.calls_of(EventName::UserPromptSubmit).next().is_some());
    assert_eq!(record.reached_user(MARK), None);
}
