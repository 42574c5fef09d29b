//! Checks a page block by block.

use super::block::{BlockMark, PageBlock, parse_blocks};
use super::scene::{self, Scene};
use super::shell::{CommandResult, PageShell};
use super::text::{IdMap, compare, compare_words};
use super::{PAGE_WITH_PROGRAMS, PAGES_WITH_TEXT, SKIP_REASONS};

/// Returns a message for every mistake in a page.
pub(super) fn check_page(page: &str, text: &str) -> Vec<String> {
    let blocks = match parse_blocks(text) {
        Ok(blocks) => blocks,
        Err((line, what)) => return vec![format!("{page}:{line}: {what}")],
    };
    if blocks.is_empty() {
        return vec![format!("{page} has no block; a page without one is listed as prose")];
    }
    let mut reader = PageChecker {
        page,
        shell: PageShell::new(),
        ids: IdMap::default(),
        complaints: Vec::new(),
    };
    for block in &blocks {
        reader.check_block(block);
    }
    reader.complaints
}

/// The state of checking one page: its shell, known ids and complaints.
struct PageChecker<'a> {
    page: &'a str,
    shell: PageShell,
    ids: IdMap,
    complaints: Vec<String>,
}

impl PageChecker<'_> {
    fn complain(&mut self, line: usize, what: &str) {
        self.complaints.push(format!("{}:{line}: {what}", self.page));
    }

    fn check_block(&mut self, block: &PageBlock<'_>) {
        let line = block.line;
        let scene = match block.mark {
            Some(BlockMark::NotRun(reason)) if SKIP_REASONS.contains(&reason) => return,
            Some(BlockMark::NotRun(reason)) => {
                return self.complain(
                    line - 1,
                    &format!("`{reason}` is no reason; these are: {SKIP_REASONS:?}"),
                );
            }
            Some(BlockMark::Scene(name) | BlockMark::HookText(name)) => {
                match scene::find_scene(name) {
                    Some(scene) => Some(scene),
                    None => return self.complain(line - 1, &format!("there is no scene `{name}`")),
                }
            }
            None => None,
        };
        let said = scene.and_then(|scene| self.play_scene(line, scene));
        if matches!(block.mark, Some(BlockMark::HookText(_))) {
            let said = said.unwrap_or_default();
            if let Err(what) = compare_words(&block.body, &said, &mut self.ids) {
                self.complain(line, &format!("an agent reads something else: it {what}"));
            }
            return;
        }
        let text = block.body.join("\n");
        match block.language {
            "" => self.complain(line, "a block without a language"),
            "console" => self.check_console(block),
            "sh" => self.check_script(line, &text),
            "toml" => self.check_configuration(line, &text),
            "json" => {
                if let Err(error) = serde_json::from_str::<serde_json::Value>(&text) {
                    self.complain(line, &format!("is no JSON: {error}"));
                }
            }
            "text" if PAGES_WITH_TEXT.contains(&self.page) => {}
            "text" => self.complain(line, "this page may show no text that nothing prints"),
            "python" | "js" if self.page == PAGE_WITH_PROGRAMS => {}
            "python" | "js" => {
                self.complain(line, &format!("this is run in {PAGE_WITH_PROGRAMS} alone"));
            }
            other => self.complain(line, &format!("nobody knows what to do with `{other}`")),
        }
    }

    /// Plays a scene and returns the context given by its last hook.
    fn play_scene(&mut self, line: usize, scene: &Scene) -> Option<String> {
        let mut said = None;
        for command in scene.commands(&mut self.shell) {
            match self.shell.run_command(&command) {
                Some(CommandResult { exit: 0, output }) => {
                    if command.contains("rutter hook") {
                        said = scene::additional_context(&output);
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

    fn check_console(&mut self, block: &PageBlock<'_>) {
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
            if let Err(what) = self.check_command(&command, &shown) {
                let name = command.split("  #").next().unwrap_or_default().trim();
                self.complain(number, &format!("`{name}` {what}"));
            }
        }
    }

    /// Runs a command and compares its output if the page shows any. A failing command must be shown with its error.
    fn check_command(&mut self, command: &str, shown: &[&str]) -> Result<(), String> {
        let command = self
            .ids
            .translate(command)
            .map_err(|id| format!("cannot be typed: {id} is shown by no command above"))?;
        let Some(CommandResult { exit, output }) = self.shell.run_command(&command) else {
            return Err("ended the shell".to_owned());
        };
        if exit != 0 && shown.iter().all(|line| line.trim() == "…") {
            return Err(format!("ends with exit {exit}: {output}"));
        }
        if shown.is_empty() { Ok(()) } else { compare(shown, &output, &mut self.ids) }
    }

    fn check_script(&mut self, line: usize, text: &str) {
        let script = self.shell.add_file("script", text);
        match self.shell.run_command(&format!("sh {}", script.display())) {
            Some(CommandResult { exit: 0, .. }) => {}
            Some(CommandResult { exit, output }) => {
                self.complain(line, &format!("the script ends with exit {exit}: {output}"));
            }
            None => self.complain(line, "the shell has ended"),
        }
    }

    /// Checks a configuration block. Its first line is a comment with the name of the file.
    fn check_configuration(&mut self, line: usize, text: &str) {
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
        let file = self.shell.add_file(name, text);
        match self.shell.run_command(&format!("rutter config check {}", file.display())) {
            Some(CommandResult { exit: 0, .. }) => {}
            other => {
                let output = other.map(|typed| typed.output).unwrap_or_default();
                self.complain(line, &format!("`rutter config check` finds: {output}"));
            }
        }
    }
}
