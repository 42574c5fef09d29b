//! `cargo xtask bench toolkit`: what the commands that run hooks add to the time of a hook.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::figures::ExceededLimits;
use super::{
    describe_machine, format_millis, median, print_figure, print_text, run_git, time_program,
};

/// Number of starts of each program; they alternate, so that other load affects all.
const STARTS: usize = 300;
/// Number of whole runs of `contract test`.
const TEST_RUNS: usize = 7;
/// A hook that takes about 5 ms.
const SLOW_HOOK: &str = "cat > /dev/null; sleep 0.005";
/// Maximum time that `contract test` adds to each run of a hook.
const MAX_TEST_ADDED: Duration = Duration::from_millis(2);
/// Maximum time of 100 payloads on the hook of 5 ms.
const MAX_HUNDRED_PAYLOADS: Duration = Duration::from_secs(2);
/// Maximum time that the recorder adds to a hook, as a multiple of a program that does nothing.
const MAX_RECORDED_RATIO: f64 = 2.0;
/// Number of files of the repository with a gate.
const GATED_FILES: usize = 50_000;
/// Maximum time that the gate adds to a hook.
const MAX_GATE_ADDED: Duration = Duration::from_millis(3);
/// Maximum time that `contract adapt` adds to a hook.
const MAX_ADAPT_ADDED: Duration = Duration::from_millis(3);

/// Measures all rows and prints them; returns an error if a limit is exceeded.
pub(crate) fn run(root: &Path) -> Result<()> {
    let binary = crate::dist::build_release(root)?;
    let world = tempfile::tempdir()?;
    let world = world.path().canonicalize()?;
    let project = world.join("project");
    fs::create_dir_all(&project)?;
    let bench = ToolkitBench { binary: &binary, project: &project, home: &world.join("home") };
    let mut exceeded = ExceededLimits::default();
    print_text(&format!("medians of whole processes on {}\n", describe_machine()));
    bench.measure_starts(&mut exceeded)?;
    bench.measure_test(&mut exceeded)?;
    bench.measure_gate(&mut exceeded)?;
    let exceeded = exceeded.into_lines(false);
    ensure!(exceeded.is_empty(), "{}", exceeded.join("\n"));
    Ok(())
}

struct ToolkitBench<'a> {
    binary: &'a Path,
    project: &'a Path,
    home: &'a Path,
}

impl ToolkitBench<'_> {
    fn rutter(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.binary);
        command.args(arguments);
        self.in_project(command)
    }

    fn in_project(&self, mut command: Command) -> Command {
        command
            .current_dir(self.project)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home)
            .env("RUTTER_HOME", self.home.join("memory"));
        command
    }

    /// Measures the recorder and the adapter in front of a hook that does nothing.
    fn measure_starts(&self, exceeded: &mut ExceededLimits) -> Result<()> {
        let payload =
            self.rutter(&["contract", "payload", "PreToolUse", "--tool", "Bash"]).output()?;
        ensure!(payload.status.success(), "no payload");
        let payload = String::from_utf8(payload.stdout)?;
        let record_words =
            ["contract", "recorded-run", "PreToolUse", "0123456789abcdef", "--", "/bin/true"];
        let adapt_words = ["contract", "adapt", "PreToolUse", "--", "/bin/true"];
        let (mut plain, mut recorder, mut adapter) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..STARTS {
            plain.push(time_program(self.in_project(Command::new("/bin/true")), &payload)?);
            recorder.push(time_program(self.rutter(&record_words), &payload)?);
            adapter.push(time_program(self.rutter(&adapt_words), &payload)?);
        }
        let kept = fs::read_dir(self.home.join("memory/recordings")).map_or(0, Iterator::count);
        ensure!(kept > 0, "nothing was recorded");
        let [plain, recorder, adapter] = [plain, recorder, adapter].map(median);
        let ratio = recorder.saturating_sub(plain).as_secs_f64() / plain.as_secs_f64();
        print_figure("/bin/true as a hook", &format!("{} ms", format_millis(plain)));
        print_figure(
            "recorded",
            &format!("{} ms: {ratio:.2} times /bin/true on top", format_millis(recorder)),
        );
        exceeded.check(
            "recorder",
            ratio <= MAX_RECORDED_RATIO,
            &format!("{ratio:.2} times /bin/true on top, {MAX_RECORDED_RATIO} are promised"),
        );
        let added = adapter.saturating_sub(plain);
        print_figure("adapted", &format!("{} ms on top", format_millis(added)));
        exceeded.check_time("adapter", "", added, MAX_ADAPT_ADDED);
        Ok(())
    }

    /// Measures `contract test` on a hook of 5 ms, and the same starts without it.
    fn measure_test(&self, exceeded: &mut ExceededLimits) -> Result<()> {
        let arguments = [
            "contract",
            "test",
            "--yes",
            "--json",
            "--event",
            "PreToolUse",
            "--tool",
            "Bash",
            "--",
            SLOW_HOOK,
        ];
        let (mut whole, mut direct) = (Vec::new(), Vec::new());
        let mut payloads = 0;
        for _ in 0..TEST_RUNS {
            let from = Instant::now();
            let output = self.rutter(&arguments).stdin(Stdio::null()).output()?;
            whole.push(from.elapsed());
            let report: Value = serde_json::from_slice(&output.stdout).context("no report")?;
            payloads = count_payloads(&report);
            ensure!(payloads > 20, "only {payloads} payloads");
            let from = Instant::now();
            for _ in 0..payloads {
                let mut hook = Command::new("/bin/sh");
                hook.args(["-c", SLOW_HOOK]);
                time_program(self.in_project(hook), "{}\n")?;
            }
            direct.push(from.elapsed());
        }
        let (whole, direct) = (median(whole), median(direct));
        let runs = u32::try_from(payloads)?;
        let added = whole.saturating_sub(direct) / runs;
        let hundred = whole * 100 / runs;
        print_figure(
            &format!("contract test, {payloads} payloads on a hook of 5 ms"),
            &format!("{} ms, {} ms by hand", format_millis(whole), format_millis(direct)),
        );
        print_figure("added to each run", &format!("{} ms", format_millis(added)));
        exceeded.check_time("contract test", "added to each run: ", added, MAX_TEST_ADDED);
        exceeded.check_time("100 payloads", "", hundred, MAX_HUNDRED_PAYLOADS);
        Ok(())
    }
}

impl ToolkitBench<'_> {
    /// Measures the hook before a call that writes a file, in a large repository with and without the gate for tests.
    fn measure_gate(&self, exceeded: &mut ExceededLimits) -> Result<()> {
        for number in 0..GATED_FILES {
            let folder =
                self.project.join(format!("src/part{}/inner{}", number / 500, number / 50 % 10));
            if number % 50 == 0 {
                fs::create_dir_all(&folder)?;
            }
            fs::File::create(folder.join(format!("module{number}.py")))?;
        }
        fs::create_dir_all(self.project.join("tests"))?;
        fs::File::create(self.project.join("tests/test_module7.py"))?;
        for arguments in [&["init", "-q"][..], &["add", "."]] {
            run_git(self.project, arguments)?;
        }
        // Creates the memory.
        ensure!(self.rutter(&["status"]).output()?.status.success(), "no memory");
        let tested = self.hook_payload("src/part0/inner0/module7.py");
        let untested = self.hook_payload("src/part0/inner0/module8.py");
        let off = self.time_hook(&untested, false)?;
        let enabled = self.rutter(&["gate", "enable", "--mode", "deny"]).output()?;
        ensure!(enabled.status.success(), "{}", String::from_utf8_lossy(&enabled.stderr));
        for (name, payload, is_denied) in
            [("file with a test", &tested, false), ("denied", &untested, true)]
        {
            let on = self.time_hook(payload, is_denied)?;
            let added = on.saturating_sub(off);
            print_figure(
                &format!("gate, {GATED_FILES} files, {name}"),
                &format!("{} ms, {} ms on top", format_millis(on), format_millis(added)),
            );
            exceeded.check_time(&format!("gate, {name}"), "", added, MAX_GATE_ADDED);
        }
        Ok(())
    }

    fn hook_payload(&self, file: &str) -> String {
        serde_json::json!({
            "session_id": "5e5510a0-0000-4000-8000-000000000000",
            "cwd": self.project,
            "hook_event_name": "PreToolUse",
            "tool_name": "Write",
            "tool_input": { "file_path": self.project.join(file), "content": "def total(items):\n    return sum(items)\n" },
            "tool_use_id": "toolu_1",
        })
        .to_string()
    }

    /// Returns the median time of the hook for a payload.
    fn time_hook(&self, payload: &str, is_denied: bool) -> Result<Duration> {
        use std::io::Write as _;
        let mut hook =
            self.rutter(&["hook"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        hook.stdin.take().context("piped")?.write_all(payload.as_bytes())?;
        let answer = String::from_utf8(hook.wait_with_output()?.stdout)?;
        ensure!(answer.contains("\"deny\"") == is_denied, "{answer}");
        let mut times = Vec::new();
        for _ in 0..STARTS {
            times.push(time_program(self.rutter(&["hook"]), payload)?);
        }
        Ok(median(times))
    }
}

/// Returns the number of payloads in a report.
fn count_payloads(report: &Value) -> usize {
    let hooks = report["hooks"].as_array().into_iter().flatten();
    let groups = hooks.flat_map(|hook| hook["answers"].as_array().into_iter().flatten());
    groups.map(|group| group["payloads"].as_array().map_or(0, Vec::len)).sum()
}
