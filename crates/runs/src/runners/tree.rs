//! The path of a test in an indented tree of suites, as several runners print it.

/// The suites around a line, outermost first, each with its indentation.
#[derive(Debug, Default)]
pub(super) struct SuiteTree<'a>(Vec<(usize, &'a str)>);

impl<'a> SuiteTree<'a> {
    /// Enters a suite and leaves those with the same or deeper indentation.
    pub(super) fn enter(&mut self, indent: usize, name: &'a str) {
        self.leave(indent);
        self.0.push((indent, name));
    }

    /// Leaves all suites with the same or deeper indentation.
    pub(super) fn leave(&mut self, indent: usize) {
        self.0.retain(|(other, _)| *other < indent);
    }

    /// Returns the names of the suites around a test and its own, joined.
    pub(super) fn path(&self, indent: usize, name: &str, separator: &str) -> String {
        let around = self.0.iter().filter(|(other, _)| *other < indent).map(|(_, name)| *name);
        around.chain([name]).collect::<Vec<_>>().join(separator)
    }
}

/// Splits a line into the number of blanks before its text, and the text.
pub(super) fn split_indent(line: &str) -> (usize, &str) {
    let text = line.trim_start_matches(' ');
    (line.len() - text.len(), text)
}

/// Removes a time such as ` (12 ms)`, ` (1.2s)` or ` 5ms` from the end of a name.
pub(super) fn strip_time(name: &str) -> &str {
    let is_time = |text: &str| {
        let number = ["ms", "s", "m"].iter().find_map(|unit| text.strip_suffix(unit));
        number.is_some_and(|number| crate::scan::parse_seconds(number.trim_end()).is_some())
    };
    if let Some((rest, time)) = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("))
        && is_time(time)
    {
        return rest;
    }
    match name.rsplit_once(' ') {
        Some((rest, time)) if time.ends_with("ms") && is_time(time) => rest,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_the_indentation() {
        let mut tree = SuiteTree::default();
        tree.enter(2, "shop");
        tree.enter(4, "when empty");
        assert_eq!(tree.path(6, "is zero", " > "), "shop > when empty > is zero");
        assert_eq!(tree.path(4, "adds", " "), "shop adds");
        tree.enter(2, "book");
        assert_eq!(tree.path(4, "opens", " > "), "book > opens");
    }

    #[test]
    fn times_are_removed() {
        for name in ["adds (2 ms)", "adds (1.25s)", "adds 5ms", "adds (12ms)", "adds"] {
            assert_eq!(strip_time(name), "adds", "{name}");
        }
        for name in ["adds (fast)", "takes 5", "waits (2 ms) more", "in s"] {
            assert_eq!(strip_time(name), name);
        }
    }
}
