//! Programs that run the command in their arguments, and the search for that command.

use super::shell::is_shell;
use super::table;

/// A program that takes a command as its arguments.
struct Wrapper {
    /// The words that start it.
    start: &'static str,
    /// Options that take the next word as their value.
    valued: &'static str,
    /// Number of plain words before the command: a duration, a container.
    operands: usize,
}

const fn plain_wrapper(start: &'static str) -> Wrapper {
    Wrapper { start, valued: "", operands: 0 }
}

const fn with_values(start: &'static str, valued: &'static str) -> Wrapper {
    Wrapper { start, valued, operands: 0 }
}

const fn with_operands(start: &'static str, valued: &'static str, operands: usize) -> Wrapper {
    Wrapper { start, valued, operands }
}

const WRAPPERS: &[Wrapper] = &[
    with_values("env", "-u --unset -C --chdir -S"),
    plain_wrapper("time"),
    with_operands("timeout", "-k --kill-after -s --signal", 1),
    with_operands("gtimeout", "-k --kill-after -s --signal", 1),
    with_values("nice", "-n --adjustment"),
    with_values("ionice", "-c -n"),
    plain_wrapper("nohup"),
    with_values("sudo", "-u -g -C"),
    with_values("stdbuf", "-i -o -e"),
    with_values("xvfb-run", "-s -n -e --server-args"),
    plain_wrapper("unbuffer"),
    plain_wrapper("setsid"),
    plain_wrapper("caffeinate"),
    plain_wrapper("arch"),
    plain_wrapper("command"),
    plain_wrapper("exec"),
    plain_wrapper("builtin"),
    with_values("xargs", "-n -P -I -L -d"),
    with_operands("flock", "-w", 1),
    with_operands("faketime", "-f", 1),
    with_values("strace", "-o -e -p"),
    plain_wrapper("valgrind"),
    plain_wrapper("perf stat"),
    plain_wrapper("npx"),
    plain_wrapper("bunx"),
    with_values("uvx", "--from --with --python -p"),
    with_values(
        "uv run",
        "--with --python -p --project --directory --group --extra --env-file --package",
    ),
    with_values("uv tool run", "--from --with"),
    with_values("poetry run", "-C"),
    plain_wrapper("pipenv run"),
    plain_wrapper("hatch run"),
    plain_wrapper("pdm run"),
    plain_wrapper("rye run"),
    with_values("conda run", "-n --name -p --prefix"),
    with_values("micromamba run", "-n -p"),
    plain_wrapper("pixi run"),
    plain_wrapper("bundle exec"),
    plain_wrapper("pnpm exec"),
    plain_wrapper("pnpm dlx"),
    plain_wrapper("yarn exec"),
    plain_wrapper("yarn dlx"),
    plain_wrapper("npm exec"),
    plain_wrapper("bun x"),
    with_values("dotenv", "-e -f -c -p -v"),
    with_values("dotenvx run", "-f --env-file -e --env"),
    with_values("env-cmd", "-f -e -r"),
    plain_wrapper("cross-env"),
    plain_wrapper("mise exec"),
    plain_wrapper("mise x"),
    plain_wrapper("asdf exec"),
    with_operands("direnv exec", "", 1),
    with_values("nix develop", "--command"),
    plain_wrapper("nix shell"),
    plain_wrapper("devbox run"),
    plain_wrapper("doppler run"),
    plain_wrapper("op run"),
    plain_wrapper("infisical run"),
    with_operands("chamber exec", "", 1),
    with_operands("aws-vault exec", "", 1),
    with_operands("docker exec", DOCKER_VALUED, 1),
    with_operands("docker run", DOCKER_VALUED, 1),
    with_operands("docker compose run", DOCKER_VALUED, 1),
    with_operands("docker compose exec", DOCKER_VALUED, 1),
    with_operands("docker-compose run", DOCKER_VALUED, 1),
    with_operands("docker-compose exec", DOCKER_VALUED, 1),
    with_operands("podman exec", DOCKER_VALUED, 1),
    with_operands("podman run", DOCKER_VALUED, 1),
    with_operands("kubectl exec", "-n --namespace -c --container", 1),
    with_values("coverage run", "--source --rcfile --omit --include"),
    plain_wrapper("rtk proxy"),
    plain_wrapper("rtk test"),
    plain_wrapper("rtk lint"),
    plain_wrapper("rtk err"),
    plain_wrapper("rtk"),
];

const DOCKER_VALUED: &str = "-e --env --env-file -v --volume -w --workdir -u --user --name -p --publish --entrypoint \
     --network --platform -f --file --profile --project-name --mount";

/// Programs with data as arguments: the name of a runner among them starts no run.
const NOT_WRAPPERS: &[&str] = &[
    "[",
    "[[",
    "alias",
    "apk",
    "apt",
    "apt-get",
    "awk",
    "basename",
    "bat",
    "brew",
    "cat",
    "cd",
    "chmod",
    "chown",
    "code",
    "cp",
    "curl",
    "cut",
    "dd",
    "df",
    "diff",
    "dirname",
    "dnf",
    "du",
    "echo",
    "egrep",
    "eval",
    "export",
    "fd",
    "fgrep",
    "file",
    "find",
    "gem",
    "gh",
    "git",
    "glab",
    "grep",
    "head",
    "history",
    "jq",
    "kill",
    "killall",
    "less",
    "ln",
    "ls",
    "man",
    "mkdir",
    "more",
    "mv",
    "nano",
    "open",
    "pgrep",
    "pip",
    "pip3",
    "pkill",
    "printf",
    "ps",
    "pwd",
    "read",
    "readlink",
    "realpath",
    "rg",
    "rm",
    "rsync",
    "scp",
    "sed",
    "sleep",
    "sort",
    "source",
    "stat",
    "tail",
    "tar",
    "tee",
    "test",
    "touch",
    "tr",
    "tree",
    "type",
    "uniq",
    "unset",
    "vi",
    "vim",
    "watch",
    "wc",
    "wget",
    "whereis",
    "which",
    "xxd",
    "yq",
    "zip",
    "unzip",
    ".",
    "for",
    "case",
    "local",
    "set",
    "tmux",
    "screen",
    "ssh",
    "journalctl",
    "systemctl",
    "service",
    "yum",
    "pacman",
    "port",
    "nvm",
    "rustup",
    "pyenv",
    "rbenv",
    "volta",
    "claude",
    "rutter",
    "column",
];

/// Returns true if the arguments of a program are data, not a command.
pub(super) fn takes_data(program: &str) -> bool {
    NOT_WRAPPERS.contains(&base_name(program))
}

/// Maximum number of words of an unknown program before the runner that it wraps.
const MAX_UNKNOWN_PREFIX: usize = 3;

/// Returns true if a package manager starts a program of a package by its name: `yarn jest`.
fn starts_package_program(words: &[String]) -> bool {
    matches!(words, [manager, program, ..] if matches!(manager.as_str(), "yarn" | "pnpm" | "bun")
        && !matches!(program.as_str(), "test" | "build")
        && table::find_runner(&words[1..]).is_some())
}

/// A command without its wrappers.
#[derive(Debug, Default)]
pub(super) struct UnwrappedCommand {
    /// Variables that are set for the command.
    pub(super) variables: Vec<(String, String)>,
    /// The words of the wrappers.
    pub(super) wrappers: Vec<String>,
    /// The program and its arguments.
    pub(super) words: Vec<String>,
    /// True if the exit status is inverted or consumed.
    pub(super) is_condition: bool,
}

/// Removes variables, keywords and wrappers from the front of a command.
pub(super) fn unwrap_command(words: Vec<String>) -> UnwrappedCommand {
    let mut found = UnwrappedCommand { words, ..UnwrappedCommand::default() };
    while found.unwrap_layer() {}
    if let Some(head) = found.words.first_mut() {
        *head = canonical_name(head);
    }
    found
}

impl UnwrappedCommand {
    /// Removes one layer; returns false after the last one.
    fn unwrap_layer(&mut self) -> bool {
        let Some(head) = self.words.first() else { return false };
        if let Some((name, value)) = split_assignment(head) {
            self.variables.push((name.to_owned(), value.to_owned()));
            self.words.remove(0);
            return true;
        }
        match head.as_str() {
            "!" | "if" | "elif" | "while" | "until" => {
                self.is_condition = true;
                self.words.remove(0);
                return true;
            }
            "then" | "else" | "do" | "{" => {
                self.words.remove(0);
                return true;
            }
            _ => {}
        }
        if let Some(length) = wrapper_length(&self.words) {
            self.move_to_wrappers(length);
            return true;
        }
        if starts_package_program(&self.words) {
            self.move_to_wrappers(1);
            return true;
        }
        if let Some(length) = interpreter_length(&self.words) {
            self.move_to_wrappers(length);
            return true;
        }
        if let Some(length) = unknown_prefix_length(&self.words) {
            self.move_to_wrappers(length);
            return true;
        }
        false
    }

    /// Moves the first `length` words to the wrappers.
    fn move_to_wrappers(&mut self, length: usize) {
        let words: Vec<String> = self.words.drain(..length).collect();
        for word in words {
            match split_assignment(&word) {
                Some((name, value)) => self.variables.push((name.to_owned(), value.to_owned())),
                None => self.wrappers.push(word),
            }
        }
    }
}

/// Splits `NAME=value`.
pub(super) fn split_assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = name.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_')
        && name.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_');
    is_name.then_some((name, value))
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Counts the words of a known wrapper up to the command that it runs.
fn wrapper_length(words: &[String]) -> Option<usize> {
    let (wrapper, start) = WRAPPERS
        .iter()
        .find_map(|wrapper| start_length(wrapper.start, words).map(|length| (wrapper, length)))?;
    let is_value = |flag: &str| wrapper.valued.split(' ').any(|valued| valued == flag);
    let mut at = start;
    let mut operands = wrapper.operands;
    while let Some(word) = words.get(at) {
        if word == "--" {
            return (at + 1 < words.len()).then_some(at + 1);
        } else if matches!(
            (wrapper.start, word.as_str()),
            ("coverage run", "-m") | ("nix develop", "-c" | "--command")
        ) {
            return Some(at + 1);
        } else if word.starts_with('-') {
            at += if is_value(word) { 2 } else { 1 };
        } else if split_assignment(word).is_some() || is_tool_version(wrapper.start, word) {
            at += 1;
        } else if operands > 0 {
            operands -= 1;
            at += 1;
        } else {
            break;
        }
    }
    if let Some(dashes) =
        words.iter().skip(at).take(MAX_UNKNOWN_PREFIX).position(|word| word == "--")
        && !is_known_head(&words[at..])
    {
        return (at + dashes + 1 < words.len()).then_some(at + dashes + 1);
    }
    // The word after an unknown option may be its value: if it is not a known program, a runner shortly after it
    // counts.
    let head = words.get(at).map_or("", |word| base_name(word));
    let next = if is_known_head(&words[at.min(words.len())..]) || takes_data(head) {
        at
    } else {
        let near = at..words.len().min(at + MAX_UNKNOWN_PREFIX);
        near.into_iter().find(|from| table::find_runner(&words[*from..]).is_some()).unwrap_or(at)
    };
    // A wrapper without a command is an ordinary program: `time`, `docker run image`.
    (next < words.len()).then_some(next)
}

/// `mise exec node@22 -- …`
fn is_tool_version(wrapper: &str, word: &str) -> bool {
    wrapper.starts_with("mise ") && word.contains('@')
}

fn is_known_head(words: &[String]) -> bool {
    let head = words.first().map_or("", |word| base_name(word));
    table::is_known_program(head) || is_shell(head) || is_interpreter(head)
}

/// Counts the words of a start such as `docker compose exec`; options may come between them.
fn start_length(start: &str, words: &[String]) -> Option<usize> {
    let mut parts = start.split(' ');
    if parts.next()? != base_name(words.first()?) {
        return None;
    }
    let mut at = 1;
    for part in parts {
        let mut options = 0;
        while words.get(at).is_some_and(|word| word.starts_with('-')) && options < 4 {
            let flag = &words[at];
            let joined = flag.contains('=')
                || !DOCKER_VALUED.split(' ').any(|valued| valued == flag)
                    && flag != "--filter"
                    && flag != "-F";
            at += if joined { 1 } else { 2 };
            options += 1;
        }
        if words.get(at)? != part {
            return None;
        }
        at += 1;
    }
    Some(at)
}

fn is_interpreter(base: &str) -> bool {
    base.starts_with("python") || matches!(base, "node" | "ruby" | "php" | "tsx" | "ts-node")
}

/// Counts the words before the module or script that an interpreter runs.
fn interpreter_length(words: &[String]) -> Option<usize> {
    let head = base_name(words.first()?);
    if head.starts_with("python") {
        let mut at = 1;
        while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
            match word.as_str() {
                "-m" => return (at + 1 < words.len()).then_some(at + 1),
                "-c" | "-" => return None,
                "-W" | "-X" => at += 2,
                _ => at += 1,
            }
        }
        return (at < words.len()).then_some(at);
    }
    if is_shell(head) || is_interpreter(head) {
        // `bash -x ./test.sh`; `node --test` and `php -r` are not wrappers.
        let at = 1 + words[1..]
            .iter()
            .take_while(|word| is_shell(head) && word.starts_with('-'))
            .count();
        return words.get(at).filter(|word| !word.starts_with('-')).map(|_| at);
    }
    None
}

/// Counts the words of an unknown program before a run.
fn unknown_prefix_length(words: &[String]) -> Option<usize> {
    let head = base_name(words.first()?);
    if table::is_known_program(head) || takes_data(head) || head.contains('=') {
        return None;
    }
    (1..words.len().min(MAX_UNKNOWN_PREFIX + 1)).find(|at| {
        let runner = table::find_runner(&words[*at..]);
        // One word may be an argument of any program; two words, or one directly after the program, start a run.
        match runner {
            Some(found) => found.words > 1 || *at == 1,
            None => table::is_run(&words[*at..]),
        }
    })
}

/// Returns a tool's bare name for any installation path; any other program as typed, without `./`.
fn canonical_name(head: &str) -> String {
    let tool = match base_name(head) {
        "gradlew" => "gradle",
        "mvnw" => "mvn",
        "py.test" => "pytest",
        "gmake" => "make",
        "pnpx" => "npx",
        other => other,
    };
    if table::is_known_program(tool) {
        tool.to_owned()
    } else {
        head.trim_start_matches("./").to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown_command(line: &str) -> String {
        let found = unwrap_command(line.split(' ').map(str::to_owned).collect());
        found.words.join(" ")
    }

    #[test]
    fn commands_are_found_behind_wrappers() {
        for (line, expected) in [
            ("FOO=1 uv run pytest -q", "pytest -q"),
            ("timeout -k 5 60 python3 -m unittest discover", "unittest discover"),
            ("docker compose -f dev.yml run --rm -e A=b app pytest tests", "pytest tests"),
            ("docker compose exec -T app pytest", "pytest"),
            ("npx --yes jest --ci", "jest --ci"),
            ("npx -p typescript tsc", "tsc"),
            ("pnpm --filter web exec vitest run", "vitest run"),
            ("python -W ignore -m pytest", "pytest"),
            ("python manage.py test shop", "manage.py test shop"),
            ("bash -x ./run_tests.sh -v", "run_tests.sh -v"),
            ("coverage run -m pytest", "pytest"),
            ("rtk go test ./...", "go test ./..."),
            ("rtk test bun run test", "bun run test"),
            ("snip --quiet go test ./a", "go test ./a"),
            ("mise exec node@22 -- npm test", "npm test"),
            ("if ! cargo test", "cargo test"),
            ("./node_modules/.bin/jest a", "jest a"),
            ("env -u FOO BAR=1 go vet ./...", "go vet ./..."),
            ("sudo -u ada make test", "make test"),
            ("uv run --with x python -m pytest", "pytest"),
            ("uvx ty check", "ty check"),
            ("node --test", "node --test"),
            // Lines that only mention a runner.
            ("which pytest", "which pytest"),
            ("pip install pytest", "pip install pytest"),
            ("grep -r cargo test", "grep -r cargo test"),
            ("docker build -t app .", "docker build -t app ."),
            ("rtk git add src/build-tree.ts", "git add src/build-tree.ts"),
        ] {
            assert_eq!(shown_command(line), expected, "{line}");
        }
    }

    #[test]
    fn variables_and_wrappers_are_kept() {
        let words = "TZ=UTC timeout 60 uv run pytest".split(' ').map(str::to_owned).collect();
        let found = unwrap_command(words);
        assert_eq!(found.variables, [("TZ".to_owned(), "UTC".to_owned())]);
        assert_eq!(found.wrappers, ["timeout", "60", "uv", "run"]);
    }
}
