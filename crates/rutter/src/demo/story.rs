//! The script of the demo: a rounding bug, a wrong hypothesis about it, and the same bug three days later.
//!
//! The script contains only the actions of the user and the agent. The agent reads the output of the real hooks and of
//! the real `rutter ghap` command; each step checks that output.

use rutter_contract::EventName;
use rutter_memory::quote::PathLine as _;
use serde_json::{Value, json};

use super::line::{Actor, DemoLine, StyledText, TextStyle};
use super::project::{DemoEvent, DemoHookResult, DemoProject, HookTimings};
use super::screen::DemoScreen;
use crate::{CommandError, CommandResult};

const FIRST_SESSION_ID: &str = "0e7c5ab2-41d6-4f0b-9c53-6a1f2d8b7e10";
const SECOND_SESSION_ID: &str = "c94d1f66-8a2e-47b9-b1d0-35e86f0a92c4";

const SOURCE_FILE: &str = "price.py";
const CUT: &str = "int(cents * (100 - percent) / 100)";
const ROUNDED: &str = "round(cents * (100 - percent) / 100)";
const EXACT: &str = "(cents * (100 - percent) + 50) // 100";

const TEST_COMMAND: &str = "pytest -q";
/// Output of pytest 9.2 for `ROUNDED`, after the prefix of the client.
const FAILING_OUTPUT: &str = "Exit code 1
.F                                                                       [100%]
=================================== FAILURES ===================================
___________________________ test_half_a_cent_goes_up ___________________________

    def test_half_a_cent_goes_up():
>       assert discounted(850, 15) == 723
E       assert 722 == 723
E        +  where 722 = discounted(850, 15)

test_price.py:9: AssertionError
=========================== short test summary info ============================
FAILED test_price.py::test_half_a_cent_goes_up - assert 722 == 723
1 failed, 1 passed in 0.02s";
/// Output of pytest for `EXACT`.
const PASSING_OUTPUT: &str =
    "..                                                                       [100%]
2 passed in 0.01s";
const TEST_FILE: &str = "test_price.py";
const TEST_SOURCE: &str = "from price import discounted


def test_a_quarter_off():
    assert discounted(2000, 25) == 1500


def test_half_a_cent_goes_up():
    assert discounted(850, 15) == 723
";

const GHAP_START_ARGS: [&str; 14] = [
    "ghap",
    "start",
    "--domain",
    "debugging",
    "--strategy",
    "read-the-error",
    "--goal",
    "discounts are right to the cent",
    "--hypothesis",
    "int() drops half a cent, round() takes it up",
    "--action",
    "round() in place of int(), in price.py",
    "--prediction",
    "`pytest -q` passes",
];
const GHAP_RESOLVE_ARGS: [&str; 14] = [
    "ghap",
    "resolve",
    "--status",
    "falsified",
    "--result",
    "722 in place of 723",
    "--surprise",
    "round(722.5) is 722",
    "--root-cause-category",
    "wrong-assumption",
    "--root-cause",
    "round() takes a half to the even side",
    "--takeaway",
    "Round money in whole cents: (x + 50) // 100. round() takes half a cent to the even side",
];

fn source_text(expression: &str) -> String {
    format!("def discounted(cents, percent):\n    return {expression}\n")
}

/// The expected output of the hooks of a step.
enum ExpectedOutput {
    /// No hook prints anything.
    Silence,
    /// The last hook prints all of these texts, and the others print nothing.
    Words(&'static [&'static str]),
}

impl ExpectedOutput {
    /// Fails if the hooks do not match the expectation. `step` names the step in the message.
    fn check(&self, step: &str, heard: &[DemoHookResult]) -> CommandResult {
        let wrong = |hook: &DemoHookResult, expected: &str| {
            let said = match hook.read.as_str() {
                "" => "it said nothing".to_owned(),
                read => format!("it said: {read}"),
            };
            Err(CommandError::Refused(format!(
                "the demo stopped at {step}: {} should {expected}, but {said}\nTry `rutter \
                 demo` again on an idle machine. If it stops there again, please report this \
                 message as a bug in rutter.",
                hook.event
            )))
        };
        let words: &[&str] = match self {
            Self::Silence => &[],
            Self::Words(words) => words,
        };
        for (at, hook) in heard.iter().enumerate() {
            let speaks = !words.is_empty() && at + 1 == heard.len();
            if !speaks && !hook.read.is_empty() {
                return wrong(hook, "say nothing");
            }
            if speaks && let Some(word) = words.iter().find(|word| !hook.read.contains(**word)) {
                return wrong(hook, &format!("say \"{word}\""));
            }
        }
        Ok(())
    }
}

/// Plays both sessions.
pub(super) fn play(stage: &mut DemoProject, screen: &mut DemoScreen<'_>) -> CommandResult {
    screen.show(&[
        DemoLine::new(TextStyle::Strong, "rutter demo"),
        DemoLine::new(
            TextStyle::Plain,
            "Two sessions of a coding agent. The agent and its test runs are scripted; the hooks \
             are not: each is a `rutter hook` process, started as Claude Code does.",
        ),
    ])?;
    let mut scene = DemoScript { stage, screen, read: Vec::new() };
    scene.play_first_session()?;
    scene.play_second_session()
}

struct DemoScript<'a, 'b> {
    stage: &'a mut DemoProject,
    screen: &'a mut DemoScreen<'b>,
    /// Paragraphs that were already shown, and are abbreviated when repeated.
    read: Vec<String>,
}

impl DemoScript<'_, '_> {
    fn play_first_session(&mut self) -> CommandResult {
        self.stage.session = FIRST_SESSION_ID;
        self.write_file(SOURCE_FILE, &source_text(CUT))?;
        self.write_file(TEST_FILE, TEST_SOURCE)?;
        self.screen.show(&[DemoLine::heading("Session 1")])?;
        self.start_session(&["rutter ghap start"])?;
        self.submit_prompt(
            "Some discounts are a cent too low. Fix it.",
            &ExpectedOutput::Silence,
            None,
        )?;
        self.type_command(
            "rutter ghap start",
            &GHAP_START_ARGS,
            &["goal", "hypothesis", "action", "prediction"],
            "Goal, hypothesis, action, prediction. Runs are compared with the prediction.",
        )?;
        self.edit_file(CUT, ROUNDED)?;
        self.run_failing_tests(&["`pytest -q` failed in", "That contradicts it"])?;
        let printed = self.type_command(
            "rutter ghap resolve --status falsified",
            &GHAP_RESOLVE_ARGS,
            &["surprise", "root cause", "takeaway", "tier"],
            "Gold: a run is the evidence, not the agent's word.",
        )?;
        if !printed.contains("gold, confirmed by a run") {
            return Err(CommandError::Refused(format!(
                "the demo stopped at `rutter ghap resolve`: the run should be its evidence, but \
                 it printed:\n{printed}"
            )));
        }
        self.edit_file(ROUNDED, EXACT)?;
        self.run_passing_tests()?;
        self.end_session()
    }

    fn play_second_session(&mut self) -> CommandResult {
        self.stage.let_days_pass()?;
        self.stage.session = SECOND_SESSION_ID;
        self.screen.show(&[
            DemoLine::heading("Session 2, three days later"),
            DemoLine::new(
                TextStyle::Faint,
                "No days have passed: the demo moved every time in its memory back.",
            ),
        ])?;
        self.start_session(&["passed (2 tests) 3 days ago"])?;
        self.submit_prompt(
            "Make the settings page remember dark mode.",
            &ExpectedOutput::Silence,
            Some("Nothing in the memory is relevant, so the hook prints nothing."),
        )?;
        self.submit_prompt(
            "Invoices need VAT, rounded to whole cents.",
            &ExpectedOutput::Words(&[
                "Tried and falsified 3 days ago",
                "Lesson: `Round money in whole cents",
            ]),
            Some("The same trap in other words. The agent has the lesson before it writes code."),
        )?;
        self.write_file(SOURCE_FILE, &source_text(ROUNDED))?;
        self.screen.show(&[DemoLine::new(
            TextStyle::Faint,
            "Meanwhile a merge brought round() back into price.py.",
        )])?;
        self.run_failing_tests(&[
            "Recorded data: this failure was fixed before.",
            "> +return (cents * (100 - percent) + 50) // 100",
            "3 days ago. This change is not in the file now.",
        ])
    }

    fn write_file(&self, name: &str, text: &str) -> CommandResult {
        self.stage.write_project_file(name, text).map_err(|error| {
            CommandError::Refused(format!(
                "cannot write {}: {error}",
                self.stage.project_file(name).to_line()
            ))
        })
    }

    fn start_session(&mut self, words: &'static [&'static str]) -> CommandResult {
        let heard = self.run_hook(EventName::SessionStart, None, json!({ "source": "startup" }))?;
        self.show_step(
            Actor::Client,
            "a session starts",
            &[],
            &[heard],
            &ExpectedOutput::Words(words),
            None,
        )
    }

    fn submit_prompt(
        &mut self,
        text: &str,
        expect: &ExpectedOutput,
        aside: Option<&str>,
    ) -> CommandResult {
        let heard = self.run_hook(EventName::UserPromptSubmit, None, json!({ "prompt": text }))?;
        self.show_step(Actor::User, text, &[], &[heard], expect, aside)
    }

    fn end_session(&mut self) -> CommandResult {
        let stop =
            self.run_hook(EventName::Stop, None, json!({ "last_assistant_message": "Fixed." }))?;
        let end = self.run_hook(EventName::SessionEnd, None, json!({}))?;
        self.show_step(
            Actor::Client,
            "the session ends",
            &[],
            &[stop, end],
            &ExpectedOutput::Silence,
            None,
        )
    }

    /// Runs a rutter command and returns its output. The screen shows the output lines with these names.
    fn type_command(
        &mut self,
        shown: &str,
        args: &[&str],
        names: &[&str],
        aside: &str,
    ) -> CommandResult<String> {
        let input = json!({ "command": format!("rutter {}", shell_line(args)) });
        let before = self.run_pre_tool_hook("Bash", &input)?;
        let printed = self.stage.run_rutter(args, "")?;
        let after = self.run_hook(
            EventName::PostToolUse,
            Some("Bash"),
            json!({ "tool_input": input, "tool_response": tool_response(printed.trim_end()) }),
        )?;
        let lines: Vec<DemoLine> = names
            .iter()
            .filter_map(|name| {
                let mut lines = printed.lines().map(str::trim_start);
                let text = lines.find_map(|line| line.strip_prefix(name))?;
                Some(DemoLine::named_field(name, TextStyle::Plain, text.trim_start()))
            })
            .collect();
        self.show_step(
            Actor::Agent,
            shown,
            &lines,
            &[before, after],
            &ExpectedOutput::Silence,
            Some(aside),
        )?;
        Ok(printed)
    }

    fn edit_file(&mut self, old: &str, new: &str) -> CommandResult {
        let path = self.stage.project_file(SOURCE_FILE);
        let input = json!({ "file_path": path, "old_string": old, "new_string": new, "replace_all": false });
        let before = self.run_pre_tool_hook("Edit", &input)?;
        self.write_file(SOURCE_FILE, &source_text(new))?;
        let (removed, added) = (format!("-    return {old}"), format!("+    return {new}"));
        let response = json!({
            "filePath": path, "oldString": old, "newString": new, "originalFile": source_text(old),
            "structuredPatch": [{
                "oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2,
                "lines": [" def discounted(cents, percent):", removed, added],
            }],
            "userModified": false, "replaceAll": false,
        });
        let fields = json!({ "tool_input": input, "tool_response": response });
        let after = self.run_hook(EventName::PostToolUse, Some("Edit"), fields)?;
        let lines = [
            DemoLine::detail(TextStyle::Bad, &format!("- return {old}")),
            DemoLine::detail(TextStyle::Good, &format!("+ return {new}")),
        ];
        let what = format!("edits {SOURCE_FILE}");
        self.show_step(
            Actor::Agent,
            &what,
            &lines,
            &[before, after],
            &ExpectedOutput::Silence,
            None,
        )
    }

    fn run_failing_tests(&mut self, words: &'static [&'static str]) -> CommandResult {
        let input = json!({ "command": TEST_COMMAND, "description": "Run the tests" });
        let before = self.run_pre_tool_hook("Bash", &input)?;
        let fields = json!({ "tool_input": input, "error": FAILING_OUTPUT });
        let after = self.run_hook(EventName::PostToolUseFailure, Some("Bash"), fields)?;
        let failures = FAILING_OUTPUT.lines().filter(|line| line.starts_with("FAILED"));
        let lines: Vec<DemoLine> =
            failures.map(|line| DemoLine::detail(TextStyle::Bad, line)).collect();
        self.show_step(
            Actor::Agent,
            TEST_COMMAND,
            &lines,
            &[before, after],
            &ExpectedOutput::Words(words),
            None,
        )
    }

    fn run_passing_tests(&mut self) -> CommandResult {
        let input = json!({ "command": TEST_COMMAND, "description": "Run the tests" });
        let before = self.run_pre_tool_hook("Bash", &input)?;
        let fields = json!({ "tool_input": input, "tool_response": tool_response(PASSING_OUTPUT) });
        let after = self.run_hook(EventName::PostToolUse, Some("Bash"), fields)?;
        let results = PASSING_OUTPUT.lines().skip(1);
        let lines: Vec<DemoLine> =
            results.map(|line| DemoLine::detail(TextStyle::Good, line)).collect();
        self.show_step(
            Actor::Agent,
            TEST_COMMAND,
            &lines,
            &[before, after],
            &ExpectedOutput::Silence,
            None,
        )
    }

    fn run_pre_tool_hook(
        &mut self,
        tool: &'static str,
        input: &Value,
    ) -> CommandResult<DemoHookResult> {
        self.run_hook(EventName::PreToolUse, Some(tool), json!({ "tool_input": input }))
    }

    fn run_hook(
        &mut self,
        event: EventName,
        tool: Option<&'static str>,
        fields: Value,
    ) -> CommandResult<DemoHookResult> {
        self.stage.run_hook(&DemoEvent { event, tool, fields })
    }

    /// Shows an action and the output of its hooks, and checks the expectation.
    fn show_step(
        &mut self,
        who: Actor,
        what: &str,
        details: &[DemoLine],
        heard: &[DemoHookResult],
        expect: &ExpectedOutput,
        aside: Option<&str>,
    ) -> CommandResult {
        let mut block = vec![DemoLine::action(who, vec![(TextStyle::Plain, what.to_owned())])];
        block.extend_from_slice(details);
        block.push(DemoLine::action(Actor::Rutter, hook_summary(heard)));
        for hook in heard {
            block.extend(self.agent_lines(&hook.read));
        }
        let held = expect.check(&format!("\"{what}\""), heard);
        if held.is_ok() {
            block.extend(aside.map(|text| DemoLine::detail(TextStyle::Faint, text)));
        }
        self.screen.show(&block)?;
        held
    }

    /// Returns the text that the agent reads, by paragraphs. Paragraphs that were shown before are abbreviated.
    fn agent_lines(&mut self, text: &str) -> Vec<DemoLine> {
        let mut lines = Vec::new();
        for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
            if !lines.is_empty() {
                lines.push(DemoLine::agent_text(""));
            }
            if self.read.iter().any(|read| read == paragraph) {
                let first = paragraph.split_inclusive(". ").next().unwrap_or(paragraph);
                lines.push(DemoLine::agent_text(&format!("{} […]", first.trim_end())));
                continue;
            }
            self.read.push(paragraph.to_owned());
            lines.extend(paragraph.lines().map(DemoLine::agent_text));
        }
        lines
    }
}

/// Lists the hooks that ran, with their durations.
fn hook_summary(heard: &[DemoHookResult]) -> Vec<StyledText> {
    let mut pieces = Vec::new();
    for hook in heard {
        if !pieces.is_empty() {
            pieces.push((TextStyle::Faint, " · ".to_owned()));
        }
        let style = if hook.read.is_empty() { TextStyle::Faint } else { TextStyle::Rutter };
        pieces.push((style, hook.event.to_string()));
        pieces.push((TextStyle::Faint, format!(" {}", format_millis(hook.took))));
    }
    if heard.iter().all(|hook| hook.read.is_empty()) {
        pieces.push((TextStyle::Faint, " · silent".to_owned()));
    }
    pieces
}

fn format_millis(took: std::time::Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1000.0)
}

/// Returns the client's `tool_response` for a successful command.
fn tool_response(stdout: &str) -> Value {
    json!({
        "stdout": stdout, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false,
    })
}

/// Returns the arguments as they would be typed in a shell.
fn shell_line(args: &[&str]) -> String {
    let plain = |arg: &str| arg.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '-');
    let words: Vec<String> = args
        .iter()
        .map(|arg| if plain(arg) { (*arg).to_owned() } else { format!("'{arg}'") })
        .collect();
    words.join(" ")
}

/// Shows the summary, and the commands for an installation.
pub(super) fn show_summary(timings: &HookTimings, screen: &mut DemoScreen<'_>) -> CommandResult {
    let mut took = timings.took.clone();
    took.sort_unstable();
    let (Some(slowest), Some(median)) = (took.last(), took.get(took.len() / 2)) else {
        return Err(CommandError::Refused(
            "the demo ran no hook; this is a bug in rutter".to_owned(),
        ));
    };
    screen.show(&[
        DemoLine::heading("In short"),
        DemoLine::new(
            TextStyle::Plain,
            &format!(
                "{} hook processes ran, {} printed context: median {}, slowest {}.",
                took.len(),
                timings.spoke,
                format_millis(*median),
                format_millis(*slowest)
            ),
        ),
        DemoLine::new(
            TextStyle::Plain,
            "The project and its memory were in a temporary folder, which is deleted.",
        ),
    ])?;
    screen.show(&[
        DemoLine::new(TextStyle::Plain, "In a project of your own:"),
        command_line("cargo install --path crates/rutter", "from a checkout of rutter"),
        command_line("rutter init", "adds the hooks, and shows what it changes"),
        command_line("rutter uninstall", "removes them and restores the file byte for byte"),
    ])?;
    Ok(())
}

/// Returns a line with a command and its description.
fn command_line(typed: &str, does: &str) -> DemoLine {
    let mut line = DemoLine::new(TextStyle::Strong, &format!("  {typed:<36}"));
    line.text.push((TextStyle::Faint, does.to_owned()));
    line
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn hook_result(read: &str) -> DemoHookResult {
        DemoHookResult {
            event: EventName::UserPromptSubmit,
            took: Duration::from_millis(3),
            read: read.to_owned(),
        }
    }

    #[test]
    fn missing_hook_output_fails() {
        let expect = ExpectedOutput::Words(&["the lesson"]);
        assert!(expect.check("x", &[hook_result(""), hook_result("here is the lesson")]).is_ok());
        let failure = expect.check("\"Add VAT\"", &[hook_result("")]).unwrap_err();
        assert_eq!(failure.exit_code(), 1);
        insta::assert_snapshot!(failure, @r#"
        the demo stopped at "Add VAT": UserPromptSubmit should say "the lesson", but it said nothing
        Try `rutter demo` again on an idle machine. If it stops there again, please report this message as a bug in rutter.
        "#);
        for wrong in ["another lesson", ""] {
            assert!(expect.check("x", &[hook_result(wrong)]).is_err(), "{wrong}");
        }
        assert!(
            expect.check("x", &[hook_result("the lesson"), hook_result("the lesson")]).is_err()
        );
    }

    #[test]
    fn unexpected_hook_output_fails() {
        assert!(ExpectedOutput::Silence.check("x", &[hook_result(""), hook_result("")]).is_ok());
        assert!(ExpectedOutput::Silence.check("x", &[hook_result("x"), hook_result("")]).is_err());
    }
}
