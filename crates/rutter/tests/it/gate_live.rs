use std::fs;

use rutter_check::live::ModelTurn;
use serde_json::json;

use crate::live_support::{LiveProject, bash_turn};

const CODE: &str = "def total(items):\n    return sum(items)\n";

fn write_turn(project: &LiveProject, path: &str, content: &str) -> ModelTurn {
    ModelTurn::call("Write", json!({ "file_path": project.project.join(path), "content": content }))
}

#[test]
fn code_needs_a_test_in_the_real_client() {
    let Some(mut life) = LiveProject::new(&[("pyproject.toml", "")]) else { return };
    life.init();
    drop(life.rutter(&["gate", "enable", "--mode", "deny"]).assert_success());
    let command = "cat > src/item.py <<'EOF'\ndef price():\n    return 1\nEOF";
    let turns = [
        write_turn(&life, "src/cart.py", CODE),
        bash_turn(command),
        write_turn(
            &life,
            "tests/test_cart.py",
            "from cart import total\n\n\ndef test_total():\n    assert total([1]) == 1\n",
        ),
        write_turn(&life, "src/cart.py", CODE),
        write_turn(&life, "NOTES.md", "A note.\n"),
    ];
    let record = life.session(turns);
    let reason = "Tests first: `src/cart.py` has no test; write it in `tests/test_cart.py`";
    assert_eq!(record.reached_model(reason).unwrap().request, 1, "the answer to the first call");
    assert!(record.reached_model("Tests first: `src/item.py` has no test").is_some());
    let count = record
        .main_requests()
        .last()
        .unwrap()
        .body
        .to_string()
        .matches("Tests first: `src/cart.py`")
        .count();
    assert_eq!(count, 1, "the second call is accepted");
    assert_eq!(fs::read_to_string(life.project.join("src/cart.py")).unwrap(), CODE);
    assert!(!life.project.join("src/item.py").exists());
    assert!(life.project.join("NOTES.md").exists());
}

/// The gate never allows: a call that it accepts still needs the user's permission.
#[test]
fn permission_prompt_stays() {
    let ask = r#"{"permissions": {"ask": ["Write"]}}"#;
    let files =
        [("pyproject.toml", ""), ("tests/test_cart.py", ""), (".claude/settings.local.json", ask)];
    let Some(mut life) = LiveProject::new(&files) else { return };
    life.init();
    drop(life.rutter(&["gate", "enable", "--mode", "deny"]).assert_success());
    let turn = write_turn(&life, "src/cart.py", CODE);
    let record = life.session([turn]);
    // Headless, a call that would be asked about is refused.
    assert!(!life.project.join("src/cart.py").exists(), "{}", record.stdout);
    assert!(record.reached_model("Tests first").is_none());
}
