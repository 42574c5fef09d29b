//! Tests of the binary as a user meets it: arguments in, stdout, stderr and an exit code out.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests write their own files and are told about tools"
)]

/// Running the binary in a clean environment.
mod support;

/// Help, version, completions, wrong usage, closed pipes.
mod command_line;
/// `rutter config` and `rutter trust`.
mod config;
/// What our own hooks say, held against the contract.
mod conformance;
/// `rutter context`, with stored texts that mean no good.
mod context;
/// `rutter contract …`.
mod contract;
/// A data folder that others can change, and symbolic links in it.
mod data_folder;
/// `rutter demo`, and its picture.
mod demo;
/// `rutter doctor` where all is well, and what it leaves alone.
mod doctor;
/// The same with a fault at a time.
mod doctor_faults;
/// Pipes in the place of files, files of somebody else, and a doctor that is interrupted.
mod doctor_hazards;
/// What it says of settings, put to the real client.
mod doctor_live;
/// Which of several settings files run rutter, and what is typed about each.
mod doctor_scopes;
/// The server of tools: registrations that do not do, and those that do.
mod doctor_server;
/// `rutter export` and `rutter import`, and `rutter forget`.
mod exchange;
/// `rutter contract explain`: verdicts for people and programs.
mod explain;
/// Disks that are full or read-only, folders of somebody else, databases that are broken.
mod faults;
/// `rutter ghap`, from one process to the next.
mod ghap;
/// Every snippet of the pages that people read, run with the tools it is written for; every link.
mod guides;
/// Whether a hook speaks of tools or of commands: by what the client has registered.
mod hands;
/// Hooks whose disk hangs.
mod hang;
/// `rutter hook`, and `rutter episodes`.
mod hook;
/// Names of files and stored text that want to be more than data.
mod hostile;
/// Repositories that claim to be another project.
mod hostile_project;
/// `rutter init` and `rutter uninstall`.
mod init;
/// The same where something is in the way.
mod init_faults;
/// The same inside a repository.
mod init_git;
/// The same for files in every layout.
mod init_layouts;
/// What `init` writes, put to the real client.
mod init_live;
/// The rule by which the agent may call the tools of the server.
mod init_rules;
/// The same for a user, a team, a plugin.
mod init_scopes;
/// Every scope of `init`, in a fresh home of the real client and out again.
mod init_scopes_live;
/// The server that `init` registers, in the files that the client reads it from.
mod init_server;
/// The same, put to the real client.
mod init_server_live;
/// Sessions of the real client with our hooks.
mod live;
/// The silent loop, from the first failure to the second, through the real client.
mod loop_live;
/// The server in the hands of clients that are not ours.
mod mcp_clients;
/// `rutter mcp --http`: a token, hostile pages, slow clients.
mod mcp_http;
/// Lines to the server that are no requests.
mod mcp_lines;
/// The tools of the server, in the hands of an agent of the real client.
mod mcp_live;
/// `rutter mcp` where somebody wants quiet, where nobody says whose calls they are, and what is said of what was sent.
mod mcp_quiet;
/// `rutter remember`, `memories`, `edit`, `project`.
mod memories;
/// `rutter outcome`.
mod outcome;
/// Questions on a terminal, and in an editor.
mod questions;
/// Commands and tools on a memory that cannot be written.
mod read_only;
/// `rutter recall`.
mod recall;
/// What waits for a person, and imports.
mod review;
/// The spoken loop, over sessions of the real client.
mod spoken_live;
/// `rutter status`, `sessions`, `injections`, `pause`.
mod steer;
/// `rutter values`.
mod values;
/// What several sessions learnt, in sessions of the real client.
mod values_live;

#[test]
fn no_test_file_is_forgotten() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
