use std::fs;
use std::path::{Path, PathBuf};

use rutter_contract::input::RawPayload;
use rutter_hooks::bash_call::{BashCall, DEFAULT_WINDOW_BYTES};
use rutter_memory::outcome::Verdict;
use rutter_runs::read::{CapturedOutput, ParsedOutcome, read_line};

use rutter_testkit::recordings::{RecordedRun, load_recordings};

fn call_fixtures_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/calls")
}

/// Returns the payloads in a folder with their names.
fn read_payloads(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let json = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    json.map(|path| (name(&path), fs::read(&path).unwrap())).collect()
}

/// Parses a payload as a Bash call.
fn parse_bash_call(payload: &[u8]) -> Result<BashCall<'_>, &'static str> {
    BashCall::parse_run(&RawPayload::parse(payload).unwrap(), DEFAULT_WINDOW_BYTES).unwrap()
}

/// Reads the outcome directly from the recorded output, without the client's payload.
fn read_recording(recording: &RecordedRun, command: &str) -> Result<ParsedOutcome, &'static str> {
    let output = recording.full_output();
    read_line(
        command,
        &CapturedOutput { exit: Some(recording.case.exit), output: &output, cut: false },
    )
}

#[test]
fn payload_outcome_matches_recording() {
    let (mut runs, mut cuts) = (0, 0);
    let recordings = load_recordings();
    for folder in fs::read_dir(call_fixtures_dir()).unwrap().map(|entry| entry.unwrap().path()) {
        if !folder.is_dir() || folder.ends_with("facts") {
            continue;
        }
        let runner = folder.file_name().unwrap().to_str().unwrap();
        for (name, payload) in read_payloads(&folder) {
            let what = format!("{runner}/{name}");
            let recording = recordings.iter().find(|recording| recording.name == what).unwrap();
            let wire = RawPayload::parse(&payload).unwrap();
            let direct = read_recording(recording, &BashCall::finished_command(&wire).unwrap());
            let call = parse_bash_call(&payload);
            let cut = call.as_ref().is_ok_and(|call| call.cut);
            let captured = call.and_then(|call| read_line(&call.command, &call.captured_output()));
            match (&direct, &captured) {
                (Ok(direct), Ok(captured)) if cut => {
                    cuts += 1;
                    assert_ne!(captured.verdict, Verdict::Passed, "{what}");
                    let strange =
                        captured.failing.iter().find(|test| !direct.failing.contains(test));
                    assert_eq!(strange, None, "{what}");
                }
                _ => assert_eq!(captured, direct, "{what}"),
            }
            runs += usize::from(direct.is_ok());
        }
    }
    assert!(runs >= 30 && cuts >= 2, "{runs} runs, {cuts} cut");
}

#[test]
fn reads_exit_status_and_truncation() {
    // Exit status and whether the output was cut, or the reason why there can be no outcome.
    let expected = [
        ("asked_into_the_background", Err("it went on in the background")),
        ("both_streams_fail", Ok((Some(3), false))),
        ("both_streams_pass", Ok((Some(0), false))),
        // Known gap: hooks cannot see this setting.
        ("cut_by_a_setting", Ok((Some(1), false))),
        ("folder_was_left", Ok((Some(0), false))),
        ("grep_finds_nothing", Ok((None, false))),
        // The file with the output is gone.
        ("kept_in_a_file", Ok((Some(0), true))),
        ("killed", Ok((Some(137), false))),
        ("moved_into_the_background", Err("it went on in the background")),
        ("test_after_a_failure", Ok((None, false))),
        ("time_was_up", Err("the client ended it when its time was up")),
    ];
    let mut facts = read_payloads(&call_fixtures_dir().join("facts"));
    facts.sort();
    let captured: Vec<_> = facts
        .iter()
        .map(|(name, payload)| {
            (name.as_str(), parse_bash_call(payload).map(|call| (call.exit, call.cut)))
        })
        .collect();
    assert_eq!(captured, expected);
}
