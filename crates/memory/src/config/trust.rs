//! The project files that the user trusts.
//!
//! Each is one line in `trusted`, in the data directory: the digest of the file and its checkout. A file with another
//! byte, or the same file in another checkout, is not trusted.

use std::io;
use std::path::Path;

use super::file;
use super::sha256;
use crate::data_dir::{Files, read_own_text, replace_private};
use crate::project::ProjectKey;

/// Maximum number of entries; the oldest are dropped.
const KEPT: usize = 500;

/// A checkout with a trusted file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trusted {
    /// Root of the checkout, without text that looks like a secret.
    pub root: String,
    digest: String,
}

impl Trusted {
    fn of(root: &Path, bytes: &[u8]) -> Self {
        Self { root: name(root), digest: sha256::of(bytes) }
    }

    /// Returns true if the file has not changed since it was trusted.
    pub fn holds(&self) -> bool {
        let path = Path::new(&self.root).join(super::PROJECT_FILE);
        matches!(file::read(&path), Ok(Some(bytes)) if sha256::of(&bytes) == self.digest)
    }
}

/// Returns true if the content of a checkout's file is trusted.
pub(super) fn is_trusted(data: &Path, root: &Path, bytes: &[u8]) -> bool {
    let root = name(root);
    let known = read(data).unwrap_or_default();
    known.iter().any(|known| known.root == root && known.digest == sha256::of(bytes))
}

/// Trusts the file of a checkout with exactly this content.
pub fn record(data: &Path, root: &Path, bytes: &[u8]) -> io::Result<()> {
    let trusted = Trusted::of(root, bytes);
    change(data, |known| {
        known.retain(|known| known.root != trusted.root);
        known.push(trusted);
        known.drain(..known.len().saturating_sub(KEPT));
    })
}

/// Removes the trust in a checkout's file. Returns true if it was trusted.
pub fn revoke(data: &Path, root: &Path) -> io::Result<bool> {
    let root = name(root);
    if !list(data)?.iter().any(|known| known.root == root) {
        return Ok(false);
    }
    change(data, |known| known.retain(|known| known.root != root))?;
    Ok(true)
}

/// Lists the trusted checkouts, the newest last.
pub fn list(data: &Path) -> io::Result<Vec<Trusted>> {
    read(data)
}

/// Returns the stored form of a root, without text that looks like a secret.
fn name(root: &Path) -> String {
    let key = ProjectKey::folder(root);
    key.as_str().strip_prefix("dir:").unwrap_or_default().to_owned()
}

fn read(data: &Path) -> io::Result<Vec<Trusted>> {
    let text = match read_own_text(&Files::new(data).trusted()) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let line = |line: &str| {
        let (digest, root) = line.split_once(' ')?;
        Some(Trusted { root: root.to_owned(), digest: digest.to_owned() })
    };
    Ok(text.lines().filter_map(line).collect())
}

fn change(data: &Path, change: impl FnOnce(&mut Vec<Trusted>)) -> io::Result<()> {
    let files = Files::new(data);
    files.make_folder()?;
    // Without the lock, two processes at once would lose one of the changes.
    let _making = files.making()?;
    let mut known = read(data)?;
    change(&mut known);
    let lines = known.iter().map(|Trusted { root, digest }| format!("{digest} {root}\n"));
    replace_private(&files.trusted(), lines.collect::<String>().as_bytes())
}
