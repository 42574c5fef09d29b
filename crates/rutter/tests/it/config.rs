use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;

use rutter_memory::config::keys::{KEYS, SECTIONS};
use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::support::{TestHome, assert_output, rutter_command};

impl TestHome {
    fn write_user_config(&self, text: &str) -> &Self {
        std::fs::create_dir_all(self.memory()).unwrap();
        // The doctor reports a data directory that other users can read.
        std::fs::set_permissions(self.memory(), PermissionsExt::from_mode(0o700)).unwrap();
        std::fs::write(self.memory().join("config.toml"), text).unwrap();
        self
    }

    fn write_project_config(&self, text: &str) -> &Self {
        std::fs::write(self.project_config(), text).unwrap();
        self
    }

    fn project_config(&self) -> PathBuf {
        self.path("ship/.rutter.toml")
    }
}

#[test]
fn shown_defaults_parse_again() {
    let home = TestHome::new();
    let shown = home.rutter(&["config", "show", "--defaults"]).assert_success();
    insta::assert_snapshot!(shown, @r#"
    exit 0
    --- stdout
    notify = "off"
    identity = "remote"

    [hooks.session_start]
    enabled = true
    inject_light_context = true
    token_budget = 500
    preferences = 5
    values = 5
    lessons = 6
    recent_work = 3

    [hooks.user_prompt_submit]
    enabled = true
    context_depth = "light"
    token_budget = 300
    limit = 3
    include_code = true

    [hooks.ghap_checkin]
    enabled = true
    frequency = 10

    [hooks.outcome_capture]
    enabled = true
    matchers = []
    only = []
    auto_capture = true
    premortem = true
    offer_ghap = true

    [hooks.edits]
    enabled = true

    [hooks.action_hints]
    enabled = true

    [hooks.subagent_start]
    enabled = true

    [hooks.pre_compact]
    enabled = true

    [hooks.stop]
    enabled = true
    ask = false

    [hooks.session_end]
    enabled = true
    on_unresolved = "keep"

    [scope]
    exclude = []
    recall = "project"

    [retention]
    outcome_days = 180
    outcomes = 50000
    injection_days = 90
    episode_days = 30

    [privacy]
    capture_patches = true

    [gates.tests_first]
    mode = "off"
    require_red = false
    must_mention = false
    exclude = []
    places = []
    on_error = "open"

    [lint]
    off = []

    [cohort]
    control = 0.0
    "#);
    assert_eq!(home.rutter(&["config", "show"]).assert_success().stdout, shown.stdout);
    home.write_user_config(&shown.stdout);
    assert_output!(home, home.rutter(&["config", "check"]), @"
    exit 0
    --- stdout
    [HOME]/memory/config.toml: no mistakes
    ");
    assert_eq!(home.rutter(&["config", "show"]).assert_success().stdout, shown.stdout);
    assert_eq!(home.json(&["config", "show"]), home.json(&["config", "show", "--defaults"]));
}

#[test]
fn show_origin_of_values() {
    let home = TestHome::new();
    home.write_user_config("notify = \"brief\"\n[hooks.ghap_checkin]\nfrequency = 20\n");
    home.write_project_config("[hooks.ghap_checkin]\nfrequency = 30\n[hooks.stop]\nask = true\n");
    let ran = home.rutter(&["config", "show", "--origin"]);
    let lines: Vec<&str> = ran.stdout.lines().filter(|line| !line.ends_with("# default")).collect();
    assert_output!(home, lines.join("\n"), @r#"
    # user: [HOME]/memory/config.toml (in use)
    # project: [HOME]/ship/.rutter.toml (not trusted: it can only make rutter do less)

    notify = "brief"                  # user

    [hooks.session_start]

    [hooks.user_prompt_submit]

    [hooks.ghap_checkin]
    frequency = 30                    # project

    [hooks.outcome_capture]

    [hooks.edits]

    [hooks.action_hints]

    [hooks.subagent_start]

    [hooks.pre_compact]

    [hooks.stop]

    [hooks.session_end]

    [scope]

    [retention]

    [privacy]

    [gates.tests_first]

    [lint]

    [cohort]
    "#);
    assert_output!(home, ran.stderr, @"note: [HOME]/ship/.rutter.toml:4:7: `hooks.stop.ask = true` needs a trusted file; `rutter trust` shows the requested changes, and trusts the file");
    let json = home.json(&["config", "show", "--origin"]);
    assert_eq!(json["origins"]["hooks.ghap_checkin.frequency"], "project");
    assert_eq!(json["origins"]["notify"], "user");
    assert_eq!(json["files"]["project"]["standing"], "untrusted");
    assert_eq!(json["findings"][0]["mistake"], "not-trusted");
    assert_output!(home, home.rutter(&["config", "show"]).stderr, @"note: 1 finding; run `rutter config check` to see them");
}

#[test]
fn check_reports_mistakes_with_advice() {
    let home = TestHome::new();
    home.write_user_config(
        "notify = \"loud\"\n\n[hooks.session_start]\nscript = \"x.sh\"\ntoken_budgett = 100\n[hooks.stop]\ndeadline_ms = 50\n",
    );
    home.write_project_config("[hooks.stop]\nask = true\n\n[retention]\noutcomes = 1\n");
    assert_output!(home, home.rutter(&["config", "check"]), @r#"
    exit 1
    --- stdout
    [HOME]/memory/config.toml:1:10: `notify` cannot be "loud"
      -> write "off" or "brief" or "card"
    [HOME]/memory/config.toml:4:1: `script` has no meaning in [hooks.session_start]
      -> every hook runs `rutter hook`; remove this key
    [HOME]/memory/config.toml:5:1: there is no `token_budgett` in [hooks.session_start]
      -> did you mean `token_budget`?
    [HOME]/memory/config.toml:7:1: `deadline_ms` has no meaning in [hooks.stop]
      -> deadlines are fixed; remove this key
    [HOME]/ship/.rutter.toml:2:7: `hooks.stop.ask = true` needs a trusted file
      -> `rutter trust` shows the requested changes, and trusts the file
    [HOME]/ship/.rutter.toml:5:12: a project file cannot set `retention.outcomes`
      -> all projects share one memory; set it in your own file
    "#);
    assert_output!(home, home.rutter(&["config", "check", "../memory/config.toml"]), @r#"
    exit 1
    --- stdout
    ../memory/config.toml:1:10: `notify` cannot be "loud"
      -> write "off" or "brief" or "card"
    ../memory/config.toml:4:1: `script` has no meaning in [hooks.session_start]
      -> every hook runs `rutter hook`; remove this key
    ../memory/config.toml:5:1: there is no `token_budgett` in [hooks.session_start]
      -> did you mean `token_budget`?
    ../memory/config.toml:7:1: `deadline_ms` has no meaning in [hooks.stop]
      -> deadlines are fixed; remove this key
    "#);
    assert_output!(home, home.rutter(&["config", "check", "nowhere.toml"]), @"
    exit 1
    --- stdout
    nowhere.toml: there is no such file
      -> `rutter config path` prints the paths of the configuration files
    ");
    let ran = home.rutter(&["config", "check", "--json"]);
    assert_eq!(ran.exit, Some(1));
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["findings"][0]["position"], json!({ "line": 1, "column": 10 }));
    // A setting that needs trust is a note; every other mistake is a warning.
    assert_eq!(
        home.doctor_codes(),
        [
            "config-wrong",
            "config-wrong",
            "config-wrong",
            "config-wrong",
            "config-wrong",
            "config-untrusted"
        ]
    );
    home.write_user_config("notify = \n").write_project_config("");
    assert_output!(home, home.rutter(&["config", "check"]), @"
    exit 1
    --- stdout
    [HOME]/memory/config.toml:1:10: this is not TOML: string values must be quoted, expected literal string
      -> fix it; until then the whole file is ignored
    ");
}

#[test]
fn missing_config_is_valid() {
    let home = TestHome::new();
    assert_output!(home, home.rutter(&["config", "check"]), @"
    exit 0
    --- stdout
    no configuration file exists, so the defaults apply; `rutter config path` prints where to create one
    ");
    assert_output!(home, home.rutter(&["config", "path"]), @"
    exit 0
    --- stdout
    user     [HOME]/memory/config.toml (not there)
    project  [HOME]/ship/.rutter.toml (not there)
    ");
    assert!(!home.memory().exists(), "nothing is made by looking");
}

/// Without RUTTER_HOME, configuration and data are in different directories.
#[test]
fn user_config_follows_xdg() {
    let home = TestHome::new();
    let user = |variables: &[(&str, &str)]| {
        let mut command = rutter_command(&["config", "path", "--json"]);
        command.current_dir(home.path("ship")).stdin(Stdio::null()).envs(variables.iter().copied());
        let ran = CommandOutput::run(&mut command).assert_success();
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["user"]["path"].clone()
    };
    assert_eq!(user(&[("HOME", "/h")]), "/h/.config/rutter/config.toml");
    assert_eq!(user(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")]), "/c/rutter/config.toml");
    assert_eq!(user(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "c")]), "/h/.config/rutter/config.toml");
    assert_eq!(
        user(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("RUTTER_HOME", "/r")]),
        "/r/config.toml"
    );
}

#[test]
fn trust_ends_when_file_changes() {
    let home = TestHome::new();
    assert_output!(home, home.rutter(&["trust"]), @"
    exit 1
    --- stderr
    error: [HOME]/ship/.rutter.toml does not exist, so there is nothing to trust
    ");
    assert_output!(home, home.rutter(&["trust", "--list"]), @"
    exit 0
    --- stderr
    note: no file is trusted
    ");
    home.write_project_config(
        "[hooks.stop]\nask = true\n[hooks.edits]\nenabled = false\n[hooks.outcome_capture]\nmatchers = [\"just check\"]\n",
    );
    assert_output!(home, home.rutter(&["trust"]), @r#"
    exit 1
    --- stderr
    [HOME]/ship/.rutter.toml wants:
      hooks.outcome_capture.matchers = ["just check"]  (now [])
      hooks.stop.ask = true  (now false)
    error: not on a terminal, so rutter cannot ask for confirmation; check the changes above, and add --yes
    "#);
    assert!(home.rutter(&["config", "show"]).stdout.contains("ask = false"));
    assert_output!(home, home.rutter(&["trust", "--yes"]), @r#"
    exit 0
    --- stdout
    [HOME]/ship/.rutter.toml is trusted until it changes
    `rutter trust --revoke` revokes the trust.
    --- stderr
    [HOME]/ship/.rutter.toml wants:
      hooks.outcome_capture.matchers = ["just check"]  (now [])
      hooks.stop.ask = true  (now false)
    "#);
    assert!(home.rutter(&["config", "show"]).stdout.contains("ask = true"));
    assert_output!(home, home.rutter(&["trust", "--yes"]), @"
    exit 0
    --- stderr
    note: [HOME]/ship/.rutter.toml is already trusted; nothing to do
    ");
    assert_output!(home, home.rutter(&["trust", "--list"]), @"
    exit 0
    --- stdout
    [HOME]/ship
    ");

    home.write_project_config("[hooks.stop]\nask = true\n# and more\n");
    assert!(home.rutter(&["config", "show"]).stdout.contains("ask = false"));
    assert_output!(home, home.rutter(&["trust", "--list"]), @"
    exit 0
    --- stdout
    [HOME]/ship (changed or gone, so not trusted)
    ");
    assert_eq!(home.json(&["trust", "--yes"])["changes"][0]["key"], "hooks.stop.ask");
    assert_output!(home, home.rutter(&["trust", "--revoke"]), @"
    exit 0
    --- stdout
    [HOME]/ship/.rutter.toml is no longer trusted
    ");
    assert_output!(home, home.rutter(&["trust", "--revoke"]), @"
    exit 0
    --- stderr
    note: [HOME]/ship/.rutter.toml was not trusted; nothing to do
    ");
    assert!(home.rutter(&["config", "show"]).stdout.contains("ask = false"));

    home.write_project_config("ask = \n");
    assert_output!(home, home.rutter(&["trust", "--yes"]), @"
    exit 1
    --- stderr
    error: [HOME]/ship/.rutter.toml:1:7: this is not TOML: string values must be quoted, expected literal string; fix it; until then the whole file is ignored
    ");
    std::fs::remove_file(home.project_config()).unwrap();
    std::fs::create_dir(home.project_config()).unwrap();
    assert_output!(home, home.rutter(&["trust", "--yes"]), @"
    exit 1
    --- stderr
    error: [HOME]/ship/.rutter.toml: is not a file; replace it with a file, or remove it
    ");
    assert_eq!(home.doctor_codes(), ["config-void"]);
}

/// The error names the data directory that cannot be written.
#[test]
fn trust_needs_writable_data_dir() {
    let home = TestHome::new();
    std::fs::write(home.memory(), "no folder").unwrap();
    home.write_project_config("notify = \"card\"");
    assert_output!(home, home.rutter(&["trust", "--yes"]), @r#"
    exit 1
    --- stderr
    [HOME]/ship/.rutter.toml wants:
      notify = "card"  (now "off")
    error: could not write [HOME]/memory: it exists and is not a folder; nothing was changed; fix that and try again
    "#);
}

#[test]
fn retention_follows_user_config() {
    let home = TestHome::new();
    home.ok(&["maintain"]);
    for _ in 0..3 {
        let payload = json!({
            "session_id": "one", "cwd": home.path("ship"), "hook_event_name": "PostToolUse", "tool_name": "Bash",
            "tool_input": { "command": "go vet ./..." },
            "tool_response": { "stdout": "", "stderr": "", "interrupted": false },
        });
        let file = home.path("payload");
        std::fs::write(&file, payload.to_string()).unwrap();
        let stdin = std::fs::File::open(file).unwrap();
        drop(CommandOutput::run(home.command(&["hook"]).stdin(stdin)).assert_success());
    }
    assert_eq!(home.json(&["maintain"])["retired"], 0);
    // A project cannot change the retention.
    home.write_project_config("[retention]\noutcomes = 1\n");
    home.ok(&["trust", "--yes"]);
    assert_eq!(home.json(&["maintain"])["retired"], 0);
    home.write_user_config("[retention]\noutcomes = 1\n");
    assert_eq!(home.json(&["maintain"])["retired"], 2);
}

/// The JSON schema for editors and the loader accept the same value for every key.
#[test]
fn schema_and_loader_agree() {
    let schema = rutter_memory::config::schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let literals = [
        "true",
        "-1",
        "0",
        "1",
        "3",
        "50",
        "51",
        "1000",
        "1001",
        "2500",
        "2501",
        "36500",
        "36501",
        "10000000",
        "10000001",
        "4294967296",
        "0.5",
        "1.5",
        "-0.5",
        "\"\"",
        "\"light\"",
        "\"rich\"",
        "\"card\"",
        "\"everywhere\"",
        "\"abandon\"",
        "[]",
        "[\"a\"]",
        "[\" \"]",
        "[\"a\", 1]",
        "[[]]",
        "{}",
        "{ x = 1 }",
    ];
    let mut paths: Vec<String> =
        KEYS.iter().map(rutter_memory::config::keys::ConfigKey::path).collect();
    paths.extend(SECTIONS.iter().map(|(path, _)| (*path).to_owned()));
    paths.extend(
        ["hooks", "x", "hooks.x", "hooks.stop.x", "hooks.stop.enabled.x"].map(str::to_owned),
    );
    let (mut right, mut wrong) = (0, 0);
    for path in &paths {
        for literal in literals {
            std::fs::write(&file, format!("{path} = {literal}\n")).unwrap();
            let json = literal.replace("{ x = 1 }", "{\"x\":1}");
            let json: Value = serde_json::from_str(&json).unwrap();
            let document = path.rsplit('.').fold(json, |inner, name| json!({ name: inner }));
            let findings = rutter_memory::config::check_file(&file);
            assert_eq!(
                validator.is_valid(&document),
                findings.is_empty(),
                "{path} = {literal}: {findings:?}"
            );
            *(if findings.is_empty() { &mut right } else { &mut wrong }) += 1;
        }
    }
    assert!(right > 100 && wrong > 1_000, "{right} {wrong}");
    let committed = rutter_testkit::repository_root().join("schemas/config.schema.json");
    let committed: Value =
        serde_json::from_str(&std::fs::read_to_string(committed).unwrap()).unwrap();
    assert_eq!(committed, schema);
}

#[test]
fn hooks_yaml_keys_are_mapped() {
    let home = TestHome::new();
    std::fs::create_dir_all(home.path("ship/.claude/hooks")).unwrap();
    let yaml = "hooks:\n  session_start:\n    enabled: true\n    script: .claude/hooks/session_start.sh\n    \
                timeout_ms: 5000\n  user_prompt_submit:\n    context_depth: rich  # light | rich\n    colour: blue\n";
    std::fs::write(home.path("ship/.claude/hooks/config.yaml"), yaml).unwrap();
    assert_output!(home, home.rutter(&["config", "check"]), @r#"
    exit 0
    --- stdout
    no configuration file exists, so the defaults apply; `rutter config path` prints where to create one

    [HOME]/ship/.claude/hooks/config.yaml: neither Claude Code nor rutter uses this file. It has 5 keys:
      hooks.session_start.enabled             hooks.session_start.enabled = true (the default)
      hooks.session_start.script              has no effect: every hook runs `rutter hook`; `rutter init` registers it
      hooks.session_start.timeout_ms          has no effect: deadlines are fixed
      hooks.user_prompt_submit.context_depth  hooks.user_prompt_submit.context_depth = "rich"
      hooks.user_prompt_submit.colour         has no effect: there is no such key
    The same settings in rutter's own configuration (`rutter config path` prints its path):

    [hooks.user_prompt_submit]
    context_depth = "rich"
    "#);
    let json = home.json(&["config", "check"]);
    assert_eq!(json["hooks_yaml"]["keys"].as_array().unwrap().len(), 5, "{json}");
    assert_eq!(json["hooks_yaml"]["keys"][0]["key"]["key"], "hooks.session_start.enabled");
    let named = home.rutter(&["config", "check", ".claude/hooks/config.yaml"]).assert_success();
    assert!(named.stdout.starts_with(".claude/hooks/config.yaml: neither Claude Code nor rutter"));
    std::fs::write(home.path("ship/.claude/hooks/config.yaml"), "hooks:\n\tx: y\n").unwrap();
    let ran = home.rutter(&["config", "check"]);
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert!(ran.stderr.contains("line 2 cannot be read: it is indented by a tab"), "{ran}");
}

#[test]
fn pipe_as_hooks_yaml_is_refused() {
    let home = TestHome::new();
    std::fs::create_dir_all(home.path("ship/.claude/hooks")).unwrap();
    let pipe = home.path("ship/.claude/hooks/config.yaml");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let ran = home.rutter(&["config", "check", ".claude/hooks/config.yaml"]);
    assert!(ran.exit == Some(1) && ran.stderr.contains("it is not a file"), "{ran}");
}
