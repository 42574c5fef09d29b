//! Chooses the remote that identifies the project.

use super::config::Config;

/// Returns the URL of `origin`, or else of the only remote, as git would fetch from it.
pub(super) fn chosen(config: &Config) -> Option<Vec<u8>> {
    // A hostile configuration may have very many remotes, so they are not compared with each other.
    let mut origin: Option<&[u8]> = None;
    let mut other: Option<(&[u8], &[u8])> = None;
    let mut has_several = false;
    for (remote, value) in config.of(b"remote", b"url") {
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
    Some(rewritten(origin.or(only)?, config))
}

/// Applies `url.<base>.insteadOf` to a URL: replaces the longest matching prefix.
fn rewritten(url: &[u8], config: &Config) -> Vec<u8> {
    let mut longest: Option<(&[u8], &[u8])> = None;
    for (base, beginning) in config.of(b"url", b"insteadof") {
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
        let mut read = Config::default();
        read.add(config.as_bytes());
        chosen(&read).map(|url| String::from_utf8(url).unwrap())
    }

    #[test]
    fn origin_wins_then_the_only_one_then_none() {
        let fork = "[remote \"fork\"]\nurl = f\n";
        let origin = "[remote \"origin\"]\nurl = o\n";
        assert_eq!(url(&format!("{fork}{origin}")).as_deref(), Some("o"));
        assert_eq!(url(fork).as_deref(), Some("f"));
        assert_eq!(url(&format!("{fork}[remote \"other\"]\nurl = x\n")), None);
        assert_eq!(url(""), None);
    }

    #[test]
    fn very_many_remotes_are_read_in_one_pass() {
        let remote = |number: usize| format!("[remote \"r{number}\"]\nurl = {number}\n");
        let mut many: String = (0..40_000).map(remote).collect();
        assert_eq!(url(&many), None);
        many.push_str("[remote \"origin\"]\nurl = o\n");
        assert_eq!(url(&many).as_deref(), Some("o"));
    }

    #[test]
    fn a_remote_without_a_url_is_none() {
        let pruned = "[remote \"origin\"]\nprune = true\n[remote \"fork\"]\nurl = f\n";
        assert_eq!(url(pruned).as_deref(), Some("f"));
        assert_eq!(url("[remote \"origin\"]\nurl\n"), None);
    }

    #[test]
    fn the_first_url_is_fetched_from_unless_forgotten() {
        assert_eq!(url("[remote \"origin\"]\nurl = a\nurl = b\n").as_deref(), Some("a"));
        assert_eq!(url("[remote \"origin\"]\nurl = a\nurl =\nurl = b\n").as_deref(), Some("b"));
    }

    #[test]
    fn the_longest_beginning_is_replaced() {
        let config = "[remote \"origin\"]\nurl = gh:o/r\n\
                      [url \"https://github.com/\"]\ninsteadOf = gh:\n\
                      [url \"ssh://git@github.com/o/\"]\ninsteadOf = gh:o/\n\
                      [url \"https://no/\"]\npushInsteadOf = gh:o/r\n";
        assert_eq!(url(config).as_deref(), Some("ssh://git@github.com/o/r"));
    }
}
