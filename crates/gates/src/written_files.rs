//! The files that a shell command plainly writes.

use std::path::{Path, PathBuf};

use rutter_runs::command_line::{CommandFolder, CommandLine, ParsedCommand};
use rutter_runs::shell::{RedirectedStream, RedirectionTarget};

use crate::tests_first::FileChange;

/// Options with which `git apply` and `patch` write nothing.
const NO_WRITE_OPTIONS: [&str; 5] = ["--check", "--stat", "--numstat", "--summary", "--dry-run"];

/// A file that a command writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenFile {
    /// The folder of the command.
    pub folder: CommandFolder,
    /// The path, as typed.
    pub path: String,
    /// The new text, if the command contains it.
    pub text: Option<String>,
    /// True if the text is added at the end of the file.
    pub is_appended: bool,
    /// The name of the copied file, which it keeps if `path` is a folder.
    pub source_name: Option<String>,
}

/// Returns the files that a command line plainly writes: by a redirection, `tee`, `sed -i`, `cp` or `mv` onto a file, or
/// `git apply` and `patch` of a here-document. Paths with variables or patterns are left out.
pub fn written_files(line: &CommandLine) -> Vec<WrittenFile> {
    line.commands
        .iter()
        .flat_map(files_of_command)
        .filter(|file| is_plain_path(&file.path))
        .collect()
}

/// Returns the changes of files that a command line plainly makes. `folder` is the one in which it starts; `read` returns the
/// present text of a file.
pub fn command_changes(
    line: &CommandLine,
    folder: &Path,
    read: impl Fn(&Path) -> Option<String>,
) -> Vec<FileChange> {
    let change = |file: WrittenFile| {
        let folder = match file.folder {
            CommandFolder::Relative(inner) => folder.join(inner),
            CommandFolder::Absolute(folder) => PathBuf::from(folder),
            CommandFolder::Unknown => return None,
        };
        let mut path = PathBuf::from(file.path);
        // Into a folder the file keeps its name.
        if let Some(name) = file.source_name.filter(|_| folder.join(&path).is_dir()) {
            path.push(name);
        }
        let old_text = read(&folder.join(&path));
        let new_text = match (file.text, file.is_appended) {
            (Some(text), true) => Some(old_text.clone().unwrap_or_default() + &text),
            (text, _) => text,
        };
        Some(FileChange { path, folder, new_text, old_text })
    };
    written_files(line).into_iter().filter_map(change).collect()
}

fn files_of_command(command: &ParsedCommand) -> Vec<WrittenFile> {
    let new = |path: &str, text: Option<String>, is_appended| WrittenFile {
        folder: command.folder.clone(),
        path: path.to_owned(),
        text,
        is_appended,
        source_name: None,
    };
    let document =
        command.redirections.iter().rev().find_map(|redirection| match &redirection.target {
            RedirectionTarget::Text(text) => Some(text.clone()),
            _ => None,
        });
    let program = command.program();
    let arguments: Vec<&str> = command.words.iter().skip(1).map(String::as_str).collect();
    let operands =
        || arguments.iter().copied().filter(|word| !word.starts_with('-')).collect::<Vec<_>>();
    let has_option = |options: &[&str]| arguments.iter().any(|word| options.contains(word));
    let mut files = Vec::new();
    for redirection in &command.redirections {
        if !matches!(redirection.stream, RedirectedStream::Output | RedirectedStream::Both) {
            continue;
        }
        let text = match program {
            "cat" if operands().is_empty() => document.clone(),
            "echo" if !has_option(&["-e", "-n", "-ne", "-en"]) => {
                Some(format!("{}\n", arguments.join(" ")))
            }
            _ => None,
        };
        match &redirection.target {
            RedirectionTarget::File(path) => files.push(new(path, text, false)),
            RedirectionTarget::Append(path) => files.push(new(path, text, true)),
            RedirectionTarget::Descriptor(_) | RedirectionTarget::Text(_) => {}
        }
    }
    match program {
        "tee" => {
            let is_appended = has_option(&["-a", "--append"]);
            files.extend(
                operands().into_iter().map(|path| new(path, document.clone(), is_appended)),
            );
        }
        "sed" | "gsed" | "perl" if edits_in_place(&arguments) => {
            let scripts = usize::from(!has_option(&["-e", "-f", "--expression"]));
            let words = without_option_values(&arguments);
            files.extend(words.into_iter().skip(scripts).map(|path| new(path, None, false)));
        }
        "cp" | "mv" | "install" => {
            if let [source, target] = operands()[..] {
                let name = source.rsplit('/').next().map(str::to_owned);
                files.push(WrittenFile { source_name: name, ..new(target, None, false) });
            }
        }
        "git" if arguments.first() == Some(&"apply") && !has_option(&NO_WRITE_OPTIONS) => {
            files.extend(patched_files(document.as_deref(), &new));
        }
        "patch" | "apply_patch" if !has_option(&NO_WRITE_OPTIONS) => {
            files.extend(patched_files(document.as_deref(), &new));
        }
        _ => {}
    }
    files
}

/// Returns the files of a patch that add or change lines.
fn patched_files(
    patch: Option<&str>,
    new: &dyn Fn(&str, Option<String>, bool) -> WrittenFile,
) -> Vec<WrittenFile> {
    let file_of_line = |line: &str| {
        let named = line.strip_prefix("+++ ")?.split('\t').next()?;
        let named = named.strip_prefix("b/").unwrap_or(named);
        (named != "/dev/null").then(|| new(named, None, false))
    };
    patch.unwrap_or_default().lines().filter_map(file_of_line).collect()
}

/// Returns true if the options of `sed` or `perl` contain `-i`, alone or with others: `-ni`, `-i.bak`, `-pi`.
fn edits_in_place(arguments: &[&str]) -> bool {
    arguments.iter().any(|word| {
        word.starts_with("--in-place")
            || (word.starts_with('-')
                && !word.starts_with("--")
                && word.split('.').next().is_some_and(|word| word.contains('i')))
    })
}

/// Returns the words that are neither options nor the values of `-e` and `-f`.
fn without_option_values<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let mut words = Vec::new();
    let mut skips = false;
    for word in arguments {
        if skips {
            skips = false;
        } else if matches!(*word, "-e" | "-f" | "--expression" | "--file") {
            skips = true;
        } else if !word.starts_with('-') && !word.is_empty() {
            words.push(*word);
        }
    }
    words
}

fn is_plain_path(path: &str) -> bool {
    !path.is_empty()
        && !path.contains(['$', '*', '?', '`', '{', '\n'])
        && !path.starts_with("/dev/")
        && path != "-"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(line: &str) -> Vec<String> {
        written_files(&CommandLine::parse(line)).into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn writes_are_found() {
        for (line, expected) in [
            ("echo x > src/a.py", &["src/a.py"][..]),
            ("echo 'a > b' | grep b", &[]),
            ("cat a.py > /dev/null 2>&1", &[]),
            ("make 2> errors.log", &[]),
            ("cat <<'EOF' > src/a.py\nx = 1\nEOF", &["src/a.py"]),
            ("echo x | tee -a src/a.py src/b.py", &["src/a.py", "src/b.py"]),
            ("sed -i 's/a/b/' src/a.py", &["src/a.py"]),
            ("sed -i.bak -e s/a/b/ src/a.py", &["src/a.py"]),
            ("sed -n 's/a/b/p' src/a.py", &[]),
            ("perl -pi -e 's/a/b/' src/a.py", &["src/a.py"]),
            ("cp /tmp/a.py src/a.py", &["src/a.py"]),
            ("mv a.py src/", &["src/"]),
            (
                "git apply <<'EOF'\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1 @@\n-x\n+y\nEOF",
                &["src/a.py"],
            ),
            ("cat src/a.py", &[]),
            ("echo x > \"$FILE\"", &[]),
        ] {
            assert_eq!(paths(line), expected, "{line}");
        }
    }

    #[test]
    fn text_of_a_document_is_known() {
        let line = CommandLine::parse("cd src && cat > a.py <<'EOF'\nx = 1\nEOF");
        let files = written_files(&line);
        assert_eq!(files[0].text.as_deref(), Some("x = 1\n"));
        assert_eq!(files[0].folder, CommandFolder::Relative("src".to_owned()));
    }
}
