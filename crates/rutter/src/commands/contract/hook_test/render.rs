//! The report as text.

use std::collections::BTreeMap;
use std::io::{self, Write};

use rutter_check::tester::{
    AnswerGroup, CompletionPlace, FailOpenAudit, GroupedPayload, HookConclusion, HookTestReport,
    PayloadKind, TrialEffect, ignores_on_failure,
};
use rutter_contract::EventName;

use super::super::explain::quote_beginning;
use super::isolation::Isolation;
use super::waits::ToolWait;
use super::{HookTestRun, MergedEvent, MergedPayload};
use crate::ui::{Ui, format_count, one_line};

/// Number of payloads that a group names.
const MAX_NAMED_PAYLOADS: usize = 12;
/// Number of characters of an input that are shown.
const MAX_INPUT_CHARS: usize = 100;
/// Width of the column with effects.
const EFFECT_WIDTH: usize = 10;

pub(super) fn print_run(run: &HookTestRun, ui: &mut Ui<'_>) -> io::Result<()> {
    let out = &mut *ui.out;
    writeln!(out, "Claude Code {}; {}", run.client, describe_isolation(&run.isolation))?;
    for report in &run.hooks {
        print_report(report, &run.isolation, out)?;
    }
    for event in &run.together {
        print_merged(event, out)?;
    }
    for (number, wait) in run.calls.iter().enumerate() {
        let ToolWait { tool, before, after, sum } = wait;
        if number == 0 {
            writeln!(out)?;
        }
        writeln!(
            out,
            "a call of {} waits {} ms for hooks (p95 {}): {} before, {} after",
            one_line(tool),
            sum.p50_ms,
            sum.p95_ms,
            before.p50_ms,
            after.p50_ms
        )?;
    }
    Ok(())
}

fn describe_isolation(isolation: &Isolation) -> String {
    let project =
        if isolation.project_copy { "on a copy of the project" } else { "in the project itself" };
    let network =
        if isolation.no_network { "without a network" } else { "with the network of this machine" };
    let files = match (isolation.read_only_files, isolation.hidden_home) {
        (true, true) => "other files are read-only, your home folder is hidden",
        (true, false) => "other files are read-only, your home folder can be read",
        (false, _) => "other files are NOT protected",
    };
    format!("{project}, with an empty home folder, {network}; {files}")
}

fn print_report(
    report: &HookTestReport,
    isolation: &Isolation,
    out: &mut dyn Write,
) -> io::Result<()> {
    let latency = report.latency;
    writeln!(
        out,
        "\n{} on {}: {}, {} ms (p50), {} ms (p95)",
        one_line(&report.command),
        report.event,
        format_count(report.payloads as u64, "payload"),
        latency.p50_ms,
        latency.p95_ms
    )?;
    let is_defect = report.defects.iter().any(|defect| defect.code == "over-budget");
    if report.over_budget && !is_defect {
        writeln!(out, "slow: hooks of {} should take {} ms (p95)", report.event, report.budget_ms)?;
    }
    if report.unrun_payloads > 0 {
        let count = format_count(report.unrun_payloads as u64, "payload");
        writeln!(out, "{count} left out, because the hook took too long or cannot be started")?;
    }
    writeln!(out)?;
    for group in &report.answers {
        print_group(group, out)?;
    }
    for defect in &report.defects {
        writeln!(out, "\ndefect[{}]: {}", defect.code, one_line(&defect.message))?;
        if !defect.payloads.is_empty() {
            writeln!(out, "  on: {}", join_names(defect.payloads.iter().map(String::as_str)))?;
        }
        if defect.code == "dead-input" {
            writeln!(out, "  found by reading the script")?;
        }
        writeln!(out, "  help: {}", one_line(&defect.help))?;
    }
    if let Some(audit) = &report.audit {
        print_audit(audit, report.event, isolation, out)?;
    }
    let conclusion = match report.conclusion {
        HookConclusion::Defects => format_count(report.defects.len() as u64, "defect"),
        HookConclusion::Unknown => {
            "unknown: the hook was silent on every payload, which proves nothing".to_owned()
        }
        HookConclusion::Works => "no defects".to_owned(),
    };
    writeln!(out, "\nresult: {conclusion}")
}

fn print_group(group: &AnswerGroup, out: &mut dyn Write) -> io::Result<()> {
    let count = group.payloads.len();
    writeln!(out, "{:<EFFECT_WIDTH$} {count:>3}  {}", group.effect.as_str(), group.sentence)?;
    let mut line = |text: String| writeln!(out, "{:<EFFECT_WIDTH$}      {text}", "");
    if group.effect == TrialEffect::Silent {
        return line(count_kinds(&group.payloads));
    }
    line(join_names(group.payloads.iter().map(|payload| payload.name.as_str())))?;
    for text in &group.texts {
        line(format!("says {}", quote_beginning(text)))?;
    }
    Ok(())
}

fn count_kinds(payloads: &[GroupedPayload]) -> String {
    let mut counts: BTreeMap<PayloadKind, usize> = BTreeMap::new();
    for payload in payloads {
        *counts.entry(payload.kind).or_default() += 1;
    }
    let names = counts.into_iter().map(|(kind, count)| match kind {
        PayloadKind::Ordinary => format!("{count} ordinary"),
        PayloadKind::Provocation => format_count(count as u64, "provocation"),
        PayloadKind::Hostile => format!("{count} hostile"),
    });
    names.collect::<Vec<_>>().join(", ")
}

fn join_names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(MAX_NAMED_PAYLOADS);
    let shown: Vec<&str> = names.take(MAX_NAMED_PAYLOADS).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join("; "))
}

fn print_audit(
    audit: &FailOpenAudit,
    event: EventName,
    isolation: &Isolation,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "\nstill blocked? ({})", audit.payload)?;
    let (open, closed): (Vec<_>, Vec<_>) = audit.cases.iter().partition(|case| case.fails_open);
    for case in open {
        writeln!(out, "  no   {} ({})", case.condition, case.effect)?;
    }
    if audit.timeout_fails_open {
        let help = if ignores_on_failure(event) {
            ""
        } else {
            "; \"onFailure\": \"block\" in the settings changes that"
        };
        writeln!(out, "  no   after a time-out or a crash (by the client's contract{help})")?;
    } else {
        writeln!(out, "  yes  after a time-out or a crash (onFailure is \"block\")")?;
    }
    let network = isolation.no_network.then_some("without a network, as in all runs");
    let closed = closed.into_iter().map(|case| case.condition.as_str()).chain(network);
    let closed: Vec<&str> = closed.collect();
    if !closed.is_empty() {
        writeln!(out, "  yes  {}", closed.join(", "))?;
    }
    if audit.unrun_conditions > 0 {
        let count = format_count(audit.unrun_conditions as u64, "condition");
        writeln!(out, "  {count} not tried, because the hook takes too long")?;
    }
    Ok(())
}

fn print_merged(event: &MergedEvent, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\n{}: the answers of {} together\n",
        event.event,
        format_count(event.hooks.len() as u64, "hook")
    )?;
    for (number, command) in event.hooks.iter().enumerate() {
        writeln!(out, "  [{}] {}", number + 1, one_line(command))?;
    }
    let mut groups: Vec<(&MergedPayload, Vec<&str>)> = Vec::new();
    for merged in &event.answers {
        let is_same = |known: &MergedPayload| {
            let (one, other) = (&known.answer, &merged.answer);
            (one.effect, &one.outcomes, &one.decided_by, &one.overruled)
                == (other.effect, &other.outcomes, &other.decided_by, &other.overruled)
        };
        match groups.iter_mut().find(|(known, _)| is_same(known)) {
            Some((_, payloads)) => payloads.push(&merged.payload),
            None => groups.push((merged, vec![&merged.payload])),
        }
    }
    groups.sort_by_key(|(merged, _)| merged.answer.effect);
    writeln!(out)?;
    for (merged, payloads) in groups {
        let answer = &merged.answer;
        let mut how = format!("by {}", join_numbers(&answer.decided_by));
        if !answer.overruled.is_empty() {
            how = format!("{how}, overrules {}", join_numbers(&answer.overruled));
        }
        if answer.depends_on_order {
            how.push_str("; the result depends on which hook ends when");
        }
        writeln!(out, "{:<EFFECT_WIDTH$} {:>3}  {how}", answer.effect.as_str(), payloads.len())?;
        if answer.effect != TrialEffect::Silent {
            writeln!(out, "{:<EFFECT_WIDTH$}      {}", "", join_names(payloads.into_iter()))?;
        }
        for outcome in &answer.outcomes {
            let place = match outcome.place {
                CompletionPlace::First => "first",
                CompletionPlace::Last => "last",
            };
            let input = outcome.new_input.as_ref().map(|input| {
                let text: String =
                    one_line(&input.to_string()).chars().take(MAX_INPUT_CHARS).collect();
                format!(", with the input {text}")
            });
            let (number, input) = (outcome.hook + 1, input.unwrap_or_default());
            writeln!(
                out,
                "{:<EFFECT_WIDTH$}      if [{number}] ends {place}: {}{input}",
                "", outcome.effect
            )?;
        }
    }
    let slowest = event.answers.iter().map(|merged| merged.wait_ms).fold(0.0, f64::max);
    writeln!(out, "\nthe client waits for the slowest hook: up to {slowest} ms")
}

fn join_numbers(hooks: &[usize]) -> String {
    let numbers: Vec<String> = hooks.iter().map(|hook| format!("[{}]", hook + 1)).collect();
    numbers.join(" ")
}
