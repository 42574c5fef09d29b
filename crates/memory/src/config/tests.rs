#![allow(clippy::disallowed_methods, reason = "tests write their own files")]

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::keys::{ConfigKey, ConfigValue, ConfigValueKind, KEYS, ProjectRule};
use super::*;
use crate::store::maintain::MaintenanceLimits;

/// A temporary folder with the user's file, a checkout and a data directory.
struct ConfigFixture {
    folder: tempfile::TempDir,
}

impl ConfigFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("ship")).unwrap();
        Self { folder }
    }

    fn user(&self) -> PathBuf {
        self.folder.path().join("config.toml")
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("ship")
    }

    fn project(&self) -> PathBuf {
        self.root().join(PROJECT_FILE)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("memory")
    }

    fn load(&self) -> LoadedConfig {
        Config::load(&self.user(), Some(&self.root()), &self.data())
    }

    fn load_files(user: impl AsRef<[u8]>, project: impl AsRef<[u8]>) -> LoadedConfig {
        let world = Self::new();
        fs::write(world.user(), user).unwrap();
        fs::write(world.project(), project).unwrap();
        world.load()
    }

    fn trust(&self) {
        trust::record_trust(&self.data(), &self.root(), &fs::read(self.project()).unwrap())
            .unwrap();
    }
}

/// Returns line, column, kind, problem and advice of every finding.
fn describe_findings(loaded: &LoadedConfig) -> Vec<String> {
    let place = |finding: &ConfigFinding| {
        finding.position.map_or_else(String::new, |at| format!("{}:{}", at.line, at.column))
    };
    loaded
        .findings
        .iter()
        .map(|finding| {
            let ConfigFinding { mistake, what, advice, .. } = finding;
            format!("{} {mistake}: {what} -> {advice}", place(finding))
        })
        .collect()
}

fn load_user_file(text: impl AsRef<[u8]>) -> LoadedConfig {
    ConfigFixture::load_files(text, "")
}

#[test]
fn missing_files_give_defaults() {
    let world = ConfigFixture::new();
    let loaded = world.load();
    assert_eq!(loaded, LoadedConfig::default());
    assert_eq!(loaded.config, Config::default());
    assert_eq!(loaded.project, ProjectFileTrust::Absent);
    assert_eq!(MaintenanceLimits::from(&loaded.config.retention), MaintenanceLimits::default());
    assert!(!world.data().exists(), "nothing is made by looking");
}

/// Every key exists in the types, and every field of the types has a key.
#[test]
fn keys_match_types() {
    fn leaves(path: &str, json: &serde_json::Value, found: &mut Vec<(String, serde_json::Value)>) {
        match json {
            serde_json::Value::Object(fields) => {
                for (name, value) in fields {
                    let path =
                        if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    leaves(&path, value, found);
                }
            }
            value => found.push((path.to_owned(), value.clone())),
        }
    }
    let config = Config::default();
    let mut typed = Vec::new();
    leaves("", &serde_json::to_value(&config).unwrap(), &mut typed);
    let mut listed: Vec<_> = KEYS
        .iter()
        .map(|key| (key.path(), serde_json::to_value(key.value(&config)).unwrap()))
        .collect();
    typed.sort_by(|a, b| a.0.cmp(&b.0));
    listed.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(typed, listed);
    for key in KEYS {
        if key.kind() == ConfigValueKind::Number {
            let ConfigValue::Number(number) = key.value(&config) else { panic!("{}", key.path()) };
            assert!((key.range.0..=key.range.1).contains(&number), "{}", key.path());
        }
    }
}

/// The keys of the original YAML configuration, as TOML.
#[test]
fn original_keys_are_known_or_replaced() {
    let loaded = load_user_file(
        r#"
[hooks.session_start]
enabled = true
script = ".claude/hooks/session_start.sh"
timeout_ms = 5000
inject_light_context = false

[hooks.user_prompt_submit]
enabled = true
context_depth = "rich"
token_budget = 1500
include_code = false

[hooks.ghap_checkin]
enabled = false
frequency = 25

[hooks.outcome_capture]
matchers = ["pytest", "just check"]
auto_capture = false
timeout = 200
once = true

[hooks.session_end]
enabled = false
"#,
    );
    let hooks = &loaded.config.hooks;
    assert!(hooks.session_start.enabled && !hooks.session_start.inject_light_context);
    let prompt = &hooks.user_prompt_submit;
    assert_eq!(prompt.context_depth, ContextDepth::Rich);
    assert_eq!((prompt.token_budget, prompt.limit, prompt.include_code), (1_500, 20, false));
    assert!(!hooks.ghap_checkin.enabled && !hooks.session_end.enabled);
    assert_eq!(hooks.ghap_checkin.frequency, 25);
    assert_eq!(hooks.outcome_capture.matchers, ["pytest", "just check"]);
    assert!(!hooks.outcome_capture.auto_capture);
    insta::assert_snapshot!(describe_findings(&loaded).join("\n"), @"
    4:1 replaced: `script` has no meaning in [hooks.session_start] -> every hook runs `rutter hook`; remove this key
    5:1 replaced: `timeout_ms` has no meaning in [hooks.session_start] -> deadlines are fixed; remove this key
    21:1 replaced: `timeout` has no meaning in [hooks.outcome_capture] -> deadlines are fixed; remove this key
    22:1 replaced: `once` has no meaning in [hooks.outcome_capture] -> a hook never repeats a text; remove this key
    ");
}

/// A file of a version that had a deadline per hook.
#[test]
fn removed_deadlines_are_reported() {
    const HOOKS: [&str; 10] = [
        "session_start",
        "user_prompt_submit",
        "ghap_checkin",
        "outcome_capture",
        "edits",
        "action_hints",
        "subagent_start",
        "pre_compact",
        "stop",
        "session_end",
    ];
    let text = HOOKS.map(|hook| format!("[hooks.{hook}]\ndeadline_ms = 100\nenabled = false\n"));
    let loaded = load_user_file(format!("notify = 'card'\n{}", text.concat()));
    let expected: Vec<String> = HOOKS
        .iter()
        .zip((3..).step_by(3))
        .map(|(hook, line)| {
            format!(
                "{line}:1 replaced: `deadline_ms` has no meaning in [hooks.{hook}] -> deadlines are fixed; remove this key"
            )
        })
        .collect();
    assert_eq!(describe_findings(&loaded), expected);
    // The other settings are in force.
    assert_eq!(loaded.config.notify, Notify::Card);
    let disabled = KEYS.iter().filter(|key| {
        key.name == "enabled" && key.value(&loaded.config) == ConfigValue::Flag(false)
    });
    assert_eq!(disabled.count(), HOOKS.len());
}

#[test]
fn depth_sets_default_limits() {
    let budget = |text: &str| {
        let hook = load_user_file(text).config.hooks.user_prompt_submit;
        (hook.token_budget, hook.limit)
    };
    assert_eq!(budget(""), (300, 3));
    assert_eq!(budget("[hooks.user_prompt_submit]\ncontext_depth = 'rich'"), (2_000, 20));
    assert_eq!(
        budget("hooks.user_prompt_submit = { context_depth = 'rich', limit = 4 }"),
        (2_000, 4)
    );
    assert_eq!(budget("hooks.user_prompt_submit.token_budget = 0"), (0, 3));
}

#[test]
fn unknown_name_suggests_nearest() {
    let loaded = load_user_file(
        "notifi = 'brief'\n[hooks.ghap_checkin]\nfrequencey = 3\n[hooks.PreToolCall]\nx = 1\n[hooks.SessionStart]\n\
         [session_start]\n[hooks.session_start]\nfrequency = 3\nnotify = 'off'\nzzz = 1\nlimits = 2\n[colour]\nred = 1\n",
    );
    insta::assert_snapshot!(describe_findings(&loaded).join("\n"), @"
    1:1 unknown-key: there is no `notifi` at the top -> did you mean `notify`?
    3:1 unknown-key: there is no `frequencey` in [hooks.ghap_checkin] -> did you mean `frequency`?
    4:8 unknown-key: there is no `PreToolCall` in [hooks] -> write [hooks.ghap_checkin]
    6:8 unknown-key: there is no `SessionStart` in [hooks] -> did you mean [hooks.session_start]?
    7:2 unknown-key: there is no `session_start` at the top -> did you mean [hooks.session_start]?
    9:1 unknown-key: there is no `frequency` in [hooks.session_start] -> `frequency` belongs in [hooks.ghap_checkin]
    10:1 unknown-key: there is no `notify` in [hooks.session_start] -> `notify` belongs at the top, before the first table
    11:1 unknown-key: there is no `zzz` in [hooks.session_start] -> `rutter config show --defaults` lists all of them
    12:1 unknown-key: there is no `limits` in [hooks.session_start] -> did you mean `limit` in [hooks.user_prompt_submit]?
    13:2 unknown-key: there is no `colour` at the top -> `rutter config show --defaults` lists all of them
    ");
    assert_eq!(loaded.config, Config::default());
}

#[test]
fn wrong_value_lists_valid_ones() {
    let loaded = load_user_file(
        "notify = \"loud\"\nscope = 3\n[hooks.ghap_checkin]\nfrequency = 0\nenabled = \"yes\"\n\
         [hooks.session_start]\nvalues = -1\npreferences = 60_000\n[hooks.stop]\nask = 1979-05-27\n[cohort]\ncontrol = 1.5\n\
         [hooks.outcome_capture]\nmatchers = [\"just check\", 3]\nenabled = false\n[[hooks.edits]]\nenabled = false\n",
    );
    insta::assert_snapshot!(describe_findings(&loaded).join("\n"), @r#"
    1:10 wrong-value: `notify` cannot be "loud" -> write "off" or "brief" or "card"
    2:1 wrong-value: `scope` is a table -> write [scope]
    4:13 wrong-value: `hooks.ghap_checkin.frequency` cannot be 0 -> write a whole number from 1 to 1000
    5:11 wrong-value: `hooks.ghap_checkin.enabled` cannot be a text -> write true or false
    7:10 wrong-value: `hooks.session_start.values` cannot be -1 -> write a whole number from 0 to 50
    8:15 wrong-value: `hooks.session_start.preferences` cannot be 60000 -> write a whole number from 0 to 50
    10:7 wrong-value: `hooks.stop.ask` cannot be a date -> write true or false
    12:11 wrong-value: `cohort.control` cannot be 1.5 -> write a number from 0 to 1
    14:12 wrong-value: `hooks.outcome_capture.matchers` cannot be this list -> write a list of non-empty texts
    16:9 wrong-value: `hooks.edits` is a table -> write [hooks.edits]
    "#);
    let mut expected = Config::default();
    expected.hooks.outcome_capture.enabled = false;
    assert_eq!(loaded.config, expected, "what is right counts all the same");
}

#[test]
fn invalid_toml_sets_nothing() {
    for (text, at) in [
        (&b"[hooks.stop]\nask = true\nenabled = \n"[..], (3, 11)),
        (b"notify = 'brief'\nnotify = 'off'\n", (2, 1)),
        (b"hooks:\n  stop:\n", (1, 7)),
        (b"notify = 'brief'\n\xff\xfe", (2, 1)),
        (b"\0", (1, 2)),
        ("# ä\n\u{feff}notify = ä".as_bytes(), (2, 1)),
    ] {
        let loaded = load_user_file(text);
        assert_eq!(loaded.config, Config::default());
        let [finding] = &loaded.findings[..] else { panic!("{:?}", loaded.findings) };
        assert_eq!(finding.mistake, ConfigMistake::Syntax, "{finding}");
        let position = finding.position.unwrap();
        assert_eq!((position.line, position.column), at, "{finding}");
    }
}

#[test]
fn accepts_bom_and_crlf() {
    let loaded = load_user_file("\u{feff}notify = \"card\"\r\n\r\n[hooks.stop]\r\nask = 3\r\n");
    assert_eq!(loaded.config.notify, Notify::Card);
    assert_eq!(
        describe_findings(&loaded),
        ["4:7 wrong-value: `hooks.stop.ask` cannot be 3 -> write true or false"]
    );
    // Columns count characters, without the byte order mark.
    let loaded = load_user_file("\u{feff}notify.ä = 1");
    assert_eq!(loaded.findings[0].position, Some(FilePosition { line: 1, column: 8 }));
}

#[test]
fn trusted_project_overrides_user() {
    let world = ConfigFixture::new();
    fs::write(world.user(), "notify = 'brief'\n[hooks.ghap_checkin]\nfrequency = 20\n").unwrap();
    fs::write(
        world.project(),
        "notify = 'card'\n[hooks.outcome_capture]\nmatchers = ['just check']\n[hooks.stop]\nask = true\n",
    )
    .unwrap();
    let untrusted = world.load();
    assert_eq!(untrusted.project, ProjectFileTrust::Untrusted);
    assert_eq!(untrusted.config.notify, Notify::Brief);
    assert_eq!(untrusted.findings.len(), 3);
    assert!(untrusted.findings.iter().all(|finding| finding.mistake == ConfigMistake::NotTrusted));

    world.trust();
    let trusted = world.load();
    assert_eq!(trusted.project, ProjectFileTrust::Trusted);
    assert!(trusted.findings.is_empty(), "{:?}", trusted.findings);
    assert_eq!(trusted.config.notify, Notify::Card);
    assert_eq!(trusted.config.hooks.ghap_checkin.frequency, 20);
    assert!(trusted.config.hooks.stop.ask);
    assert_eq!(trusted.config.hooks.outcome_capture.matchers, ["just check"]);
    let origin = |path: &str| trusted.origin(KEYS.iter().find(|key| key.path() == path).unwrap());
    assert_eq!(origin("notify"), SettingOrigin::Project);
    assert_eq!(origin("hooks.ghap_checkin.frequency"), SettingOrigin::User);
    assert_eq!(origin("hooks.stop.enabled"), SettingOrigin::Default);

    // A changed byte ends the trust.
    let text = fs::read_to_string(world.project()).unwrap();
    fs::write(world.project(), format!("{text}\n")).unwrap();
    assert_eq!(world.load().project, ProjectFileTrust::Untrusted);
    assert_eq!(world.load().config, untrusted.config);
    fs::write(world.project(), text).unwrap();
    assert_eq!(world.load().project, ProjectFileTrust::Trusted);
    assert!(trust::revoke_trust(&world.data(), &world.root()).unwrap());
    assert!(!trust::revoke_trust(&world.data(), &world.root()).unwrap());
    assert_eq!(world.load().project, ProjectFileTrust::Untrusted);
}

#[test]
fn trust_is_per_checkout() {
    let world = ConfigFixture::new();
    fs::write(world.project(), "notify = 'card'").unwrap();
    world.trust();
    let other = world.folder.path().canonicalize().unwrap().join("other");
    fs::create_dir(&other).unwrap();
    fs::copy(world.project(), other.join(PROJECT_FILE)).unwrap();
    let loaded = Config::load(&world.user(), Some(&other), &world.data());
    assert_eq!((loaded.project, loaded.config.notify), (ProjectFileTrust::Untrusted, Notify::Off));
    // Both can be trusted.
    trust::record_trust(&world.data(), &other, b"notify = 'card'").unwrap();
    assert_eq!(trust::list_trusted(&world.data()).unwrap().len(), 2);
    assert!(
        trust::list_trusted(&world.data())
            .unwrap()
            .iter()
            .all(trust::TrustedCheckout::is_unchanged)
    );
    fs::write(other.join(PROJECT_FILE), "").unwrap();
    assert!(!trust::list_trusted(&world.data()).unwrap()[1].is_unchanged());
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(world.data().join("trusted")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn untrusted_file_can_restrict() {
    let loaded = ConfigFixture::load_files(
        "notify = 'card'\n[scope]\nexclude = ['/srv']\nrecall = 'everywhere'\n\
         [hooks.user_prompt_submit]\ncontext_depth = 'rich'\n",
        "notify = 'brief'\n[scope]\nexclude = ['vendor']\nrecall = 'project'\n\
         [hooks.user_prompt_submit]\ncontext_depth = 'light'\n[hooks.session_start]\nenabled = false\nvalues = 2\n\
         [hooks.ghap_checkin]\nfrequency = 40\n[privacy]\ncapture_patches = false\n",
    );
    assert!(loaded.findings.is_empty(), "{:?}", loaded.findings);
    let config = loaded.config;
    assert_eq!((config.notify, config.scope.recall), (Notify::Brief, RecallScope::Project));
    assert_eq!(config.scope.exclude.len(), 2);
    assert!(config.scope.exclude[1].ends_with("/ship/vendor"));
    assert_eq!(config.hooks.user_prompt_submit.token_budget, 300);
    assert!(!config.hooks.session_start.enabled && !config.privacy.capture_patches);
}

#[test]
fn retention_is_user_only() {
    let world = ConfigFixture::new();
    fs::write(world.project(), "[retention]\noutcome_days = 1\n").unwrap();
    world.trust();
    let loaded = world.load();
    assert_eq!(loaded.config.retention.outcome_days, 180);
    assert_eq!(loaded.findings[0].mistake, ConfigMistake::UserOnly);
    assert_eq!(check_file(&world.project())[0].mistake, ConfigMistake::UserOnly);
}

#[test]
fn unusable_files_are_findings() {
    let world = ConfigFixture::new();
    fs::write(world.user(), "# long\n".repeat(20_000)).unwrap();
    fs::create_dir(world.project()).unwrap();
    let loaded = world.load();
    assert_eq!(loaded.config, Config::default());
    let whats: Vec<&str> = loaded.findings.iter().map(|finding| &*finding.what).collect();
    assert_eq!(whats, ["is larger than 64 KiB, and is not read", "is not a file"]);

    // A dangling link counts as absent; a link to a file counts as that file; a link to a device is refused.
    fs::remove_dir(world.project()).unwrap();
    fs::remove_file(world.user()).unwrap();
    std::os::unix::fs::symlink("nowhere", world.user()).unwrap();
    let target = world.folder.path().join("elsewhere.toml");
    fs::write(&target, "hooks.edits.enabled = false").unwrap();
    std::os::unix::fs::symlink(&target, world.project()).unwrap();
    let loaded = world.load();
    assert!(loaded.findings.is_empty() && !loaded.config.hooks.edits.enabled);
    for device in ["/dev/zero", "/dev/tty"] {
        fs::remove_file(world.project()).unwrap();
        std::os::unix::fs::symlink(device, world.project()).unwrap();
        assert_eq!(world.load().findings[0].mistake, ConfigMistake::Unreadable);
    }
    fs::remove_file(world.project()).unwrap();
    std::os::unix::fs::symlink(PROJECT_FILE, world.project()).unwrap();
    assert_eq!(world.load().findings[0].mistake, ConfigMistake::Unreadable);
}

/// Root may read every file, so a missing permission is tested only for other users.
#[test]
fn unreadable_file_is_finding() {
    let world = ConfigFixture::new();
    fs::write(world.user(), "notify = 'card'").unwrap();
    fs::set_permissions(world.user(), std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    let loaded = world.load();
    if fs::read(world.user()).is_ok() {
        assert_eq!(loaded.config.notify, Notify::Card);
    } else {
        assert_eq!(loaded.config, Config::default());
        assert!(loaded.findings[0].what.starts_with("cannot be read"), "{:?}", loaded.findings);
    }
}

#[test]
fn limits_number_of_findings() {
    let text: Vec<String> = (0..3_000).map(|at| format!("mistake{at} = 1")).collect();
    assert_eq!(load_user_file(text.join("\n")).findings.len(), 50);
}

#[test]
fn cohort_depends_only_on_session() {
    let cohort = |control| CohortSettings { control };
    let id = |number: u32| format!("3f0e8a52-6f0c-4a83-9d7e-{number:012}");
    let drawn = (0..10_000).filter(|number| cohort(0.2).is_control(&id(*number))).count();
    assert!((1_850..2_150).contains(&drawn), "{drawn}");
    for number in 0..1_000 {
        let id = id(number);
        assert!(!cohort(0.0).is_control(&id) && cohort(1.0).is_control(&id));
        assert_eq!(cohort(0.3).is_control(&id), cohort(0.3).is_control(&id));
        assert!(
            !cohort(0.3).is_control(&id) || cohort(0.6).is_control(&id),
            "a larger one holds it"
        );
    }
}

/// Values that are shown in the form of a file can be read back.
#[test]
fn values_round_trip() {
    let word = "a \"b\" \\ \n\t \u{7f}\u{9b} ä".to_owned();
    let text =
        format!("scope.exclude = {}", ConfigValue::Words(vec![word.clone(), "c".to_owned()]));
    assert!(!text.contains(char::is_control), "{text:?}");
    assert_eq!(load_user_file(&text).config.scope.exclude, [word, "c".to_owned()], "{text}");
    let line = |key: &ConfigKey| format!("{} = {}", key.path(), key.value(&Config::default()));
    let lines: Vec<String> = KEYS.iter().map(line).collect();
    let loaded = load_user_file(lines.join("\n"));
    assert_eq!((loaded.config, loaded.findings), (Config::default(), vec![]));
}

/// Generates a file with valid values for some keys.
fn arbitrary_file() -> impl Strategy<Value = String> {
    let entry = (0..KEYS.len(), any::<u32>(), any::<bool>(), 0.0..=1.0_f64).prop_map(
        |(place, number, flag, share)| {
            let key = &KEYS[place];
            let (least, most) = key.range;
            let value = match key.kind() {
                ConfigValueKind::Flag => ConfigValue::Flag(flag),
                ConfigValueKind::Number => ConfigValue::Number(least + number % (most - least + 1)),
                ConfigValueKind::Share => ConfigValue::Share(if flag { 0.0 } else { share }),
                ConfigValueKind::Words => ConfigValue::Words(vec![format!("word{}", number % 4)]),
                ConfigValueKind::Choice(names) => {
                    ConfigValue::Choice(names[number as usize % names.len()])
                }
            };
            (key.path(), value)
        },
    );
    proptest::collection::btree_map(0..KEYS.len(), entry, 0..20).prop_map(|entries| {
        let entries: std::collections::BTreeMap<String, ConfigValue> =
            entries.into_values().collect();
        let lines = entries.iter().map(|(path, value)| format!("{path} = {value}"));
        lines.collect::<Vec<String>>().join("\n")
    })
}

/// Returns an error if the first configuration allows something that the second does not.
fn check_no_wider(narrow: &Config, wide: &Config) -> Result<(), String> {
    for key in KEYS {
        let (after, before) = (key.value(narrow), key.value(wide));
        let fine = match (&after, &before) {
            (ConfigValue::Flag(after), ConfigValue::Flag(before)) => *before || !after,
            (ConfigValue::Number(after), ConfigValue::Number(before))
                if key.rule == ProjectRule::Higher =>
            {
                after >= before
            }
            (ConfigValue::Number(after), ConfigValue::Number(before))
                if key.rule == ProjectRule::Lower =>
            {
                after <= before
            }
            (ConfigValue::Share(share), ConfigValue::Share(_)) => *share == 0.0 || after == before,
            (ConfigValue::Words(after), ConfigValue::Words(before))
                if key.rule == ProjectRule::Add =>
            {
                before.iter().all(|word| after.contains(word))
            }
            (ConfigValue::Choice(after), ConfigValue::Choice(before)) => match key.kind() {
                ConfigValueKind::Choice(names) => {
                    let place = |word| names.iter().position(|name| name == word).unwrap();
                    place(after) <= place(before)
                }
                _ => false,
            },
            (after, before) => after == before,
        };
        if !fine {
            return Err(format!("{}: {after} after {before}", key.path()));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    /// No untrusted file gets more than the user allows.
    #[test]
    fn untrusted_file_never_widens(user in arbitrary_file(), project in arbitrary_file()) {
        let world = ConfigFixture::new();
        fs::write(world.user(), &user).unwrap();
        let before = world.load();
        prop_assert!(before.findings.is_empty(), "{user}\n{:?}", before.findings);
        fs::write(world.project(), &project).unwrap();
        let after = world.load();
        if let Err(wider) = check_no_wider(&after.config, &before.config) {
            prop_assert!(false, "{wider}\n--- user\n{user}--- project\n{project}");
        }
        // Each rejected line is reported.
        for finding in &after.findings {
            prop_assert!(matches!(finding.mistake, ConfigMistake::NotTrusted | ConfigMistake::UserOnly));
        }
        let set = KEYS.iter().filter(|key| after.origin(key) == SettingOrigin::Project).count();
        prop_assert_eq!(set + after.findings.len(), project.lines().count());
    }

    #[test]
    fn parses_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        drop(super::layer::ConfigLayer::parse(Path::new("x"), &bytes));
    }

    #[test]
    fn parses_any_token_order(parts in proptest::collection::vec(prop_oneof![
        Just("[hooks"), Just("."), Just("]"), Just("\n"), Just("stop"), Just(" = "), Just("true"), Just("\""), Just("'''"),
        Just("["), Just("{"), Just("}"), Just(","), Just("1"), Just("0x"), Just("inf"), Just("-nan"), Just("notify"),
        Just("cohort.control"), Just("\r"), Just("ä"), Just("\u{feff}"), Just("\\u"), Just("1979-05-27"), Just("#"),
    ], 0..40)) {
        drop(super::layer::ConfigLayer::parse(Path::new("x"), parts.concat().as_bytes()));
    }
}

/// Nesting is bounded: a hook with a stack overflow would be visible to the user.
#[test]
fn deep_nesting_is_error() {
    for text in ["a.", "[", "[a.", "a=[", "a={a=", "[["] {
        drop(load_user_file(text.repeat(20_000 / text.len())));
    }
}
