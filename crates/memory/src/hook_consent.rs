//! The hooks that the user agreed to run for a test.
//!
//! Each is one line in `tested-hooks`, in the data directory: the digest of its command and of the files that the command
//! names. A hook with another byte was not agreed to.

use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::data_dir::{DataDir, read_own_text, replace_private};

/// Maximum number of entries; the oldest are dropped.
const MAX_CONSENTS: usize = 500;

/// Returns the digest of the parts of a hook. Each part counts with its length, so that no two lists of parts are the same.
pub fn digest_hook<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// Returns true if the user agreed to all of these hooks.
pub fn has_consent(data: &Path, digests: &[String]) -> bool {
    let known = read_consents(data).unwrap_or_default();
    digests.iter().all(|digest| known.contains(digest))
}

/// Records that the user agreed to these hooks.
pub fn record_consent(data: &Path, digests: &[String]) -> io::Result<()> {
    let files = DataDir::new(data);
    files.make_folder()?;
    // Without the lock, two processes at once would lose one of the changes.
    let _making = files.lock_for_changes()?;
    let mut known = read_consents(data)?;
    known.retain(|known| !digests.contains(known));
    known.extend_from_slice(digests);
    known.drain(..known.len().saturating_sub(MAX_CONSENTS));
    let lines = known.iter().map(|digest| format!("{digest}\n"));
    replace_private(&files.tested_hooks(), lines.collect::<String>().as_bytes())
}

fn read_consents(data: &Path) -> io::Result<Vec<String>> {
    match read_own_text(&DataDir::new(data).tested_hooks()) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(parts: &[&str]) -> String {
        digest_hook(parts.iter().map(|part| part.as_bytes()))
    }

    #[test]
    fn consent_is_for_exact_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (digest(&["./guard", "exit 0"]), digest(&["./guard", "exit 2"]));
        assert!(!has_consent(folder.path(), std::slice::from_ref(&one)));
        record_consent(folder.path(), std::slice::from_ref(&one)).unwrap();
        assert!(has_consent(folder.path(), std::slice::from_ref(&one)));
        assert!(!has_consent(folder.path(), &[one, other.clone()]));
        assert_ne!(other, digest(&["./guardexit 2"]));
    }

    #[test]
    fn oldest_consents_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let digests: Vec<String> = (0..=MAX_CONSENTS).map(|number| number.to_string()).collect();
        record_consent(folder.path(), &digests).unwrap();
        assert!(
            !has_consent(folder.path(), &digests[..1]) && has_consent(folder.path(), &digests[1..])
        );
    }
}
