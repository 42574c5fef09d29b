//! The recorder in front of hooks: it passes everything on, and records it without secrets.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rutter_memory::hook_recording::{CallEnding, CallPart, HookRecording, RecordedCall};
use rutter_memory::store::DataDir;
use tempfile::TempDir;

const RUTTER: &str = env!("CARGO_BIN_EXE_rutter");
const PAYLOAD: &[u8] = br#"{"hook_event_name":"PreToolUse","tool_name":"Bash"}"#;

/// A project folder and a data directory.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(place.project()).unwrap();
        place
    }

    fn project(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("project")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("memory")
    }

    fn recorder(&self, way: &[&str]) -> Command {
        let mut command = Command::new(RUTTER);
        command.args(["contract", "recorded-run", "PreToolUse", "00ff"]).args(way);
        self.prepare(&mut command);
        command
    }

    fn prepare(&self, command: &mut Command) {
        command
            .current_dir(self.project())
            .env("RUTTER_HOME", self.data())
            .env("CLAUDE_PROJECT_DIR", self.project())
            .env("AI_AGENT", "claude-code_2-1-325_harness")
            .env_remove("RUTTER")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }

    fn run_shell(&self, line: &str, payload: &[u8]) -> Output {
        finish(self.recorder(&["-c", line]).spawn().unwrap(), payload)
    }

    fn calls(&self) -> Vec<RecordedCall> {
        let recording = HookRecording::of_project(&DataDir::new(self.data()), &self.project());
        recording.calls().unwrap().collect()
    }

    /// Waits for calls that are written behind the answer.
    fn wait_for_calls(&self, count: usize) -> Vec<RecordedCall> {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let calls = self.calls();
            if calls.len() >= count || Instant::now() > until {
                assert_eq!(calls.len(), count);
                return calls;
            }
            std::thread::yield_now();
        }
    }
}

fn finish(mut child: Child, payload: &[u8]) -> Output {
    let mut stdin = child.stdin.take().unwrap();
    let payload = payload.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&payload)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

#[test]
fn hooks_answer_as_without_recorder() {
    let place = Place::new();
    let lines = [
        "cat; echo oops >&2; exit 2",
        "cat >/dev/null; printf '\\377\\000 bytes'; exit 1",
        "exit 0",
        "exit 137",
        "exec 0<&- 1>&- 2>&-; exit 4",
        "kill -KILL $$",
        "kill -TERM $$",
        "no-such-program-7",
        "printf '%s|' \"$PWD\" \"$CLAUDE_PROJECT_DIR\"; ps -o pgid= -p $$ | tr -d ' ' >/dev/null",
        "(sleep 0.2; echo late) & echo early",
    ];
    for line in lines {
        let mut plain = Command::new("/bin/sh");
        plain.args(["-c", line]);
        place.prepare(&mut plain);
        let plain = finish(plain.spawn().unwrap(), PAYLOAD);
        let recorded = place.run_shell(line, PAYLOAD);
        assert_eq!(recorded.stdout, plain.stdout, "{line}");
        assert_eq!(recorded.stderr, plain.stderr, "{line}");
        assert_eq!(recorded.status.code(), plain.status.code(), "{line}");
        assert_eq!(recorded.status.signal(), plain.status.signal(), "{line}");
    }
    let calls = place.calls();
    assert_eq!(calls.len(), lines.len());
    assert!(calls.iter().all(|call| call.payload.as_bytes() == PAYLOAD), "{calls:?}");
    assert_eq!(calls[0].stderr, "oops\n");
    assert_eq!((calls[0].ending, calls[5].ending), (CallEnding::Exit(2), CallEnding::Signal(9)));
    assert_eq!(calls[0].client.as_deref(), Some("2.1.325"));
}

#[test]
fn programs_start_without_shell() {
    let place = Place::new();
    let run = |way: &[&str]| finish(place.recorder(way).spawn().unwrap(), PAYLOAD);
    assert_eq!(run(&["--", "printf", "%s;", "$HOME", "a b"]).stdout, b"$HOME;a b;");
    let missing = run(&["--", "./missing"]);
    assert_eq!(missing.status.code(), Some(127));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("./missing"), "{missing:?}");
    // A script without a first line is run by the shell.
    let script = place.project().join("plain");
    fs::write(&script, "echo ran $1; exit 3\n").unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&script).status().unwrap().success());
    let plain = run(&["--", "./plain", "x"]);
    assert_eq!((&plain.stdout[..], plain.status.code()), (&b"ran x\n"[..], Some(3)));
}

#[test]
fn large_output_and_payload_pass() {
    let place = Place::new();
    let payload = format!("{{\"prompt\":\"{}\"}}", "y".repeat(3_000_000));
    let line = "cat; head -c 5000000 /dev/zero; head -c 200000 /dev/zero >&2";
    let output = place.run_shell(line, payload.as_bytes());
    assert_eq!(output.stdout.len(), payload.len() + 5_000_000);
    assert!(output.stdout.starts_with(payload.as_bytes()));
    assert_eq!(output.stderr.len(), 200_000);
    let call = &place.wait_for_calls(1)[0];
    assert_eq!(call.cut, [CallPart::Payload, CallPart::Stdout]);
    assert!(call.stdout.len() <= 256 * 1024 && call.payload_value().is_some());
    // A hook that reads nothing does not hold the client up.
    let begun = Instant::now();
    assert_eq!(place.run_shell("exit 2", payload.as_bytes()).status.code(), Some(2));
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn concurrent_calls_keep_whole_lines() {
    let place = Place::new();
    let line = "cat; head -c 20000 /dev/zero | tr '\\0' z";
    let children: Vec<Child> =
        (0..32).map(|_| place.recorder(&["-c", line]).spawn().unwrap()).collect();
    for child in children {
        assert!(finish(child, PAYLOAD).status.success());
    }
    let folder = HookRecording::of_project(&DataDir::new(place.data()), &place.project());
    let text = fs::read_to_string(folder.folder().join("calls.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 32);
    for line in text.lines() {
        let call: RecordedCall = serde_json::from_str(line).unwrap();
        assert_eq!(call.stdout.len(), PAYLOAD.len() + 20_000);
    }
    let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
    assert_eq!(mode(&folder.folder().join("calls.jsonl")), 0o600);
    assert_eq!(mode(folder.folder()), 0o700);
}

#[test]
fn faults_of_recording_do_not_show() {
    let place = Place::new();
    let ran = |place: &Place| {
        let output = place.run_shell("cat; echo no >&2; exit 2", PAYLOAD);
        assert_eq!((&output.stdout[..], &output.stderr[..]), (PAYLOAD, &b"no\n"[..]));
        assert_eq!(output.status.code(), Some(2));
    };
    fs::create_dir(place.data()).unwrap();
    fs::write(place.data().join("recordings"), "a file").unwrap();
    ran(&place);
    fs::remove_file(place.data().join("recordings")).unwrap();
    fs::remove_dir(place.data()).unwrap();
    std::os::unix::fs::symlink("/dev/full", place.data()).unwrap();
    ran(&place);
    fs::remove_file(place.data()).unwrap();
    // No byte can be written to a file.
    let line = format!(
        "ulimit -f 0; trap '' XFSZ; exec '{RUTTER}' contract recorded-run PreToolUse 00ff -c 'cat; echo no >&2; exit 2'"
    );
    let mut limited = Command::new("/bin/sh");
    limited.args(["-c", &line]);
    place.prepare(&mut limited);
    let output = finish(limited.spawn().unwrap(), PAYLOAD);
    assert_eq!((&output.stdout[..], output.status.code()), (PAYLOAD, Some(2)));
    assert_eq!(place.calls(), []);
}

#[test]
fn hook_dies_with_recorder() {
    for signal in ["TERM", "KILL"] {
        let place = Place::new();
        let line = "echo $$ > pid; exec sleep 60";
        let mut child = place.recorder(&["-c", line]).stdout(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        let pid = loop {
            let text = fs::read_to_string(place.project().join("pid")).unwrap_or_default();
            if text.ends_with('\n') {
                break text.trim().to_owned();
            }
            assert!(Instant::now() < until, "the hook did not start");
            std::thread::yield_now();
        };
        let kill = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let status = child.wait().unwrap();
        assert!(status.signal().is_some(), "{signal}: {status:?}");
        let is_alive = || {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
        };
        while is_alive() {
            assert!(Instant::now() < until, "{signal}: the hook lives on");
            std::thread::yield_now();
        }
    }
}

#[test]
fn secrets_do_not_reach_the_disk() {
    let place = Place::new();
    let token = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let payload = format!("{{\"tool_input\":{{\"command\":\"curl -H x\\n{token}\"}}}}");
    let output = place.run_shell("cat; cat /dev/null >&2", payload.as_bytes());
    assert!(String::from_utf8_lossy(&output.stdout).contains(&token), "the hook's answer passes");
    let calls = place.calls();
    assert_eq!(calls[0].redacted, [CallPart::Payload, CallPart::Stdout]);
    let found = Command::new("grep").args(["-r", &token]).arg(place.data()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}
