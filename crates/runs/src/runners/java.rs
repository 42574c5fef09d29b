//! The stack of a failed Java test, for Maven and Gradle.

use std::collections::HashSet;

use crate::report::ReportedFailure;
use crate::scan::CodePlace;

/// Prefixes of packages that do not belong to a project.
const FOREIGN_PACKAGES: &[&str] = &[
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "kotlin.",
    "groovy.",
    "org.junit.",
    "junit.",
    "org.testng.",
    "org.hamcrest.",
    "org.assertj.",
    "org.mockito.",
    "org.opentest4j.",
    "org.apache.maven.",
    "org.gradle.",
    "org.springframework.",
    "worker.org.gradle.",
];

/// Reads a line of a stack: first the exception and its message, then the frames, innermost first.
pub(super) fn read_stack_line(failure: &mut ReportedFailure, line: &str) {
    let said = line.trim();
    if let Some(call) = said.strip_prefix("at ") {
        if failure.frame.is_none()
            && let Some(place) = parse_project_place(call)
        {
            failure.set_place(place);
        }
    } else if failure.error.is_none() && !said.is_empty() && !said.starts_with('[') {
        let (class, message) = match said.split_once(": ") {
            Some((class, message)) => (class, Some(message)),
            None => (said.trim_end_matches(':'), None),
        };
        if is_class(class) {
            failure.error = Some(class.to_owned());
            failure.message = message.map(str::to_owned);
        }
    } else if failure.error.is_some()
        && failure.message.is_none()
        && failure.frame.is_none()
        && !said.is_empty()
    {
        // A message that starts on the next line.
        failure.message = Some(said.to_owned());
    }
}

/// Removes repeated failures: of a test by its name, of a build by its message.
pub(super) fn keep_each_failure_once(failures: &mut Vec<ReportedFailure>) {
    let mut seen = HashSet::new();
    failures.retain(|failure| {
        let message = failure.message.clone().filter(|_| failure.test.is_none());
        seen.insert((failure.test.clone(), message))
    });
}

/// Returns true for a class such as `java.lang.AssertionError`.
fn is_class(text: &str) -> bool {
    text.contains('.') && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '$'))
}

/// Parses the place in `com.acme.Ledger.share(Ledger.java:6)`. Returns None if it is in a library. A module name may
/// precede it, with a slash.
pub(super) fn parse_project_place(call: &str) -> Option<CodePlace<'_>> {
    let (name, place) = call.split_once('(')?;
    let name = name.rsplit('/').next().unwrap_or(name);
    let (file, line) = place.strip_suffix(')').unwrap_or(place).split_once(':')?;
    let is_own = FOREIGN_PACKAGES.iter().all(|foreign| !name.starts_with(foreign));
    is_own.then(|| CodePlace::new(file, line))
}
