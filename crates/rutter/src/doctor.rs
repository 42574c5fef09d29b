//! `rutter doctor`: checks for every silent failure of hooks, from the folder in which a client would be started.
//!
//! A report describes the current state, part by part, and lists findings. Each finding has a code of [`codes`], the
//! only table of codes; the reference page is generated from it. The checks change nothing that belongs to the user:
//! hooks run with a temporary memory and project. Only names and paths are quoted from settings, because settings hold
//! tokens.

mod admission;
mod advice;
mod client;
pub mod codes;
mod document;
mod entry;
mod events;
mod finding;
mod handler;
mod hooks;
mod keys;
mod layers;
mod live;
mod memory;
mod places;
mod plugins;
mod process;
mod program;
mod render;
mod rivals;
mod rules;
mod runs;
mod servers;
mod serving;
mod shape;
#[cfg(test)]
mod tests;
mod trust;

use std::path::PathBuf;

use rutter_memory::project::Located;
use rutter_memory::store::doctor::Health;
use serde::Serialize;

pub(crate) use places::Places;

use client::Client;
use codes::Severity;
use entry::Entry;
use events::Came;
use finding::Finding;
use layers::Layer;
use live::Proof;
use runs::{Bench, Row};
use servers::{Around, Server, Servers};
use trust::ClientState;

use crate::Failure;
use crate::environment::Environment;
use crate::install::build_folder;
use crate::scratch::Scratch;
use crate::shell;

/// File name of the program that hooks run.
const NAME: &str = "rutter";

/// The checked state and the findings.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Version of the report format. It changes if a field is removed or gets another meaning.
    version: u32,
    program: Program,
    client: Client,
    layers: Vec<Layer>,
    hooks: Vec<Row>,
    servers: Vec<Server>,
    events: Vec<Came>,
    /// Result of the live check. None if it was not requested.
    live: Option<Proof>,
    memory: Kept,
    pub(crate) findings: Vec<Finding>,
}

/// This executable.
#[derive(Debug, Serialize)]
struct Program {
    path: Option<PathBuf>,
    version: &'static str,
    /// The cargo build folder that contains the executable.
    build_folder: Option<PathBuf>,
}

/// The state of the memory, without the findings.
#[derive(Debug, Serialize)]
struct Kept {
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

impl From<Health> for Kept {
    fn from(health: Health) -> Self {
        let Health { folder, schema, database, wal, spool, set_aside, findings: _ } = health;
        Self { folder, schema, bytes: database, wal, spool, set_aside }
    }
}

impl Report {
    /// Runs all checks.
    pub(crate) fn of(env: &Environment, places: &Places, live: bool) -> Result<Self, Failure> {
        let mut findings = Vec::new();
        let scratch = scratch(env);
        let client = Client::ask(places, scratch.as_ref().ok(), &mut findings);
        let contract = client.contract();
        let mut layers = layers::read(places, contract, &mut findings);
        findings.extend(layers::switches(&layers, places, contract, &env.data));
        findings.extend(layers::leftovers(&layers, env.now));
        let plugins = plugins::enabled(&layers, places);
        layers.extend(plugins::read(&plugins, contract, &mut findings));
        let state = ClientState::read(places, contract, &mut findings);
        findings.extend(hooks::examine(&layers, places));
        let around = Around { places, state: &state, layers: &layers };
        let mut servers = Servers::read(&around, &plugins, &mut findings);
        servers.examine(&around, &mut findings);
        let located = Located::find(env.folder()?);
        let loaded = env.config(Some(&located.root));
        let bench = Bench {
            places,
            contract,
            config: &loaded.config,
            now: env.now,
            trusted: state.trusts(&places.folder),
            root: &located.root,
            scratch: &scratch,
        };
        let entries: Vec<&Entry> = layers.iter().flat_map(|layer| &layer.entries).collect();
        findings.extend(client.too_old(&entries));
        let (rows, examined) = bench.run(&entries, &mut findings);
        bench.serve(&mut servers, &entries, examined, &mut findings);
        let events = events::examine(env, &entries, &mut findings);
        let live =
            live.then(|| Proof::of(&client, (&layers, &servers), &bench, env, &mut findings));
        let health = memory::examine(env, &mut findings);
        memory::decisions(&loaded, env, places, &mut findings);
        memory::identity(&located, &mut findings);
        findings.extend(rivals::find(&layers, &plugins, &state, places, contract));
        if let Ok(scratch) = scratch {
            let advice = format!("rm -r {}", shell::word(&scratch.path().to_string_lossy()));
            if let Err(failure) = scratch.close() {
                let finding = Finding::new(&codes::HOOK_FAILS, failure.to_string());
                findings.push(finding.advise(advice));
            }
        }
        advice::complete(&mut findings, &layers, env);
        // Most severe first, then in the order of the checks.
        findings.sort_by_key(Finding::severity);
        let build = env.program.as_ref().and_then(|program| build_folder(program.to_str()?));
        Ok(Self {
            version: 1,
            program: Program {
                path: env.program.clone(),
                version: env!("CARGO_PKG_VERSION"),
                build_folder: build.map(PathBuf::from),
            },
            client,
            layers,
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
        self.findings.iter().any(|finding| finding.severity() == Severity::Problem)
    }
}

/// Opens the folder in which hooks and the client run. It is removed even if this process is killed.
fn scratch(env: &Environment) -> Result<Scratch, Failure> {
    let Some(program) = &env.program else {
        return Err(Failure::Refused("this system does not tell where rutter is".to_owned()));
    };
    Scratch::open(program, "doctor")
}
