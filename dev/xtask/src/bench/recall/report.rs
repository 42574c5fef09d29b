//! The measurements as a Markdown table and as JSON, and the exceeded limits.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::STARTS_PER_QUERY;
use crate::bench::{describe_machine, format_megabytes, format_millis};

/// Maximum anonymous memory of a process, in bytes.
const MAX_ANONYMOUS_BYTES: u64 = 10_000_000;
/// Maximum time to add a row.
const MAX_INSERT_TIME: Duration = Duration::from_millis(2);

/// The figures for one kind of query.
pub(super) struct QueryFigures {
    kind: &'static str,
    median: Duration,
    p95: Duration,
    resident: u64,
    own: u64,
}

impl QueryFigures {
    pub(super) fn new(
        kind: &'static str,
        mut times: Vec<Duration>,
        resident: u64,
        own: u64,
    ) -> Self {
        times.sort();
        let at = |part: usize| times.get((times.len() * part).div_ceil(100).saturating_sub(1));
        let at = |part| at(part).copied().unwrap_or_default();
        Self { kind, median: at(50), p95: at(95), resident, own }
    }
}

/// The figures for one store.
pub(super) struct StoreFigures {
    pub(super) documents: u32,
    pub(super) cold: Duration,
    pub(super) most_resident: u64,
    pub(super) nothing: QueryFigures,
    pub(super) figures: Vec<QueryFigures>,
    pub(super) folded: Duration,
    pub(super) added: Duration,
    /// Sizes of the database, the vectors and the terms.
    pub(super) bytes: [u64; 3],
    /// True for the second attempt.
    pub(super) again: bool,
}

impl StoreFigures {
    /// Returns the exceeded limits.
    pub(super) fn broken(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let mut check = |kind: &str, kept: bool, why: String| {
            if !kept {
                broken.push(format!("{} documents, {kind}: {why}", self.documents));
            }
        };
        for figures in &self.figures {
            check(
                figures.kind,
                figures.median <= self.cold,
                format!(
                    "{} ms, {} ms are promised",
                    format_millis(figures.median),
                    self.cold.as_millis()
                ),
            );
            for (what, bytes, most) in [
                ("resident", figures.resident, self.most_resident),
                ("of its own", figures.own, MAX_ANONYMOUS_BYTES),
            ] {
                check(
                    figures.kind,
                    bytes <= most,
                    format!(
                        "{} MB {what}, {} are promised",
                        format_megabytes(bytes),
                        format_megabytes(most)
                    ),
                );
            }
        }
        check(
            "adding a row",
            self.added <= MAX_INSERT_TIME,
            format!(
                "{} ms, {} ms are promised",
                format_millis(self.added),
                MAX_INSERT_TIME.as_millis()
            ),
        );
        if !broken.is_empty() && self.is_disturbed() {
            broken.push(
                "but the machine was busy: try again when `/bin/true` takes its time evenly"
                    .to_owned(),
            );
        }
        broken
    }

    fn is_disturbed(&self) -> bool {
        self.nothing.p95 > self.nothing.median * 3
    }
}

/// The figures of one run.
pub(super) struct RecallBenchReport {
    pub(super) memories: Vec<StoreFigures>,
    binary: u64,
}

impl RecallBenchReport {
    pub(super) fn new(binary: u64) -> Self {
        Self { memories: Vec::new(), binary }
    }

    pub(super) fn broken(&self) -> Vec<String> {
        self.memories.iter().flat_map(StoreFigures::broken).collect()
    }

    pub(super) fn table(&self) -> String {
        let mut text = String::from(
            "| `rutter recall`, a new process | documents | median | p95 | × `/bin/true` | resident | its own | promised |\n\
             |---|--:|--:|--:|--:|--:|--:|---|\n",
        );
        for memory in &self.memories {
            for figures in &memory.figures {
                let _ = writeln!(
                    text,
                    "| {} | {} | {} ms | {} ms | {:.1} | {} MB | {} MB | ≤ {} ms |",
                    figures.kind,
                    memory.documents,
                    format_millis(figures.median),
                    format_millis(figures.p95),
                    figures.median.as_secs_f64() / memory.nothing.median.as_secs_f64(),
                    format_megabytes(figures.resident),
                    format_megabytes(figures.own),
                    memory.cold.as_millis(),
                );
            }
        }
        text += "\n| documents | adding a row | making the files | database | vectors | terms |\n\
                 |--:|--:|--:|--:|--:|--:|\n";
        for memory in &self.memories {
            let [database, vectors, terms] = memory.bytes.map(format_megabytes);
            let _ = writeln!(
                text,
                "| {} | {} ms | {:.2} s | {database} MB | {vectors} MB | {terms} MB |",
                memory.documents,
                format_millis(memory.added),
                memory.folded.as_secs_f64(),
            );
        }
        let _ = write!(
            text,
            "\n{STARTS_PER_QUERY} starts of each, taking turns, on {}; the median is what is promised. The binary has {} MB.",
            describe_machine(),
            format_megabytes(self.binary),
        );
        for memory in &self.memories {
            if memory.is_disturbed() {
                let _ = write!(text, " At {} the machine was busy.", memory.documents);
            }
            if memory.again {
                let _ = write!(
                    text,
                    " At {} it is the second attempt: in the first, a promise was not kept.",
                    memory.documents
                );
            }
        }
        text
    }

    pub(super) fn json(&self) -> Result<String> {
        let micros = |time: Duration| (time.as_secs_f64() * 1e6).round();
        let memories: Vec<_> = self
            .memories
            .iter()
            .map(|memory| {
                let [database, vectors, terms] = memory.bytes;
                let rows: Vec<_> = memory
                    .figures
                    .iter()
                    .map(|figures| {
                        json!({
                            "query": figures.kind,
                            "median_us": micros(figures.median),
                            "p95_us": micros(figures.p95),
                            "resident_bytes": figures.resident,
                            "own_bytes": figures.own,
                        })
                    })
                    .collect();
                json!({
                    "documents": memory.documents,
                    "promised_us": micros(memory.cold),
                    "true_median_us": micros(memory.nothing.median),
                    "queries": rows,
                    "added_us": micros(memory.added),
                    "folded_us": micros(memory.folded),
                    "database_bytes": database, "vectors_bytes": vectors, "terms_bytes": terms,
                    "second_attempt": memory.again,
                    "busy": memory.is_disturbed(),
                    "breaks": memory.broken(),
                })
            })
            .collect();
        Ok(serde_json::to_string_pretty(&json!({
            "machine": describe_machine(),
            "starts": STARTS_PER_QUERY,
            "binary_bytes": self.binary,
            "memories": memories,
        }))?)
    }
}
