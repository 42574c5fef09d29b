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

    Claude Code's hooks fail silently: a wrong key is dropped without a word. Rutter knows the whole
    contract, measured on the real client.

    Usage: rutter <COMMAND>

    Commands:
      demo         See it work, in a minute: two sessions of a scripted agent, heard by the real hooks
      contract     The hook contract of Claude Code: events, schemas, payloads
      init         Have Claude Code run rutter: adds its hooks to the settings of this folder, of yours,
                   of a team, or makes a plugin
      uninstall    Take rutter's hooks out of the settings again, and leave everything else as it was
      ghap         What you set out to do: goal, hypothesis, action, prediction
      remember     Remember something
      memories     List what is remembered here, the newest first
      edit         Change a memory, or the lesson of a GHAP
      outcome      Say what a run of tests, a build or a check said, and how that was decided
      forget       Forget rows, and every byte they were written with
      export       Write everything out as lines of JSON
      import       Take rows in, list what was taken in, and take it out again
      review       Decide what waits for you: imports, values, memories that are to hold everywhere
      show         Show any row by its id, and where it came from
      recall       Find what was learnt or remembered, by words and by meaning
      episodes     Failures that were followed: what was tried, and what turned them green
      values       The values: rules that several lessons support: clusters of experiences, and what was made of them
      context      What would be put before an agent for a prompt, exactly as it would read it
      status       Where things stand here: session, GHAP, runs, failures, and how much there is
      sessions     Sessions of the client, and what happened in them
      injections   What agents of this project were shown: when, on which event, how likely it was meant
      pause        Leave agents alone: hooks neither record nor say anything until it is ended
      project      The projects there is something about
      doctor       Find every way in which hooks die silently, and say what to type
      config       What you have decided: which hooks speak, how much, where, and what is kept
      trust        Let the .rutter.toml of this checkout have what it wants, as long as it stays as it
                   is
      tend         Take in what hooks left in the spool, keep the bounds, fold the log of changes into
                   the database
      mcp          Serve the memory to an agent as tools, by MCP through stdin and stdout
      call         Call one of the tools that an agent has, and print what it gives
      hook         Take in an event of the client, as its hooks do: payload on stdin, answer on stdout,
                   always exit 0
      completions  Print a completion script for a shell
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    Exit codes: 0 clean, 1 findings or a refused operation, 2 wrong usage.
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
