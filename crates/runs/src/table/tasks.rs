//! Task runners and scripts, which may run anything: `npm test`, `make check`, `./run_tests.sh`.

use crate::RunKind;

/// A task of a task runner, or a script of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunTask {
    /// The common name: `npm test`, `make check`, `scripts/ci.sh`.
    pub name: String,
    /// The kind of run by its name; None if only its output can tell.
    pub kind: Option<RunKind>,
    /// The position of the first argument that is passed on to the command of the task.
    pub arguments: usize,
}

/// A program that runs tasks by name.
struct TaskRunner {
    program: &'static str,
    /// Verbs before the name of the task.
    verbs: &'static [&'static str],
    /// True if the name of a task may come without a verb.
    direct: bool,
    /// Options that take the next word as their value.
    valued: &'static [&'static str],
    /// The kind of run without a name.
    default: Option<RunKind>,
    /// The language of the code that its tasks run, `any` for every language; None if a GHAP makes no predictions about
    /// its tasks.
    language: Option<&'static str>,
}

impl TaskRunner {
    /// Sets the language.
    const fn with_language(self, language: &'static str) -> Self {
        Self { language: Some(language), ..self }
    }
}

const fn direct_task_runner(program: &'static str, valued: &'static [&'static str]) -> TaskRunner {
    TaskRunner { program, verbs: &["run"], direct: true, valued, default: None, language: None }
}

const TASK_RUNNERS: &[TaskRunner] = &[
    direct_task_runner("npm", &["--prefix", "-w", "--workspace"]).with_language("javascript"),
    direct_task_runner("pnpm", &["--filter", "-F", "-C", "--dir"]).with_language("javascript"),
    direct_task_runner("yarn", &["--cwd", "workspace"]).with_language("javascript"),
    direct_task_runner("bun", &["--filter", "--cwd", "-F"]).with_language("javascript"),
    TaskRunner {
        default: Some(RunKind::Build),
        ..direct_task_runner("make", &["-C", "-f", "-I", "-j", "--directory", "--file"])
            .with_language("any")
    },
    direct_task_runner("just", &["-f", "--justfile", "-d", "--working-directory"])
        .with_language("any"),
    direct_task_runner("task", &["-t", "--taskfile", "-d", "--dir"]).with_language("any"),
    direct_task_runner("rake", &["-f"]).with_language("ruby"),
    TaskRunner {
        verbs: &["run", "r", "tasks"],
        ..direct_task_runner("mise", &["-C", "--cd", "-j", "--jobs", "-E", "--env"])
            .with_language("any")
    },
    direct_task_runner("invoke", &["-c", "-r"]),
    direct_task_runner("inv", &["-c", "-r"]),
    direct_task_runner("poe", &["-C"]).with_language("python"),
    direct_task_runner("pdm", &["-p"]).with_language("python"),
    direct_task_runner("hatch", &["-e"]).with_language("python"),
    direct_task_runner("pixi", &["-e", "--environment"]),
    direct_task_runner("composer", &["-d"]).with_language("php"),
    TaskRunner {
        verbs: &["run", "run-many", "affected", "exec"],
        ..direct_task_runner("nx", &["-p", "--projects", "--parallel"]).with_language("javascript")
    },
    direct_task_runner("turbo", &["--filter", "-F", "--concurrency"]).with_language("javascript"),
    direct_task_runner("lerna", &["--scope", "--concurrency"]).with_language("javascript"),
    direct_task_runner("moon", &[]),
    direct_task_runner("wireit", &[]),
    direct_task_runner("gulp", &["-f"]),
    direct_task_runner("grunt", &[]),
    direct_task_runner("ant", &["-f"]),
    direct_task_runner("bazel", &["--config"]).with_language("any"),
    direct_task_runner("bazelisk", &["--config"]),
    direct_task_runner("buck2", &[]),
    direct_task_runner("pants", &[]),
    direct_task_runner("earthly", &[]),
    direct_task_runner("swift", &[]).with_language("swift"),
    direct_task_runner("mix", &[]).with_language("other"),
    TaskRunner {
        verbs: &["task"],
        direct: false,
        ..direct_task_runner("deno", &["-c", "--config"]).with_language("javascript")
    },
    direct_task_runner("sbt", &[]).with_language("java"),
    direct_task_runner("lefthook", &[]),
    direct_task_runner("xtask", &[]),
    TaskRunner {
        verbs: &["make", "xtask", "hack"],
        direct: false,
        ..direct_task_runner("cargo", &["-p", "--package"])
    },
    TaskRunner {
        default: Some(RunKind::Test),
        ..direct_task_runner("tox", &["-e", "-c", "-f"]).with_language("python")
    },
    TaskRunner {
        default: Some(RunKind::Test),
        ..direct_task_runner("nox", &["-s", "-e", "-f", "--session"]).with_language("python")
    },
];

/// Returns the language of the code that a task runner runs, or None if the program is not a task runner with tasks
/// that a GHAP may make predictions about.
pub fn task_language(program: &str) -> Option<&'static str> {
    TASK_RUNNERS.iter().find(|runner| runner.program == program)?.language
}

/// Verbs of package managers that are never tasks.
const NO_TASKS: &[&str] = &[
    "install",
    "i",
    "ci",
    "add",
    "remove",
    "rm",
    "uninstall",
    "update",
    "upgrade",
    "up",
    "audit",
    "init",
    "create",
    "link",
    "pack",
    "publish",
    "view",
    "info",
    "outdated",
    "config",
    "cache",
    "login",
    "whoami",
    "ls",
    "list",
    "why",
    "dedupe",
    "rebuild",
    "prune",
    "version",
    "help",
    "exec",
    "dlx",
    "x",
    "search",
    "docs",
    "store",
    "env",
    "set",
    "use",
    "trust",
    "doctor",
    "settings",
    "which",
    "where",
    "latest",
    "plugins",
    "self-update",
    "tree",
    "fetch",
    "require",
    "show",
];

/// Returns true if a program runs tasks by name.
pub(super) fn is_task_runner(program: &str) -> bool {
    TASK_RUNNERS.iter().any(|runner| runner.program == program)
}

/// Returns the task or script that these words start.
pub fn find_task(words: &[String]) -> Option<RunTask> {
    let program = words.first()?.as_str();
    let Some(runner) = TASK_RUNNERS.iter().find(|runner| runner.program == program) else {
        return find_script(words);
    };
    if super::only_describes(words) {
        return None;
    }
    // The value of an option cannot be the name.
    let is_name = |at: &usize| {
        let (word, before) = (words[*at].as_str(), words[*at - 1].as_str());
        let valued = runner.valued.contains(&before);
        let jobs = before == "-j" && !word.bytes().all(|byte| byte.is_ascii_digit());
        !word.starts_with(['-', '+']) && !word.contains('=') && (!valued || jobs)
    };
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let mut names =
        (1..end).filter(is_name).filter(|at| !(program == "yarn" && words[*at] == "workspace"));
    let first = names.next();
    let verb = first.filter(|at| runner.verbs.contains(&words[*at].as_str()));
    let name = if verb.is_some() { names.next() } else { first.filter(|_| runner.direct) };
    let rest = |at: usize| if end < words.len() { end + 1 } else { at + 1 };
    let Some(at) = name else {
        // `nx run-many -t test`, `tox -e py311`, `make`.
        let target = verb.and_then(|_| find_target_option(words));
        let kind = target.map_or(runner.default, kind_of_name);
        let name =
            target.map_or_else(|| program.to_owned(), |target| format!("{program} {target}"));
        let is_whole = first.is_none() || target.is_some();
        return (is_whole && (kind.is_some() || target.is_some())).then(|| RunTask {
            name,
            kind,
            arguments: rest(words.len() - 1),
        });
    };
    let name = match words[at].as_str() {
        "t" | "tst" if program == "npm" => "test",
        name => name,
    };
    if verb.is_none() && NO_TASKS.contains(&name) {
        return None;
    }
    let kind = match program {
        "npm" if verb.is_none() && name != "test" => return None,
        "tox" | "nox" => Some(RunKind::Test),
        // `nx test web`, `nx run web:test`
        _ => kind_of_name(name).or_else(|| find_target_option(words).and_then(kind_of_name)),
    };
    let name = match verb {
        Some(verb) if program == "cargo" => format!("cargo {} {name}", words[verb]),
        _ => format!("{program} {name}"),
    };
    Some(RunTask { name, kind, arguments: rest(at) })
}

/// Returns the value of `-t test`, `--target=test`.
fn find_target_option(words: &[String]) -> Option<&str> {
    let is_target =
        |flag: &str| matches!(flag, "-t" | "--target" | "--targets" | "-e" | "-s" | "--session");
    words.iter().enumerate().find_map(|(at, word)| match word.split_once('=') {
        Some((flag, value)) if is_target(flag) => Some(value),
        _ if is_target(word) => words.get(at + 1).map(String::as_str),
        _ => None,
    })
}

/// Returns a script of the project: a path to a file. Its name may give the kind of run.
fn find_script(words: &[String]) -> Option<RunTask> {
    let path = words.first()?;
    let last = path.rsplit('/').next().unwrap_or(path);
    let (stem, extension) = last.split_once('.').unwrap_or((last, ""));
    let is_script = matches!(
        extension,
        "sh" | "bash" | "zsh" | "py" | "js" | "mjs" | "ts" | "rb" | "pl" | "php"
    ) || (path.contains('/') && !path.contains("$("));
    if !is_script || super::only_describes(words) {
        return None;
    }
    Some(RunTask { name: path.clone(), kind: kind_of_script(stem), arguments: 1 })
}

/// Returns the kind of run by the name of a script, if all parts of the name are about runs: `run_tests`, but not
/// `test-harness`.
fn kind_of_script(stem: &str) -> Option<RunKind> {
    const RUN_WORDS: &[&str] = &[
        "run",
        "all",
        "test",
        "tests",
        "unit",
        "integration",
        "e2e",
        "smoke",
        "spec",
        "specs",
        "lint",
        "check",
        "checks",
        "build",
        "ci",
        "verify",
        "typecheck",
        "compile",
        "format",
        "fmt",
    ];
    let plain = |part: &str| RUN_WORDS.contains(&part.to_ascii_lowercase().as_str());
    let is_plain = stem.split(['-', '_']).all(plain) || matches!(stem, "runtests" | "runtest");
    is_plain.then(|| kind_of_name(&stem.replace("runtest", "run-test"))).flatten()
}

/// Returns the kind of run by the name of a task.
pub fn kind_of_name(name: &str) -> Option<RunKind> {
    let parts = || name.split([':', '-', '_', '.', '/']).map(str::to_ascii_lowercase);
    let says = |words: &[&str]| parts().any(|part| words.contains(&part.as_str()));
    match () {
        () if says(&[
            "test", "tests", "spec", "specs", "unit", "e2e", "verify", "ci", "unittest", "pytest",
        ]) =>
        {
            Some(RunKind::Test)
        }
        () if says(&["typecheck", "types", "tsc", "typing", "mypy"]) => Some(RunKind::Typecheck),
        () if says(&[
            "lint",
            "eslint",
            "clippy",
            "linter",
            "fmt",
            "format",
            "vet",
            "stylelint",
            "ruff",
        ]) =>
        {
            Some(RunKind::Lint)
        }
        () if says(&["build", "compile", "all", "dist"]) => Some(RunKind::Build),
        () if says(&["check", "checks", "validate", "precommit"]) => Some(RunKind::Test),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_found_by_name() {
        let task = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            find_task(&words).map(|task| (task.name, task.kind))
        };
        let some = |name: &str, kind| Some((name.to_owned(), kind));
        for (line, expected) in [
            ("npm test", some("npm test", Some(RunKind::Test))),
            ("npm run build -- --watch", some("npm build", Some(RunKind::Build))),
            ("npm install jest", None),
            ("npm start", None),
            ("pnpm --filter web test", some("pnpm test", Some(RunKind::Test))),
            ("yarn workspace web test", some("yarn test", Some(RunKind::Test))),
            ("make -j8 test", some("make test", Some(RunKind::Test))),
            ("make -j 8 test", some("make test", Some(RunKind::Test))),
            ("make", some("make", Some(RunKind::Build))),
            ("make -n test", None),
            ("make clean", some("make clean", None)),
            ("mise run test:ci", some("mise test:ci", Some(RunKind::Test))),
            ("mise run fmt", some("mise fmt", Some(RunKind::Lint))),
            ("mise install", None),
            ("just", None),
            ("turbo run test --filter=web", some("turbo test", Some(RunKind::Test))),
            ("nx run-many -t test", some("nx test", Some(RunKind::Test))),
            ("nx run web:test", some("nx web:test", Some(RunKind::Test))),
            ("tox -e py311", some("tox", Some(RunKind::Test))),
            ("run_tests.sh -x", some("run_tests.sh", Some(RunKind::Test))),
            ("scripts/test", some("scripts/test", Some(RunKind::Test))),
            ("scripts/test-harness.sh x", some("scripts/test-harness.sh", None)),
            ("/tmp/app-test x", some("/tmp/app-test", None)),
            ("scripts/deploy", some("scripts/deploy", None)),
            ("ls -la", None),
            ("cargo xtask generate", some("cargo xtask generate", None)),
            ("cargo run", None),
        ] {
            assert_eq!(task(line), expected, "{line}");
        }
    }
}
