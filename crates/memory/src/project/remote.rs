//! Chooses the remote that identifies the project.

use super::config::GitConfig;

/// Returns the URL of `origin`, or else of the only remote, as git would fetch from it.
pub(super) fn choose_remote_url(config: &GitConfig) -> Option<Vec<u8>> {
    // A hostile configuration may have very many remotes, so they are not compared with each other.
    let mut origin: Option<&[u8]> = None;
    let mut other: Option<(&[u8], &[u8])> = None;
    let mut has_several = false;
    for (remote, value) in config.subsection_values(b"remote", b"url") {
        let Some(url) = value else { continue };
        // An empty value discards those of earlier lines. git fetches from the first of several; the others are for
        // pushing.
        if remote == b"origin" {
            origin = if url.is_empty() { None } else { origin.or(Some(url)) };
        } else if let Some((name, _)) = other {
            match (name == remote, url.is_empty()) {
                (true, true) => other = None,
                (true, false) | (false, true) => {}
                (false, false) => has_several = true,
            }
        } else if !url.is_empty() {
            other = Some((remote, url));
        }
    }
    let only = other.filter(|_| !has_several).map(|(_, url)| url);
    Some(apply_instead_of(origin.or(only)?, config))
}

/// Applies `url.<base>.insteadOf` to a URL: replaces the longest matching prefix.
fn apply_instead_of(url: &[u8], config: &GitConfig) -> Vec<u8> {
    let mut longest: Option<(&[u8], &[u8])> = None;
    for (base, beginning) in config.subsection_values(b"url", b"insteadof") {
        let Some(beginning) = beginning else { continue };
        let longer = longest.is_none_or(|(_, other)| other.len() < beginning.len());
        if longer && url.starts_with(beginning) {
            longest = Some((base, beginning));
        }
    }
    match longest {
        Some((base, beginning)) => [base, &url[beginning.len()..]].concat(),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(config: &str) -> Option<String> {
        let mut read = GitConfig::default();
        read.add(config.as_bytes());
        choose_remote_url(&read).map(|url| String::from_utf8(url).unwrap())
    }

    #[test]
    fn prefers_origin_then_only_remote() {
        let fork = "[remote \"fork\"]\nurl = f\n";
        let origin = "[remote \"origin\"]\nurl = o\n";
        assert_eq!(url(&format!("{fork}{origin}")).as_deref(), Some("o"));
        assert_eq!(url(fork).as_deref(), Some("f"));
        assert_eq!(url(&format!("{fork}[remote \"other\"]\nurl = x\n")), None);
        assert_eq!(url(""), None);
    }

    #[test]
    fn reads_many_remotes_once() {
        let remote = |number: usize| format!("[remote \"r{number}\"]\nurl = {number}\n");
        let mut many: String = (0..40_000).map(remote).collect();
        assert_eq!(url(&many), None);
        many.push_str("[remote \"origin\"]\nurl = o\n");
        assert_eq!(url(&many).as_deref(), Some("o"));
    }

    #[test]
    fn ignores_remote_without_url() {
        let pruned = "[remote \"origin\"]\nprune = true\n[remote \"fork\"]\nurl = f\n";
        assert_eq!(url(pruned).as_deref(), Some("f"));
        assert_eq!(url("[remote \"origin\"]\nurl\n"), None);
    }

    #[test]
    fn first_url_counts_unless_reset() {
        assert_eq!(url("[remote \"origin\"]\nurl = a\nurl = b\n").as_deref(), Some("a"));
        assert_eq!(url("[remote \"origin\"]\nurl = a\nurl =\nurl = b\n").as_deref(), Some("b"));
    }

    #[test]
    fn replaces_longest_prefix() {
        let config = "[remote \"origin\"]\nurl = gh:o/r\n\
                      [url \"https://github.com/\"]\ninsteadOf = gh:\n\
                      [url \"ssh://git@github.com/o/\"]\ninsteadOf = gh:o/\n\
                      [url \"https://no/\"]\npushInsteadOf = gh:o/r\n";
        assert_eq!(url(config).as_deref(), Some("ssh://git@github.com/o/r"));
    }
}
