//! Starts the server as the client does, in the scratch memory, and requests its list of tools.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rutter_check::settings::{HookEntry, ServerState, SettingsSource};
use rutter_memory::quote::PathLine as _;
use serde_json::{Value, json};

use super::codes;
use super::entry::{self, LaunchCommand};
use super::finding::{DoctorFinding, display_name};
use super::hook_run::{EntryRunner, SCRATCH_ADVICE};
use super::servers::{ServerKind, ServerRegistration, ServerRegistrations};
use super::{advice, program};
use crate::install::server::is_correct_entry;
use crate::process::{self, ProcessResult};
use crate::scratch::ScratchFolder;

/// Maximum number of starts of a slow server.
const MAX_SERVER_STARTS: usize = 3;
/// Time limit for an answer. The client waits longer.
const SERVER_ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Time above which users notice the delay. Our server takes some hundredths of a second.
const SLOW_SERVER_TIME: Duration = Duration::from_secs(1);

/// A program, and true if it can be run.
pub(crate) type ExaminedProgram = (String, bool);

impl EntryRunner<'_> {
    /// Starts each of our servers that a session has. Skips the examination of programs that were examined for hooks.
    pub(crate) fn check_servers(
        &self,
        servers: &mut ServerRegistrations,
        entries: &[&HookEntry],
        mut examined: Vec<ExaminedProgram>,
        findings: &mut Vec<DoctorFinding>,
    ) {
        let hooks: Vec<PathBuf> = entries
            .iter()
            .filter(|entry| !self.is_untrusted_entry(entry))
            .map(|entry| entry::launch_command(entry, self.places))
            // A program that does not run has its own finding.
            .filter(|start| {
                examined.iter().any(|(program, runs)| *runs && program == start.program())
            })
            .filter_map(|start| program::resolve_program(&start, self.places))
            .collect();
        let used = servers.active().find(|server| server.registered.plugin.is_none());
        let used = used
            .and_then(|server| program::resolve_program(&server.launch_command()?, self.places));
        for server in &mut servers.all {
            if server.kind != ServerKind::Ours {
                continue;
            }
            let Some(start) = server.launch_command() else { continue };
            let path = program::resolve_program(&start, self.places);
            if server.registered.state == ServerState::Shadowed {
                findings.extend(check_shadowed(server, path.as_deref(), used.as_deref()));
            }
            if !matches!(server.registered.state, ServerState::Used | ServerState::Pending)
                || self.is_untrusted_server(server, &start)
            {
                continue;
            }
            let known = examined.iter().find(|(program, _)| program == start.program());
            let usable = if let Some((_, usable)) = known {
                *usable
            } else {
                let mut found = Vec::new();
                let place = server.registered.place.clone();
                let usable = program::examine_program(&start, place, self.places, &mut found);
                for finding in &mut found {
                    finding.advice =
                        advice::with_scope_option(&finding.advice, server.registered.whose);
                }
                findings.extend(found);
                examined.push((start.program().to_owned(), usable));
                usable
            };
            // An entry with other arguments has its own finding.
            if !usable || !is_correct_entry(&server.registered.entry) {
                continue;
            }
            if let Some(path) = &path
                && !hooks.is_empty()
                && !hooks.iter().any(|hook| is_same_file(hook, path))
            {
                let what = format!(
                    "the server runs {}, but the hooks run {}",
                    path.to_line(),
                    hooks[0].to_line()
                );
                let finding = DoctorFinding::new(&codes::SERVER_PROGRAM_DIFFERS, what);
                findings.push(
                    finding
                        .with_location(server.registered.place.clone())
                        .with_advice(advice::init_command(server.registered.whose)),
                );
            }
            match self.scratch {
                Ok(scratch) => findings.extend(self.request_tools(server, &start, scratch)),
                Err(failure) if entries.is_empty() => {
                    let what = format!("could not test the server: {failure}");
                    findings.push(
                        DoctorFinding::new(&codes::SERVER_FAILS, what).with_advice(SCRATCH_ADVICE),
                    );
                }
                // The runs of hooks have reported it.
                Err(_) => {}
            }
        }
    }

    /// Returns true if a server may run code from an untrusted checkout. The variables of its entry alone could make
    /// any program do anything.
    pub(crate) fn is_untrusted_server(
        &self,
        server: &ServerRegistration,
        start: &LaunchCommand,
    ) -> bool {
        let of_checkout = server.registered.whose == SettingsSource::Project;
        let more = server.registered.entry.get("env").is_some()
            || !is_correct_entry(&server.registered.entry);
        !self.trusted && ((of_checkout && more) || self.is_in_checkout(start))
    }

    /// Requests the tools of a server, and returns a finding if the answer is wrong or slow.
    fn request_tools(
        &self,
        server: &mut ServerRegistration,
        start: &LaunchCommand,
        scratch: &ScratchFolder,
    ) -> Option<DoctorFinding> {
        let mut fastest = Duration::MAX;
        let failed = |why: String| {
            let advice = advice::init_command(server.registered.whose);
            Some(
                DoctorFinding::new(&codes::SERVER_FAILS, why)
                    .with_location(server.registered.place.clone())
                    .with_advice(advice),
            )
        };
        if let Err(error) = self.create_scratch_files(scratch) {
            return failed(format!("could not test the server: {error}"));
        }
        let folder = server.registered.plugin.as_ref().map(|plugged| plugged.folder.as_path());
        for _ in 0..MAX_SERVER_STARTS {
            let mut command = self.build_command(start, folder, scratch.path());
            for (name, value) in server.registered.entry["env"].as_object().into_iter().flatten() {
                command.envs(value.as_str().map(|value| (name, value)));
            }
            // Set last, so that the entry cannot redirect writes to the user's data.
            command.env("RUTTER_HOME", scratch.path().join("memory"));
            let ended =
                process::run_with_limit(&mut command, &initial_requests(), SERVER_ANSWER_TIMEOUT);
            let (tools, took) = match parse_tool_list(&ended) {
                Ok(answered) => answered,
                Err(why) => return failed(why),
            };
            server.tools = Some(tools);
            fastest = fastest.min(took);
            if fastest <= SLOW_SERVER_TIME {
                break;
            }
        }
        server.milliseconds = Some((fastest.as_secs_f64() * 10_000.0).round() / 10.0);
        (fastest > SLOW_SERVER_TIME).then(|| {
            let what = format!("the server took {} ms to list its tools", fastest.as_millis());
            DoctorFinding::new(&codes::SERVER_SLOW, what)
                .with_location(server.registered.place.clone())
        })
    }
}

/// Returns the first messages of an MCP client.
fn initial_requests() -> Vec<u8> {
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

/// Returns the number of tools and the elapsed time, or the reason for a failure.
fn parse_tool_list(ended: &io::Result<ProcessResult>) -> Result<(usize, Duration), String> {
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
        return Err(format!("the server did not end within {time} ms after its stdin was closed"));
    }
    let status = match ended.exit {
        Some(0) => String::new(),
        Some(code) => format!(", and exited with {code}"),
        None => ", and a signal killed it".to_owned(),
    };
    let Some(hello) = answer(1).filter(|hello| hello["result"].is_object()) else {
        return Err(format!("the server did not answer `initialize` after {time} ms{status}"));
    };
    let Some(tools) = answer(2).and_then(|list| list["result"]["tools"].as_array()) else {
        return Err(format!("the server did not answer `tools/list` after {time} ms{status}"));
    };
    let has = |name: &str| tools.iter().any(|tool| tool["name"] == name);
    let version = hello["result"]["serverInfo"]["version"].as_str().unwrap_or_default();
    // Another version may have other tools, and the version has its own finding.
    if version == env!("CARGO_PKG_VERSION") || tools.is_empty() {
        let missing: Vec<&str> = rutter_server::tools::TOOLS
            .iter()
            .map(|tool| tool.name)
            .filter(|name| !has(name))
            .collect();
        if !missing.is_empty() {
            return Err(format!(
                "the server {} has no tool {}",
                display_name(version),
                missing.join(", ")
            ));
        }
    }
    Ok((tools.len(), ended.took))
}

/// Returns a finding for a shadowed server of the user that starts another program than the used server.
fn check_shadowed(
    server: &ServerRegistration,
    path: Option<&Path>,
    used: Option<&Path>,
) -> Option<DoctorFinding> {
    // A shared registration is meant to give way to a nearer one.
    let own = matches!(server.registered.whose, SettingsSource::Local | SettingsSource::User)
        && server.registered.entry["command"] != "sh";
    let (path, used) = (path.filter(|_| own)?, used?);
    if is_same_file(path, used) {
        return None;
    }
    let what = format!(
        "the client does not start this: another entry comes first, with {}",
        used.to_line()
    );
    let finding = DoctorFinding::new(&codes::SERVER_SHADOWED, what)
        .with_location(server.registered.place.clone());
    Some(finding.with_advice(format!("rutter uninstall --{}", server.registered.whose.as_str())))
}

/// Returns true if two paths lead to the same file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let number = |path: &Path| path.metadata().map(|found| (found.dev(), found.ino())).ok();
    one == other || number(one).is_some_and(|one| number(other) == Some(one))
}
