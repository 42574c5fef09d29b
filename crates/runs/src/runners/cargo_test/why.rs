//! The reasons for the failures of a run.

use std::collections::{HashMap, HashSet};

use super::super::rust_failure::{Loose, inside, named};
use super::{Failure, Section};

/// Builds one failure per failing test, in order, and one for a binary that crashed or code that does not compile.
pub(super) fn failures(
    text: &str,
    sections: &[Section],
    headless: &[&str],
    compile: Vec<Failure>,
    crash: Option<&str>,
) -> Vec<Failure> {
    let mut found = compile;
    let loose = Loose::of(text);
    let mut seen = HashSet::new();
    found.extend(headless.iter().map(|name| loose.why(name).unwrap_or_else(|| named(name))));
    for section in sections {
        let captured: HashMap<&str, &Vec<&str>> =
            section.captured.iter().map(|(name, lines)| (*name, lines)).collect();
        for name in section.failing() {
            if seen.insert((section.binary.as_deref(), *name)) {
                let why = match captured.get(name) {
                    Some(lines) => inside(name, lines),
                    None => loose.why(name),
                };
                let why = why.unwrap_or_else(|| named(name));
                found.push(Failure { scope: section.binary.clone(), ..why });
            }
        }
    }
    if let Some(how) = crash {
        found.push(loose.overflow().unwrap_or_else(|| crashed(how, sections)));
    }
    found
}

/// Builds the failure of a binary that crashed. The running test is known only with one thread.
fn crashed(how: &str, sections: &[Section]) -> Failure {
    let signal = how.split([' ', ':', ',']).find(|word| word.starts_with("SIG"));
    let unfinished = || sections.iter().filter(|section| section.ended.is_none());
    let last = unfinished().find(|section| section.open.is_some()).or_else(|| unfinished().next());
    Failure {
        scope: last.and_then(|section| section.binary.clone()),
        test: last.and_then(|section| section.open).map(str::to_owned),
        error: Some(signal.unwrap_or("crashed").to_owned()),
        message: Some(how.to_owned()),
        frame: None,
        ..Failure::default()
    }
}
