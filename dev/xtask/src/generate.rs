//! `cargo xtask generate`: writes the files that are derived from the event table, the command line, the configuration
//! keys, the doctor's codes, the rules of the linter and the tools. `--check` reports stale ones.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

mod config;
mod docs;
mod doctor;
mod lint;
mod python;
mod schemas;
mod tools;
mod types;

/// Folders with generated files only: any other file in them is stale.
const GENERATED_FOLDERS: &[&str] = &[
    "schemas/hooks",
    "crates/contract/src/input/events",
    "crates/contract/src/input/choices",
    "docs/reference/lint",
];

/// Generated texts by their path in the repository.
#[derive(Default)]
struct GeneratedFiles(BTreeMap<PathBuf, String>);

impl GeneratedFiles {
    fn add_text(&mut self, path: impl Into<PathBuf>, text: String) {
        let path = path.into();
        let replaced = self.0.insert(path.clone(), text);
        assert!(replaced.is_none(), "{} is generated twice", path.display());
    }

    fn add_rust(&mut self, path: impl Into<PathBuf>, code: &str) -> Result<()> {
        let path = path.into();
        let text = format_rust(code).with_context(|| format!("formatting {}", path.display()))?;
        self.add_text(path, text);
        Ok(())
    }
}

/// Writes every generated file; with `check` only reports the stale ones.
pub(crate) fn run(root: &Path, check: bool) -> Result<()> {
    let mut files = GeneratedFiles::default();
    types::add_types(&mut files)?;
    schemas::add_schemas(&mut files);
    python::add_python(&mut files);
    docs::add_docs(&mut files);
    config::add_config(&mut files);
    doctor::add_doctor(&mut files);
    lint::add_lint(&mut files);
    tools::add_tools(&mut files);

    let mut stale = Vec::new();
    for (path, text) in &files.0 {
        let full = root.join(path);
        if std::fs::read_to_string(&full).ok().as_ref() == Some(text) {
            continue;
        }
        stale.push(path.clone());
        if !check {
            std::fs::create_dir_all(full.parent().context("a file has a folder")?)?;
            crate::files::replace_file(&full, text.as_bytes())?;
        }
    }
    for folder in GENERATED_FOLDERS {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        for entry in entries {
            let path = Path::new(folder).join(entry?.file_name());
            if !files.0.contains_key(&path) {
                if !check {
                    std::fs::remove_file(root.join(&path))?;
                }
                stale.push(path);
            }
        }
    }
    if check && !stale.is_empty() {
        let list = stale.iter().map(|path| format!("  {}", path.display())).collect::<Vec<_>>();
        bail!(
            "these are not what would be generated:\n{}\nrun: cargo xtask generate",
            list.join("\n")
        );
    }
    Ok(())
}

fn format_rust(code: &str) -> Result<String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--emit", "stdout", "--quiet"])
        .args(["--config", "max_width=100,use_small_heuristics=Max"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("rustfmt is needed: rustup component add rustfmt")?;
    child.stdin.take().context("piped")?.write_all(code.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "rustfmt refused:\n{code}");
    Ok(String::from_utf8(output.stdout)?)
}
