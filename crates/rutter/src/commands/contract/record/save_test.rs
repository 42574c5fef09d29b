//! `rutter contract record save-test`: writes a recorded call as a test case.

use std::fmt::Write as _;

use rutter_check::tester::{HookTestFile, TrialEffect};
use rutter_memory::hook_recording::CallEnding;
use rutter_memory::quote::PathLine as _;
use serde_json::{Map, Value};

use super::super::recorded_calls::{
    describe_call, judge_recorded, recorded_contract, select_calls,
};
use crate::cli::record::{RecordedCallArgs, SaveTestArgs};
use crate::environment::Environment;
use crate::install::FileContents;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

/// Fields of a payload that belong to a session. The tester fills them in.
const SESSION_FIELDS: [&str; 6] =
    ["session_id", "transcript_path", "cwd", "hook_event_name", "tool_name", "tool_use_id"];

pub(super) fn run(args: &SaveTestArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let every = RecordedCallArgs { hook: None, event: None, since: None, last: None };
    let found = select_calls(&every, env)?.into_iter().find(|(number, _)| *number == args.number);
    let (_, call) = found.ok_or_else(|| {
        CommandError::Usage(format!(
            "there is no recorded call {}; `rutter contract record list` shows the numbers",
            args.number
        ))
    })?;
    let refused = |what: &str| CommandError::Refused(format!("call {} {what}", args.number));
    let Some(Value::Object(payload)) = call.payload_value() else {
        return Err(refused("has no whole payload"));
    };
    let Ok(event) = call.event.parse() else { return Err(refused("is of an unknown event")) };
    let judged = judge_recorded(&call, event, recorded_contract(&call));
    let expected = match (judged.effect, call.ending) {
        // Test files have no word for an answer that the client drops.
        (TrialEffect::Voided, CallEnding::Exit(code)) => format!("exit = {code}"),
        (effect, _) => format!("verdict = \"{effect}\""),
    };
    let path = std::path::absolute(&args.file).unwrap_or_else(|_| args.file.clone());
    let contents = FileContents::load(&path)?;
    let text = contents
        .decode()
        .map_err(|error| CommandError::Refused(format!("{}{error}", args.file.to_line())))?;
    let mut after = text.body.to_owned();
    let mut name = format!("{} {}", call.event, describe_call(&call));
    let names: Vec<String> = match HookTestFile::parse(&after, false) {
        _ if after.trim().is_empty() => Vec::new(),
        Ok(file) => file.cases.into_iter().map(|case| case.name).collect(),
        Err(error) => {
            let path = args.file.to_line();
            return Err(CommandError::Refused(format!("{path} is no test file: {error}")));
        }
    };
    if names.contains(&name) {
        let _ = write!(name, " ({})", args.number);
    }
    if after.trim().is_empty() {
        let _ = writeln!(after, "command = {}", Value::from(call.command.clone()));
    }
    let _ = write!(after, "\n[[test]]\nname = {}\nevent = \"{event}\"\n", toml_value(&name.into()));
    if let Some(tool) = payload.get("tool_name") {
        let _ = writeln!(after, "tool = {}", toml_value(tool));
    }
    if let Some(Value::Object(input)) = payload.get("tool_input") {
        let _ = writeln!(after, "input = {}", toml_value(&Value::Object(input.clone())));
    }
    let rest: Map<String, Value> = payload
        .into_iter()
        .filter(|(key, _)| !SESSION_FIELDS.contains(&key.as_str()) && key != "tool_input")
        .collect();
    if !rest.is_empty() {
        let _ = writeln!(after, "payload = {}", toml_value(&Value::Object(rest)));
    }
    let _ = writeln!(after, "{expected}");
    // What is written must be what `contract test --tests` reads.
    if let Err(error) = HookTestFile::parse(&after, false) {
        return Err(refused(&format!("cannot be written as a test: {error}")));
    }
    contents.replace(Some(&text.encode(&after)))?;
    writeln!(ui.out, "added call {} to {}: {expected}", args.number, args.file.to_line())?;
    if !call.redacted.is_empty() {
        ui.print_note("secrets in the call are placeholders in the test")?;
    }
    Ok(())
}

/// Formats a value as TOML on one line. TOML has no null, so such members are left out.
fn toml_value(value: &Value) -> String {
    match value {
        Value::Null => "\"\"".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => toml_text(text),
        Value::Array(items) => {
            let items = items.iter().filter(|item| !item.is_null()).map(toml_value);
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            let members =
                members.map(|(key, value)| format!("{} = {}", toml_text(key), toml_value(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Formats a text as a basic string of TOML, which has the escapes of JSON except `\/`.
fn toml_text(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_read_back() {
        let input = json!({
            "command": "a \"b\"\\ \u{1}\u{7f}\n'é", "n": [1, -2.5, { "x y": true }], "none": null, "{": {},
        });
        let text = format!(
            "command = \"x\"\n[[test]]\nname = \"n\"\nevent = \"Stop\"\nexit = 0\npayload = {}\n",
            toml_value(&input)
        );
        let file = HookTestFile::parse(&text, false).unwrap();
        let mut expected = input.as_object().unwrap().clone();
        expected.remove("none");
        assert_eq!(file.cases[0].payload, expected);
    }
}
