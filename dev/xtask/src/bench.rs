//! `cargo xtask bench`: measures speed, as ratios on one machine in one run.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

mod figures;
pub(crate) mod hooks;
pub(crate) mod lint;
pub(crate) mod mcp;
pub(crate) mod recall;
pub(crate) mod toolkit;

/// Number of starts of each program; they alternate, so that other load affects both.
const STARTS_PER_PROGRAM: usize = 400;

/// Maximum time of `rutter contract explain`, as a multiple of a program that does nothing.
const MAX_EXPLAIN_RATIO: f64 = 5.0;

/// Maximum time to open the store in a hook, as a multiple of a start of a program that does nothing.
const MAX_OPEN_RATIO: f64 = 1.0;

/// Minimum number of imported rows per second.
const MIN_ROWS_PER_SECOND: f64 = 5_000.0;
/// Number of rows to import for the measurement.
const IMPORTED_ROWS: u32 = 50_000;

/// Minimum number of verdicts per second.
const MIN_VERDICTS_PER_SECOND: f64 = 50_000.0;

/// Measures and prints the figures; returns an error if a limit is exceeded.
pub(crate) fn run(root: &Path) -> Result<()> {
    let binary = crate::dist::build_release(root)?;
    let answer = r#"{"permissionDecision":"deny","permissionDecisionReason":"not here"}"#;
    let nothing = || time_program(Command::new("/bin/true"), "");
    let explain = || {
        let mut command = Command::new(&binary);
        command.args(["contract", "explain", "PreToolUse", "--json"]);
        time_program(command, answer)
    };
    let (mut base, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..STARTS_PER_PROGRAM {
        base.push(nothing()?);
        ours.push(explain()?);
    }
    let (base, ours) = (median(base), median(ours));
    let ratio = ours.as_secs_f64() / base.as_secs_f64();
    print_figure("/bin/true, median of a start", &format!("{base:.2?}"));
    print_figure("rutter contract explain, median of a start", &format!("{ours:.2?}, {ratio:.1}x"));

    let store = bench_figures(root, "rutter-memory", "store")?;
    for (name, micros) in &store {
        print_figure(&format!("store: {name}, median in process"), &format!("{micros:.0} µs"));
    }
    let open = store.iter().find(|(name, _)| name == "open").context("no figure for open")?.1 / 1e6;
    let rows = measure_import_rate(&binary)?;
    print_figure("rutter import jsonl", &format!("{rows:.0} rows a second"));

    let rate = measure_verdict_rate(root)?;
    print_figure("verdicts in process", &format!("{rate:.0} a second"));

    ensure!(
        ratio <= MAX_EXPLAIN_RATIO,
        "explain takes {ratio:.1} times as long as nothing; {MAX_EXPLAIN_RATIO} are promised"
    );
    ensure!(
        open <= base.as_secs_f64() * MAX_OPEN_RATIO,
        "the hot handle opens in {open:.6} s, more than {MAX_OPEN_RATIO} times a start of nothing"
    );
    ensure!(
        rows >= MIN_ROWS_PER_SECOND,
        "{rows:.0} rows a second; {MIN_ROWS_PER_SECOND} are promised"
    );
    ensure!(
        rate >= MIN_VERDICTS_PER_SECOND,
        "{rate:.0} verdicts a second; {MIN_VERDICTS_PER_SECOND} are promised"
    );
    Ok(())
}

/// Starts a program, writes its stdin and returns the time until its end.
fn time_program(mut command: Command, stdin: &str) -> Result<Duration> {
    use std::io::Write as _;
    let from = Instant::now();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut pipe = child.stdin.take().context("piped")?;
    // A program that does not read may have ended before the write.
    drop(pipe.write_all(stdin.as_bytes()));
    drop(pipe);
    child.wait_with_output()?;
    Ok(from.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Returns the output of a crate's bench, which is compiled with optimisations; this program is not.
fn run_bench(root: &Path, package: &str, name: &str) -> Result<String> {
    let output = Command::new("cargo")
        .args(["bench", "--quiet", "-p", package, "--bench", name])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(output.status.success(), "the bench failed");
    Ok(String::from_utf8(output.stdout)?)
}

/// Runs the cluster bench of the memory crate, on generated lessons or on those of a file.
pub(crate) fn bench_clusters(root: &Path, file: Option<&str>) -> Result<()> {
    let file = match file {
        Some("speed" | "small" | "values") | None => file.map(Into::into),
        Some(file) => Some(Path::new(file).canonicalize().context("no such file")?),
    };
    let status = Command::new("cargo")
        .args(["bench", "--quiet", "-p", "rutter-memory", "--bench", "clusters", "--"])
        .args(file)
        .current_dir(root)
        .status()?;
    ensure!(status.success(), "the bench failed");
    Ok(())
}

fn measure_verdict_rate(root: &Path) -> Result<f64> {
    let text = run_bench(root, "rutter-contract", "verdicts")?;
    let figure = text.split_whitespace().next().context("the bench printed nothing")?;
    Ok(figure.parse()?)
}

/// Returns the lines of a bench that prints a name and a number on each.
fn bench_figures(root: &Path, package: &str, name: &str) -> Result<Vec<(String, f64)>> {
    let text = run_bench(root, package, name)?;
    let lines = text.lines().map(|line| {
        let (name, figure) = line.rsplit_once(' ').context("a line without a figure")?;
        Ok((name.to_owned(), figure.parse()?))
    });
    lines.collect()
}

/// Imports memories into an empty store with the release binary; returns the rows per second.
fn measure_import_rate(binary: &Path) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("rows.jsonl");
    let mut lines = String::from("{\"rutter-export\":{\"schema\":1}}\n");
    for row in 0..IMPORTED_ROWS {
        let text = format!(
            "Row {row}: the lexer splits at line feeds alone, so files with CRLF keep a carriage return"
        );
        lines += &serde_json::json!({ "memory": {
            "id": format!("019a86e0-0000-7000-8000-{row:012x}"), "project": null, "category": "fact", "text": text,
            "importance": 0.5, "tags": ["lexer"], "created": "2026-01-01T00:00:00Z", "changed": "2026-01-01T00:00:00Z",
        }})
        .to_string();
        lines.push('\n');
    }
    std::fs::write(&file, lines)?;
    let from = Instant::now();
    let output = Command::new(binary)
        .args(["import", "jsonl", "--own", "--yes"])
        .arg(&file)
        .env("RUTTER_HOME", folder.path().join("memory"))
        .output()?;
    let elapsed = from.elapsed();
    let text = String::from_utf8(output.stdout)?;
    ensure!(
        text.starts_with(&format!("{IMPORTED_ROWS} added")),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(f64::from(IMPORTED_ROWS) / elapsed.as_secs_f64())
}

#[expect(clippy::print_stdout, reason = "the task's result")]
fn print_text(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stdout, reason = "the task's result")]
fn print_figure(what: &str, figure: &str) {
    println!("{what:<44} {figure}");
}

fn run_git(folder: &Path, arguments: &[&str]) -> Result<()> {
    let status = Command::new("git").args(arguments).current_dir(folder).status().context("git")?;
    ensure!(status.success(), "git {arguments:?} failed");
    Ok(())
}

/// Samples the memory use of a process until it has ended; returns the peaks of resident and of anonymous memory, in
/// bytes. The kernel's figures for an ended child are not usable: they include the memory of the parent that it was
/// forked from.
fn sample_memory(process: u32) -> (u64, u64) {
    let status = format!("/proc/{process}/status");
    let (mut resident, mut anonymous) = (0, 0);
    while let Some((most, now)) =
        std::fs::read_to_string(&status).ok().and_then(|text| parse_memory_use(&text))
    {
        resident = resident.max(most);
        anonymous = anonymous.max(now);
    }
    (resident, anonymous)
}

/// Returns the peak resident memory and the current anonymous memory, in bytes; `None` after the process has ended.
fn parse_memory_use(status: &str) -> Option<(u64, u64)> {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? * 1024)
    };
    Some((field("VmHWM:")?, field("RssAnon:")?))
}

/// Describes the machine without identifying it.
fn describe_machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    match model {
        Some((_, model)) => format!("{cores} cores ({model})"),
        None => format!("{cores} cores"),
    }
}

fn format_millis(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}

fn format_megabytes(bytes: u64) -> String {
    let tenths = bytes / 100_000;
    format!("{}.{}", tenths / 10, tenths % 10)
}
