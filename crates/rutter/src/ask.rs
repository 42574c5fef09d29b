//! Asks the user for values that the command line lacks: with questions on a terminal, or with a form in the user's
//! editor.

use std::io::{Read as _, Write as _};
use std::process::Command;

use crate::environment::Environment;
use crate::ui::{Ui, first_line};
use crate::{CommandError, CommandResult};

/// A question for one missing value of a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question {
    /// Name of the command-line option that supplies the same value.
    pub(crate) option: &'static str,
    /// Text of the question.
    pub(crate) text: &'static str,
    /// Allowed answers. Empty if the answer is free text.
    pub(crate) choices: &'static [&'static str],
}

impl Question {
    pub(crate) const fn new(option: &'static str, text: &'static str) -> Self {
        Self { option, text, choices: &[] }
    }

    pub(crate) const fn with_choices(
        option: &'static str,
        text: &'static str,
        choices: &'static [&'static str],
    ) -> Self {
        Self { option, text, choices }
    }
}

/// Returns the user's answers, in the order of the questions.
pub(crate) fn ask_all(
    questions: &[Question],
    editor: bool,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult<Vec<String>> {
    if questions.is_empty() {
        return Ok(Vec::new());
    }
    if editor {
        return ask_in_editor(questions, env);
    }
    if !ui.terminal {
        let missing: Vec<String> =
            questions.iter().map(|question| format!("--{}", question.option)).collect();
        return Err(CommandError::Usage(format!(
            "missing: {}; give these options, or run the command on a terminal, which asks for \
             them",
            missing.join(", ")
        )));
    }
    questions.iter().map(|question| ask_one(question, ui)).collect()
}

fn ask_one(question: &Question, ui: &mut Ui<'_>) -> CommandResult<String> {
    loop {
        if question.choices.is_empty() {
            write!(ui.err, "{}: ", question.text)?;
        } else {
            write!(ui.err, "{} ({}): ", question.text, question.choices.join(", "))?;
        }
        ui.err.flush()?;
        let Some(answer) = ui.read_line()? else {
            return Err(CommandError::Refused("cancelled; nothing was changed".to_owned()));
        };
        let answer = answer.trim();
        if answer.is_empty() {
            writeln!(ui.err, "Type an answer, or press Ctrl-D to cancel.")?;
        } else if question.choices.is_empty() || question.choices.contains(&answer) {
            return Ok(answer.to_owned());
        } else {
            let meant = nearest_choice(answer, question.choices);
            let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
            writeln!(ui.err, "`{}` is not one of the choices{meant}", first_line(answer))?;
        }
    }
}

/// Returns the choice that begins or ends like the answer.
fn nearest_choice(answer: &str, choices: &'static [&'static str]) -> Option<&'static str> {
    let answer = answer.to_lowercase().replace([' ', '_'], "-");
    let start = answer.get(..3)?;
    choices.iter().find(|choice| choice.starts_with(start) || choice.ends_with(&answer)).copied()
}

/// Asks for one of the choices. Returns None if the input ends without an answer.
pub(crate) fn ask_choice(
    question: &str,
    choices: &[&'static str],
    default: &'static str,
    ui: &mut Ui<'_>,
) -> CommandResult<Option<&'static str>> {
    loop {
        write!(ui.err, "{question} ({}) [{default}]: ", choices.join(", "))?;
        ui.err.flush()?;
        let Some(answer) = ui.read_line()? else {
            writeln!(ui.err)?;
            return Ok(None);
        };
        let answer = answer.trim();
        if answer.is_empty() {
            return Ok(Some(default));
        }
        if let Some(chosen) = choices.iter().find(|choice| **choice == answer.to_lowercase()) {
            return Ok(Some(chosen));
        }
        writeln!(ui.err, "`{}` is not one of the choices.", first_line(answer))?;
    }
}

/// Returns true if the user answers yes. The end of the input and any other answer count as no.
pub(crate) fn confirm(question: &str, ui: &mut Ui<'_>) -> CommandResult<bool> {
    write!(ui.err, "{question} [y/N] ")?;
    ui.err.flush()?;
    let answer = ui.read_line()?.unwrap_or_default();
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

const FORM_INTRODUCTION: &str = "<!-- Write each answer below its heading line, then save and \
                                 close. An empty answer changes nothing. -->";

/// Returns the heading line above an answer. An HTML comment is unlikely to be typed by accident, so any other line
/// belongs to the answer.
fn answer_heading(question: &Question) -> String {
    let choices = if question.choices.is_empty() {
        String::new()
    } else {
        format!(" One of: {}.", question.choices.join(", "))
    };
    format!("<!-- {}: {}{choices} -->", question.option, question.text)
}

/// Collects all answers in one file, with a heading for each question.
fn ask_in_editor(questions: &[Question], env: &Environment) -> CommandResult<Vec<String>> {
    let headings: Vec<String> = questions.iter().map(answer_heading).collect();
    let form = format!("{FORM_INTRODUCTION}\n\n{}\n\n", headings.join("\n\n\n"));
    let written = edit_text(&form, env)?;
    let answers = parse_answers(&headings, &written);
    for (question, answer) in questions.iter().zip(&answers) {
        if answer.is_empty() {
            return Err(CommandError::Refused(format!(
                "`{}` is empty; nothing was changed",
                question.option
            )));
        }
    }
    Ok(answers)
}

fn parse_answers(headings: &[String], written: &str) -> Vec<String> {
    headings
        .iter()
        .map(|heading| {
            let lines = written.lines().skip_while(|line| line != heading).skip(1);
            let answer: Vec<&str> =
                lines.take_while(|line| !headings.iter().any(|other| other == line)).collect();
            answer.join("\n").trim().to_owned()
        })
        .collect()
}

/// Opens a text in the user's editor and returns the edited text.
pub(crate) fn edit_text(text: &str, env: &Environment) -> CommandResult<String> {
    let Some(editor) = &env.editor else {
        return Err(CommandError::Usage(
            "no editor is set; set EDITOR, or give the text as an option".to_owned(),
        ));
    };
    // The temporary file is readable by its owner only and is removed on return: the text may hold secrets.
    let mut file = tempfile::Builder::new().prefix("rutter-").suffix(".md").tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    // The shell runs the editor because the variable may hold options. The path is passed as a separate argument.
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{editor} \"$1\""))
        .arg("sh")
        .arg(file.path())
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => {
            return Err(CommandError::Refused(format!(
                "the editor ended with {status}; nothing was changed"
            )));
        }
        Err(error) => {
            return Err(CommandError::Refused(format!(
                "could not start the editor: {error}; check the variable EDITOR"
            )));
        }
    }
    let mut written = String::new();
    // Reopened by name: editors write a new file and rename it.
    std::fs::File::open(file.path())?.read_to_string(&mut written).map_err(|error| {
        CommandError::Refused(format!(
            "could not read the file that the editor saved: {error}; nothing was changed"
        ))
    })?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_answers_below_headings() {
        let headings = [
            Question::new("goal", "What?"),
            Question::with_choices("domain", "Which?", &["a", "b"]),
        ]
        .map(|q| answer_heading(&q));
        let written = format!(
            "{FORM_INTRODUCTION}\n\n{}\n\n# a goal\n## of two lines\n\n{}\n\n",
            headings[0], headings[1]
        );
        assert_eq!(parse_answers(&headings, &written), ["# a goal\n## of two lines", ""]);
        assert_eq!(parse_answers(&headings, "everything was deleted"), ["", ""]);
    }
}
