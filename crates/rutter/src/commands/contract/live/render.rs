//! The report of a live run as text.

use super::report::{HookState, LiveHookReport, LiveReport, LiveRunReport};
use crate::CommandResult;
use crate::ui::{Ui, format_count, one_line};
use rutter_check::tester::TrialEnding;

pub(super) fn print_reports(reports: &[LiveReport], ui: &mut Ui<'_>) -> CommandResult {
    if let [first, second] = reports {
        print_differences(first, second, ui)?;
    }
    for (number, report) in reports.iter().enumerate() {
        if number > 0 || reports.len() > 1 {
            writeln!(ui.out)?;
        }
        print_report(report, ui)?;
    }
    Ok(())
}

fn print_report(report: &LiveReport, ui: &mut Ui<'_>) -> CommandResult {
    let sessions = format_count(report.sessions as u64, "session");
    writeln!(
        ui.out,
        "Claude Code {}, offline: {sessions} on a copy of the project, with an empty home folder and a scripted model on 127.0.0.1",
        report.client
    )?;
    for note in &report.notes {
        writeln!(ui.out, "note: {note}")?;
    }
    for hook in &report.hooks {
        print_hook(hook, ui)?;
    }
    for found in &report.disagreements {
        writeln!(
            ui.out,
            "\ndisagreement: {}: the client: {}; `explain` says: {}",
            one_line(&found.what),
            one_line(&found.observed),
            one_line(&found.explained)
        )?;
    }
    let fired = report.hooks.iter().filter(|hook| hook.state == HookState::Fired).count();
    let result = if report.is_good() {
        "every hook that could be tried works"
    } else {
        "not every hook works"
    };
    writeln!(
        ui.out,
        "\nresult: {fired} of {} fired; {result}",
        format_count(report.hooks.len() as u64, "hook")
    )?;
    Ok(())
}

fn print_hook(hook: &LiveHookReport, ui: &mut Ui<'_>) -> CommandResult {
    let matcher =
        hook.matcher.as_ref().map(|text| format!(" [{}]", one_line(text))).unwrap_or_default();
    writeln!(ui.out, "\n{}{matcher}: {}", hook.event, hook.command)?;
    let reason = hook.reason.as_deref().unwrap_or_default();
    match hook.state {
        HookState::NotFired => writeln!(ui.out, "  did not fire: {reason}")?,
        HookState::NotTried => writeln!(ui.out, "  not tried: {reason}")?,
        HookState::Fired => {}
    }
    for run in &hook.runs {
        print_run(run, ui)?;
    }
    Ok(())
}

fn print_run(run: &LiveRunReport, ui: &mut Ui<'_>) -> CommandResult {
    let value =
        run.value.as_ref().map(|value| format!(" for {}", one_line(value))).unwrap_or_default();
    let ending = match &run.ending {
        TrialEnding::Exited(code) => format!("exit {code}"),
        TrialEnding::Killed(signal) => format!("ended by signal {signal}"),
        TrialEnding::TimedOut => "killed by the client".to_owned(),
        TrialEnding::NotStarted(reason) => format!("not started: {}", one_line(reason)),
    };
    let order =
        if run.of > 1 { format!(", {} of {} to end", run.order, run.of) } else { String::new() };
    writeln!(ui.out, "  fired{value}: {ending}, {} ms{order}", run.took_ms)?;
    if run.is_async {
        writeln!(ui.out, "    in the background: it decides nothing")?;
    } else if run.is_cut_off {
        writeln!(ui.out, "    ended by the client, because another hook had answered")?;
    } else {
        writeln!(ui.out, "    {}: {}", run.effect, run.sentence)?;
    }
    if let Some(ran) = run.tool_ran {
        writeln!(ui.out, "    the tool {}", if ran { "ran" } else { "did not run" })?;
    }
    for text in &run.to_model {
        writeln!(ui.out, "    the model read:")?;
        for line in text.lines() {
            writeln!(ui.out, "      {}", one_line(line))?;
        }
    }
    for mistake in &run.mistakes {
        writeln!(ui.out, "    mistake{}", one_line(mistake))?;
    }
    for text in &run.to_user {
        writeln!(ui.out, "    the user read: {}", one_line(text))?;
    }
    Ok(())
}

/// Prints what two clients did differently.
fn print_differences(first: &LiveReport, second: &LiveReport, ui: &mut Ui<'_>) -> CommandResult {
    let mut is_equal = true;
    for (one, other) in first.hooks.iter().zip(&second.hooks) {
        let (left, right) = (summarize(one), summarize(other));
        if left != right {
            is_equal = false;
            writeln!(ui.out, "difference: {}: {}", one.event, one.command)?;
            for (client, lines) in [(&first.client, left), (&second.client, right)] {
                for line in lines {
                    writeln!(ui.out, "  {client}: {line}")?;
                }
            }
        }
    }
    if is_equal {
        writeln!(ui.out, "clients {} and {} treat all hooks alike", first.client, second.client)?;
    }
    Ok(())
}

/// Returns what a client did with a hook, without times.
fn summarize(hook: &LiveHookReport) -> Vec<String> {
    if hook.state != HookState::Fired {
        return vec![hook.reason.clone().unwrap_or_default()];
    }
    let line = |run: &LiveRunReport| {
        let value = run.value.as_deref().unwrap_or_default();
        let ran = match run.tool_ran {
            Some(true) => ", the tool ran",
            Some(false) => ", the tool did not run",
            None => "",
        };
        let texts: Vec<String> = run
            .to_model
            .iter()
            .map(|text| format!(", the model read \u{201c}{}\u{201d}", one_line(text)))
            .collect();
        format!("{value} {}{ran}{}", run.effect, texts.concat()).trim().to_owned()
    };
    hook.runs.iter().map(line).collect()
}
