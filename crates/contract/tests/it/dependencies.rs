//! The crate promises to depend on serde alone.

use std::process::Command;

use rutter_testkit::{CommandOutput, repository_root};

#[test]
fn depends_on_serde_only() {
    let tree = CommandOutput::run(
        Command::new(env!("CARGO"))
            .args(["tree", "-p", "rutter-contract", "--edges", "normal", "--depth", "1"])
            .args(["--prefix", "none", "--format", "{p}", "--offline", "--locked"])
            .current_dir(repository_root()),
    )
    .assert_success();
    let crates: Vec<&str> =
        tree.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(crates, ["rutter-contract", "serde", "serde_json"]);
}
