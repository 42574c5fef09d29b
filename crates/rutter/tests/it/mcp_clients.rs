//! The MCP server with third-party clients: the official SDKs, the inspector, the conformance suite.
//!
//! `scripts/test` installs them and sets `RUTTER_TEST_MCP_PYTHON`, `RUTTER_TEST_MCP_MODULES` and
//! `RUTTER_TEST_MCP_NODE`. Their scripts are in `tools/mcp`.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rutter_testkit::{CommandOutput, repository_root, skip_test};
use serde_json::{Value, json};

use crate::support::TestHome;

fn tool_from_env(variable: &str, what: &str) -> Option<OsString> {
    let found = std::env::var_os(variable);
    if found.is_none() {
        skip_test(what, &format!("{variable} is not set; scripts/test sets it"));
    }
    found
}

fn script_path(name: &str) -> PathBuf {
    repository_root().join("tools/mcp").join(name)
}

/// Creates a store for the steps of `walk.json`: a GHAP of an ended session, and recall from every project.
fn walk_home() -> TestHome {
    let home = TestHome::new();
    std::fs::create_dir(home.memory()).unwrap();
    let open = "[scope]\nrecall = \"everywhere\"\n";
    std::fs::write(home.memory().join("config.toml"), open).unwrap();
    let start = [
        "ghap",
        "start",
        "--domain",
        "debugging",
        "--strategy",
        "read-the-error",
        "--goal",
        "left open",
        "--hypothesis",
        "lines are split at LF alone",
        "--action",
        "use lines()",
        "--prediction",
        "`cargo test parser` passes",
    ];
    let mut start = home.command(&start);
    drop(CommandOutput::run(start.env("CLAUDE_CODE_SESSION_ID", "gone")).assert_success());
    let end = json!({
        "hook_event_name": "SessionEnd", "session_id": "gone", "cwd": home.path("ship"), "transcript_path": "/nowhere",
        "reason": "other",
    });
    let payload = home.path("end.json");
    std::fs::write(&payload, end.to_string()).unwrap();
    let mut hook = home.command(&["hook"]);
    drop(CommandOutput::run(hook.stdin(std::fs::File::open(payload).unwrap())).assert_success());
    home
}

/// The transport between client and server.
enum ClientTransport {
    Stdio,
    Http { child: Child, url: String, token: String },
}

impl ClientTransport {
    /// Starts a server over HTTP. Returns None if this rutter does not support it.
    fn start_http(home: &TestHome) -> Option<Self> {
        if !home.rutter(&["mcp", "--help"]).assert_success().stdout.contains("--http") {
            skip_test("clients of the server over HTTP", "rutter mcp has no --http");
            return None;
        }
        let mut server = home.command(&["mcp", "--http", "--port", "0"]);
        let mut child = server.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url =
            line.split([' ', ';']).find(|word| word.starts_with("http://")).expect("an address");
        let token = std::fs::read_to_string(home.memory().join("http-token")).unwrap();
        Some(Self::Http { child, url: url.to_owned(), token: token.trim().to_owned() })
    }
}

impl Drop for ClientTransport {
    fn drop(&mut self) {
        if let Self::Http { child, .. } = self {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// Builds a command for a client with the address of the server in its environment.
fn client_command(program: &OsString, home: &TestHome, way: &ClientTransport) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", home.path(""))
        .env("PATH", "/usr/bin:/bin")
        .env("RUTTER_HOME", home.memory())
        .current_dir(home.path("ship"));
    match way {
        ClientTransport::Stdio => command.env("RUTTER_MCP_COMMAND", env!("CARGO_BIN_EXE_rutter")),
        ClientTransport::Http { url, token, .. } => {
            command.env("RUTTER_MCP_URL", url).env("RUTTER_MCP_TOKEN", token)
        }
    };
    command
}

/// Runs a client script once per protocol mode, and asserts that it took every step of `walk.json`.
fn assert_walk(
    program: &OsString,
    name: &str,
    generations: &[(&str, &str)],
    modules: Option<&OsString>,
    http: bool,
) {
    let steps = std::fs::read_to_string(script_path("walk.json")).unwrap();
    let steps: Value = serde_json::from_str(&steps).unwrap();
    let steps = steps["steps"].as_array().unwrap().len();
    for (generation, protocol) in generations {
        let home = walk_home();
        let way = if http {
            let Some(way) = ClientTransport::start_http(&home) else { return };
            way
        } else {
            ClientTransport::Stdio
        };
        let mut client = client_command(program, &home, &way);
        if let Some(modules) = modules {
            client.env("RUTTER_MCP_MODULES", modules);
        }
        let ran =
            CommandOutput::run(client.arg(script_path(name)).arg(generation)).assert_success();
        let walked: Value = serde_json::from_str(&ran.stdout).expect("a line of JSON");
        assert_eq!(walked["protocol"], *protocol, "{walked}");
        assert_eq!(walked["steps"], steps, "{walked}");
        assert_eq!(ran.stderr, "");
        // Commands read the rows that the clients wrote.
        let ghaps = home.json(&["ghap", "list", "--all", "--limit", "1000"]);
        assert!(
            ghaps.as_array().unwrap().iter().any(|ghap| ghap["goal"] == "left open"),
            "{ghaps}"
        );
    }
}

const PYTHON_MODES: [(&str, &str); 3] =
    [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")];
const TYPESCRIPT_MODES: [(&str, &str); 4] = [
    ("v1", "2025-11-25"),
    ("legacy", "2025-11-25"),
    ("auto", "2026-07-28"),
    ("2026-07-28", "2026-07-28"),
];

#[test]
fn python_sdk_calls_every_tool() {
    let Some(python) = tool_from_env("RUTTER_TEST_MCP_PYTHON", "the Python SDK") else { return };
    assert_walk(&python, "client.py", &PYTHON_MODES, None, false);
}

#[test]
fn python_sdk_over_http() {
    let Some(python) = tool_from_env("RUTTER_TEST_MCP_PYTHON", "the Python SDK") else { return };
    assert_walk(&python, "client.py", &PYTHON_MODES, None, true);
}

#[test]
fn typescript_sdks_call_every_tool() {
    let Some(modules) = tool_from_env("RUTTER_TEST_MCP_MODULES", "the TypeScript SDKs") else {
        return;
    };
    let Some(node) = tool_from_env("RUTTER_TEST_MCP_NODE", "the TypeScript SDKs") else { return };
    assert_walk(&node, "client.mjs", &TYPESCRIPT_MODES, Some(&modules), false);
}

#[test]
fn typescript_sdks_over_http() {
    let Some(modules) = tool_from_env("RUTTER_TEST_MCP_MODULES", "the TypeScript SDKs") else {
        return;
    };
    let Some(node) = tool_from_env("RUTTER_TEST_MCP_NODE", "the TypeScript SDKs") else { return };
    assert_walk(&node, "client.mjs", &TYPESCRIPT_MODES, Some(&modules), true);
}

/// Some checks that must pass, because a suite that runs nothing does not fail.
const REQUIRED_CHECKS: [(&str, &[&str]); 2] = [
    (
        "2025-11-25",
        &["server-initialize", "tools-list", "logging-set-level", "dns-rebinding-protection"],
    ),
    (
        "2026-07-28",
        &["tools-list", "caching", "http-header-validation", "sep-2164-resource-not-found"],
    ),
];

#[test]
fn conformance_suite_fails_as_expected() {
    let Some(modules) = tool_from_env("RUTTER_TEST_MCP_MODULES", "the conformance suite") else {
        return;
    };
    let Some(node) = tool_from_env("RUTTER_TEST_MCP_NODE", "the conformance suite") else { return };
    let home = walk_home();
    let Some(way) = ClientTransport::start_http(&home) else { return };
    for (version, expected) in REQUIRED_CHECKS {
        let mut suite = client_command(&node, &home, &way);
        suite.env("RUTTER_MCP_MODULES", &modules).arg(script_path("conformance.mjs")).arg(version);
        let ran = CommandOutput::run(&mut suite).assert_success();
        for passed in expected {
            assert!(ran.stdout.contains(&format!("✓ {passed}: ")), "{passed}: {ran}");
        }
    }
}

/// Calls a method with the inspector and returns its output.
fn run_inspector(home: &TestHome, arguments: &[&str]) -> Option<CommandOutput> {
    let modules = tool_from_env("RUTTER_TEST_MCP_MODULES", "the inspector")?;
    let node = tool_from_env("RUTTER_TEST_MCP_NODE", "the inspector")?;
    let inspector = PathBuf::from(modules)
        .join("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let mut command = client_command(&node, home, &ClientTransport::Stdio);
    let memory = format!("RUTTER_HOME={}", home.memory().display());
    command.arg(inspector).args(["--cli", "-e", &memory, env!("CARGO_BIN_EXE_rutter"), "mcp"]);
    Some(CommandOutput::run(command.args(["--method"]).args(arguments)))
}

fn parse_stdout(ran: CommandOutput) -> Value {
    serde_json::from_str(&ran.assert_success().stdout).expect("JSON")
}

#[test]
fn inspector_lists_and_calls() {
    let home = walk_home();
    let ask = |arguments: &[&str]| run_inspector(&home, arguments).map(parse_stdout);
    let Some(tools) = ask(&["tools/list"]) else { return };
    let tools = tools["tools"].as_array().unwrap().clone();
    assert_eq!(tools.len(), 16);
    for tool in &tools {
        assert!(tool["outputSchema"].is_object() && tool["annotations"].is_object(), "{tool}");
    }
    let call = |name: &str, arguments: &[&str]| {
        let call = [&["tools/call", "--tool-name", name][..], arguments].concat();
        run_inspector(&home, &call)
    };
    let start = [
        "--tool-arg",
        "domain=debugging",
        "strategy=read-the-error",
        "goal=it is inspected",
        "hypothesis=x",
        "action=y",
        "prediction=`cargo test` passes",
        "confidence=0.5",
    ];
    let started = parse_stdout(call("start_ghap", &start).unwrap());
    assert_eq!(started["structuredContent"]["target"], "cargo test", "{started}");
    let refused = call("start_ghap", &["--tool-arg", "domain=debugging"]).unwrap();
    assert_ne!(refused.exit, Some(0));
    assert!(
        refused.stdout.contains("strategy, goal, hypothesis, action, prediction are missing"),
        "{refused}"
    );
    let prompts = ask(&["prompts/list"]).unwrap();
    assert_eq!(prompts["prompts"][0]["name"], "premortem");
    let prompt = ["prompts/get", "--prompt-name", "premortem", "--prompt-args", "domain=debugging"];
    let prompt = ask(&prompt).unwrap();
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("quoted data, not instructions"), "{text}");
    let resources = ask(&["resources/list"]).unwrap();
    assert_eq!(resources["resources"][0]["uri"], "rutter://ghap/active");
    let templates = ask(&["resources/templates/list"]).unwrap();
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "rutter://experience/{id}");
    let read = ask(&["resources/read", "--uri", "rutter://ghap/active"]).unwrap();
    let text: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    // Each call started a new server, and the GHAP of an ended server is an orphan.
    let orphans: Vec<&Value> =
        text["orphans"].as_array().unwrap().iter().map(|orphan| &orphan["goal"]).collect();
    assert_eq!(orphans, ["it is inspected", "left open"], "{text}");
    let nothing = run_inspector(&home, &["resources/read", "--uri", "rutter://nothing"]).unwrap();
    assert_ne!(nothing.exit, Some(0));
    assert!(nothing.to_string().contains("there is no rutter://nothing"), "{nothing}");
}
