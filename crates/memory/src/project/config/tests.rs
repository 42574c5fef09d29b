#![expect(clippy::disallowed_methods, reason = "the file is for git to read, once")]

use std::process::Command;

use proptest::prelude::*;

use super::*;

fn parse_config(text: &[u8]) -> (GitConfig, bool) {
    let mut config = GitConfig::default();
    let whole = config.add_if(text, |_| true);
    (config, whole)
}

/// Formats a configuration like `git config --list -z`.
fn format_listing(config: &GitConfig) -> Vec<u8> {
    let mut list = Vec::new();
    for GitConfigEntry { section, variable, value } in &config.entries {
        let section = &config.sections[*section];
        list.extend_from_slice(section);
        // A variable before the first section has no section.
        if !section.is_empty() {
            list.push(b'.');
        }
        list.extend_from_slice(variable);
        if let Some(value) = value {
            list.push(b'\n');
            list.extend_from_slice(value);
        }
        list.push(0);
    }
    list
}

#[test]
fn reads_git_config_syntax() {
    let (config, whole) = parse_config(
        b"\xef\xbb\xbf# comment\n[Core]\n\tBare = false ; more\n[remote \"Or\\\"igin.x\"] url = \"a ;b\" c \\\n d\r\n\
          [branch.Main]\nmerge\n",
    );
    assert!(whole);
    assert_eq!(config.last_value(b"core.bare"), Some(&b"false"[..]));
    assert_eq!(config.last_value(b"remote.Or\"igin.x.url"), Some(&b"a ;b c  d"[..]));
    assert!(config.is_true(b"branch.main.merge") && !config.is_true(b"core.bare"));
    let remotes: Vec<_> = config.subsection_values(b"remote", b"url").collect();
    assert_eq!(remotes, [(&b"Or\"igin.x"[..], Some(&b"a ;b c  d"[..]))]);
}

#[test]
fn long_section_is_stored_once() {
    // Half of the file is a section name, the other half its variables: a copy for each would take gigabytes.
    let name = "x".repeat(128 * 1024);
    let text =
        format!("[remote \"{name}\"]\n{}[remote \"origin\"]\nurl = o\n", "url\n".repeat(32 * 1024));
    let mut config = GitConfig::default();
    assert!(config.add(text.as_bytes()));
    assert_eq!(config.entries.len(), 1);
    assert_eq!(config.last_value(b"remote.origin.url"), Some(&b"o"[..]));
}

#[test]
fn unused_variables_are_skipped() {
    let mut config = GitConfig::default();
    assert!(config.add("[a]\nb\n".repeat(40_000).as_bytes()));
    assert_eq!((config.sections.len(), config.entries.len()), (0, 0));
}

#[test]
fn lines_before_broken_line_count() {
    let (config, whole) = parse_config(b"[a]\nb = 1\n= 2\nc = 3\n");
    assert!(!whole);
    assert_eq!(format_listing(&config), b"a.b\n1\0");
}

/// Generates the lines of a configuration with random values, some of them invalid.
fn arbitrary_config() -> impl Strategy<Value = Vec<u8>> {
    let header = prop_oneof![
        Just("[a]"),
        Just("[A-b.C]"),
        Just("[remote \"Or.igin\"]"),
        Just("[x \"\\\\\\\"q\"] "),
        Just("[a\t \"\"] #"),
        Just("[ \"b\"]"),
    ];
    let name = prop_oneof![Just("key = "), Just("\tKey-2="), Just("K\t =\t"), Just("a1=")];
    let piece = prop_oneof![
        8 => prop_oneof![Just("value"), Just(" "), Just("\t"), Just("  two  "), Just("é"), Just("=")],
        4 => prop_oneof![Just("\\\n"), Just("\\\r\n"), Just("\"quoted ;#\""), Just("\\n\\t\\b\\\\\\\"")],
        2 => prop_oneof![Just("#"), Just(";"), Just("\"\""), Just("["), Just("]"), Just("\u{c}"), Just("\r")],
    ];
    let value = prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat());
    let line = prop_oneof![
        2 => header.prop_map(str::to_owned),
        5 => (name, value).prop_map(|(name, value)| format!("{name}{value}")),
        1 => prop_oneof![Just("flag"), Just("# comment"), Just("; \"\\"), Just("")].prop_map(str::to_owned),
    ]
    .prop_map(String::into_bytes);
    let damage = prop_oneof![
        Just("\""),
        Just("\\"),
        Just("a=\\x"),
        Just("\r"),
        Just("["),
        Just("]"),
        Just("="),
        Just("\u{c}"),
        Just("\u{feff}"),
        Just("[a b]"),
        Just("[]"),
        Just("[a \"b\nc\"]"),
        Just("_"),
        Just("a b"),
        Just("a=\"b"),
    ]
    .prop_map(|damage: &str| damage.as_bytes().to_owned());
    // NUL is excluded: git's listing cannot show it.
    let noise = prop::collection::vec(1..=255_u8, 0..4);
    let lines = prop::collection::vec(prop_oneof![60 => line, 1 => damage, 1 => noise], 0..12);
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just("\n\n\t"), Just(" \n")];
    (lines, end).prop_map(|(lines, end)| lines.join(end.as_bytes()))
}

/// Before 2.45, git turned every blank inside a value into a space.
fn join_blanks(list: &[u8]) -> String {
    let blank = |byte: u8| if matches!(byte, b'\t' | b'\r') { b' ' } else { byte };
    list.iter().map(|byte| blank(*byte)).collect::<Vec<u8>>().escape_ascii().to_string()
}

/// We parse every text like git does, and recognise as broken every text that git refuses.
#[test]
fn reads_as_git_reads() {
    if Command::new("git").arg("--version").output().is_err() {
        rutter_testkit::skip_test("reading configurations as git does", "there is no git");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    let mut understood = 0;
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 400,
        ..ProptestConfig::default()
    });
    let counted = std::cell::RefCell::new(&mut understood);
    runner
        .run(&arbitrary_config(), |text| {
            std::fs::write(&file, &text).unwrap();
            let output = Command::new("git")
                .args(["config", "--list", "-z", "-f"])
                .arg(&file)
                .current_dir(folder.path())
                .env("GIT_CONFIG_NOSYSTEM", "1")
                .output()
                .unwrap();
            let (config, whole) = parse_config(&text);
            prop_assert_eq!(whole, output.status.success(), "{}", text.escape_ascii());
            if whole {
                let ours = join_blanks(&format_listing(&config));
                prop_assert_eq!(ours, join_blanks(&output.stdout));
                **counted.borrow_mut() += usize::from(!output.stdout.is_empty());
            }
            Ok(())
        })
        .unwrap();
    assert!(understood > 150, "only {understood} of the texts said anything");
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
        drop(parse_config(&text));
    }

    #[test]
    fn no_cut_makes_it_panic(text in arbitrary_config(), cut in any::<prop::sample::Index>()) {
        drop(parse_config(&text[..cut.index(text.len() + 1)]));
    }
}
