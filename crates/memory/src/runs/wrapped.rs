//! A command without what is wrapped around it, in its plainest form.

use super::old_runners::RUNNERS;

/// What takes a command as its arguments.
const WRAPPERS: &[&str] = &[
    "env",
    "time",
    "timeout",
    "gtimeout",
    "nice",
    "nohup",
    "sudo",
    "stdbuf",
    "xvfb-run",
    "command",
    "exec",
    "npx",
    "bunx",
    "uvx",
    "dotenv",
    "cross-env",
    "ionice",
    "caffeinate",
    "then",
    "do",
    "!",
];

/// Wrappers of two words.
const LONG_WRAPPERS: &[(&str, &[&str])] = &[
    ("uv", &["run"]),
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("hatch", &["run"]),
    ("pdm", &["run"]),
    ("rye", &["run"]),
    ("bundle", &["exec"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
    ("npm", &["exec"]),
    ("coverage", &["run"]),
];

/// `NAME=value`
pub(crate) fn is_assignment(word: &str) -> bool {
    let (name, _) = word.split_once('=').unwrap_or(("", ""));
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The words without variables and wrappers in front.
pub(crate) fn unwrapped(mut words: Vec<String>) -> Vec<String> {
    loop {
        let Some(head) = words.first() else { return words };
        let base = base(head).to_owned();
        let second = words.get(1).map_or("", String::as_str);
        let long = LONG_WRAPPERS.iter().any(|(name, next)| *name == base && next.contains(&second));
        let skipped = if is_assignment(head) {
            words.drain(..1);
            continue;
        } else if long {
            2
        } else if WRAPPERS.contains(&base.as_str()) {
            1
        } else if base.starts_with("python") && second == "-m" {
            words.drain(..2);
            continue;
        } else if matches!(base.as_str(), "bash" | "sh" | "zsh" | "python" | "python3" | "node")
            && !second.is_empty()
            && !second.starts_with('-')
        {
            words.drain(..1);
            continue;
        } else {
            words[0] = base_of_tool(head, &base);
            return words;
        };
        words.drain(..skipped);
        // Options of the wrapper and their values, up to what it runs.
        let runner = |word: &String| RUNNERS.iter().any(|(start, ..)| start[0] == self::base(word));
        let wrapped = |word: &String| {
            runner(word)
                || WRAPPERS.contains(&word.as_str())
                || word.starts_with("python")
                || is_assignment(word)
        };
        let plain = |word: &String| {
            !word.starts_with('-') && !word.starts_with(|c: char| c.is_ascii_digit())
        };
        let next = words.iter().position(wrapped).or_else(|| words.iter().position(plain));
        words.drain(..next.unwrap_or(words.len()));
    }
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// A tool by its name, wherever it is installed; a script by its path.
fn base_of_tool(head: &str, base: &str) -> String {
    let tool = match base {
        "gradlew" => "gradle",
        "mvnw" => "mvn",
        "py.test" => "pytest",
        "gmake" => "make",
        _ => base,
    };
    let known = RUNNERS.iter().any(|(start, ..)| start[0] == tool);
    if known { tool.to_owned() } else { head.trim_start_matches("./").to_owned() }
}

/// Short and other forms of a run as its plain one.
pub(crate) fn spell_out(words: &mut Vec<String>) {
    let tool = words[0].clone();
    if tool == "cargo" && words.get(1).is_some_and(|word| word.starts_with('+')) {
        words.remove(1);
    }
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    match (tool.as_str(), word(1), word(2)) {
        ("cargo", "nextest", "run" | "r") => drop(words.splice(1..3, ["test".to_owned()])),
        ("cargo", "t", _) | ("npm", "t" | "tst", _) => "test".clone_into(&mut words[1]),
        ("cargo", "b", _) => "build".clone_into(&mut words[1]),
        ("cargo", "c", _) => "check".clone_into(&mut words[1]),
        ("npm" | "pnpm" | "yarn" | "bun", "run" | "run-script", script) if !script.is_empty() => {
            drop(words.remove(1));
        }
        ("vitest", "run", _) => drop(words.remove(1)),
        // What to make stands anywhere among the options.
        ("make", ..) => {
            let of_flag = |at: usize| matches!(words[at - 1].as_str(), "-C" | "-f" | "-j" | "-I");
            let goal = (1..words.len()).find(|at| {
                !words[*at].starts_with('-') && !words[*at].contains('=') && !of_flag(*at)
            });
            if let Some(goal) = goal {
                let goal = words.remove(goal);
                words.insert(1, goal);
            }
        }
        _ => {}
    }
}

/// `--flag=value` as two words.
pub(crate) fn split_flags(words: Vec<String>) -> Vec<String> {
    let mut split = Vec::with_capacity(words.len());
    for word in words {
        match word.split_once('=') {
            Some((flag, value)) if flag.starts_with('-') => {
                split.extend([flag.to_owned(), value.to_owned()]);
            }
            _ => split.push(word),
        }
    }
    split
}
