//! The script that a program call starts: `bash x.sh`, `uv run x.py`, `npx tsx x.ts`, or the file itself.

use super::shell::Word;

/// The script file of a program call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScriptStart {
    /// Index of the word with the path.
    pub(super) word: usize,
    /// True if the file is started itself, without an interpreter in front of it.
    pub(super) is_direct: bool,
    /// True if a shell reads the file.
    pub(super) is_for_shell: bool,
}

/// Finds the script in the words of a program call. None if it starts none, or if the words are not certain.
pub(super) fn find_script(words: &[Word]) -> Option<ScriptStart> {
    find_from(words, 0, 0)
}

/// Depth of nested starters such as `env timeout 5 uv run python` at which the search gives up.
const MAX_STARTERS: usize = 6;

fn find_from(words: &[Word], first: usize, depth: usize) -> Option<ScriptStart> {
    let is_certain = depth < MAX_STARTERS;
    let word = words.get(first).filter(|_| is_certain)?;
    let Some(program) = word.literal() else {
        // A path with a variable: `"$CLAUDE_PROJECT_DIR"/x.sh`.
        return Some(ScriptStart { word: first, is_direct: true, is_for_shell: false });
    };
    let name = program.rsplit('/').next().unwrap_or(&program);
    let mut arguments = Arguments { words, at: first + 1 };
    match name {
        "env" => {
            while let Some(text) = arguments.peek() {
                if !text.contains('=') || text.starts_with('-') {
                    break;
                }
                arguments.at += 1;
            }
            let is_option = arguments.peek().is_some_and(|text| text.starts_with('-'));
            if is_option { None } else { find_from(words, arguments.at, depth + 1) }
        }
        "exec" | "nohup" | "command" | "time" => {
            let is_option = arguments.peek().is_some_and(|text| text.starts_with('-'));
            if is_option { None } else { find_from(words, arguments.at, depth + 1) }
        }
        "timeout" => {
            arguments.skip_options(&["-k", "-s", "--kill-after", "--signal"], &[])?;
            find_from(words, arguments.at + 1, depth + 1)
        }
        "bash" | "sh" | "dash" | "zsh" | "ksh" => {
            while let Some(text) = arguments.peek() {
                if !text.starts_with(['-', '+']) {
                    break;
                }
                if !text.starts_with("--") && text.contains(['c', 's', 'o', 'O']) || text == "-" {
                    return None;
                }
                arguments.at += 1;
            }
            arguments.script(true)
        }
        "source" | "." => arguments.script(true),
        "node" | "tsx" | "ts-node" => {
            let with_value = ["-r", "--require", "--import", "--loader", "--tsconfig", "-C"];
            arguments.skip_options(
                &with_value,
                &["-e", "-p", "--eval", "--print", "--test", "--run", "-"],
            )?;
            if name == "tsx" && arguments.peek().as_deref() == Some("watch") {
                return None;
            }
            arguments.script(false)
        }
        "bun" => {
            arguments.skip_options(&[], &["-e", "-p", "--eval", "--print", "--cwd"])?;
            if arguments.peek().as_deref() == Some("run") {
                arguments.at += 1;
                arguments.skip_options(&[], &["--cwd", "--filter"])?;
            }
            arguments.file_with_extension(&["ts", "js", "mjs", "mts", "cjs"])
        }
        "deno" => {
            (arguments.peek()? == "run").then_some(())?;
            arguments.at += 1;
            arguments.skip_options(&["-c", "--config", "--import-map"], &[])?;
            arguments.file_with_extension(&["ts", "js", "mjs", "mts"])
        }
        "npx" | "bunx" => {
            arguments.skip_options(&[], &["-p", "--package", "-c", "--call"])?;
            matches!(arguments.peek()?.as_str(), "tsx" | "ts-node").then_some(())?;
            find_from(words, arguments.at, depth + 1)
        }
        "uv" => {
            arguments.skip_options(&[], &["--directory", "--project"])?;
            (arguments.peek()? == "run").then_some(())?;
            arguments.at += 1;
            let with_value = [
                "--with",
                "--python",
                "-p",
                "--extra",
                "--group",
                "--env-file",
                "--with-requirements",
            ];
            arguments.skip_options(&with_value, &["--directory", "--project", "-m", "--module"])?;
            if arguments.peek().is_some_and(|text| text.starts_with("python")) {
                return find_from(words, arguments.at, depth + 1);
            }
            arguments.file_with_extension(&["py"])
        }
        _ if name.starts_with("python") || name.starts_with("pypy") => {
            arguments.skip_options(&["-W", "-X"], &["-c", "-m", "-"])?;
            arguments.script(false)
        }
        "ruby" | "perl" | "php" => {
            let is_option = arguments.peek().is_some_and(|text| text.starts_with('-'));
            if is_option { None } else { arguments.script(false) }
        }
        _ if program.contains('/') => {
            Some(ScriptStart { word: first, is_direct: true, is_for_shell: false })
        }
        _ => None,
    }
}

/// The arguments behind a program.
struct Arguments<'a> {
    words: &'a [Word],
    at: usize,
}

impl Arguments<'_> {
    /// Returns the next argument, if it is literal.
    fn peek(&self) -> Option<String> {
        self.words.get(self.at)?.literal()
    }

    /// Skips options. Options of `with_value` have a value behind them. None if one of `ending` is among them.
    fn skip_options(&mut self, with_value: &[&str], ending: &[&str]) -> Option<()> {
        while let Some(text) = self.peek() {
            if !text.starts_with('-') {
                break;
            }
            let is_ending = ending.iter().any(|option| {
                text == *option
                    || text.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
            });
            if is_ending {
                return None;
            }
            self.at += 1 + usize::from(with_value.contains(&text.as_str()));
            if text == "--" {
                break;
            }
        }
        Some(())
    }

    /// Returns the next argument as the script of an interpreter.
    fn script(&self, is_for_shell: bool) -> Option<ScriptStart> {
        (self.at < self.words.len()).then_some(ScriptStart {
            word: self.at,
            is_direct: false,
            is_for_shell,
        })
    }

    /// Returns the next argument as a script if its last part is text with one of the extensions.
    fn file_with_extension(&self, extensions: &[&str]) -> Option<ScriptStart> {
        let Some(super::shell::Part::Text { text, .. }) = self.words.get(self.at)?.parts.last()
        else {
            return None;
        };
        let (_, extension) = text.rsplit_once('.')?;
        extensions.contains(&extension).then(|| self.script(false))?
    }
}
