//! The reasons for the failures of a run.

use std::collections::{HashMap, HashSet};

use super::super::rust_failure::{LoosePanics, failure_from_output, named_failure};
use super::{ReportedFailure, TestBinaryOutput};

/// Builds the failures of a run, in this order: compile errors, failing tests, and a binary that crashed. `headless`
/// are the failing tests of a cut or filtered text without the header of their binary.
pub(super) fn build_failures(
    text: &str,
    sections: &[TestBinaryOutput],
    headless: &[&str],
    compile: Vec<ReportedFailure>,
    crash: Option<&str>,
) -> Vec<ReportedFailure> {
    let mut found = compile;
    let loose = LoosePanics::collect(text);
    let mut seen = HashSet::new();
    found.extend(
        headless.iter().map(|name| loose.failure_of(name).unwrap_or_else(|| named_failure(name))),
    );
    for section in sections {
        let captured: HashMap<&str, &Vec<&str>> =
            section.captured.iter().map(|(name, lines)| (*name, lines)).collect();
        for name in section.failing_tests() {
            if seen.insert((section.binary.as_deref(), *name)) {
                let why = match captured.get(name) {
                    Some(lines) => failure_from_output(name, lines),
                    None => loose.failure_of(name),
                };
                let why = why.unwrap_or_else(|| named_failure(name));
                found.push(ReportedFailure { scope: section.binary.clone(), ..why });
            }
        }
    }
    if let Some(how) = crash {
        found.push(loose.overflow_failure().unwrap_or_else(|| crash_failure(how, sections)));
    }
    found
}

/// Builds the failure of a binary that crashed. The running test is known only with one thread.
fn crash_failure(how: &str, sections: &[TestBinaryOutput]) -> ReportedFailure {
    let signal = how.split([' ', ':', ',']).find(|word| word.starts_with("SIG"));
    let unfinished = || sections.iter().filter(|section| section.ended.is_none());
    let last = unfinished().find(|section| section.open.is_some()).or_else(|| unfinished().next());
    ReportedFailure {
        scope: last.and_then(|section| section.binary.clone()),
        test: last.and_then(|section| section.open).map(str::to_owned),
        error: Some(signal.unwrap_or("crashed").to_owned()),
        message: Some(how.to_owned()),
        frame: None,
        ..ReportedFailure::default()
    }
}
