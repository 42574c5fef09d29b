//! `rutter outcome`: explains how the output of a run is read. Stores nothing, because typed input is not evidence.

use rutter_runs::command_line::CommandLine;
use rutter_runs::read::{CapturedOutput, ConfiguredRuns, NO_RUN, ParsedOutcome};
use serde_json::json;

use crate::CommandResult;
use crate::cli::Format;
use crate::cli::memory::OutcomeArgs;
use crate::environment::Environment;
use crate::ui::Ui;

pub(crate) fn run(args: &OutcomeArgs, ui: &mut Ui<'_>) -> CommandResult {
    let output = ui.read_stdin()?;
    let seen = CapturedOutput { exit: args.exit, output: &output, cut: args.cut };
    // The configuration is optional: without a home directory there cannot be one.
    let config = Environment::from_process().and_then(|env| env.load_folder_config()).ok();
    let settings = config.as_ref().map(|config| &config.hooks.outcome_capture);
    let configured = settings.map_or_else(ConfiguredRuns::default, |settings| ConfiguredRuns {
        matchers: &settings.matchers,
        only: &settings.only,
    });
    let readings = configured.read_runs(&CommandLine::parse(&args.command), &seen);
    match (args.format.chosen(), readings) {
        (Format::Json, Ok(readings)) => {
            let outcomes: Vec<serde_json::Value> = readings.iter().map(reading_to_json).collect();
            let worst = readings.last();
            ui.print_json(&json!({
                "outcome": worst.map(reading_to_json),
                "because": worst.map(|reading| reading.because),
                "outcomes": outcomes,
            }))
        }
        (Format::Json, Err(because)) => {
            ui.print_json(&json!({ "outcome": null, "because": because, "outcomes": [] }))
        }
        (Format::Text, Ok(readings)) => {
            readings.iter().try_for_each(|reading| print_reading(reading, ui))
        }
        (Format::Text, Err(because)) => {
            writeln!(ui.out, "no outcome: {because}")?;
            if because == NO_RUN {
                writeln!(ui.out, "{}", matcher_advice(&args.command))?;
            }
            Ok(())
        }
    }
}

/// Returns the configuration to add for a command that rutter does not recognise as a run.
pub(crate) fn matcher_advice(command: &str) -> String {
    let command = command.lines().next().unwrap_or_default().trim();
    let quoted = serde_json::Value::from(command).to_string();
    format!(
        "If this is a test run, build or check, add it to the configuration (`rutter config \
         path`):\n  [hooks.outcome_capture]\n  matchers = [{quoted}]"
    )
}

fn reading_to_json(reading: &ParsedOutcome) -> serde_json::Value {
    json!({
        "kind": reading.kind,
        "runner": reading.runner,
        "verdict": reading.verdict,
        "counts": reading.counts,
        "failing": reading.failing,
        "signature": reading.signature,
        "exit": reading.exit,
        "duration": reading.duration,
        "because": reading.because,
    })
}

fn print_reading(reading: &ParsedOutcome, ui: &mut Ui<'_>) -> CommandResult {
    writeln!(ui.out, "{}: {} ({})", reading.verdict, reading.runner, reading.kind)?;
    writeln!(ui.out, "  because    {}", reading.because)?;
    if let Some(counts) = reading.counts {
        writeln!(
            ui.out,
            "  counts     {} passed, {} failed, {} skipped",
            counts.passed, counts.failed, counts.skipped
        )?;
    }
    for test in &reading.failing {
        writeln!(ui.out, "  failing    {test}")?;
    }
    if let Some(signature) = &reading.signature {
        writeln!(ui.out, "  signature  {signature}")?;
    }
    if let Some(millis) = reading.duration {
        writeln!(ui.out, "  took       {millis} ms")?;
    }
    Ok(())
}
