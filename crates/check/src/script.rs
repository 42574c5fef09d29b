//! The commands of hooks and the scripts that they start, read for mistakes that are certain.
//!
//! [`read_command`] takes the command of a handler and finds the file that it starts. [`read_script`] takes the text of
//! a script. Both return positions and names; codes, messages and severities belong to the callers.
//!
//! A reader that is not certain reports nothing: text that it cannot read to the end, a value that is computed, a read
//! that has a fallback. Nothing here runs a program, and files are read by a function of the caller.

use std::ops::Range;
use std::path::Path;

use rutter_contract::EventName;

mod bash;
mod command;
mod event_names;
mod exits;
mod fix;
mod javascript;
mod javascript_flow;
mod jq;
mod object;
mod payload;
mod program;
mod python;
mod python_flow;
mod python_names;
mod rewrite;
mod shell;
mod shell_answer;
mod start;
mod tokens;
mod variables;

pub use command::{
    CommandContext, CommandFault, CommandFaultKind, CommandReport, HookCommand, HookFile,
    StartedScript, read_command,
};
pub use event_names::{find_meant_events, find_named_events};
pub use exits::{ExitFacts, ExitLiteral};
pub(crate) use fix::answer_edits;
pub use fix::{ScriptCorrection, ScriptFix, ScriptRemark, fix_script};
pub use object::AnswerLiteral;
pub use payload::{UnsentKey, is_for_other_programs};
pub use shell::BashConstruct;
pub use tokens::PLACEHOLDER;

/// The language of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptLanguage {
    /// The command of a handler, which the client gives to `/bin/sh`.
    Command,
    /// Shell text for another shell than bash.
    Sh,
    /// Shell text for bash.
    Bash,
    /// Python.
    Python,
    /// JavaScript or TypeScript.
    JavaScript,
}

/// The registration of a script: what the client sends to it.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScriptContext<'a> {
    /// The events under which the script is registered. Empty if they are not known.
    pub events: &'a [EventName],
    /// The tools that its matchers name exactly. Empty if another tool may start it.
    pub tools: &'a [&'a str],
    /// Names of the variables that settings add to the environment.
    pub variables: &'a [&'a str],
}

/// The facts and mistakes of a script.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScriptReport {
    /// True if the text was read to the end.
    pub is_read: bool,
    /// Reads of payload keys that the client never sends.
    pub unsent_keys: Vec<UnsentKey>,
    /// Reads of variables that the client never sets.
    pub unset_variables: Vec<UnsetVariable>,
    /// The JSON objects that the script prints.
    pub answers: Vec<AnswerLiteral>,
    /// True if the script prints an answer with `updatedInput`, computed or not.
    pub rewrites_input: bool,
    /// Text that is printed before one of the answers, so that the client does not read it as JSON.
    pub noise: Vec<NoiseBeforeAnswer>,
    /// The exits.
    pub exits: ExitFacts,
    /// Constructs that only bash reads. They are faults in a command, which the client gives to `/bin/sh`.
    pub bash_syntax: Vec<(Range<usize>, BashConstruct)>,
}

/// A read of a variable that the client never sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsetVariable {
    /// Position of the expression.
    pub range: Range<usize>,
    /// Name of the variable.
    pub name: String,
}

/// Plain text that a script prints before an answer on the same path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoiseBeforeAnswer {
    /// Position of the statement that prints the text.
    pub range: Range<usize>,
    /// Position of the answer.
    pub answer: Range<usize>,
}

impl ScriptLanguage {
    /// Returns the language that a shebang names, or else the extension of the path.
    pub fn detect(path: &Path, text: &str) -> Option<Self> {
        if let Some(line) = text.strip_prefix("#!") {
            let line = line.lines().next().unwrap_or_default();
            return line
                .split_ascii_whitespace()
                .find_map(|word| Self::of_interpreter(word.rsplit('/').next().unwrap_or(word)));
        }
        match path.extension()?.to_str()? {
            "sh" | "bash" => Some(Self::Bash),
            "py" => Some(Self::Python),
            "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" => Some(Self::JavaScript),
            _ => None,
        }
    }

    /// Returns the language of a program that runs scripts.
    pub(crate) fn of_interpreter(name: &str) -> Option<Self> {
        match name {
            "bash" => Some(Self::Bash),
            "sh" | "dash" | "zsh" | "ksh" => Some(Self::Sh),
            "node" | "bun" | "deno" | "tsx" | "ts-node" => Some(Self::JavaScript),
            "uv" => Some(Self::Python),
            _ if name.starts_with("python") || name.starts_with("pypy") => Some(Self::Python),
            _ => None,
        }
    }
}

/// Reads the text of a script.
pub fn read_script(
    text: &str,
    language: ScriptLanguage,
    context: &ScriptContext<'_>,
) -> ScriptReport {
    match language {
        ScriptLanguage::Command => bash::read_shell(text, bash::ShellKind::Command, context),
        ScriptLanguage::Sh => bash::read_shell(text, bash::ShellKind::Sh, context),
        ScriptLanguage::Bash => bash::read_shell(text, bash::ShellKind::Bash, context),
        ScriptLanguage::Python => python::read_python(text, context),
        ScriptLanguage::JavaScript => javascript::read_javascript(text, context),
    }
}

#[cfg(test)]
mod tests;
