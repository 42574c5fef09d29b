//! Runs a reader over the recorded outputs of its runner, whole and truncated.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::Verdict;
use super::report::{OutputReader, OutputReport};
use super::runners::find_reader;

/// Checks every recorded case of a runner, in each order of its two streams.
pub(super) fn check_recorded_cases(name: &str) {
    let runner = find_reader(name).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/outcomes");
    let folder = folder.join(name.replace(' ', "-"));
    let mut wrong = Vec::new();
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            seen += 1;
            let case: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            let stream = |extension| {
                plain_string(&fs::read(path.with_extension(extension)).unwrap_or_default())
            };
            let (out, err) = (stream("out"), stream("err"));
            for text in [format!("{out}{err}"), format!("{err}{out}")] {
                wrong.extend(
                    find_difference(runner, &case, &text)
                        .map(|why| format!("{}: {why}", path.display())),
                );
            }
        }
    }
    assert!(seen > 0, "no cases of {name}");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

fn find_difference(runner: &OutputReader, case: &Value, text: &str) -> Option<String> {
    let report = (runner.read)(text);
    let expect = &case["expect"];
    let failing: Vec<&str> = report.failures.iter().filter_map(|f| f.test.as_deref()).collect();
    let counts = report.counts.map_or(Value::Null, |counts| serde_json::to_value(counts).unwrap());
    if serde_json::to_value(report.verdict).unwrap() != expect["verdict"]
        || counts != expect["counts"]
        || serde_json::to_value(&failing).unwrap() != expect["failing"]
    {
        return Some(format!("{report:#?}\n  expected {expect}"));
    }
    if let Some(failures) = expect["failures"].as_array() {
        let got: Vec<Value> = report
            .failures
            .iter()
            .map(|failure| {
                serde_json::json!({
                    "test": failure.test, "scope": failure.scope, "error": failure.error,
                    "message": failure.message, "frame": failure.frame,
                    "line": failure.line.map(|line| line.to_string()),
                })
            })
            .collect();
        // A field that the case leaves out is not compared.
        let fits = |(got, wanted): (&Value, &Value)| {
            wanted.as_object().unwrap().iter().all(|(key, value)| got[key] == *value)
        };
        if got.len() != failures.len() || !got.iter().zip(failures).all(fits) {
            return Some(format!("{got:#?}\n  expected {failures:#?}"));
        }
    }
    check_truncated(runner, text, &report)
}

/// Lines that end a part of a run. These runners print nothing after their last part. So a text that was cut directly
/// after such a line looks complete; only the code that cut it can tell.
const PART_END_LINES: &[&str] = &["test result: ok. ", "     Running ", "ok  \t", "Passed!  - "];

/// Checks that truncated texts give no better verdict than the whole text.
fn check_truncated(runner: &OutputReader, text: &str, whole: &OutputReport) -> Option<String> {
    let points = (0..200).map(|part| text.len() * part / 200).chain([10_000]);
    for point in points.filter(|point| *point < text.len()) {
        let text = &text[..text.floor_char_boundary(point)];
        let report = (runner.read)(text);
        let better = report.verdict == Verdict::Passed && whole.verdict != Verdict::Passed;
        let worse = report.verdict == Verdict::Failed && whole.verdict == Verdict::Passed;
        let mut last = text.lines().rev().filter(|line| !line.is_empty()).take(2);
        let ended = last.any(|line| PART_END_LINES.iter().any(|end| line.starts_with(end)));
        if worse || (better && !ended) {
            return Some(format!("cut at {point} it is {report:?}, whole {whole:?}"));
        }
    }
    None
}

fn plain_string(bytes: &[u8]) -> String {
    super::text::plain_text(bytes).into_owned()
}

proptest::proptest! {
    #[test]
    fn arbitrary_text_does_not_panic(seed in 0_usize..10_000, noise in "\\PC{0,40}", at in 0_usize..4_000, cut in 0_usize..8_000) {
        let folders = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/outcomes");
        for runner in super::runners::RUNNERS {
            drop((runner.read)(&noise));
            let folder = folders.join(runner.name.replace(' ', "-"));
            let mut files: Vec<_> = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
            files.sort();
            if !files.is_empty() {
                let mut text = plain_string(&fs::read(&files[seed % files.len()]).unwrap());
                text.insert_str(text.floor_char_boundary(at.min(text.len())), &noise);
                text.truncate(text.floor_char_boundary(cut.min(text.len())));
                drop((runner.read)(&text));
            }
        }
    }
}
