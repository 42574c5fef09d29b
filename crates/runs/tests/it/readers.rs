use std::collections::{BTreeMap, BTreeSet};

use rutter_runs::Verdict;
use rutter_runs::runners::RUNNERS;
use rutter_runs::text::plain_text;

use rutter_testkit::recordings::load_recordings;

/// Returns true if a text names this line of this file, in one of the forms that tools use.
fn names_place(text: &str, frame: &str, line: u32) -> bool {
    let file = frame.rsplit(['/', '\\']).next().unwrap_or(frame);
    let forms = [
        format!("{file}:{line}"),
        format!("{file}({line},"),
        format!("{file}({line})"),
        format!("{file}\", line {line}"),
        format!("{file}:[{line},"),
        format!("{file} {line}:"),
        format!("{file} line {line}"),
        format!("{file} on line {line}"),
        format!("{file}:line {line}"),
        format!("{file}, line {line}"),
        format!("{file}: line {line},"),
        format!("{file},line={line},"),
    ];
    // Some tools print the file once and each line below it, RuboCop after a letter, or the numbers at the end of the
    // message.
    let below = || {
        text.lines().any(|one| one.trim_start().starts_with(&format!("{line}:")))
            || text.contains(&format!(" ({line}:"))
            || text.contains(&format!("C:  {line}:"))
            || text.contains(&format!("W:  {line}:"))
    };
    forms.iter().any(|form| text.contains(form)) || below()
}

/// Runners that name a file without a line for some of their failures.
const WITHOUT_LINES: &[&str] = &[
    "autopep8",
    "biome",
    "black",
    "cargo fmt",
    "deno lint",
    "dotnet build",
    "gcc",
    "gofmt",
    "isort",
    "make",
    "ninja",
    "prettier",
    "prove",
];

#[test]
fn frame_lines_are_in_output() {
    let mut without: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut with = 0;
    for fixture in &load_recordings() {
        let whole = fixture.full_output();
        let text = plain_text(&whole);
        for failure in fixture.read_output(&whole).failures {
            match (&failure.frame, failure.line) {
                (Some(frame), Some(line)) => {
                    with += 1;
                    let is_printed = names_place(&text, frame, line);
                    assert!(is_printed, "{}: {frame}:{line}", fixture.name);
                }
                (Some(_), None) => {
                    without.entry(fixture.runner.name).or_default().insert(fixture.name.clone());
                }
                (None, Some(_)) => panic!("{}: a line without a file", fixture.name),
                (None, None) => {}
            }
        }
    }
    assert!(with > 400, "{with}");
    let runners: Vec<&str> = without.keys().copied().collect();
    assert_eq!(runners, WITHOUT_LINES, "{without:#?}");
}

/// Runners that print each other's output. Runners of one family are not compared.
const FAMILIES: &[&[&str]] = &[
    &["cargo build", "cargo check", "cargo clippy", "cargo test", "cargo nextest", "cargo fmt"],
    &["go build", "go vet", "go test", "gotestsum", "gofmt"],
    &["deno test", "deno check"],
    &["dotnet build", "dotnet test"],
    &["dart test", "flutter test"],
    &["dart analyze", "flutter analyze"],
    // All of these print the output of compilers and linkers.
    &[
        "make",
        "cmake",
        "ninja",
        "gcc",
        "javac",
        "kotlinc",
        "gradle",
        "swift build",
        "swift test",
        "xcodebuild",
        "xcodebuild test",
    ],
];

/// Texts of one runner that the reader of another claims, as `reader < runner`, with the reason why it may.
const FOREIGN_CLAIMS: &[(&str, &str)] = &[
    ("eslint < oxlint", "the stylish form is that of ESLint"),
    ("flake8 < ruff", "the concise form is that of flake8, with the same codes"),
    ("go build < golangci-lint", "its type checker prints the errors of the compiler"),
    ("go vet < golangci-lint", "its type checker prints the errors of the compiler"),
    ("mocha < cypress run", "its specs are run by Mocha"),
    ("node --test < ava", "both print TAP, with the same details"),
    ("pytest < unittest", "a crash of the interpreter is printed by the interpreter"),
    ("ruff < deno check", "both count errors in the same words"),
    ("ruff < flake8", "the concise form is that of flake8, with the same codes"),
    ("ruff < pre-commit", "the hook is ruff"),
    ("ruff < pytest", "tox ran both"),
    ("ruff < ty", "both say that all checks passed, in the same words"),
    ("shellcheck < pre-commit", "the hook is shellcheck"),
    ("tsc < next build", "it runs the type checker"),
    ("ty < ruff", "both say that all checks passed, in the same words"),
    ("unittest < pytest", "a crash of the interpreter is printed by the interpreter"),
];

fn is_one_family(one: &str, other: &str) -> bool {
    FAMILIES.iter().any(|family| family.contains(&one) && family.contains(&other))
}

/// A reader reports nothing for the output of another runner, unless that is also its own output.
#[test]
fn foreign_output_is_not_claimed() {
    let mut claims: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for fixture in &load_recordings() {
        let whole = fixture.full_output();
        let text = plain_text(&whole);
        for reader in RUNNERS.iter().filter(|reader| reader.name != fixture.runner.name) {
            if is_one_family(reader.name, fixture.runner.name) {
                continue;
            }
            if (reader.read)(&text).is_known() {
                let claim = format!("{} < {}", reader.name, fixture.runner.name);
                claims.entry(claim).or_default().insert(fixture.name.clone());
            }
        }
    }
    let found: Vec<&str> = claims.keys().map(String::as_str).collect();
    let expected: Vec<&str> = FOREIGN_CLAIMS.iter().map(|(claim, _)| *claim).collect();
    assert_eq!(found, expected, "{claims:#?}");
}

/// Lines that a shell prints after a timed command.
const TIMINGS: &[&str] = &[
    "pytest -q  1.02s user 0.31s system 98% cpu 1.354 total\n",
    "go test ./...  1.02s user 0.31s system 98% cpu 1.354 total\ntail -20  0.00s user 0.00s system 0% cpu 1.353 total\n",
    "\nreal\t0m1.354s\nuser\t0m1.021s\nsys\t0m0.310s\n",
    "1.02user 0.31system 0:01.35elapsed 98%CPU (0avgtext+0avgdata 40960maxresident)k\n0inputs+8outputs (0major+9012minor)pagefaults 0swaps\n",
];

#[test]
fn timing_lines_change_nothing() {
    let mut wrong = Vec::new();
    for fixture in &load_recordings() {
        let whole = fixture.full_output();
        let plainly = fixture.read_output(&whole);
        for timing in TIMINGS {
            let timed = fixture.read_output(&[&whole, timing.as_bytes()].concat());
            if timed != plainly {
                wrong.push(format!(
                    "{}: {:?}, not {:?}",
                    fixture.name, timed.verdict, plainly.verdict
                ));
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Lines that a wrapper prints about itself when its command has failed.
const WRAPPER_LINES: &[&str] = &[
    "error: script \"lint\" exited with code 1",
    "error: script \"test\" exited with code 1",
    "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1\nnpm ERR! Test failed.  See above for more details.",
    "npm error Lifecycle script `test` failed with error:\nnpm error code 1\nnpm error path /home/ada/project\nnpm error workspace shop@1.0.0\nnpm error command failed\nnpm error command sh -c eslint .",
    "\u{2009}ELIFECYCLE\u{2009} Command failed with exit code 1.",
    " ELIFECYCLE  Test failed. See above for more details.",
    "error Command failed with exit code 1.\ninfo Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command.",
    "error: Recipe `test` failed on line 3 with exit code 1",
    "error: recipe `test` failed on line 3 with exit code 1",
    "error: Recipe `lint` failed with exit code 2",
    "[lint] ERROR task failed",
    "task: Failed to run task \"test\": exit status 1",
    "ERROR: InvocationError for command /home/ada/project/.tox/py311/bin/pytest (exited with code 1)",
    "  py311: FAIL code 1 (2.11=setup[1.20]+cmd[0.91] seconds)\n  evaluation failed :( (2.31 seconds)",
    "___________________________________ summary ____________________________________\nERROR:   py311: commands failed",
    "nox > Command pytest failed with exit code 1\nnox > Session tests-3.11 failed.",
    " ERROR  run failed: command  exited (1)",
    "shop#test: command (/home/ada/project/shop) npm run test exited (1)\n\n Tasks:    0 successful, 1 total\nCached:    0 cached, 1 total\n  Time:    1.2s \nFailed:    shop#test\n\n ERROR  run failed: command  exited (1)",
    " NX   Running target test for project shop failed\n\nFailed tasks:\n\n- shop:test\n\nHint: run the command with --verbose for more details.",
    "error: unrecognized subcommand 'bun'\n\nUsage: shim [OPTIONS] <COMMAND>\n\nFor more information, try '--help'.",
    "error: unexpected argument '--bad' found\n\nUsage: shim [OPTIONS]\n\nFor more information, try '--help'.",
    "lerna ERR! npm run test exited 1 in 'shop'",
    "Exit code 1",
];

#[test]
fn wrapper_lines_are_not_failures() {
    let mut wrong = BTreeSet::new();
    let fixtures = load_recordings();
    for line in WRAPPER_LINES {
        for reader in RUNNERS {
            for text in [format!("{line}\n"), (*line).to_owned(), format!("text\n\n{line}\n\n")] {
                let report = (reader.read)(&text);
                if report.is_known() || !report.failures.is_empty() {
                    wrong.insert(format!("{} of {line}: {report:?}", reader.name));
                }
            }
        }
        for fixture in fixtures.iter().filter(|one| one.case.expect.verdict == Verdict::Passed) {
            let mut text = fixture.full_output();
            text.extend_from_slice(format!("\n{line}\n").as_bytes());
            let report = fixture.read_output(&text);
            if report.verdict == Verdict::Failed {
                wrong.insert(format!("{} with {line}: {report:?}", fixture.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns true if some line counts failures: a number above 0 and a word such as `failed` or `failures`.
fn counts_failures(lines: &[&str]) -> bool {
    lines.iter().any(|line| {
        let words: Vec<&str> = line.split([' ', ',', ';', ':', '(']).collect();
        let is_number = |word: &&str| word.parse::<u32>().is_ok_and(|number| number > 0);
        words.windows(2).any(|pair| {
            is_number(&pair[0])
                && matches!(pair[1], "failed" | "fail" | "failing" | "failure" | "failures")
        })
    })
}

/// `| tail` leaves the end of an output. If that end counts failures, the run failed.
#[test]
fn tail_with_failure_count_fails() {
    let mut wrong = BTreeSet::new();
    let mut seen = 0;
    for fixture in &load_recordings() {
        let failed = fixture.case.expect.counts.is_some_and(|counts| counts.failed > 0);
        let is_fake = ["fake", "misleading", "ignored", "no-capture"]
            .iter()
            .any(|word| fixture.name.contains(word));
        if !failed || is_fake || fixture.case.sections > 1 {
            continue;
        }
        for bytes in
            [[&fixture.out[..], &fixture.err].concat(), [&fixture.err[..], &fixture.out].concat()]
        {
            let text = plain_text(&bytes);
            let lines: Vec<&str> = text.lines().collect();
            for tail in (1..40).filter(|tail| *tail < lines.len()) {
                let lines = &lines[lines.len() - tail..];
                if counts_failures(lines) {
                    seen += 1;
                    let verdict = fixture.read_output(lines.join("\n").as_bytes()).verdict;
                    if verdict != Verdict::Failed {
                        wrong.insert(format!("{} | tail -{tail}: {verdict:?}", fixture.name));
                    }
                }
            }
        }
    }
    assert!(seen > 2000, "{seen}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
