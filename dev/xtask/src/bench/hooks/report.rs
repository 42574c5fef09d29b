//! The measurements as a Markdown table and as JSON, and the exceeded limits.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use super::rows::Promise;
use super::{STARTS, seed};
use crate::bench::{machine, megabytes, millis};

/// Maximum memory of a hook, in bytes: resident, and anonymous.
const RESIDENT: u64 = 25_000_000;
const ANONYMOUS: u64 = 10_000_000;

/// The figures of a row.
pub(super) struct Figures {
    name: &'static str,
    promise: Promise,
    median: Duration,
    p95: Duration,
    longest: Duration,
    resident: u64,
    anonymous: u64,
}

impl Figures {
    pub(super) fn new(
        name: &'static str,
        promise: Promise,
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
    fn breaks(&self, base: Duration) -> Vec<String> {
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
                format!("{what} {} ms, {} ms are promised", millis(took), most.as_millis()),
            )
        };
        let (kept, why) = match self.promise {
            Promise::None => return broken,
            Promise::Ratio(most) => {
                let ratio = self.ratio(base);
                (ratio <= most, format!("{ratio:.1} times `/bin/true`, {most} are promised"))
            }
            Promise::Within(most) => late("p95", self.p95, most),
            Promise::Always(most) => late("longest", self.longest, most),
        };
        check(kept, why);
        for (what, bytes, most) in
            [("resident", self.resident, RESIDENT), ("of its own", self.anonymous, ANONYMOUS)]
        {
            check(
                bytes <= most,
                format!("{} MB {what}, {} are promised", megabytes(bytes), megabytes(most)),
            );
        }
        broken
    }
}

/// The figures of one run.
pub(super) struct Report {
    pub(super) figures: Vec<Figures>,
    /// True for the second attempt.
    pub(super) again: bool,
}

impl Report {
    fn base(&self) -> Duration {
        self.figures.first().map_or(Duration::ZERO, |figures| figures.median)
    }

    /// Returns the exceeded limits of all rows.
    pub(super) fn broken(&self) -> Vec<String> {
        let mut broken: Vec<String> =
            self.figures.iter().flat_map(|figures| figures.breaks(self.base())).collect();
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
                Promise::None => "–".to_owned(),
                Promise::Ratio(most) => format!("≤ {most}×"),
                Promise::Within(most) => format!("p95 ≤ {} ms", most.as_millis()),
                Promise::Always(most) => {
                    format!("≤ {} ms; longest {} ms", most.as_millis(), millis(figures.longest))
                }
            };
            let _ = writeln!(
                text,
                "| {} | {} ms | {} ms | {:.1} | {} MB | {promise} |",
                figures.name,
                millis(figures.median),
                millis(figures.p95),
                figures.ratio(self.base()),
                megabytes(figures.resident),
            );
        }
        let _ = write!(text, "\n{}", self.around());
        text
    }

    /// Describes the machine, the store and the number of starts.
    fn around(&self) -> String {
        let own = self.figures.iter().map(|figures| figures.anonymous).max().unwrap_or_default();
        let mut text = format!(
            "{STARTS} starts of each, taking turns, on {}. {} runs, {} episodes with their fixes and {} sessions in the \
             memory. At most {} MB of the resident memory is a hook's own.",
            machine(),
            seed::OUTCOMES,
            seed::EPISODES,
            seed::SESSIONS,
            megabytes(own),
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
                    Promise::None => Value::Null,
                    Promise::Ratio(most) => json!({ "ratio": most }),
                    Promise::Within(most) => json!({ "p95_us": micros(most) }),
                    Promise::Always(most) => json!({ "longest_us": micros(most) }),
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
                    "breaks": figures.breaks(self.base()),
                })
            })
            .collect();
        let memory = json!({ "outcomes": seed::OUTCOMES, "episodes": seed::EPISODES, "sessions": seed::SESSIONS });
        Ok(serde_json::to_string_pretty(&json!({
            "machine": machine(),
            "starts": STARTS,
            "second_attempt": self.again,
            "busy": self.is_disturbed(),
            "memory": memory,
            "rows": rows,
        }))?)
    }
}
