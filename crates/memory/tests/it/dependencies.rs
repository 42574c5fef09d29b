use rutter_testkit::{Ran, root};

/// The hook binary links every dependency of this crate.
#[test]
fn the_memory_stays_small_and_synchronous() {
    let tree = Ran::of(std::process::Command::new(env!("CARGO")).current_dir(root()).args([
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
    ]))
    .success()
    .stdout;
    let mut crates: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    crates.sort_unstable();
    crates.dedup();
    assert!(crates.contains(&"rusqlite"), "{tree}");
    for heavy in ["clap", "tokio", "regex", "regex-automata", "jsonschema"] {
        assert!(!crates.contains(&heavy), "{heavy}");
    }
    // Five of these crates parse TOML.
    assert!(crates.len() <= 45, "{} crates: {crates:?}", crates.len());
}
