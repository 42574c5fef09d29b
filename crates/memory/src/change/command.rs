//! Which commands may have changed what a test depends on: files, packages, services.
//!
//! A list of those that do, not of those that do not: a fix that is named wrongly teaches nonsense, and one that is not
//! named leaves an episode without a lesson.

use crate::runs::line;
use crate::runs::shell::commands;
use crate::runs::wrapped::unwrapped;

/// Programs that change something whatever they are told.
const ALWAYS: &[&str] = &[
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

/// Programs that change something when one of these words is among their arguments; a leading `-` means an option that may
/// have a suffix.
const WITH: &[(&str, &[&str])] = &[
    ("sed", &["-i", "--in-place", "-ni", "-Ei"]),
    ("perl", &["-i", "-pi", "-pie", "-ni", "-0pi"]),
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
    ("alembic", &["upgrade", "downgrade"]),
    ("prisma", &["migrate", "generate", "db"]),
    ("rails", &["db:migrate", "db:schema:load", "generate"]),
    ("manage.py", &["migrate", "makemigrations", "loaddata"]),
];

/// What scripts write files with.
const WRITING: &[&str] = &[
    ".write(",
    "write_text(",
    "write_bytes(",
    "writelines(",
    "writeFile",
    "File.write",
    "shutil.",
    "os.rename",
    "os.remove",
];

/// Whether a command line may have changed what a test depends on.
pub fn changes_something(line: &str) -> bool {
    writes_a_file(line)
        || is_a_writing_script(line)
        || commands(line).into_iter().any(|simple| changes(&unwrapped(simple.words)))
}

/// Whether a line that runs tests changes something before it runs them: `sed -i … && pytest`. What the run prints into a
/// file, and what is done after it, is no such change.
pub fn changes_beside_its_run(line: &str) -> bool {
    line::before(line).into_iter().any(|simple| changes(&unwrapped(simple.words)))
}

/// Whether a line does nothing to the code but to lay it out in another way.
pub(super) fn only_formats(line: &str) -> bool {
    let mut changing = commands(line)
        .into_iter()
        .map(|simple| unwrapped(simple.words))
        .filter(|words| changes(words))
        .peekable();
    !writes_a_file(line)
        && !is_a_writing_script(line)
        && changing.peek().is_some()
        && changing.all(|words| {
            let second = words.get(1).map_or("", String::as_str);
            match base(&words[0]) {
                "black" | "isort" | "autopep8" | "rustfmt" | "gofmt" | "prettier" => true,
                "cargo" | "go" => second == "fmt",
                "ruff" => second == "format",
                "make" => matches!(second, "fmt" | "format"),
                _ => false,
            }
        })
}

/// What git does to changes that were made before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Undoing {
    /// Puts them away, for a while.
    PutsAway,
    /// Brings back what was put away.
    BringsBack,
    /// Takes all of them out of the tree.
    TakesAll,
    /// Takes those of these files and folders.
    Takes(Vec<String>),
}

/// What a line does to earlier changes by means of git.
pub(super) fn undoing(line: &str) -> Option<Undoing> {
    commands(line).into_iter().rev().find_map(|simple| {
        let words = unwrapped(simple.words);
        let mut words = words.iter().map(String::as_str);
        if base(words.next()?) != "git" {
            return None;
        }
        let mut words = words.skip_while(|word| word.starts_with('-'));
        let verb = words.next()?;
        let words: Vec<&str> = words.collect();
        let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
        let files = || {
            let plain = words.iter().filter(|word| !word.starts_with('-'));
            let plain = plain.map(|word| word.trim_start_matches("./").trim_end_matches('/'));
            let files: Vec<String> = plain.map(str::to_owned).collect();
            if files.iter().any(|file| file == ".") {
                Undoing::TakesAll
            } else {
                Undoing::Takes(files)
            }
        };
        match verb {
            "stash" if has(&["pop", "apply"]) => Some(Undoing::BringsBack),
            "stash" if !has(&["list", "show", "drop", "clear"]) => Some(Undoing::PutsAway),
            // A new branch keeps what is there; another one does not have it.
            "checkout" | "switch" if has(&["-b", "-B", "-c", "-C"]) => None,
            "checkout" if has(&["--"]) || words.iter().any(|word| word.contains('.')) => {
                Some(files())
            }
            "restore" if !has(&["--staged", "-S"]) => Some(files()),
            "checkout" | "switch" => Some(Undoing::TakesAll),
            "reset" if has(&["--hard"]) => Some(Undoing::TakesAll),
            _ => None,
        }
    })
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn changes(words: &[String]) -> bool {
    let Some(tool) = words.first() else { return false };
    let tool = tool.rsplit('/').next().unwrap_or(tool);
    let given = |argument: &str| {
        // `-i.bak`
        let short = argument.len() == 2 && argument.starts_with('-');
        words[1..].iter().any(|word| word == argument || (short && word.starts_with(argument)))
    };
    ALWAYS.contains(&tool)
        || WITH.iter().any(|(name, arguments)| {
            *name == tool && arguments.iter().any(|argument| argument.is_empty() || given(argument))
        })
}

/// `python - <<EOF … write_text(…)`: a script that stands in the line itself.
fn is_a_writing_script(line: &str) -> bool {
    let interpreter = |name: &str| {
        ["python", "node", "ruby", "perl", "deno", "bun"]
            .iter()
            .any(|known| name.starts_with(known))
    };
    WRITING.iter().any(|call| line.contains(call))
        && line
            .split([' ', '\n', ';', '&', '|', '('])
            .any(|word| interpreter(word.rsplit('/').next().unwrap_or(word)))
}

/// `cat > file <<EOF`, `echo x >> file`: output that goes to a file, not away.
fn writes_a_file(line: &str) -> bool {
    // Inside quotes it is a sign like any other.
    let (mut quote, mut escaped) = (None, false);
    let mut rest = line.char_indices().peekable();
    while let Some((at, sign)) = rest.next() {
        match (quote, sign) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(sign),
            (Some(open), _) if open == sign => quote = None,
            // The text of a here-document begins: what follows is no command any more.
            (None, '<') if line[at..].starts_with("<<") && !line[at..].starts_with("<<<") => {
                let first = line[at..].lines().next().unwrap_or_default();
                return writes_a_file(&first.replace("<<", ""))
                    || line[..at].contains('>') && writes_a_file(&line[..at]);
            }
            (None, '>') => {
                while rest.next_if(|(_, sign)| matches!(sign, '>' | '|' | ' ')).is_some() {}
                let target: String = line[rest.peek().map_or(line.len(), |(at, _)| *at)..]
                    .chars()
                    .take_while(|sign| {
                        !sign.is_whitespace() && !matches!(sign, ';' | '&' | '|' | ')')
                    })
                    .collect();
                let away = target.is_empty()
                    || target.starts_with('(')
                    || target.starts_with("/dev/")
                    || target.starts_with("/tmp/")
                    || target.rsplit('.').next() == Some("log");
                if !away {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_files_packages_or_services() {
        for line in [
            "sed -i 's/a/b/' x.py",
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
            "python3 - <<'EOF'\nimport pathlib\npathlib.Path('a.py').write_text('x')\nEOF",
            "node -e \"require('fs').writeFileSync('a.js', '')\"",
        ] {
            assert!(changes_something(line), "{line}");
        }
    }

    #[test]
    fn a_run_that_prints_into_a_file_changes_nothing_beside_itself() {
        assert!(!changes_beside_its_run("pytest > out.txt; cat out.txt"));
        assert!(!changes_beside_its_run("cd api && cargo test 2>&1 | tail"));
        assert!(changes_beside_its_run("sed -i s/a/b/ x.py && pytest"));
        assert!(changes_beside_its_run("npm install && npm test"));
        assert!(!changes_beside_its_run("pytest 2>&1 | tee out.txt"));
        assert!(!changes_beside_its_run("pytest; rm -f out.txt"));
    }

    #[test]
    fn what_lays_code_out_does_nothing_else() {
        for line in ["cargo fmt", "cd api && black .", "npx prettier --write .", "go fmt ./..."] {
            assert!(only_formats(line), "{line}");
        }
        for line in ["cargo fmt && sed -i s/a/b/ x", "ruff check --fix", "ls", "npm install"] {
            assert!(!only_formats(line), "{line}");
        }
    }

    #[test]
    fn what_git_does_to_changes_that_are_there() {
        let takes =
            |files: &[&str]| Undoing::Takes(files.iter().map(|&file| file.into()).collect());
        for (line, expected) in [
            ("git stash", Some(Undoing::PutsAway)),
            ("git stash push -u -m wip && cargo test", Some(Undoing::PutsAway)),
            ("git stash pop", Some(Undoing::BringsBack)),
            ("git stash list", None),
            ("git checkout -- src/a.rs", Some(takes(&["src/a.rs"]))),
            ("cd api && git checkout ./a.rs", Some(takes(&["a.rs"]))),
            ("git checkout .", Some(Undoing::TakesAll)),
            ("git checkout main", Some(Undoing::TakesAll)),
            ("git checkout -b fix", None),
            ("git switch -", Some(Undoing::TakesAll)),
            ("git restore src/", Some(takes(&["src"]))),
            ("git restore --staged src/a.rs", None),
            ("git reset --hard HEAD~1", Some(Undoing::TakesAll)),
            ("git reset HEAD", None),
            ("git pull", None),
            ("sed -i s/a/b/ src/a.rs", None),
            ("git", None),
        ] {
            assert_eq!(undoing(line), expected, "{line}");
        }
    }

    #[test]
    fn what_only_looks() {
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
            "python - <<'EOF'\nprint(1 > 0)\nEOF",
            "",
        ] {
            assert!(!changes_something(line), "{line}");
        }
    }
}
