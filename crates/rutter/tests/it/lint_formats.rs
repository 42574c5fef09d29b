use serde_json::{Value, json};

use crate::lint::{BROKEN, CLEAN, home_with_settings, lint_json, run_lint, write_file};
use crate::support::assert_output;

/// Programs rely on these keys and their order.
#[test]
fn json_report_has_fixed_keys() {
    let home = home_with_settings(BROKEN);
    let report = lint_json(&home, &[]);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&report), ["version", "client", "files", "findings"]);
    assert_eq!((&report["version"], &report["client"]), (&json!(1), &json!("2.1.325")));
    let path = home.path("ship/.claude/settings.json");
    let file = json!({"file": path, "source": "project", "state": "read", "hooks": 1});
    assert_eq!(report["files"], json!([file]));
    let finding = &report["findings"][0];
    assert_eq!(
        keys(finding),
        [
            "rule",
            "severity",
            "file",
            "line",
            "column",
            "end_line",
            "end_column",
            "message",
            "help",
            "voids_file",
            "fix"
        ]
    );
    assert_eq!(finding["rule"], "event-unknown");
    let edit = &finding["fix"][0];
    let range = |key: &str| usize::try_from(edit[key].as_u64().unwrap()).unwrap();
    assert_eq!(&BROKEN[range("start")..range("end")], "\"PreToolCall\"");
    assert_eq!(edit["text"], "\"PreToolUse\"");
}

/// The part of the SARIF 2.1.0 schema that the report uses. Where the standard allows more keys, this schema does not, so
/// that a new key is compared with the standard first. GitHub requires the keys that are required here.
fn sarif_schema() -> Value {
    let closed = |required: &[&str], properties: Value| {
        json!({
            "type": "object", "additionalProperties": false, "required": required,
            "properties": properties,
        })
    };
    let text = || json!({"type": "string", "minLength": 1});
    let position = || json!({"type": "integer", "minimum": 1});
    let level = || json!({"enum": ["none", "note", "warning", "error"]});
    let message = || closed(&["text"], json!({"text": text()}));
    let region = closed(
        &["startLine", "startColumn", "endLine", "endColumn"],
        json!({
            "startLine": position(), "startColumn": position(), "endLine": position(),
            "endColumn": position(),
        }),
    );
    let uri = json!({"type": "string", "format": "uri-reference", "minLength": 1});
    let artifact = closed(&["uri"], json!({"uri": uri}));
    let physical = closed(
        &["artifactLocation", "region"],
        json!({"artifactLocation": artifact, "region": region}),
    );
    let location = closed(&["physicalLocation"], json!({"physicalLocation": physical}));
    let result = closed(
        &["ruleId", "message", "locations"],
        json!({
            "ruleId": text(), "ruleIndex": {"type": "integer", "minimum": 0}, "level": level(),
            "message": message(),
            "locations": {"type": "array", "minItems": 1, "items": location},
        }),
    );
    let rule = closed(
        &["id", "shortDescription", "help"],
        json!({
            "id": text(), "shortDescription": message(),
            "help": closed(&["text"], json!({"text": text(), "markdown": text()})),
            "defaultConfiguration": closed(&["level"], json!({"level": level()})),
        }),
    );
    let driver = closed(
        &["name", "rules"],
        json!({
            "name": {"const": "rutter"}, "version": text(),
            "rules": {"type": "array", "minItems": 1, "uniqueItems": true, "items": rule},
        }),
    );
    let run = closed(
        &["tool", "results"],
        json!({
            "tool": closed(&["driver"], json!({"driver": driver})),
            "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
            "results": {"type": "array", "items": result},
        }),
    );
    closed(
        &["$schema", "version", "runs"],
        json!({
            "$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"},
            "runs": {"type": "array", "minItems": 1, "items": run},
        }),
    )
}

#[test]
fn sarif_follows_standard() {
    let home = home_with_settings(BROKEN);
    write_file(&home, ".claude/settings.local.json", "{\"hooks\": {\"Stöp é\": []}}");
    let ran = run_lint(&home, &["--format", "sarif"]);
    let log: Value = serde_json::from_str(&ran.stdout).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&sarif_schema());
    let errors: Vec<String> =
        validator.unwrap().iter_errors(&log).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 3, "{results:#?}");
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
    }
    // Columns count characters, not bytes.
    let local = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(
        local,
        &json!({
            "artifactLocation": {"uri": ".claude/settings.local.json"},
            "region": {"startLine": 1, "startColumn": 12, "endLine": 1, "endColumn": 20},
        })
    );
    let clean = home_with_settings(CLEAN);
    let log: Value =
        serde_json::from_str(&run_lint(&clean, &["--format", "sarif"]).stdout).unwrap();
    assert_eq!(log["runs"][0]["results"], json!([]));
    assert!(jsonschema::is_valid(&sarif_schema(), &log));
}

#[test]
fn github_lines_mark_files() {
    let home = home_with_settings(BROKEN);
    assert_output!(home, run_lint(&home, &["--format", "github"]), @"
    exit 1
    --- stdout
    ::error file=.claude/settings.json,line=3,col=5,title=event-unknown::`PreToolCall` is not an event: the client ignores it, and its hooks never run. Help: write `PreToolUse`
    ::warning file=.claude/settings.json,line=10,col=8,title=matcher-ignored::Stop has no matcher: the client ignores it, and the hook runs every time. Help: remove the matcher, or filter inside the hook
    checked 1 hook in 1 file: 1 error, 1 warning
    ");
}
