//! `cargo xtask torture`: runs the long crash test of hooks and store.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::dist::build_release;

const DEFAULT_ROUNDS: &str = "10000";

/// Kills the real hook or, with `--library`, writers that use the library.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let is_library = words.contains(&"--library");
    let rounds = words.iter().find(|word| !word.starts_with("--")).unwrap_or(&DEFAULT_ROUNDS);
    let folder = tempfile::tempdir()?;
    let mut torture = Command::new("cargo");
    torture.args(["run", "--release", "--quiet", "-p", "rutter-torture", "--"]).current_dir(root);
    if is_library {
        torture.args(["run", rounds]).arg(folder.path().join("memory"));
    } else {
        torture.arg("hooks").arg(build_release(root)?).arg(rounds).arg(folder.path());
    }
    ensure!(torture.status()?.success(), "something was lost");
    Ok(())
}
