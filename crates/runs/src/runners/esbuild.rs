//! esbuild: `✘ [ERROR] Could not resolve "x"` with the place below, and `⚡ Done in 13ms` on success.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan;

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "esbuild",
    RunKind::Build,
    &["✘ [ERROR] ", "X [ERROR] ", "⚡ Done in "],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(message) =
            line.strip_prefix("✘ [ERROR] ").or_else(|| line.strip_prefix("X [ERROR] "))
        {
            // The place is two lines below, and ends in a colon: `    src/a.js:1:16:`.
            let place = lines.clone().take(2).find_map(|line| {
                let (place, rest) = scan::parse_located_prefix(line.strip_prefix("    ")?)?;
                (rest == ":").then_some(place)
            });
            // The message of a plugin ends in its name: `[plugin vue]`.
            findings.add(place, None, message);
        } else if let Some(time) = line.strip_prefix("⚡ Done in ") {
            findings.good |= time.strip_suffix("ms").and_then(scan::parse_seconds).is_some();
        }
    }
    findings.report()
}
