use std::collections::BTreeSet;

use rutter_runs::report::{OutputReader, OutputReport};
use rutter_runs::runners::RUNNERS;
use rutter_runs::signature;
use rutter_runs::text::plain_text;
use rutter_runs::wrapper_output::read_task_output;
use rutter_runs::{TestCounts, Verdict};

use rutter_testkit::recordings::{RecordedRun, load_recordings};

/// Runners with recordings that list only some of the failures.
const PARTLY_LISTED: &[&str] = &[
    "eslint",
    "flake8",
    "mypy",
    "pylint",
    "pyright",
    "rubocop",
    "ruff",
    "shellcheck",
    "stylelint",
    "tsc",
    "vite build",
];

/// Returns a description of the first difference between the report on a recording's output and its expectation.
fn find_difference(recording: &RecordedRun, output: &[u8]) -> Option<String> {
    let (expected, runner) = (&recording.case.expect, recording.runner);
    let report = recording.read_output(output);
    let failing: Vec<_> = report.failures.iter().filter_map(|one| one.test.clone()).collect();
    if report.verdict != expected.verdict {
        return Some(format!("verdict {:?}: {report:#?}", report.verdict));
    }
    if report.counts != expected.counts {
        return Some(format!("counts {:?}, not {:?}", report.counts, expected.counts));
    }
    if failing != expected.failing {
        return Some(format!("failing {failing:#?}, not {:#?}", expected.failing));
    }
    let partly = PARTLY_LISTED.contains(&runner.name);
    if !partly && !expected.failures.is_empty() && expected.failures.len() != report.failures.len()
    {
        return Some(format!("{} failures: {:#?}", report.failures.len(), report.failures));
    }
    // The listed failures come in this order. A field that the case leaves out is not compared.
    let mut reported = report.failures.iter();
    for wanted in &expected.failures {
        let fits = reported.any(|failure| {
            wanted.iter().all(|(key, value)| {
                *value
                    == match key.as_str() {
                        "test" => failure.test.clone(),
                        "scope" => failure.scope.clone(),
                        "error" => failure.error.clone(),
                        "message" => failure.message.clone(),
                        "frame" => failure.frame.clone(),
                        "line" => failure.line.map(|line| line.to_string()),
                        other => panic!("a failure has no {other}"),
                    }
            })
        });
        if !fits {
            return Some(format!("no failure is {wanted:#?}: {:#?}", report.failures));
        }
    }
    let names = report.passed.iter().map(|passed| match &passed.scope {
        Some(scope) => format!("{scope} {}", passed.test),
        None => passed.test.clone(),
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    if let Some(mut wanted) = expected.passed.clone() {
        wanted.sort();
        if names != wanted {
            return Some(format!("passed {names:#?}, not {wanted:#?}"));
        }
    }
    None
}

fn assert_no_errors(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn outcome_matches_every_recording() {
    let fixtures = load_recordings();
    assert!(fixtures.len() > 100, "{} cases", fixtures.len());
    let mut wrong = Vec::new();
    for fixture in &fixtures {
        let said = find_difference(fixture, &fixture.full_output());
        wrong.extend(
            said.map(|said| format!("{} ({}): {said}", fixture.name, fixture.case.version)),
        );
    }
    assert_no_errors(&wrong);
}

#[test]
fn outcome_recordings_are_plausible() {
    for fixture in &load_recordings() {
        let RecordedRun { name, case, .. } = fixture;
        let expect = &case.expect;
        // Behind a pipe, or with an option not to fail, the exit status is not the runner's.
        let hidden = ["|", "ignore"].iter().any(|sign| case.command.contains(sign));
        if case.sections == 1 && !hidden {
            let exit = match expect.verdict {
                Verdict::Passed => case.exit == 0,
                Verdict::Failed => case.exit != 0,
                Verdict::Unknown => true,
            };
            assert!(exit, "{name}: {:?} with exit status {}", expect.verdict, case.exit);
        }
        let failed = expect.counts.is_some_and(|counts| counts.failed > 0);
        assert!(!failed || expect.verdict == Verdict::Failed, "{name}");
        assert!(expect.failing.is_empty() || expect.verdict == Verdict::Failed, "{name}");
        assert!(case.bug.is_none() || expect.verdict == Verdict::Failed, "{name}");
        for (bytes, what) in [(&fixture.out, "out"), (&fixture.err, "err")] {
            let text = String::from_utf8_lossy(bytes);
            // Paths of the machine that made the recordings, and of this one.
            let here = rutter_testkit::repository_root();
            for place in ["/tmp/", "/data/", here.to_str().unwrap()] {
                assert!(!text.contains(place), "{name}.{what} has a path below {place}");
            }
        }
    }
}

/// Runners that print nothing after their last part, with the lines that end a part. A text that was cut directly after
/// such a line looks complete; only callers know that it was cut.
const PART_END_LINES: &[(&str, &[&str])] = &[
    ("cargo test", &["test result: ok. ", "     Running "]),
    ("go test", &["ok  \t"]),
    ("dotnet test", &["Passed!  - "]),
];

/// Runners that print the number of their tests before the number of skipped ones.
const EARLY_COUNTS: &[&str] = &["rspec", "bats", "cypress run"];

/// Runners with all checks in one line, or with a summary that looks alike after a run without tests.
const SHORT_SUMMARIES: &[&str] = &["cargo deny", "mix test"];

/// Runners with recordings of texts that look like a failure until the summary: of tests that print one, or pass when
/// they are repeated.
const EARLY_FAILURES: &[&str] =
    &["bun test", "jest", "mocha", "playwright test", "pytest", "vitest"];

/// Distance between cuts within lines. Every byte was tried when the readers were written; this is enough to notice an
/// error.
const CUT_STEP_BYTES: usize = 7;

/// Number of cuts within the lines of a long text.
const MAX_CUTS: usize = 600;

/// Returns true if one of the last two lines of a text ends a part of the runner's output.
fn ends_with_part(runner: &OutputReader, part: &[u8]) -> bool {
    let text = plain_text(part);
    let ends = PART_END_LINES.iter().filter(|(name, _)| *name == runner.name);
    let ends: Vec<&str> = ends.flat_map(|(_, lines)| *lines).copied().collect();
    let mut last = text.lines().rev().filter(|line| !line.is_empty()).take(2);
    last.any(|line| ends.iter().any(|end| line.starts_with(end)))
}

/// For every cut, a part passes only if the whole does, and only after its summary. It fails only if the whole does.
#[test]
fn outcome_of_cut_text_never_improves() {
    let mut wrong = Vec::new();
    for fixture in &load_recordings() {
        let whole = fixture.full_output();
        let mut cuts: Vec<_> = vec![10_000];
        if whole.len() < 20_000 {
            cuts.extend((0..whole.len()).filter(|&at| whole[at] == b'\n'));
        }
        let step = CUT_STEP_BYTES.max(whole.len() / MAX_CUTS);
        cuts.extend((0..whole.len()).step_by(step));
        let RecordedRun { name, runner, case, .. } = fixture;
        let has_early_counts = EARLY_COUNTS.contains(&runner.name)
            || PART_END_LINES.iter().any(|(part, _)| *part == runner.name);
        let mut orders = vec![whole];
        if !fixture.err.is_empty() {
            orders.push([fixture.err.clone(), fixture.out.clone()].concat());
        }
        for (whole, cut) in
            orders.iter().flat_map(|whole| cuts.iter().map(move |cut| (whole, *cut)))
        {
            let part = &whole[..cut.min(whole.len())];
            let report = fixture.read_output(part);
            // A cut within the summary line may hide the skipped tests.
            let told =
                |counts: Option<TestCounts>| counts.map(|counts| (counts.passed, counts.failed));
            let same = case.expect.verdict == Verdict::Passed
                && (has_early_counts || told(report.counts) == told(case.expect.counts));
            let may_pass = same
                || case.sections > 1
                || SHORT_SUMMARIES.contains(&runner.name)
                || ends_with_part(runner, part);
            if report.verdict == Verdict::Passed && !may_pass {
                wrong.push(format!("{name} passes in its first {cut} bytes"));
            }
            let may_fail =
                case.expect.verdict != Verdict::Passed || EARLY_FAILURES.contains(&runner.name);
            if report.verdict == Verdict::Failed && !may_fail {
                wrong.push(format!("{name} fails in its first {cut} bytes"));
            }
        }
    }
    assert_no_errors(&wrong);
}

#[test]
fn outcome_ignores_colour_and_line_ends() {
    let mut wrong = Vec::new();
    for fixture in &load_recordings() {
        let whole = fixture.full_output();
        let (mut coloured, mut windows) = (Vec::new(), Vec::new());
        for line in whole.split_inclusive(|&byte| byte == b'\n') {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let end = &line[text.len()..];
            coloured.extend([b"\x1b[1m\x1b[38;5;9m", text, b"\x1b[0m\x1b[K", end].concat());
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            windows.extend([text, if end.is_empty() { b"" } else { b"\r\n" }].concat());
        }
        for (what, bytes) in [("coloured", coloured), ("with CRLF", windows)] {
            let said = find_difference(fixture, &bytes);
            wrong.extend(said.map(|said| format!("{} {what}: {said}", fixture.name)));
        }
    }
    assert_no_errors(&wrong);
}

/// Both streams end up in one text, in no fixed order.
#[test]
fn outcome_ignores_stream_order() {
    let mut wrong = Vec::new();
    for fixture in load_recordings().iter().filter(|fixture| !fixture.err.is_empty()) {
        let RecordedRun { name, out, err, case, .. } = fixture;
        let said = find_difference(fixture, &[err.clone(), out.clone()].concat());
        wrong.extend(said.map(|said| format!("{name} with stderr first: {said}")));
        // With interleaved lines, names may get lost, but the verdict never improves.
        let (mut left, mut right) = (
            out.split_inclusive(|&byte| byte == b'\n'),
            err.split_inclusive(|&byte| byte == b'\n'),
        );
        let mut mixed = Vec::new();
        loop {
            let pair = (left.next(), right.next());
            mixed.extend(pair.0.into_iter().chain(pair.1).flatten());
            if pair == (None, None) {
                break;
            }
        }
        let passed = fixture.read_output(&mixed).verdict == Verdict::Passed;
        if passed && case.expect.verdict != Verdict::Passed {
            wrong.push(format!("{name} passes when its streams are mixed"));
        }
    }
    assert_no_errors(&wrong);
}

/// `npm test` and similar wrappers print the command that they run.
#[test]
fn outcome_of_script_names_command() {
    let mut seen = 0;
    for fixture in &load_recordings() {
        let (runner, case) = fixture.name.split_once('/').unwrap();
        let Some((wrapper @ ("npm" | "pnpm" | "yarn"), _)) = case.split_once('_') else { continue };
        // In a terminal, or with one pipe for both streams, the wrapper prints first.
        let mut bytes = fixture.full_output();
        if wrapper == "pnpm" {
            bytes = [fixture.err.clone(), fixture.out.clone()].concat();
        }
        let text = plain_text(&bytes);
        let output = read_task_output(&text, false);
        let command =
            output.commands.first().unwrap_or_else(|| panic!("{} tells none", fixture.name)).line;
        assert!(command.starts_with(runner), "{} tells {command}", fixture.name);
        // npm reports the failure by its exit status only.
        let failed = fixture.case.expect.verdict == Verdict::Failed && wrapper != "npm";
        assert_eq!(output.failed, failed, "{}", fixture.name);
        seen += 1;
    }
    assert!(seen > 5, "{seen}");
}

/// Two runs of one bug share a signature, and two bugs do not. Measured over all pairs of runs of one runner.
#[test]
#[expect(clippy::print_stdout, reason = "the figure")]
fn outcome_signatures_tell_bugs_apart() {
    let mut runs = Vec::new();
    for fixture in &load_recordings() {
        if let Some(bug) = &fixture.case.bug {
            let signature = signature::failures_signature(
                &fixture.read_output(&fixture.full_output()).failures,
            );
            runs.push((fixture.runner.name, bug.clone(), signature, fixture.name.clone()));
        }
    }
    let (mut same, mut same_right, mut other, mut other_right) = (0_u32, 0_u32, 0_u32, 0_u32);
    let mut wrong = BTreeSet::new();
    for (at, (runner, bug, signature, name)) in runs.iter().enumerate() {
        for (_, other_bug, other_signature, other_name) in
            runs[at + 1..].iter().filter(|run| run.0 == *runner)
        {
            let alike = signature.is_some() && signature == other_signature;
            if bug == other_bug {
                same += 1;
                same_right += u32::from(alike);
            } else {
                other += 1;
                other_right += u32::from(!alike);
            }
            if alike != (bug == other_bug) {
                wrong.insert(format!("{name} {signature:?}, {other_name} {other_signature:?}"));
            }
        }
    }
    println!(
        "{} runs: of {same} pairs of one bug {same_right} share a signature; of {other} pairs of two bugs {other_right} do not",
        runs.len()
    );
    for pair in &wrong {
        println!("  {pair}");
    }
    assert!(same > 200 && other > 500, "{same} {other}");
    assert!(f64::from(same_right) >= 0.95 * f64::from(same), "{wrong:#?}");
    assert!(f64::from(other_right) >= 0.99 * f64::from(other), "{wrong:#?}");
}

/// Returns true if the text contains one of the reader's words, or if the reader has none.
fn has_reader_word(runner: &OutputReader, text: &str) -> bool {
    let lines = format!("\n{text}\n");
    runner.keywords.is_empty() || runner.keywords.iter().any(|tell| lines.contains(tell))
}

/// Returns the first report of a reader that would be skipped for this text.
fn report_of_skipped_reader(text: &str) -> Option<(&'static str, OutputReport)> {
    let unasked = RUNNERS.iter().filter(|runner| !has_reader_word(runner, text));
    let mut said = unasked.map(|runner| (runner.name, (runner.read)(text)));
    said.find(|(_, report)| report.is_known())
}

/// A reader is skipped if the text contains none of its words. Skipping must not lose a report.
#[test]
fn outcome_survives_skipped_readers() {
    let fixtures = load_recordings();
    let mut passed_over = 0;
    for fixture in &fixtures {
        let whole = fixture.full_output();
        let text = plain_text(&whole);
        let half = &text[..text.floor_char_boundary(text.len() / 2)];
        for text in [&text, text.trim_end(), half] {
            assert_eq!(report_of_skipped_reader(text), None, "{}", fixture.name);
        }
        passed_over += RUNNERS.iter().filter(|runner| !has_reader_word(runner, &text)).count();
    }
    // Otherwise skipping would not pay.
    assert!(passed_over > 12 * fixtures.len(), "{passed_over}");
}

#[test]
fn outcome_of_large_text_is_read() {
    // Lines that most readers look at, repeated many times.
    let part = "x\nE   Error: x\n________ a ________\n= 1 passed in 1s =\n  ● a › b\n    at x (/a.js:1:2)\na.py:1:2: E1 x\n";
    let text = part.repeat(10 * 1024 * 1024 / part.len());
    for runner in RUNNERS {
        assert_ne!((runner.read)(&text).verdict, Verdict::Passed, "{}", runner.name);
    }
}

mod arbitrary {
    use std::sync::LazyLock;

    use super::*;
    use proptest::prelude::*;

    /// Generates texts from lines that the readers look for, so that random input reaches their edge cases.
    fn arbitrary_lines() -> impl Strategy<Value = String> {
        let mut lines: Vec<String> = Vec::new();
        for fixture in load_recordings() {
            let whole = fixture.full_output();
            lines.extend(plain_text(&whole).lines().map(str::to_owned));
        }
        lines.sort();
        lines.dedup();
        prop::collection::vec(prop::sample::select(lines), 0..40).prop_map(|lines| lines.join("\n"))
    }

    /// The stdout and stderr of every recording, each with its runner.
    static TEXTS: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
        let streams = |run: RecordedRun| {
            [run.out, run.err].map(|bytes| (run.runner.name, plain_text(&bytes).into_owned()))
        };
        load_recordings().into_iter().flat_map(streams).collect()
    });

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn outcome_of_random_bytes_never_passes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            let text = plain_text(&bytes);
            for runner in RUNNERS {
                prop_assert_ne!((runner.read)(&text).verdict, Verdict::Passed, "{}", runner.name);
            }
        }

        #[test]
        fn outcome_of_random_text_never_passes(text in "(\\PC{0,80}\n){0,20}") {
            for runner in RUNNERS {
                prop_assert_ne!((runner.read)(&text).verdict, Verdict::Passed, "{}", runner.name);
            }
        }

        #[test]
        fn changed_recording_does_not_panic(
            seed in 0_usize..10_000, noise in "\\PC{0,40}", at in 0_usize..4_000, cut in 0_usize..8_000,
        ) {
            for runner in RUNNERS {
                drop((runner.read)(&noise));
                let own: Vec<&String> =
                    TEXTS.iter().filter(|(name, _)| *name == runner.name).map(|(_, text)| text).collect();
                if !own.is_empty() {
                    let mut text = own[seed % own.len()].clone();
                    text.insert_str(text.floor_char_boundary(at.min(text.len())), &noise);
                    text.truncate(text.floor_char_boundary(cut.min(text.len())));
                    drop((runner.read)(&text));
                }
            }
        }

        #[test]
        fn outcome_of_random_lines_is_consistent(text in arbitrary_lines()) {
            prop_assert_eq!(report_of_skipped_reader(&text), None);
            for runner in RUNNERS {
                let report = (runner.read)(&text);
                let failed = !report.failures.is_empty() || report.counts.is_some_and(|counts| counts.failed > 0);
                prop_assert!(!failed || report.verdict != Verdict::Passed, "{}", runner.name);
            }
        }
    }
}
