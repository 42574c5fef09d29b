//! Replays generated histories with the real tools.
//!
//! `cargo run -p rutter-histories --example real_histories -- 0..20` writes every history to a temporary folder, runs
//! each of its commands in a shell, and compares output, exit status and resulting files with the history. Commands of
//! tools that are not installed are skipped and counted.

#![allow(clippy::print_stdout, reason = "the example's result")]
#![allow(clippy::disallowed_methods, reason = "files of a scratch folder")]
#![allow(clippy::unwrap_used, reason = "a developer reads the panic")]
#![allow(clippy::format_push_string, reason = "not in a hurry")]
#![allow(clippy::similar_names, reason = "`text` and `test` are the words of this domain")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use rutter_histories::generate;
use rutter_histories::history::{History, HistoryStep};
use rutter_histories::play::replace_base;

#[path = "support/mask.rs"]
mod mask;

use mask::{NPM_WARNING, masked};

/// Programs in front of a runner that only prepare its environment.
const PREFIXES: [&str; 3] = ["nice ", "rtk ", "direnv exec . "];

#[derive(Default)]
struct ReplayCounts {
    compared: usize,
    differ: usize,
    skipped: BTreeMap<String, usize>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (from, to) = arguments[0].split_once("..").unwrap();
    let only = arguments.get(1).map(String::as_str);
    let mut tally = ReplayCounts::default();
    for seed in from.parse::<u64>().unwrap()..to.parse().unwrap() {
        let history = generate(seed);
        let language = format!("{:?}", history.language).to_lowercase();
        if only.is_some_and(|only| only != language) {
            continue;
        }
        let before = (tally.compared, tally.differ);
        replay(&history, &mut tally);
        println!(
            "seed {seed} ({language}): {} compared, {} differ",
            tally.compared - before.0,
            tally.differ - before.1
        );
    }
    println!("{} commands compared, {} differ", tally.compared, tally.differ);
    println!("skipped: {:?}", tally.skipped);
}

fn replay(history: &History, tally: &mut ReplayCounts) {
    let scratch = tempfile::tempdir().unwrap();
    let base = scratch.path().canonicalize().unwrap();
    let mut cwd = String::new();
    for folder in &history.folders {
        std::fs::create_dir_all(base.join(folder)).unwrap();
        if let Some(modules) = std::env::var_os("NODE_MODULES") {
            std::os::unix::fs::symlink(modules, base.join(folder).join("node_modules")).unwrap();
        }
        run_in_shell(
            &base.join(folder),
            "git init -q -b main && git config user.name a && git config user.email a@b && echo node_modules > .git/info/exclude && echo target >> .git/info/exclude && echo Cargo.lock >> .git/info/exclude",
        );
    }
    let mut is_committed = false;
    for (index, step) in history.steps.iter().enumerate() {
        let payload = replace_base(&step.payload, &base.display().to_string());
        let event = payload["hook_event_name"].as_str().unwrap();
        let is_done = event.starts_with("PostToolUse") && payload["tool_name"] == "Bash";
        if is_done && !cwd.is_empty() {
            let command = payload["tool_input"]["command"].as_str().unwrap();
            let ran = replay_command(history, index, step, &base, &cwd, command, tally);
            if !ran {
                write_files(&base, step);
            }
        } else {
            write_files(&base, step);
        }
        cwd = payload["cwd"].as_str().unwrap().into();
        if !is_committed {
            is_committed = true;
            for folder in &history.folders {
                run_in_shell(
                    &base.join(folder),
                    "git add -A && git commit -q --allow-empty -m 'First version'",
                );
            }
        }
    }
}

/// Runs a command and returns false if its tool is not installed.
fn replay_command(
    history: &History,
    index: usize,
    step: &HistoryStep,
    base: &Path,
    cwd: &str,
    command: &str,
    tally: &mut ReplayCounts,
) -> bool {
    let payload = replace_base(&step.payload, &base.display().to_string());
    let mut typed = command.to_owned();
    for prefix in PREFIXES {
        typed = typed.replace(prefix, "");
    }
    let missing = [
        "nextest",
        "golangci-lint",
        "mise",
        "pnpm",
        "yarn",
        "bunx",
        "docker",
        "poetry",
        "uv run",
        "tox",
        "dotenv",
        "prettier",
        "pip install",
        "npm install",
        "go mod",
        "cargo update",
        "git status",
        "git log",
        "ls",
    ];
    if let Some(tool) = missing.iter().find(|tool| typed.contains(*tool)) {
        *tally.skipped.entry((*tool).to_owned()).or_default() += 1;
        return false;
    }
    let chance = step.note.contains("chance");
    if chance {
        *tally.skipped.entry("by chance".to_owned()).or_default() += 1;
        return false;
    }
    let output = run_in_shell(Path::new(cwd), &typed);
    let (mut text, status) = output;
    text = text.replace(NPM_WARNING, "");
    let expected_text = payload["error"]
        .as_str()
        .map(|error| error.split_once('\n').map_or("", |(_, text)| text).to_owned())
        .or_else(|| payload["tool_response"]["stdout"].as_str().map(str::to_owned))
        .unwrap_or_default();
    let is_expected_red = payload["error"].is_string();
    let is_run = step.note.contains('→');
    let sorted = |text: &str| {
        let mut lines: Vec<String> =
            masked(text).lines().map(|line| line.trim().to_owned()).collect();
        lines.retain(|line| !line.is_empty());
        lines.sort();
        lines
    };
    tally.compared += 1;
    let mut problems = String::new();
    if is_run && (status != 0) != is_expected_red && !typed.contains("| grep") {
        problems += &format!("  exit {status}, expected red: {is_expected_red}\n");
    }
    // The streams of a cut output arrive in another order.
    let is_cut = typed.contains("| ");
    if is_run && !is_cut && sorted(&text) != sorted(&expected_text) {
        let (real, own) = (masked(text.trim()), masked(expected_text.trim()));
        let diff = similar::TextDiff::from_lines(&real, &own);
        problems += &diff.unified_diff().header("real", "history").to_string();
    }
    for (path, wanted) in &step.writes {
        let found = std::fs::read_to_string(base.join(path)).ok();
        if found != *wanted {
            problems += &format!("  {path} is not as the history says\n");
            let (real, own) = (found.unwrap_or_default(), wanted.clone().unwrap_or_default());
            let diff = similar::TextDiff::from_lines(&real, &own);
            problems += &diff.unified_diff().header("real", "history").to_string();
        }
    }
    if !problems.is_empty() {
        tally.differ += 1;
        println!("== seed {} step {index}: {typed}\n{problems}", history.seed);
    }
    write_files(base, step);
    true
}

fn run_in_shell(folder: &Path, command: &str) -> (String, i32) {
    std::fs::create_dir_all(folder).unwrap();
    let output = Command::new("bash")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(folder)
        .env("TZ", "America/New_York")
        .env("CLAUDECODE", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("RUST_TEST_THREADS", "1")
        .env("GOFLAGS", "-count=1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env_remove("CI")
        .env_remove("RUST_BACKTRACE")
        .output()
        .unwrap();
    let status = output.status.code().unwrap_or(-1);
    (String::from_utf8_lossy(&output.stdout).into_owned(), status)
}

fn write_files(base: &Path, step: &HistoryStep) {
    for (path, text) in &step.writes {
        let to = base.join(path);
        match text {
            Some(text) => {
                std::fs::create_dir_all(to.parent().unwrap()).unwrap();
                if std::fs::read_to_string(&to).ok().as_ref() == Some(text) {
                    continue;
                }
                std::fs::write(&to, text).unwrap();
                if path.rsplit('.').next() == Some("sh") {
                    use std::os::unix::fs::PermissionsExt as _;
                    std::fs::set_permissions(&to, std::fs::Permissions::from_mode(0o755)).unwrap();
                }
            }
            None => drop(std::fs::remove_file(&to)),
        }
    }
}
