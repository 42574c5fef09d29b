//! Hook payloads: captured ones with the folder of the bench, and the output of real test runs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rutter_contract::{EventName, payload};
use serde_json::{Value, json};

/// The main session.
const MAIN_SESSION: &str = "0b6f3a52-7c1e-4a39-9d57-2f1f5e0c8a10";
/// Maximum length of an output in the client's payloads.
const MAX_OUTPUT_CHARS: usize = 30_000;
const RUN_COMMAND: &str = "python -m pytest";
const BASH_TOOL: Option<&str> = Some("Bash");

pub(super) struct BenchPayloads {
    checkout: PathBuf,
    /// The output of a red run with three failing tests.
    red: String,
    edited: Vec<u8>,
    edited_long: Vec<u8>,
    /// The output of a green run that names the tests of the red one.
    green: String,
}

impl BenchPayloads {
    pub(super) fn load(root: &Path, checkout: &Path) -> Result<Self> {
        let run = |name: &str| {
            let path = root.join("crates/runs/fixtures/outcomes/pytest").join(name);
            std::fs::read_to_string(&path).with_context(|| path.display().to_string())
        };
        let mut told = Self {
            checkout: checkout.to_owned(),
            red: run("fail.out")?,
            edited: Vec::new(),
            edited_long: Vec::new(),
            green: green_run_output(&run("pass_verbose.out")?)?,
        };
        told.edited = told.edit_payload(&"def discount(price, percent):\n".repeat(20));
        told.edited_long = told.edit_payload(&generated_lines(1 << 20));
        Ok(told)
    }

    /// Returns a captured payload with the session and folder of the bench.
    fn captured_payload(&self, event: EventName, tool: Option<&str>, session: &str) -> Value {
        // A capture exists for all of the used events and tools.
        let found = payload::recorded_payloads(event)
            .iter()
            .find(|found| found["tool_name"].as_str() == tool);
        let mut found = found.cloned().unwrap_or_default();
        found["session_id"] = session.into();
        found["cwd"] = self.checkout.to_string_lossy().into();
        found
    }

    fn command_payload(&self, line: &str, stdout: &str) -> Vec<u8> {
        let mut told = self.captured_payload(EventName::PostToolUse, BASH_TOOL, MAIN_SESSION);
        told["tool_input"]["command"] = line.into();
        told["tool_response"]["stdout"] = stdout.into();
        told.to_string().into_bytes()
    }

    fn edit_payload(&self, original: &str) -> Vec<u8> {
        let mut told = self.captured_payload(EventName::PostToolUse, Some("Edit"), MAIN_SESSION);
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

    /// Returns the payload of a command before it runs; the client sends one for each.
    pub(super) fn before_command(&self) -> Vec<u8> {
        let mut told = self.captured_payload(EventName::PreToolUse, BASH_TOOL, MAIN_SESSION);
        told["tool_input"]["command"] =
            format!("cat > notes.md <<'END'\n{}END", generated_lines(1_500)).into();
        told.to_string().into_bytes()
    }

    /// Returns the payload of an edit before it is made, in a file without fixes.
    pub(super) fn before_edit(&self) -> Vec<u8> {
        let mut told = self.captured_payload(EventName::PreToolUse, BASH_TOOL, MAIN_SESSION);
        told["tool_name"] = "Edit".into();
        told["tool_input"] = json!({
            "file_path": self.checkout.join("notes.py"),
            "old_string": generated_lines(1_500),
            "new_string": generated_lines(1_600),
            "replace_all": false,
        });
        told.to_string().into_bytes()
    }

    pub(super) fn listing(&self) -> Vec<u8> {
        self.command_payload("ls -la src tests", &generated_lines(800))
    }

    pub(super) fn edited(&self) -> Vec<u8> {
        self.edited.clone()
    }

    pub(super) fn edited_long(&self) -> Vec<u8> {
        self.edited_long.clone()
    }

    /// Returns the green run after [`Self::failed`].
    pub(super) fn passed(&self, round: usize) -> Vec<u8> {
        self.green_run_payload(&in_round(&self.green, round))
    }

    /// Returns the green run after [`Self::failed_as_before`].
    pub(super) fn passed_as_before(&self) -> Vec<u8> {
        self.green_run_payload(&self.green)
    }

    fn green_run_payload(&self, output: &str) -> Vec<u8> {
        self.command_payload(&format!("{RUN_COMMAND} -v"), output)
    }

    /// Returns a red run with new failures.
    pub(super) fn failed(&self, round: usize) -> Vec<u8> {
        self.red_run_payload(MAIN_SESSION, &in_round(&self.red, round))
    }

    /// Returns the known red run, in a session that has not been shown its fix.
    pub(super) fn failed_as_before(&self, round: usize) -> Vec<u8> {
        self.red_run_payload(&format!("guest-{round:06}"), &self.red)
    }

    fn red_run_payload(&self, session: &str, output: &str) -> Vec<u8> {
        let mut told = self.captured_payload(EventName::PostToolUseFailure, BASH_TOOL, session);
        told["tool_input"]["command"] = RUN_COMMAND.into();
        told["error"] = format!("Exit code 1\n{output}").into();
        told.to_string().into_bytes()
    }

    pub(super) fn session_start(&self, round: usize) -> Vec<u8> {
        self.captured_payload(EventName::SessionStart, None, &format!("session-{round:06}"))
            .to_string()
            .into_bytes()
    }

    pub(super) fn session_end(&self, round: usize) -> Vec<u8> {
        self.captured_payload(EventName::SessionEnd, None, &format!("session-{round:06}"))
            .to_string()
            .into_bytes()
    }
}

/// Renames the tests of an output, so that each round has its own.
fn in_round(output: &str, round: usize) -> String {
    output.replace("test_shop", &format!("test_{}", number_in_letters(round)))
}

/// Returns a name for a number, in letters, because signatures normalise digits.
fn number_in_letters(mut number: usize) -> String {
    let mut name = String::new();
    for _ in 0..5 {
        name.push(char::from(b'a' + u8::try_from(number % 26).unwrap_or_default()));
        number /= 26;
    }
    name
}

/// Returns lines of a file or of a listing, with a total of about `size` characters.
fn generated_lines(size: usize) -> String {
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

/// The tests that fail in the red run.
const FAILING_TESTS: [&str; 3] = [
    "tests/test_shop.py::TestShop::test_empty",
    "tests/test_shop.py::test_discount[10-90]",
    "tests/test_shop.py::test_discount[50-50]",
];

/// Returns a verbose green run of the tests that failed, extended by similar tests to just below the length at which the
/// client cuts.
fn green_run_output(text: &str) -> Result<String> {
    let is_case = |line: &&str| line.contains(" PASSED ");
    let case = text.lines().find(is_case).context("no test passed")?;
    let size: usize = text.lines().filter(|line| !is_case(line)).map(|line| line.len() + 1).sum();
    // Names of a later round are longer.
    let count = (MAX_OUTPUT_CHARS - size - 400) / (case.len() + 6);
    let mut green = String::new();
    for line in text.lines() {
        if line == case {
            for test in FAILING_TESTS {
                let _ = writeln!(green, "{test} PASSED");
            }
            for number in FAILING_TESTS.len()..count {
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
