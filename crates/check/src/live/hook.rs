//! Hooks that record their payloads and give a prepared answer.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rutter_contract::EventName;
use rutter_contract::output::HookAnswer;
use serde_json::{Value, json};

use super::sandbox::write_file;

/// A command hook under test: it saves its stdin and prints its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestHook {
    event: EventName,
    matcher: Option<String>,
    answer: HookAnswer,
    once: bool,
}

impl TestHook {
    /// Creates a hook for every firing of an event, with an empty answer.
    pub fn for_event(event: EventName) -> Self {
        Self { event, matcher: None, answer: HookAnswer::default(), once: false }
    }

    /// Restricts the hook by a matcher.
    #[must_use]
    pub fn matching(mut self, matcher: impl Into<String>) -> Self {
        self.matcher = Some(matcher.into());
        self
    }

    /// Sets the answer to every call.
    #[must_use]
    pub fn answers(self, answer: HookAnswer) -> Self {
        Self { answer, once: false, ..self }
    }

    /// Sets the answer to the first call; later calls get an empty one. A Stop hook that always blocks
    /// would keep the agent going up to the client's limit.
    #[must_use]
    pub fn answers_once(self, answer: HookAnswer) -> Self {
        Self { answer, once: true, ..self }
    }

    /// Returns the event of the hook.
    pub fn event(&self) -> EventName {
        self.event
    }
}

/// An installed hook: a folder with the script, its answer, and a folder for each call.
#[derive(Debug)]
pub(super) struct InstalledHook {
    pub(super) event: EventName,
    folder: PathBuf,
    /// True for a hook of the user's settings, which may not run.
    pub(super) is_recorded: bool,
}

impl InstalledHook {
    /// Writes a hook into a new folder; returns it and its entry for the settings.
    pub(super) fn new(hook: &TestHook, folder: PathBuf) -> io::Result<(Self, Value)> {
        fs::create_dir_all(folder.join("calls"))?;
        write_file(&folder.join("stdout"), hook.answer.stdout.as_bytes())?;
        write_file(&folder.join("stderr"), hook.answer.stderr.as_bytes())?;
        let script = folder.join("hook.sh");
        write_file(&script, hook_script(hook, &folder).as_bytes())?;
        let command = format!("sh {}", shell_quote(&script));
        let mut entry = json!({ "hooks": [{ "type": "command", "command": command }] });
        if let Some(matcher) = &hook.matcher {
            entry["matcher"] = json!(matcher);
        }
        Ok((Self { event: hook.event, folder, is_recorded: false }, entry))
    }

    /// Creates a hook that a recorder runs.
    pub(super) fn recorded(event: EventName, folder: PathBuf) -> Self {
        Self { event, folder, is_recorded: true }
    }

    /// Returns true if a recorded run has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.folder.join("calls/1/end").exists()
    }

    /// Returns the payloads in the order of the calls. Leaves out calls that did not read stdin to its end.
    pub(super) fn calls(&self) -> io::Result<Vec<Vec<u8>>> {
        let mut calls = Vec::new();
        for number in 1.. {
            let call = self.folder.join("calls").join(number.to_string());
            match fs::read(call.join("stdin")) {
                Ok(stdin) => calls.push(stdin),
                Err(_) if call.exists() => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(error),
            }
        }
        Ok(calls)
    }
}

/// Returns the hook's shell script. `mkdir` assigns the call numbers: of several hooks that run at the same
/// time it succeeds for one. Taken numbers are skipped without `mkdir`, because each `mkdir` is a process.
fn hook_script(hook: &TestHook, folder: &Path) -> String {
    let once = if hook.once { r#"[ "$call" -eq 1 ] || exit 0"# } else { ":" };
    format!(
        r#"cd {folder} || exit 0
call=1
while [ -d "calls/$call" ] || ! mkdir "calls/$call" 2>/dev/null; do
  [ -d "calls/$call" ] || exit 0
  call=$((call + 1))
done
cat >"calls/$call/part" && mv "calls/$call/part" "calls/$call/stdin"
{once}
cat stdout
cat stderr >&2
exit {exit}
"#,
        folder = shell_quote(folder),
        exit = hook.answer.exit,
    )
}

/// Quotes a path for the shell.
pub(super) fn shell_quote(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;

    /// Starts the hook like the client, by the command in its settings.
    fn start_hook(entry: &Value, stdin: &str) -> std::process::Child {
        let command = entry["hooks"][0]["command"].as_str().unwrap();
        let mut child = Command::new("sh")
            .args(["-c", command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        child
    }

    #[test]
    fn concurrent_hooks_record_every_call() {
        let folder = tempfile::tempdir().unwrap();
        let answer = HookAnswer { stdout: "{}".to_owned(), stderr: "oh".to_owned(), exit: 2 };
        let hook = TestHook::for_event(EventName::Stop).answers_once(answer);
        // A folder name that an unquoted shell command would split.
        let (installed, entry) =
            InstalledHook::new(&hook, folder.path().join("it's a hook")).unwrap();
        let sent: Vec<String> = (0..8).map(|number| format!("payload {number}\n")).collect();
        let running: Vec<_> = sent.iter().map(|stdin| start_hook(&entry, stdin)).collect();
        let outputs = running.into_iter().map(|child| child.wait_with_output().unwrap());
        let answers: Vec<_> = outputs.filter(|output| !output.stdout.is_empty()).collect();
        assert_eq!(answers.len(), 1);
        assert_eq!(answers[0].status.code(), Some(2));
        assert_eq!(answers[0].stderr, b"oh");
        let mut calls = installed.calls().unwrap();
        calls.sort();
        assert_eq!(calls, sent.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>());
    }

    #[test]
    fn settings_have_matcher_if_set() {
        let folder = tempfile::tempdir().unwrap();
        let (_, entry) =
            InstalledHook::new(&TestHook::for_event(EventName::Stop), folder.path().join("a"))
                .unwrap();
        assert_eq!(entry.get("matcher"), None);
        let hook = TestHook::for_event(EventName::PreToolUse).matching("Bash");
        let (_, entry) = InstalledHook::new(&hook, folder.path().join("b")).unwrap();
        assert_eq!(entry["matcher"], "Bash");
    }
}
