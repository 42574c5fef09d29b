//! `rutter doctor`: checks for every silent failure of hooks, from the folder in which a client would be started.
//!
//! A report describes the current state, part by part, and lists findings. Each finding has a code of [`codes`], the
//! only table of codes; the reference page is generated from it. The checks change nothing that belongs to the user:
//! hooks run with a temporary memory and project. Only names and paths are quoted from settings, because settings hold
//! tokens.

// Advice that depends on the file of a finding and on its owner.
mod advice;
// The installed client and its version.
mod client;
// The table of finding codes.
pub mod codes;
// The command with which the client starts an entry.
mod entry;
// The event counts of the last days.
mod events;
// The finding for each fault of a settings file.
mod faults;
// A finding.
mod finding;
// Runs our entries as the client does.
mod hook_run;
// Compares our entries with those of `rutter init`.
mod hooks;
// Settings files and their combined effect.
mod layers;
// `--live`: drives the installed client offline.
mod live;
// The data directory, the log, the configuration and the project identity.
mod memory;
// Other memory tools that add text to the agent's context.
mod other_memories;
// The environment of a client that is started here.
mod places;
// The programs that our entries run.
mod program;
// The report as text.
mod render;
// Permission rules for the tools of our server.
mod rules;
// Settings for which the client does not start a server.
mod server_policy;
// Starts our server as the client does.
mod server_run;
// The registrations of our server.
mod servers;
// Situations that a test of the binary cannot set up.
#[cfg(test)]
mod tests;
// The client's state file and its trust in the folder.
mod trust;

use std::path::PathBuf;

use rutter_check::settings::{
    ClientState, HookEntry, enabled_plugins, load_layers, load_plugin_layers, load_servers,
};
use rutter_memory::project::LocatedProject;
use rutter_memory::store::doctor::StoreHealth;
use serde::Serialize;

pub(crate) use places::ClientEnvironment;

use client::InstalledClient;
use codes::FindingSeverity;
use events::ObservedEvent;
use finding::DoctorFinding;
use hook_run::{EntryRun, EntryRunner};
use layers::LayerReport;
use live::LiveCheck;
use servers::{ServerRegistration, ServerRegistrations};

use crate::CommandResult;
use crate::environment::Environment;
use crate::install::cargo_target_folder;
use crate::scratch::ScratchFolder;
use crate::shell;

/// File name of the program that hooks run.
const PROGRAM_NAME: &str = "rutter";

/// The checked state and the findings.
#[derive(Debug, Serialize)]
pub(crate) struct DoctorReport {
    /// Version of the report format. It changes if a field is removed or gets another meaning.
    version: u32,
    program: ProgramInfo,
    client: InstalledClient,
    layers: Vec<LayerReport>,
    hooks: Vec<EntryRun>,
    servers: Vec<ServerRegistration>,
    events: Vec<ObservedEvent>,
    /// Result of the live check. None if it was not requested.
    live: Option<LiveCheck>,
    memory: MemoryInfo,
    pub(crate) findings: Vec<DoctorFinding>,
}

/// This executable.
#[derive(Debug, Serialize)]
struct ProgramInfo {
    path: Option<PathBuf>,
    version: &'static str,
    /// The cargo build folder that contains the executable.
    build_folder: Option<PathBuf>,
}

/// The state of the memory, without the findings.
#[derive(Debug, Serialize)]
struct MemoryInfo {
    folder: PathBuf,
    schema: Option<u32>,
    /// Size of the database.
    bytes: u64,
    /// Size of the write-ahead log.
    wal: u64,
    /// Size of the spool.
    spool: u64,
    /// Damaged databases that were set aside.
    set_aside: Vec<PathBuf>,
}

impl From<StoreHealth> for MemoryInfo {
    fn from(health: StoreHealth) -> Self {
        let StoreHealth { folder, schema, database, wal, spool, set_aside, findings: _ } = health;
        Self { folder, schema, bytes: database, wal, spool, set_aside }
    }
}

impl DoctorReport {
    /// Runs all checks.
    pub(crate) fn run_checks(
        env: &Environment,
        places: &ClientEnvironment,
        live: bool,
    ) -> CommandResult<Self> {
        let mut findings = Vec::new();
        let scratch = ScratchFolder::open("doctor");
        let client = InstalledClient::detect(places, &mut findings);
        let contract = client.contract();
        let mut layers = load_layers(&places.files, contract);
        findings.extend(layers::check_layers(&layers));
        findings.extend(layers::check_switches(&layers, places, contract, &env.data));
        findings.extend(layers::find_recorded_hooks(&layers));
        findings.extend(layers::find_leftovers(&layers, env.now));
        let plugins = enabled_plugins(&layers, &places.files);
        // Faults of other plugins are not reported, because only their authors can fix them.
        let mut plugged = load_plugin_layers(&plugins, contract);
        plugged.retain(layers::has_our_entries);
        findings.extend(layers::check_layers(&plugged));
        layers.extend(plugged);
        let state = ClientState::load(&places.files, contract);
        findings.extend(trust::check_trust(&state, &places.files));
        findings.extend(hooks::check_entries(&layers, places));
        let loaded = load_servers(&places.files, &state, &layers, &plugins);
        let mut servers = ServerRegistrations::new(loaded, &state, &mut findings);
        servers.check_states(&layers, &mut findings);
        let located = LocatedProject::find(env.working_dir()?);
        let loaded = env.load_config(Some(&located.root));
        let bench = EntryRunner {
            places,
            contract,
            now: env.now,
            trusted: state.trusts_folder(&places.files),
            root: &located.root,
            scratch: &scratch,
        };
        let entries: Vec<&HookEntry> = layers::our_entries(&layers).collect();
        findings.extend(client.check_version(&entries));
        findings.extend(program::check_linking(program::IS_STATIC_BUILD));
        let (rows, examined) = bench.run_entries(&entries, &mut findings);
        bench.check_servers(&mut servers, &entries, examined, &mut findings);
        let events = events::check_events(env, &entries, &mut findings);
        let live =
            live.then(|| LiveCheck::run(&client, (&layers, &servers), &bench, env, &mut findings));
        let health = memory::check_memory(env, &mut findings);
        memory::check_configuration(&loaded, env, places, &mut findings);
        memory::check_project_identity(&located, &mut findings);
        findings.extend(other_memories::find_other_memories(
            &layers, &plugins, &state, places, contract,
        ));
        if let Ok(scratch) = scratch {
            let advice = format!("rm -r {}", shell::quote_word(&scratch.path().to_string_lossy()));
            if let Err(failure) = scratch.close() {
                let finding = DoctorFinding::new(&codes::HOOK_FAILS, failure.to_string());
                findings.push(finding.with_advice(advice));
            }
        }
        advice::complete_advice(&mut findings, &layers, env);
        // Most severe first, then in the order of the checks.
        findings.sort_by_key(DoctorFinding::severity);
        let build = env.program.as_ref().and_then(|program| cargo_target_folder(program.to_str()?));
        Ok(Self {
            version: 1,
            program: ProgramInfo {
                path: env.program.clone(),
                version: env!("CARGO_PKG_VERSION"),
                build_folder: build.map(PathBuf::from),
            },
            client,
            layers: layers.iter().map(LayerReport::new).collect(),
            hooks: rows,
            servers: servers.all,
            events,
            live: live.flatten(),
            memory: health.into(),
            findings,
        })
    }

    /// Returns true if a finding is a problem.
    pub(crate) fn has_problems(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity() == FindingSeverity::Problem)
    }
}
