//! `rutter contract explain`: explains the effect of a hook's answer on the client.

use std::io;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use rutter_contract::javascript;
use rutter_contract::table;
use rutter_contract::verdict::{
    self, Diagnostic, HookRun, Message, MessageKind, Outcome, Severity, Verdict,
};

use crate::Failure;
use crate::cli::{ExplainArgs, Format};
use crate::ui::Ui;

/// The maximum length of an answer that is shown in a code frame; for a longer one only the path is printed.
const FRAMED: usize = 4_000;

/// The maximum number of dropped keys in the text output.
const MOST: usize = 20;

/// The maximum length of a quoted text, in characters.
const SHOWN: usize = 300;

pub(crate) fn run(args: &ExplainArgs, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let contract = super::contract(&args.client, ui)?;
    let spec = table::event(args.event);
    if !spec.is_at(contract) {
        return Err(super::no_such_event(spec, contract));
    }
    let bytes = ui.stdin()?;
    if std::str::from_utf8(&bytes).is_err() {
        ui.remark("stdin is not UTF-8; the client reads what is not as U+FFFD")?;
    }
    let stdout = verdict::decode(&bytes);
    let run = HookRun { event: args.event, stdout: &stdout, stderr: &args.stderr, exit: args.exit };
    let verdict = verdict::judge(&run, contract);
    if args.format.chosen() == Format::Json {
        let json = serde_json::to_string_pretty(&verdict).map_err(io::Error::other)?;
        writeln!(ui.out, "{json}")?;
    } else {
        print(&verdict, &run, ui)?;
    }
    match verdict.severity() {
        Some(Severity::Warning | Severity::Error) => Err(Failure::Findings),
        Some(Severity::Info) | None => Ok(()),
    }
}

fn print(verdict: &Verdict, run: &HookRun<'_>, ui: &mut Ui<'_>) -> io::Result<()> {
    let out = &mut *ui.out;
    let reports = match verdict.outcome {
        Outcome::Success => "success",
        Outcome::Error => "an error of the hook",
    };
    writeln!(
        out,
        "{}, exit {}, Claude Code {}, which reports {reports}",
        verdict.event, run.exit, verdict.client
    )?;
    writeln!(out, "\n{}\n", verdict.action)?;
    texts(out, "the model reads", &verdict.to_model)?;
    texts(out, "the user reads", &verdict.to_user)?;
    unread(out, verdict, run)?;
    let dropped = if verdict.dropped.iter().any(String::is_empty) {
        "all of it".to_owned()
    } else if verdict.dropped.is_empty() {
        "nothing".to_owned()
    } else {
        let shown: Vec<String> =
            verdict.dropped.iter().take(MOST).map(|path| printable(path)).collect();
        let more = if verdict.dropped.len() > MOST { ", …" } else { "" };
        format!("{}{more}", shown.join(", "))
    };
    writeln!(out, "{:<16} {dropped}", "dropped:")?;
    for (number, diagnostic) in verdict.diagnostics.iter().enumerate() {
        writeln!(out, "\n{}. {}", number + 1, rendered(diagnostic, run.stdout))?;
    }
    if let Some(corrected) = &verdict.corrected {
        writeln!(
            out,
            "\nThis does what it seems to mean (exit {}):\n{}",
            corrected.exit, corrected.stdout
        )?;
    }
    Ok(())
}

fn texts(out: &mut dyn io::Write, who: &str, messages: &[Message]) -> io::Result<()> {
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
        let text = quoted(&message.text);
        let cut = if message.truncated { ", and a path to the rest" } else { "" };
        writeln!(out, "{:<16} {text} ({kind}{cut})", format!("{who}:"))?;
    }
    Ok(())
}

/// Returns the beginning of a text, quoted and on one line.
fn quoted(text: &str) -> String {
    let short: String = text.chars().take(SHOWN).collect();
    let more = if short.len() < text.len() { "…" } else { "" };
    format!("{short:?}{more}")
}

/// Prints the texts that reach neither the model nor the user.
fn unread(out: &mut dyn io::Write, verdict: &Verdict, run: &HookRun<'_>) -> io::Result<()> {
    let mut line = |who: &str, text: &str, what: &str| {
        writeln!(out, "{:<16} {} ({what})", format!("{who}:"), quoted(text))
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
    for path in verdict.dropped.iter().filter(|path| !path.is_empty()).take(MOST) {
        if let Some(text) = root.pointer(path).and_then(javascript::Node::text) {
            line("nobody reads", text, &printable(path))?;
        }
    }
    Ok(())
}

/// Renders a diagnostic, with a code frame if it points at a place in stdout.
fn rendered(diagnostic: &Diagnostic, stdout: &str) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let (message, path) = (printable(&diagnostic.message), printable(&diagnostic.path));
    let title = level.primary_title(message.as_str()).id(diagnostic.code);
    let mut group = Group::with_title(title);
    if let Some(span) = span(diagnostic, stdout) {
        let annotation = AnnotationKind::Primary.span(span).label(path.as_str());
        group = group.element(Snippet::source(stdout).annotation(annotation));
    }
    group = group.element(Level::HELP.message(diagnostic.help.as_str()));
    Renderer::plain().render(&[group])
}

/// Escapes control characters: the output of a hook must not control the terminal.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() })
        .collect()
}

/// Returns the byte range in stdout that a diagnostic points at.
fn span(diagnostic: &Diagnostic, stdout: &str) -> Option<Range<usize>> {
    if stdout.len() > FRAMED || diagnostic.path.is_empty() {
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
