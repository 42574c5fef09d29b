//! The command of a handler: the program and the script that it starts, and faults that keep them from running.

use std::ops::Range;
use std::path::{Path, PathBuf};

mod report;

pub use report::{
    CommandContext, CommandFault, CommandFaultKind, CommandReport, HookCommand, HookFile,
    StartedScript,
};

use super::shell::{
    BlockKind, Part, Quote, Separator, ShellText, SimpleCommand, Word, parse_shell,
};
use super::start::{ScriptStart, find_script};
use super::{ScriptLanguage, read_script};

/// The working directory at a place in a command.
#[derive(Debug, Clone)]
enum WorkingFolder {
    /// That of the session: the project root until the agent changes it.
    Session,
    Known(PathBuf),
    Unknown,
}

/// A path in a command.
enum ResolvedPath {
    Absolute(PathBuf),
    Relative(PathBuf),
}

/// Variables that hold a path which may contain a space.
const PATH_VARIABLES: [&str; 3] =
    ["CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"];

/// Commands whose operands are paths.
const FILE_COMMANDS: [&str; 10] =
    ["cat", "tee", "touch", "mkdir", "rm", "cp", "mv", "ls", "head", "tail"];

/// Starts of paths that only a shell expands.
const SHELL_STARTS: [&str; 4] = ["~/", "$HOME/", "$CLAUDE_PROJECT_DIR", "$CLAUDE_PLUGIN_ROOT"];

/// Commands that `/bin/sh` has.
const BUILTINS: [&str; 41] = [
    ".", ":", "[", "alias", "bg", "break", "builtin", "cd", "command", "continue", "declare",
    "echo", "eval", "exec", "exit", "export", "false", "fg", "getopts", "hash", "jobs", "kill",
    "let", "local", "printf", "pwd", "read", "readonly", "return", "set", "shift", "shopt",
    "source", "test", "times", "trap", "true", "type", "ulimit", "umask", "unset",
];

/// Further commands of a shell, or words that look like one.
const OTHER_BUILTINS: [&str; 6] = ["wait", "unalias", "typeset", "mapfile", "coproc", "in"];

/// Reads the command of a handler. A command for PowerShell is not read.
pub fn read_command(command: &HookCommand<'_>, context: &CommandContext<'_>) -> CommandReport {
    let text = command.command;
    if command.shell == Some("powershell") || is_for_windows(text) || text.trim().is_empty() {
        return CommandReport::default();
    }
    if let Some(args) = command.args {
        return read_arguments(text, args, context);
    }
    let Some(shell) = parse_shell(text) else { return CommandReport::default() };
    let mut reader = CommandReader {
        shell: &shell,
        context,
        folder: WorkingFolder::Session,
        report: CommandReport { is_read: true, ..CommandReport::default() },
    };
    reader.read_commands();
    let mut report = reader.report;
    report.inline = read_script(text, ScriptLanguage::Command, &context.registration);
    report
}

/// Returns true for text in the syntax of Windows.
fn is_for_windows(text: &str) -> bool {
    text.contains("$env:")
        || text.split('%').skip(1).step_by(2).any(|name| {
            name.len() > 3 && name.bytes().all(|sign| sign.is_ascii_uppercase() || sign == b'_')
        })
}

/// Reads a command with arguments, which the client starts without a shell.
fn read_arguments(text: &str, args: &[String], context: &CommandContext<'_>) -> CommandReport {
    let mut report = CommandReport { is_read: true, ..CommandReport::default() };
    let all = || std::iter::once(text).chain(args.iter().map(String::as_str));
    for (index, element) in all().enumerate() {
        let argument = index.checked_sub(1);
        if let Some(start) = SHELL_STARTS.iter().find(|start| element.starts_with(**start)) {
            let kind =
                CommandFaultKind::NotExpanded { text: start.trim_end_matches('/').to_owned() };
            report.faults.push(CommandFault { range: 0..element.len(), argument, kind });
        }
    }
    if !report.faults.is_empty() {
        return report;
    }
    let words: Vec<Word> = all()
        .map(|element| {
            let text = expand_braces(element, context).unwrap_or_default();
            let parts = vec![Part::Text { text, quote: Quote::Single }];
            Word { range: 0..element.len(), parts }
        })
        .collect();
    if all().any(|element| expand_braces(element, context).is_none()) {
        return report;
    }
    let shell = ShellText::default();
    let mut reader =
        CommandReader { shell: &shell, context, folder: WorkingFolder::Session, report };
    let program = words[0].literal().unwrap_or_default();
    if program.trim().contains(' ')
        && !matches!(
            (context.read_file)(Path::new(&program)),
            HookFile::File { .. } | HookFile::Unknown
        )
    {
        reader.add(0..text.len(), None, CommandFaultKind::SpaceInProgram);
        return reader.report;
    }
    if is_program_name(&program) && !(context.has_program)(&program) {
        let kind = CommandFaultKind::ProgramMissing { name: program };
        reader.add(0..text.len(), None, kind);
    }
    if let Some(start) = find_script(&words) {
        let argument = start.word.checked_sub(1);
        reader.check_script(&words, start, argument, false);
    }
    reader.report
}

/// Replaces the variables that the client itself replaces. None if one of them has no value here.
fn expand_braces(element: &str, context: &CommandContext<'_>) -> Option<String> {
    let project = context.project.to_str()?;
    let mut text = element.replace("${CLAUDE_PROJECT_DIR}", project);
    if text.contains("${CLAUDE_PLUGIN_ROOT}") {
        text = text.replace("${CLAUDE_PLUGIN_ROOT}", context.plugin_root?.to_str()?);
    }
    (!text.contains("${")).then_some(text)
}

fn is_program_name(name: &str) -> bool {
    let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || b"_-+.".contains(&sign);
    name.len() > 1
        && name.starts_with(|sign: char| sign.is_ascii_alphanumeric())
        && name.bytes().all(is_sign)
}

struct CommandReader<'a> {
    shell: &'a ShellText,
    context: &'a CommandContext<'a>,
    folder: WorkingFolder,
    report: CommandReport,
}

impl CommandReader<'_> {
    fn add(&mut self, range: Range<usize>, argument: Option<usize>, kind: CommandFaultKind) {
        self.report.faults.push(CommandFault { range, argument, kind });
    }

    fn read_commands(&mut self) {
        let shell = self.shell;
        for command in &shell.commands {
            self.check_quotes(command);
        }
        let functions: Vec<&str> = shell
            .blocks
            .iter()
            .filter_map(|block| match &block.kind {
                BlockKind::Function(name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let defines_programs = shell.commands.iter().any(|command| {
            matches!(command.name().as_deref(), Some("alias" | "source" | "." | "eval"))
                || command.assignments.iter().any(|assignment| assignment.name == "PATH")
                || command.words.iter().any(|word| {
                    word.literal().is_some_and(|text| text.starts_with("PATH="))
                        || matches!(word.parts.first(), Some(Part::Text { text, .. }) if text.starts_with("PATH="))
                })
        });
        for (index, command) in shell.commands.iter().enumerate() {
            if command.words.is_empty() || !shell.is_at_top(command) {
                if command.name().as_deref() == Some("cd") {
                    self.folder = WorkingFolder::Unknown;
                }
                continue;
            }
            let is_guarded = self.is_guarded(index);
            if command.name().as_deref() == Some("cd") {
                self.change_folder(command);
                continue;
            }
            if matches!(command.name().as_deref(), Some("pushd" | "popd")) {
                self.folder = WorkingFolder::Unknown;
            }
            if let Some(name) = command.name()
                && !defines_programs
                && !is_guarded
                && is_program_name(&name)
                && !BUILTINS.contains(&name.as_str())
                && !OTHER_BUILTINS.contains(&name.as_str())
                && !functions.contains(&name.as_str())
                && !(self.context.has_program)(&name)
            {
                let range = command.words[0].range.clone();
                self.add(range, None, CommandFaultKind::ProgramMissing { name });
            }
            if let Some(start) = find_script(&command.words) {
                self.check_script(&command.words, start, None, is_guarded);
            }
        }
    }

    /// Returns true if a command may be meant to fail, or not to run.
    fn is_guarded(&self, index: usize) -> bool {
        let commands = &self.shell.commands;
        let block = commands[index].block;
        let own: Vec<&SimpleCommand> = commands
            .iter()
            .filter(|command| command.block == block && !command.words.is_empty())
            .collect();
        let Some(mut at) =
            own.iter().position(|command| std::ptr::eq(*command, &raw const commands[index]))
        else {
            return true;
        };
        let hides_errors = own[at].redirect(2).is_some_and(super::shell::Redirect::is_to_null);
        let mut last = at;
        while own[last].after == Separator::Pipe && last + 1 < own.len() {
            last += 1;
        }
        if own[last].after == Separator::Or || hides_errors {
            return true;
        }
        // A condition in front of it, other than a change of the folder.
        while at > 0 && own[at].before != Separator::Sequence {
            at -= 1;
            let is_preparation = matches!(
                own[at].name().as_deref(),
                Some("cd" | "export" | "set" | "mkdir" | "echo" | "cat" | "printf")
            );
            if own[at].after != Separator::Pipe && !is_preparation {
                return true;
            }
        }
        // A compound command in front of it, or a condition, is not in this list.
        own[at].before != Separator::Sequence
    }

    fn change_folder(&mut self, command: &SimpleCommand) {
        let [_, target] = &command.words[..] else {
            self.folder = WorkingFolder::Unknown;
            return;
        };
        self.folder = match self.resolve(target) {
            Some(ResolvedPath::Absolute(path)) if command.after != Separator::Or => {
                WorkingFolder::Known(path)
            }
            Some(ResolvedPath::Relative(path)) => match &self.folder {
                WorkingFolder::Known(folder) => WorkingFolder::Known(folder.join(path)),
                _ => WorkingFolder::Unknown,
            },
            _ => WorkingFolder::Unknown,
        };
    }

    /// Reports unquoted variables, and quoted tildes where only a path makes sense.
    fn check_quotes(&mut self, command: &SimpleCommand) {
        let takes_paths = command.name().is_some_and(|name| FILE_COMMANDS.contains(&name.as_str()));
        let operands = command.words.iter().skip(1).filter(|_| takes_paths);
        let targets = command.redirects.iter().filter(|redirect| redirect.heredoc.is_none());
        let targets = targets
            .filter(|redirect| matches!(redirect.operator, ">" | ">>" | "<" | ">|" | "&>"))
            .map(|redirect| &redirect.target);
        for word in operands.chain(targets) {
            if let Some(Part::Text { text, quote: Quote::Single | Quote::Double }) =
                word.parts.first()
                && text.starts_with("~/")
            {
                let text = "~".to_owned();
                self.add(word.range.clone(), None, CommandFaultKind::NotExpanded { text });
            }
        }
        for word in &command.words {
            for part in &word.parts {
                if let Part::Variable { name, range, quote: Quote::None, modifier } = part
                    && PATH_VARIABLES.contains(&name.as_str())
                    && modifier.is_empty()
                {
                    let name = name.clone();
                    self.add(range.clone(), None, CommandFaultKind::UnquotedVariable { name });
                }
            }
        }
    }

    /// Returns the path of a word. None if it is not certain.
    fn resolve(&self, word: &Word) -> Option<ResolvedPath> {
        let mut path = String::new();
        for (index, part) in word.parts.iter().enumerate() {
            match part {
                Part::Text { text, quote: Quote::None } => {
                    if text.contains(['*', '?', '[', '{']) {
                        return None;
                    }
                    match text.strip_prefix("~/") {
                        Some(rest) if index == 0 => {
                            path.push_str(self.context.home?.to_str()?);
                            path.push('/');
                            path.push_str(rest);
                        }
                        _ if index == 0 && text.starts_with('~') => return None,
                        _ => path.push_str(text),
                    }
                }
                Part::Text { text, .. } => path.push_str(text),
                Part::Variable { name, modifier, .. } => {
                    let is_plain = modifier.is_empty() || modifier.starts_with([':', '-']);
                    let is_set = self.shell.commands.iter().any(|command| {
                        command.assignments.iter().any(|assignment| assignment.name == *name)
                    });
                    if !is_plain || is_set {
                        return None;
                    }
                    let folder = match name.as_str() {
                        "CLAUDE_PROJECT_DIR" => self.context.project,
                        "CLAUDE_PLUGIN_ROOT" => self.context.plugin_root?,
                        "HOME" => self.context.home?,
                        _ => return None,
                    };
                    path.push_str(folder.to_str()?);
                }
                Part::Substitution { .. } | Part::Other => return None,
            }
        }
        if path.is_empty() || path.contains('\n') {
            return None;
        }
        let is_absolute = path.starts_with('/');
        // Without `.` parts, so that callers can compare the path.
        let path: PathBuf = Path::new(&path).components().collect();
        let path = path.strip_prefix(".").map_or_else(|_| path.clone(), Path::to_path_buf);
        Some(if is_absolute { ResolvedPath::Absolute(path) } else { ResolvedPath::Relative(path) })
    }

    fn check_script(
        &mut self,
        words: &[Word],
        start: ScriptStart,
        argument: Option<usize>,
        is_guarded: bool,
    ) {
        let word = &words[start.word];
        let range = word.range.clone();
        if let Some(text) = unexpanded_start(word) {
            if argument.is_none() {
                self.add(range, argument, CommandFaultKind::NotExpanded { text });
            }
            return;
        }
        let Some(resolved) = self.resolve(word) else { return };
        let path = match resolved {
            ResolvedPath::Absolute(path) => path,
            ResolvedPath::Relative(path) => match &self.folder {
                WorkingFolder::Known(folder) => folder.join(path),
                WorkingFolder::Unknown => return,
                WorkingFolder::Session => {
                    let joined = self.context.project.join(&path);
                    let is_present =
                        matches!((self.context.read_file)(&joined), HookFile::File { .. });
                    if is_present && !is_guarded {
                        let kind = CommandFaultKind::RelativePath { path };
                        self.add(range.clone(), argument, kind);
                    }
                    joined
                }
            },
        };
        match (self.context.read_file)(&path) {
            HookFile::Unknown => {}
            HookFile::Folder => {
                if !is_guarded {
                    self.add(range, argument, CommandFaultKind::ScriptIsFolder { path });
                }
            }
            HookFile::Missing => {
                if is_guarded {
                    return;
                }
                let kind = match self.path_with_space(&path, &words[start.word + 1..]) {
                    Some(path) if argument.is_none() => CommandFaultKind::UnquotedSpace { path },
                    _ => CommandFaultKind::ScriptMissing { path },
                };
                self.add(range, argument, kind);
            }
            HookFile::File { is_executable, text } => {
                self.check_file(&path, start, &range, argument, is_executable, text);
            }
        }
    }

    fn check_file(
        &mut self,
        path: &Path,
        start: ScriptStart,
        range: &Range<usize>,
        argument: Option<usize>,
        is_executable: bool,
        text: Option<String>,
    ) {
        if start.is_direct && !is_executable {
            let kind = CommandFaultKind::NotExecutable { path: path.to_owned() };
            self.add(range.clone(), argument, kind);
        }
        let Some(text) = text else { return };
        let language = ScriptLanguage::detect(path, &text);
        let shebang = text.strip_prefix("#!").map(|rest| rest.split('\n').next().unwrap_or(rest));
        let is_for_shell = start.is_for_shell
            || matches!(language, Some(ScriptLanguage::Bash | ScriptLanguage::Sh))
                && start.is_direct;
        let has_broken_shebang =
            start.is_direct && shebang.is_some_and(|line| line.ends_with('\r'));
        if has_broken_shebang || (is_for_shell && has_only_carriage_returns(&text)) {
            let kind = CommandFaultKind::CarriageReturns { path: path.to_owned() };
            self.add(range.clone(), argument, kind);
        }
        let is_other_language =
            matches!(language, Some(ScriptLanguage::Python | ScriptLanguage::JavaScript));
        if start.is_direct && shebang.is_none() && is_other_language {
            let kind = CommandFaultKind::NoShebang { path: path.to_owned() };
            self.add(range.clone(), argument, kind);
        }
        if start.is_direct
            && let Some(name) = shebang.and_then(interpreter_of_env)
            && is_program_name(name)
            && !(self.context.has_program)(name)
        {
            let kind = CommandFaultKind::ProgramMissing { name: name.to_owned() };
            self.add(range.clone(), argument, kind);
        }
        self.report.scripts.push(StartedScript {
            path: path.to_owned(),
            text,
            language,
            is_direct: start.is_direct,
            range: range.clone(),
            argument,
        });
    }

    /// Returns the existing file whose path continues in the next words.
    fn path_with_space(&self, path: &Path, words: &[Word]) -> Option<PathBuf> {
        let mut joined = path.to_str()?.to_owned();
        for word in words.iter().take(4) {
            joined.push(' ');
            joined.push_str(&word.literal()?);
            let path = PathBuf::from(&joined);
            if matches!((self.context.read_file)(&path), HookFile::File { .. }) {
                return Some(path);
            }
        }
        None
    }
}

/// Returns the start of a path that quotes keep from being expanded.
fn unexpanded_start(word: &Word) -> Option<String> {
    let Some(Part::Text { text, quote }) = word.parts.first() else { return None };
    let start = SHELL_STARTS.iter().find(|start| text.starts_with(**start))?;
    (*quote != Quote::None || start.starts_with('$'))
        .then(|| start.trim_end_matches('/').to_owned())
}

/// Returns true if every line of a script with code ends with a carriage return.
fn has_only_carriage_returns(text: &str) -> bool {
    let mut lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).peekable();
    lines.peek().is_some() && lines.all(|line| line.ends_with("\r\n"))
}

/// Returns the program that `/usr/bin/env` starts in a shebang.
fn interpreter_of_env(shebang: &str) -> Option<&str> {
    let mut words = shebang.split_ascii_whitespace();
    (words.next()? == "/usr/bin/env").then(|| words.next())?
}

#[cfg(test)]
pub(super) mod tests;
