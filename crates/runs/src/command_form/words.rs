//! The words of a command: subcommands, masks, and words with a meaning of their own.

/// Wrappers that change nothing about the result.
pub(super) const NEUTRAL_WRAPPERS: &[&str] =
    &["time", "timeout", "gtimeout", "nice", "ionice", "nohup", "command", "caffeinate", "stdbuf"];

/// Programs whose subcommand has two words.
const DEEP_PROGRAMS: &[&str] = &["gh", "glab", "aws", "gcloud", "az", "doctl"];

/// Subcommands that take another subcommand, or the name of a task.
const DEEP_SUBCOMMANDS: &[&str] = &[
    "run",
    "compose",
    "stash",
    "remote",
    "worktree",
    "submodule",
    "bisect",
    "pip",
    "tool",
    "config",
    "state",
    "workspace",
    "-m",
];

/// Options before the subcommand that take the next word as their value.
const GLOBAL_VALUED: &[(&str, &[&str])] = &[
    ("git", &["-c", "-C", "--git-dir", "--work-tree", "--namespace"]),
    ("gh", &["-R", "--repo"]),
    ("docker", &["-H", "--host", "--context", "--config", "-l"]),
    ("kubectl", &["-n", "--namespace", "--context", "--kubeconfig"]),
    ("helm", &["-n", "--namespace", "--kube-context"]),
    ("npm", &["--prefix", "-w", "--workspace"]),
    ("pnpm", &["-C", "--dir", "--filter", "-F"]),
    ("yarn", &["--cwd"]),
    ("cargo", &["--config", "-Z", "--color", "-C"]),
    ("uv", &["--project", "--directory"]),
    ("aws", &["--profile", "--region"]),
    ("make", &["-C", "-f"]),
];

/// Programs that run code, which may have been edited between two calls.
const CODE_PROGRAMS: &[&str] = &[
    "python", "node", "deno", "bun", "ruby", "perl", "php", "java", "go", "cargo", "npm", "pnpm",
    "yarn", "npx", "tsx", "ts-node", "make", "just", "task", "mise", "dotnet", "swift", "gradle",
    "gradlew", "mvn", "bash", "sh", "zsh", "uv", "poetry", "rails", "mix", "elixir",
];

/// Flags that force something or switch off a check. They are never advised.
const RISKY_WORDS: &[&str] = &[
    "--no-verify",
    "--hard",
    "-D",
    "--privileged",
    "--insecure",
    "--no-check-certificate",
    "sudo",
    "--admin",
    "--break-system-packages",
];

/// Flags that only ask: a command with one of them does not do what the failing one should have done.
const QUERY_FLAGS: &[&str] = &["--help", "-h", "--version", "-V", "--dry-run", "help"];

/// Commands that fetch what another one lacks.
const INSTALLERS: &[&str] = &[
    "npm install",
    "npm ci",
    "npm i",
    "pnpm install",
    "pnpm i",
    "yarn install",
    "bun install",
    "uv sync",
    "pip install",
    "bundle install",
    "poetry install",
    "composer install",
    "terraform init",
    "mise install",
    "mise trust",
    "go mod",
    "cargo install",
    "brew install",
    "apt install",
    "apt-get install",
    "mix deps.get",
    "source",
    ".",
];

/// Returns true if a command fetches what another one lacks.
pub(super) fn is_installer(program: &str) -> bool {
    INSTALLERS.iter().any(|installer| is_same_tool(installer, program))
}

/// Flags whose value is free text.
const TEXT_FLAGS: &[&str] = &[
    "-m",
    "--message",
    "--title",
    "--body",
    "--jq",
    "-q",
    "--description",
    "--notes",
    "--comment",
];

/// Returns true if the next word is free text.
pub(super) fn takes_text(word: &str) -> bool {
    TEXT_FLAGS.contains(&word)
}

/// Returns true if a word forces something or switches off a check.
pub(super) fn is_risky_word(word: &str) -> bool {
    RISKY_WORDS.contains(&word)
        || word == "-f"
        || word.starts_with("--force")
        || word.contains("dangerously")
}

/// Returns true if a flag turns a command into a question.
pub(super) fn is_query_flag(word: &str) -> bool {
    QUERY_FLAGS.contains(&word)
}

/// Returns true if a program runs code of the project.
pub(super) fn is_code_program(program: &str) -> bool {
    let name = program.split(' ').next().unwrap_or_default();
    let bare = name.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    CODE_PROGRAMS.contains(&bare) || name.contains('.')
}

/// Returns true if two programs differ at most in the version of their name: `python3` and `python`.
pub(super) fn is_same_tool(one: &str, other: &str) -> bool {
    let split = |text: &str| -> (String, String) {
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        let bare = name.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
        (bare.to_owned(), rest.to_owned())
    };
    one == other || split(one) == split(other)
}

/// Returns the positions of the words that are the subcommand.
pub(super) fn subcommand_positions(words: &[String]) -> Vec<usize> {
    let program = words.first().map_or("", |word| word.rsplit('/').next().unwrap_or(word));
    let valued =
        GLOBAL_VALUED.iter().find(|(name, _)| *name == program).map_or(&[][..], |row| row.1);
    let mut key = Vec::new();
    let mut wanted = if DEEP_PROGRAMS.contains(&program) { 2 } else { 1 };
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if word == "-m" && program.starts_with("python") && key.is_empty() {
            key.push(at);
        } else if word.starts_with('-') {
            // Options after the subcommand belong to it.
            if !key.is_empty() {
                break;
            }
            if valued.contains(&word.as_str()) {
                at += 1;
            }
        } else if is_identifier(word) {
            key.push(at);
            if word == "api" {
                break;
            }
        } else {
            break;
        }
        if key.len() == 1 && DEEP_SUBCOMMANDS.contains(&word.as_str()) {
            wanted = 2;
        }
        if key.len() == wanted {
            break;
        }
        at += 1;
    }
    key
}

fn is_identifier(word: &str) -> bool {
    word.len() <= 30
        && word.starts_with(|sign: char| sign.is_ascii_lowercase())
        && word.chars().all(|sign| {
            sign.is_ascii_lowercase() || sign.is_ascii_digit() || matches!(sign, ':' | '-' | '_')
        })
}

/// Masks the parts of a word that change from call to call: long texts, numbers and hashes.
pub fn mask_word(word: &str) -> String {
    let value = |text: &str| {
        text.is_empty()
            || text.contains(char::is_whitespace)
            || text.contains("$(")
            || text.contains('`')
    };
    if let Some((name, text)) = word.split_once('=')
        && !name.contains(char::is_whitespace)
        && value(text)
    {
        return format!("{name}=…");
    }
    if value(word) {
        return "…".to_owned();
    }
    let mut masked = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(start) = rest.find(|sign: char| sign.is_ascii_alphanumeric()) {
        masked.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|sign: char| !sign.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let run = &rest[..end];
        rest = &rest[end..];
        let digits = run.bytes().filter(u8::is_ascii_digit).count();
        let is_hash =
            run.len() >= 7 && digits > 0 && run.bytes().all(|byte| byte.is_ascii_hexdigit());
        if digits == run.len() || is_hash {
            masked.push('#');
        } else {
            masked.push_str(run);
        }
    }
    masked.push_str(rest);
    masked
}

/// Returns a word as it can be typed. A long text becomes a mark, because only its place matters.
pub(super) fn quote_word(word: &str) -> String {
    const MAX_WORD_CHARS: usize = 72;
    if word.contains('\n') || word.chars().count() > MAX_WORD_CHARS {
        return match word.split_once('=') {
            Some((name, _)) if !name.contains(char::is_whitespace) => format!("{name}=…"),
            _ => "…".to_owned(),
        };
    }
    let is_plain = |sign: char| sign.is_alphanumeric() || "-_./:=@%+,~^…".contains(sign);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else if word.contains('\'') {
        format!("\"{}\"", word.replace('"', "\\\""))
    } else {
        format!("'{word}'")
    }
}
