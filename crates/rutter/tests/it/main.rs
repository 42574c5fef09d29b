//! Integration tests of the binary: arguments in; stdout, stderr and exit code out.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests write their own files and are told about tools"
)]

/// Helpers that run the binary in a clean environment.
mod support;

/// The line before an edit that removes a fix, and calls that concern nothing.
mod action_hints;
/// The wording of hooks: MCP tools if the client has registered the server, else CLI commands.
mod agent_interface;
/// Commands and the Python module for authors of hooks in other languages.
mod author_tools;
/// Commands that failed, and what worked instead.
mod command_lessons;
/// Help, version, completions, wrong usage, closed pipes.
mod command_line;
/// `rutter config` and `rutter trust`.
mod config;
/// Hook output checked against the contract of the client.
mod conformance;
/// `rutter context`, also with hostile stored texts.
mod context;
/// `rutter contract …`.
mod contract;
/// `rutter contract fix`.
mod contract_fix;
/// Data directories that other users can change, and symbolic links in them.
mod data_dir;
/// `rutter demo`, and the picture of it in the docs.
mod demo;
/// `rutter doctor` on healthy installations, and the files it must not touch.
mod doctor;
/// `rutter doctor` with one fault at a time.
mod doctor_faults;
/// `rutter doctor` with pipes in place of files, files of another user, and an interrupted run.
mod doctor_hazards;
/// Findings of `rutter doctor` about settings, compared with the real client.
mod doctor_live;
/// `rutter doctor` with several settings files: the ones that run rutter, and the repair command for each.
mod doctor_scopes;
/// `rutter doctor` on valid and broken registrations of the MCP server.
mod doctor_server;
/// `rutter contract explain`: verdicts as text and as JSON.
mod explain;
/// Full disks, read-only disks, directories of another user, and corrupt databases.
mod faults;
/// `rutter gate`, and the gate for tests in the hook.
mod gate;
/// The gate for tests in the real client.
mod gate_live;
/// `rutter ghap` across processes.
mod ghap;
/// The spoken loop (GHAP prompts) over several sessions of the real client.
mod ghap_prompts_live;
/// Every snippet of the user documentation, run with the tools it is written for, and every link.
mod guides;
/// Hooks on a hanging disk.
mod hanging_disk;
/// `rutter hook` and `rutter episodes`.
mod hook;
/// The process that records a hook.
mod hook_recorder;
/// `rutter contract record` and `replay`.
mod hook_recording;
/// `rutter contract test`: hooks as small scripts, and the reports on them.
mod hook_test;

/// `rutter contract test`: what a hook under test cannot reach.
mod hook_isolation;
/// File names and stored texts with injection attempts.
mod hostile;
/// Repositories that claim to be another project.
mod hostile_project;
/// `rutter export`, `rutter import` and `rutter forget`.
mod import_export;
/// `rutter init` and `rutter uninstall`.
mod init;
/// `rutter init` and `rutter uninstall` when something is in the way.
mod init_faults;
/// `rutter init` and `rutter uninstall` inside a Git repository.
mod init_git;
/// `rutter init` and `rutter uninstall` on settings files of every layout.
mod init_layouts;
/// Settings written by `rutter init`, read by the real client.
mod init_live;
/// The permission rule that lets the agent call the tools of the MCP server.
mod init_rules;
/// `rutter init` and `rutter uninstall` for a user, a team and a plugin.
mod init_scopes;
/// Every scope of `rutter init` and `uninstall` in a fresh home directory of the real client.
mod init_scopes_live;
/// The MCP server that `rutter init` registers, in the files that the client reads.
mod init_server;
/// The MCP server that `rutter init` registers, started by the real client.
mod init_server_live;
/// Hooks in forms of other documentation, run by `contract adapt` in the real client.
mod legacy_hooks;
/// `rutter contract lint` and `rutter contract rules`: findings, files and exit codes.
mod lint;
/// `rutter contract lint --fix`.
mod lint_fix;
/// `rutter contract lint --format`: JSON, SARIF and lines for GitHub.
mod lint_formats;
/// `contract test` compared with the real client.
mod live_agreement;
/// `rutter contract live`.
mod live_command;
/// Helpers for sessions of the real client with rutter's hooks.
mod live_support;
/// The MCP server with third-party clients.
mod mcp_clients;
/// `rutter mcp --http`: token, hostile web pages, slow clients.
mod mcp_http;
/// The MCP tools, called by an agent of the real client.
mod mcp_live;
/// `rutter mcp` when paused or switched off, with calls of unknown sessions, and with hostile or secret text.
mod mcp_refusals;
/// Input lines of the MCP server that are not valid requests.
mod mcp_stdio;
/// `rutter remember`, `memories`, `edit`, `project`.
mod memories;
/// `rutter outcome`.
mod outcome;
/// The hooks for pre-commit, run by pre-commit.
mod pre_commit;
/// Questions on a terminal and in an editor.
mod questions;
/// Commands and tools on a read-only store.
mod read_only;
/// `rutter recall`.
mod recall;
/// `rutter review` and `rutter import`.
mod review;
/// The hooks of other systems: their diagnosis, and how the adapter repairs them.
mod seed_hooks;
/// `rutter status`, `sessions`, `injections`, `pause`.
mod session_commands;
/// The silent loop through the real client: a failure, its fix, and the same failure again.
mod silent_loop_live;
/// `rutter task`: the index of tasks, its refusals, and what survives a crash.
mod task;
/// `rutter values`.
mod values;
/// Values learnt over several sessions of the real client.
mod values_live;

#[test]
fn every_test_file_is_declared() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
