use std::io::Read as _;
use std::process::Stdio;

use crate::support::{run_rutter, rutter_command};

#[test]
fn version() {
    let ran = run_rutter(&["--version"]);
    assert_eq!(ran.stdout, format!("rutter {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(ran.exit, Some(0));
}

#[test]
fn help() {
    insta::assert_snapshot!(run_rutter(&["--help"]), @"
    exit 0
    --- stdout
    A learning memory for coding agents, and a toolkit for their hooks.

    Claude Code's hooks fail silently: a wrong key is dropped without an error message. Rutter has the
    whole hook contract, measured on the real client.

    Usage: rutter <COMMAND>

    Getting started:
      demo         Show rutter at work in one minute, with a scripted agent
      init         Add rutter's hooks and tools to Claude Code
      doctor       Find hooks that fail silently, and print how to fix them
      uninstall    Remove rutter's hooks and tools from Claude Code

    Memory:
      recall       Search lessons and memories by words and by meaning
      remember     Store a memory
      memories     List the memories that apply to this project, newest first
      ghap         Record and resolve a GHAP: goal, hypothesis, action, prediction
      values       Manage values: lessons that several experiences have in common
      review       Accept or reject proposals: imports, values, memories
      edit         Change a memory, or the lesson of a GHAP
      forget       Delete rows, and erase every byte of them from the files
      export       Export the memory as lines of JSON
      import       Import rows from a JSONL file, list the imports, or undo one
      mcp          Serve the memory to an agent as MCP tools
      call         Call one of the MCP tools and print its result

    Inspect:
      status       Show the state of this project: session, GHAP, runs, failures
      context      Print the context that an agent would get for a prompt
      injections   List the rows that agents of this project were shown
      episodes     List or show past failures, and the changes that fixed them
      sessions     List or show Claude Code sessions and their events
      project      List, show or merge projects
      show         Show any row by its id, with its origin
      outcome      Explain how rutter reads the output of a test run, build or check

    Gates and tasks:
      gate         Enable gates, which deny calls of an agent by rules
      task         Manage the tasks of this checkout: order, states, deliverables

    Hook contract:
      contract     Look up Claude Code's hook contract: events, schemas, payloads
      hook         Handle a hook event: payload on stdin, answer on stdout

    Maintenance:
      config       Show, check or locate the configuration
      trust        Trust the .rutter.toml of this checkout until the file changes
      pause        Pause the hooks, or end a pause
      maintain     Maintain the memory: store waiting entries, delete old runs
      completions  Print a completion script for a shell

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Exit codes: 0 success, 1 findings or a refused operation, 2 wrong usage.
    ");
}

#[test]
fn no_arguments_prints_help() {
    let ran = run_rutter(&[]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("Usage: rutter"), "{ran}");
}

#[test]
fn misspelt_command_gets_suggestion() {
    let ran = run_rutter(&["contarct"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr.contains("'contract'"), "{ran}");
}

#[test]
fn completions_list_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = run_rutter(&["completions", shell]);
        assert_eq!(ran.exit, Some(0), "{ran}");
        for word in ["contract", "events", "schema", "payload", "--bundle"] {
            // fish writes long options without their dashes.
            assert!(ran.stdout.contains(word.trim_start_matches('-')), "{shell}: {word}");
        }
    }
    assert_eq!(run_rutter(&["completions", "tcsh"]).exit, Some(2));
}

/// A reader that closes the pipe early causes no error.
#[test]
fn closed_pipe_is_success() {
    for args in [
        &["contract", "events", "--json"][..],
        &["contract", "events"],
        &["completions", "bash"],
        &["contract", "payload", "TeammateIdle"],
        &["--help"],
    ] {
        let mut child =
            rutter_command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{args:?}: {stderr}");
        assert!(!stderr.contains("error") && !stderr.contains("panic"), "{args:?}: {stderr}");
    }
}

/// A full disk causes an error message.
#[cfg(target_os = "linux")]
#[test]
fn unwritable_output_is_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let ran = rutter_command(&["contract", "events", "--json"]).stdout(full).output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let stderr = String::from_utf8(ran.stderr).unwrap();
    assert!(stderr.starts_with("error: could not write the output"), "{stderr}");
}

/// Scripts may still use the command's former name.
#[test]
fn tend_is_alias_of_maintain() {
    let [old, new] =
        ["tend", "maintain"].map(|name| run_rutter(&[name, "--help"]).assert_success().stdout);
    assert_eq!(old, new);
}
