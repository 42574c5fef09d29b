//! `rutter outcome`: what a run said, and how that was decided. Nothing is stored: what is typed in is no evidence.

use rutter_memory::runs::read::{Reading, Seen, read};
use serde_json::json;

use crate::Failure;
use crate::cli::Format;
use crate::cli::memory::OutcomeArgs;
use crate::ui::Ui;

pub(crate) fn run(args: &OutcomeArgs, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let output = ui.stdin()?;
    let seen = Seen { command: &args.command, exit: args.exit, output: &output, cut: args.cut };
    let reading = read(&seen);
    match (args.format.chosen(), reading) {
        (Format::Json, Ok(reading)) => ui.json(&as_json(&reading)),
        (Format::Json, Err(because)) => ui.json(&json!({ "outcome": null, "because": because })),
        (Format::Text, Ok(reading)) => text(&reading, ui),
        (Format::Text, Err(because)) => Ok(writeln!(ui.out, "no outcome: {because}")?),
    }
}

fn as_json(reading: &Reading) -> serde_json::Value {
    json!({
        "outcome": {
            "kind": reading.kind,
            "runner": reading.runner,
            "verdict": reading.verdict,
            "counts": reading.counts,
            "failing": reading.failing,
            "signature": reading.signature,
            "exit": reading.exit,
            "duration": reading.duration,
        },
        "because": reading.because,
    })
}

fn text(reading: &Reading, ui: &mut Ui<'_>) -> Result<(), Failure> {
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
