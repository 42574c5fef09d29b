//! Excluded folders, in which Rutter does nothing.
//!
//! A pattern is a path. `*` matches any part of a name, `?` one character, `**` any folders; a backslash makes the next
//! character literal. `~` is the home folder. A relative pattern matches at any depth; in the file of a project, it is
//! relative to the root.

use std::path::{Component, Path};

use super::keys::ScopeSettings;

impl ScopeSettings {
    /// Returns true if a folder, or one of its parents, is excluded. Checks both the given name and the path without
    /// links: excluding a link also excludes its target.
    pub fn excludes(&self, folder: &Path, home: Option<&Path>) -> bool {
        if self.exclude.is_empty() {
            return false;
        }
        let given = path_names(folder);
        let settled = folder.canonicalize().map(|folder| path_names(&folder)).unwrap_or_default();
        self.exclude.iter().any(|pattern| {
            let Some(pattern) = expand_pattern(pattern, home) else { return false };
            let found = |pattern: &[String]| {
                matches_folder_or_parent(pattern, &given)
                    || (!settled.is_empty() && matches_folder_or_parent(pattern, &settled))
            };
            let segments = pattern_segments(&pattern);
            found(&segments)
                || (!pattern.contains(['*', '?', '\\'])
                    && Path::new(&pattern)
                        .canonicalize()
                        .is_ok_and(|path| found(&path_segments(&path))))
        })
    }
}

/// Makes a pattern from the file of a project absolute.
pub(super) fn anchor_pattern(root: &Path, pattern: &str) -> String {
    if pattern.starts_with(['/', '~']) {
        return pattern.to_owned();
    }
    let root = escape_pattern(&root.to_string_lossy());
    format!("{}/{pattern}", root.trim_end_matches('/'))
}

/// Makes a pattern absolute. Returns None if it starts with `~` and the home folder is unknown.
fn expand_pattern(pattern: &str, home: Option<&Path>) -> Option<String> {
    let pattern = pattern.trim();
    if let Some(rest) = pattern.strip_prefix('~')
        && (rest.is_empty() || rest.starts_with('/'))
    {
        return home.map(|home| {
            let home = home.to_string_lossy();
            // A home without special characters is not escaped, so that the path can be canonicalized.
            if home.contains(['*', '?', '\\']) {
                escape_pattern(&home) + rest
            } else {
                format!("{home}{rest}")
            }
        });
    }
    Some(if pattern.starts_with('/') { pattern.to_owned() } else { format!("/**/{pattern}") })
}

fn escape_pattern(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn pattern_segments(pattern: &str) -> Vec<String> {
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

fn path_segments(path: &Path) -> Vec<String> {
    path_names(path).iter().map(|name| escape_pattern(name)).collect()
}

fn path_names(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect()
}

/// Returns true if the pattern matches a folder or one of its parents. Follows all positions in the pattern at once, so
/// no pattern can take long.
fn matches_folder_or_parent(pattern: &[String], names: &[String]) -> bool {
    let mut at = vec![false; pattern.len() + 1];
    at[0] = true;
    skip_double_stars(pattern, &mut at);
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
            } else if matches_name(segment, name) {
                next[place + 1] = true;
            }
        }
        skip_double_stars(pattern, &mut next);
        at = next;
    }
    at[pattern.len()]
}

/// Lets `**` match zero folders.
fn skip_double_stars(pattern: &[String], at: &mut [bool]) {
    for (place, segment) in pattern.iter().enumerate() {
        if at[place] && segment == "**" {
            at[place + 1] = true;
        }
    }
}

/// Returns true if a pattern matches a name. On a mismatch, the last star matches one character more.
fn matches_name(pattern: &str, name: &str) -> bool {
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
        let scope = ScopeSettings { exclude: vec![pattern.to_owned()], ..ScopeSettings::default() };
        scope.excludes(Path::new(folder), Some(Path::new("/home/me")))
    }

    #[test]
    fn excludes_folder_and_content() {
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
    fn home_pattern_needs_home() {
        let scope = ScopeSettings { exclude: vec!["~/x".to_owned()], ..ScopeSettings::default() };
        assert!(!scope.excludes(Path::new("/home/me/x"), None));
    }

    #[test]
    fn project_patterns_start_at_root() {
        let root = Path::new("/srv/a*b");
        for (pattern, folder, expected) in [
            (".", "/srv/a*b/x", true),
            ("vendor", "/srv/a*b/vendor/x", true),
            ("vendor", "/srv/a*b/src/vendor", false),
            ("vendor", "/srv/axb/vendor", false),
            ("**/vendor", "/srv/a*b/src/vendor", true),
            ("/srv", "/srv/x", true),
        ] {
            assert_eq!(
                excludes(&anchor_pattern(root, pattern), folder),
                expected,
                "{pattern} {folder}"
            );
        }
    }

    #[test]
    fn excluding_link_excludes_target() {
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
