use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rutter_check::live::{ClientBinary, ModelScript, ModelTurn, RunRecord, Sandbox};
use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::live_support::client_from_env;
use crate::support::rutter_command;

/// A program that implements enough of MCP to offer one tool, and is silent as a hook.
const SERVER_SCRIPT: &str = r#"#!/bin/sh
[ "$1" = mcp ] || exit 0
while read -r message; do
  id=$(printf '%s\n' "$message" | sed -n 's/.*"id":\([^,}]*\).*/\1/p')
  case $message in
    *'"initialize"'*) answer='"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"rutter","version":"1"}}' ;;
    *'"tools/list"'*) answer='"result":{"tools":[{"name":"status","description":"How it is.","inputSchema":{"type":"object"},"_meta":{"anthropic/alwaysLoad":true}}]}' ;;
    *'"tools/call"'*) id=$(printf '%s\n' "$message" | sed -n 's/.*"id":\([0-9]*\)[,}].*/\1/p')
      answer='"result":{"content":[{"type":"text","text":"ANSWER-MARK"}]}' ;;
    *'"id":'*) answer='"error":{"code":-32601,"message":"no such method"}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$answer"
done
"#;

/// A user with that program, in a project outside of the sandbox's project.
struct LiveUser {
    client: ClientBinary,
    sandbox: Option<Sandbox>,
    home: PathBuf,
    project: PathBuf,
}

impl LiveUser {
    fn new(variable: &str) -> Option<Self> {
        let client = client_from_env(variable)?;
        let sandbox = Sandbox::new().unwrap();
        let (home, project) = (sandbox.home(), sandbox.project().with_file_name("work"));
        for folder in [&home.join("bin"), &project] {
            fs::create_dir_all(folder).unwrap();
        }
        let program = home.join("bin/rutter");
        fs::write(&program, SERVER_SCRIPT).unwrap();
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        Some(Self { client, sandbox: Some(sandbox), home, project })
    }

    fn path_variable(&self) -> String {
        format!("{}:/usr/bin:/bin", self.home.join("bin").display())
    }

    fn rutter(&self, args: &[&str]) {
        let mut rutter = rutter_command(args);
        rutter.env("HOME", &self.home).env("PATH", self.path_variable()).current_dir(&self.project);
        drop(CommandOutput::run(rutter.stdin(Stdio::null())).assert_success());
    }

    /// Runs `init` in a scope.
    fn init(&self, scope: &str) {
        let program = self.home.join("bin/rutter");
        match scope {
            "--project" => self.rutter(&["init", scope]),
            _ => self.rutter(&["init", scope, "--bin", program.to_str().unwrap()]),
        }
    }

    /// Returns the client's state file of this user.
    fn client_state(&self) -> Value {
        let text = fs::read(self.home.join(".claude.json")).unwrap_or_else(|_| b"{}".to_vec());
        serde_json::from_slice(&text).unwrap()
    }

    /// Accepts the trust dialog of the client for the project.
    fn trust_project(&self) {
        let mut state = self.client_state();
        state["projects"][self.project.to_str().unwrap()]["hasTrustDialogAccepted"] = json!(true);
        fs::write(self.home.join(".claude.json"), format!("{state:#}")).unwrap();
    }

    /// Runs a session in which the model calls a tool. Only the rules written by `init` allow it.
    fn session(&mut self, tool: &str, search: &str, more: &[&str]) -> RunRecord {
        let mut sandbox = self.sandbox.take().unwrap();
        sandbox.script(ModelScript::new([ModelTurn::call(tool, json!({}))]));
        sandbox.start_in(&self.project).env("PATH", search).args(more.iter().copied());
        let record = sandbox.run(&self.client).unwrap();
        self.sandbox = Some(record.next_session());
        record
    }

    fn call_tool(&mut self, tool: &str, more: &[&str]) -> RunRecord {
        self.session(tool, &self.path_variable(), more)
    }
}

/// Returns the tools of rutter that the model was offered.
fn offered_tools(record: &RunRecord) -> Vec<&str> {
    let tools = record.requests.iter().find_map(|request| request.body["tools"].as_array());
    let names = tools.unwrap().iter().filter_map(|tool| tool["name"].as_str());
    names.filter(|name| name.contains("rutter")).collect()
}

const TOOL: &str = "mcp__rutter__status";

fn assert_answers(record: &RunRecord, tool: &str, scope: &str) {
    assert_eq!(offered_tools(record), [tool], "{scope}: {}", record.stdout);
    assert!(record.reached_model("ANSWER-MARK").is_some(), "{scope}: {}", record.stdout);
    assert!(record.reached_model("requested permissions").is_none(), "{scope}");
}

/// Runs `init`, a session, `uninstall` and another session in every scope of settings.
fn assert_tool_answers(variable: &str) {
    for scope in ["--local", "--user", "--project"] {
        let Some(mut user) = LiveUser::new(variable) else { return };
        let own = json!({ "command": "/nonexistent/other" });
        let state = json!({ "numStartups": 7, "mcpServers": { "other": own } });
        fs::write(user.home.join(".claude.json"), format!("{state:#}")).unwrap();
        user.init(scope);
        // Rules of a directory count after it is trusted: in 2.1.325 the shared ones, in 2.1.197 all of them.
        user.trust_project();
        let record = user.call_tool(TOOL, &[]);
        assert_answers(&record, TOOL, scope);
        // The client has written its state file meanwhile.
        assert!(user.client_state()["firstStartTime"].is_string(), "{}", user.client_state());
        user.rutter(&["uninstall", scope]);
        let state = user.client_state();
        assert_eq!(state["mcpServers"], json!({ "other": own }), "{scope}");
        let project = &state["projects"][user.project.to_str().unwrap()];
        assert!(project["hasTrustDialogAccepted"] == true && project["mcpServers"].is_null());
        assert_eq!(state["numStartups"], 7, "{scope}");
        assert!(!user.project.join(".mcp.json").exists() && !user.project.join(".claude").exists());
        let record = user.call_tool(TOOL, &[]);
        assert_eq!(offered_tools(&record), [] as [&str; 0], "{scope}");
    }
}

#[test]
fn tool_call_needs_no_question() {
    assert_tool_answers("RUTTER_TEST_CLIENT");
}

#[test]
fn older_client_tool_call_unasked() {
    assert_tool_answers("RUTTER_TEST_CLIENT_OLD");
}

#[test]
fn local_server_needs_no_trust() {
    let Some(mut user) = LiveUser::new("RUTTER_TEST_CLIENT") else { return };
    user.init("--local");
    assert_answers(&user.call_tool(TOOL, &[]), TOOL, "--local");
    // Shared settings need trust, and the client reports that.
    user.rutter(&["uninstall"]);
    user.init("--project");
    let record = user.call_tool(TOOL, &[]);
    assert_eq!(offered_tools(&record), [TOOL]);
    assert!(record.reached_model("requested permissions").is_some(), "{}", record.stdout);
    assert!(record.stderr.contains("has not been trusted"), "{}", record.stderr);
}

#[test]
fn plugin_tools_need_user_rule() {
    const TOOL: &str = "mcp__plugin_rutter_rutter__status";
    for variable in ["RUTTER_TEST_CLIENT", "RUTTER_TEST_CLIENT_OLD"] {
        let Some(mut user) = LiveUser::new(variable) else { return };
        let folder = user.home.join("plugin").to_str().unwrap().to_owned();
        user.rutter(&["init", "--plugin", &folder]);
        let record = user.call_tool(TOOL, &["--plugin-dir", &folder]);
        assert_eq!(offered_tools(&record), [TOOL], "{}", record.stdout);
        assert!(record.reached_model("requested permissions").is_some(), "{}", record.stdout);
        // A rule for the whole server; `init --plugin` advises rules for its tools.
        fs::create_dir_all(user.home.join(".claude")).unwrap();
        let rule = json!({ "permissions": { "allow": ["mcp__plugin_rutter_rutter"] } });
        fs::write(user.home.join(".claude/settings.json"), rule.to_string()).unwrap();
        let record = user.call_tool(TOOL, &["--plugin-dir", &folder]);
        assert_answers(&record, TOOL, "--plugin");
        let record = user.session(TOOL, "/usr/bin:/bin", &["--plugin-dir", &folder]);
        assert_silent(&record, "plugin:rutter:rutter", "--plugin");
    }
}

/// Asserts that the client has connected to the server and reports nothing else about it.
fn assert_silent(record: &RunRecord, name: &str, scope: &str) {
    let start = record.lines.iter().find(|line| line["subtype"] == "init").unwrap();
    let server = start["mcp_servers"].as_array().unwrap().iter().find(|it| it["name"] == name);
    assert_eq!(server.unwrap()["status"], "connected", "{scope}: {start}");
    assert_eq!(offered_tools(record), [] as [&str; 0], "{scope}");
    assert!(record.reached_model("failed to connect").is_none(), "{scope}");
    let about = |line: &&str| line.contains(name) && line.contains("[ERROR]");
    assert_eq!(record.debug_log.lines().find(about), None, "{scope}");
}

#[test]
fn missing_rutter_is_silent() {
    for variable in ["RUTTER_TEST_CLIENT", "RUTTER_TEST_CLIENT_OLD"] {
        let Some(mut user) = LiveUser::new(variable) else { return };
        user.init("--project");
        user.trust_project();
        let record = user.session("Glob", "/usr/bin:/bin", &[]);
        assert_silent(&record, "rutter", variable);
    }
}

#[test]
fn plain_missing_program_is_reported() {
    // The reason why shared settings do not start `rutter` directly. Anyone who changes that should see this test fail
    // first.
    let Some(mut user) = LiveUser::new("RUTTER_TEST_CLIENT") else { return };
    let servers = json!({ "mcpServers": { "rutter": { "command": "rutter", "args": ["mcp"] } } });
    fs::write(user.project.join(".mcp.json"), servers.to_string()).unwrap();
    let record = user.session("Glob", "/usr/bin:/bin", &[]);
    assert!(record.reached_model("failed to connect").is_some(), "{}", record.stdout);
}

#[test]
fn client_starts_nearest_server() {
    let Some(mut user) = LiveUser::new("RUTTER_TEST_CLIENT") else { return };
    let source = |record: &RunRecord| {
        let start = record.lines.iter().find(|line| line["subtype"] == "init").unwrap();
        let servers = start["mcp_servers"].as_array().unwrap();
        assert_eq!(servers.len(), 1, "{start}");
        servers[0]["source"].as_str().unwrap().to_owned()
    };
    for (scope, expected) in [("--user", "user"), ("--project", "project"), ("--local", "local")] {
        user.init(scope);
        assert_eq!(source(&user.call_tool(TOOL, &[])), expected);
    }
}

#[test]
fn server_is_registered_for_repository() {
    for variable in ["RUTTER_TEST_CLIENT", "RUTTER_TEST_CLIENT_OLD"] {
        let Some(mut user) = LiveUser::new(variable) else { return };
        let top = user.project.clone();
        fs::create_dir(top.join(".git")).unwrap();
        user.project = top.join("deep/inside");
        fs::create_dir_all(&user.project).unwrap();
        user.init("--local");
        let projects = user.client_state()["projects"].clone();
        let names: Vec<&Path> = projects.as_object().unwrap().keys().map(Path::new).collect();
        assert_eq!(names, [top.as_path()]);
        let record = user.call_tool(TOOL, &[]);
        assert_eq!(offered_tools(&record), [TOOL], "{variable}: {}", record.stdout);
    }
}

#[test]
fn project_server_cannot_impersonate() {
    for variable in ["RUTTER_TEST_CLIENT", "RUTTER_TEST_CLIENT_OLD"] {
        let Some(mut user) = LiveUser::new(variable) else { return };
        user.rutter(&["init", "--user", "--bin", env!("CARGO_BIN_EXE_rutter")]);
        let ours = user.call_tool(TOOL, &[]);
        assert!(ours.reached_model("requested permissions").is_none(), "{}", ours.stdout);
        let evil = user.project.join("tools/rutter");
        fs::create_dir_all(evil.parent().unwrap()).unwrap();
        fs::copy(user.home.join("bin/rutter"), &evil).unwrap();
        let server = json!({ "command": evil, "args": ["mcp"] });
        let servers = json!({ "mcpServers": { "rutter": server } });
        fs::write(user.project.join(".mcp.json"), servers.to_string()).unwrap();
        let record = user.call_tool(TOOL, &[]);
        assert!(record.reached_model("ANSWER-MARK").is_none(), "{}", record.stdout);
        assert!(record.reached_model("but starts another program").is_some(), "{}", record.stdout);
    }
}
