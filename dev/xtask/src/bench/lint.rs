//! `cargo xtask bench lint`: the time of `rutter contract lint` as a whole process.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::figures::{ExceededLimits, LatencyFigures};
use super::{describe_machine, format_millis, print_text};
use crate::files::replace_file;

/// Number of runs of each row.
const RUNS: usize = 200;
/// Maximum median time for a large settings file.
const MAX_LARGE_FILE: Duration = Duration::from_millis(10);
/// Maximum median time for a machine with five layers and ten plugins.
const MAX_MACHINE: Duration = Duration::from_millis(50);

/// Number of hooks of the large settings file.
const LARGE_FILE_HOOKS: usize = 300;
/// Number of hooks of each file of the machine.
const LAYER_HOOKS: usize = 20;
/// Number of plugins of the machine.
const PLUGINS: usize = 10;

/// Measures both rows and prints them; returns an error if a limit is exceeded.
pub(crate) fn run(root: &Path) -> Result<()> {
    let binary = crate::dist::build_release(root)?;
    let world = tempfile::tempdir()?;
    let world = world.path().canonicalize()?;
    let large = world.join("large");
    write_project(&large, LARGE_FILE_HOOKS)?;
    let bytes = std::fs::metadata(large.join(".claude/settings.json"))?.len();
    let machine = world.join("machine");
    write_machine(&machine, &world.join("home"))?;
    let rows = [
        (
            format!("a settings file of {} KB with {LARGE_FILE_HOOKS} hooks", bytes / 1000),
            measure(&binary, &large, &world.join("empty"))?,
            MAX_LARGE_FILE,
        ),
        (
            format!("five layers and {PLUGINS} plugins"),
            measure(&binary, &machine, &world.join("home"))?,
            MAX_MACHINE,
        ),
    ];
    let mut out = format!(
        "{RUNS} runs of the whole process on {}\n\n\
         | checked | median | p95 | longest | promised |\n|---|---|---|---|---|\n",
        describe_machine()
    );
    let mut exceeded = ExceededLimits::default();
    for (name, figures, limit) in &rows {
        let [median, p95, longest] =
            [figures.median, figures.p95, figures.longest].map(format_millis);
        let promised = limit.as_millis();
        writeln!(out, "| {name} | {median} ms | {p95} ms | {longest} ms | {promised} ms |")?;
        exceeded.check_time(name, "median ", figures.median, *limit);
    }
    print_text(out.trim_end());
    let exceeded = exceeded.into_lines(rows.iter().any(|(_, figures, _)| figures.is_disturbed()));
    ensure!(exceeded.is_empty(), "{}", exceeded.join("\n"));
    Ok(())
}

/// Runs the linter in a folder, and asserts that it finds hooks and no mistake.
fn measure(binary: &Path, folder: &Path, home: &Path) -> Result<LatencyFigures> {
    let command = || {
        let mut command = Command::new(binary);
        command
            .args(["contract", "lint", "--deny", "warnings"])
            .current_dir(folder)
            .env_clear()
            .env("HOME", home)
            .env("PATH", "/usr/bin:/bin")
            .env("RUTTER_HOME", home.join("memory"))
            .stdin(Stdio::null());
        command
    };
    let output = command().output()?;
    let text = String::from_utf8(output.stdout)?;
    ensure!(output.status.success(), "the linter finds mistakes in the bench's files:\n{text}");
    ensure!(text.starts_with("checked ") && !text.starts_with("checked 0"), "{text}");
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let from = Instant::now();
        let status = command().stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        times.push(from.elapsed());
        ensure!(status.success(), "the linter failed");
    }
    Ok(LatencyFigures::from_times(times))
}

/// Writes project settings with hooks that start ten scripts.
fn write_project(folder: &Path, hooks: usize) -> Result<()> {
    write_json(&folder.join(".claude/settings.json"), &hook_file(hooks, "project", ""))?;
    for number in 0..10 {
        let path = folder.join(format!(".claude/hooks/check-{number}.sh"));
        let script = "#!/bin/sh\nset -u\ninput=$(cat)\ncase $input in\n  *forbidden*)\n    \
                      echo 'this is not allowed here' >&2\n    exit 2\n    ;;\nesac\nexit 0\n";
        write_text(&path, script)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// Writes the settings of user and project, both kinds of frontmatter, and plugins.
fn write_machine(folder: &Path, home: &Path) -> Result<()> {
    write_project(folder, LAYER_HOOKS)?;
    let local = hook_file(LAYER_HOOKS, "local", "true");
    write_json(&folder.join(".claude/settings.local.json"), &local)?;
    let frontmatter = "---\nname: check\ndescription: Checks the work\nhooks:\n  Stop:\n    - hooks:\n        \
                       - type: command\n          command: \"true checked\"\n---\nCheck the work.\n";
    let agent = frontmatter.replace("checked", "finished");
    write_text(&folder.join(".claude/agents/check.md"), &agent)?;
    write_text(&folder.join(".claude/skills/check/SKILL.md"), frontmatter)?;
    let mut enabled = serde_json::Map::new();
    let mut installed = serde_json::Map::new();
    for number in 0..PLUGINS {
        let name = format!("plugin-{number}");
        let plugin = home.join(".claude/plugins/cache").join(&name);
        write_json(&plugin.join(".claude-plugin/plugin.json"), &json!({ "name": name }))?;
        let hooks = hook_file(LAYER_HOOKS, &name, "true");
        write_json(&plugin.join("hooks/hooks.json"), &hooks)?;
        let key = format!("{name}@market");
        enabled.insert(key.clone(), Value::Bool(true));
        installed.insert(key, json!([{ "installPath": plugin, "scope": "user" }]));
    }
    let registry = json!({ "version": 2, "plugins": installed });
    write_json(&home.join(".claude/plugins/installed_plugins.json"), &registry)?;
    let mut user = hook_file(LAYER_HOOKS, "user", "true");
    user["enabledPlugins"] = Value::Object(enabled);
    write_json(&home.join(".claude/settings.json"), &user)
}

/// Returns a file with hooks of five events. Without a program, the hooks start the scripts of the project.
fn hook_file(hooks: usize, label: &str, program: &str) -> Value {
    const EVENTS: [&str; 5] =
        ["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Notification"];
    let mut events = serde_json::Map::new();
    for number in 0..hooks {
        let event = EVENTS[number % EVENTS.len()];
        let program = if program.is_empty() {
            format!("\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/check-{}.sh", number % 10)
        } else {
            program.to_owned()
        };
        let mut group = json!({ "hooks": [{
            "type": "command",
            "command": format!("{program} --rule {label}-{number} --title 'rule {number} of {label}: keep the tree clean'"),
            "timeout": 30,
            "statusMessage": format!("Checking rule {number}"),
        }] });
        if event.ends_with("ToolUse") {
            group["matcher"] = json!(["Bash", "Edit|Write", "mcp__github__.*"][number % 3]);
        }
        let list = events.entry(event).or_insert_with(|| json!([]));
        list.as_array_mut().into_iter().for_each(|list| list.push(group.clone()));
    }
    json!({ "hooks": events })
}

fn write_json(path: &Path, value: &Value) -> Result<()> {
    write_text(path, &format!("{value:#}\n"))
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    std::fs::create_dir_all(path.parent().context("a file has a folder")?)?;
    Ok(replace_file(path, text.as_bytes())?)
}
