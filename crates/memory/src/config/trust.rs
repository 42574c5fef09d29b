//! Which files of projects the user has looked at.
//!
//! One line each in `trusted`, in the folder of the memory: the digest of the file, and the checkout it is for. Another
//! byte in the file, or the same file in another checkout, is not trusted.

use std::io;
use std::path::Path;

use super::file;
use super::sha256;
use crate::data_dir::{Files, read_own_text, replace_private};
use crate::project::ProjectKey;

/// How many are remembered, the newest.
const KEPT: usize = 500;

/// A checkout whose file is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trusted {
    /// Its root, as it is written down.
    pub root: String,
    digest: String,
}

impl Trusted {
    fn of(root: &Path, bytes: &[u8]) -> Self {
        Self { root: name(root), digest: sha256::of(bytes) }
    }

    /// Whether the file is still what was looked at.
    pub fn holds(&self) -> bool {
        let path = Path::new(&self.root).join(super::PROJECT_FILE);
        matches!(file::read(&path), Ok(Some(bytes)) if sha256::of(&bytes) == self.digest)
    }
}

/// Whether the file of a checkout is what was looked at.
pub(super) fn is_trusted(data: &Path, root: &Path, bytes: &[u8]) -> bool {
    let root = name(root);
    let known = read(data).unwrap_or_default();
    known.iter().any(|known| known.root == root && known.digest == sha256::of(bytes))
}

/// Trusts the file of a checkout, as long as it says this.
pub fn record(data: &Path, root: &Path, bytes: &[u8]) -> io::Result<()> {
    let trusted = Trusted::of(root, bytes);
    change(data, |known| {
        known.retain(|known| known.root != trusted.root);
        known.push(trusted);
        known.drain(..known.len().saturating_sub(KEPT));
    })
}

/// Trusts it no longer. Returns whether it was.
pub fn revoke(data: &Path, root: &Path) -> io::Result<bool> {
    let root = name(root);
    if !list(data)?.iter().any(|known| known.root == root) {
        return Ok(false);
    }
    change(data, |known| known.retain(|known| known.root != root))?;
    Ok(true)
}

/// What is trusted, the newest last.
pub fn list(data: &Path) -> io::Result<Vec<Trusted>> {
    read(data)
}

/// A root as it is written down: without what looks like a secret.
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
    // Two at once would forget what the other one did.
    let _making = files.making()?;
    let mut known = read(data)?;
    change(&mut known);
    let lines = known.iter().map(|Trusted { root, digest }| format!("{digest} {root}\n"));
    replace_private(&files.trusted(), lines.collect::<String>().as_bytes())
}
