//! A parsed command line: its commands without wrappers, and the folder in which each one runs.

use std::path::PathBuf;

use super::shell::{self, Joiner, Redirection, SimpleCommand};
use super::table;
use super::wrappers::{self, UnwrappedCommand};

/// A parsed command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The commands, in typed order.
    pub commands: Vec<ParsedCommand>,
    /// The folder of the shell after the line.
    pub end_folder: CommandFolder,
}

/// A command of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedCommand {
    /// Variables that are set for it alone: `TZ=UTC pytest`.
    pub variables: Vec<(String, String)>,
    /// Words of wrappers in front of the program: `timeout 60`, `uv run`.
    pub wrappers: Vec<String>,
    /// The program and its arguments. A known tool has its bare name, any other program its path.
    pub words: Vec<String>,
    /// The redirections, in order.
    pub redirections: Vec<Redirection>,
    /// The operator before the next command.
    pub joiner: Joiner,
    /// Number of subshells open around it.
    pub subshells: u16,
    /// The folder in which it runs.
    pub folder: CommandFolder,
    /// True if `!`, `if` or `while` inverts or consumes its exit status.
    pub is_condition: bool,
}

/// A folder in a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandFolder {
    /// Relative to the working directory of the line; empty for that folder. It may begin with `../`.
    Relative(String),
    /// An absolute path.
    Absolute(String),
    /// A folder that the text does not reveal: `cd "$DIR"`, `cd -`.
    Unknown,
}

impl CommandFolder {
    /// Returns the folder that is reached from this one by `inner`.
    #[must_use]
    pub fn join(&self, inner: &Self) -> Self {
        match inner {
            Self::Relative(path) if path.is_empty() => self.clone(),
            Self::Relative(path) | Self::Absolute(path) => self.enter(path),
            Self::Unknown => Self::Unknown,
        }
    }

    fn enter(&self, path: &str) -> Self {
        let base = match self {
            _ if path.starts_with('/') => return Self::Absolute(normalize(path)),
            _ if path.starts_with(['~', '$']) || path == "-" || path.contains("$(") => {
                return Self::Unknown;
            }
            Self::Unknown => return Self::Unknown,
            Self::Relative(base) | Self::Absolute(base) => base,
        };
        let joined = if base.is_empty() { path.to_owned() } else { format!("{base}/{path}") };
        match self {
            Self::Absolute(_) => Self::Absolute(normalize(&joined)),
            _ => Self::Relative(normalize(&joined)),
        }
    }
}

/// Resolves `.` and `..` in a path by its text alone.
fn normalize(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." && parts.last().is_some_and(|last| *last != "..") {
            parts.pop();
        } else if part != ".." || !absolute || !parts.is_empty() {
            parts.push(part);
        }
    }
    let joined = parts.join("/");
    if absolute { format!("/{joined}") } else { joined }
}

impl CommandLine {
    /// Parses a line.
    pub fn parse(line: &str) -> Self {
        let mut folders = vec![CommandFolder::Relative(String::new())];
        let mut commands = Vec::new();
        for simple in shell::parse_commands(line) {
            // A `cd` in a subshell ends with it.
            let level = usize::from(simple.subshells);
            while folders.len() <= level {
                let inner = folders[folders.len() - 1].clone();
                folders.push(inner);
            }
            folders.truncate(level + 1);
            let command = ParsedCommand::new(simple, folders[level].clone());
            folders[level] = command.folder_after();
            commands.push(command);
        }
        let end_folder = folders.swap_remove(0);
        Self { commands, end_folder }
    }

    /// Returns the absolute folder of the line's last run, else the folder after its last command; None if it is
    /// relative.
    ///
    /// The client may report another folder, because it resets a shell that left the project.
    pub fn absolute_folder(&self) -> Option<PathBuf> {
        let last_run = self.commands.iter().rfind(|command| table::is_run(&command.words));
        let folder = last_run.map_or(&self.end_folder, |command| &command.folder);
        match folder {
            CommandFolder::Absolute(path) => Some(path.into()),
            _ => None,
        }
    }
}

impl ParsedCommand {
    fn new(simple: SimpleCommand, folder: CommandFolder) -> Self {
        let SimpleCommand { words, redirections, joiner, subshells } = simple;
        let UnwrappedCommand { variables, wrappers, words, is_condition } =
            wrappers::unwrap_command(words);
        let folder = match table::folder_option(&words) {
            Some(path) => folder.enter(path),
            None => folder,
        };
        Self { variables, wrappers, words, redirections, joiner, subshells, folder, is_condition }
    }

    /// Returns the program's bare name.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word))
    }

    /// Returns the folder in which the next command runs.
    fn folder_after(&self) -> CommandFolder {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["cd" | "pushd", "--", path] | ["cd" | "pushd", path] => self.folder.enter(path),
            ["cd"] | ["popd" | "pushd", ..] => CommandFolder::Unknown,
            _ => self.folder.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command_folders(line: &str) -> Vec<CommandFolder> {
        CommandLine::parse(line).commands.into_iter().map(|command| command.folder).collect()
    }

    fn relative_folder(path: &str) -> CommandFolder {
        CommandFolder::Relative(path.to_owned())
    }

    #[test]
    fn folders_follow_cd() {
        assert_eq!(
            command_folders("cd api && pytest; cd ../web && npm test")[1..],
            [relative_folder("api"), relative_folder("api"), relative_folder("web"),][..]
        );
        assert_eq!(command_folders("(cd a && x) && (cd b && y); z")[4], relative_folder(""));
        assert_eq!(
            command_folders("cd /srv/app/../x && cd y && z")[2],
            CommandFolder::Absolute("/srv/x/y".into())
        );
        assert_eq!(command_folders("cd ../.. && x")[1], relative_folder("../.."));
        assert_eq!(command_folders("cd \"$HOME\" && x")[1], CommandFolder::Unknown);
        assert_eq!(command_folders("make -C sub test")[0], relative_folder("sub"));
        assert_eq!(command_folders("npm --prefix web test")[0], relative_folder("web"));
    }

    #[test]
    fn absolute_folder_is_that_of_run() {
        for (line, expected) in [
            ("cd /srv/app && pytest", Some("/srv/app")),
            ("cd /srv/app && cd api && pytest; cd /tmp", Some("/srv/app/api")),
            ("cd /srv/app && sed -i s/a/b/ x", Some("/srv/app")),
            ("cd api && pytest", None),
            ("cd /srv && cd ~/app && pytest", None),
            ("pytest", None),
        ] {
            let found = CommandLine::parse(line).absolute_folder();
            assert_eq!(found, expected.map(PathBuf::from), "{line}");
        }
    }
}
