use rutter_testkit::{CommandOutput, repository_root};

/// The hook binary links every dependency of this crate.
#[test]
fn dependencies_stay_small_and_synchronous() {
    let tree = CommandOutput::run(
        std::process::Command::new(env!("CARGO")).current_dir(repository_root()).args([
            "tree",
            "-p",
            "rutter-memory",
            "-e",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--offline",
        ]),
    )
    .assert_success()
    .stdout;
    let mut crates: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    crates.sort_unstable();
    crates.dedup();
    assert!(crates.contains(&"rusqlite"), "{tree}");
    for heavy in ["clap", "tokio", "regex", "regex-automata", "jsonschema"] {
        assert!(!crates.contains(&heavy), "{heavy}");
    }
    // Five of these crates parse TOML, and eight compute SHA-256.
    assert!(crates.len() <= 52, "{} crates: {crates:?}", crates.len());
}
