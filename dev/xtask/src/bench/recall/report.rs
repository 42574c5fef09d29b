//! The measurements as a Markdown table and as JSON, and the exceeded limits.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::STARTS_PER_QUERY;
use crate::bench::figures::{ExceededLimits, LatencyFigures, micros};
use crate::bench::{describe_machine, format_megabytes, format_millis};

/// Maximum anonymous memory of a process, in bytes.
const MAX_ANONYMOUS_BYTES: u64 = 10_000_000;
/// Maximum time to add a row.
const MAX_INSERT_TIME: Duration = Duration::from_millis(2);

/// The figures for one kind of query.
pub(super) struct QueryFigures {
    pub(super) kind: &'static str,
    pub(super) times: LatencyFigures,
    pub(super) resident: u64,
    pub(super) own: u64,
}

/// The figures for one store.
pub(super) struct StoreFigures {
    pub(super) documents: u32,
    pub(super) cold: Duration,
    pub(super) most_resident: u64,
    pub(super) nothing: LatencyFigures,
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
        let mut exceeded = ExceededLimits::default();
        let subject = |kind: &str| format!("{} documents, {kind}", self.documents);
        for figures in &self.figures {
            let subject = subject(figures.kind);
            exceeded.check_time(&subject, "", figures.times.median, self.cold);
            exceeded.check_memory(&subject, "resident", figures.resident, self.most_resident);
            exceeded.check_memory(&subject, "of its own", figures.own, MAX_ANONYMOUS_BYTES);
        }
        exceeded.check_time(&subject("adding a row"), "", self.added, MAX_INSERT_TIME);
        exceeded.into_lines(self.nothing.is_disturbed())
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
                    format_millis(figures.times.median),
                    format_millis(figures.times.p95),
                    figures.times.median.as_secs_f64() / memory.nothing.median.as_secs_f64(),
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
            if memory.nothing.is_disturbed() {
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
                            "median_us": micros(figures.times.median),
                            "p95_us": micros(figures.times.p95),
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
                    "busy": memory.nothing.is_disturbed(),
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
