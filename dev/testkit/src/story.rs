//! Sessions of a client, played to the hooks.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use rutter_hooks::bash_call::DEFAULT_WINDOW_BYTES;
use rutter_hooks::{HookEnv, HookResult, handle_event};
use rutter_memory::episode::{Episode, EpisodeEndingKind};
use rutter_memory::project::LocatedProject;
use rutter_memory::store::entry::ProjectPlace;
use rutter_memory::store::{EpisodeFilter, GhapOwner, NewMemory};
use rutter_memory::{Clean, Time};
use serde_json::{Value, json};

use crate::MIN_HOOK_DEADLINE;
use crate::world::{FACT, TestWorld, time_at};

/// Returns the environment of a hook in a test world.
pub fn hook_env(world: &TestWorld, now: Time) -> HookEnv {
    HookEnv {
        files: world.files(),
        now,
        started_at: Instant::now(),
        min_deadline: MIN_HOOK_DEADLINE,
        window: DEFAULT_WINDOW_BYTES,
        started_in: None,
        parent: None,
        config: world.config(),
        home: || None,
        own_command: || "rutter".to_owned(),
        has_tools: |_| None,
        foreign_server: |_, _| None,
    }
}

/// Handles an event of a session with these fields.
pub fn handle_payload(
    env: HookEnv,
    session: &str,
    folder: &Path,
    event: &str,
    fields: &Value,
) -> HookResult {
    let mut payload = json!({ "session_id": session, "cwd": folder, "hook_event_name": event });
    payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    handle_event(payload.to_string().as_bytes(), None, || env)
}

/// Sessions of a client in one checkout, sent to the hooks as the client's payloads.
pub struct HookStory<'a> {
    pub world: &'a TestWorld,
    pub folder: PathBuf,
    /// The folder that the client was started in, as the client reports it.
    pub started_in: Option<PathBuf>,
    pub clock: std::cell::Cell<i64>,
    pub session: &'static str,
    pub agent: Option<&'static str>,
}

impl<'a> HookStory<'a> {
    pub fn new(world: &'a TestWorld) -> Self {
        drop(world.store());
        Self::at(world, &world.project("ship"))
    }

    pub fn at(world: &'a TestWorld, folder: &Path) -> Self {
        let folder = folder.canonicalize().unwrap();
        Self { world, folder, started_in: None, clock: 0.into(), session: "session-1", agent: None }
    }

    /// Returns the time of the last event.
    pub fn now(&self) -> Time {
        Time::from_millis(time_at(0).millis() + self.clock.get())
    }

    pub fn place(&self) -> ProjectPlace {
        (&LocatedProject::find(&self.folder)).into()
    }

    /// Returns the session, or its subagent, as the owner of GHAPs.
    pub fn owner(&self) -> GhapOwner {
        GhapOwner {
            client: Some(Clean::new(self.session)),
            agent: self.agent.map(Clean::new),
            place: self.place(),
        }
    }

    /// Stores a fact about the project.
    pub fn remember_fact(&self, text: &str) {
        let new = NewMemory { place: Some(&self.place()), text, ..FACT };
        drop(self.world.store().remember(&new, self.now()).unwrap());
    }

    pub fn send_event(&self, event: &str, fields: &Value) -> HookResult {
        self.clock.set(self.clock.get() + 60_000);
        let mut fields = fields.clone();
        if let Some(agent) = self.agent {
            fields["agent_id"] = agent.into();
        }
        let env =
            HookEnv { started_in: self.started_in.clone(), ..hook_env(self.world, self.now()) };
        handle_payload(env, self.session, &self.folder, event, &fields)
    }

    pub fn context_text(heard: &HookResult) -> String {
        assert_eq!(heard.errors, [] as [Clean; 0]);
        if heard.stdout.is_empty() {
            return String::new();
        }
        let answer: Value = serde_json::from_str(&heard.stdout).unwrap();
        answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
    }

    /// Plays a run in which these tests panic with these messages, and returns the hook's text.
    pub fn red(&self, command: &str, failing: &[(&str, &str)]) -> String {
        let error = format!("Exit code 101\n{}", cargo_test_output(5 - failing.len(), failing));
        Self::context_text(&self.send_event(
            "PostToolUseFailure",
            &json!({ "tool_name": "Bash", "tool_input": { "command": command }, "error": error, "is_interrupt": false }),
        ))
    }

    pub fn green(&self, command: &str) {
        self.bash_with(command, &cargo_test_output(5, &[]));
    }

    pub fn bash(&self, command: &str) {
        self.bash_with(command, "");
    }

    pub fn bash_with(&self, command: &str, stdout: &str) {
        let response =
            &json!({ "stdout": stdout, "stderr": "", "interrupted": false, "isImage": false });
        let heard = self.send_event(
            "PostToolUse",
            &json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_response": response }),
        );
        assert_eq!(Self::context_text(&heard), "");
    }

    /// Plays a command that is about to run, and returns the hook's text.
    pub fn before_command(&self, command: &str) -> String {
        let fields = json!({ "tool_name": "Bash", "tool_input": { "command": command } });
        Self::context_text(&self.send_event("PreToolUse", &fields))
    }

    /// Plays a command that fails with this output, and returns the hook's text.
    pub fn run_failing_command(&self, command: &str, exit: i32, text: &str) -> String {
        let error = format!("Exit code {exit}\n{text}");
        Self::context_text(&self.send_event(
            "PostToolUseFailure",
            &json!({ "tool_name": "Bash", "tool_input": { "command": command }, "error": error }),
        ))
    }

    /// Plays a command with its exit status hidden by a pipe, and returns the hook's text.
    pub fn run_with_hidden_status(&self, command: &str, text: &str) -> String {
        let response = &json!({ "stdout": text, "stderr": "", "interrupted": false });
        Self::context_text(&self.send_event(
            "PostToolUse",
            &json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_response": response }),
        ))
    }

    pub fn edit(&self, file: &str, lines: &[&str]) {
        let path = self.folder.join(file);
        let response = json!({ "filePath": path, "originalFile": "", "structuredPatch": [{ "lines": lines }] });
        let heard = self
            .send_event("PostToolUse", &json!({ "tool_name": "Edit", "tool_response": response }));
        assert_eq!(Self::context_text(&heard), "");
    }

    pub fn start(&self, source: &str) -> String {
        Self::context_text(&self.send_event("SessionStart", &json!({ "source": source })))
    }

    pub fn prompt(&self, text: &str) -> String {
        Self::context_text(&self.send_event("UserPromptSubmit", &json!({ "prompt": text })))
    }

    /// Plays the start of a tool call, and returns the hook's text.
    pub fn start_tool_call(&self) -> String {
        let read =
            json!({ "tool_name": "Read", "tool_input": { "file_path": "/x" }, "tool_use_id": "t" });
        Self::context_text(&self.send_event("PreToolUse", &read))
    }

    /// Returns every episode, oldest first: test, ending, fix.
    pub fn episodes(&self) -> Vec<(String, Option<EpisodeEndingKind>, String)> {
        let shown = |episode: Episode| {
            let ending = episode.ending;
            let fix = ending.iter().flat_map(|ending| &ending.fix);
            let fix: Vec<String> = fix
                .map(|change| {
                    let lines: Vec<&str> =
                        change.patch.lines().filter(|line| !line.starts_with('@')).collect();
                    format!("{} {}", change.name, lines.join(" ")).trim_end().to_owned()
                })
                .collect();
            (
                episode.test.map_or(String::new(), |test| test.to_string()),
                ending.map(|ending| ending.how),
                fix.join("; ").trim().to_owned(),
            )
        };
        let mut all = self.world.store().episodes(&EpisodeFilter::default()).unwrap();
        all.sort_by_key(|episode| (episode.opened, episode.test.clone(), episode.seen));
        all.into_iter().map(shown).collect()
    }
}

impl HookStory<'_> {
    /// Plays a Bash call that changes files: the hook before it, the change, the hook after it.
    pub fn run_changing_command(&self, command: &str, change: impl FnOnce(&Path)) {
        let call = json!({
            "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": format!("toolu_{command}"),
        });
        assert_eq!(Self::context_text(&self.send_event("PreToolUse", &call)), "");
        change(&self.folder);
        let mut call = call;
        call["tool_response"] = json!({ "stdout": "", "stderr": "", "interrupted": false });
        assert_eq!(Self::context_text(&self.send_event("PostToolUse", &call)), "");
    }

    /// Edits a file on disk and sends the client's payload for it.
    pub fn edit_on_disk(&self, file: &str, old: &str, new: &str) {
        let path = self.folder.join(file);
        let before = fs::read_to_string(&path).unwrap();
        assert!(before.contains(old), "{file} has no {old}");
        let after = before.replacen(old, new, 1);
        fs::write(&path, &after).unwrap();
        let line = before[..before.find(old).unwrap()].matches('\n').count() + 1;
        // The client sends whole lines, and only those that differ.
        let start = before.find(old).unwrap();
        let whole = |text: &str, length: usize| -> Vec<String> {
            let end = start + length;
            let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
            let end = text[end..].find('\n').map_or(text.len(), |at| end + at);
            text[from..end].lines().map(str::to_owned).collect()
        };
        let (mut gone, mut came) = (whole(&before, old.len()), whole(&after, new.len()));
        while gone.last().is_some_and(|line| came.last() == Some(line)) {
            gone.pop();
            came.pop();
        }
        let mut lines: Vec<String> = gone.iter().map(|line| format!("-{line}")).collect();
        lines.extend(came.iter().map(|line| format!("+{line}")));
        let response = json!({
            "filePath": path, "originalFile": before,
            "structuredPatch": [{ "oldStart": line, "oldLines": 1, "newStart": line, "newLines": 1, "lines": lines }],
        });
        let heard = self
            .send_event("PostToolUse", &json!({ "tool_name": "Edit", "tool_response": response }));
        assert_eq!(Self::context_text(&heard), "");
    }

    pub fn write_file(&self, file: &str, text: &str) {
        let path = self.folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns the ending of the only episode, or None if it is open.
    pub fn only_ending(&self) -> Option<EpisodeEndingKind> {
        let episodes = self.episodes();
        assert_eq!(episodes.len(), 1, "{episodes:?}");
        episodes[0].1
    }
}

/// Returns the output of `cargo test`.
pub fn cargo_test_output(passed: usize, failing: &[(&str, &str)]) -> String {
    let mut text = format!("\nrunning {} tests\n", passed + failing.len());
    // In the form of `--quiet`: a list of passed tests would have to name the fixed test.
    text += &".".repeat(passed);
    text += &"F".repeat(failing.len());
    text += "\n";
    if !failing.is_empty() {
        text += "\nfailures:\n\n";
        for (test, error) in failing {
            let _ = write!(
                text,
                "---- {test} stdout ----\n\nthread '{test}' panicked at src/lib.rs:5:9:\n{error}\n\n"
            );
        }
        text += "\nfailures:\n";
        for (test, _) in failing {
            let _ = writeln!(text, "    {test}");
        }
        text += "\n";
    }
    let (verdict, failed) = if failing.is_empty() { ("ok", 0) } else { ("FAILED", failing.len()) };
    text + &format!(
        "test result: {verdict}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n"
    )
}

pub const TOTAL: (&str, &str) = ("cart::tests::total", "the total is wrong: 90");
pub const NAME: (&str, &str) = ("user::tests::name", "no name was given");
pub const EMPTY: (&str, &str) = ("cart::tests::empty", "index out of bounds");

pub fn fixed_episode(test: &str, fix: &str) -> (String, Option<EpisodeEndingKind>, String) {
    ended_episode(test, EpisodeEndingKind::Fixed, fix)
}

pub fn ended_episode(
    test: &str,
    how: EpisodeEndingKind,
    fix: &str,
) -> (String, Option<EpisodeEndingKind>, String) {
    (test.to_owned(), Some(how), fix.to_owned())
}

pub fn open_episode(test: &str) -> (String, Option<EpisodeEndingKind>, String) {
    (test.to_owned(), None, String::new())
}

pub fn run_git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}
