//! Files to watch: `watchPaths`.

use rutter_check::live::scenario::WATCHED_FILE;
use rutter_check::live::{
    Conversation, ConversationStep, EventScenario, RunRecord, Sandbox, TestHook,
};
use rutter_contract::EventName;
use rutter_contract::input::{CwdChanged, FileChanged, SessionStart};
use rutter_contract::output::{HookOutput, TakesWatchPaths};

use crate::support::{capable, client};

/// A file that no matcher names.
const OTHER_FILE: &str = "other.txt";

#[test]
fn tests_every_watching_event() {
    assert_eq!(capable("TakesWatchPaths"), ["CwdChanged", "FileChanged", "SessionStart"].into());
}

/// Adds a hook for the other file. Its matcher is a pattern, not a file name, so it does not make the client watch.
fn with_listener(mut sandbox: Sandbox) -> Sandbox {
    sandbox
        .file(OTHER_FILE, "old")
        .hook(TestHook::for_event(EventName::FileChanged).matching("^other"));
    sandbox
}

fn received_other_file(record: &RunRecord) -> bool {
    let mut calls = record.calls_of(EventName::FileChanged);
    calls.any(|call| String::from_utf8_lossy(&call.stdin).contains(OTHER_FILE))
}

fn go_turn() -> [ConversationStep; 2] {
    [ConversationStep::Prompt("go".to_owned()), ConversationStep::TurnEnds]
}

fn change_until_hook_runs(path: &str) -> ConversationStep {
    ConversationStep::ChangeUntilHookRuns(path.into(), "new".to_owned(), EventName::FileChanged)
}

/// Answers `E` with a path, performs the steps in which `E` fires, and changes the file at the path
/// until a hook gets it.
fn is_watched<E: TakesWatchPaths>(fires: impl IntoIterator<Item = ConversationStep>) {
    let Some(client) = client() else { return };
    let scenario = EventScenario::for_event(E::NAME);
    let mut sandbox = with_listener(scenario.sandbox().unwrap());
    let path = sandbox.project().join(OTHER_FILE).display().to_string();
    let answer = HookOutput::<E>::new().watch_paths([path]).answer();
    sandbox.hook(scenario.hook().answers(answer));
    sandbox.conversation(Conversation::new(fires).then(change_until_hook_runs(OTHER_FILE)));
    assert!(received_other_file(&sandbox.run(&client).unwrap()));
}

#[test]
fn session_start_adds_watch() {
    is_watched::<SessionStart>(go_turn());
}

#[test]
fn cwd_change_adds_watch() {
    is_watched::<CwdChanged>(
        go_turn().into_iter().chain([ConversationStep::HookRan(EventName::CwdChanged)]),
    );
}

#[test]
fn file_change_adds_watch() {
    is_watched::<FileChanged>(go_turn().into_iter().chain([change_until_hook_runs(WATCHED_FILE)]));
}

#[test]
fn unlisted_file_is_not_watched() {
    let Some(client) = client() else { return };
    let scenario = EventScenario::for_event(EventName::FileChanged);
    let mut sandbox = with_listener(scenario.sandbox().unwrap());
    sandbox.hook(scenario.hook());
    // Change the second file before and after the watcher is known to work.
    let write = || ConversationStep::WriteFile(OTHER_FILE.into(), "new".to_owned());
    let steps = [write(), change_until_hook_runs(WATCHED_FILE), write()];
    sandbox.conversation(Conversation::new(go_turn().into_iter().chain(steps).chain(go_turn())));
    assert!(!received_other_file(&sandbox.run(&client).unwrap()));
}
