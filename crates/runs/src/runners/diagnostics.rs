//! Errors of compilers and linkers for C, C++, Objective-C, Java, Kotlin and Swift, which print them in similar forms.
//!
//! Many other tools print `file:line: error: …`, so only files of these languages count here.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace, has_extension};

/// gcc, g++, clang and clang++.
pub(super) static RUNNER_CC: OutputReader =
    OutputReader::new("gcc", RunKind::Build, KEYWORDS, read_output).silent_on_success();

pub(super) static RUNNER_JAVAC: OutputReader =
    OutputReader::new("javac", RunKind::Build, KEYWORDS, read_output).silent_on_success();

pub(super) static RUNNER_KOTLINC: OutputReader =
    OutputReader::new("kotlinc", RunKind::Build, KEYWORDS, read_output).silent_on_success();

/// The keywords of [`read_output`].
pub(super) const KEYWORDS: &[&str] = &[
    "error: ",
    ": error ",
    "\ne: ",
    UNDEFINED_REFERENCE,
    "ld: ",
    " error generated.",
    " errors generated.",
];

const UNDEFINED_REFERENCE: &str = "undefined reference to ";

/// Extensions of source files.
const SOURCE_EXTENSIONS: &[&str] = &[
    "c", "h", "cc", "cpp", "cxx", "c++", "hpp", "hh", "hxx", "inl", "ipp", "m", "mm", "s", "S",
    "cu", "java", "kt", "kts", "scala", "groovy", "swift",
];

/// An error of a compiler or a linker.
#[derive(Clone, Copy)]
pub(super) struct CompilerDiagnostic<'a> {
    pub(super) place: Option<CodePlace<'a>>,
    pub(super) error: Option<&'a str>,
    pub(super) message: &'a str,
}

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    for line in text.lines() {
        // These do not compile Swift, and its tests print failures in the same form.
        let is_swift = line.contains(".swift:");
        if !is_swift {
            read_line(&mut findings, line);
        }
    }
    findings.report()
}

/// Reads a line of a compiler or a linker: an error, or the message that there was one.
pub(super) fn read_line(findings: &mut Findings, line: &str) {
    if let Some(CompilerDiagnostic { place, error, message }) = parse_diagnostic(line) {
        findings.add_once(place, error, message);
    } else {
        findings.bad |= is_echo(line);
    }
}

/// Parses an error in a source file, or one of the linker.
pub(super) fn parse_diagnostic(line: &str) -> Option<CompilerDiagnostic<'_>> {
    // Most lines have no colon, and a search for words is expensive.
    if !line.contains(':') || line.starts_with([' ', '\t']) {
        return None;
    }
    if let Some(rest) = line.strip_prefix("e: ") {
        return parse_kotlin_error(rest);
    }
    if line.contains("error") {
        let found = parse_compiler_error(line)
            .or_else(|| parse_microsoft_error(line))
            .or_else(|| parse_driver_error(line));
        let own = found.filter(|one| one.place.is_none_or(|place| is_source(place.path)));
        return own.or_else(|| parse_linker_error(line));
    }
    parse_linker_error(line)
}

fn is_source(path: &str) -> bool {
    SOURCE_EXTENSIONS.iter().any(|kind| has_extension(path, kind))
}

/// Parses `book.c:1:25: error: ‘total’ undeclared`, in a file of any kind.
pub(super) fn parse_compiler_error(line: &str) -> Option<CompilerDiagnostic<'_>> {
    let (text, message) =
        line.split_once(": error: ").or_else(|| line.split_once(": fatal error: "))?;
    let (place, rest) = scan::parse_located_prefix(text)?;
    // A compiler prints the line, and the column if known; other messages seldom have that form.
    let is_end = rest.is_empty() && !text.starts_with(' ');
    is_end.then(|| CompilerDiagnostic {
        place: outside_system_headers(place),
        error: None,
        message,
    })
}

/// Returns the place, unless it is in a system header.
fn outside_system_headers(place: CodePlace<'_>) -> Option<CodePlace<'_>> {
    let is_foreign = place.path.starts_with("/usr/") || place.path.starts_with("/Applications/");
    (!is_foreign).then_some(place)
}

/// Parses `file:///p/Ledger.kt:4:18 Type mismatch` and `/p/Ledger.kt: (4, 18): Type mismatch`, the older form.
fn parse_kotlin_error(rest: &str) -> Option<CompilerDiagnostic<'_>> {
    if let Some((path, rest)) = rest.split_once(": (") {
        let (line, rest) = rest.split_once(',')?;
        let (_, message) = rest.split_once("): ")?;
        let place = Some(CodePlace::new(path, line));
        return is_source(path).then_some(CompilerDiagnostic { place, error: None, message });
    }
    let rest = rest.strip_prefix("file://").unwrap_or(rest);
    let (place, message) =
        scan::parse_located_prefix(rest).filter(|(place, _)| is_source(place.path))?;
    let message = message.trim_start_matches([':', ' ']);
    Some(CompilerDiagnostic { place: Some(place), error: None, message })
}

/// Parses `book.cpp(12): error C2065: 'x': undeclared identifier`.
fn parse_microsoft_error(line: &str) -> Option<CompilerDiagnostic<'_>> {
    let (place, rest) =
        line.split_once("): error ").or_else(|| line.split_once("): fatal error "))?;
    let (path, numbers) = place.rsplit_once('(')?;
    let (code, message) = rest.split_once(": ")?;
    let digits = code.strip_prefix('C').or_else(|| code.strip_prefix("LNK"))?;
    digits.parse::<u32>().ok()?;
    let place = CodePlace::new(path, numbers.split(',').next().unwrap_or_default());
    Some(CompilerDiagnostic { place: Some(place), error: Some(code), message })
}

/// Parses `cc1: fatal error: book.c: No such file or directory`, which has no place.
fn parse_driver_error(line: &str) -> Option<CompilerDiagnostic<'_>> {
    let (program, message) =
        line.split_once(": fatal error: ").or_else(|| line.split_once(": error: "))?;
    let is_driver =
        matches!(program, "cc1" | "cc1plus" | "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++");
    let is_echo = message.starts_with("linker command failed") || message == "no input files";
    (is_driver && !is_echo).then_some(CompilerDiagnostic { place: None, error: None, message })
}

/// Parses ``main.c:(.text+0x5): undefined reference to `rows'``, lld's `ld.lld: error: undefined symbol: rows`, and
/// `/usr/bin/ld: cannot find -lrows`.
pub(super) fn parse_linker_error(line: &str) -> Option<CompilerDiagnostic<'_>> {
    if let Some(at) = line.find(UNDEFINED_REFERENCE) {
        let place = line[..at].strip_prefix("/usr/bin/ld: ").unwrap_or(&line[..at]);
        // The number is an offset in the section, not a line.
        let place = place.split_once(":(").map(|(path, _)| CodePlace { path, line: None });
        return Some(CompilerDiagnostic {
            place,
            error: Some("undefined reference"),
            message: &line[at..],
        });
    }
    let (program, message) = line.split_once(": ")?;
    let is_linker = program == "ld" || program.ends_with("/ld") || program.starts_with("ld.");
    if !is_linker {
        return None;
    }
    let message = message.strip_prefix("error: ").unwrap_or(message);
    if message.starts_with("undefined symbol: ") {
        return Some(CompilerDiagnostic {
            place: None,
            error: Some("undefined reference"),
            message,
        });
    }
    let is_missing =
        message.starts_with("cannot find ") || message.starts_with("library not found ");
    is_missing.then_some(CompilerDiagnostic {
        place: None,
        error: Some("cannot find library"),
        message,
    })
}

/// Returns true for a line that only reports that there were errors.
fn is_echo(line: &str) -> bool {
    let counts = |words: &str| {
        scan::split_amount(line).is_some_and(|(number, rest)| number > 0 && rest == words)
    };
    line.starts_with("collect2: error: ld returned ")
        || line.contains(": error: linker command failed with exit code ")
        || counts("error generated.")
        || counts("errors generated.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    /// Returns path, line and message.
    fn diagnostic_parts(line: &str) -> Option<(Option<&str>, Option<u32>, &str)> {
        let CompilerDiagnostic { place, message, .. } = parse_diagnostic(line)?;
        Some((place.map(|place| place.path), place.and_then(|place| place.line), message))
    }

    #[test]
    fn every_form_has_its_place() {
        for (line, path, number) in [
            ("src/book.c:5:20: error: x", "src/book.c", 5),
            ("src/book.c:5: fatal error: x", "src/book.c", 5),
            ("com/acme/Ledger.java:6: error: x", "com/acme/Ledger.java", 6),
            ("e: file:///p/Ledger.kt:4:18 x", "/p/Ledger.kt", 4),
            ("e: /p/Ledger.kt: (4, 18): x", "/p/Ledger.kt", 4),
            ("C:\\src\\book.cpp(12): error C2065: x", "C:\\src\\book.cpp", 12),
            ("/p/Sources/Shop/Till.swift:9:3: error: x", "/p/Sources/Shop/Till.swift", 9),
        ] {
            assert_eq!(diagnostic_parts(line), Some((Some(path), Some(number), "x")), "{line}");
        }
        let header = diagnostic_parts("/usr/include/stdio.h:5:2: error: x");
        assert_eq!(header, Some((None, None, "x")));
    }

    #[test]
    fn foreign_files_are_ignored() {
        for line in [
            "a.py:2: error: x",
            "src/lib.rs:2:3: error: x",
            "a.sh:2:10: error: x [SC2045]",
            "error: x",
            "    at a.c:2:3: error: x",
            "a.ts(3,7): error TS2322: x",
        ] {
            assert_eq!(diagnostic_parts(line), None, "{line}");
        }
    }

    #[test]
    fn linker_errors_are_read() {
        let line = "book.c:(.text+0x9): undefined reference to `rows'";
        assert_eq!(
            diagnostic_parts(line),
            Some((Some("book.c"), None, "undefined reference to `rows'"))
        );
        let line = "/usr/bin/ld: cannot find -lrows: No such file or directory";
        assert_eq!(diagnostic_parts(line).map(|found| found.0), Some(None));
        assert_eq!(
            read_output("collect2: error: ld returned 1 exit status\n").verdict,
            Verdict::Failed
        );
    }
}
