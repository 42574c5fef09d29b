//! The question of `rutter init` about notifications: how much the user sees of the text that the agent is told.

use std::path::Path;

use rutter_memory::config::keys::KEYS;
use rutter_memory::config::{ConfigMistake, Notify, SettingOrigin};
use rutter_memory::quote::PathLine as _;

use crate::environment::Environment;
use crate::ui::Ui;
use crate::{CommandError, CommandResult, ask, atomic_file};

const NOTIFY_KEY: &str = "notify";
const QUESTION: &str = "What should rutter show you: nothing, a line when the agent gets \
                        context, or also a card at the start of a session?";

/// Asks once, on a terminal, unless the configuration has the key or is broken, and writes the answer into it.
pub(super) fn ask_notify_level(env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let Some(path) = env.config_file.as_deref().filter(|_| ui.terminal) else { return Ok(()) };
    let loaded = env.load_config(None);
    let is_set = KEYS.iter().any(|key| {
        key.section.is_empty()
            && key.name == NOTIFY_KEY
            && loaded.origin(key) != SettingOrigin::Default
    });
    let is_broken = loaded.findings.iter().any(|finding| {
        matches!(finding.mistake, ConfigMistake::Unreadable | ConfigMistake::Syntax)
    });
    if is_set || is_broken {
        return Ok(());
    }
    // Earlier output must appear above the question.
    ui.out.flush()?;
    let Some(answer) = ask::ask_choice(QUESTION, Notify::NAMES, Notify::Brief.as_str(), ui)? else {
        return Ok(());
    };
    write_answer(path, answer)?;
    Ok(writeln!(ui.out, "{NOTIFY_KEY} = \"{answer}\" was written to {}.", path.to_line())?)
}

/// Writes the key before the first table: in TOML a top-level key has to stand there.
fn write_answer(path: &Path, answer: &str) -> CommandResult {
    let refuse = |error: std::io::Error| {
        CommandError::Refused(format!("cannot write {}: {error}", path.to_line()))
    };
    let old = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(refuse(error)),
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(refuse)?;
    }
    // Writes through a symbolic link, so that the link stays.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    atomic_file::write_atomically(&target, |out| {
        Ok(out.write_all(with_answer(&old, answer).as_bytes())?)
    })
}

/// Returns the configuration with the key added after its leading comments.
fn with_answer(old: &str, answer: &str) -> String {
    let comments: usize =
        old.split_inclusive('\n').take_while(|line| line.starts_with('#')).map(str::len).sum();
    let (top, rest) = old.split_at(comments);
    let gap = if rest.trim().is_empty() || rest.starts_with('\n') { "" } else { "\n" };
    format!("{top}{NOTIFY_KEY} = \"{answer}\"\n{gap}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_stands_before_every_table() {
        for (old, expected) in [
            ("", "notify = \"brief\"\n"),
            ("[hooks.stop]\nask = true\n", "notify = \"brief\"\n\n[hooks.stop]\nask = true\n"),
            (
                "#:schema x\n# mine\n\n[scope]\n",
                "#:schema x\n# mine\nnotify = \"brief\"\n\n[scope]\n",
            ),
            ("# mine\n", "# mine\nnotify = \"brief\"\n"),
        ] {
            assert_eq!(with_answer(old, "brief"), expected);
        }
    }
}
