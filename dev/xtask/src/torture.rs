//! `cargo xtask torture`: runs the long crash test of the store.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

pub(crate) fn run(root: &Path, rounds: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let status = Command::new("cargo")
        .args(["run", "--release", "--quiet", "-p", "rutter-torture", "--", "run", rounds])
        .arg(folder.path().join("memory"))
        .current_dir(root)
        .status()?;
    ensure!(status.success(), "something was lost");
    Ok(())
}
