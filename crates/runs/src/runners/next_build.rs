//! `next build`: `Failed to compile.` and then a file with its error, or the errors of the type checker; the list of
//! routes on success.

use super::findings::Findings;
use super::tsc;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "next build",
    RunKind::Build,
    &[
        "\nFailed to compile.",
        "\nFailed to type check.",
        "\nRoute (",
        "\n> Build ",
        "build failed with ",
        "\nError occurred prerendering page ",
        "\nExport encountered ",
    ],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut types = Findings::default();
    // True if files with errors follow.
    let mut is_listing = false;
    let mut file: Option<CodePlace<'_>> = None;
    let mut page: Option<&str> = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(page) = page.take() {
            let (error, message) = scan::split_error(line).unwrap_or(("Error", line));
            findings.add(None, Some(error), &format!("{message} (prerendering {page})"));
        } else if is_failure(line) {
            (findings.bad, is_listing) = (true, true);
        } else if let Some(rest) = line.strip_prefix("Error occurred prerendering page \"") {
            findings.bad = true;
            page = rest.split_once('"').map(|(page, _)| page);
        } else if line.starts_with("Route (") {
            findings.good = true;
        } else if let Some((place, code, message)) = tsc::parse_finding(line) {
            types.add(place, Some(code), message);
        } else if let Some(place) =
            line.strip_prefix("./").filter(|_| is_listing).and_then(|_| parse_file_line(line))
        {
            file = Some(place);
        } else if let Some(mut place) = file {
            // The compiler prints the line number below its message: `,-[/p/app/page.tsx:2:1]`.
            let drawn =
                lines.clone().next().and_then(|below| below.split_once("-[")?.1.strip_suffix(']'));
            place.line =
                place.line.or(drawn.and_then(scan::parse_place).and_then(|place| place.line));
            file = add_file_error(&mut findings, place, line);
        }
    }
    if findings.bad {
        findings.append(types);
    }
    findings.report()
}

/// Returns true for the messages at the end of a failed build.
fn is_failure(line: &str) -> bool {
    matches!(line, "Failed to compile." | "Failed to type check." | "> Build error occurred")
        || line.starts_with("> Build failed because of ")
        || line.contains("Turbopack build failed with ")
        || line.starts_with("Export encountered ")
}

/// Parses `./app/page.tsx` and `./app/page.tsx:2:9`.
fn parse_file_line(line: &str) -> Option<CodePlace<'_>> {
    if line.contains(' ') {
        return None;
    }
    let unnumbered = CodePlace { path: line, line: None };
    Some(scan::parse_place(line).unwrap_or(unnumbered)).filter(|place| place.path.contains('.'))
}

/// Adds the error in the line below a file: `Type error: …`, `Module not found: …`, or of ESLint
/// `3:10  Error: 'x' is defined but never used.  no-unused-vars`. Returns the file if more errors may follow.
fn add_file_error<'a>(
    findings: &mut Findings,
    file: CodePlace<'a>,
    line: &str,
) -> Option<CodePlace<'a>> {
    if let Some((row, rest)) = scan::split_number(line)
        && let Some((_, rest)) = rest.strip_prefix(':').and_then(scan::split_number)
    {
        if let Some(said) = rest.trim_start().strip_prefix("Error: ") {
            let (message, rule) =
                said.rsplit_once("  ").map_or((said, None), |(said, rule)| (said, Some(rule)));
            findings.add(Some(CodePlace { line: Some(row), ..file }), rule, message);
        }
        return Some(file);
    }
    // The compiler marks its message, and prints the line number below it.
    let said = line.strip_prefix("Error:").map_or(line, str::trim_start);
    let said = said.strip_prefix("x ").or_else(|| said.strip_prefix("× ")).unwrap_or(said);
    if !said.is_empty() {
        let (error, message) = match said.split_once(": ") {
            Some((error @ ("Type error" | "Module not found" | "Syntax Error"), message)) => {
                (Some(error), message)
            }
            _ => (None, said),
        };
        findings.add_once(Some(file), error, message);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// Checks the forms of versions 13 to 15, which were written by hand.
    #[test]
    fn older_versions_name_the_file_first() {
        let text = "   Linting and checking validity of types ...\nFailed to compile.\n\n./app/page.tsx:2:9\n\
            Type error: Type 'string' is not assignable to type 'number'.\n\n> 2 |   const total: number = \"x\";\n";
        let report = read_output(text);
        assert_eq!(report.verdict, Verdict::Failed);
        let failure = &report.failures[0];
        assert_eq!((failure.frame.as_deref(), failure.line), (Some("./app/page.tsx"), Some(2)));
        assert_eq!(failure.error.as_deref(), Some("Type error"));

        let text = "Failed to compile.\n\n./app/page.tsx\nModule not found: Can't resolve './nowhere'\n\nhttps://nextjs.org/docs/messages/module-not-found\n";
        assert_eq!(
            read_output(text).failures[0].message.as_deref(),
            Some("Can't resolve './nowhere'")
        );

        let text = "Failed to compile.\n\n./app/page.tsx\n3:10  Error: 'x' is defined but never used.  no-unused-vars\n5:1  Warning: y  z\n";
        let report = read_output(text);
        assert_eq!(report.failures.len(), 1);
        assert_eq!(report.failures[0].error.as_deref(), Some("no-unused-vars"));
        assert_eq!(report.failures[0].line, Some(3));
    }
}
