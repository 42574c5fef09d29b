//! `rutter contract explain`: explains the effect of a hook's answer on the client.

use std::io;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use rutter_contract::javascript;
use rutter_contract::table;
use rutter_contract::verdict::{
    self, AnswerDiagnostic, HookOutcome, HookRun, Message, MessageKind, MistakeSeverity, Verdict,
};

use crate::cli::{ContractExplainArgs, Format};
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

/// The maximum length of an answer that is shown in a code frame; for a longer one only the path is printed.
const MAX_FRAMED_BYTES: usize = 4_000;

/// The maximum number of dropped keys in the text output.
const MAX_DROPPED_KEYS: usize = 20;

/// The maximum length of a quoted text, in characters.
const MAX_QUOTED_CHARS: usize = 300;

pub(crate) fn run(args: &ContractExplainArgs, ui: &mut Ui<'_>) -> CommandResult {
    let contract = super::contract_for(&args.client, ui)?;
    let spec = table::event_spec(args.event);
    if !spec.is_at(contract) {
        return Err(super::missing_event_failure(spec, contract));
    }
    let bytes = ui.read_stdin()?;
    if std::str::from_utf8(&bytes).is_err() {
        ui.print_note("stdin is not UTF-8; Claude Code reads each invalid byte as U+FFFD")?;
    }
    let stdout = verdict::decode_stdout(&bytes);
    let run = HookRun { event: args.event, stdout: &stdout, stderr: &args.stderr, exit: args.exit };
    let verdict = verdict::judge_answer(&run, contract);
    if args.format.chosen() == Format::Json {
        ui.print_json(&verdict)?;
    } else {
        print_verdict(&verdict, &run, ui)?;
    }
    match verdict.severity() {
        Some(MistakeSeverity::Warning | MistakeSeverity::Error) => Err(CommandError::Findings),
        Some(MistakeSeverity::Info) | None => Ok(()),
    }
}

fn print_verdict(verdict: &Verdict, run: &HookRun<'_>, ui: &mut Ui<'_>) -> io::Result<()> {
    let out = &mut *ui.out;
    let reports = match verdict.outcome {
        HookOutcome::Success => "success",
        HookOutcome::Error => "an error of the hook",
    };
    writeln!(
        out,
        "{}, exit {}, Claude Code {}, which reports {reports}",
        verdict.event, run.exit, verdict.client
    )?;
    writeln!(out, "\n{}\n", verdict.action)?;
    print_messages(out, "the model reads", &verdict.to_model)?;
    print_messages(out, "the user reads", &verdict.to_user)?;
    print_unread_texts(out, verdict, run)?;
    let dropped = if verdict.dropped.iter().any(String::is_empty) {
        "all of it".to_owned()
    } else if verdict.dropped.is_empty() {
        "nothing".to_owned()
    } else {
        let shown: Vec<String> = verdict
            .dropped
            .iter()
            .take(MAX_DROPPED_KEYS)
            .map(|path| escape_controls(path))
            .collect();
        let more = if verdict.dropped.len() > MAX_DROPPED_KEYS { ", …" } else { "" };
        format!("{}{more}", shown.join(", "))
    };
    writeln!(out, "{:<16} {dropped}", "dropped:")?;
    for (number, diagnostic) in verdict.diagnostics.iter().enumerate() {
        writeln!(out, "\n{}. {}", number + 1, render_diagnostic(diagnostic, run.stdout))?;
    }
    if let Some(corrected) = &verdict.corrected {
        writeln!(
            out,
            "\nThis answer has the intended effect (exit {}):\n{}",
            corrected.exit, corrected.stdout
        )?;
    }
    Ok(())
}

fn print_messages(out: &mut dyn io::Write, who: &str, messages: &[Message]) -> io::Result<()> {
    if messages.is_empty() {
        return writeln!(out, "{:<16} nothing", format!("{who}:"));
    }
    for message in messages {
        let kind = match message.kind {
            MessageKind::Context => "context",
            MessageKind::Reason => "reason",
            MessageKind::Stderr => "stderr",
            MessageKind::Text => "text",
        };
        let text = quote_beginning(&message.text);
        let cut = if message.truncated { ", and a path to the rest" } else { "" };
        writeln!(out, "{:<16} {text} ({kind}{cut})", format!("{who}:"))?;
    }
    Ok(())
}

/// Returns the beginning of a text, quoted and on one line.
pub(super) fn quote_beginning(text: &str) -> String {
    let short: String = text.chars().take(MAX_QUOTED_CHARS).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("{short:?}{more}")
}

/// Prints the texts that reach neither the model nor the user.
fn print_unread_texts(
    out: &mut dyn io::Write,
    verdict: &Verdict,
    run: &HookRun<'_>,
) -> io::Result<()> {
    let mut line = |who: &str, text: &str, what: &str| {
        writeln!(out, "{:<16} {} ({what})", format!("{who}:"), quote_beginning(text))
    };
    let read = |text: &str| {
        verdict.to_model.iter().chain(&verdict.to_user).any(|message| message.text.contains(text))
    };
    if !run.stderr.is_empty() && !read(run.stderr) {
        line("the debug log", run.stderr, "stderr")?;
    }
    let Ok(root) = javascript::parse(run.stdout) else {
        if verdict.dropped.iter().any(String::is_empty) && !run.stdout.is_empty() {
            line("the debug log", run.stdout, "text")?;
        }
        return Ok(());
    };
    for path in verdict.dropped.iter().filter(|path| !path.is_empty()).take(MAX_DROPPED_KEYS) {
        if let Some(text) = root.pointer(path).and_then(javascript::JsonNode::text) {
            line("ignored", text, &escape_controls(path))?;
        }
    }
    Ok(())
}

/// Renders a diagnostic, with a code frame if it points at a place in stdout.
fn render_diagnostic(diagnostic: &AnswerDiagnostic, stdout: &str) -> String {
    let level = match diagnostic.severity {
        MistakeSeverity::Error => Level::ERROR,
        MistakeSeverity::Warning => Level::WARNING,
        MistakeSeverity::Info => Level::INFO,
    };
    let (message, path) = (escape_controls(&diagnostic.message), escape_controls(&diagnostic.path));
    let title = level.primary_title(message.as_str()).id(diagnostic.code);
    let mut group = Group::with_title(title);
    if let Some(span) = diagnostic_span(diagnostic, stdout) {
        let annotation = AnnotationKind::Primary.span(span).label(path.as_str());
        group = group.element(Snippet::source(stdout).annotation(annotation));
    }
    group = group.element(Level::HELP.message(diagnostic.help.as_str()));
    Renderer::plain().render(&[group])
}

/// Escapes control characters: the output of a hook must not control the terminal.
fn escape_controls(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() })
        .collect()
}

/// Returns the byte range in stdout that a diagnostic points at.
fn diagnostic_span(diagnostic: &AnswerDiagnostic, stdout: &str) -> Option<Range<usize>> {
    if stdout.len() > MAX_FRAMED_BYTES || diagnostic.path.is_empty() {
        return None;
    }
    let root = javascript::parse(stdout).ok()?;
    // For a missing key, points at its parent.
    let node = root.pointer(&diagnostic.path).or_else(|| {
        let (parent, _) = diagnostic.path.rsplit_once('/')?;
        root.pointer(parent)
    })?;
    let rest = &stdout[node.at..];
    let first = rest.chars().next()?;
    let length = match first {
        '{' | '[' => 1,
        '"' => string_length(rest),
        _ => rest.find(|c: char| ",]} \n\t\r".contains(c)).unwrap_or(rest.len()),
    };
    Some(node.at..node.at + length)
}

/// Returns the length in bytes of the string literal at the start of `text`.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}
