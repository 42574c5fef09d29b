//! The script of the demo: a rounding bug, a wrong hypothesis about it, and the same bug three days later.
//!
//! The script contains only the actions of the user and the agent. The agent reads the output of the real hooks and of
//! the real `rutter ghap` command; each step checks that output.

use rutter_contract::EventName;
use serde_json::{Value, json};

use super::block::{Ink, Line, Piece, Who};
use super::screen::Screen;
use super::stage::{Call, Heard, Stage, Timings};
use crate::Failure;

const FIRST: &str = "0e7c5ab2-41d6-4f0b-9c53-6a1f2d8b7e10";
const SECOND: &str = "c94d1f66-8a2e-47b9-b1d0-35e86f0a92c4";

const FILE: &str = "price.py";
const CUT: &str = "int(cents * (100 - percent) / 100)";
const ROUNDED: &str = "round(cents * (100 - percent) / 100)";
const EXACT: &str = "(cents * (100 - percent) + 50) // 100";

const RUN: &str = "pytest -q";
/// Output of pytest 9.2 for `ROUNDED`, after the prefix of the client.
const RED: &str = "Exit code 1
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
const GREEN: &str =
    "..                                                                       [100%]
2 passed in 0.01s";
const TEST_FILE: &str = "test_price.py";
const TEST: &str = "from price import discounted


def test_a_quarter_off():
    assert discounted(2000, 25) == 1500


def test_half_a_cent_goes_up():
    assert discounted(850, 15) == 723
";

const START: [&str; 14] = [
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
const RESOLVE: [&str; 14] = [
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

fn body(expression: &str) -> String {
    format!("def discounted(cents, percent):\n    return {expression}\n")
}

/// The expected output of the hooks of a step.
enum Expect {
    /// No hook prints anything.
    Silence,
    /// The last hook prints all of these texts, and the others print nothing.
    Words(&'static [&'static str]),
}

impl Expect {
    /// Fails if the hooks do not match the expectation. `step` names the step in the message.
    fn check(&self, step: &str, heard: &[Heard]) -> Result<(), Failure> {
        let wrong = |hook: &Heard, expected: &str| {
            let said = match hook.read.as_str() {
                "" => "it said nothing".to_owned(),
                read => format!("it said: {read}"),
            };
            Err(Failure::Refused(format!(
                "the demo stopped at {step}: {} was to {expected}, and {said}\nTry `rutter demo` once more on a quiet \
                 machine. If it stops there again, that is a bug in rutter: please report it with this message.",
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
pub(super) fn play(stage: &mut Stage, screen: &mut Screen<'_>) -> Result<(), Failure> {
    screen.show(&[
        Line::new(Ink::Strong, "rutter demo"),
        Line::new(
            Ink::Plain,
            "Two sessions of a coding agent. The agent and its test runs are scripted; the hooks \
             are not: each is a `rutter hook` process, started as Claude Code does.",
        ),
    ])?;
    let mut scene = Scene { stage, screen, read: Vec::new() };
    scene.first()?;
    scene.second()
}

struct Scene<'a, 'b> {
    stage: &'a mut Stage,
    screen: &'a mut Screen<'b>,
    /// Paragraphs that were already shown, and are abbreviated when repeated.
    read: Vec<String>,
}

impl Scene<'_, '_> {
    fn first(&mut self) -> Result<(), Failure> {
        self.stage.session = FIRST;
        self.put(FILE, &body(CUT))?;
        self.put(TEST_FILE, TEST)?;
        self.screen.show(&[Line::heading("Session 1")])?;
        self.starts(&["rutter ghap start"])?;
        self.prompt("Some discounts are a cent too low. Fix it.", &Expect::Silence, None)?;
        self.types(
            "rutter ghap start",
            &START,
            &["goal", "hypothesis", "action", "prediction"],
            "What it wants, believes, does and predicts. Runs are held against it.",
        )?;
        self.edits(CUT, ROUNDED)?;
        self.runs_red(&["`pytest -q` failed in", "That contradicts it"])?;
        let printed = self.types(
            "rutter ghap resolve --status falsified",
            &RESOLVE,
            &["surprise", "root cause", "takeaway", "tier"],
            "Gold: a run is the evidence, not the agent's word.",
        )?;
        if !printed.contains("gold, a run shows it") {
            return Err(Failure::Refused(format!(
                "the demo stopped at `rutter ghap resolve`: the run was to be its evidence, and it printed:\n{printed}"
            )));
        }
        self.edits(ROUNDED, EXACT)?;
        self.runs_green()?;
        self.ends()
    }

    fn second(&mut self) -> Result<(), Failure> {
        self.stage.let_days_pass()?;
        self.stage.session = SECOND;
        self.screen.show(&[
            Line::heading("Session 2, three days later"),
            Line::new(
                Ink::Faint,
                "No days have passed: the demo has set back every time in its memory.",
            ),
        ])?;
        self.starts(&["passed (2 tests) 3 days ago"])?;
        self.prompt(
            "Make the settings page remember dark mode.",
            &Expect::Silence,
            Some("Nothing it knows bears on this. Silence is an answer."),
        )?;
        self.prompt(
            "Invoices need VAT, rounded to whole cents.",
            &Expect::Words(&[
                "Tried and falsified 3 days ago",
                "Lesson: `Round money in whole cents",
            ]),
            Some("The same trap in other words. The lesson is there before the code is."),
        )?;
        self.put(FILE, &body(ROUNDED))?;
        self.screen.show(&[Line::new(
            Ink::Faint,
            "Meanwhile a merge has brought round() back into price.py.",
        )])?;
        self.runs_red(&[
            "Recorded data: this failure was fixed before.",
            "> +return (cents * (100 - percent) + 50) // 100",
            "3 days ago. This change is not in the file now.",
        ])
    }

    fn put(&self, name: &str, text: &str) -> Result<(), Failure> {
        self.stage.put(name, text).map_err(|error| {
            Failure::Refused(format!("cannot write {}: {error}", self.stage.file(name).display()))
        })
    }

    fn starts(&mut self, words: &'static [&'static str]) -> Result<(), Failure> {
        let heard = self.hook(EventName::SessionStart, None, json!({ "source": "startup" }))?;
        self.tell(Who::Client, "a session starts", &[], &[heard], &Expect::Words(words), None)
    }

    fn prompt(&mut self, text: &str, expect: &Expect, aside: Option<&str>) -> Result<(), Failure> {
        let heard = self.hook(EventName::UserPromptSubmit, None, json!({ "prompt": text }))?;
        self.tell(Who::User, text, &[], &[heard], expect, aside)
    }

    fn ends(&mut self) -> Result<(), Failure> {
        let stop =
            self.hook(EventName::Stop, None, json!({ "last_assistant_message": "Fixed." }))?;
        let end = self.hook(EventName::SessionEnd, None, json!({}))?;
        self.tell(Who::Client, "the session ends", &[], &[stop, end], &Expect::Silence, None)
    }

    /// Runs a rutter command and returns its output. The screen shows the output lines with these names.
    fn types(
        &mut self,
        shown: &str,
        args: &[&str],
        names: &[&str],
        aside: &str,
    ) -> Result<String, Failure> {
        let input = json!({ "command": format!("rutter {}", typed(args)) });
        let before = self.before("Bash", &input)?;
        let printed = self.stage.rutter(args, "")?;
        let after = self.hook(
            EventName::PostToolUse,
            Some("Bash"),
            json!({ "tool_input": input, "tool_response": response(printed.trim_end()) }),
        )?;
        let lines: Vec<Line> = names
            .iter()
            .filter_map(|name| {
                let mut lines = printed.lines().map(str::trim_start);
                let text = lines.find_map(|line| line.strip_prefix(name))?;
                Some(Line::named(name, Ink::Plain, text.trim_start()))
            })
            .collect();
        self.tell(Who::Agent, shown, &lines, &[before, after], &Expect::Silence, Some(aside))?;
        Ok(printed)
    }

    fn edits(&mut self, old: &str, new: &str) -> Result<(), Failure> {
        let path = self.stage.file(FILE);
        let input = json!({ "file_path": path, "old_string": old, "new_string": new, "replace_all": false });
        let before = self.before("Edit", &input)?;
        self.put(FILE, &body(new))?;
        let (removed, added) = (format!("-    return {old}"), format!("+    return {new}"));
        let response = json!({
            "filePath": path, "oldString": old, "newString": new, "originalFile": body(old),
            "structuredPatch": [{
                "oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2,
                "lines": [" def discounted(cents, percent):", removed, added],
            }],
            "userModified": false, "replaceAll": false,
        });
        let fields = json!({ "tool_input": input, "tool_response": response });
        let after = self.hook(EventName::PostToolUse, Some("Edit"), fields)?;
        let lines = [
            Line::detail(Ink::Bad, &format!("- return {old}")),
            Line::detail(Ink::Good, &format!("+ return {new}")),
        ];
        let what = format!("edits {FILE}");
        self.tell(Who::Agent, &what, &lines, &[before, after], &Expect::Silence, None)
    }

    fn runs_red(&mut self, words: &'static [&'static str]) -> Result<(), Failure> {
        let input = json!({ "command": RUN, "description": "Run the tests" });
        let before = self.before("Bash", &input)?;
        let fields = json!({ "tool_input": input, "error": RED });
        let after = self.hook(EventName::PostToolUseFailure, Some("Bash"), fields)?;
        let told = RED.lines().filter(|line| line.starts_with("FAILED"));
        let lines: Vec<Line> = told.map(|line| Line::detail(Ink::Bad, line)).collect();
        self.tell(Who::Agent, RUN, &lines, &[before, after], &Expect::Words(words), None)
    }

    fn runs_green(&mut self) -> Result<(), Failure> {
        let input = json!({ "command": RUN, "description": "Run the tests" });
        let before = self.before("Bash", &input)?;
        let fields = json!({ "tool_input": input, "tool_response": response(GREEN) });
        let after = self.hook(EventName::PostToolUse, Some("Bash"), fields)?;
        let told = GREEN.lines().skip(1);
        let lines: Vec<Line> = told.map(|line| Line::detail(Ink::Good, line)).collect();
        self.tell(Who::Agent, RUN, &lines, &[before, after], &Expect::Silence, None)
    }

    fn before(&mut self, tool: &'static str, input: &Value) -> Result<Heard, Failure> {
        self.hook(EventName::PreToolUse, Some(tool), json!({ "tool_input": input }))
    }

    fn hook(
        &mut self,
        event: EventName,
        tool: Option<&'static str>,
        fields: Value,
    ) -> Result<Heard, Failure> {
        self.stage.hook(&Call { event, tool, fields })
    }

    /// Shows an action and the output of its hooks, and checks the expectation.
    fn tell(
        &mut self,
        who: Who,
        what: &str,
        details: &[Line],
        heard: &[Heard],
        expect: &Expect,
        aside: Option<&str>,
    ) -> Result<(), Failure> {
        let mut block = vec![Line::turn(who, vec![(Ink::Plain, what.to_owned())])];
        block.extend_from_slice(details);
        block.push(Line::turn(Who::Rutter, ran(heard)));
        for hook in heard {
            block.extend(self.reading(&hook.read));
        }
        let held = expect.check(&format!("\"{what}\""), heard);
        if held.is_ok() {
            block.extend(aside.map(|text| Line::detail(Ink::Faint, text)));
        }
        self.screen.show(&block)?;
        held
    }

    /// Returns the text that the agent reads, by paragraphs. Paragraphs that were shown before are abbreviated.
    fn reading(&mut self, text: &str) -> Vec<Line> {
        let mut lines = Vec::new();
        for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.is_empty()) {
            if !lines.is_empty() {
                lines.push(Line::read(""));
            }
            if self.read.iter().any(|read| read == paragraph) {
                let first = paragraph.split_inclusive(". ").next().unwrap_or(paragraph);
                lines.push(Line::read(&format!("{} […]", first.trim_end())));
                continue;
            }
            self.read.push(paragraph.to_owned());
            lines.extend(paragraph.lines().map(Line::read));
        }
        lines
    }
}

/// Lists the hooks that ran, with their durations.
fn ran(heard: &[Heard]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for hook in heard {
        if !pieces.is_empty() {
            pieces.push((Ink::Faint, " · ".to_owned()));
        }
        let ink = if hook.read.is_empty() { Ink::Faint } else { Ink::Rutter };
        pieces.push((ink, hook.event.to_string()));
        pieces.push((Ink::Faint, format!(" {}", millis(hook.took))));
    }
    if heard.iter().all(|hook| hook.read.is_empty()) {
        pieces.push((Ink::Faint, " · silent".to_owned()));
    }
    pieces
}

fn millis(took: std::time::Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1000.0)
}

/// Returns the client's `tool_response` for a successful command.
fn response(stdout: &str) -> Value {
    json!({
        "stdout": stdout, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false,
    })
}

/// Returns the arguments as they would be typed in a shell.
fn typed(args: &[&str]) -> String {
    let plain = |arg: &str| arg.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '-');
    let words: Vec<String> = args
        .iter()
        .map(|arg| if plain(arg) { (*arg).to_owned() } else { format!("'{arg}'") })
        .collect();
    words.join(" ")
}

/// Shows the summary, and the commands for an installation.
pub(super) fn sum_up(timings: &Timings, screen: &mut Screen<'_>) -> Result<(), Failure> {
    let mut took = timings.took.clone();
    took.sort_unstable();
    let (Some(slowest), Some(median)) = (took.last(), took.get(took.len() / 2)) else {
        return Err(Failure::Refused("the demo ran no hook; this is a bug in rutter".to_owned()));
    };
    screen.show(&[
        Line::heading("In short"),
        Line::new(
            Ink::Plain,
            &format!(
                "{} hooks ran, {} spoke. Each is a process: median {}, slowest {}.",
                took.len(),
                timings.spoke,
                millis(*median),
                millis(*slowest)
            ),
        ),
        Line::new(Ink::Plain, "Project and memory were in a temporary folder, which is gone."),
    ])?;
    screen.show(&[
        Line::new(Ink::Plain, "In a project of your own:"),
        command("cargo install --path crates/rutter", "from a checkout of rutter"),
        command("rutter init", "adds the hooks, and shows what it changes"),
        command("rutter uninstall", "takes them out again, to the byte"),
    ])?;
    Ok(())
}

/// Returns a line with a command and its description.
fn command(typed: &str, does: &str) -> Line {
    let mut line = Line::new(Ink::Strong, &format!("  {typed:<36}"));
    line.text.push((Ink::Faint, does.to_owned()));
    line
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn heard(read: &str) -> Heard {
        Heard {
            event: EventName::UserPromptSubmit,
            took: Duration::from_millis(3),
            read: read.to_owned(),
        }
    }

    #[test]
    fn a_hook_that_says_nothing_where_it_should_ends_the_demo() {
        let expect = Expect::Words(&["the lesson"]);
        assert!(expect.check("x", &[heard(""), heard("here is the lesson")]).is_ok());
        let failure = expect.check("\"Add VAT\"", &[heard("")]).unwrap_err();
        assert_eq!(failure.exit_code(), 1);
        insta::assert_snapshot!(failure, @r#"
        the demo stopped at "Add VAT": UserPromptSubmit was to say "the lesson", and it said nothing
        Try `rutter demo` once more on a quiet machine. If it stops there again, that is a bug in rutter: please report it with this message.
        "#);
        for wrong in ["another lesson", ""] {
            assert!(expect.check("x", &[heard(wrong)]).is_err(), "{wrong}");
        }
        assert!(expect.check("x", &[heard("the lesson"), heard("the lesson")]).is_err());
    }

    #[test]
    fn a_hook_that_speaks_where_it_should_not_ends_it_too() {
        assert!(Expect::Silence.check("x", &[heard(""), heard("")]).is_ok());
        assert!(Expect::Silence.check("x", &[heard("x"), heard("")]).is_err());
    }
}
