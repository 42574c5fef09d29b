//! Excluded folders, in which Rutter does nothing.
//!
//! A pattern is a path. `*` matches any part of a name, `?` one character, `**` any folders; a backslash makes the next
//! character literal. `~` is the home folder. A relative pattern matches at any depth; in the file of a project, it is
//! relative to the root.

use std::path::{Component, Path};

use super::keys::Scope;

impl Scope {
    /// Returns true if a folder, or one of its parents, is excluded. Checks both the given name and the path without
    /// links: excluding a link also excludes its target.
    pub fn excludes(&self, folder: &Path, home: Option<&Path>) -> bool {
        if self.exclude.is_empty() {
            return false;
        }
        let given = names(folder);
        let settled = folder.canonicalize().map(|folder| names(&folder)).unwrap_or_default();
        self.exclude.iter().any(|pattern| {
            let Some(pattern) = expanded(pattern, home) else { return false };
            let found = |pattern: &[String]| {
                is_below(pattern, &given) || (!settled.is_empty() && is_below(pattern, &settled))
            };
            let segments = segments(&pattern);
            found(&segments)
                || (!pattern.contains(['*', '?', '\\'])
                    && Path::new(&pattern)
                        .canonicalize()
                        .is_ok_and(|path| found(&segments_of(&path))))
        })
    }
}

/// Makes a pattern from the file of a project absolute.
pub(super) fn anchored(root: &Path, pattern: &str) -> String {
    if pattern.starts_with(['/', '~']) {
        return pattern.to_owned();
    }
    let root = escaped(&root.to_string_lossy());
    format!("{}/{pattern}", root.trim_end_matches('/'))
}

/// Makes a pattern absolute. Returns None if it starts with `~` and the home folder is unknown.
fn expanded(pattern: &str, home: Option<&Path>) -> Option<String> {
    let pattern = pattern.trim();
    if let Some(rest) = pattern.strip_prefix('~')
        && (rest.is_empty() || rest.starts_with('/'))
    {
        return home.map(|home| {
            let home = home.to_string_lossy();
            // A home without special characters is not escaped, so that the path can be canonicalized.
            if home.contains(['*', '?', '\\']) {
                escaped(&home) + rest
            } else {
                format!("{home}{rest}")
            }
        });
    }
    Some(if pattern.starts_with('/') { pattern.to_owned() } else { format!("/**/{pattern}") })
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn segments(pattern: &str) -> Vec<String> {
    let mut segments: Vec<String> = Vec::new();
    for segment in pattern.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            _ => segments.push(segment.to_owned()),
        }
    }
    segments
}

fn segments_of(path: &Path) -> Vec<String> {
    names(path).iter().map(|name| escaped(name)).collect()
}

fn names(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect()
}

/// Returns true if the pattern matches a folder or one of its parents. Follows all positions in the pattern at once, so
/// no pattern can take long.
fn is_below(pattern: &[String], names: &[String]) -> bool {
    let mut at = vec![false; pattern.len() + 1];
    at[0] = true;
    skip(pattern, &mut at);
    for name in names {
        if at[pattern.len()] {
            return true;
        }
        let mut next = vec![false; pattern.len() + 1];
        for (place, segment) in pattern.iter().enumerate() {
            if !at[place] {
                continue;
            }
            if segment == "**" {
                next[place] = true;
            } else if fits(segment, name) {
                next[place + 1] = true;
            }
        }
        skip(pattern, &mut next);
        at = next;
    }
    at[pattern.len()]
}

/// Lets `**` match zero folders.
fn skip(pattern: &[String], at: &mut [bool]) {
    for (place, segment) in pattern.iter().enumerate() {
        if at[place] && segment == "**" {
            at[place + 1] = true;
        }
    }
}

/// Returns true if a pattern matches a name. On a mismatch, the last star matches one character more.
fn fits(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        let (length, fits) = match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, n));
                p += 1;
                continue;
            }
            Some('?') => (1, true),
            Some('\\') if p + 1 < pattern.len() => (2, pattern[p + 1] == name[n]),
            Some(c) => (1, *c == name[n]),
            None => (0, false),
        };
        if fits {
            p += length;
            n += 1;
        } else if let Some((after, from)) = star {
            star = Some((after, from + 1));
            (p, n) = (after, from + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excludes(pattern: &str, folder: &str) -> bool {
        let scope = Scope { exclude: vec![pattern.to_owned()], ..Scope::default() };
        scope.excludes(Path::new(folder), Some(Path::new("/home/me")))
    }

    #[test]
    fn a_folder_is_excluded_with_all_that_is_in_it() {
        for (pattern, folder) in [
            ("/srv/clients", "/srv/clients"),
            ("/srv/clients", "/srv/clients/acme/src"),
            ("/srv/clients/", "/srv/clients/acme"),
            ("~/clients", "/home/me/clients/acme"),
            ("~", "/home/me/x"),
            ("/srv/*", "/srv/x/y"),
            ("/srv/cl*ts/a?me", "/srv/clients/acme/x"),
            ("**/secret", "/a/b/secret/c"),
            ("/a/**/secret", "/a/secret"),
            ("/a/**/b/**/c", "/a/x/b/y/z/c/d"),
            ("secret", "/a/b/secret/c"),
            ("clients/acme", "/srv/clients/acme"),
            ("/srv/x/../y", "/srv/y"),
            ("/srv/\\*", "/srv/*/x"),
            ("/", "/anything"),
        ] {
            assert!(excludes(pattern, folder), "{pattern} {folder}");
        }
        for (pattern, folder) in [
            ("/srv/clients", "/srv"),
            ("/srv/clients", "/srv/clients2"),
            ("~/clients", "/home/you/clients"),
            ("~you/x", "/home/me/x"),
            ("/srv/*", "/srv"),
            ("/srv/a?me", "/srv/ame"),
            ("/srv/*a", "/srv/b"),
            ("/srv/\\*", "/srv/x"),
            ("secret", "/a/secrets"),
            ("/a/**/secret", "/b/secret"),
        ] {
            assert!(!excludes(pattern, folder), "{pattern} {folder}");
        }
    }

    #[test]
    fn without_a_home_a_pattern_in_it_excludes_nothing() {
        let scope = Scope { exclude: vec!["~/x".to_owned()], ..Scope::default() };
        assert!(!scope.excludes(Path::new("/home/me/x"), None));
    }

    #[test]
    fn a_project_counts_from_its_root() {
        let root = Path::new("/srv/a*b");
        for (pattern, folder, expected) in [
            (".", "/srv/a*b/x", true),
            ("vendor", "/srv/a*b/vendor/x", true),
            ("vendor", "/srv/a*b/src/vendor", false),
            ("vendor", "/srv/axb/vendor", false),
            ("**/vendor", "/srv/a*b/src/vendor", true),
            ("/srv", "/srv/x", true),
        ] {
            assert_eq!(excludes(&anchored(root, pattern), folder), expected, "{pattern} {folder}");
        }
    }

    #[test]
    fn whoever_excludes_a_link_means_what_it_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        std::fs::create_dir_all(real.join("inside")).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let (real, link) = (real.to_str().unwrap(), link.to_str().unwrap());
        assert!(excludes(link, &format!("{real}/inside")));
        assert!(excludes(real, &format!("{link}/inside")));
    }

    /// An untrusted file may contain any pattern.
    #[test]
    fn no_pattern_takes_long() {
        let pattern = format!("/{}x", "**/*a*a*a*b/".repeat(500));
        let folder = format!("/{}", "aaaaaaaaaaaaaaaa/".repeat(200));
        assert!(!excludes(&pattern, &folder));
    }
}
