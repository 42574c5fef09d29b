//! Measures how many secrets redaction removes on the real path of a user's texts: a client payload goes through the
//! hook into a store, and a recurring failure brings the stored text back.
//!
//! `cargo test -p rutter-hooks channels -- --nocapture` prints the figures. The lists are strict, as in
//! `redaction.rs`.

use std::collections::{BTreeSet, HashMap};

use rutter_memory::ghap::GhapStart;
use rutter_memory::store::NewMemory;
use rutter_redact::redact;
use serde_json::{Value, json};
use similar::{DiffTag, TextDiff};

use rutter_testkit::redaction_corpus::{self as corpus, ChannelCase, ChannelPart, TextChannel};
use rutter_testkit::story::HookStory;
use rutter_testkit::world::{FACT, TestWorld, start_fields, time_at};

/// Length of the secret fragments that are searched for. Shorter fragments reveal nothing.
const PIECE_BYTES: usize = 8;

/// Number of cases after which the store is opened and closed, as a command does: hooks leave WAL checkpoints to
/// commands.
const CASES_PER_CHECKPOINT: usize = 6;

/// Secrets that redaction misses. The eighth set was read once: no rule was written for it.
const MISSED: &[&str] = &[
    "eighth-command-openssl-passin",
    "eighth-edit-dotenv-multi",
    "eighth-name-file-pw-backup",
    "eighth-prose-ssh-passphrase",
    "eighth-prose-keystore",
    "ninth-prose-salt-pepper",
    "ninth-prose-was-now",
];

/// Texts without a secret that redaction changes.
const CHANGED: &[&str] = &[];

/// Plays a case through the hooks and returns their output.
fn play_case(story: &HookStory<'_>, case: &ChannelCase, number: usize) -> String {
    let test = format!("test_case_{number}");
    let file = format!("tests/test_{number}.py");
    let run = format!("pytest -q {file}");
    let content = &case.text;
    match case.channel {
        TextChannel::Command => {
            let said = story.run_failing_command(
                &format!("{content}\n{run}"),
                1,
                &pytest_failure(&file, &test, "boom"),
            );
            // While a failure is open, any command may be its fix.
            story.bash(content);
            said + &pass_and_fail_again(story, &run, &file, &test, "boom")
        }
        TextChannel::Error => {
            let said = story.run_failing_command(&run, 1, &pytest_failure(&file, &test, content));
            send_edit(story, "src/app.py", "x = 1\n", &format!("x = 2\ny = {number}\n"));
            said + &pass_and_fail_again(story, &run, &file, &test, content)
        }
        TextChannel::Edit => {
            let said = story.run_failing_command(&run, 1, &pytest_failure(&file, &test, "boom"));
            send_edit(story, &case.file, &case.before, content);
            let said = said + &pass_and_fail_again(story, &run, &file, &test, "boom");
            // The failure is open again: now every value in the file changes.
            send_edit(story, &case.file, content, &case.rotated);
            said + &pass_and_fail_again(story, &run, &file, &test, "boom")
        }
        TextChannel::Prose => {
            let mut memories = story.world.store();
            let owner = story.world.other_session(&format!("session-{number}"));
            let fields = GhapStart {
                goal: content,
                hypothesis: content,
                action: content,
                prediction: content,
                ..start_fields()
            };
            memories.start_ghap(&owner, &fields, time_at(1)).unwrap();
            let place = story.world.place();
            let memory = NewMemory { place: Some(&place), text: content, ..FACT };
            memories.remember(&memory, time_at(2)).unwrap();
            String::new()
        }
        TextChannel::Name => {
            let said = match case.kind.as_str() {
                "test" => story.run_failing_command(
                    &run,
                    1,
                    &pytest_failure(&file, content, &format!("in {content}")),
                ),
                "branch" => {
                    let line = format!("git checkout {content} && {run}");
                    story.run_failing_command(
                        &line,
                        1,
                        &pytest_failure(&file, &test, &format!("on branch {content}")),
                    )
                }
                _ => story.run_failing_command(
                    &run,
                    1,
                    &pytest_failure(content, &test, &format!("no file {content}")),
                ),
            };
            match case.kind.as_str() {
                "file" => send_edit(story, content, "x = 1\n", &format!("x = {number}\n")),
                "folder" => {
                    send_edit(
                        story,
                        &format!("{content}/app.py"),
                        "x = 1\n",
                        &format!("x = {number}\n"),
                    );
                }
                _ => story.bash(&format!("git merge {content}")),
            }
            said + &pass_and_fail_again(story, &run, &file, &test, "boom")
        }
    }
}

fn pass_and_fail_again(
    story: &HookStory<'_>,
    run: &str,
    file: &str,
    test: &str,
    error: &str,
) -> String {
    story.bash_with(run, "1 passed in 0.01s\n");
    story.run_failing_command(run, 1, &pytest_failure(file, test, error))
}

/// Returns pytest's output for a failing test.
fn pytest_failure(file: &str, test: &str, error: &str) -> String {
    let error_lines: Vec<String> = error.lines().map(|line| format!("E       {line}\n")).collect();
    let error_lines = error_lines.concat();
    let first = error.lines().next().unwrap_or_default();
    format!(
        "=================================== FAILURES ===================================\n\
         _____ {test} _____\n\n    def test_it():\n>       run()\n{error_lines}\n{file}:3: Error\n\
         =========================== short test summary info ============================\n\
         FAILED {file}::{test} - {first}\n1 failed in 0.01s\n"
    )
}

/// Sends an edit payload like the client's: hunks with three context lines, and the original file.
fn send_edit(story: &HookStory<'_>, file: &str, before: &str, after: &str) {
    let path = story.folder.join(file);
    let diff = TextDiff::from_lines(before, after);
    let line = |sign: char, text: &str| format!("{sign}{}", text.trim_end_matches('\n'));
    let mut parts: Vec<Value> = Vec::new();
    for group in diff.grouped_ops(3) {
        let (old, new) = (group[0].old_range().start, group[0].new_range().start);
        let mut lines = Vec::new();
        for op in &group {
            let sign = if op.tag() == DiffTag::Equal { ' ' } else { '-' };
            lines.extend(diff.old_slices()[op.old_range()].iter().map(|text| line(sign, text)));
            if op.tag() != DiffTag::Equal {
                lines.extend(diff.new_slices()[op.new_range()].iter().map(|text| line('+', text)));
            }
        }
        parts.push(json!({ "oldStart": old + 1, "newStart": new + 1, "lines": lines }));
    }
    let response = json!({ "filePath": path, "originalFile": before, "structuredPatch": parts });
    let result =
        story.send_event("PostToolUse", &json!({ "tool_name": "Edit", "tool_response": response }));
    assert_eq!(HookStory::context_text(&result), "");
}

/// Returns the indexes of the cases that leave a fragment in the data directory or in hook output.
fn cases_with_leaks(cases: &[&ChannelCase]) -> BTreeSet<usize> {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    let mut kept: Vec<u8> = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        kept.extend(play_case(&story, case, number).into_bytes());
        kept.push(0);
        if number % CASES_PER_CHECKPOINT == 0 {
            drop(world.store());
        }
    }
    for (_, bytes) in world.file_contents() {
        kept.extend(bytes);
        kept.push(0);
    }
    assert!(!kept.is_empty());
    kept.make_ascii_lowercase();
    let mut pieces: HashMap<u64, usize> = HashMap::new();
    // A check of the last two bytes rejects most positions.
    let mut is_last = vec![false; 1 << 16];
    let mut found = BTreeSet::new();
    for (number, case) in cases.iter().enumerate() {
        for secret in &case.secrets {
            let secret = secret.to_lowercase().into_bytes();
            if secret.len() < PIECE_BYTES {
                if kept.windows(secret.len()).any(|window| window == secret) {
                    found.insert(number);
                }
                continue;
            }
            for piece in secret.windows(PIECE_BYTES) {
                let piece = piece.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
                pieces.insert(piece, number);
                is_last[usize::try_from(piece & 0xffff).unwrap()] = true;
            }
        }
    }
    let mut window = 0_u64;
    for byte in kept {
        window = window << 8 | u64::from(byte);
        if is_last[usize::try_from(window & 0xffff).unwrap()] {
            found.extend(pieces.get(&window));
        }
    }
    found
}

/// Returns the names of the cases with surviving secrets, and the number of cases.
fn missed_cases(
    cases: &[ChannelCase],
    channel: TextChannel,
    part: ChannelPart,
) -> (Vec<String>, usize) {
    let cases: Vec<&ChannelCase> =
        cases.iter().filter(|case| case.channel == channel && case.part() == part).collect();
    let names =
        cases_with_leaks(&cases).into_iter().map(|number| cases[number].name.clone()).collect();
    (names, cases.len())
}

fn is_changed(case: &ChannelCase) -> bool {
    [&case.text, &case.before, &case.file].iter().any(|text| redact(text) != text.as_str())
}

/// Prints the figures of a channel and compares its failures with the lists.
#[expect(clippy::print_stdout, reason = "the figures")]
fn check_channel(channel: TextChannel) {
    let (secrets, lookalikes) = (corpus::channel_secrets(), corpus::channel_lookalikes());
    let (mut all_missed, mut all_changed) = (Vec::new(), Vec::new());
    for part in ChannelPart::ALL {
        let (missed, count) = missed_cases(&secrets, channel, part);
        let clean: Vec<&ChannelCase> = lookalikes
            .iter()
            .filter(|case| case.channel == channel && case.part() == part)
            .collect();
        let changed: Vec<String> =
            clean.iter().filter(|case| is_changed(case)).map(|case| case.name.clone()).collect();
        if count + clean.len() == 0 {
            continue;
        }
        println!(
            "{channel:?}, {part:?}: {} of {count} secrets taken, {} of {} look-alikes changed",
            count - missed.len(),
            changed.len(),
            clean.len(),
        );
        println!("  missed: {missed:?}\n  changed: {changed:?}");
        all_missed.extend(missed);
        all_changed.extend(changed);
    }
    let of_channel = |cases: &[ChannelCase], names: &[&'static str]| -> Vec<&str> {
        let is_of_channel =
            |name: &str| cases.iter().any(|case| case.name == name && case.channel == channel);
        names.iter().copied().filter(|name| is_of_channel(name)).collect()
    };
    assert_eq!(all_missed, of_channel(&secrets, MISSED));
    assert_eq!(all_changed, of_channel(&lookalikes, CHANGED));
}

#[test]
fn channels_command() {
    check_channel(TextChannel::Command);
}

#[test]
fn channels_error() {
    check_channel(TextChannel::Error);
}

#[test]
fn channels_edit() {
    check_channel(TextChannel::Edit);
}

#[test]
fn channels_prose() {
    check_channel(TextChannel::Prose);
}

#[test]
fn channels_name() {
    check_channel(TextChannel::Name);
}

#[test]
fn channels_keep_ordinary_text() {
    // Without this test, a channel that stores nothing would look perfect.
    let text = "q7yh2lpv9sxc4nwbk3xw";
    for channel in [
        TextChannel::Command,
        TextChannel::Error,
        TextChannel::Edit,
        TextChannel::Prose,
        TextChannel::Name,
    ] {
        let case = ChannelCase {
            name: String::new(),
            channel,
            kind: "file".to_owned(),
            text: match channel {
                TextChannel::Command => format!("sed -i s/a/{text}/ x.py"),
                _ => format!("see {text} here"),
            },
            before: String::new(),
            file: "a.py".to_owned(),
            rotated: String::new(),
            secrets: vec![text.to_owned()],
        };
        assert_eq!(cases_with_leaks(&[&case]).len(), 1, "{channel:?}");
    }
}

#[test]
fn channels_lists_name_known_cases() {
    let (secrets, lookalikes) = (corpus::channel_secrets(), corpus::channel_lookalikes());
    assert!(secrets.iter().all(|case| !case.secrets.is_empty()));
    for (cases, names) in [(&secrets, MISSED), (&lookalikes, CHANGED)] {
        assert!(names.iter().all(|name| cases.iter().any(|case| case.name == *name)));
    }
}
