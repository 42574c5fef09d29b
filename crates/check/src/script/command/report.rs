//! The command of a handler, its surroundings, and the faults that it can have.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::super::{ScriptContext, ScriptLanguage, ScriptReport};

/// A handler of the type `command`.
#[derive(Debug, Clone, Copy)]
pub struct HookCommand<'a> {
    /// The command, as the settings file has it after JSON.
    pub command: &'a str,
    /// The arguments. With them, the client starts the program without a shell.
    pub args: Option<&'a [String]>,
    /// The shell that the handler names.
    pub shell: Option<&'a str>,
}

/// The surroundings of a command.
pub struct CommandContext<'a> {
    /// The project root.
    pub project: &'a Path,
    /// The folder of the plugin that has the handler.
    pub plugin_root: Option<&'a Path>,
    /// The home folder.
    pub home: Option<&'a Path>,
    /// Returns true if a program is installed.
    pub has_program: &'a dyn Fn(&str) -> bool,
    /// Reads a file.
    pub read_file: &'a dyn Fn(&Path) -> HookFile,
    /// The registration of the handler.
    pub registration: ScriptContext<'a>,
}

/// A file that a command may start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookFile {
    /// No file has the path.
    Missing,
    /// The path is a folder.
    Folder,
    /// The path may be a file: it could not be examined.
    Unknown,
    /// A file.
    File {
        /// True if the user may execute it.
        is_executable: bool,
        /// The content. None if it is not UTF-8 or too long.
        text: Option<String>,
    },
}

/// The script that a command starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedScript {
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// Its language, if it is one that [`read_script`](crate::script::read_script) reads.
    pub language: Option<ScriptLanguage>,
    /// True if it is started itself, without an interpreter.
    pub is_direct: bool,
    /// Position of the path in the command, or in the argument.
    pub range: Range<usize>,
    /// The argument that has the path.
    pub argument: Option<usize>,
}

/// The result of reading a command.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommandReport {
    /// True if the command was read to the end.
    pub is_read: bool,
    /// The scripts that the command certainly starts.
    pub scripts: Vec<StartedScript>,
    /// The faults.
    pub faults: Vec<CommandFault>,
    /// The command as a script of its own. Empty for a command with arguments.
    pub inline: ScriptReport,
}

/// A fault of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFault {
    /// Position in the command, or in the argument.
    pub range: Range<usize>,
    /// The argument in which the fault is.
    pub argument: Option<usize>,
    /// The fault.
    pub kind: CommandFaultKind,
}

/// A kind of fault of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandFaultKind {
    /// The script does not exist.
    ScriptMissing {
        /// The path where the shell looks for it.
        path: PathBuf,
    },
    /// The script is a folder.
    ScriptIsFolder {
        /// The path.
        path: PathBuf,
    },
    /// The script is started itself and is not executable.
    NotExecutable {
        /// The path.
        path: PathBuf,
    },
    /// The script is started itself, has no shebang and is no shell script: a shell reads it.
    NoShebang {
        /// The path.
        path: PathBuf,
    },
    /// The lines of the script end with a carriage return, which the kernel or the shell takes for a part of a word.
    CarriageReturns {
        /// The path.
        path: PathBuf,
    },
    /// The path is relative, and the working directory follows the session's `cd`.
    RelativePath {
        /// The path.
        path: PathBuf,
    },
    /// A variable with a path is not quoted, so a path with a space becomes two words.
    UnquotedVariable {
        /// Name of the variable.
        name: String,
    },
    /// An existing path with a space is not quoted.
    UnquotedSpace {
        /// The path.
        path: PathBuf,
    },
    /// `~` or a variable at the start of a path is not expanded: because of quotes, or because no shell runs.
    NotExpanded {
        /// The text that is not expanded.
        text: String,
    },
    /// The command has arguments, so the client takes all of the command, spaces included, for the program.
    SpaceInProgram,
    /// A program is not installed.
    ProgramMissing {
        /// Name of the program.
        name: String,
    },
}
