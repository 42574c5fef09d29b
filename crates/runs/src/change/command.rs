//! Commands that may have changed what a test depends on: files, packages, services.
//!
//! The lists name the programs that change something, not those that do not: a wrongly named fix teaches nonsense,
//! while a missing one only leaves an episode without a lesson.

use crate::command_line::{CommandFolder, CommandLine, ParsedCommand};
use crate::shell::{RedirectedStream, RedirectionTarget};
use crate::table;

/// Programs that change something with any arguments.
const CHANGING_PROGRAMS: &[&str] = &[
    "patch",
    "mv",
    "cp",
    "rm",
    "touch",
    "ln",
    "chmod",
    "mkdir",
    "tee",
    "install",
    "rsync",
    "unzip",
    "dos2unix",
    "truncate",
    "pg_ctl",
    "createdb",
    "dropdb",
    "redis-server",
    "ed",
    "ex",
    "isort",
    "autopep8",
    "codegen",
    "protoc",
];

/// Programs that change something if one of these words is among their arguments; a short option such as `-i` may have
/// a suffix.
const CHANGING_ARGUMENTS: &[(&str, &[&str])] = &[
    ("sed", &["-i", "--in-place", "-ni", "-Ei"]),
    ("perl", &["-i", "-pi", "-pie", "-ni", "-0pi"]),
    ("ruby", &["-i", "-pi"]),
    ("ast-grep", &["-U", "--update-all"]),
    ("sg", &["-U", "--update-all"]),
    ("comby", &["-i", "-in-place"]),
    ("awk", &["inplace"]),
    ("gawk", &["inplace"]),
    (
        "git",
        &[
            "checkout",
            "restore",
            "apply",
            "stash",
            "revert",
            "reset",
            "merge",
            "cherry-pick",
            "am",
            "pull",
            "rebase",
            "switch",
            "clean",
            "mv",
            "rm",
            "submodule",
        ],
    ),
    ("npm", &["install", "i", "ci", "add", "update", "uninstall", "rebuild", "dedupe", "audit"]),
    ("pnpm", &["install", "i", "add", "update", "up", "remove"]),
    ("yarn", &["install", "add", "upgrade", "remove"]),
    ("bun", &["install", "i", "add", "update", "remove"]),
    ("pip", &["install", "uninstall"]),
    ("pip3", &["install", "uninstall"]),
    ("uv", &["add", "sync", "remove", "lock", "install"]),
    ("poetry", &["add", "install", "update", "remove", "lock"]),
    ("conda", &["install", "update", "remove"]),
    ("cargo", &["add", "update", "remove", "fix", "fmt", "--fix"]),
    ("go", &["get", "mod", "generate", "fmt"]),
    ("bundle", &["install", "update", "add"]),
    ("gem", &["install"]),
    ("composer", &["install", "update", "require", "remove"]),
    ("dotnet", &["add", "restore", "remove"]),
    ("apt", &["install"]),
    ("apt-get", &["install"]),
    ("brew", &["install", "services", "upgrade"]),
    ("docker", &["start", "run", "up", "restart", "stop", "down"]),
    ("docker-compose", &["up", "start", "restart", "down", "stop"]),
    ("podman", &["start", "run", "up", "restart"]),
    ("systemctl", &["start", "restart", "stop"]),
    ("service", &["start", "restart", "stop"]),
    ("make", &["install", "generate", "gen", "fmt", "format", "clean"]),
    ("black", &[""]),
    ("ruff", &["format", "--fix"]),
    ("gofmt", &["-w"]),
    ("rustfmt", &[""]),
    ("prettier", &["--write", "-w"]),
    ("eslint", &["--fix"]),
    ("biome", &["--write", "--fix", "--apply", "--apply-unsafe"]),
    ("oxlint", &["--fix"]),
    ("stylelint", &["--fix"]),
    ("rubocop", &["-a", "-A", "--autocorrect", "--autocorrect-all"]),
    ("golangci-lint", &["--fix", "fmt"]),
    ("pre-commit", &["run"]),
    ("dotnet", &["format"]),
    ("dart", &["format", "fix"]),
    ("mix", &["format"]),
    ("terraform", &["fmt"]),
    ("alembic", &["upgrade", "downgrade"]),
    ("prisma", &["migrate", "generate", "db"]),
    ("rails", &["db:migrate", "db:schema:load", "generate"]),
    ("manage.py", &["migrate", "makemigrations", "loaddata"]),
];

/// Calls in scripts that write files.
const WRITING_CALLS: &[&str] = &[
    ".write(",
    "write_text(",
    "write_bytes(",
    "writelines(",
    "writeFile",
    "File.write",
    "shutil.",
    "os.rename",
    "os.remove",
    "'w')",
    "\"w\")",
];

/// Returns true if a command line may have changed what a test depends on.
pub fn may_change_state(line: &CommandLine) -> bool {
    line.commands.iter().any(is_change) || runs_written_script(line)
}

/// Returns true if one command of a line contains a script that writes files and another is an interpreter:
/// `cat > /tmp/fix.py <<EOF …` and `python3 /tmp/fix.py`.
fn runs_written_script(line: &CommandLine) -> bool {
    line.commands.iter().any(has_writing_document) && line.commands.iter().any(is_interpreter)
}

/// Returns true if a line changes something before its last run: `sed -i … && pytest`, `echo x >> f && ruff`. Output of
/// the run that goes to a file, and changes after it, do not count.
pub fn changes_before_run(line: &CommandLine) -> bool {
    let last = line.commands.iter().rposition(|command| table::is_run(&command.words));
    line.commands[..last.unwrap_or(0)]
        .iter()
        .any(|command| !table::is_run(&command.words) && is_change(command))
}

/// Returns the files that a command line may write, as typed: targets of redirections, words that look like paths, and
/// quoted words in scripts.
pub fn named_files(line: &CommandLine) -> Vec<(&CommandFolder, String)> {
    let mut files: Vec<(&CommandFolder, String)> = Vec::new();
    for command in &line.commands {
        for file in files_of_command(command) {
            if !files.iter().any(|known| known.0 == &command.folder && known.1 == file) {
                files.push((&command.folder, file));
            }
        }
    }
    files
}

fn files_of_command(command: &ParsedCommand) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    let mut add = |word: &str| {
        let word = word.trim_matches(['"', '\'', ',', ')', '(']);
        let plausible = word.len() < 200
            && !word.starts_with('-')
            && !word.contains(['$', '{', '|', '\n', '['])
            && word.matches('*').count() <= 1
            && (word.contains('.') || word.contains('/'))
            // Not a folder, a number, or a `sed` script.
            && word.contains(|sign: char| sign.is_ascii_alphabetic())
            && !word.ends_with(['/', '.'])
            && !is_substitution(word)
            && !word.contains("://");
        if plausible && !files.iter().any(|known| known == word) {
            files.push(word.to_owned());
        }
    };
    for redirection in &command.redirections {
        match &redirection.target {
            RedirectionTarget::File(path) | RedirectionTarget::Append(path) => add(path),
            RedirectionTarget::Text(text) => {
                for word in quoted_words(text) {
                    add(word);
                }
                for word in patched_files(text) {
                    add(word);
                }
            }
            RedirectionTarget::Descriptor(_) => {}
        }
    }
    for word in command.words.iter().skip(1) {
        add(word);
        // `python -c "open('a.py', 'w')"`
        for word in quoted_words(word) {
            add(word);
        }
    }
    files
}

/// Returns true if a word replaces text: `s/a/b/g` of `sed` and `perl`.
fn is_substitution(word: &str) -> bool {
    ["s/", "y/", "s|", "s#", "s,"]
        .iter()
        .any(|start| word.starts_with(start) && word.matches(&start[1..]).count() == 3)
}

/// Returns the quoted words of a script.
fn quoted_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(['"', '\'']).skip(1).step_by(2).filter(|word| !word.contains(char::is_whitespace))
}

/// Returns the files of a patch: `+++ b/src/a.rs`.
fn patched_files(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let path = line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- "))?;
        let path = path.split('\t').next().unwrap_or(path);
        Some(path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path))
    })
}

/// Returns true if a command has the same effect each time, so that it can be recommended: an installation, a
/// migration, a formatter. `git revert HEAD` and `git stash pop` do not, and only the first line of an inline script is
/// stored.
pub fn is_repeatable(line: &str) -> bool {
    let parsed = CommandLine::parse(line);
    !line.ends_with('…')
        && parsed.commands.iter().filter(|command| is_change(command)).all(|command| {
            !matches!(
                command.program(),
                "git"
                    | "patch"
                    | "sed"
                    | "perl"
                    | "awk"
                    | "gawk"
                    | "find"
                    | "tee"
                    | "cat"
                    | "echo"
                    | "printf"
                    | "ed"
                    | "ex"
            ) && !writes_file(command)
                && !is_writing_script(command)
        })
}

/// Returns true if a line changes only the layout of code.
pub(super) fn only_formats(line: &str) -> bool {
    let parsed = CommandLine::parse(line);
    let mut changing = parsed.commands.iter().filter(|command| is_change(command)).peekable();
    changing.peek().is_some()
        && changing.all(|command| {
            let second = command.words.get(1).map_or("", String::as_str);
            let task = table::find_task(&command.words).map(|task| task.name);
            match command.program() {
                "black" | "isort" | "autopep8" | "rustfmt" | "gofmt" | "prettier" => true,
                "cargo" | "go" | "golangci-lint" | "terraform" => second == "fmt",
                "ruff" | "biome" | "dotnet" | "dart" | "mix" => second == "format",
                _ => task.is_some_and(|task| task.ends_with(" fmt") || task.ends_with(" format")),
            }
        })
}

/// The effect of a git command on earlier changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitEffect {
    /// Stashes them.
    Stashes,
    /// Restores stashed changes.
    Unstashes,
    /// Removes all of them from the working tree.
    RevertsAll,
    /// Removes those in these files and folders.
    Reverts(Vec<String>),
}

/// Determines the effect of the git commands in a line on earlier changes.
pub fn git_effect(line: &CommandLine) -> Option<GitEffect> {
    line.commands.iter().rev().find_map(|command| {
        if command.program() != "git" {
            return None;
        }
        let mut words =
            command.words[1..].iter().map(String::as_str).skip_while(|word| word.starts_with('-'));
        let verb = words.next()?;
        let words: Vec<&str> = words.collect();
        let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
        let files = || {
            let plain = words.iter().filter(|word| !word.starts_with('-'));
            let plain = plain.map(|word| word.trim_start_matches("./").trim_end_matches('/'));
            let files: Vec<String> = plain.map(str::to_owned).collect();
            if files.iter().any(|file| file == ".") {
                GitEffect::RevertsAll
            } else {
                GitEffect::Reverts(files)
            }
        };
        match verb {
            "stash" if has(&["pop", "apply"]) => Some(GitEffect::Unstashes),
            "stash" if !has(&["list", "show", "drop", "clear"]) => Some(GitEffect::Stashes),
            // A new branch keeps the changes; another existing branch does not have them.
            "checkout" | "switch" if has(&["-b", "-B", "-c", "-C"]) => None,
            "checkout" if has(&["--"]) || words.iter().any(|word| word.contains('.')) => {
                Some(files())
            }
            "restore" if !has(&["--staged", "-S"]) => Some(files()),
            "checkout" | "switch" => Some(GitEffect::RevertsAll),
            "reset" if has(&["--hard"]) => Some(GitEffect::RevertsAll),
            _ => None,
        }
    })
}

/// Returns true if a command changes files, packages or services.
fn is_change(command: &ParsedCommand) -> bool {
    writes_file(command) || is_writing_script(command) || is_changing_program(command)
}

fn is_changing_program(command: &ParsedCommand) -> bool {
    let Some((_, arguments)) = command.words.split_first() else { return false };
    let tool = command.program();
    let given = |argument: &str| {
        // `-i.bak`
        let short = argument.len() == 2 && argument.starts_with('-');
        arguments.iter().any(|word| word == argument || (short && word.starts_with(argument)))
    };
    if tool == "find" {
        let at = arguments.iter().position(|word| matches!(word.as_str(), "-exec" | "-execdir"));
        let inner = at.map(|at| arguments[at + 1..].to_vec());
        return given("-delete")
            || inner.is_some_and(|words| {
                is_changing_program(&ParsedCommand { words, ..command.clone() })
            });
    }
    // A task with a telling name: `npm run lint:fix`, `mise run fmt`.
    let fixes = table::find_task(&command.words).is_some_and(|task| {
        let name = task.name.rsplit(' ').next().unwrap_or_default();
        name.split([':', '-', '_', '.']).any(|part| {
            matches!(part, "fix" | "fmt" | "format" | "generate" | "codegen" | "migrate")
        })
    });
    fixes
        || CHANGING_PROGRAMS.contains(&tool)
        || CHANGING_ARGUMENTS.iter().any(|(name, arguments)| {
            *name == tool && arguments.iter().any(|argument| argument.is_empty() || given(argument))
        })
}

/// Returns true if a command runs an inline script that writes files: `python - <<EOF … write_text(…)`.
fn is_writing_script(command: &ParsedCommand) -> bool {
    is_interpreter(command)
        && (has_writing_document(command)
            || command.words.iter().any(|word| contains_write_call(word)))
}

fn is_interpreter(command: &ParsedCommand) -> bool {
    let interpreter = ["python", "node", "ruby", "perl", "deno", "bun"];
    std::iter::once(command.program())
        .chain(command.wrappers.iter().map(|word| word.rsplit('/').next().unwrap_or(word)))
        .any(|program| interpreter.iter().any(|known| program.starts_with(known)))
}

/// Returns true if a here-document of the command is a script that writes files.
fn has_writing_document(command: &ParsedCommand) -> bool {
    command
        .redirections
        .iter()
        .any(|redirection| matches!(&redirection.target, RedirectionTarget::Text(text) if contains_write_call(text)))
}

fn contains_write_call(script: &str) -> bool {
    WRITING_CALLS.iter().any(|call| script.contains(call))
}

/// Returns true if output other than that of a run goes to a file of the project: `cat > file <<EOF`, `echo x >> file`.
fn writes_file(command: &ParsedCommand) -> bool {
    !table::is_run(&command.words)
        && command.redirections.iter().any(|redirection| {
            let (RedirectionTarget::File(path) | RedirectionTarget::Append(path)) =
                &redirection.target
            else {
                return false;
            };
            let is_output =
                matches!(redirection.stream, RedirectedStream::Output | RedirectedStream::Both);
            let elsewhere = path.is_empty()
                || path.starts_with("/dev/")
                || path.starts_with("/tmp/")
                || path.starts_with('$')
                || path.rsplit('.').next() == Some("log");
            is_output && !elsewhere
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes_before_run_of(line: &str) -> bool {
        changes_before_run(&CommandLine::parse(line))
    }

    #[test]
    fn changing_commands_are_recognised() {
        for line in [
            "sed -i 's/a/b/' x.py",
            "find . -name '*.py' -exec sed -i s/a/b/ {} +",
            "cat > /tmp/fix.py <<'EOF'\nopen('a.py', 'w').write(x)\nEOF\npython3 /tmp/fix.py",
            "cat <<'EOF' | python3 -\nopen('a.py', 'w').write(x)\nEOF",
            "python3 - <<'EOF'\njson.dump(x, open('a.json', 'w'))\nEOF",
            "ruby -i -pe 'gsub(1, 2)' a.rb",
            "sed -i.bak 's/a/b/' x.py && git diff",
            "perl -pi -e 's/a/b/' x",
            "git checkout -- src/a.rs",
            "git stash pop",
            "cat > a.py <<'EOF'\nx = 1\nEOF",
            "cat <<EOF > a.py\nx\nEOF",
            "echo 'x' >> conftest.py",
            "cd api && npm install --save left-pad",
            "uv pip install requests",
            "sudo apt-get install -y libpq-dev",
            "docker compose up -d db",
            "mv a.py b.py",
            "python manage.py migrate",
            "npx prettier --write .",
            "cargo clippy --fix --allow-dirty",
            "bun run lint:fix",
            "mise run fmt && mise run lint",
            "npx biome check --write src",
            "python3 - <<'EOF'\nimport pathlib\npathlib.Path('a.py').write_text('x')\nEOF",
            "node -e \"require('fs').writeFileSync('a.js', '')\"",
        ] {
            assert!(may_change_state(&CommandLine::parse(line)), "{line}");
        }
    }

    #[test]
    fn redirected_run_is_no_change() {
        assert!(!changes_before_run_of("pytest > out.txt; cat out.txt"));
        assert!(!changes_before_run_of("cd api && cargo test 2>&1 | tail"));
        assert!(changes_before_run_of("sed -i s/a/b/ x.py && pytest"));
        assert!(changes_before_run_of("npm install && npm test"));
        assert!(!changes_before_run_of("pytest 2>&1 | tee out.txt"));
        assert!(!changes_before_run_of("pytest; rm -f out.txt"));
    }

    #[test]
    fn formatters_only_format() {
        for line in [
            "cargo fmt",
            "cd api && black .",
            "npx prettier --write .",
            "go fmt ./...",
            "mise run fmt",
            "bun run format",
        ] {
            assert!(only_formats(line), "{line}");
        }
        for line in ["cargo fmt && sed -i s/a/b/ x", "ruff check --fix", "ls", "npm install"] {
            assert!(!only_formats(line), "{line}");
        }
    }

    #[test]
    fn git_effects_are_recognised() {
        let takes =
            |files: &[&str]| GitEffect::Reverts(files.iter().map(|&file| file.into()).collect());
        for (line, expected) in [
            ("git stash", Some(GitEffect::Stashes)),
            ("git stash push -u -m wip && cargo test", Some(GitEffect::Stashes)),
            ("git stash pop", Some(GitEffect::Unstashes)),
            ("git stash list", None),
            ("git checkout -- src/a.rs", Some(takes(&["src/a.rs"]))),
            ("cd api && git checkout ./a.rs", Some(takes(&["a.rs"]))),
            ("git checkout .", Some(GitEffect::RevertsAll)),
            ("git checkout main", Some(GitEffect::RevertsAll)),
            ("git checkout -b fix", None),
            ("git switch -", Some(GitEffect::RevertsAll)),
            ("git restore src/", Some(takes(&["src"]))),
            ("git restore --staged src/a.rs", None),
            ("git reset --hard HEAD~1", Some(GitEffect::RevertsAll)),
            ("git reset HEAD", None),
            ("git pull", None),
            ("sed -i s/a/b/ src/a.rs", None),
            ("git", None),
        ] {
            assert_eq!(git_effect(&CommandLine::parse(line)), expected, "{line}");
        }
    }

    #[test]
    fn named_files_are_found() {
        let files = |line: &str| -> Vec<String> {
            named_files(&CommandLine::parse(line)).into_iter().map(|(_, file)| file).collect()
        };
        let line = CommandLine::parse("cd a && sed -i s/x/y/ f.py && cd .. && touch g.py");
        let folders: Vec<&CommandFolder> =
            named_files(&line).into_iter().map(|(folder, _)| folder).collect();
        assert_eq!(folders[0], &CommandFolder::Relative("a".to_owned()));
        assert_ne!(folders[0], folders[1]);
        assert_eq!(files("sed -i s/a/b/ src/*.py"), ["src/*.py"]);
        assert_eq!(files("sed -i 's/a/b/' src/x.py shop/y.py"), ["src/x.py", "shop/y.py"]);
        assert_eq!(files("cat > a.py <<'EOF'\nx = 1\nEOF"), ["a.py"]);
        let script = "python3 - <<'EOF'\np = Path(\"shop/cart.py\")\np.write_text(p.read_text().replace('a b', 'c'))\nEOF";
        assert_eq!(files(script), ["shop/cart.py"]);
        assert_eq!(files("git apply <<'EOF'\n--- a/x.go\n+++ b/x.go\nEOF"), ["x.go"]);
        for line in ["npm install", "black .", "grep -rl 0.9 x | xargs sed -i s/a/b/g"] {
            assert_eq!(files(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn relative_commands_are_not_repeatable() {
        for (line, expected) in [
            ("npm install", true),
            ("cargo fmt", true),
            ("docker compose up -d db", true),
            ("python manage.py migrate", true),
            ("git revert HEAD", false),
            ("git stash pop", false),
            ("sed -i s/a/b/ x.py", false),
            ("find . -name '*.py' -exec sed -i s/a/b/ {} +", false),
            ("cat > a.py <<'EOF' …", false),
        ] {
            assert_eq!(is_repeatable(line), expected, "{line}");
        }
    }

    #[test]
    fn read_only_commands_change_nothing() {
        for line in [
            "ls -la",
            "cat a.py",
            "grep -rn 'a > b' src",
            "git status && git diff HEAD~1",
            "git log --oneline | head -5",
            "pytest 2>&1 | tail -20",
            "cargo test > /dev/null 2>&1",
            "cargo test &> test.log",
            "sed -n 1,20p a.py",
            "echo 'a > b'",
            "diff <(ls a) <(ls b)",
            "python -c 'print(1 > 0)'",
            "find . -name '*.py' 2>/dev/null",
            "find . -name '*.py' -exec grep -n total {} +",
            "cat > /tmp/look.py <<'EOF'\nprint(open('a.py').read())\nEOF\npython3 /tmp/look.py",
            "python - <<'EOF'\nprint(1 > 0)\nEOF",
            "",
        ] {
            assert!(!may_change_state(&CommandLine::parse(line)), "{line}");
        }
    }
}
