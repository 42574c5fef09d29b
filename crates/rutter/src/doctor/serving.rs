//! The server, started as the client starts it, in the scratch memory, and asked which tools it has.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::codes;
use super::entry::{Entry, Start};
use super::finding::{Finding, named};
use super::layers::Whose;
use super::process::{self, Ended};
use super::runs::{Bench, ELSEWHERE};
use super::servers::{Server, Servers, Sort, State};
use super::{advice, program};
use crate::install::server::is_right;
use crate::scratch::Scratch;

/// How often a server that is slow is started.
const TIMES: usize = 3;
/// A client waits longer, but nobody wants to.
const PATIENCE: Duration = Duration::from_secs(5);
/// What is longer, people notice. Ours takes some hundredths.
const SLOW: Duration = Duration::from_secs(1);

/// A program and whether it is worth running.
pub(crate) type Examined = (String, bool);

impl Bench<'_> {
    /// Starts every server of ours that a session has. Programs that hooks run as well have been looked at before.
    pub(crate) fn serve(
        &self,
        servers: &mut Servers,
        entries: &[&Entry],
        mut examined: Vec<Examined>,
        findings: &mut Vec<Finding>,
    ) {
        let hooks: Vec<PathBuf> = entries
            .iter()
            .filter(|entry| !self.is_strange(entry))
            .map(|entry| entry.start(self.places))
            // Of one that does not run something is said already.
            .filter(|start| {
                examined.iter().any(|(program, runs)| *runs && program == start.program())
            })
            .filter_map(|start| program::resolve(&start, self.places))
            .collect();
        let used = servers.running().find(|server| server.plugin.is_none());
        let used = used.and_then(|server| program::resolve(&server.start()?, self.places));
        for server in &mut servers.all {
            if server.kind != Sort::Ours {
                continue;
            }
            let Some(start) = server.start() else { continue };
            let path = program::resolve(&start, self.places);
            if server.state == State::Shadowed {
                findings.extend(shadowed(server, path.as_deref(), used.as_deref()));
            }
            if !matches!(server.state, State::Used | State::Pending)
                || self.is_foreign(server, &start)
            {
                continue;
            }
            let known = examined.iter().find(|(program, _)| program == start.program());
            let usable = if let Some((_, usable)) = known {
                *usable
            } else {
                let mut found = Vec::new();
                let scratch = self.scratch.as_ref().ok();
                let place = server.place.clone();
                let usable = program::examine(&start, place, self.places, scratch, &mut found);
                for finding in &mut found {
                    finding.advice = advice::in_scope(&finding.advice, server.whose);
                }
                findings.extend(found);
                examined.push((start.program().to_owned(), usable));
                usable
            };
            // Of one that is to do something else something is said already.
            if !usable || !is_right(&server.entry) {
                continue;
            }
            if let Some(path) = &path
                && !hooks.is_empty()
                && !hooks.iter().any(|hook| is_one_file(hook, path))
            {
                let what = format!(
                    "the server is {}, and hooks run {}",
                    path.display(),
                    hooks[0].display()
                );
                let finding = Finding::new(&codes::SERVER_PROGRAM_DIFFERS, what);
                findings.push(finding.at(server.place.clone()).advise(advice::init(server.whose)));
            }
            match self.scratch {
                Ok(scratch) => findings.extend(self.ask(server, &start, scratch)),
                Err(failure) if entries.is_empty() => {
                    let what = format!("the server could not be tried: {failure}");
                    findings.push(Finding::new(&codes::SERVER_FAILS, what).advise(ELSEWHERE));
                }
                // It is said of hooks.
                Err(_) => {}
            }
        }
    }

    /// Whether a server may be what came with a checkout that nobody has looked at. Its variables alone could have any
    /// program do anything.
    pub(crate) fn is_foreign(&self, server: &Server, start: &Start) -> bool {
        let of_checkout = server.whose == Whose::Project;
        let more = server.entry.get("env").is_some() || !is_right(&server.entry);
        !self.trusted && ((of_checkout && more) || self.is_inside(start))
    }

    /// Asks a server which tools it has, and says what is wrong with the answer.
    fn ask(&self, server: &mut Server, start: &Start, scratch: &Scratch) -> Option<Finding> {
        let mut fastest = Duration::MAX;
        let failed = |why: String| {
            let advice = advice::init(server.whose);
            Some(Finding::new(&codes::SERVER_FAILS, why).at(server.place.clone()).advise(advice))
        };
        if let Err(error) = self.furnish(scratch) {
            return failed(format!("the server could not be tried: {error}"));
        }
        let folder = server.plugin.as_ref().map(|plugged| plugged.folder.as_path());
        for _ in 0..TIMES {
            let mut command = self.prepared(start, folder, scratch.path());
            for (name, value) in server.entry["env"].as_object().into_iter().flatten() {
                command.envs(value.as_str().map(|value| (name, value)));
            }
            // Last, so that nothing of the user's is written to whatever the entry says.
            command.env("RUTTER_HOME", scratch.path().join("memory"));
            let ended = process::run(&mut command, &questions(), PATIENCE, Some(scratch));
            let (tools, took) = match answers(&ended) {
                Ok(answered) => answered,
                Err(why) => return failed(why),
            };
            server.tools = Some(tools);
            fastest = fastest.min(took);
            if fastest <= SLOW {
                break;
            }
        }
        server.milliseconds = Some((fastest.as_secs_f64() * 10_000.0).round() / 10.0);
        (fastest > SLOW).then(|| {
            let what =
                format!("{} ms until the server has said which tools it has", fastest.as_millis());
            Finding::new(&codes::SERVER_SLOW, what).at(server.place.clone())
        })
    }
}

/// What a client says first.
fn questions() -> Vec<u8> {
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "rutter doctor", "version": env!("CARGO_PKG_VERSION") },
        },
    });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let tools = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    format!("{hello}\n{ready}\n{tools}\n").into_bytes()
}

/// How many tools a server has and how long it took, or why it has none.
fn answers(ended: &io::Result<Ended>) -> Result<(usize, Duration), String> {
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => return Err(format!("the server cannot be started: {error}")),
    };
    let said = String::from_utf8_lossy(&ended.stdout);
    let messages: Vec<Value> =
        said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let answer = |id: i64| messages.iter().find(|message| message["id"] == id);
    let time = ended.took.as_millis();
    if ended.late {
        return Err(format!("the server had not ended {time} ms after it was spoken to"));
    }
    let status = match ended.exit {
        Some(0) => String::new(),
        Some(code) => format!(", and ended with {code}"),
        None => ", and a signal ended it".to_owned(),
    };
    let Some(hello) = answer(1).filter(|hello| hello["result"].is_object()) else {
        return Err(format!("the server did not answer `initialize` after {time} ms{status}"));
    };
    let Some(tools) = answer(2).and_then(|list| list["result"]["tools"].as_array()) else {
        return Err(format!("the server did not answer `tools/list` after {time} ms{status}"));
    };
    let has = |name: &str| tools.iter().any(|tool| tool["name"] == name);
    let version = hello["result"]["serverInfo"]["version"].as_str().unwrap_or_default();
    // Another version may have others; that it is another one is said already.
    if version == env!("CARGO_PKG_VERSION") || tools.is_empty() {
        let missing: Vec<&str> = rutter_server::tools::TOOLS
            .iter()
            .map(|tool| tool.name)
            .filter(|name| !has(name))
            .collect();
        if !missing.is_empty() {
            return Err(format!(
                "the server {} has no tool {}",
                named(version),
                missing.join(", ")
            ));
        }
    }
    Ok((tools.len(), ended.took))
}

/// One of the user's own that starts another program than the one that is used.
fn shadowed(server: &Server, path: Option<&Path>, used: Option<&Path>) -> Option<Finding> {
    // What a team shares is meant to leave its place to what is nearer.
    let own = matches!(server.whose, Whose::Local | Whose::User) && server.entry["command"] != "sh";
    let (path, used) = (path.filter(|_| own)?, used?);
    if is_one_file(path, used) {
        return None;
    }
    let what = format!("this is not started: another entry is nearer, with {}", used.display());
    let finding = Finding::new(&codes::SERVER_SHADOWED, what).at(server.place.clone());
    Some(finding.advise(format!("rutter uninstall --{}", server.whose.as_str())))
}

/// Whether two paths lead to one file.
fn is_one_file(one: &Path, other: &Path) -> bool {
    let number = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino())).ok();
    one == other || number(one).is_some_and(|one| number(other) == Some(one))
}
