//! Checks a page block by block.

use super::block::{Block, Mark, blocks};
use super::scene::{self, Scene};
use super::shell::{Shell, Typed};
use super::text::{Ids, compare, compare_words};
use super::{REASONS, WITH_PROGRAMS, WITH_TEXT};

/// Returns a message for every mistake in a page.
pub(super) fn check(page: &str, text: &str) -> Vec<String> {
    let blocks = match blocks(text) {
        Ok(blocks) => blocks,
        Err((line, what)) => return vec![format!("{page}:{line}: {what}")],
    };
    if blocks.is_empty() {
        return vec![format!("{page} has no block; a page without one is listed as prose")];
    }
    let mut reader =
        Reader { page, shell: Shell::new(), ids: Ids::default(), complaints: Vec::new() };
    for block in &blocks {
        reader.read(block);
    }
    reader.complaints
}

/// The state of checking one page: its shell, known ids and complaints.
struct Reader<'a> {
    page: &'a str,
    shell: Shell,
    ids: Ids,
    complaints: Vec<String>,
}

impl Reader<'_> {
    fn complain(&mut self, line: usize, what: &str) {
        self.complaints.push(format!("{}:{line}: {what}", self.page));
    }

    fn read(&mut self, block: &Block<'_>) {
        let line = block.line;
        let scene = match block.mark {
            Some(Mark::NotRun(reason)) if REASONS.contains(&reason) => return,
            Some(Mark::NotRun(reason)) => {
                return self.complain(
                    line - 1,
                    &format!("`{reason}` is no reason; these are: {REASONS:?}"),
                );
            }
            Some(Mark::Scene(name) | Mark::Said(name)) => match scene::named(name) {
                Some(scene) => Some(scene),
                None => return self.complain(line - 1, &format!("there is no scene `{name}`")),
            },
            None => None,
        };
        let said = scene.and_then(|scene| self.play(line, scene));
        if matches!(block.mark, Some(Mark::Said(_))) {
            let said = said.unwrap_or_default();
            if let Err(what) = compare_words(&block.body, &said, &mut self.ids) {
                self.complain(line, &format!("an agent reads something else: it {what}"));
            }
            return;
        }
        let text = block.body.join("\n");
        match block.language {
            "" => self.complain(line, "a block without a language"),
            "console" => self.console(block),
            "sh" => self.script(line, &text),
            "toml" => self.configuration(line, &text),
            "json" => {
                if let Err(error) = serde_json::from_str::<serde_json::Value>(&text) {
                    self.complain(line, &format!("is no JSON: {error}"));
                }
            }
            "text" if WITH_TEXT.contains(&self.page) => {}
            "text" => self.complain(line, "this page may show no text that nothing prints"),
            "python" | "js" if self.page == WITH_PROGRAMS => {}
            "python" | "js" => {
                self.complain(line, &format!("this is run in {WITH_PROGRAMS} alone"));
            }
            other => self.complain(line, &format!("nobody knows what to do with `{other}`")),
        }
    }

    /// Plays a scene and returns the context given by its last hook.
    fn play(&mut self, line: usize, scene: &Scene) -> Option<String> {
        let mut said = None;
        for command in scene.commands(&mut self.shell) {
            match self.shell.type_in(&command) {
                Some(Typed { exit: 0, output }) => {
                    if command.contains("rutter hook") {
                        said = scene::context(&output);
                    }
                }
                other => {
                    let output = other.map(|typed| typed.output);
                    self.complain(
                        line - 1,
                        &format!("the scene cannot be played: {command}: {output:?}"),
                    );
                    return None;
                }
            }
        }
        said
    }

    fn console(&mut self, block: &Block<'_>) {
        let mut lines = block.body.iter().zip(block.line + 1..).peekable();
        while let Some((first, number)) = lines.next() {
            let Some(command) = first.strip_prefix("$ ") else {
                return self.complain(number, "no command stands before it: that begins with `$ `");
            };
            let mut command = command.to_owned();
            // Continuation lines and here-documents belong to the command.
            let end = command.split_once("<<'").and_then(|(_, rest)| rest.split('\'').next());
            let end = end.map(str::to_owned);
            while let Some((next, _)) = lines.next_if(|_| end.is_some() || command.ends_with('\\'))
            {
                command.push('\n');
                command += next;
                if end.as_deref() == Some(*next) {
                    break;
                }
            }
            let mut shown = Vec::new();
            while let Some((next, _)) = lines.next_if(|(next, _)| !next.starts_with("$ ")) {
                shown.push(*next);
            }
            if let Err(what) = self.command(&command, &shown) {
                let name = command.split("  #").next().unwrap_or_default().trim();
                self.complain(number, &format!("`{name}` {what}"));
            }
        }
    }

    /// Runs a command and compares its output if the page shows any. A failing command must be shown with its error.
    fn command(&mut self, command: &str, shown: &[&str]) -> Result<(), String> {
        let command = self
            .ids
            .translate(command)
            .map_err(|id| format!("cannot be typed: {id} is shown by no command above"))?;
        let Some(Typed { exit, output }) = self.shell.type_in(&command) else {
            return Err("ended the shell".to_owned());
        };
        if exit != 0 && shown.iter().all(|line| line.trim() == "…") {
            return Err(format!("ends with exit {exit}: {output}"));
        }
        if shown.is_empty() { Ok(()) } else { compare(shown, &output, &mut self.ids) }
    }

    fn script(&mut self, line: usize, text: &str) {
        let script = self.shell.file("script", text);
        match self.shell.type_in(&format!("sh {}", script.display())) {
            Some(Typed { exit: 0, .. }) => {}
            Some(Typed { exit, output }) => {
                self.complain(line, &format!("the script ends with exit {exit}: {output}"));
            }
            None => self.complain(line, "the shell has ended"),
        }
    }

    /// Checks a configuration block. Its first line is a comment with the name of the file.
    fn configuration(&mut self, line: usize, text: &str) {
        let name = match text.lines().next() {
            Some("# .rutter.toml") => ".rutter.toml",
            Some("# ~/.config/rutter/config.toml") => "config.toml",
            _ => {
                return self.complain(
                    line,
                    "a configuration begins with the name of its file, as a comment",
                );
            }
        };
        let file = self.shell.file(name, text);
        match self.shell.type_in(&format!("rutter config check {}", file.display())) {
            Some(Typed { exit: 0, .. }) => {}
            other => {
                let output = other.map(|typed| typed.output).unwrap_or_default();
                self.complain(line, &format!("`rutter config check` finds: {output}"));
            }
        }
    }
}
