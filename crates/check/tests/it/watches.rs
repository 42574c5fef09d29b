//! Files to watch: `watchPaths`.

use rutter_check::live::scenario::WATCHED;
use rutter_check::live::{Conversation, Hook, Record, Sandbox, Scenario, Step};
use rutter_contract::EventName;
use rutter_contract::input::{CwdChanged, FileChanged, SessionStart};
use rutter_contract::output::{HookOutput, TakesWatchPaths};

use crate::support::{capable, client};

/// A file that no matcher names.
const OTHER: &str = "other.txt";

#[test]
fn none_is_left_out() {
    assert_eq!(capable("TakesWatchPaths"), ["CwdChanged", "FileChanged", "SessionStart"].into());
}

/// Adds a hook for the other file. Its matcher is a pattern, not a file name, so it does not make the client watch.
fn with_listener(mut sandbox: Sandbox) -> Sandbox {
    sandbox.file(OTHER, "old").hook(Hook::on(EventName::FileChanged).matching("^other"));
    sandbox
}

fn heard_of_other(record: &Record) -> bool {
    let mut calls = record.calls_of(EventName::FileChanged);
    calls.any(|call| String::from_utf8_lossy(&call.stdin).contains(OTHER))
}

fn turn() -> [Step; 2] {
    [Step::Prompt("go".to_owned()), Step::TurnEnds]
}

fn change(path: &str) -> Step {
    Step::ChangeUntilHeard(path.into(), "new".to_owned(), EventName::FileChanged)
}

/// Answers `E` with a path, performs the steps in which `E` fires, and changes the file at the path
/// until a hook gets it.
fn is_watched<E: TakesWatchPaths>(fires: impl IntoIterator<Item = Step>) {
    let Some(client) = client() else { return };
    let scenario = Scenario::of(E::NAME);
    let mut sandbox = with_listener(scenario.sandbox().unwrap());
    let path = sandbox.project().join(OTHER).display().to_string();
    let answer = HookOutput::<E>::new().watch_paths([path]).answer();
    sandbox.hook(scenario.hook().answers(answer));
    sandbox.conversation(Conversation::new(fires).then(change(OTHER)));
    assert!(heard_of_other(&sandbox.run(&client).unwrap()));
}

#[test]
fn from_the_start_of_a_session() {
    is_watched::<SessionStart>(turn());
}

#[test]
fn from_a_change_of_folder() {
    is_watched::<CwdChanged>(turn().into_iter().chain([Step::HookRan(EventName::CwdChanged)]));
}

#[test]
fn from_a_change_of_another_file() {
    is_watched::<FileChanged>(turn().into_iter().chain([change(WATCHED)]));
}

#[test]
fn no_other_file_is_watched() {
    let Some(client) = client() else { return };
    let scenario = Scenario::of(EventName::FileChanged);
    let mut sandbox = with_listener(scenario.sandbox().unwrap());
    sandbox.hook(scenario.hook());
    // Change the second file before and after the watcher is known to work.
    let write = || Step::Write(OTHER.into(), "new".to_owned());
    let steps = [write(), change(WATCHED), write()];
    sandbox.conversation(Conversation::new(turn().into_iter().chain(steps).chain(turn())));
    assert!(!heard_of_other(&sandbox.run(&client).unwrap()));
}
