//! Payloads of Bash calls, as far as the outcome parsing relies on them.

use rutter_check::live::{
    ClientBinary, Conversation, ConversationStep, ModelScript, ModelTurn, TestHook,
};
use rutter_contract::EventName;
use rutter_hooks::bash_call::{DEFAULT_WINDOW_BYTES, output_window};
use serde_json::json;

use crate::bash::{BashSession, bash_sandbox, bash_turn, output_text};
use crate::support::{client, old_client};

/// Returns the available clients, the newest last, so that its payloads become the fixtures.
fn available_clients() -> impl Iterator<Item = ClientBinary> {
    [old_client(), client()].into_iter().flatten()
}

/// Makes the calls in a plain session with each available client.
fn for_each_session(commands: &[&str], check: impl Fn(&BashSession)) {
    for client in available_clients() {
        let turns = commands.iter().map(|command| bash_turn(command)).collect();
        check(&BashSession::run(bash_sandbox(), &client, turns));
    }
}

#[test]
fn streams_are_merged_in_order() {
    const STREAMS: &str = "echo out; echo err >&2; echo out2";
    let well = format!("pytest '{STREAMS}'");
    let ill = format!("pytest '{STREAMS}; exit 3'");
    // The client removes trailing white space, and for a success also leading blank lines.
    let blank = r"pytest 'printf \\n\\n\ \ a\\n\\nb\ \ \\n\\n'".to_owned();
    let blank_ill = r"pytest 'printf \\n\\n\ \ a\\n\\nb\ \ \\n\\n; exit 1'".to_owned();
    for_each_session(&[&well, &ill, &blank, &blank_ill], |session| {
        for (command, exit, output) in [
            (&well, 0, "out\nerr\nout2"),
            (&ill, 3, "out\nerr\nout2"),
            (&blank, 0, "  a\n\nb"),
            (&blank_ill, 1, "\n\n  a\n\nb"),
        ] {
            let call = session.call(command).unwrap();
            assert_eq!(
                (call.exit, output_text(&call).as_str(), call.cut),
                (Some(exit), output, false)
            );
            assert!(call.duration.is_some());
        }
        session.save_fixture("facts/both_streams_fail", &ill);
        session.save_fixture("facts/both_streams_pass", &well);
    });
}

#[test]
fn failure_has_exit_status() {
    let cases = [
        ("pytest 'exit 1'", 1),
        ("pytest 'exit 2'", 2),
        ("pytest 'exit 101'", 101),
        ("pytest 'exit 127'", 127),
        ("pytest 'exit 255'", 255),
        ("pytest 'kill -9 $$'", 137),
        ("pytest 'kill -INT $$'", 130),
        ("pytest 'kill -SEGV $$'", 139),
        ("pytest 'echo Exit code 0; exit 4'", 4),
        ("pytest 'exit 1' && grep x /dev/null /nonexistent", 1),
    ];
    // The last line ends in grep, so the client takes the exit code 1 of the run for grep's.
    let commands: Vec<&str> = cases.iter().map(|(command, _)| *command).collect();
    for_each_session(&commands, |session| {
        for (command, exit) in &cases[..cases.len() - 1] {
            assert_eq!(session.call(command).unwrap().exit, Some(*exit), "{command}");
        }
        assert_eq!(session.call(commands[commands.len() - 1]).unwrap().exit, None);
        session.save_fixture("facts/killed", "pytest 'kill -9 $$'");
    });
}

/// `grep`, `diff`, `find` and `test` may exit with 1 without a failure, which reveals nothing about a run before them.
#[test]
fn harmless_exit_1_counts_as_success() {
    let cases = [
        ("pytest 'echo passed; exit 1' | grep FAILED", None),
        ("pytest 'echo FAILED; exit 1' | grep FAILED", Some(0)),
        ("set -o pipefail; pytest 'echo FAILED x; exit 1' | grep FAILED", None),
        ("set -o pipefail; pytest 'exit 2' | grep FAILED", None),
        ("pytest 'exit 1' && test a = a", None),
        ("pytest 'exit 1'; [ a = b ]", None),
        ("pytest 'exit 1'; diff /dev/null /etc/passwd >/dev/null", None),
        ("pytest 'exit 2' || find /nonexistent", None),
        ("pytest 'exit 2' && grep x /dev/null", Some(2)),
        ("pytest 'exit 0' && grep x /nonexistent", Some(2)),
    ];
    let commands: Vec<&str> = cases.iter().map(|(command, _)| *command).collect();
    for_each_session(&commands, |session| {
        for (command, exit) in cases {
            assert_eq!(session.call(command).unwrap().exit, exit, "{command}");
        }
        session.save_fixture("facts/grep_finds_nothing", cases[0].0);
        session.save_fixture("facts/test_after_a_failure", cases[4].0);
    });
}

#[test]
fn background_call_counts_as_success() {
    let asked = "pytest 'echo asked'";
    let slow = "pytest 'echo so far; sleep 3'";
    for client in available_clients() {
        let call = |input| ModelTurn::call("Bash", input);
        let turns = vec![
            call(json!({ "command": asked, "description": "x", "run_in_background": true })),
            call(json!({ "command": slow, "description": "x", "timeout": 500 })),
        ];
        let session = BashSession::run(bash_sandbox(), &client, turns);
        for command in [asked, slow] {
            assert_eq!(session.call(command), Err("it went on in the background"));
            assert_eq!(session.payload_json(command)["hook_event_name"], "PostToolUse");
        }
        session.save_fixture("facts/asked_into_the_background", asked);
        session.save_fixture("facts/moved_into_the_background", slow);
    }
}

#[test]
fn timed_out_call_is_failure() {
    let slow = "pytest 'echo so far; sleep 30' | cat";
    for client in available_clients() {
        let mut sandbox = bash_sandbox();
        sandbox.env("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1");
        let input = json!({ "command": slow, "description": "x", "timeout": 500 });
        let session = BashSession::run(sandbox, &client, vec![ModelTurn::call("Bash", input)]);
        assert_eq!(session.call(slow), Err("the client ended it when its time was up"));
        assert_eq!(session.payload_json(slow)["is_interrupt"], false);
        let error = session.payload_json(slow)["error"].as_str().unwrap().to_owned();
        assert!(error.starts_with("Exit code 143\nCommand timed out after "), "{error}");
        session.save_fixture("facts/time_was_up", slow);
    }
}

/// The client runs no hook for a call that the user interrupts.
#[test]
fn interrupted_call_runs_no_hook() {
    let slow = "pytest 'touch running; sleep 30'";
    for client in available_clients() {
        let mut sandbox = bash_sandbox();
        sandbox.script(ModelScript::new([bash_turn(slow)])).conversation(Conversation::new([
            ConversationStep::Prompt("go".to_owned()),
            ConversationStep::FileAppears("running".into()),
            ConversationStep::Control(json!({ "subtype": "interrupt" })),
            ConversationStep::TurnEnds,
        ]));
        let session = BashSession::from_record(sandbox.run(&client).unwrap());
        assert!(session.payload(slow).is_none());
        assert_eq!(session.record.terminal_reason(), Some("aborted_tools"));
    }
}

#[test]
fn refused_call_runs_no_hook() {
    let refused = "pytest 'touch ran; exit 1'";
    for client in available_clients() {
        let mut sandbox = bash_sandbox();
        sandbox.args(["--disallowedTools", "Bash"]);
        let session = BashSession::run(sandbox, &client, vec![bash_turn(refused)]);
        assert!(session.payload(refused).is_none());
        assert!(!session.record.project().join("ran").exists());
    }
}

#[test]
fn cwd_reset_note_is_not_output() {
    for_each_session(&["pytest 'echo 1 passed'; cd /"], |session| {
        let command = "pytest 'echo 1 passed'; cd /";
        let stderr = session.payload_json(command)["tool_response"]["stderr"].clone();
        assert!(stderr.as_str().unwrap().contains("Shell cwd was reset to "), "{stderr}");
        assert_eq!(output_text(&session.call(command).unwrap()), "1 passed");
        session.save_fixture("facts/folder_was_left", command);
    });
}

/// Returns lines of `sign` with a total of `length` characters including newlines, and a visible end.
fn text_of_length(sign: char, length: usize) -> String {
    let mut text: String = (0..length).map(|at| if at % 100 == 99 { '\n' } else { sign }).collect();
    while text.chars().count() > length - 3 {
        text.pop();
    }
    text + "END"
}

/// Checks outputs around the client's limits: output that is not marked as cut is complete, and complete output
/// is not marked as cut unless its length is within 64 bytes of the window.
fn check_output_limits(client: &ClientBinary, window: Option<&str>, texts: &[String]) {
    let mut sandbox = bash_sandbox();
    let bytes = rutter_hooks::bash_call::output_window(window);
    sandbox.env("BASH_MAX_OUTPUT_LENGTH", window.unwrap_or_default());
    let mut turns = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        sandbox.file(format!("text{number}"), text.as_str());
        turns.extend(
            [0, 1].map(|exit| bash_turn(&format!("pytest 'cat text{number}; exit {exit}'"))),
        );
    }
    let session = BashSession::run(sandbox, client, turns);
    if window.is_some() {
        session.save_fixture("facts/kept_in_a_file", "pytest 'cat text4; exit 0'");
    }
    for (number, whole) in texts.iter().enumerate() {
        let sign = whole.chars().next().unwrap();
        let what = format!("{} bytes, of {sign}, client {}", whole.len(), client.version());
        let success = format!("pytest 'cat text{number}; exit 0'");
        let call = session.call_with_window(&success, bytes).unwrap();
        // The file has the whole output; at exactly the window's length a cut cannot be excluded.
        assert_eq!(call.cut, whole.len() == bytes, "{what}");
        assert_eq!(output_text(&call), *whole, "{what}");
        let failure = format!("pytest 'cat text{number}; exit 1'");
        let call = session.call_with_window(&failure, bytes).unwrap();
        let units = "Exit code 1\n".len() + whole.encode_utf16().count();
        let close = whole.len() <= bytes && whole.len() + 64 >= bytes;
        let longest = if client.version().to_string() == "2.1.325" { 11_024 } else { 10_000 };
        let is_cut = whole.len() > bytes || units > longest;
        assert_eq!(call.cut, is_cut || close, "{what}");
        assert!(call.cut || output_text(&call) == *whole, "{what}");
        let kept = output_text(&call);
        let strange = kept.lines().filter(|line| !whole.lines().any(|other| other == *line));
        // The window may cut the last line.
        assert!(strange.count() <= 1, "{what}");
    }
}

#[test]
fn output_limits_of_payloads() {
    let units = [9_988, 9_989, 10_010, 11_012, 11_013];
    let bytes = [29_930, 29_990, 30_000, 30_001, 30_010, 100_000];
    let mut texts = Vec::new();
    for sign in ['a', 'é', '漢', '😀'] {
        texts.extend(units.map(|units| text_of_length(sign, units / sign.len_utf16())));
        for bytes in bytes {
            // Whole characters, padded with ASCII to the exact byte length.
            let text = text_of_length(sign, bytes / sign.len_utf8());
            let cut = text.floor_char_boundary(bytes.min(text.len()) - 3);
            let mut text = text[..cut].to_owned();
            text.extend(std::iter::repeat_n('x', bytes - cut));
            texts.push(text);
        }
    }
    for client in available_clients() {
        check_output_limits(&client, None, &texts);
    }
}

#[test]
fn smaller_window_from_environment() {
    let texts = [4_900, 4_990, 5_000, 5_001, 8_000].map(|length| text_of_length('a', length));
    for client in available_clients() {
        check_output_limits(&client, Some("5000"), &texts);
    }
}

/// A hook inherits the variable, even if it is set in the settings.
#[test]
fn hook_inherits_window_variable() {
    let Some(client) = client() else { return };
    let mut sandbox = bash_sandbox();
    let command = "printf %s \"$BASH_MAX_OUTPUT_LENGTH\" >window";
    let hook = json!([{ "hooks": [{ "type": "command", "command": command }] }]);
    sandbox.setting("hooks", json!({ "PostToolUse": hook }));
    sandbox.setting("env", json!({ "BASH_MAX_OUTPUT_LENGTH": "5000" }));
    sandbox.hook(TestHook::for_event(EventName::Stop));
    let session = BashSession::run(sandbox, &client, vec![bash_turn("pytest 'exit 0'")]);
    let told = std::fs::read_to_string(session.record.project().join("window")).unwrap();
    assert_eq!(output_window(Some(&told)), 5_000);
    assert_ne!(output_window(Some(&told)), DEFAULT_WINDOW_BYTES);
}

/// A known gap: the setting has the same effect as the variable, but a hook cannot read it.
#[test]
fn window_setting_is_not_visible() {
    let Some(client) = client() else { return };
    let mut sandbox = bash_sandbox();
    sandbox.setting("bashOutputMaxChars", 4_000).file("text", text_of_length('a', 6_000));
    let command = "pytest 'cat text; exit 1'";
    let session = BashSession::run(sandbox, &client, vec![bash_turn(command)]);
    let call = session.call(command).unwrap();
    assert_eq!((call.output.len(), call.cut), (3_999, false));
    session.save_fixture("facts/cut_by_a_setting", command);
}
