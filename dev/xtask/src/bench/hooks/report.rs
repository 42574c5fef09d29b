//! The measurements as a Markdown table and as JSON, and the exceeded limits.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use super::rows::TimeLimit;
use super::{STARTS_PER_ROW, seed};
use crate::bench::figures::{ExceededLimits, LatencyFigures, micros};
use crate::bench::{describe_machine, format_megabytes, format_millis};

/// Maximum memory of a hook, in bytes: resident, and anonymous.
const MAX_RESIDENT_BYTES: u64 = 25_000_000;
const MAX_ANONYMOUS_BYTES: u64 = 10_000_000;

/// The figures of a row.
pub(super) struct HookRowFigures {
    pub(super) name: &'static str,
    pub(super) promise: TimeLimit,
    pub(super) times: LatencyFigures,
    pub(super) resident: u64,
    pub(super) anonymous: u64,
}

impl HookRowFigures {
    fn ratio(&self, base: Duration) -> f64 {
        self.times.median.as_secs_f64() / base.as_secs_f64()
    }

    /// Adds the exceeded limits.
    fn check(&self, base: Duration, exceeded: &mut ExceededLimits) {
        match self.promise {
            TimeLimit::None => return,
            TimeLimit::Ratio(most) => {
                let ratio = self.ratio(base);
                let why = format!("{ratio:.1} times `/bin/true`, {most} are promised");
                exceeded.check(self.name, ratio <= most, &why);
            }
            TimeLimit::Within(most) => {
                exceeded.check_time(self.name, "p95 ", self.times.p95, most);
            }
            TimeLimit::Always(most) => {
                exceeded.check_time(self.name, "longest ", self.times.longest, most);
            }
        }
        exceeded.check_memory(self.name, "resident", self.resident, MAX_RESIDENT_BYTES);
        exceeded.check_memory(self.name, "of its own", self.anonymous, MAX_ANONYMOUS_BYTES);
    }
}

/// The figures of one run.
pub(super) struct HookBenchReport {
    pub(super) figures: Vec<HookRowFigures>,
    /// True for the second attempt.
    pub(super) again: bool,
}

impl HookBenchReport {
    fn base(&self) -> Duration {
        self.figures.first().map_or(Duration::ZERO, |figures| figures.times.median)
    }

    /// Returns the exceeded limits of all rows.
    pub(super) fn all_exceeded_limits(&self) -> Vec<String> {
        let mut exceeded = ExceededLimits::default();
        for figures in &self.figures {
            figures.check(self.base(), &mut exceeded);
        }
        exceeded.into_lines(self.is_disturbed())
    }

    fn is_disturbed(&self) -> bool {
        self.figures.first().is_some_and(|nothing| nothing.times.is_disturbed())
    }

    pub(super) fn table(&self) -> String {
        let mut text = String::from(
            "| `rutter hook` on | median | p95 | × `/bin/true` | resident | promised |\n|---|--:|--:|--:|--:|---|\n",
        );
        for figures in &self.figures {
            let promise = match figures.promise {
                TimeLimit::None => "–".to_owned(),
                TimeLimit::Ratio(most) => format!("≤ {most}×"),
                TimeLimit::Within(most) => format!("p95 ≤ {} ms", most.as_millis()),
                TimeLimit::Always(most) => {
                    format!(
                        "≤ {} ms; longest {} ms",
                        most.as_millis(),
                        format_millis(figures.times.longest)
                    )
                }
            };
            let _ = writeln!(
                text,
                "| {} | {} ms | {} ms | {:.1} | {} MB | {promise} |",
                figures.name,
                format_millis(figures.times.median),
                format_millis(figures.times.p95),
                figures.ratio(self.base()),
                format_megabytes(figures.resident),
            );
        }
        let _ = write!(text, "\n{}", self.describe_setup());
        text
    }

    /// Describes the machine, the store and the number of starts.
    fn describe_setup(&self) -> String {
        let own = self.figures.iter().map(|figures| figures.anonymous).max().unwrap_or_default();
        let mut text = format!(
            "{STARTS_PER_ROW} starts of each, taking turns, on {}. {} runs, {} episodes with their fixes and {} sessions in the \
             memory. At most {} MB of the resident memory is a hook's own.",
            describe_machine(),
            seed::OUTCOME_COUNT,
            seed::EPISODE_COUNT,
            seed::SESSION_COUNT,
            format_megabytes(own),
        );
        if self.is_disturbed() {
            text += " The machine was busy with other work.";
        }
        if self.again {
            text += " The second attempt: in the first, a promise was not kept.";
        }
        text
    }

    pub(super) fn json(&self) -> Result<String> {
        let rows: Vec<Value> = self
            .figures
            .iter()
            .map(|figures| {
                let promise = match figures.promise {
                    TimeLimit::None => Value::Null,
                    TimeLimit::Ratio(most) => json!({ "ratio": most }),
                    TimeLimit::Within(most) => json!({ "p95_us": micros(most) }),
                    TimeLimit::Always(most) => json!({ "longest_us": micros(most) }),
                };
                let mut exceeded = ExceededLimits::default();
                figures.check(self.base(), &mut exceeded);
                json!({
                    "row": figures.name,
                    "median_us": micros(figures.times.median),
                    "p95_us": micros(figures.times.p95),
                    "longest_us": micros(figures.times.longest),
                    "ratio": (figures.ratio(self.base()) * 100.0).round() / 100.0,
                    "resident_bytes": figures.resident,
                    "own_bytes": figures.anonymous,
                    "promise": promise,
                    "breaks": exceeded.into_lines(false),
                })
            })
            .collect();
        let memory = json!({ "outcomes": seed::OUTCOME_COUNT, "episodes": seed::EPISODE_COUNT, "sessions": seed::SESSION_COUNT });
        Ok(serde_json::to_string_pretty(&json!({
            "machine": describe_machine(),
            "starts": STARTS_PER_ROW,
            "second_attempt": self.again,
            "busy": self.is_disturbed(),
            "memory": memory,
            "rows": rows,
        }))?)
    }
}
