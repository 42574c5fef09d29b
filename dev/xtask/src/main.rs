//! `cargo xtask`: what the project does to itself.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

mod client;
mod dist;
mod files;
mod generate;

const USAGE: &str = "\
usage: cargo xtask TASK

  generate [--check]     write the files that follow from the event table, or say which are stale
  dist [--target TRIPLE] build the archive that users unpack: static binary, completions, man pages, schemas
  client VERSION         fetch a measured client for the live suite, and print its path; exit 75 where the
                         npm registry does not answer
";

fn main() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["generate"] => generate::run(&root()?, false)?,
        ["generate", "--check"] => generate::run(&root()?, true)?,
        ["dist"] => dist::run(&root()?, None)?,
        ["dist", "--target", target] => dist::run(&root()?, Some(target))?,
        ["client", version] => return client::run(version),
        _ => bail!(USAGE),
    }
    Ok(ExitCode::SUCCESS)
}

/// The repository's root, wherever the task was started.
fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).map(Path::to_owned).context("dev/xtask lies two levels below the root")
}
