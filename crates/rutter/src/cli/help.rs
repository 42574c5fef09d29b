//! Help beyond the definition of the arguments: the groups of `rutter --help`, and the examples of each command.

use std::fmt::Write as _;

use clap::Command;
use clap::builder::{StyledStr, Styles};

/// The commands of `rutter --help`, in groups. clap has no headings for subcommands.
const GROUPS: &[(&str, &[&str])] = &[
    ("Getting started", &["demo", "init", "doctor", "uninstall"]),
    (
        "Memory",
        &[
            "recall", "remember", "memories", "ghap", "values", "review", "edit", "forget",
            "export", "import", "mcp", "call",
        ],
    ),
    (
        "Inspect",
        &["status", "context", "injections", "episodes", "sessions", "project", "show", "outcome"],
    ),
    ("Gates and tasks", &["gate", "task"]),
    ("Hook contract", &["contract", "hook"]),
    ("Maintenance", &["config", "trust", "pause", "maintain", "completions"]),
];

/// Examples by command. They use ids that no store has, and placeholder file names.
const EXAMPLES: &[(&str, &[&str])] = &[
    ("demo", &["rutter demo --fast"]),
    (
        "init",
        &["rutter init", "rutter init --dry-run", "rutter init --user", "rutter init --project"],
    ),
    ("uninstall", &["rutter uninstall --dry-run", "rutter uninstall --user"]),
    (
        "ghap start",
        &["rutter ghap start --domain debugging --strategy read-the-error \\\n    \
           --goal 'CRLF files parse' --hypothesis 'lines are split at LF alone' \\\n    \
           --action 'use lines()' --prediction '`cargo test parser` passes'"],
    ),
    (
        "ghap update",
        &["rutter ghap update --prediction '`cargo test lexer` passes' --confidence 0.7"],
    ),
    (
        "gate enable",
        &[
            "rutter gate enable",
            "rutter gate enable tests-first --mode deny --exclude scripts/",
            "rutter gate enable --mode hold --require-red",
        ],
    ),
    ("gate disable", &["rutter gate disable tests-first"]),
    ("gate status", &["rutter gate status"]),
    ("gate test", &["rutter gate test src/cart.py"]),
    ("gate replay", &["rutter gate replay"]),
    ("gate explain", &["rutter gate explain", "rutter gate explain src/cart.py"]),
    ("task list", &["rutter task list", "rutter task list --status failed"]),
    ("task show", &["rutter task show 1.2"]),
    ("task next", &["rutter task next", "rutter task next --json"]),
    ("task start", &["rutter task start 1.2", "rutter task start 1.2 --reopen"]),
    ("task done", &["rutter task done 1.2", "rutter task done 1.2 --newer"]),
    ("task fail", &["rutter task fail 1.2"]),
    ("task import", &["rutter task import plan.md"]),
    ("ghap note", &["rutter ghap note 'the lexer already drops the CR'"]),
    (
        "ghap resolve",
        &[
            "rutter ghap resolve --status confirmed --result 'all parser tests pass'",
            "rutter ghap resolve --status falsified --result 'still red' \\\n    \
             --surprise 'the reader had normalised the file' \\\n    \
             --root-cause-category wrong-assumption --root-cause 'the input has no CR'",
        ],
    ),
    ("ghap adopt", &["rutter ghap adopt", "rutter ghap adopt 6a99426f"]),
    ("ghap abandon", &["rutter ghap abandon --reason 'the feature was dropped'"]),
    ("ghap show", &["rutter ghap show", "rutter ghap show 6a99426f"]),
    ("ghap list", &["rutter ghap list --status falsified", "rutter ghap list --orphaned"]),
    (
        "remember",
        &[
            "rutter remember \"CI runs on Postgres 17, not 16\" --category fact --tag ci",
            "rutter remember \"Export GPG_TTY before you sign\" --category fact --applies-when \"git commit hangs\"",
        ],
    ),
    ("memories", &["rutter memories --category preference", "rutter memories --tag ci --all"]),
    (
        "edit",
        &[
            "rutter edit 6a99426f --text 'CI runs on Postgres 18'",
            "rutter edit 6a99426f --takeaway 'look for the CR first'",
        ],
    ),
    ("outcome", &["pytest > log; rutter outcome --command pytest --exit $? < log"]),
    ("forget", &["rutter forget 6a99426f", "rutter forget --query 'staging password'"]),
    ("export", &["rutter export --output rutter.jsonl", "rutter export --project > shop.jsonl"]),
    (
        "import jsonl",
        &["rutter import jsonl rutter.jsonl", "rutter import jsonl rutter.jsonl --own --yes"],
    ),
    ("import list", &["rutter import list"]),
    ("import undo", &["rutter import undo", "rutter import undo 6a99426f --yes"]),
    ("review", &["rutter review", "rutter review accept 6a99426f"]),
    ("review accept", &["rutter review accept 6a99426f 41d0c3b2"]),
    ("review reject", &["rutter review reject 6a99426f"]),
    ("show", &["rutter show 6a99426f", "rutter show 6a99426f --json"]),
    ("recall", &["rutter recall \"the total is wrong after a discount\" --why"]),
    ("episodes list", &["rutter episodes list --open", "rutter episodes list --ending fixed"]),
    ("episodes show", &["rutter episodes show 6a99426f"]),
    ("values list", &["rutter values list --standing proposed"]),
    ("values clusters", &["rutter values clusters --here --axis root-cause"]),
    ("values show", &["rutter values show 6a99426f"]),
    (
        "values add",
        &["rutter values add 6a99426f \"Check the counter before you raise a timeout\""],
    ),
    ("values accept", &["rutter values accept 6a99426f"]),
    ("values edit", &["rutter values edit 6a99426f --text 'Measure before you raise a timeout'"]),
    ("values retire", &["rutter values retire 6a99426f"]),
    ("values report", &["rutter values report --html values.html"]),
    ("context", &["rutter context \"the cache test is flaky again\" --why"]),
    ("status", &["rutter status", "rutter status --json"]),
    ("sessions list", &["rutter sessions list --all"]),
    ("sessions show", &["rutter sessions show 6a99426f"]),
    (
        "injections",
        &[
            "rutter injections",
            "rutter injections --row 6a99426f --all",
            "rutter injections --near-misses",
        ],
    ),
    ("pause", &["rutter pause", "rutter pause --off"]),
    ("project list", &["rutter project list"]),
    ("project show", &["rutter project show", "rutter project show shop"]),
    ("project merge", &["rutter project merge shop-old shop"]),
    ("doctor", &["rutter doctor", "rutter doctor --repair", "rutter doctor --live"]),
    ("config show", &["rutter config show --origin"]),
    ("config check", &["rutter config check", "rutter config check .rutter.toml"]),
    ("config path", &["rutter config path"]),
    ("trust", &["rutter trust", "rutter trust --list", "rutter trust --revoke"]),
    ("maintain", &["rutter maintain"]),
    ("mcp", &["rutter mcp", "rutter mcp --http --port 7888"]),
    ("call", &["rutter call search_experiences '{\"query\": \"rounding\"}'"]),
    ("hook", &["rutter contract payload SessionStart | rutter hook"]),
    ("contract events", &["rutter contract events", "rutter contract events --json"]),
    (
        "contract schema",
        &[
            "rutter contract schema PreToolUse",
            "rutter contract schema PreToolUse --input --bundle",
        ],
    ),
    (
        "contract explain",
        &[
            "./my-hook < payload.json | rutter contract explain PreToolUse",
            "echo '{\"decision\": \"block\"}' | rutter contract explain Stop",
        ],
    ),
    ("contract payload", &["rutter contract payload PreToolUse --tool Edit | ./my-hook"]),
    (
        "contract lint",
        &[
            "rutter contract lint",
            "rutter contract lint --fix --dry-run",
            "rutter contract lint .claude/settings.json --format github --deny warnings",
        ],
    ),
    ("contract rules", &["rutter contract rules", "rutter contract rules matcher-never"]),
    (
        "contract test",
        &[
            "rutter contract test -- ./my-guard.sh",
            "rutter contract test --event PreToolUse --tool Bash -- ./my-guard.sh",
            "rutter contract test --settings .claude/settings.json --yes --json",
            "rutter contract test --yes --tests guard.hooktest.toml --format junit",
            "rutter contract test --yes --tests guard.hooktest.toml --update",
        ],
    ),
    (
        "contract fix",
        &[
            "rutter contract fix my-guard.sh",
            "rutter contract fix my-guard.sh --event PreToolUse --write",
        ],
    ),
    (
        "contract record on",
        &["rutter contract record on", "rutter contract record on --event PreToolUse"],
    ),
    ("contract record off", &["rutter contract record off"]),
    ("contract record status", &["rutter contract record status"]),
    ("contract record list", &["rutter contract record list --hook my-guard --last 20"]),
    ("contract record save-test", &["rutter contract record save-test 12 guard.hooktest.toml"]),
    ("contract record clear", &["rutter contract record clear"]),
    (
        "contract replay",
        &[
            "rutter contract replay",
            "rutter contract replay --hook my-guard --last 200 --yes --json",
            "rutter contract replay --hook my-guard -- ./my-new-guard.sh",
            "rutter contract replay --client 2.1.197",
        ],
    ),
    (
        "contract live",
        &[
            "rutter contract live",
            "rutter contract live --event PreToolUse --tool Bash -- ./my-guard.sh",
            "rutter contract live --yes --settings .claude/settings.json --json",
            "rutter contract live --client ~/old/claude --client ~/new/claude",
        ],
    ),
    (
        "contract answer",
        &[
            "rutter contract answer PreToolUse deny \"no force push\"",
            "rutter contract answer SessionStart context \"branch: main\"",
        ],
    ),
    ("contract field", &["rutter contract field tool_input.command < payload.json"]),
    ("contract adapt", &["rutter contract adapt PostToolCall --print-settings -- ./on-failure.sh"]),
    ("completions", &["rutter completions fish > ~/.config/fish/completions/rutter.fish"]),
];

/// The help of `rutter uninstall --project`. It shares its arguments with `rutter init`, whose text is about committing.
const UNINSTALL_PROJECT_HELP: &str =
    "For everyone in this folder, in .claude/settings.json and .mcp.json; commit the change";

/// Adds the groups and the examples to the definition that clap derives.
pub(super) fn add_help(root: Command) -> Command {
    let template = render_groups(&root);
    let mut root = root.help_template(template).mut_subcommand("uninstall", |command| {
        command.mut_arg("project", |option| option.help(UNINSTALL_PROJECT_HELP))
    });
    for (path, examples) in EXAMPLES {
        root = add_examples(root, path, examples);
    }
    root
}

/// Adds the examples to the command with this path, for example "ghap start".
fn add_examples(parent: Command, path: &str, examples: &[&str]) -> Command {
    let (name, rest) = path.split_once(' ').unwrap_or((path, ""));
    parent.mut_subcommand(name, |command| match rest {
        "" => command.after_help(render_examples(examples)),
        rest => add_examples(command, rest, examples),
    })
}

fn render_examples(examples: &[&str]) -> StyledStr {
    let header = *Styles::default().get_header();
    let heading = if examples.len() == 1 { "Example:" } else { "Examples:" };
    let mut text = format!("{header}{heading}{header:#}");
    for example in examples {
        let _ = write!(text, "\n  {example}");
    }
    text.into()
}

/// Returns the template of `rutter --help`: the usual parts, with one list of commands per group.
fn render_groups(root: &Command) -> StyledStr {
    let styles = Styles::default();
    let (header, literal) = (*styles.get_header(), *styles.get_literal());
    let width = root.get_subcommands().map(|command| command.get_name().len()).max().unwrap_or(0);
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n\n");
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "{header}{heading}:{header:#}");
        for name in *names {
            let about = root.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(
                text,
                "  {literal}{name}{literal:#}{:1$}  {about}",
                "",
                width - name.len()
            );
        }
        text.push('\n');
    }
    let _ = write!(text, "{header}Options:{header:#}\n{{options}}{{after-help}}");
    text.into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory as _;
    use rutter_runs::shell::parse_commands;

    use super::*;
    use crate::cli::{Cli, clap_command};

    /// Returns the paths of all commands without subcommands, and of `review`, which also runs without one.
    fn paths(command: &Command, prefix: &str, found: &mut BTreeSet<String>) {
        for sub in command.get_subcommands() {
            let path = format!("{prefix}{}", sub.get_name());
            if !sub.has_subcommands() || !sub.is_subcommand_required_set() {
                found.insert(path.clone());
            }
            paths(sub, &format!("{path} "), found);
        }
    }

    #[test]
    fn groups_list_every_command_once() {
        let root = Cli::command();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let mut real: Vec<&str> = root.get_subcommands().map(Command::get_name).collect();
        listed.sort_unstable();
        real.sort_unstable();
        assert_eq!(listed, real);
    }

    #[test]
    fn summaries_fit_80_columns() {
        let help = clap_command().render_help().to_string();
        for line in help.lines() {
            assert!(line.len() <= 80, "{} columns: {line}", line.len());
        }
    }

    #[test]
    fn every_command_has_an_example() {
        let mut real = BTreeSet::new();
        paths(&Cli::command(), "", &mut real);
        let known: BTreeSet<String> = EXAMPLES.iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(known, real);
    }

    /// Users paste examples into a shell: each one must parse, and nothing in it may be expanded by accident.
    #[test]
    fn examples_are_safe_to_paste() {
        for (path, examples) in EXAMPLES {
            for example in *examples {
                // `$?` is a number when the shell runs the line.
                let commands = parse_commands(&example.replace("$?", "1"));
                let mut parsed = 0;
                for command in commands.iter().filter(|command| command.words[0] == "rutter") {
                    let words: Vec<&str> = command.words.iter().map(|word| &**word).collect();
                    let matches = clap_command().try_get_matches_from(&words);
                    // Only the last command of a pipeline has to be the documented one.
                    parsed += usize::from(words[1..].join(" ").starts_with(path));
                    assert!(matches.is_ok(), "{example}: {}", matches.unwrap_err());
                }
                assert!(parsed > 0, "{path}: {example}");
                let mut quote = None;
                for sign in example.chars() {
                    match (quote, sign) {
                        (None, '\'' | '"') => quote = Some(sign),
                        (Some(open), close) if open == close => quote = None,
                        (None | Some('"'), '`' | '!') => panic!("expands in a shell: {example}"),
                        _ => {}
                    }
                }
                assert_eq!(quote, None, "{example}");
                assert!(example.lines().all(|line| line.len() <= 98), "{example}");
            }
        }
    }
}
