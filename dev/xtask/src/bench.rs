//! `cargo xtask bench`: speed, as ratios on one machine in one run.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

/// How often each program is started; they take turns, so that a busy moment hits both.
const STARTS: usize = 400;

/// What `rutter contract explain` may cost, as a multiple of a program that does nothing.
const EXPLAIN_RATIO: f64 = 5.0;

/// How many verdicts a second are promised.
const VERDICTS_PER_SECOND: f64 = 50_000.0;

/// Measures, prints, and fails where a promise is not kept.
pub(crate) fn run(root: &Path) -> Result<()> {
    let binary = crate::dist::build_release(root)?;
    let answer = r#"{"permissionDecision":"deny","permissionDecisionReason":"not here"}"#;
    let nothing = || start(Command::new("/bin/true"), "");
    let explain = || {
        let mut command = Command::new(&binary);
        command.args(["contract", "explain", "PreToolUse", "--json"]);
        start(command, answer)
    };
    let (mut base, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        base.push(nothing()?);
        ours.push(explain()?);
    }
    let (base, ours) = (median(base), median(ours));
    let ratio = ours.as_secs_f64() / base.as_secs_f64();
    report("/bin/true, median of a start", &format!("{base:.2?}"));
    report("rutter contract explain, median of a start", &format!("{ours:.2?}, {ratio:.1}x"));

    let rate = verdicts_per_second(root)?;
    report("verdicts in process", &format!("{rate:.0} a second"));

    ensure!(
        ratio <= EXPLAIN_RATIO,
        "explain takes {ratio:.1} times as long as nothing; {EXPLAIN_RATIO} are promised"
    );
    ensure!(
        rate >= VERDICTS_PER_SECOND,
        "{rate:.0} verdicts a second; {VERDICTS_PER_SECOND} are promised"
    );
    Ok(())
}

/// Starts a program, feeds it and waits for its end.
fn start(mut command: Command, stdin: &str) -> Result<Duration> {
    use std::io::Write as _;
    let from = Instant::now();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut pipe = child.stdin.take().context("piped")?;
    // A program that does not read is gone before we write.
    drop(pipe.write_all(stdin.as_bytes()));
    drop(pipe);
    child.wait_with_output()?;
    Ok(from.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Asks the crate's own bench, which is compiled for speed; this program is not.
fn verdicts_per_second(root: &Path) -> Result<f64> {
    let output = Command::new("cargo")
        .args(["bench", "--quiet", "-p", "rutter-contract", "--bench", "verdicts"])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "the bench failed");
    let text = String::from_utf8(output.stdout)?;
    let figure = text.split_whitespace().next().context("the bench printed nothing")?;
    Ok(figure.parse()?)
}

#[expect(clippy::print_stdout, reason = "the task's result")]
fn report(what: &str, figure: &str) {
    println!("{what:<44} {figure}");
}
