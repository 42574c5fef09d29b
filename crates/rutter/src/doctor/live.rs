//! `rutter doctor --live`: a test of the whole chain of settings, client, hook, memory and model request.
//!
//! Each part can pass its own checks while hooks still fail between two parts. So this check starts the installed
//! client offline in a sandbox, with our entries from the user's settings. A scripted model makes a test fail, fixes
//! it, and makes it fail again in a second session. The check examines the requests that the model receives.

use std::path::Path;

use rutter_check::live::{
    ClientBinary, LiveError, ModelRequest, ModelScript, ModelTurn, RunRecord, Sandbox,
};
use rutter_check::settings::{DISABLE_HOOKS_KEY, LayerState, SettingsLayer, SettingsSource};
use rutter_contract::EventName;
use rutter_contract::javascript::JsonKind;
use rutter_hooks::event_counts;
use rutter_memory::store::DataDir;
use rutter_memory::store::GhapFilter;
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use rutter_memory::{Store, Time};
use serde::Serialize;
use serde_json::{Value, json};

use super::client::InstalledClient;
use super::codes;
use super::finding::DoctorFinding;
use super::hook_run::EntryRunner;
use super::layers::our_entries;
use super::rules;
use super::servers::ServerRegistrations;
use crate::environment::{self, Environment};
use crate::install::{InstallScope, ProgramReference, WantedContent, hook_groups, install, server};
use crate::process::ProcessGroup;
use crate::scratch::ScratchFolder;

/// The result of the live check.
#[derive(Debug, Serialize)]
pub(crate) struct LiveCheck {
    /// Expected observations, in order.
    pub(crate) steps: Vec<LiveStep>,
}

/// An expected observation.
#[derive(Debug, Serialize)]
pub(crate) struct LiveStep {
    /// Description of the expected behaviour.
    pub(crate) what: String,
    /// True if it was observed.
    pub(crate) seen: bool,
}

/// The part of a scope's settings that is about rutter.
struct SettingsCopy {
    scope: InstallScope,
    settings: Value,
}

/// The parts of the user's setup that the check uses.
struct SetupCopy {
    settings: Vec<SettingsCopy>,
    /// The server's scope and entry.
    server: Option<(InstallScope, Value)>,
    /// True if tools are checked. False if the server cannot run here: it belongs to a plugin, runs already, or comes
    /// from an untrusted checkout.
    tools: bool,
}

impl LiveCheck {
    /// Starts the installed client with our registered entries, or with those of `rutter init` if none are registered.
    pub(crate) fn run(
        client: &InstalledClient,
        (layers, servers): (&[SettingsLayer], &ServerRegistrations),
        bench: &EntryRunner<'_>,
        env: &Environment,
        findings: &mut Vec<DoctorFinding>,
    ) -> Option<Self> {
        let Some(path) = &client.path else {
            let what = "`claude` is not in PATH";
            findings.push(DoctorFinding::new(&codes::LIVE_NO_CLIENT, what));
            return None;
        };
        let ready = match (client.version, bench.scratch) {
            (None, _) => Err("the `claude` in PATH does not print its version".to_owned()),
            (_, Err(failure)) => Err(failure.to_string()),
            (Some(version), Ok(scratch)) => {
                Ok((ClientBinary::with_version(path, version), scratch))
            }
        };
        let proof = ready.and_then(|(client, scratch)| {
            let proof =
                run_live_check(&client, &copy_setup(layers, servers, bench, env), scratch, env);
            proof.map_err(|error| error.to_string())
        });
        let proof = match proof {
            Ok(proof) => proof,
            Err(why) => {
                findings.push(DoctorFinding::new(&codes::LIVE_NO_CLIENT, why));
                return None;
            }
        };
        for step in proof.steps.iter().filter(|step| !step.seen) {
            let what = format!("did not happen: {}", step.what);
            findings.push(DoctorFinding::new(&codes::LIVE_UNSEEN, what));
        }
        Some(proof)
    }
}

/// Copies only our hooks and tool rules from the settings: no foreign hooks and no tokens. Entries from an untrusted
/// checkout are left out, because the sandboxed client would run them without asking.
fn copy_setup(
    layers: &[SettingsLayer],
    servers: &ServerRegistrations,
    bench: &EntryRunner<'_>,
    env: &Environment,
) -> SetupCopy {
    let mut copies: Vec<SettingsCopy> = Vec::new();
    for layer in layers.iter().filter(|layer| layer.state == LayerState::Read) {
        let scope = match layer.whose {
            SettingsSource::Local | SettingsSource::Checkout => InstallScope::Local,
            SettingsSource::Project => InstallScope::Project,
            SettingsSource::User => InstallScope::User,
            SettingsSource::Plugin
            | SettingsSource::Managed
            | SettingsSource::Skill
            | SettingsSource::Agent
            | SettingsSource::Command => continue,
        };
        // The local settings of the folder and of the main checkout are merged here.
        let known = copies.iter().position(|copy| copy.scope == scope);
        let copy = known.unwrap_or_else(|| {
            copies.push(SettingsCopy { scope, settings: json!({ "hooks": {} }) });
            copies.len() - 1
        });
        let settings = &mut copies[copy].settings;
        let entries = our_entries(std::slice::from_ref(layer));
        for entry in entries.filter(|entry| !bench.is_untrusted_entry(entry)) {
            let mut group = json!({ "hooks": [entry.handler] });
            if let Some(matcher) = &entry.matcher {
                group["matcher"] = json!(matcher);
            }
            match &mut settings["hooks"][entry.event.as_str()] {
                Value::Array(groups) => groups.push(group),
                none => *none = json!([group]),
            }
        }
        if let Some(rules) = rules::rules_about_rutter(layer) {
            let there = &mut settings["permissions"];
            for (list, rules) in rules.as_object().into_iter().flatten() {
                match &mut there[list] {
                    Value::Array(there) => {
                        there.extend(rules.as_array().into_iter().flatten().cloned());
                    }
                    none => *none = rules.clone(),
                }
            }
        }
        // Stronger layers come first.
        if let Some((_, node)) = layer.setting(DISABLE_HOOKS_KEY)
            && let JsonKind::Bool(switch) = node.kind
            && settings.get(DISABLE_HOOKS_KEY).is_none()
        {
            settings[DISABLE_HOOKS_KEY] = json!(switch);
        }
    }
    let registered = copies
        .iter()
        .any(|copy| copy.settings["hooks"].as_object().is_some_and(|hooks| !hooks.is_empty()));
    if !registered && let Some(program) = env.program.as_ref().and_then(|path| path.to_str()) {
        let start = ProgramReference::Path(program.to_owned());
        let settings =
            install("", &[WantedContent::Hooks(hook_groups(&start)), WantedContent::Rule(true)])
                .ok()
                .and_then(|made| serde_json::from_str(&made.text).ok());
        copies.retain(|copy| copy.scope != InstallScope::Local);
        copies
            .extend(settings.map(|settings| SettingsCopy { scope: InstallScope::Local, settings }));
        let server = Some((InstallScope::Local, server::build_server_entry(&start)));
        return SetupCopy { settings: copies, server, tools: true };
    }
    let server = servers.active().find_map(|server| {
        let scope = match server.registered.whose {
            SettingsSource::Local => InstallScope::Local,
            SettingsSource::Project => InstallScope::Project,
            SettingsSource::User => InstallScope::User,
            SettingsSource::Checkout
            | SettingsSource::Plugin
            | SettingsSource::Managed
            | SettingsSource::Skill
            | SettingsSource::Agent
            | SettingsSource::Command => return None,
        };
        server.launch_command().filter(|start| !bench.is_untrusted_server(server, start))?;
        let mut entry = server.registered.entry.clone();
        // Its variables could point to the user's data directory.
        entry.as_object_mut()?.shift_remove("env");
        Some((scope, entry))
    });
    let tools = server.is_some() || servers.active().next().is_none();
    SetupCopy { settings: copies, server, tools }
}

/// The events of the two sessions. A subagent and a compaction would take too long here.
const EXPECTED_EVENTS: [EventName; 7] = [
    EventName::SessionStart,
    EventName::UserPromptSubmit,
    EventName::PreToolUse,
    EventName::PostToolUse,
    EventName::PostToolUseFailure,
    EventName::Stop,
    EventName::SessionEnd,
];

const WRONG_SOURCE: &str = "def total(items):\n    return sum(items) * 0.9\n";
const RIGHT_SOURCE: &str = "def total(items):\n    return sum(items)\n";

/// Substitute for a test runner, which the machine may lack. It prints pytest output.
const FAKE_PYTEST: &str = r"#!/bin/sh
if grep -q '0\.9' cart.py; then
cat <<'OUT'
============================= test session starts ==============================
collected 1 item

test_cart.py F                                                           [100%]

=================================== FAILURES ===================================
__________________________________ test_total __________________________________

    def test_total():
>       assert total([50, 50]) == 100
E       assert 90.0 == 100

test_cart.py:5: AssertionError
=========================== short test summary info ============================
FAILED test_cart.py::test_total - assert 90.0 == 100
============================== 1 failed in 0.01s ===============================
OUT
exit 1
fi
cat <<'OUT'
============================= test session starts ==============================
collected 1 item

test_cart.py .                                                           [100%]

============================== 1 passed in 0.01s ===============================
OUT
";

/// Runs two client sessions with these settings.
fn run_live_check(
    client: &ClientBinary,
    copies: &SetupCopy,
    scratch: &ScratchFolder,
    env: &Environment,
) -> Result<LiveCheck, LiveError> {
    let mut sandbox = Sandbox::new_in(scratch.path())?;
    let now = env.now;
    let memory = sandbox.home().join("memory");
    let failed = |source| LiveError::File { path: memory.clone(), source };
    // Hooks would create the store too late: only the next session could use it.
    drop(Store::open(&memory, now).map_err(|error| failed(std::io::Error::other(error)))?);
    sandbox.file("cart.py", WRONG_SOURCE).program("bin/pytest", FAKE_PYTEST);
    register_server(&mut sandbox, copies.server.as_ref());
    let layers = &copies.settings;
    for layer in layers.iter().filter(|layer| layer.scope != InstallScope::Project) {
        let home = sandbox.home().join(".claude");
        if let Some(path) = layer.scope.settings_file(&sandbox.project(), Some(&home)) {
            sandbox.file(path, layer.settings.to_string());
        }
    }
    // The sandbox itself writes the project's settings, anew for each session.
    let shared = layers.iter().find(|layer| layer.scope == InstallScope::Project);
    let session = |mut sandbox: Sandbox, turns| {
        for (key, value) in shared.iter().filter_map(|layer| layer.settings.as_object()).flatten() {
            sandbox.setting(key, value.clone());
        }
        run_session(sandbox, client, turns, &memory, env)
    };
    let cart = sandbox.project().join("cart.py");
    let first = [
        vec![test_run_turn()],
        edit_turns(&cart, WRONG_SOURCE, RIGHT_SOURCE),
        vec![test_run_turn()],
    ]
    .concat();
    // The prediction comes last, because it changes the output of hooks.
    let last =
        if copies.tools { vec![test_run_turn(), prediction_turn()] } else { vec![test_run_turn()] };
    let second = [edit_turns(&cart, RIGHT_SOURCE, WRONG_SOURCE), last].concat();
    let first = session(sandbox, first)?;
    let second = session(first.next_session(), second)?;
    // Wait for maintenance that the last hook has started, before the folder is removed.
    while let Ok(None) = maintain(&memory, &MaintenanceLimits::default(), now) {
        std::thread::yield_now();
    }
    let mut steps = hook_steps(&first, &second, &memory, now);
    if copies.tools {
        steps.extend(tool_steps(&second, &memory, now));
    }
    Ok(LiveCheck { steps })
}

/// Registers the server and marks the project as trusted: shared permission rules count only in a trusted project.
fn register_server(sandbox: &mut Sandbox, server: Option<&(InstallScope, Value)>) {
    let file = sandbox.home().join(".claude.json");
    let mut state = json!({ "projects": {} });
    let local = InstallScope::Local.servers_file(&sandbox.project(), Some(&file));
    for folder in [local.as_ref().map(|(_, keys)| keys[1].as_str()), sandbox.project().to_str()] {
        state["projects"][folder.unwrap_or_default()]["hasTrustDialogAccepted"] = json!(true);
    }
    if let Some((scope, entry)) = server
        && let Some((path, keys)) = scope.servers_file(&sandbox.project(), Some(&file))
    {
        let mut servers = json!({ server::SERVER_NAME: entry });
        if path == file {
            let mut there = &mut state;
            for key in keys {
                there = &mut there[key];
            }
            *there = servers;
        } else {
            for key in keys.iter().rev() {
                servers = json!({ key: servers });
            }
            sandbox.file(path, servers.to_string());
        }
    }
    sandbox.file(file, state.to_string());
}

fn run_session(
    mut sandbox: Sandbox,
    client: &ClientBinary,
    turns: Vec<ModelTurn>,
    memory: &Path,
    env: &Environment,
) -> Result<RunRecord, LiveError> {
    let own = sandbox.project().join("bin");
    let search = std::iter::once(&own).chain(&env.search);
    let search = std::env::join_paths(search).unwrap_or_default();
    let failed = |source| LiveError::Client { path: client.path().to_owned(), source };
    let group = ProcessGroup::create().map_err(failed)?;
    sandbox.group(group.id());
    sandbox.script(ModelScript::new(turns)).prompt("The total of the cart is wrong.");
    sandbox.args(["--allowedTools", "Bash,Read,Edit"]);
    sandbox.env("PATH", search.to_string_lossy()).env("RUTTER_HOME", memory.to_string_lossy());
    // The client passes its environment on to the hooks. Long deadlines, so that a busy machine does not fail the check.
    sandbox.env(environment::MIN_DEADLINE_VARIABLE, environment::MAX_MIN_DEADLINE_MS.to_string());
    sandbox.run(client)
}

fn test_run_turn() -> ModelTurn {
    ModelTurn::call("Bash", json!({ "command": "pytest", "description": "Run the tests" }))
}

/// A tool of our server that is always available.
const PREDICTION_TOOL: &str = "start_ghap";

fn prediction_turn() -> ModelTurn {
    ModelTurn::call(
        format!("{}__{PREDICTION_TOOL}", server::SERVER_RULE),
        json!({
            "domain": "debugging", "strategy": "read-the-error", "goal": PREDICTION_GOAL,
            "hypothesis": "the factor is wrong", "action": "take it out", "prediction": "`pytest` passes",
        }),
    )
}

/// Goal that identifies the prediction in the store.
const PREDICTION_GOAL: &str = "the total of the cart is right";

/// Returns the turns that change a file. The client requires that a file is read first.
fn edit_turns(file: &Path, old: &str, new: &str) -> Vec<ModelTurn> {
    vec![
        ModelTurn::call("Read", json!({ "file_path": file })),
        ModelTurn::call("Edit", json!({ "file_path": file, "old_string": old, "new_string": new })),
    ]
}

fn reached_model(record: &RunRecord, text: &str) -> bool {
    record.reached_model(text).is_some()
}

fn hook_steps(first: &RunRecord, second: &RunRecord, memory: &Path, now: Time) -> Vec<LiveStep> {
    let mut steps = vec![
        LiveStep {
            what: "the client ran a tool that the scripted model called".to_owned(),
            seen: reached_model(first, "assert 90.0 == 100"),
        },
        LiveStep {
            what: "when a session starts, the model reads rutter's context".to_owned(),
            seen: reached_model(first, "Before acting on a guess: `"),
        },
        LiveStep {
            what: "when a test fails again in another session, the model reads the earlier fix"
                .to_owned(),
            seen: reached_model(second, "this failure was fixed before"),
        },
    ];
    let seen = event_counts::read_event_counts(&DataDir::new(memory), now).unwrap_or_default();
    steps.extend(EXPECTED_EVENTS.map(|event| LiveStep {
        what: format!("the hook received {event}"),
        seen: seen.iter().any(|seen| seen.event == event && seen.times > 0),
    }));
    steps
}

fn tool_steps(record: &RunRecord, memory: &Path, now: Time) -> [LiveStep; 3] {
    let tool = format!("{}__{PREDICTION_TOOL}", server::SERVER_RULE);
    let offers = |request: &ModelRequest| {
        let tools = request.body["tools"].as_array();
        tools.is_some_and(|tools| tools.iter().any(|one| one["name"] == tool.as_str()))
    };
    let ghaps = Store::open(memory, now).and_then(|store| store.ghaps(&GhapFilter::default(), now));
    [
        LiveStep {
            what: "the client starts the server and offers its tools to the model".to_owned(),
            seen: record.requests.iter().any(offers),
        },
        LiveStep {
            what: format!(
                "the model calls {PREDICTION_TOOL} without a permission question, and reads the \
                 answer"
            ),
            seen: reached_model(record, r#""target":"pytest""#),
        },
        LiveStep {
            what: "the memory has the prediction of that call".to_owned(),
            seen: ghaps.is_ok_and(|ghaps| ghaps.iter().any(|ghap| &*ghap.goal == PREDICTION_GOAL)),
        },
    ]
}
