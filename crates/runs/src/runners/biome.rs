//! Biome: `check`, `lint`, `format` and `ci`.
//!
//! A diagnostic is a header that ends in a rule of `━`, `src/a.js:4:1 lint/style/useConst  FIXABLE  ━━━`, and a message
//! below it after a mark: `×` is an error, `!` a warning, `i` a note. A run ends in `Checked 3 files in 4ms.`,
//! `Found 1 error.` and `Found 1 warning.`; warnings fail it only with `--error-on-warnings`, which a last message
//! shows.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "biome",
    RunKind::Lint,
    &["━━━", "\nChecked ", "\nFound ", "\n  × ", "\n  ✖ ", "\n::error "],
    read_output,
);

/// The header of a diagnostic.
#[derive(Clone, Copy)]
struct BiomeHeader<'a> {
    place: Option<CodePlace<'a>>,
    /// `lint/style/useConst`, `format`, `parse`.
    category: &'a str,
}

fn read_output(text: &str) -> OutputReport {
    let mut errors = Findings::default();
    let mut warnings: Vec<(BiomeHeader<'_>, &str)> = Vec::new();
    let mut open: Option<BiomeHeader<'_>> = None;
    let mut warnings_fail = false;
    let mut above = "";
    for line in text.lines() {
        if let Some(header) = parse_header(line) {
            errors.bad |= header.category == "reporter/format";
            open = Some(header);
        } else if let Some((mark, message)) = parse_marked(line).filter(|_| !is_summary(open)) {
            match (open.take(), mark) {
                (Some(header), BiomeMark::Error) if header.place.is_some() => {
                    errors.add(header.place, Some(header.category), message);
                }
                (Some(header), BiomeMark::Warning) if header.place.is_some() => {
                    warnings.push((header, message));
                }
                (_, BiomeMark::Error) if message.starts_with("Some warnings were emitted") => {
                    (errors.bad, warnings_fail) = (true, true);
                }
                (_, BiomeMark::Error) if is_final_error(message) => errors.bad = true,
                _ => {}
            }
        } else if is_summary(open) && !line.starts_with("Checked ") {
            // `lint/suspicious/noDoubleEquals  1 (1 error)`
            errors.bad |= line.ends_with(" error)") || line.ends_with(" errors)");
        } else if is_checked(line) {
            (errors.good, open) = (true, None);
        } else if let Some(found) = line.strip_prefix("Found ") {
            // Ruff prints the same summary below another line.
            let ours =
                above.starts_with("Checked ") || above.starts_with("Found ") || open.is_some();
            errors.bad |= counts_errors(found) && (ours || errors.good);
        } else if let Some((place, rule, message)) = parse_annotation(line) {
            errors.add(Some(place), Some(rule), message);
        }
        above = line;
    }
    if warnings_fail {
        for (header, message) in warnings {
            errors.add(header.place, Some(header.category), message);
        }
    }
    errors.report()
}

/// Returns true within the sections of `--reporter=summary`.
fn is_summary(open: Option<BiomeHeader<'_>>) -> bool {
    open.is_some_and(|header| header.category.starts_with("reporter/"))
}

/// Parses `src/a.js:4:1 lint/style/useConst  FIXABLE  ━━━━`, with ` at ` before the path in some versions. The last
/// header of a run has only the name of the command: `check ━━━━`.
fn parse_header(line: &str) -> Option<BiomeHeader<'_>> {
    let title = line.trim_end_matches('━');
    if line.len() - title.len() < 3 * '━'.len_utf8() {
        return None;
    }
    let title = title.trim_end().strip_prefix(" at ").unwrap_or(title.trim_end());
    let title = ["FIXABLE", "INTERNAL", "FATAL"]
        .iter()
        .fold(title, |title, tag| title.strip_suffix(tag).unwrap_or(title).trim_end());
    match title.rsplit_once(' ') {
        Some((path, category)) if !path.is_empty() => {
            let unnumbered = CodePlace { path, line: None };
            let place = scan::parse_located_prefix(path).filter(|(_, rest)| rest.is_empty());
            Some(BiomeHeader {
                place: Some(place.map_or(unnumbered, |(place, _)| place)),
                category,
            })
        }
        _ => Some(BiomeHeader { place: None, category: title }),
    }
}

#[derive(Clone, Copy)]
enum BiomeMark {
    Error,
    Warning,
    Note,
}

/// Parses `  × Sort these imports.`
fn parse_marked(line: &str) -> Option<(BiomeMark, &str)> {
    let text = line.strip_prefix("  ")?;
    let (mark, message) = text.split_once(' ')?;
    let mark = match mark {
        "×" | "✖" => BiomeMark::Error,
        "!" | "⚠" => BiomeMark::Warning,
        "i" | "ℹ" => BiomeMark::Note,
        _ => return None,
    };
    Some((mark, message))
}

/// Returns true for the last message of a failed run.
fn is_final_error(message: &str) -> bool {
    message.starts_with("Some errors were emitted while ")
        || message.starts_with("Biome exited because the configuration resulted in errors")
        || message.starts_with("The number of diagnostics exceeds")
}

/// Returns true for `Checked 3 files in 4ms. No fixes applied.` with at least one file.
fn is_checked(line: &str) -> bool {
    let rest = line.strip_prefix("Checked ").or_else(|| line.strip_prefix("Formatted "));
    rest.and_then(scan::split_amount).is_some_and(|(number, words)| {
        let is_files = words.starts_with("file in ") || words.starts_with("files in ");
        let ends = ["applied.", "needed.", "Fixed ", " file.", " files."];
        number > 0 && is_files && ends.iter().any(|end| words.contains(end))
    })
}

/// Returns true for `4 errors.`
fn counts_errors(found: &str) -> bool {
    scan::split_amount(found)
        .is_some_and(|(number, words)| number > 0 && matches!(words, "error." | "errors."))
}

/// Parses `::error title=lint/a/b,file=/p/a.js,line=5,endLine=5,col=7,endColumn=9::Message`.
fn parse_annotation(line: &str) -> Option<(CodePlace<'_>, &str, &str)> {
    let (fields, message) = line.strip_prefix("::error ")?.split_once("::")?;
    let field = |name: &str| {
        fields.split(',').find_map(|field| field.strip_prefix(name)?.strip_prefix('='))
    };
    Some((CodePlace::new(field("file")?, field("line")?), field("title")?, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn headers_have_a_place_or_none() {
        let parse = |line| {
            parse_header(line).map(|one| (one.place.map(|p| (p.path, p.line)), one.category))
        };
        let lint = parse("src/a b.js:4:1 lint/style/useConst  FIXABLE  ━━━━━━━━━━");
        assert_eq!(lint, Some((Some(("src/a b.js", Some(4))), "lint/style/useConst")));
        let old = parse(" at src/App.tsx format ━━━━━━━━━━━━");
        assert_eq!(old, Some((Some(("src/App.tsx", None)), "format")));
        assert_eq!(parse("check ━━━━━━━━━━━━"), Some((None, "check")));
        assert_eq!(parse("src/a.js format"), None);
    }

    #[test]
    fn last_lines_show_errors() {
        let end = "Checked 3 files in 4ms. No fixes applied.\nFound 4 errors.\n";
        assert_eq!(read_output(end).verdict, Verdict::Failed);
        assert_eq!(read_output("Found 4 errors.\n").verdict, Verdict::Unknown);
        let warned = "Checked 3 files in 4ms. No fixes applied.\nFound 1 warning.\n";
        assert_eq!(read_output(warned).verdict, Verdict::Passed);
        assert_eq!(
            read_output("Checked 0 files in 4ms. No fixes applied.\n").verdict,
            Verdict::Unknown
        );
    }
}
