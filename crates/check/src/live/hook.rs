//! Hooks that record what they are sent and answer as they are told.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rutter_contract::EventName;
use rutter_contract::output::Answer;
use serde_json::{Value, json};

use super::sandbox::put;

/// A command hook under test: it keeps its stdin and gives its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    event: EventName,
    matcher: Option<String>,
    answer: Answer,
    once: bool,
}

impl Hook {
    /// A hook on every firing of an event, which says nothing.
    pub fn on(event: EventName) -> Self {
        Self { event, matcher: None, answer: Answer::default(), once: false }
    }

    /// Only where the matcher fits.
    #[must_use]
    pub fn matching(mut self, matcher: impl Into<String>) -> Self {
        self.matcher = Some(matcher.into());
        self
    }

    /// Gives this answer every time.
    #[must_use]
    pub fn answers(self, answer: Answer) -> Self {
        Self { answer, once: false, ..self }
    }

    /// Gives this answer the first time and says nothing afterwards. A Stop hook that always blocked
    /// would go on until the client's own limit.
    #[must_use]
    pub fn answers_once(self, answer: Answer) -> Self {
        Self { answer, once: true, ..self }
    }

    /// The event it is installed on.
    pub fn event(&self) -> EventName {
        self.event
    }
}

/// A hook in its folder: the script, its answer, and a folder for each call.
#[derive(Debug)]
pub(super) struct Installed {
    pub(super) event: EventName,
    folder: PathBuf,
}

impl Installed {
    /// Writes a hook into a new folder; the second part is its entry for the settings.
    pub(super) fn new(hook: &Hook, folder: PathBuf) -> io::Result<(Self, Value)> {
        fs::create_dir_all(folder.join("calls"))?;
        put(&folder.join("stdout"), hook.answer.stdout.as_bytes())?;
        put(&folder.join("stderr"), hook.answer.stderr.as_bytes())?;
        let script = folder.join("hook.sh");
        put(&script, program(hook, &folder).as_bytes())?;
        let command = format!("sh {}", quoted(&script));
        let mut entry = json!({ "hooks": [{ "type": "command", "command": command }] });
        if let Some(matcher) = &hook.matcher {
            entry["matcher"] = json!(matcher);
        }
        Ok((Self { event: hook.event, folder }, entry))
    }

    /// What the hook was sent, in the order of its calls. A call whose stdin was not read to its end
    /// is left out.
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

/// The hook as a shell script. `mkdir` numbers the calls: it succeeds for one of several hooks that run
/// at the same time.
fn program(hook: &Hook, folder: &Path) -> String {
    let once = if hook.once { r#"[ "$call" -eq 1 ] || exit 0"# } else { ":" };
    format!(
        r#"cd {folder} || exit 0
call=1
until mkdir "calls/$call" 2>/dev/null; do
  [ -d "calls/$call" ] || exit 0
  call=$((call + 1))
done
cat >"calls/$call/part" && mv "calls/$call/part" "calls/$call/stdin"
{once}
cat stdout
cat stderr >&2
exit {exit}
"#,
        folder = quoted(folder),
        exit = hook.answer.exit,
    )
}

/// A path as the shell reads it back.
pub(super) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}
