//! Mistakes that the linter reports, given to the client.
//!
//! Few sessions have all cases: each hook writes to a file of its own, and each guard has a call of its own. The broken
//! form of a case shows what the message says, and the corrected form works.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;

use rutter_check::lint::{LintContext, LintFile, LintFinding, LintMachine, RULES, run_rules};
use rutter_check::live::{
    ClientBinary, ContentBlock, Conversation, ConversationStep, ModelScript, ModelTurn, Sandbox,
};
use rutter_check::settings::{SettingsLayer, SettingsSource, load_plugin_folder};
use rutter_check::text_edit::apply_edits;
use rutter_contract::version::Contract;
use serde_json::{Map, Value, json};

use crate::lint_case::{LintCase, Place, SETTINGS};
use crate::lint_cases::all_cases;
use crate::support;

/// The folder of the session. Its path has a space.
const WORK_FOLDER: &str = "my work";

/// The file of a hook that runs in every session.
const CONTROL: &str = "control";

/// Paths and texts of the files of a form.
type Files = Vec<(String, String)>;

/// A form of a case, with its name in all texts.
#[derive(Debug, Clone)]
struct CaseForm {
    name: String,
    files: Files,
}

/// A case whose findings are as expected.
struct CheckedCase {
    case: LintCase,
    broken: CaseForm,
    fixed: CaseForm,
}

impl CaseForm {
    fn new(name: &str, files: &Files) -> Self {
        let fill = |text: &str| {
            let hook = r#""type": "command", "command": "echo x >> ran/$N""#;
            text.replace("$HOOK", hook).replace("$N", name)
        };
        let files = files.iter().map(|(path, text)| (fill(path), fill(text))).collect();
        Self { name: name.to_owned(), files }
    }

    /// Returns the text of the settings.
    fn settings(&self) -> Option<&str> {
        self.files.iter().find(|(path, _)| path == SETTINGS).map(|(_, text)| text.as_str())
    }
}

/// Returns the bytes of a text, in Latin-1 or UTF-8.
fn encoded(text: &str, is_latin1: bool) -> Vec<u8> {
    if is_latin1 {
        text.chars().map(|sign| u8::try_from(u32::from(sign)).unwrap()).collect()
    } else {
        text.as_bytes().to_vec()
    }
}

/// Writes a file. A path that ends in `!` is executable.
fn write_case_file(folder: &Path, path: &str, bytes: &[u8]) {
    use std::os::unix::fs::PermissionsExt as _;
    let (path, mode) = path.strip_suffix('!').map_or((path, 0o644), |path| (path, 0o755));
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::File::create(&path).unwrap().write_all(bytes).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Returns the findings in the files of a form, and the files with all fixes applied.
fn lint_form(
    form: &CaseForm,
    case: &LintCase,
    is_latin1: bool,
    contract: Contract,
) -> (Vec<LintFinding>, Files) {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().canonicalize().unwrap().join(WORK_FOLDER);
    for (path, text) in &form.files {
        write_case_file(&work, path, &encoded(text, is_latin1));
    }
    let whose = if case.place == Place::UserSession {
        SettingsSource::User
    } else {
        SettingsSource::Project
    };
    let mut files = Vec::new();
    let mut plugin_faults = Vec::new();
    if form.settings().is_some() {
        let layer = SettingsLayer::load(whose, &work.join(SETTINGS), None, contract);
        files.extend(LintFile::from_layer(layer, None, Some(work.clone()), contract));
    }
    if case.place == Place::Plugins {
        let plugin = work.join(&form.name);
        let loaded = load_plugin_folder(&plugin, contract);
        plugin_faults = loaded.faults;
        files.extend(loaded.layers.into_iter().filter_map(|layer| {
            LintFile::from_layer(layer, Some(plugin.clone()), Some(work.clone()), contract)
        }));
    }
    let has_bash_as_sh =
        Path::new("/bin/sh").canonicalize().is_ok_and(|shell| shell.ends_with("bash"));
    let machine = LintMachine {
        home: Some(folder.path().to_owned()),
        search: vec![PathBuf::from("/usr/bin"), PathBuf::from("/bin")],
        has_bash_as_sh,
    };
    let context = LintContext::new(files, plugin_faults, contract, &machine);
    let findings = run_rules(&context, &|_, _| false);
    let mut fixed = form.files.clone();
    for (index, file) in context.files.iter().enumerate() {
        let of_file = findings.iter().filter(|finding| finding.file == index);
        let mut edits: Vec<_> =
            of_file.filter_map(|finding| finding.fix.clone()).flat_map(|fix| fix.edits).collect();
        edits.sort_by_key(|edit| edit.range.start);
        let path = file.path.strip_prefix(&work).unwrap();
        let known =
            fixed.iter_mut().find(|(name, _)| Path::new(name.trim_end_matches('!')) == path);
        if let Some((_, text)) = known.filter(|_| !edits.is_empty()) {
            *text = apply_edits(&file.text, &edits);
        }
    }
    (findings, fixed)
}

/// Lints both forms of a case. Returns None if the rule has nothing to report for this client.
fn check_case(
    number: usize,
    case: LintCase,
    contract: Contract,
) -> Result<Option<CheckedCase>, String> {
    let name = |form: &str| format!("{}-{number}-{form}", case.rule);
    let broken = CaseForm::new(&name("broken"), &case.broken);
    let (findings, by_fix) = lint_form(&broken, &case, case.is_latin1, contract);
    let is_newest = contract.version() == Contract::newest().version();
    let rules: BTreeSet<&str> = findings.iter().map(|finding| finding.rule.id).collect();
    // An older client skips files and knows fields differently.
    let is_void = findings.iter().any(|finding| finding.voids_file);
    if !is_newest && (rules != [case.rule].into() || is_void != case.voids_file) {
        return Ok(None);
    }
    if rules != [case.rule].into() {
        return Err(format!("{}: {}", broken.name, describe(&findings)));
    }
    if is_newest && is_void != case.voids_file {
        return Err(format!("{}: file skipped: {is_void}", broken.name));
    }
    let fixed = if case.fixed.is_empty() {
        if findings.iter().any(|finding| finding.fix.is_none()) {
            return Err(format!("{} has no fix", broken.name));
        }
        let by_name = |text: &str| text.replace("-broken", "-fixed");
        let files = by_fix.iter().map(|(path, text)| (by_name(path), by_name(text))).collect();
        CaseForm { name: name("fixed"), files }
    } else {
        if by_fix != broken.files {
            return Err(format!("{} has a fix, which the case must use", broken.name));
        }
        let mut files = case.broken.clone();
        let is_replaced = |path: &str| {
            case.fixed.iter().any(|(other, _)| {
                Path::new(path.trim_end_matches('!')).starts_with(other.trim_end_matches('!'))
            })
        };
        files.retain(|(path, _)| !is_replaced(path));
        files.extend(case.fixed.iter().cloned());
        CaseForm::new(&name("fixed"), &files)
    };
    let (left, _) = lint_form(&fixed, &case, false, contract);
    if !is_newest && left.iter().any(|finding| finding.rule.id == case.rule) {
        // The older client cannot do what the corrected form asks for.
        return Ok(None);
    }
    if !left.is_empty() {
        return Err(format!("{}: {}\n{:?}", fixed.name, describe(&left), fixed.files));
    }
    Ok(Some(CheckedCase { case, broken, fixed }))
}

/// Returns rules and messages.
fn describe(findings: &[LintFinding]) -> String {
    let lines = findings.iter().map(|one| format!("{}: {}", one.rule.id, one.message));
    format!("{:?}", lines.collect::<Vec<_>>())
}

/// Joins settings: lists are appended.
fn join_settings(joined: &mut Map<String, Value>, text: &str) {
    fn join(joined: &mut Value, more: Value) {
        match (joined, more) {
            (Value::Object(joined), Value::Object(more)) => {
                for (key, value) in more {
                    match joined.get_mut(&key) {
                        Some(known) => join(known, value),
                        None => drop(joined.insert(key, value)),
                    }
                }
            }
            (Value::Array(joined), Value::Array(more)) => joined.extend(more),
            (joined, more) => assert_eq!(*joined, more, "settings of two cases differ"),
        }
    }
    let mut whole = Value::Object(std::mem::take(joined));
    join(&mut whole, serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}")));
    let Value::Object(whole) = whole else { panic!("not an object: {text}") };
    *joined = whole;
}

/// A session with the forms of several cases.
#[derive(Default)]
struct Session {
    joined: Map<String, Value>,
    project: Option<Vec<u8>>,
    local: Option<Vec<u8>>,
    user: Option<Vec<u8>>,
    files: Files,
    plugins: Vec<String>,
    calls: Vec<String>,
    is_after_cd: bool,
    is_asking: bool,
    has_user: bool,
}

impl Session {
    /// Adds a form whose settings are joined with those of others.
    fn join(&mut self, form: &CaseForm, case: &LintCase) {
        if let Some(text) = form.settings() {
            join_settings(&mut self.joined, text);
        }
        self.add_files(form, case);
    }

    fn add_files(&mut self, form: &CaseForm, case: &LintCase) {
        self.files.extend(form.files.iter().filter(|(path, _)| path != SETTINGS).cloned());
        if case.place == Place::Plugins {
            self.plugins.push(form.name.clone());
        }
        if case.has_call {
            self.calls.push(form.name.clone());
        }
    }

    /// Runs the session. Returns the number of lines in each file that hooks and calls wrote.
    fn run(self, client: &ClientBinary) -> BTreeMap<String, usize> {
        let mut sandbox = Sandbox::new().unwrap();
        let work = sandbox.project().join(WORK_FOLDER);
        let port = serve_hooks(work.join("ran"));
        let fill = |text: &str| text.replace("$PORT", &port.to_string());
        let at = |path: &str| Path::new(WORK_FOLDER).join(path);
        let settings = Value::Object(self.joined).to_string().into_bytes();
        for (path, bytes) in [
            (at(".claude/settings.json"), self.project.or(Some(settings))),
            (at(".claude/settings.local.json"), self.local),
            (PathBuf::from("../home/.claude/settings.json"), self.user),
        ] {
            if let Some(bytes) = bytes {
                // Bytes that are not UTF-8 have no port in them.
                let bytes = String::from_utf8(bytes)
                    .map_or_else(FromUtf8Error::into_bytes, |text| fill(&text).into_bytes());
                sandbox.file(path, bytes);
            }
        }
        for (path, text) in &self.files {
            match path.strip_suffix('!') {
                Some(path) => sandbox.program(at(path), fill(text)),
                None => sandbox.file(at(path), fill(text)),
            };
        }
        for plugin in &self.plugins {
            sandbox.args(["--plugin-dir", plugin]);
        }
        let call = |tool: &str, input: Value| ContentBlock::Call { tool: tool.to_owned(), input };
        let shell =
            |command: &str| call("Bash", json!({ "command": command, "description": "a step" }));
        let read = |name: &str| {
            call("Read", json!({ "file_path": work.join(name).display().to_string() }))
        };
        let mut first = vec![read("a.txt"), read("n.ipynb")];
        first.extend(self.calls.iter().map(|name| shell(&format!("touch ran/{name}"))));
        let notebook = work.join("n.ipynb").display().to_string();
        let edit = json!({ "notebook_path": notebook, "cell_id": "c1", "new_source": "2" });
        let mut turns = if self.is_after_cd {
            vec![vec![shell("cd sub")]]
        } else {
            vec![first, vec![call("NotebookEdit", edit)]]
        };
        let code_cell = json!({ "cell_type": "code", "id": "c1", "metadata": {}, "outputs": [], "execution_count": null, "source": ["1"] });
        let notebook =
            json!({ "cells": [code_cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5 });
        if self.is_asking {
            // The client knows commands that only edit, but not inside another shell.
            let command = format!("sh -c 'touch ran/{}'", self.calls[0]);
            let input = json!({ "command": command, "description": "a step" });
            if self.has_user {
                let allow = json!({ "behavior": "allow", "updatedInput": input });
                let talk = Conversation::new([
                    ConversationStep::Prompt("go".to_owned()),
                    ConversationStep::TurnEnds,
                ]);
                sandbox.conversation(talk.reply_to("can_use_tool", allow));
                sandbox.args(["--permission-prompt-tool", "stdio"]);
            }
            turns = vec![vec![call("Bash", input)]];
        }
        let allowed = if self.is_asking { "Read" } else { "Bash,Read,NotebookEdit" };
        let control = json!({ "hooks": { "Stop": [{ "hooks": [
            { "type": "command", "command": format!("echo x >> \"$CLAUDE_PROJECT_DIR\"/ran/{CONTROL}") },
        ] }] } });
        sandbox.file(at("control.json"), control.to_string()).args(["--settings", "control.json"]);
        sandbox
            .script(ModelScript::new(turns.into_iter().map(ModelTurn::Content)))
            .file(at("a.txt"), "one\n")
            .file(at("n.ipynb"), notebook.to_string())
            .file(at("sub/file.txt"), "")
            .file(at("ran/empty"), "")
            .args(["--allowedTools", allowed])
            .start_in(&work);
        let record = sandbox.run(client).unwrap();
        assert_eq!(record.terminal_reason(), Some("completed"), "{}", record.stdout);
        // A hook that detaches its slow part ends after the session.
        let late = self
            .plugins
            .iter()
            .filter(|name| name.contains("session-end-timeout"))
            .find(|name| name.ends_with("fixed"));
        if let Some(name) = late {
            wait_for(&work.join("ran").join(name));
        }
        count_lines(&work.join("ran"))
    }
}

/// Waits for a file, up to a time that a busy machine does not need.
fn wait_for(path: &Path) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !path.exists() && std::time::Instant::now() < end {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// Returns the number of lines of each file. An empty file counts as one.
fn count_lines(folder: &Path) -> BTreeMap<String, usize> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| {
            let lines = std::fs::read_to_string(&path).unwrap().lines().count().max(1);
            (path.file_name().unwrap().to_string_lossy().into_owned(), lines)
        })
        .collect()
}

/// Accepts HTTP hooks on a port of 127.0.0.1. Each request adds a line to the file in `ran` that its path names, unless
/// its header `X-Token` is empty.
pub(crate) fn serve_hooks(ran: PathBuf) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let head = BufReader::new(&stream).lines().map_while(Result::ok);
            let head: Vec<String> = head.take_while(|line| !line.is_empty()).collect();
            let first = head.first().map(String::as_str).unwrap_or_default();
            let name = first.split(' ').nth(1).unwrap_or_default().trim_start_matches('/');
            let lacks_token =
                head.iter().any(|line| line.to_ascii_lowercase().trim_end() == "x-token:");
            if !lacks_token {
                let file = std::fs::File::options().create(true).append(true).open(ran.join(name));
                file.unwrap().write_all(b"x\n").unwrap();
            }
            let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    port
}

/// Checks the cases of some places on a client.
fn check_places(client: Option<ClientBinary>, places: &[Place]) {
    let Some(client) = client else { return };
    let contract = Contract::for_client(client.version());
    let cases = all_cases().into_iter().enumerate();
    let mut faults = Vec::new();
    let mut checked_cases = Vec::new();
    for (number, case) in cases.filter(|(_, case)| places.contains(&case.place)) {
        match check_case(number, case, contract) {
            Ok(checked) => checked_cases.extend(checked),
            Err(fault) => faults.push(fault),
        }
    }
    let cases: Vec<CheckedCase> = checked_cases;
    // The older client has no use for a few cases.
    let total = all_cases().iter().filter(|case| places.contains(&case.place)).count();
    assert!(
        total > 0 && (cases.len() + faults.len()) * 5 >= total * 4,
        "{} of {total}",
        cases.len()
    );
    let mut sessions: BTreeMap<String, Session> = BTreeMap::new();
    let mut own_files = 0;
    for CheckedCase { case, broken, fixed } in &cases {
        let text = || encoded(broken.settings().unwrap(), case.is_latin1);
        let (broken_in, fixed_in) = match case.place {
            Place::Joined => ("joined".to_owned(), "joined"),
            Place::Plugins => ("plugins".to_owned(), "plugins"),
            Place::AfterCd => ("after cd".to_owned(), "after cd"),
            Place::OwnFile => (format!("own files {}", own_files / 3), "joined"),
            Place::OwnSession | Place::UserSession => (broken.name.clone(), "joined"),
            Place::OwnSessions | Place::AskingSessions => {
                (broken.name.clone(), fixed.name.as_str())
            }
        };
        let session = sessions.entry(broken_in).or_default();
        session.is_after_cd = case.place == Place::AfterCd;
        match case.place {
            Place::OwnFile => {
                match own_files % 3 {
                    0 => session.project = Some(text()),
                    1 => session.local = Some(text()),
                    _ => session.user = Some(text()),
                }
                own_files += 1;
                session.add_files(broken, case);
            }
            Place::UserSession => session.user = Some(text()),
            _ => session.join(broken, case),
        }
        session.is_asking = case.place == Place::AskingSessions;
        session.has_user = session.is_asking;
        let session = sessions.entry(fixed_in.to_owned()).or_default();
        session.is_asking = case.place == Place::AskingSessions;
        session.join(fixed, case);
    }
    let mut lines = BTreeMap::new();
    for (name, session) in sessions {
        let ran = session.run(&client);
        // Hooks run in every session but those that show how they are switched off.
        assert_eq!(ran.contains_key(CONTROL), !name.starts_with("switched-off"), "{name}");
        lines.extend(ran);
    }
    for CheckedCase { case, broken, fixed } in &cases {
        for (form, expected) in [(broken, case.lines[0]), (fixed, case.lines[1])] {
            let found = lines.get(&form.name).copied().unwrap_or(0);
            if found != expected {
                faults.push(format!(
                    "{}: {found} lines instead of {expected}: {:?}",
                    form.name, form.files
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{} differs:\n{}", client.version(), faults.join("\n"));
}

#[test]
fn newest_client_shows_mistakes_in_own_sessions() {
    check_places(support::client(), &[Place::OwnSessions, Place::AskingSessions]);
}

const IN_SETTINGS: [Place; 4] =
    [Place::Joined, Place::OwnFile, Place::OwnSession, Place::UserSession];

#[test]
fn newest_client_shows_mistakes_in_settings() {
    check_places(support::client(), &IN_SETTINGS);
}

#[test]
fn oldest_client_shows_mistakes_in_settings() {
    check_places(support::old_client(), &IN_SETTINGS);
}

#[test]
fn newest_client_shows_mistakes_of_plugins() {
    check_places(support::client(), &[Place::Plugins]);
}

#[test]
fn oldest_client_shows_mistakes_of_plugins() {
    check_places(support::old_client(), &[Place::Plugins]);
}

#[test]
fn newest_client_loses_path_after_cd() {
    check_places(support::client(), &[Place::AfterCd]);
}

#[test]
fn every_rule_has_a_case() {
    let tested: BTreeSet<&str> = all_cases().iter().map(|case| case.rule).collect();
    let rules: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    let missing: Vec<_> = rules.difference(&tested).collect();
    assert_eq!(missing, [&"event-too-new"], "its case needs two clients: see lint_sessions");
}
