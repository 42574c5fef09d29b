//! The text form of a report: short if all checks pass, otherwise with the commands to type.

use std::io::{self, Write};

use rutter_check::settings::{LayerState, ServerState, SettingsSource};
use rutter_memory::quote::{PathLine as _, visible_chars};

use super::DoctorReport;
use super::client::InstalledClient;
use super::codes::{self, FindingSeverity};
use super::finding::DoctorFinding;
use super::hook_run::{EntryRun, EntryRunOutcome};
use super::layers::LayerReport;
use super::servers::ServerKind;
use crate::ui::{format_count, format_size};

/// Maximum line length. Only long paths exceed it.
const MAX_LINE_WIDTH: usize = 100;
/// Width of the label column.
const LABEL_COLUMN_WIDTH: usize = 10;

impl DoctorReport {
    /// Writes the report as text.
    pub(crate) fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_program(out)?;
        self.write_client(out)?;
        let mut name = "settings";
        for layer in &self.layers {
            write_line(out, std::mem::take(&mut name), &describe_layer(layer))?;
        }
        self.write_hooks(out)?;
        self.write_servers(out)?;
        self.write_events(out)?;
        self.write_live(out)?;
        self.write_memory(out)?;
        for finding in &self.findings {
            writeln!(out)?;
            write_finding(out, finding)?;
        }
        writeln!(out, "\n{}", self.summary())
    }

    fn write_program(&self, out: &mut dyn Write) -> io::Result<()> {
        let path = self.program.path.as_ref().map(|path| format!(", {}", path.to_line()));
        let build = self.program.build_folder.as_ref().map(|_| ", a cargo build");
        let text = format!(
            "{}{}{}",
            self.program.version,
            path.unwrap_or_default(),
            build.unwrap_or_default()
        );
        write_line(out, super::PROGRAM_NAME, &text)
    }

    fn write_client(&self, out: &mut dyn Write) -> io::Result<()> {
        let text = match &self.client {
            InstalledClient { path: None, .. } => "none in PATH".to_owned(),
            InstalledClient { path: Some(path), version: None } => {
                format!("{}, unknown", path.to_line())
            }
            InstalledClient { path: Some(path), version: Some(version) } => {
                format!("{version}, {}", path.to_line())
            }
        };
        write_line(out, "client", &text)?;
        let note = self.client.version.and_then(|_| self.client.contract().note());
        note.map_or(Ok(()), |note| write_line(out, "", &note))
    }

    fn write_hooks(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.hooks.is_empty() {
            return write_line(out, "hooks", "no rutter entry");
        }
        let mut name = "hooks";
        for EntryRun { event, matcher, milliseconds, answer, .. } in &self.hooks {
            let time = milliseconds.map_or_else(String::new, |time| format!("{time:.1} ms"));
            let matcher = matcher.as_deref().unwrap_or_default();
            let matcher: String = matcher.chars().filter(|c| !c.is_control()).take(32).collect();
            let text =
                format!("{event:<18} {matcher:<28} {time:>9}  {}", describe_outcome(*answer));
            write_line(out, std::mem::take(&mut name), text.trim_end())?;
        }
        Ok(())
    }

    fn write_servers(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.servers.is_empty() {
            return write_line(out, "server", "no rutter entry");
        }
        let mut name = "server";
        for server in &self.servers {
            let state = match (server.registered.state, server.kind, server.tools) {
                (ServerState::Shadowed, ..) => "not used, another entry comes first".to_owned(),
                (ServerState::Off, ..) => "OFF".to_owned(),
                (ServerState::Skipped, ..) => "SKIPPED by the client".to_owned(),
                (_, ServerKind::Foreign, _) => "NOT RUTTER".to_owned(),
                (_, ServerKind::Http, _) => "over HTTP, not tried".to_owned(),
                (state, ServerKind::Ours, tools) => {
                    let waits =
                        if state == ServerState::Pending { "waits for approval, " } else { "" };
                    match tools.zip(server.milliseconds) {
                        Some((tools, time)) => {
                            format!("{waits}{} in {time:.1} ms", format_count(tools as u64, "tool"))
                        }
                        None => format!("{waits}not tried, or failed"),
                    }
                }
            };
            let (whose, file) =
                (server.registered.whose.as_str(), server.registered.place.file.to_line());
            write_line(out, std::mem::take(&mut name), &format!("{whose:<8} {state}: {file}"))?;
        }
        Ok(())
    }

    fn write_events(&self, out: &mut dyn Write) -> io::Result<()> {
        let events: Vec<String> = self
            .events
            .iter()
            .filter(|event| event.times > 0)
            .map(|event| format!("{} {}", event.event, event.times))
            .collect();
        if events.is_empty() {
            return write_line(out, "events", "nothing in 14 days");
        }
        let mut name = "events";
        wrap_text(&format!("in 14 days: {}", events.join(", ")))
            .iter()
            .try_for_each(|text| write_line(out, std::mem::take(&mut name), text))
    }

    fn write_live(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(live) = &self.live else { return Ok(()) };
        let mut name = "live";
        for step in &live.steps {
            let seen = if step.seen { "yes" } else { "NO " };
            write_line(out, std::mem::take(&mut name), &format!("{seen} {}", step.what))?;
        }
        Ok(())
    }

    fn write_memory(&self, out: &mut dyn Write) -> io::Result<()> {
        let memory = &self.memory;
        write_line(out, "memory", &memory.folder.to_line())?;
        let database = match memory.schema {
            Some(schema) => format!("schema {schema}, {}", format_size(memory.bytes)),
            None if memory.bytes == 0 && self.is_memory_unreadable() => {
                return write_line(out, "database", "unknown, because the folder cannot be read");
            }
            None if memory.bytes == 0 => "none yet; it is created on first use".to_owned(),
            None => format!("unreadable, {}", format_size(memory.bytes)),
        };
        write_line(out, "database", &database)?;
        let waiting = format!(
            "{} in the write-ahead log, {} in the spool",
            format_size(memory.wal),
            format_size(memory.spool)
        );
        write_line(out, "waiting", &waiting)?;
        memory.set_aside.iter().try_for_each(|path| write_line(out, "set aside", &path.to_line()))
    }

    /// Returns true if the data directory cannot be read.
    fn is_memory_unreadable(&self) -> bool {
        self.findings.iter().any(|finding| finding.code == &codes::MEMORY_UNREADABLE)
    }

    fn summary(&self) -> String {
        let of = |severity: FindingSeverity| {
            let number = self.findings.iter().filter(|one| one.severity() == severity).count();
            (number > 0).then(|| format_count(number as u64, severity.as_str()))
        };
        let all =
            [FindingSeverity::Problem, FindingSeverity::Warning, FindingSeverity::Note].map(of);
        let all: Vec<String> = all.into_iter().flatten().collect();
        if all.is_empty() { "no problems found".to_owned() } else { all.join(", ") }
    }
}

fn write_line(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{name:<9} {text}")
}

fn describe_layer(layer: &LayerReport) -> String {
    let LayerReport { whose, path, state, hooks, ours } = layer;
    let whose = whose.as_str();
    let path = path.to_line();
    match (state, *ours) {
        (LayerState::Absent, _)
            if matches!(layer.whose, SettingsSource::Managed | SettingsSource::Checkout) =>
        {
            format!("{whose:<8} none")
        }
        (LayerState::Absent, _) => format!("{whose:<8} none: {path}"),
        (LayerState::Blank, _) => format!("{whose:<8} no settings: {path}"),
        (LayerState::Void, _) => format!("{whose:<8} SKIPPED by the client: {path}"),
        (LayerState::Read, 0) if *hooks == 0 => format!("{whose:<8} no hooks: {path}"),
        (LayerState::Read, 0) => {
            format!("{whose:<8} {}, 0 of rutter: {path}", format_count(*hooks as u64, "hook"))
        }
        (LayerState::Read, ours) => {
            format!("{whose:<8} {}, {ours} of rutter: {path}", format_count(*hooks as u64, "hook"))
        }
    }
}

const fn describe_outcome(answer: EntryRunOutcome) -> &'static str {
    match answer {
        EntryRunOutcome::Silent => "silent",
        EntryRunOutcome::Heard => "used in full",
        EntryRunOutcome::Wrong => "WRONG ANSWER",
        EntryRunOutcome::Failed => "FAILS",
        EntryRunOutcome::Unusable => "NOT RUN, its program cannot run",
        EntryRunOutcome::Untrusted => "not run, the folder is not trusted",
    }
}

fn write_finding(out: &mut dyn Write, finding: &DoctorFinding) -> io::Result<()> {
    let name = finding.severity().as_str();
    write_line(out, name, &format!("[{}]", finding.code.name))?;
    if let Some(place) = &finding.place {
        write_line(out, "", &place.to_string())?;
    }
    for text in wrap_text(&finding.what) {
        write_line(out, "", &text)?;
    }
    // Commands stay on one line, so that they can be copied.
    let advice: String = visible_chars(&finding.advice).collect();
    write_line(out, "", &format!("-> {advice}"))
}

/// Wraps a text. A word that is too long, such as a path, gets a separate line.
fn wrap_text(text: &str) -> Vec<String> {
    const TEXT_WIDTH: usize = MAX_LINE_WIDTH - LABEL_COLUMN_WIDTH - 3;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().filter(|line| {
            line.is_empty() || line.chars().count() + 1 + word.chars().count() <= TEXT_WIDTH
        });
        match last {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}
