//! The report on a hook: its answers by their effect, defects, latency and the audit.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rutter_contract::EventName;
use rutter_contract::verdict::MistakeSeverity;
use rutter_contract::version::Contract;
use serde::Serialize;

use super::audit::{AuditPlan, FailOpenAudit, ProgramFolder, audit_guard, find_used_files};
use super::judgement::{JudgedTrial, TrialEffect, judge_trial};
use super::latency_budget::latency_budget;
use super::payloads::{PayloadKind, TestPayload};
use super::script_facts::{DeadInput, ScriptFacts};
use super::trial::{TestedHook, TrialEnding, TrialRunner};

/// Number of late trials after which a hook gets no further payload.
const MAX_LATE_TRIALS: usize = 2;
/// Time after which a hook gets no further payload.
const MAX_TOTAL_TIME: Duration = Duration::from_secs(40);
/// Number of different texts that a group of answers shows.
const MAX_GROUP_TEXTS: usize = 3;

/// The answers of a hook with the same effect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerGroup {
    /// The effect.
    pub effect: TrialEffect,
    /// The end of the hook.
    pub ending: TrialEnding,
    /// The effect in a sentence.
    pub sentence: String,
    /// Texts that the model or the user reads; the first ones, if the answers differ.
    pub texts: Vec<String>,
    /// Codes of the mistakes in the answers.
    pub diagnostics: Vec<&'static str>,
    /// Names of the payloads.
    pub payloads: Vec<GroupedPayload>,
}

/// A payload in a group of answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GroupedPayload {
    /// The name.
    pub name: String,
    /// The intent.
    pub kind: PayloadKind,
}

/// A defect of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookDefect {
    /// The code. That of a mistake in an answer has a page in the catalogue.
    pub code: &'static str,
    /// A description.
    pub message: String,
    /// The fix.
    pub help: String,
    /// Names of the payloads that show the defect.
    pub payloads: Vec<String>,
}

/// The durations of a hook in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct HookLatency {
    /// The median.
    pub p50_ms: f64,
    /// The duration that 95 % of the trials do not exceed.
    pub p95_ms: f64,
}

/// The conclusion about a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookConclusion {
    /// The hook has defects.
    Defects,
    /// The hook was silent on every payload, which proves nothing.
    Unknown,
    /// The client uses every answer as it is meant.
    Works,
}

/// The report on a hook.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HookTestReport {
    /// The command line.
    pub command: String,
    /// The event.
    pub event: EventName,
    /// The conclusion.
    pub conclusion: HookConclusion,
    /// Number of payloads on which the hook ran.
    pub payloads: usize,
    /// Number of payloads that were left out, because the hook took too long.
    pub unrun_payloads: usize,
    /// The answers, those that decide first.
    pub answers: Vec<AnswerGroup>,
    /// The defects.
    pub defects: Vec<HookDefect>,
    /// Keys of the payload that the script reads and the client never sends, found by reading the script.
    pub dead_inputs: Vec<DeadInput>,
    /// The durations.
    pub latency: HookLatency,
    /// The time that hooks of the event should take.
    pub budget_ms: u64,
    /// True if 5 % of the trials or more took longer than the budget.
    pub over_budget: bool,
    /// The fail-open audit. None if the hook blocked nothing, or the audit was not possible.
    pub audit: Option<FailOpenAudit>,
}

/// A report, and the trial on each payload in the order of the payloads.
#[derive(Debug)]
pub struct TestedPayloads {
    /// The report.
    pub report: HookTestReport,
    /// The trials. None for a payload that was left out.
    pub trials: Vec<Option<JudgedTrial>>,
}

/// Runs a hook on the payloads for which `is_wanted` is true, and reports what it does. `programs` makes the folder for the
/// audit, which only a hook that blocks needs.
pub fn run_hook_test<'a>(
    runner: &TrialRunner,
    hook: &TestedHook,
    payloads: &[TestPayload],
    is_wanted: &dyn Fn(&TestPayload) -> bool,
    facts: &ScriptFacts,
    programs: &dyn Fn() -> Option<&'a ProgramFolder>,
    contract: Contract,
) -> TestedPayloads {
    let mut trials: Vec<Option<JudgedTrial>> = Vec::new();
    // A command that was late on another event is probably late again.
    let before = runner.late_trials(&hook.start).min(MAX_LATE_TRIALS - 1);
    let (begun, mut late, mut unrun) = (Instant::now(), before, 0);
    let mut is_startable = true;
    for payload in payloads {
        if !is_wanted(payload) {
            trials.push(None);
            continue;
        }
        if late >= MAX_LATE_TRIALS || !is_startable || begun.elapsed() > MAX_TOTAL_TIME {
            unrun += 1;
            trials.push(None);
            continue;
        }
        let trial = runner.run(hook, &payload.value);
        late += usize::from(trial.ending == TrialEnding::TimedOut);
        is_startable = !matches!(trial.ending, TrialEnding::NotStarted(_));
        let mut judged = judge_trial(hook, trial, contract);
        // The verdict has the texts that count.
        judged.trial.stdout = Vec::new();
        judged.trial.stderr = Vec::new();
        trials.push(Some(judged));
    }
    let run: Vec<(&TestPayload, &JudgedTrial)> = payloads
        .iter()
        .zip(&trials)
        .filter_map(|(payload, trial)| Some((payload, trial.as_ref()?)))
        .collect();
    let answers = group_answers(&run);
    let defects = find_defects(hook, &run, facts);
    let blocked = run.iter().find(|(payload, trial)| {
        trial.effect == TrialEffect::Blocked && payload.kind != PayloadKind::Hostile
    });
    let texts: Vec<&str> = facts.texts.iter().map(String::as_str).collect();
    let audit = blocked.and_then(|(payload, _)| {
        let folder = programs()?;
        let programs = folder.programs_in(&texts);
        // Only a copy of a project may miss a file.
        let copy = &runner.environment().project;
        let mut files = find_used_files(&facts.scripts, &facts.texts);
        files.retain(|file| runner.environment().is_copy && file.starts_with(copy));
        let plan = AuditPlan { folder, programs: &programs, files: &files };
        let blocked = (payload.name.as_str(), &payload.value);
        audit_guard(runner, hook, blocked, plan, contract).ok().flatten()
    });
    let is_silent = run.iter().all(|(_, trial)| trial.effect == TrialEffect::Silent);
    let conclusion = if !defects.is_empty() {
        HookConclusion::Defects
    } else if is_silent {
        HookConclusion::Unknown
    } else {
        HookConclusion::Works
    };
    let latency = HookLatency::of(run.iter().map(|(_, trial)| trial.trial.took).collect());
    let budget = latency_budget(hook.event);
    let report = HookTestReport {
        command: hook.start.to_line(),
        event: hook.event,
        conclusion,
        payloads: run.len(),
        unrun_payloads: unrun,
        answers,
        defects,
        dead_inputs: facts.dead_inputs.clone(),
        latency,
        budget_ms: u64::try_from(budget.as_millis()).unwrap_or(u64::MAX),
        over_budget: latency.p95_ms > budget.as_secs_f64() * 1000.0,
        audit,
    };
    TestedPayloads { report, trials }
}

fn group_answers(run: &[(&TestPayload, &JudgedTrial)]) -> Vec<AnswerGroup> {
    let mut groups: Vec<AnswerGroup> = Vec::new();
    for (payload, trial) in run {
        let diagnostics = diagnostic_codes(trial);
        let sentence = trial.sentence();
        let known = groups.iter().position(|group| {
            group.effect == trial.effect
                && group.ending == trial.trial.ending
                && group.sentence == sentence
                && group.diagnostics == diagnostics
        });
        let at = known.unwrap_or_else(|| {
            groups.push(AnswerGroup {
                effect: trial.effect,
                ending: trial.trial.ending.clone(),
                sentence,
                texts: Vec::new(),
                diagnostics,
                payloads: Vec::new(),
            });
            groups.len() - 1
        });
        let group = &mut groups[at];
        for text in trial.texts() {
            if group.texts.len() < MAX_GROUP_TEXTS && !group.texts.iter().any(|known| known == text)
            {
                group.texts.push(text.to_owned());
            }
        }
        group.payloads.push(GroupedPayload { name: payload.name.clone(), kind: payload.kind });
    }
    groups.sort_by_key(|group| group.effect);
    groups
}

fn diagnostic_codes(trial: &JudgedTrial) -> Vec<&'static str> {
    let found = trial.verdict.iter().flat_map(|verdict| &verdict.diagnostics);
    let mut codes: Vec<&'static str> = found.map(|found| found.code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

fn find_defects(
    hook: &TestedHook,
    run: &[(&TestPayload, &JudgedTrial)],
    facts: &ScriptFacts,
) -> Vec<HookDefect> {
    let mut found: BTreeMap<&'static str, HookDefect> = BTreeMap::new();
    let mut add = |code: &'static str, message: String, help: String, payload: &str| {
        let defect = found.entry(code).or_insert_with(|| HookDefect {
            code,
            message,
            help,
            payloads: Vec::new(),
        });
        if !payload.is_empty() && !defect.payloads.iter().any(|known| known == payload) {
            defect.payloads.push(payload.to_owned());
        }
    };
    for (payload, trial) in run {
        let name = payload.name.as_str();
        let diagnostics = trial.verdict.iter().flat_map(|verdict| &verdict.diagnostics);
        let mut is_explained = false;
        for mistake in diagnostics.filter(|mistake| mistake.severity != MistakeSeverity::Info) {
            is_explained = true;
            add(mistake.code, mistake.message.clone(), mistake.help.clone(), name);
        }
        match &trial.trial.ending {
            TrialEnding::TimedOut => add(
                "hook-timed-out",
                format!("the hook did not end within {} s", hook.trial_limit().as_secs_f64()),
                "end in time, also if stdin or the network is slow; a process in the background must not keep stdout open"
                    .to_owned(),
                name,
            ),
            TrialEnding::NotStarted(reason) => add(
                "hook-not-started",
                format!("the hook cannot be started: {reason}"),
                "give the path of an executable program; a shell line is one argument".to_owned(),
                name,
            ),
            TrialEnding::Killed(signal) => add(
                "hook-killed",
                format!("signal {signal} ended the hook"),
                "the client takes this for a failure, and the event continues".to_owned(),
                name,
            ),
            TrialEnding::Exited(_) if trial.effect.is_fault() && !is_explained => add(
                "hook-failed",
                trial.sentence(),
                "exit with 0, or with 2 to block".to_owned(),
                name,
            ),
            TrialEnding::Exited(_) => {}
        }
        let is_repeated =
            payload.value.get("stop_hook_active").and_then(serde_json::Value::as_bool);
        if is_repeated == Some(true) && trial.effect == TrialEffect::Blocked {
            add(
                "stop-loop",
                "the hook blocks again although `stop_hook_active` is true: the client ends the turn at the 9th block in a row, but each tool call in between starts the count again"
                    .to_owned(),
                "let the agent end if `stop_hook_active` is true, or if nothing has changed".to_owned(),
                name,
            );
        }
    }
    for dead in &facts.dead_inputs {
        let meant = dead.meant.map(|meant| format!("read `{meant}`"));
        add(
            "dead-input",
            format!(
                "the script reads `{}`, which the client never sends on {}",
                dead.key, hook.event
            ),
            meant.unwrap_or_else(|| "`rutter contract payload` shows what it sends".to_owned()),
            "",
        );
    }
    found.into_values().collect()
}

impl HookTestReport {
    /// Replaces the budget of the event. A hook that exceeds a budget of the author has a defect.
    pub fn apply_budget(&mut self, budget_ms: u64) {
        self.budget_ms = budget_ms;
        #[expect(clippy::cast_precision_loss, reason = "budgets are small")]
        let budget = budget_ms as f64;
        self.over_budget = self.latency.p95_ms > budget;
        if self.over_budget {
            self.conclusion = HookConclusion::Defects;
            self.defects.push(HookDefect {
                code: "over-budget",
                message: format!(
                    "the hook takes {} ms (p95), more than {budget_ms} ms",
                    self.latency.p95_ms
                ),
                help: "do less, or let the hook run with `async` if its answer is not needed"
                    .to_owned(),
                payloads: Vec::new(),
            });
        }
    }
}

impl HookLatency {
    /// Returns the median and the 95th percentile.
    pub fn of(mut took: Vec<Duration>) -> Self {
        took.sort();
        let at = |share: usize| {
            let index = (took.len() * share).div_ceil(100).saturating_sub(1);
            let duration = took.get(index).copied().unwrap_or_default();
            (duration.as_secs_f64() * 10_000.0).round() / 10.0
        };
        Self { p50_ms: at(50), p95_ms: at(95) }
    }
}

#[cfg(test)]
mod tests;
