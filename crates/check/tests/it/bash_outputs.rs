//! Recorded output of real test runs, passed through the client's Bash tool: parsing the hook payload must give the
//! same outcome as parsing the recording.
//!
//! A program with the runner's name prints the recording and exits like the run; the command line is the real one.
//! Some of the payloads are fixtures of `rutter-memory`, which is tested without a client: see [`BashSession::save_fixture`].

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rutter_memory::outcome::Verdict;
use rutter_runs::read::{CapturedOutput, ParsedOutcome, read_line};
use serde_json::Value;

use crate::bash::{BashSession, bash_sandbox, bash_turn};
use crate::support::client;

/// Calls per session. Every request to the model repeats the conversation, so sessions must be short.
const CALLS_PER_SESSION: usize = 60;

/// Prints the recording of the case in the current folder, once: some command lines start their runner twice.
const STAND_IN: &str = r#"#!/bin/sh
case=$PWD
until [ -e "$case/status" ]; do case=${case%/*}; done
read -r status <"$case/status"
[ -e "$case/out" ] || exit "$status"
cat "$case/out"
cat "$case/err" >&2
rm "$case/out"
case $status in
-*) kill "$status" $$ ;;
esac
exit "$status"
"#;

struct Recording {
    /// The runner and the reason for keeping the recording.
    name: String,
    command: String,
    /// The exit status, or the negated signal that ended the run.
    exit: i32,
    out: Vec<u8>,
    err: Vec<u8>,
}

impl Recording {
    /// Returns the exit status in the shell's convention.
    fn status(&self) -> i32 {
        if self.exit < 0 { 128 - self.exit } else { self.exit }
    }
}

fn sorted_paths(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn load_recordings() -> Vec<Recording> {
    let folder = rutter_testkit::repository_root().join("crates/runs/fixtures/outcomes");
    let mut found = Vec::new();
    for path in sorted_paths(&folder)
        .iter()
        .filter(|path| path.is_dir())
        .flat_map(|path| sorted_paths(path))
    {
        if path.extension().is_some_and(|extension| extension == "json") {
            let case: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            let name = path.strip_prefix(&folder).unwrap().with_extension("");
            found.push(Recording {
                name: name.display().to_string(),
                command: case["command"].as_str().unwrap().to_owned(),
                exit: case["exit"].as_i64().unwrap().try_into().unwrap(),
                out: fs::read(path.with_extension("out")).unwrap(),
                err: fs::read(path.with_extension("err")).unwrap_or_default(),
            });
        }
    }
    found
}

/// Returns the programs that a line starts, except common ones. A false match only adds an unused stand-in.
fn started_programs(line: &str) -> impl Iterator<Item = &str> {
    let commands = line.split("&&").flat_map(|part| part.split([';', '|'])).map(str::trim);
    let words = commands.filter_map(|command| {
        command.split(' ').find(|word| !word.contains('=') || word.starts_with('-'))
    });
    words.filter(|word| !["", "cd", "rm", "mkdir", "tail", "head", "grep"].contains(word))
}

/// The results for a set of recordings.
#[derive(Default)]
struct RecordingTotals {
    /// Number of recordings with an outcome.
    runs: usize,
    /// Number of recordings that the client cut.
    cut: usize,
    wrong: Vec<String>,
}

/// Passes recordings through one session; returns false if no client is available.
fn check_recordings(
    recordings: &[&Recording],
    kept: &BTreeSet<&str>,
    found: &mut RecordingTotals,
) -> bool {
    let Some(client) = client() else { return false };
    let mut sandbox = bash_sandbox();
    let project = sandbox.project().display().to_string();
    let lines: Vec<String> = (0..recordings.len())
        .map(|number| format!("cd {project}/cases/{number} && {}", recordings[number].command))
        .collect();
    for (number, recording) in recordings.iter().enumerate() {
        let file = |name: &str| format!("cases/{number}/{name}");
        sandbox.file(file("out"), recording.out.clone()).file(file("err"), recording.err.clone());
        sandbox.file(file("status"), recording.exit.to_string()).file(file("build/x"), "");
    }
    let programs: BTreeSet<&str> =
        recordings.iter().flat_map(|recording| started_programs(&recording.command)).collect();
    for program in programs {
        sandbox.program(Path::new("bin").join(program), STAND_IN);
    }
    let session =
        BashSession::run(sandbox, &client, lines.iter().map(|line| bash_turn(line)).collect());
    for (recording, line) in recordings.iter().zip(&lines) {
        let whole = [&recording.out[..], &recording.err].concat();
        let seen = CapturedOutput { exit: Some(recording.status()), output: &whole, cut: false };
        let direct = read_line(line, &seen);
        let call = session.call(line);
        let is_cut = call.as_ref().is_ok_and(|call| call.cut);
        found.cut += usize::from(is_cut);
        let told = call.and_then(|call| read_line(&call.command, &call.captured_output()));
        if let Some(how) = describe_deviation(&direct, &told, is_cut) {
            found.wrong.push(format!("{}: {how}", recording.name));
        }
        found.runs += usize::from(direct.is_ok());
        if kept.contains(recording.name.as_str()) {
            session.save_fixture(&recording.name, line);
        }
    }
    true
}

/// Describes a forbidden difference between the results for the payload and for the recording.
fn describe_deviation(
    direct: &Result<ParsedOutcome, &'static str>,
    told: &Result<ParsedOutcome, &'static str>,
    cut: bool,
) -> Option<String> {
    let right = match (direct, told) {
        (Ok(direct), Ok(told)) if cut => {
            let passed = told.verdict == Verdict::Passed;
            let may_pass = direct.verdict == Verdict::Passed && told.exit == Some(0);
            let verdict = told.verdict == direct.verdict || told.verdict == Verdict::Unknown;
            let named = told.failing.iter().all(|test| direct.failing.contains(test));
            (!passed || may_pass) && verdict && named
        }
        _ => direct == told,
    };
    (!right).then(|| format!("told {told:#?}\n  recorded {direct:#?}"))
}

/// Passes every second recording through the client.
#[expect(clippy::print_stdout, reason = "the figure")]
fn check_every_second(from: usize) {
    let all = load_recordings();
    assert!(all.len() > 600, "{} recordings", all.len());
    let half: Vec<&Recording> = all.iter().skip(from).step_by(2).collect();
    let kept = fixture_names(&all);
    let mut found = RecordingTotals::default();
    for some in half.chunks(CALLS_PER_SESSION) {
        if !check_recordings(some, &kept, &mut found) {
            return;
        }
    }
    let RecordingTotals { runs, cut, wrong } = &found;
    println!("{} recordings, {runs} runs, {cut} cut, {} read otherwise", half.len(), wrong.len());
    assert!(*runs > 270 && *cut > 0, "{runs} runs, {cut} cut");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn even_recordings_agree() {
    check_every_second(0);
}

#[test]
fn odd_recordings_agree() {
    check_every_second(1);
}

/// Returns the payloads to save as fixtures: a failure of each runner, and some that the client cuts.
fn fixture_names(all: &[Recording]) -> BTreeSet<&str> {
    let mut kept = BTreeSet::from([
        "cargo-test/many-failures",
        "pytest/many_failures",
        "pytest/pass",
        "vitest/many_failures",
    ]);
    let runner = |recording: &Recording| recording.name.split('/').next().map(str::to_owned);
    let failures: Vec<&Recording> = all.iter().filter(|one| one.exit > 0).collect();
    for some in failures.chunk_by(|one, other| runner(one) == runner(other)) {
        kept.insert(&some[0].name);
    }
    kept
}
