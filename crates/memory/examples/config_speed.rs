//! Measures how long a hook reads the configuration: `cargo run --release -p rutter-memory --example config_speed`.
//! Prints a name and the median in microseconds per line.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "its result and its files")]

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use rutter_memory::config::{Config, MAX_CONFIG_FILE_BYTES, PROJECT_FILE, trust};

const MEASURED_ROUNDS: usize = 5_000;

const USER: &str = r#"# What I want everywhere.
notify = "brief"

[hooks.user_prompt_submit]
context_depth = "rich"
token_budget = 1500

[hooks.ghap_checkin]
frequency = 20

[scope]
exclude = ["~/clients", "/srv/*", "**/secret"]

[retention]
outcome_days = 90
"#;

const PROJECT: &str =
    "[hooks.outcome_capture]\nmatchers = [\"just check\"]\n\n[hooks.edits]\nenabled = false\n";

fn main() -> std::io::Result<()> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    let (user, data, file) = (root.join("config.toml"), root.join("data"), root.join(PROJECT_FILE));
    let measure = |name: &str| {
        let mut times: Vec<u128> = (0..MEASURED_ROUNDS)
            .map(|_| {
                let begun = Instant::now();
                black_box(Config::load(&user, Some(&root), &data));
                begun.elapsed().as_nanos()
            })
            .collect();
        times.sort_unstable();
        let micros =
            |place: usize| f64::from(u32::try_from(times[place]).unwrap_or(u32::MAX)) / 1_000.0;
        println!(
            "{name}\t{:.1}\tp99 {:.1}",
            micros(MEASURED_ROUNDS / 2),
            micros(MEASURED_ROUNDS * 99 / 100)
        );
    };
    measure("no file");
    fs::write(&user, USER)?;
    measure("a user's file");
    fs::write(&file, PROJECT)?;
    measure("and a project's, not trusted");
    trust::record_trust(&data, &root, PROJECT.as_bytes())?;
    measure("and a project's, trusted");
    let mut text: String = (0..).map(|at| format!("a{at}=1\n")).take(9_000).collect();
    text.truncate(usize::try_from(MAX_CONFIG_FILE_BYTES).unwrap_or(0));
    text.truncate(text.rfind('\n').unwrap_or(0));
    fs::write(&file, text)?;
    measure("and a project's, as long as can be, of mistakes");
    Ok(())
}
