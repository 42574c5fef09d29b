//! Figures that all benches report: percentiles of times, memory use, exceeded limits.

use std::time::Duration;

use super::{format_megabytes, format_millis};

/// Percentiles of measured times.
#[derive(Clone, Copy)]
pub(super) struct LatencyFigures {
    pub(super) median: Duration,
    pub(super) p95: Duration,
    pub(super) longest: Duration,
}

impl LatencyFigures {
    pub(super) fn from_times(mut times: Vec<Duration>) -> Self {
        times.sort();
        let percentile = |part: usize| {
            let at = (times.len() * part).div_ceil(100).saturating_sub(1);
            times.get(at).copied().unwrap_or_default()
        };
        Self { median: percentile(50), p95: percentile(95), longest: percentile(100) }
    }

    /// Returns true if these are the times of a program that does nothing, and other load slowed it down: the limits
    /// apply to an idle machine.
    pub(super) fn is_disturbed(self) -> bool {
        self.p95 > self.median * 3
    }
}

/// Exceeded limits, one line each.
#[derive(Default)]
pub(super) struct ExceededLimits(Vec<String>);

impl ExceededLimits {
    /// Adds a line if a limit was not kept.
    pub(super) fn check(&mut self, subject: &str, kept: bool, why: &str) {
        if !kept {
            self.0.push(format!("{subject}: {why}"));
        }
    }

    /// Adds a line if a time is above its limit. `what` names the figure, with a blank behind it.
    pub(super) fn check_time(&mut self, subject: &str, what: &str, time: Duration, most: Duration) {
        let why = format!("{what}{} ms, {} ms are promised", format_millis(time), most.as_millis());
        self.check(subject, time <= most, &why);
    }

    /// Adds a line if a memory use is above its limit.
    pub(super) fn check_memory(&mut self, subject: &str, what: &str, bytes: u64, most: u64) {
        let [used, promised] = [bytes, most].map(format_megabytes);
        let why = format!("{used} MB {what}, {promised} are promised");
        self.check(subject, bytes <= most, &why);
    }

    /// Returns the lines. If there are any and the machine was busy, the last one says that.
    pub(super) fn into_lines(mut self, is_disturbed: bool) -> Vec<String> {
        if is_disturbed && !self.0.is_empty() {
            self.0.push(
                "but the machine was busy: try again when `/bin/true` takes its time evenly"
                    .to_owned(),
            );
        }
        self.0
    }
}

/// Returns a time in microseconds, for JSON.
pub(super) fn micros(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round()
}
