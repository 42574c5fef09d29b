//! The text form of a report: short if all checks pass, otherwise with the commands to type.

use std::io::{self, Write};

use rutter_memory::quote::seen;

use super::Report;
use super::client::Client;
use super::codes::{self, Severity};
use super::finding::Finding;
use super::layers::{Layer, State, Whose};
use super::runs::{Answer, Row};
use super::servers::{Sort, State as Registered};
use crate::ui::{count, size};

/// Maximum line length. Only long paths exceed it.
const WIDTH: usize = 100;
/// Width of the label column.
const INDENT: usize = 10;

impl Report {
    /// Writes the report as text.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.program(out)?;
        self.client(out)?;
        let mut name = "settings";
        for layer in &self.layers {
            line(out, std::mem::take(&mut name), &settings(layer))?;
        }
        self.hooks(out)?;
        self.servers(out)?;
        self.events(out)?;
        self.live(out)?;
        self.memory(out)?;
        for finding in &self.findings {
            writeln!(out)?;
            write_finding(out, finding)?;
        }
        writeln!(out, "\n{}", self.summary())
    }

    fn program(&self, out: &mut dyn Write) -> io::Result<()> {
        let path = self.program.path.as_ref().map(|path| format!(", {}", path.display()));
        let build = self.program.build_folder.as_ref().map(|_| ", a build of cargo");
        let text = format!(
            "{}{}{}",
            self.program.version,
            path.unwrap_or_default(),
            build.unwrap_or_default()
        );
        line(out, super::NAME, &text)
    }

    fn client(&self, out: &mut dyn Write) -> io::Result<()> {
        let text = match &self.client {
            Client { path: None, .. } => "none in PATH".to_owned(),
            Client { path: Some(path), version: None } => format!("{}, unknown", path.display()),
            Client { path: Some(path), version: Some(version) } => {
                format!("{version}, {}", path.display())
            }
        };
        line(out, "client", &text)?;
        let note = self.client.version.and_then(|_| self.client.contract().note());
        note.map_or(Ok(()), |note| line(out, "", &note))
    }

    fn hooks(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.hooks.is_empty() {
            return line(out, "hooks", "none of rutter");
        }
        let mut name = "hooks";
        for Row { event, matcher, milliseconds, answer, .. } in &self.hooks {
            let time = milliseconds.map_or_else(String::new, |time| format!("{time:.1} ms"));
            let matcher = matcher.as_deref().unwrap_or_default();
            let matcher: String = matcher.chars().filter(|c| !c.is_control()).take(32).collect();
            let text = format!("{event:<18} {matcher:<28} {time:>9}  {}", said(*answer));
            line(out, std::mem::take(&mut name), text.trim_end())?;
        }
        Ok(())
    }

    fn servers(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.servers.is_empty() {
            return line(out, "server", "none of rutter");
        }
        let mut name = "server";
        for server in &self.servers {
            let state = match (server.state, server.kind, server.tools) {
                (Registered::Shadowed, ..) => "another is nearer".to_owned(),
                (Registered::Off, ..) => "OFF".to_owned(),
                (Registered::Skipped, ..) => "SKIPPED by the client".to_owned(),
                (_, Sort::Foreign, _) => "NOT RUTTER".to_owned(),
                (_, Sort::Http, _) => "over HTTP, not tried".to_owned(),
                (state, Sort::Ours, tools) => {
                    let waits = if state == Registered::Pending { "waits for a yes, " } else { "" };
                    match tools.zip(server.milliseconds) {
                        Some((tools, time)) => {
                            format!("{waits}{} in {time:.1} ms", count(tools as u64, "tool"))
                        }
                        None => format!("{waits}not tried, or in vain"),
                    }
                }
            };
            let (whose, file) = (server.whose.as_str(), server.place.file.display());
            line(out, std::mem::take(&mut name), &format!("{whose:<8} {state}: {file}"))?;
        }
        Ok(())
    }

    fn events(&self, out: &mut dyn Write) -> io::Result<()> {
        let came: Vec<String> = self
            .events
            .iter()
            .filter(|came| came.times > 0)
            .map(|came| format!("{} {}", came.event, came.times))
            .collect();
        if came.is_empty() {
            return line(out, "heard", "nothing in 14 days");
        }
        let mut name = "heard";
        wrapped(&format!("in 14 days: {}", came.join(", ")))
            .iter()
            .try_for_each(|text| line(out, std::mem::take(&mut name), text))
    }

    fn live(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(proof) = &self.live else { return Ok(()) };
        let mut name = "live";
        for step in &proof.steps {
            let seen = if step.seen { "yes" } else { "NO " };
            line(out, std::mem::take(&mut name), &format!("{seen} {}", step.what))?;
        }
        Ok(())
    }

    fn memory(&self, out: &mut dyn Write) -> io::Result<()> {
        let memory = &self.memory;
        line(out, "memory", &memory.folder.display().to_string())?;
        let database = match memory.schema {
            Some(schema) => format!("schema {schema}, {}", size(memory.bytes)),
            None if memory.bytes == 0 && self.is_unknown() => {
                return line(out, "database", "unknown, for the folder cannot be read");
            }
            None if memory.bytes == 0 => {
                "none yet; the first command that needs one makes it".to_owned()
            }
            None => format!("unreadable, {}", size(memory.bytes)),
        };
        line(out, "database", &database)?;
        let waiting = format!(
            "{} in the log of changes, {} in the spool",
            size(memory.wal),
            size(memory.spool)
        );
        line(out, "waiting", &waiting)?;
        memory.set_aside.iter().try_for_each(|path| line(out, "aside", &path.display().to_string()))
    }

    /// Returns true if the data directory cannot be read.
    fn is_unknown(&self) -> bool {
        self.findings.iter().any(|finding| finding.code == &codes::MEMORY_UNREADABLE)
    }

    fn summary(&self) -> String {
        let of = |severity: Severity| {
            let number = self.findings.iter().filter(|one| one.severity() == severity).count();
            (number > 0).then(|| count(number as u64, severity.as_str()))
        };
        let all = [Severity::Problem, Severity::Warning, Severity::Note].map(of);
        let all: Vec<String> = all.into_iter().flatten().collect();
        if all.is_empty() { "all is well".to_owned() } else { all.join(", ") }
    }
}

fn line(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{name:<9} {text}")
}

fn settings(layer: &Layer) -> String {
    let Layer { whose, path, state, hooks, ours, .. } = layer;
    let whose = whose.as_str();
    let path = path.display();
    match (state, *ours) {
        (State::Absent, _) if matches!(layer.whose, Whose::Managed | Whose::Checkout) => {
            format!("{whose:<8} none")
        }
        (State::Absent, _) => format!("{whose:<8} none: {path}"),
        (State::Blank, _) => format!("{whose:<8} says nothing: {path}"),
        (State::Void, _) => format!("{whose:<8} SKIPPED by the client: {path}"),
        (State::Read, 0) if *hooks == 0 => format!("{whose:<8} no hooks: {path}"),
        (State::Read, 0) => {
            format!("{whose:<8} {}, none of rutter: {path}", count(*hooks as u64, "hook"))
        }
        (State::Read, ours) => {
            format!("{whose:<8} {}, {ours} of rutter: {path}", count(*hooks as u64, "hook"))
        }
    }
}

const fn said(answer: Answer) -> &'static str {
    match answer {
        Answer::Silent => "silent",
        Answer::Heard => "heard whole",
        Answer::Wrong => "WRONG ANSWER",
        Answer::Failed => "FAILS",
        Answer::Unusable => "NOT RUN, its program cannot be",
        Answer::Untrusted => "not run, the folder is not trusted",
    }
}

fn write_finding(out: &mut dyn Write, finding: &Finding) -> io::Result<()> {
    let name = finding.severity().as_str();
    line(out, name, &format!("[{}]", finding.code.name))?;
    if let Some(place) = &finding.place {
        line(out, "", &place.to_string())?;
    }
    for text in wrapped(&finding.what) {
        line(out, "", &text)?;
    }
    // Commands stay on one line, so that they can be copied.
    let advice: String = seen(&finding.advice).collect();
    line(out, "", &format!("-> {advice}"))
}

/// Wraps a text. A word that is too long, such as a path, gets a separate line.
fn wrapped(text: &str) -> Vec<String> {
    const ROOM: usize = WIDTH - INDENT - 3;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().filter(|line| {
            line.is_empty() || line.chars().count() + 1 + word.chars().count() <= ROOM
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
