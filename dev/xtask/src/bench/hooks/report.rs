//! The measurements as a Markdown table and as JSON, and the exceeded limits.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use super::rows::TimeLimit;
use super::{STARTS_PER_ROW, seed};
use crate::bench::{describe_machine, format_megabytes, format_millis};

/// Maximum memory of a hook, in bytes: resident, and anonymous.
const MAX_RESIDENT_BYTES: u64 = 25_000_000;
const MAX_ANONYMOUS_BYTES: u64 = 10_000_000;

/// The figures of a row.
pub(super) struct HookRowFigures {
    name: &'static str,
    promise: TimeLimit,
    median: Duration,
    p95: Duration,
    longest: Duration,
    resident: u64,
    anonymous: u64,
}

impl HookRowFigures {
    pub(super) fn new(
        name: &'static str,
        promise: TimeLimit,
        mut times: Vec<Duration>,
        resident: u64,
        anonymous: u64,
    ) -> Self {
        times.sort();
        let at = |part: usize| times.get((times.len() * part).div_ceil(100).saturating_sub(1));
        let at = |part| at(part).copied().unwrap_or_default();
        Self { name, promise, median: at(50), p95: at(95), longest: at(100), resident, anonymous }
    }

    fn ratio(&self, base: Duration) -> f64 {
        self.median.as_secs_f64() / base.as_secs_f64()
    }

    /// Returns the exceeded limits, one line each.
    fn exceeded_limits(&self, base: Duration) -> Vec<String> {
        let name = self.name;
        let mut broken = Vec::new();
        let mut check = |kept: bool, why: String| {
            if !kept {
                broken.push(format!("{name}: {why}"));
            }
        };
        let late = |what: &str, took: Duration, most: Duration| {
            (
                took <= most,
                format!("{what} {} ms, {} ms are promised", format_millis(took), most.as_millis()),
            )
        };
        let (kept, why) = match self.promise {
            TimeLimit::None => return broken,
            TimeLimit::Ratio(most) => {
                let ratio = self.ratio(base);
                (ratio <= most, format!("{ratio:.1} times `/bin/true`, {most} are promised"))
            }
            TimeLimit::Within(most) => late("p95", self.p95, most),
            TimeLimit::Always(most) => late("longest", self.longest, most),
        };
        check(kept, why);
        for (what, bytes, most) in [
            ("resident", self.resident, MAX_RESIDENT_BYTES),
            ("of its own", self.anonymous, MAX_ANONYMOUS_BYTES),
        ] {
            check(
                bytes <= most,
                format!(
                    "{} MB {what}, {} are promised",
                    format_megabytes(bytes),
                    format_megabytes(most)
                ),
            );
        }
        broken
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
        self.figures.first().map_or(Duration::ZERO, |figures| figures.median)
    }

    /// Returns the exceeded limits of all rows.
    pub(super) fn all_exceeded_limits(&self) -> Vec<String> {
        let mut broken: Vec<String> =
            self.figures.iter().flat_map(|figures| figures.exceeded_limits(self.base())).collect();
        if !broken.is_empty() && self.is_disturbed() {
            broken.push(
                "but the machine was busy: try again when `/bin/true` takes its time evenly"
                    .to_owned(),
            );
        }
        broken
    }

    /// Returns true if even a program that does nothing was slowed down: the limits apply to an idle machine.
    fn is_disturbed(&self) -> bool {
        self.figures.first().is_some_and(|nothing| nothing.p95 > nothing.median * 3)
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
                        format_millis(figures.longest)
                    )
                }
            };
            let _ = writeln!(
                text,
                "| {} | {} ms | {} ms | {:.1} | {} MB | {promise} |",
                figures.name,
                format_millis(figures.median),
                format_millis(figures.p95),
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
                let micros = |time: Duration| (time.as_secs_f64() * 1e6).round();
                let promise = match figures.promise {
                    TimeLimit::None => Value::Null,
                    TimeLimit::Ratio(most) => json!({ "ratio": most }),
                    TimeLimit::Within(most) => json!({ "p95_us": micros(most) }),
                    TimeLimit::Always(most) => json!({ "longest_us": micros(most) }),
                };
                json!({
                    "row": figures.name,
                    "median_us": micros(figures.median),
                    "p95_us": micros(figures.p95),
                    "longest_us": micros(figures.longest),
                    "ratio": (figures.ratio(self.base()) * 100.0).round() / 100.0,
                    "resident_bytes": figures.resident,
                    "own_bytes": figures.anonymous,
                    "promise": promise,
                    "breaks": figures.exceeded_limits(self.base()),
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
