//! `cargo xtask dist`: builds the release archive.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use clap::ValueEnum as _;
use clap_complete::Shell;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Builds the binary for `target` (the host by default), and packs it with completions, man pages, licences
/// and the schemas into `dist/`.
pub(crate) fn run(root: &Path, target: Option<&str>) -> Result<()> {
    let target = match target {
        Some(target) => target.to_owned(),
        None => host_target()?,
    };
    let binary = build_binary(root, &target, "dist")?;
    if target.contains("linux") {
        ensure_static(&binary)?;
    }

    let name = format!("rutter-{}-{target}", env!("CARGO_PKG_VERSION"));
    let folder = root.join("dist");
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{name}.tar.gz"));
    let temporary = path.with_extension("gz.tmp");
    let packed = write_archive(root, &name, &binary, File::create(&temporary)?)
        .and_then(|()| Ok(std::fs::rename(&temporary, &path)?));
    if packed.is_err() {
        // Report the first error, not that of the cleanup.
        drop(std::fs::remove_file(&temporary));
    }
    packed?;
    print_sizes(root, &path, &binary)
}

fn write_archive(root: &Path, name: &str, binary: &Path, file: File) -> Result<()> {
    let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::best()));
    // The same input gives the same bytes: no times, no owners.
    archive.mode(tar::HeaderMode::Deterministic);
    archive.append_path_with_name(binary, format!("{name}/rutter"))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        archive.append_path_with_name(root.join(file), format!("{name}/{file}"))?;
    }
    // The origin and licence of the word vectors in the binary.
    for file in ["NOTICE", "LICENSE-UNICODE"] {
        let path = root.join("crates/search/model").join(file);
        archive.append_path_with_name(path, format!("{name}/model/{file}"))?;
    }
    let mut put = |path: String, bytes: &[u8]| -> Result<()> {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len().try_into()?);
        header.set_mode(0o644);
        Ok(archive.append_data(&mut header, format!("{name}/{path}"), bytes)?)
    };
    for (file, script) in render_completions() {
        put(format!("completions/{file}"), &script)?;
    }
    for (file, page) in render_man_pages()? {
        put(format!("man/{file}"), &page)?;
    }
    let folder = "schemas/hooks";
    let entries = std::fs::read_dir(root.join(folder))?.collect::<std::io::Result<Vec<_>>>()?;
    let mut schemas: Vec<_> = entries.iter().map(std::fs::DirEntry::path).collect();
    schemas.sort();
    for path in schemas {
        let file = path.file_name().context("a file has a name")?.to_string_lossy();
        archive.append_path_with_name(&path, format!("{name}/{folder}/{file}"))?;
    }
    for file in ["config", "settings-hooks", "plugin-hooks"] {
        let file = format!("schemas/{file}.schema.json");
        archive.append_path_with_name(root.join(&file), format!("{name}/{file}"))?;
    }
    archive.into_inner()?.finish()?.sync_all()?;
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the task's result")]
fn print_sizes(root: &Path, archive: &Path, binary: &Path) -> Result<()> {
    let shown = archive.strip_prefix(root).unwrap_or(archive);
    println!(
        "{}: {} bytes; the binary has {} bytes",
        shown.display(),
        archive.metadata()?.len(),
        binary.metadata()?.len()
    );
    Ok(())
}

/// Builds the binary that a user installs from a checkout: `.cargo/config.toml` makes it static.
pub(crate) fn build_release(root: &Path) -> Result<PathBuf> {
    build_binary(root, &host_target()?, "release")
}

fn host_target() -> Result<String> {
    let output = Command::new("rustc").args(["--print", "host-tuple"]).output()?;
    ensure!(output.status.success(), "rustc does not tell the host");
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn build_binary(root: &Path, target: &str, profile: &str) -> Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo
        .args(["build", "--profile", profile, "-p", "rutter", "--target", target])
        .current_dir(root);
    // Cargo's messages contain the path of the binary: the target folder may be anywhere.
    cargo.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let output = cargo.output().context("starting cargo")?;
    ensure!(output.status.success(), "the build failed");
    let messages = String::from_utf8(output.stdout)?;
    let mut built = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let ours = message["target"]["name"] == "rutter"
            && message["target"]["kind"] == serde_json::json!(["bin"]);
        message["executable"].as_str().filter(|_| ours).map(PathBuf::from)
    });
    built.next_back().context("cargo built no binary")
}

/// Fails if the binary is dynamic: such a binary has a program header for an interpreter.
fn ensure_static(binary: &Path) -> Result<()> {
    const PT_INTERP: u32 = 3;
    let bytes = std::fs::read(binary)?;
    ensure!(bytes.starts_with(b"\x7fELF\x02\x01"), "{} is no 64-bit ELF file", binary.display());
    let number = |at: usize, length: usize| -> Result<usize> {
        let field = bytes.get(at..at + length).context("the ELF header ends early")?;
        Ok(field.iter().rev().fold(0, |sum, byte| (sum << 8) | usize::from(*byte)))
    };
    let (start, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    for header in 0..count {
        if number(start + header * size, 4)? == PT_INTERP as usize {
            bail!("{} is not static", binary.display());
        }
    }
    Ok(())
}

fn render_completions() -> Vec<(String, Vec<u8>)> {
    let script = |shell: &Shell| {
        let mut command = rutter::cli::clap_command();
        let mut bytes = Vec::new();
        clap_complete::generate(*shell, &mut command, "rutter", &mut bytes);
        let name = match shell {
            Shell::Zsh => "_rutter".to_owned(),
            Shell::PowerShell => "rutter.ps1".to_owned(),
            shell => format!("rutter.{shell}"),
        };
        (name, bytes)
    };
    Shell::value_variants().iter().map(script).collect()
}

/// Returns a page per command, with names like those of `git`: `rutter-contract-schema.1`.
fn render_man_pages() -> Result<Vec<(String, Vec<u8>)>> {
    let mut root = rutter::cli::clap_command().disable_help_subcommand(true);
    root.build();
    let mut pages = Vec::new();
    let mut queue = vec![&root];
    while let Some(command) = queue.pop() {
        queue.extend(command.get_subcommands());
        let mut page = Vec::new();
        let man = clap_mangen::Man::new(command.clone());
        man.date("").source(concat!("rutter ", env!("CARGO_PKG_VERSION"))).render(&mut page)?;
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        pages.push((format!("{name}.1"), page));
    }
    pages.sort();
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_man_page() {
        let pages = render_man_pages().unwrap();
        let page =
            |name: &str| pages.iter().find(|(page, _)| page == name).map(|(_, text)| text.clone());
        // The command reference is generated separately from the same definition.
        let reference = include_str!("../../../docs/reference/commands.md");
        let commands: Vec<String> = reference
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .map(|command| command.replace(' ', "-"))
            .collect();
        assert!(commands.len() > 20, "{commands:?}");
        for command in &commands {
            assert!(page(&format!("{command}.1")).is_some(), "{command}");
        }
        assert_eq!(pages.len(), commands.len());
        let schema = String::from_utf8(page("rutter-contract-schema.1").unwrap()).unwrap();
        assert!(schema.contains("\\-\\-bundle"), "{schema}");
    }
}
