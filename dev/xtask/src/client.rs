//! `cargo xtask client VERSION`: fetches a client for the live suite from the vendor's package.
//!
//! The client is stored in a cache outside the repository and never becomes part of it. It has to be the one that
//! was measured, so each version has its checksum here.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};

const NPM_PACKAGE: &str = "@anthropic-ai/claude-code-linux-x64";

/// Versions, each with the SHA-256 of its package in the registry.
const PINNED_CHECKSUMS: &[(&str, &str)] = &[
    ("2.1.325", "e8735d37521f49c31d65c3dcd8c0c8babe6d1f5f72c2066346b3ae88d32ac31d"),
    ("2.1.197", "42b12aa7a1d57d9f48b49acecca37643a81528ad873629e0fc5f043730621b14"),
];

/// The file next to a client with the checksum of its package.
const CHECKSUM_FILE: &str = "package.sha256";

/// Exit code if the registry did not answer; try later. As in `sysexits.h`, so that a script can distinguish it
/// from a wrong checksum.
const TEMPORARY_FAILURE_EXIT_CODE: u8 = 75;

/// npm's error codes for a registry that does not answer.
const NO_ANSWER_CODES: &[&str] = &[
    "EAI_AGAIN",
    "ECONNREFUSED",
    "ECONNRESET",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ENOTFOUND",
    "EPIPE",
    "ERR_SOCKET_TIMEOUT",
    "ETIMEDOUT",
    "E429",
    "E500",
    "E502",
    "E503",
    "E504",
];

/// Prints the path of the client; fetches it first if it is not in the cache.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the task's result")]
pub(crate) fn run(version: &str) -> Result<ExitCode> {
    let Some((_, checksum)) = PINNED_CHECKSUMS.iter().find(|(pinned, _)| *pinned == version) else {
        let known: Vec<&str> = PINNED_CHECKSUMS.iter().map(|(version, _)| *version).collect();
        bail!(
            "no checksum is known for client {version}, only for {}; measure it, then add it to {}",
            known.join(" and "),
            file!()
        );
    };
    let clients = cache_folder()?;
    let folder = clients.join(version);
    let client = folder.join("claude");
    // A copy from before a change of the pinned checksum does not count.
    let fetched =
        || fs::read_to_string(folder.join(CHECKSUM_FILE)).is_ok_and(|text| text == *checksum);
    if !(fetched() && client.is_file()) {
        fs::create_dir_all(&clients)?;
        let work = tempfile::Builder::new().prefix("fetch.").tempdir_in(&clients)?;
        let package = match fetch_package(version, work.path())? {
            FetchResult::Package(path) => path,
            FetchResult::NoAnswer(code) => {
                eprintln!(
                    "the npm registry does not answer ({code}); client {version} is not fetched"
                );
                return Ok(ExitCode::from(TEMPORARY_FAILURE_EXIT_CODE));
            }
        };
        verify_checksum(&package, checksum)?;
        let unpacked = work.path().join("unpacked");
        unpack_client(&package, &unpacked)?;
        crate::files::replace_file(&unpacked.join(CHECKSUM_FILE), checksum.as_bytes())?;
        if folder.exists() && !(fetched() && client.is_file()) {
            fs::remove_dir_all(&folder)?;
        }
        // Another process may have been faster; its copy has the same checksum.
        if let Err(error) = fs::rename(&unpacked, &folder) {
            ensure!(fetched() && client.is_file(), "{} cannot be made: {error}", folder.display());
        }
    }
    println!("{}", client.display());
    Ok(ExitCode::SUCCESS)
}

fn cache_folder() -> Result<PathBuf> {
    let variable =
        |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = variable("XDG_CACHE_HOME")
        .or_else(|| variable("HOME").map(|home| home.join(".cache")))
        .context("neither XDG_CACHE_HOME nor HOME says where the cache is")?;
    Ok(base.join("rutter/clients"))
}

#[derive(Debug, PartialEq)]
enum FetchResult {
    Package(PathBuf),
    NoAnswer(String),
}

/// Fetches the package into `folder` with npm, in up to two attempts.
fn fetch_package(version: &str, folder: &Path) -> Result<FetchResult> {
    let mut answer = npm_pack(version, folder)?;
    if let FetchResult::NoAnswer(_) = answer {
        answer = npm_pack(version, folder)?;
    }
    Ok(answer)
}

fn npm_pack(version: &str, folder: &Path) -> Result<FetchResult> {
    // This program retries; npm's retries would multiply the wait.
    let output = Command::new("npm")
        .args(["pack", "--fetch-retries=0", "--prefer-offline", "--loglevel=error"])
        .arg(format!("{NPM_PACKAGE}@{version}"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .context("npm cannot be run; install it, it fetches the client")?;
    if output.status.success() {
        let name = String::from_utf8_lossy(&output.stdout);
        let name = name.lines().last().context("npm did not name the package it fetched")?;
        return Ok(FetchResult::Package(folder.join(name.trim())));
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    match no_answer_code(&complaint) {
        Some(code) => Ok(FetchResult::NoAnswer(code)),
        None => bail!("npm cannot fetch {NPM_PACKAGE}@{version}:\n{complaint}"),
    }
}

/// Returns the error code if it means that the registry did not answer.
fn no_answer_code(complaint: &str) -> Option<String> {
    let mut codes = complaint.lines().filter_map(|line| {
        line.strip_prefix("npm error code ").or_else(|| line.strip_prefix("npm ERR! code "))
    });
    codes.find(|code| NO_ANSWER_CODES.contains(code)).map(str::to_owned)
}

fn verify_checksum(package: &Path, checksum: &str) -> Result<()> {
    let mut file = File::open(package)?;
    let mut hash = Sha256::new();
    let mut chunk = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        hash.update(&chunk[..read]);
    }
    let found = hash.finalize().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    ensure!(
        found == checksum,
        "the package is not the one that was measured: its SHA-256 is\n  {found}, pinned is\n  {checksum}\n\
         Do not run it. Compare with the registry, and if the vendor has replaced the package, measure anew."
    );
    Ok(())
}

/// Extracts the client from its package.
fn unpack_client(package: &Path, folder: &Path) -> Result<()> {
    fs::create_dir(folder)?;
    let mut archive = tar::Archive::new(GzDecoder::new(io::BufReader::new(File::open(package)?)));
    for entry in archive.entries()? {
        let mut entry = entry?;
        if entry.path()?.as_ref() == Path::new("package/claude") {
            entry.unpack(folder.join("claude"))?;
            return Ok(());
        }
    }
    bail!("the package has no `package/claude`")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn recognizes_unreachable_registry() {
        let refused = "npm warn x\nnpm error code ECONNREFUSED\nnpm error errno ECONNREFUSED\n";
        assert_eq!(no_answer_code(refused).as_deref(), Some("ECONNREFUSED"));
        assert_eq!(no_answer_code("npm ERR! code E503\n").as_deref(), Some("E503"));
        assert_eq!(
            no_answer_code("npm error code ETARGET\nnpm error notarget No matching version"),
            None
        );
        assert_eq!(
            no_answer_code("npm error code E404\nnpm error ENOTFOUND is not the code"),
            None
        );
        assert_eq!(no_answer_code(""), None);
    }

    #[test]
    fn checksum_error_names_both() {
        let mut package = tempfile::NamedTempFile::new().unwrap();
        package.write_all(b"abc").unwrap();
        let of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        verify_checksum(package.path(), of_abc).unwrap();
        let error = verify_checksum(package.path(), PINNED_CHECKSUMS[0].1).unwrap_err().to_string();
        assert!(error.contains(of_abc) && error.contains(PINNED_CHECKSUMS[0].1), "{error}");
    }

    #[test]
    fn refuses_unpinned_version() {
        let error = run("9.9.9").unwrap_err().to_string();
        assert!(error.contains("9.9.9") && error.contains("2.1.325 and 2.1.197"), "{error}");
    }
}
