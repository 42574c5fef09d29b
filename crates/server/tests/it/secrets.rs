//! A secret in any text argument appears in no file and in no answer.

use serde_json::{Value, json};

use crate::support::{ToolTestEnv, falsify_arguments, ghap_start_arguments, with_fields};

/// Returns a GitHub token. It is built here, so that secret scanners do not report this file.
fn secret() -> String {
    ["ghp", "_", "R7tQx2LmZ9vKcD4wPq8sYh3NbF6gJa1eUo5T"].concat()
}

#[test]
fn redacts_every_text_argument() {
    let world = ToolTestEnv::new();
    let text = format!("export GITHUB_TOKEN={} # here", secret());
    let mut told = Vec::new();
    let mut call = |tool: &str, arguments: Value| {
        let answer = world.call_answer(tool, arguments);
        told.push(format!("{tool}: {} {}", answer.text, answer.structured));
    };
    let texts = json!({
        "goal": text, "hypothesis": text, "action": text, "prediction": text, "target": text,
    });
    call("start_ghap", with_fields(ghap_start_arguments(), texts));
    let again = format!("{text} again");
    let texts = json!({
        "hypothesis": again, "action": again, "prediction": again, "target": again, "note": again,
    });
    call("update_ghap", texts);
    call("get_ghap", json!({}));
    call("status", json!({}));
    let texts = json!({
        "result": text, "surprise": text,
        "root_cause": { "category": "oversight", "description": text },
        "lesson": { "what_worked": text, "takeaway": text },
    });
    call("resolve_ghap", with_fields(falsify_arguments(), texts));
    call("get_ghap", json!({ "list": true }));
    call("remember", json!({ "content": text, "category": "fact" }));
    for ask in ["recall_memories", "search_experiences", "assemble_context"] {
        call(ask, json!({ "query": text }));
    }
    call("premortem", json!({ "domain": "debugging", "goal": text }));
    call("recall_memories", json!({}));
    assert!(told.iter().any(|told| told.contains("GITHUB_TOKEN")), "the rest of it is kept");
    for told in &told {
        assert!(!told.contains(&secret()), "{told}");
    }
    assert!(!world.files_with("GITHUB_TOKEN").is_empty());
    assert_eq!(world.files_with(&secret()), [] as [std::path::PathBuf; 0]);
}

#[test]
fn refusals_do_not_repeat_secrets() {
    let world = ToolTestEnv::new();
    let secret = secret();
    for (tool, arguments) in [
        (
            "remember",
            json!({ "content": "x", "category": "fact", "tags": [format!("{secret} x")] }),
        ),
        ("remember", json!({ "content": "x", "category": secret })),
        ("update_ghap", json!({ "strategy": secret })),
        ("get_ghap", json!({ "id": secret })),
        ("get_ghap", json!({ "cursor": secret })),
        ("search_experiences", json!({ "query": "x", "limit": secret })),
        ("status", json!({ secret.as_str(): true })),
        (secret.as_str(), json!({})),
    ] {
        let refusal = world.call_refused(tool, arguments);
        assert!(!refusal.contains(&secret), "{tool}: {refusal}");
    }
}
