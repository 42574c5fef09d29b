//! Counts over many histories, in total and for each kind of mess, and the goals for these counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::history::History;
use crate::judge::{Judgement, ReturnAnswer};

/// Goals in percent.
const RIGHT_FIRST_GOAL: f64 = 95.0;
const WRONG_CLAIM_GOAL: f64 = 1.0;
const CLOSED_GOAL: f64 = 95.0;

/// Maximum length of the reason listed for a seed.
const MAX_REASON_CHARS: usize = 170;

/// Counts of one group.
#[derive(Debug, Clone, Default)]
struct GroupCounts {
    returns: usize,
    right: usize,
    wrong: usize,
    silent: usize,
    each: usize,
    each_right: usize,
    thin: usize,
    thin_right: usize,
    closings: usize,
    closed: usize,
    never_opened: usize,
    claims: usize,
    wrong_claims: usize,
    wrong_leads: usize,
    uncovered_runs: usize,
    uncovered_closings: usize,
    silences: usize,
    spoken: usize,
    unknown_lines: usize,
    opened: usize,
    strays: usize,
    logged: usize,
}

/// Counts over many histories.
#[derive(Debug, Default)]
pub struct LoopReport {
    histories: usize,
    steps: usize,
    all: GroupCounts,
    groups: BTreeMap<String, GroupCounts>,
    failing: Vec<(u64, String)>,
}

impl LoopReport {
    /// Adds the judgement of a history.
    pub fn add(&mut self, history: &History, judgement: &Judgement) {
        self.histories += 1;
        self.steps += history.steps.len();
        let language = format!("language: {:?}", history.language);
        let own: BTreeSet<String> = history.tags.iter().cloned().chain([language]).collect();
        let mut reasons: Vec<String> = Vec::new();
        for verdict in &judgement.returns {
            let mut groups = own.clone();
            groups.extend(verdict.tags.iter().cloned());
            groups.insert(format!("tool: {}", verdict.tool));
            self.count(&groups, |counts| {
                if verdict.is_thin {
                    counts.thin += 1;
                    counts.thin_right += usize::from(verdict.answer == ReturnAnswer::Right);
                    return;
                }
                counts.returns += 1;
                counts.each += verdict.each.1;
                counts.each_right += verdict.each.0;
                match verdict.answer {
                    ReturnAnswer::Right => counts.right += 1,
                    ReturnAnswer::Wrong(_) => counts.wrong += 1,
                    ReturnAnswer::Silent => counts.silent += 1,
                }
            });
            match &verdict.answer {
                ReturnAnswer::Wrong(line) => {
                    reasons.push(format!("step {}: shows `{line}` first", verdict.step));
                }
                ReturnAnswer::Silent if !verdict.is_thin => {
                    reasons.push(format!("step {}: says nothing about a return", verdict.step));
                }
                _ => {}
            }
        }
        for verdict in &judgement.closings {
            let mut groups = own.clone();
            groups.extend(verdict.tags.iter().cloned());
            groups.insert(format!("tool: {}", verdict.tool));
            self.count(&groups, |counts| {
                counts.closings += 1;
                counts.closed += usize::from(verdict.is_closed);
                counts.never_opened += usize::from(!verdict.is_opened);
            });
            if !verdict.is_closed {
                let why = if verdict.is_opened { "stays open" } else { "was never opened" };
                reasons.push(format!("step {}: `{}` {why}", verdict.step, verdict.name));
            }
        }
        let mut faults = |faults: &[crate::judge::ProductFault], add: fn(&mut GroupCounts)| {
            for fault in faults {
                let mut groups = own.clone();
                groups.extend(fault.tags.iter().cloned());
                self.count(&groups, add);
                reasons.push(format!("step {}: {}", fault.step, fault.what));
            }
        };
        faults(&judgement.wrong_claims, |counts| counts.wrong_claims += 1);
        faults(&judgement.uncovered_closings, |counts| counts.uncovered_closings += 1);
        faults(&judgement.spoken, |counts| counts.spoken += 1);
        faults(&judgement.logged, |counts| counts.logged += 1);
        faults(&judgement.strays, |counts| counts.strays += 1);
        faults(&judgement.unknown_lines, |counts| counts.unknown_lines += 1);
        self.count(&own, |counts| {
            counts.claims += judgement.claims;
            counts.opened += judgement.opened;
            counts.wrong_leads += judgement.wrong_leads;
            counts.uncovered_runs += judgement.uncovered_runs;
            counts.silences += judgement.silences;
        });
        if !reasons.is_empty() {
            self.failing.push((history.seed, reasons.join("; ")));
        }
    }

    /// Adds to the total and to groups.
    fn count(&mut self, groups: &BTreeSet<String>, mut add: impl FnMut(&mut GroupCounts)) {
        add(&mut self.all);
        for group in groups {
            add(self.groups.entry(group.clone()).or_default());
        }
    }

    /// Adds the counts of another report.
    pub fn join(&mut self, other: Self) {
        self.histories += other.histories;
        self.steps += other.steps;
        self.all.add(&other.all);
        for (group, counts) in other.groups {
            self.groups.entry(group).or_default().add(&counts);
        }
        self.failing.extend(other.failing);
        self.failing.sort();
    }

    /// Returns true if every goal is met.
    pub fn is_met(&self) -> bool {
        let all = &self.all;
        percent(all.right, all.returns) >= RIGHT_FIRST_GOAL
            && percent(all.wrong_claims, all.claims) <= WRONG_CLAIM_GOAL
            && percent(all.closed, all.closings) >= CLOSED_GOAL
            && all.uncovered_closings == 0
    }

    /// Returns the number of episodes that were closed although their check had not passed.
    pub fn uncovered_closings(&self) -> usize {
        self.all.uncovered_closings
    }

    /// Returns the report as text.
    pub fn text(&self) -> String {
        let all = &self.all;
        let mut text = String::new();
        let mut row = |name: &str, part: usize, of: usize, goal: &str| {
            let _ = writeln!(
                text,
                "  {name:<48} {part:>6} of {of:>6}  {:>6.1} %  {goal}",
                percent(part, of)
            );
        };
        row("right change shown first", all.right, all.returns, "goal at least 95 %");
        row("wrong change stated as fact", all.wrong_claims, all.claims, "goal at most 1 %");
        row("failures closed that were covered", all.closed, all.closings, "goal at least 95 %");
        row("closed that were not covered", all.uncovered_closings, all.uncovered_runs, "goal 0");
        row("… returns answered wrongly", all.wrong, all.returns, "");
        row("… returns met with silence", all.silent, all.returns, "");
        row("… of several returns in a run, each answered", all.each_right, all.each, "");
        row("… thin evidence: right all the same", all.thin_right, all.thin, "");
        row("… wrong line stands first", all.wrong_leads, all.claims, "");
        row("… covered failures that were never opened", all.never_opened, all.closings, "");
        row("… spoken where nothing was learnt", all.spoken, all.silences, "");
        row("… episodes about nothing that failed", all.strays, all.opened, "");
        row("… faults in the log, of all payloads", all.logged, self.steps, "");
        row("… lines that belong to no change", all.unknown_lines, all.claims, "");
        let mut text = format!(
            "{} histories, {} payloads\n{text}\n  {:<58} {:>17} {:>14} {:>17} {:>9}\n",
            self.histories,
            self.steps,
            "by kind",
            "right first",
            "wrong claims",
            "closed if covered",
            "uncovered"
        );
        for (group, counts) in &self.groups {
            let part = |part: usize, of: usize| match of {
                0 => "-".to_owned(),
                _ => format!("{part}/{of} {:>3.0} %", percent(part, of)),
            };
            let _ = writeln!(
                text,
                "  {group:<58} {:>17} {:>14} {:>17} {:>9}",
                part(counts.right, counts.returns),
                counts.wrong_claims,
                part(counts.closed, counts.closings),
                counts.uncovered_closings
            );
        }
        let _ = writeln!(
            text,
            "\n{} of {} histories have a fault:",
            self.failing.len(),
            self.histories
        );
        for (seed, reasons) in &self.failing {
            let line: String = reasons.chars().take(MAX_REASON_CHARS).collect();
            let more = if line.len() < reasons.len() { " …" } else { "" };
            let _ = writeln!(text, "  seed {seed}: {line}{more}");
        }
        text
    }
}

impl GroupCounts {
    fn add(&mut self, other: &Self) {
        let Self {
            returns,
            right,
            wrong,
            silent,
            each,
            each_right,
            thin,
            thin_right,
            closings,
            closed,
            never_opened,
            claims,
            wrong_claims,
            wrong_leads,
            uncovered_runs,
            uncovered_closings,
            silences,
            spoken,
            unknown_lines,
            opened,
            strays,
            logged,
        } = other;
        self.logged += logged;
        self.opened += opened;
        self.strays += strays;
        self.returns += returns;
        self.right += right;
        self.wrong += wrong;
        self.silent += silent;
        self.each += each;
        self.each_right += each_right;
        self.thin += thin;
        self.thin_right += thin_right;
        self.closings += closings;
        self.closed += closed;
        self.never_opened += never_opened;
        self.claims += claims;
        self.wrong_claims += wrong_claims;
        self.wrong_leads += wrong_leads;
        self.uncovered_runs += uncovered_runs;
        self.uncovered_closings += uncovered_closings;
        self.silences += silences;
        self.spoken += spoken;
        self.unknown_lines += unknown_lines;
    }
}

/// Returns a share in percent, or 0 if the whole is empty.
fn percent(part: usize, of: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let share = part as f64 / of.max(1) as f64;
    share * 100.0
}
