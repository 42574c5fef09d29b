#![allow(clippy::disallowed_methods, reason = "tests write their own files")]

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::keys::{KEYS, Key, Kind, Rule, Value};
use super::*;

/// A temporary folder with the user's file, a checkout and a data directory.
struct World {
    folder: tempfile::TempDir,
}

impl World {
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

    fn load(&self) -> Loaded {
        Config::load(&self.user(), Some(&self.root()), &self.data())
    }

    fn with(user: impl AsRef<[u8]>, project: impl AsRef<[u8]>) -> Loaded {
        let world = Self::new();
        fs::write(world.user(), user).unwrap();
        fs::write(world.project(), project).unwrap();
        world.load()
    }

    fn trust(&self) {
        trust::record(&self.data(), &self.root(), &fs::read(self.project()).unwrap()).unwrap();
    }
}

/// Returns line, column, kind, problem and advice of every finding.
fn told(loaded: &Loaded) -> Vec<String> {
    let place = |finding: &Finding| {
        finding.position.map_or_else(String::new, |at| format!("{}:{}", at.line, at.column))
    };
    loaded
        .findings
        .iter()
        .map(|finding| {
            let Finding { mistake, what, advice, .. } = finding;
            format!("{} {mistake}: {what} -> {advice}", place(finding))
        })
        .collect()
}

fn user(text: impl AsRef<[u8]>) -> Loaded {
    World::with(text, "")
}

#[test]
fn without_files_everything_is_as_the_design_has_it() {
    let world = World::new();
    let loaded = world.load();
    assert_eq!(loaded, Loaded::default());
    assert_eq!(loaded.config, Config::default());
    assert_eq!(loaded.project, Standing::Absent);
    let hooks = loaded.config.hooks;
    assert_eq!(
        [
            hooks.session_start.deadline_ms,
            hooks.user_prompt_submit.deadline_ms,
            hooks.ghap_checkin.deadline_ms,
            hooks.outcome_capture.deadline_ms,
            hooks.edits.deadline_ms,
            hooks.subagent_start.deadline_ms,
            hooks.pre_compact.deadline_ms,
            hooks.stop.deadline_ms,
            hooks.session_end.deadline_ms,
        ],
        [500, 200, 50, 100, 50, 100, 100, 50, 500]
    );
    assert_eq!(Bounds::from(&loaded.config.retention), Bounds::default());
    assert!(!world.data().exists(), "nothing is made by looking");
}

/// Every key exists in the types, and every field of the types has a key.
#[test]
fn the_keys_are_the_types() {
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
        if key.kind() == Kind::Number {
            let Value::Number(number) = key.value(&config) else { panic!("{}", key.path()) };
            assert!((key.range.0..=key.range.1).contains(&number), "{}", key.path());
        }
    }
}

/// The keys of the original YAML configuration, as TOML.
#[test]
fn every_key_of_the_seed_is_taken_or_said_to_be_replaced() {
    let loaded = user(
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
    insta::assert_snapshot!(told(&loaded).join("\n"), @"
    4:1 replaced: `script` means nothing in [hooks.session_start] -> every hook runs `rutter hook`; leave it out
    5:1 replaced: `timeout_ms` means nothing in [hooks.session_start] -> `deadline_ms` says when a hook stops trying to speak
    21:1 replaced: `timeout` means nothing in [hooks.outcome_capture] -> `deadline_ms` says when a hook stops trying to speak
    22:1 replaced: `once` means nothing in [hooks.outcome_capture] -> a hook says a thing once anyway; leave it out
    ");
}

#[test]
fn the_depth_decides_what_is_not_set() {
    let budget = |text: &str| {
        let hook = user(text).config.hooks.user_prompt_submit;
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
fn a_name_that_is_none_is_told_the_nearest() {
    let loaded = user(
        "notifi = 'brief'\n[hooks.ghap_checkin]\nfrequencey = 3\n[hooks.PreToolCall]\nx = 1\n[hooks.SessionStart]\n\
         [session_start]\n[hooks.session_start]\nfrequency = 3\nnotify = 'off'\nzzz = 1\nlimits = 2\n[colour]\nred = 1\n",
    );
    insta::assert_snapshot!(told(&loaded).join("\n"), @"
    1:1 unknown-key: there is no `notifi` at the top -> did you mean `notify`?
    3:1 unknown-key: there is no `frequencey` in [hooks.ghap_checkin] -> did you mean `frequency`?
    4:8 unknown-key: there is no `PreToolCall` in [hooks] -> write [hooks.ghap_checkin]
    6:8 unknown-key: there is no `SessionStart` in [hooks] -> did you mean [hooks.session_start]?
    7:2 unknown-key: there is no `session_start` at the top -> did you mean [hooks.session_start]?
    9:1 unknown-key: there is no `frequency` in [hooks.session_start] -> `frequency` stands in [hooks.ghap_checkin]
    10:1 unknown-key: there is no `notify` in [hooks.session_start] -> `notify` stands at the top, before the first table
    11:1 unknown-key: there is no `zzz` in [hooks.session_start] -> `rutter config show --defaults` lists all of them
    12:1 unknown-key: there is no `limits` in [hooks.session_start] -> did you mean `limit` in [hooks.user_prompt_submit]?
    13:2 unknown-key: there is no `colour` at the top -> `rutter config show --defaults` lists all of them
    ");
    assert_eq!(loaded.config, Config::default());
}

#[test]
fn a_value_that_cannot_be_is_told_what_can() {
    let loaded = user(
        "notify = \"loud\"\nscope = 3\n[hooks.ghap_checkin]\nfrequency = 0\nenabled = \"yes\"\ndeadline_ms = -1\n\
         [hooks.stop]\ndeadline_ms = 60_000\nask = 1979-05-27\n[cohort]\ncontrol = 1.5\n\
         [hooks.outcome_capture]\nmatchers = [\"just check\", 3]\nenabled = false\n[[hooks.edits]]\nenabled = false\n",
    );
    insta::assert_snapshot!(told(&loaded).join("\n"), @r#"
    1:10 wrong-value: `notify` cannot be "loud" -> write "off" or "brief" or "card"
    2:1 wrong-value: `scope` is a table -> write [scope]
    4:13 wrong-value: `hooks.ghap_checkin.frequency` cannot be 0 -> write a whole number from 1 to 1000
    5:11 wrong-value: `hooks.ghap_checkin.enabled` cannot be a text -> write true or false
    6:15 wrong-value: `hooks.ghap_checkin.deadline_ms` cannot be -1 -> write a whole number from 1 to 1000
    8:15 wrong-value: `hooks.stop.deadline_ms` cannot be 60000 -> write a whole number from 1 to 1000
    9:7 wrong-value: `hooks.stop.ask` cannot be a date -> write true or false
    11:11 wrong-value: `cohort.control` cannot be 1.5 -> write a number from 0 to 1
    13:12 wrong-value: `hooks.outcome_capture.matchers` cannot be this list -> write a list of texts, none of them empty
    15:9 wrong-value: `hooks.edits` is a table -> write [hooks.edits]
    "#);
    let mut expected = Config::default();
    expected.hooks.outcome_capture.enabled = false;
    assert_eq!(loaded.config, expected, "what is right counts all the same");
}

#[test]
fn a_file_that_is_no_toml_counts_for_nothing() {
    for (text, at) in [
        (&b"[hooks.stop]\nask = true\nenabled = \n"[..], (3, 11)),
        (b"notify = 'brief'\nnotify = 'off'\n", (2, 1)),
        (b"hooks:\n  stop:\n", (1, 7)),
        (b"notify = 'brief'\n\xff\xfe", (2, 1)),
        (b"\0", (1, 2)),
        ("# ä\n\u{feff}notify = ä".as_bytes(), (2, 1)),
    ] {
        let loaded = user(text);
        assert_eq!(loaded.config, Config::default());
        let [finding] = &loaded.findings[..] else { panic!("{:?}", loaded.findings) };
        assert_eq!(finding.mistake, Mistake::Syntax, "{finding}");
        let position = finding.position.unwrap();
        assert_eq!((position.line, position.column), at, "{finding}");
    }
}

#[test]
fn what_editors_put_into_files_is_read_past() {
    let loaded = user("\u{feff}notify = \"card\"\r\n\r\n[hooks.stop]\r\nask = 3\r\n");
    assert_eq!(loaded.config.notify, Notify::Card);
    assert_eq!(
        told(&loaded),
        ["4:7 wrong-value: `hooks.stop.ask` cannot be 3 -> write true or false"]
    );
    // Columns count characters, without the byte order mark.
    let loaded = user("\u{feff}notify.ä = 1");
    assert_eq!(loaded.findings[0].position, Some(Position { line: 1, column: 8 }));
}

#[test]
fn the_project_goes_before_the_user_once_it_is_trusted() {
    let world = World::new();
    fs::write(world.user(), "notify = 'brief'\n[hooks.ghap_checkin]\nfrequency = 20\n").unwrap();
    fs::write(
        world.project(),
        "notify = 'card'\n[hooks.outcome_capture]\nmatchers = ['just check']\n[hooks.stop]\nask = true\n",
    )
    .unwrap();
    let untrusted = world.load();
    assert_eq!(untrusted.project, Standing::Untrusted);
    assert_eq!(untrusted.config.notify, Notify::Brief);
    assert_eq!(untrusted.findings.len(), 3);
    assert!(untrusted.findings.iter().all(|finding| finding.mistake == Mistake::NotTrusted));

    world.trust();
    let trusted = world.load();
    assert_eq!(trusted.project, Standing::Trusted);
    assert!(trusted.findings.is_empty(), "{:?}", trusted.findings);
    assert_eq!(trusted.config.notify, Notify::Card);
    assert_eq!(trusted.config.hooks.ghap_checkin.frequency, 20);
    assert!(trusted.config.hooks.stop.ask);
    assert_eq!(trusted.config.hooks.outcome_capture.matchers, ["just check"]);
    let origin = |path: &str| trusted.origin(KEYS.iter().find(|key| key.path() == path).unwrap());
    assert_eq!(origin("notify"), Origin::Project);
    assert_eq!(origin("hooks.ghap_checkin.frequency"), Origin::User);
    assert_eq!(origin("hooks.stop.enabled"), Origin::Default);

    // A changed byte ends the trust.
    let text = fs::read_to_string(world.project()).unwrap();
    fs::write(world.project(), format!("{text}\n")).unwrap();
    assert_eq!(world.load().project, Standing::Untrusted);
    assert_eq!(world.load().config, untrusted.config);
    fs::write(world.project(), text).unwrap();
    assert_eq!(world.load().project, Standing::Trusted);
    assert!(trust::revoke(&world.data(), &world.root()).unwrap());
    assert!(!trust::revoke(&world.data(), &world.root()).unwrap());
    assert_eq!(world.load().project, Standing::Untrusted);
}

#[test]
fn what_is_trusted_in_one_checkout_is_not_in_another() {
    let world = World::new();
    fs::write(world.project(), "notify = 'card'").unwrap();
    world.trust();
    let other = world.folder.path().canonicalize().unwrap().join("other");
    fs::create_dir(&other).unwrap();
    fs::copy(world.project(), other.join(PROJECT_FILE)).unwrap();
    let loaded = Config::load(&world.user(), Some(&other), &world.data());
    assert_eq!((loaded.project, loaded.config.notify), (Standing::Untrusted, Notify::Off));
    // Both can be trusted.
    trust::record(&world.data(), &other, b"notify = 'card'").unwrap();
    assert_eq!(trust::list(&world.data()).unwrap().len(), 2);
    assert!(trust::list(&world.data()).unwrap().iter().all(trust::Trusted::holds));
    fs::write(other.join(PROJECT_FILE), "").unwrap();
    assert!(!trust::list(&world.data()).unwrap()[1].holds());
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(world.data().join("trusted")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_file_that_is_not_trusted_can_do_less() {
    let loaded = World::with(
        "notify = 'card'\n[scope]\nexclude = ['/srv']\nrecall = 'everywhere'\n\
         [hooks.user_prompt_submit]\ncontext_depth = 'rich'\n",
        "notify = 'brief'\n[scope]\nexclude = ['vendor']\nrecall = 'project'\n\
         [hooks.user_prompt_submit]\ncontext_depth = 'light'\n[hooks.session_start]\nenabled = false\nvalues = 2\n\
         [hooks.ghap_checkin]\nfrequency = 40\n[privacy]\ncapture_patches = false\n",
    );
    assert!(loaded.findings.is_empty(), "{:?}", loaded.findings);
    let config = loaded.config;
    assert_eq!((config.notify, config.scope.recall), (Notify::Brief, Recall::Project));
    assert_eq!(config.scope.exclude.len(), 2);
    assert!(config.scope.exclude[1].ends_with("/ship/vendor"));
    assert_eq!(config.hooks.user_prompt_submit.token_budget, 300);
    assert!(!config.hooks.session_start.enabled && !config.privacy.capture_patches);
}

#[test]
fn what_is_kept_is_the_users_to_decide() {
    let world = World::new();
    fs::write(world.project(), "[retention]\noutcome_days = 1\n").unwrap();
    world.trust();
    let loaded = world.load();
    assert_eq!(loaded.config.retention.outcome_days, 180);
    assert_eq!(loaded.findings[0].mistake, Mistake::UserOnly);
    assert_eq!(check(&world.project())[0].mistake, Mistake::UserOnly);
}

#[test]
fn files_that_are_none_are_findings() {
    let world = World::new();
    fs::write(world.user(), "# long\n".repeat(20_000)).unwrap();
    fs::create_dir(world.project()).unwrap();
    let loaded = world.load();
    assert_eq!(loaded.config, Config::default());
    let whats: Vec<&str> = loaded.findings.iter().map(|finding| &*finding.what).collect();
    assert_eq!(whats, ["has more than 64 KiB, and is not read", "is no file"]);

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
        assert_eq!(world.load().findings[0].mistake, Mistake::Unreadable);
    }
    fs::remove_file(world.project()).unwrap();
    std::os::unix::fs::symlink(PROJECT_FILE, world.project()).unwrap();
    assert_eq!(world.load().findings[0].mistake, Mistake::Unreadable);
}

/// Root may read every file, so a missing permission is tested only for other users.
#[test]
fn a_file_that_may_not_be_read_is_a_finding() {
    let world = World::new();
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
fn a_file_full_of_mistakes_is_not_told_in_full() {
    let text: Vec<String> = (0..3_000).map(|at| format!("mistake{at} = 1")).collect();
    assert_eq!(user(text.join("\n")).findings.len(), 50);
}

#[test]
fn the_cohort_is_drawn_by_the_session_and_nothing_else() {
    let cohort = |control| Cohort { control };
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
fn values_are_written_as_they_are_read() {
    let word = "a \"b\" \\ \n\t \u{7f}\u{9b} ä".to_owned();
    let text = format!("scope.exclude = {}", Value::Words(vec![word.clone(), "c".to_owned()]));
    assert!(!text.contains(char::is_control), "{text:?}");
    assert_eq!(user(&text).config.scope.exclude, [word, "c".to_owned()], "{text}");
    let line = |key: &Key| format!("{} = {}", key.path(), key.value(&Config::default()));
    let lines: Vec<String> = KEYS.iter().map(line).collect();
    let loaded = user(lines.join("\n"));
    assert_eq!((loaded.config, loaded.findings), (Config::default(), vec![]));
}

/// Generates a file with valid values for some keys.
fn some_file() -> impl Strategy<Value = String> {
    let entry = (0..KEYS.len(), any::<u32>(), any::<bool>(), 0.0..=1.0_f64).prop_map(
        |(place, number, flag, share)| {
            let key = &KEYS[place];
            let (least, most) = key.range;
            let value = match key.kind() {
                Kind::Flag => Value::Flag(flag),
                Kind::Number => Value::Number(least + number % (most - least + 1)),
                Kind::Share => Value::Share(if flag { 0.0 } else { share }),
                Kind::Words => Value::Words(vec![format!("word{}", number % 4)]),
                Kind::Choice(names) => Value::Choice(names[number as usize % names.len()]),
            };
            (key.path(), value)
        },
    );
    proptest::collection::btree_map(0..KEYS.len(), entry, 0..20).prop_map(|entries| {
        let entries: std::collections::BTreeMap<String, Value> = entries.into_values().collect();
        let lines = entries.iter().map(|(path, value)| format!("{path} = {value}"));
        lines.collect::<Vec<String>>().join("\n")
    })
}

/// Returns an error if the first configuration allows something that the second does not.
fn is_no_wider(narrow: &Config, wide: &Config) -> Result<(), String> {
    for key in KEYS {
        let (after, before) = (key.value(narrow), key.value(wide));
        let fine = match (&after, &before) {
            (Value::Flag(after), Value::Flag(before)) => *before || !after,
            (Value::Number(after), Value::Number(before)) if key.rule == Rule::Higher => {
                after >= before
            }
            (Value::Number(after), Value::Number(before)) if key.rule == Rule::Lower => {
                after <= before
            }
            (Value::Share(share), Value::Share(_)) => *share == 0.0 || after == before,
            (Value::Words(after), Value::Words(before)) if key.rule == Rule::Add => {
                before.iter().all(|word| after.contains(word))
            }
            (Value::Choice(after), Value::Choice(before)) => match key.kind() {
                Kind::Choice(names) => {
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
    fn a_file_that_is_not_trusted_never_widens(user in some_file(), project in some_file()) {
        let world = World::new();
        fs::write(world.user(), &user).unwrap();
        let before = world.load();
        prop_assert!(before.findings.is_empty(), "{user}\n{:?}", before.findings);
        fs::write(world.project(), &project).unwrap();
        let after = world.load();
        if let Err(wider) = is_no_wider(&after.config, &before.config) {
            prop_assert!(false, "{wider}\n--- user\n{user}--- project\n{project}");
        }
        // Each rejected line is reported.
        for finding in &after.findings {
            prop_assert!(matches!(finding.mistake, Mistake::NotTrusted | Mistake::UserOnly));
        }
        let set = KEYS.iter().filter(|key| after.origin(key) == Origin::Project).count();
        prop_assert_eq!(set + after.findings.len(), project.lines().count());
    }

    #[test]
    fn anything_at_all_is_no_reason_to_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        drop(super::layer::Layer::parse(Path::new("x"), &bytes));
    }

    #[test]
    fn nor_is_anything_like_a_file(parts in proptest::collection::vec(prop_oneof![
        Just("[hooks"), Just("."), Just("]"), Just("\n"), Just("stop"), Just(" = "), Just("true"), Just("\""), Just("'''"),
        Just("["), Just("{"), Just("}"), Just(","), Just("1"), Just("0x"), Just("inf"), Just("-nan"), Just("notify"),
        Just("cohort.control"), Just("\r"), Just("ä"), Just("\u{feff}"), Just("\\u"), Just("1979-05-27"), Just("#"),
    ], 0..40)) {
        drop(super::layer::Layer::parse(Path::new("x"), parts.concat().as_bytes()));
    }
}

/// Nesting is bounded: a hook with a stack overflow would be visible to the user.
#[test]
fn depth_is_an_error_and_no_crash() {
    for text in ["a.", "[", "[a.", "a=[", "a={a=", "[["] {
        drop(user(text.repeat(20_000 / text.len())));
    }
}
