//! What a client tells a hook: captured payloads with the place of the bench in them, and what real runs printed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rutter_contract::{EventName, payload};
use serde_json::{Value, json};

/// The session that most of it happens in.
const SESSION: &str = "0b6f3a52-7c1e-4a39-9d57-2f1f5e0c8a10";
/// What the client hands over of an output at most.
const OUTPUT: usize = 30_000;
const RUN: &str = "python -m pytest";
const BASH: Option<&str> = Some("Bash");

pub(super) struct Payloads {
    checkout: PathBuf,
    /// What a red run printed, three tests of it.
    red: String,
    edited: Vec<u8>,
    edited_long: Vec<u8>,
    passed: Vec<u8>,
}

impl Payloads {
    pub(super) fn read(root: &Path, checkout: &Path) -> Result<Self> {
        let run = |name: &str| {
            let path = root.join("crates/runs/fixtures/outcomes/pytest").join(name);
            std::fs::read_to_string(&path).with_context(|| path.display().to_string())
        };
        let mut told = Self {
            checkout: checkout.to_owned(),
            red: run("fail.out")?,
            edited: Vec::new(),
            edited_long: Vec::new(),
            passed: Vec::new(),
        };
        told.edited = told.edit(&"def discount(price, percent):\n".repeat(20));
        told.edited_long = told.edit(&lines(1 << 20));
        let stdout = green(&run("pass_verbose.out")?)?;
        told.passed = told.command(&format!("{RUN} -v"), &stdout);
        Ok(told)
    }

    /// A captured payload with this place in it.
    fn told(&self, event: EventName, tool: Option<&str>, session: &str) -> Value {
        // Of these, all were captured.
        let found =
            payload::recorded(event).iter().find(|found| found["tool_name"].as_str() == tool);
        let mut found = found.cloned().unwrap_or_default();
        found["session_id"] = session.into();
        found["cwd"] = self.checkout.to_string_lossy().into();
        found
    }

    fn command(&self, line: &str, stdout: &str) -> Vec<u8> {
        let mut told = self.told(EventName::PostToolUse, BASH, SESSION);
        told["tool_input"]["command"] = line.into();
        told["tool_response"]["stdout"] = stdout.into();
        told.to_string().into_bytes()
    }

    fn edit(&self, original: &str) -> Vec<u8> {
        let mut told = self.told(EventName::PostToolUse, Some("Edit"), SESSION);
        let file = self.checkout.join("shop.py");
        let (old, new) =
            ("    return price * (100 - percent)", "    return price * (100 - percent) / 100");
        told["tool_input"] = json!({ "file_path": file, "old_string": old, "new_string": new, "replace_all": false });
        let response = &mut told["tool_response"];
        for (key, value) in
            [("filePath", &*file.to_string_lossy()), ("oldString", old), ("newString", new)]
        {
            response[key] = value.into();
        }
        response["originalFile"] = original.into();
        response["structuredPatch"][0]["lines"] = json!([
            " ",
            " def discount(price, percent):",
            format!("-{old}"),
            format!("+{new}"),
            " ",
        ]);
        told.to_string().into_bytes()
    }

    /// A command before it runs; the client asks about each.
    pub(super) fn asked(&self) -> Vec<u8> {
        let mut told = self.told(EventName::PreToolUse, BASH, SESSION);
        told["tool_input"]["command"] =
            format!("cat > notes.md <<'END'\n{}END", lines(1_500)).into();
        told.to_string().into_bytes()
    }

    pub(super) fn listed(&self) -> Vec<u8> {
        self.command("ls -la src tests", &lines(800))
    }

    pub(super) fn edited(&self) -> Vec<u8> {
        self.edited.clone()
    }

    pub(super) fn edited_long(&self) -> Vec<u8> {
        self.edited_long.clone()
    }

    pub(super) fn passed(&self) -> Vec<u8> {
        self.passed.clone()
    }

    /// A red run whose tests nobody has seen before.
    pub(super) fn failed(&self, round: usize) -> Vec<u8> {
        self.red(SESSION, &self.red.replace("test_shop", &format!("test_{}", letters(round))))
    }

    /// The red run of the first time, in a session that was not told yet how it was fixed then.
    pub(super) fn failed_as_before(&self, round: usize) -> Vec<u8> {
        self.red(&format!("guest-{round:06}"), &self.red)
    }

    fn red(&self, session: &str, output: &str) -> Vec<u8> {
        let mut told = self.told(EventName::PostToolUseFailure, BASH, session);
        told["tool_input"]["command"] = RUN.into();
        told["error"] = format!("Exit code 1\n{output}").into();
        told.to_string().into_bytes()
    }

    pub(super) fn began(&self, round: usize) -> Vec<u8> {
        self.told(EventName::SessionStart, None, &format!("session-{round:06}"))
            .to_string()
            .into_bytes()
    }

    pub(super) fn ended(&self, round: usize) -> Vec<u8> {
        self.told(EventName::SessionEnd, None, &format!("session-{round:06}"))
            .to_string()
            .into_bytes()
    }
}

/// A name for a number that no normalising of numbers touches.
fn letters(mut number: usize) -> String {
    let mut name = String::new();
    for _ in 0..5 {
        name.push(char::from(b'a' + u8::try_from(number % 26).unwrap_or_default()));
        number /= 26;
    }
    name
}

/// Lines of a file, or of a listing, of about so many characters together.
fn lines(size: usize) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < size {
        let _ = writeln!(
            text,
            "    entry_{number} = build(\"entry {number}\", limit={})",
            number * 7 % 1_000
        );
        number += 1;
    }
    text
}

/// A verbose green run, with so many more tests of its kind that the client would just not cut it.
fn green(text: &str) -> Result<String> {
    let is_case = |line: &&str| line.contains(" PASSED ");
    let case = text.lines().find(is_case).context("no test passed")?;
    let size: usize = text.lines().filter(|line| !is_case(line)).map(|line| line.len() + 1).sum();
    let count = (OUTPUT - size - 10) / (case.len() + 6);
    let mut green = String::new();
    for line in text.lines() {
        if line == case {
            for number in 0..count {
                green += &case.replace("test_sum", &format!("test_sum_{number:04}"));
                green.push('\n');
            }
        } else if !is_case(&line) {
            green += &line
                .replace("5 items", &format!("{count} items"))
                .replace("5 passed", &format!("{count} passed"));
            green.push('\n');
        }
    }
    Ok(green)
}
