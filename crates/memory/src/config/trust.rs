//! The project files that the user trusts.
//!
//! Each is one line in `trusted`, in the data directory: the digest of the file and its checkout. A file with another
//! byte, or the same file in another checkout, is not trusted.

use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::file;
use crate::data_dir::{DataDir, read_own_text, replace_private};
use crate::project::ProjectKey;

/// Maximum number of entries; the oldest are dropped.
const MAX_TRUSTED_CHECKOUTS: usize = 500;

/// A checkout with a trusted file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedCheckout {
    /// Root of the checkout, without text that looks like a secret.
    pub root: String,
    digest: String,
}

impl TrustedCheckout {
    fn new(root: &Path, bytes: &[u8]) -> Self {
        Self { root: stored_root(root), digest: hex_digest(bytes) }
    }

    /// Returns true if the file has not changed since it was trusted.
    pub fn is_unchanged(&self) -> bool {
        let path = Path::new(&self.root).join(super::PROJECT_FILE);
        matches!(file::read_config_file(&path), Ok(Some(bytes)) if hex_digest(&bytes) == self.digest)
    }
}

/// Returns true if the content of a checkout's file is trusted.
pub(super) fn is_trusted(data: &Path, root: &Path, bytes: &[u8]) -> bool {
    let root = stored_root(root);
    let known = read_trusted(data).unwrap_or_default();
    known.iter().any(|known| known.root == root && known.digest == hex_digest(bytes))
}

/// Trusts the file of a checkout with exactly this content.
pub fn record_trust(data: &Path, root: &Path, bytes: &[u8]) -> io::Result<()> {
    let trusted = TrustedCheckout::new(root, bytes);
    update_trusted(data, |known| {
        known.retain(|known| known.root != trusted.root);
        known.push(trusted);
        known.drain(..known.len().saturating_sub(MAX_TRUSTED_CHECKOUTS));
    })
}

/// Removes the trust in a checkout's file. Returns true if it was trusted.
pub fn revoke_trust(data: &Path, root: &Path) -> io::Result<bool> {
    let root = stored_root(root);
    if !list_trusted(data)?.iter().any(|known| known.root == root) {
        return Ok(false);
    }
    update_trusted(data, |known| known.retain(|known| known.root != root))?;
    Ok(true)
}

/// Lists the trusted checkouts, the newest last.
pub fn list_trusted(data: &Path) -> io::Result<Vec<TrustedCheckout>> {
    read_trusted(data)
}

/// Returns the SHA-256 of some bytes in hexadecimal digits. A checksum is not enough for trust, because another file could
/// be crafted to match it.
fn hex_digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// Returns the stored form of a root, without text that looks like a secret.
fn stored_root(root: &Path) -> String {
    let key = ProjectKey::from_folder(root);
    key.as_str().strip_prefix("dir:").unwrap_or_default().to_owned()
}

fn read_trusted(data: &Path) -> io::Result<Vec<TrustedCheckout>> {
    let text = match read_own_text(&DataDir::new(data).trusted()) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let line = |line: &str| {
        let (digest, root) = line.split_once(' ')?;
        Some(TrustedCheckout { root: root.to_owned(), digest: digest.to_owned() })
    };
    Ok(text.lines().filter_map(line).collect())
}

fn update_trusted(data: &Path, change: impl FnOnce(&mut Vec<TrustedCheckout>)) -> io::Result<()> {
    let files = DataDir::new(data);
    files.make_folder()?;
    // Without the lock, two processes at once would lose one of the changes.
    let _making = files.lock_for_changes()?;
    let mut known = read_trusted(data)?;
    change(&mut known);
    let lines = known.iter().map(|TrustedCheckout { root, digest }| format!("{digest} {root}\n"));
    replace_private(&files.trusted(), lines.collect::<String>().as_bytes())
}

#[cfg(test)]
mod tests {
    /// The file `trusted` of an earlier version must stay valid.
    #[test]
    fn digest_is_hexadecimal() {
        assert_eq!(
            super::hex_digest(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
