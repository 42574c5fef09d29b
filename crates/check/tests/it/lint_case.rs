//! The form of a case of the linter: a mistake, its correction, and what a session shows of both.

/// The session that shows a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// A session with the settings of all such cases joined.
    Joined,
    /// As [`Place::Joined`], after a `cd` into a subfolder.
    AfterCd,
    /// The broken form is a settings file of its own. The corrected form is joined.
    OwnFile,
    /// The broken form has a session of its own. The corrected form is joined.
    OwnSession,
    /// As [`Place::OwnSession`], in the settings of the user.
    UserSession,
    /// Both forms have a session of their own.
    OwnSessions,
    /// As [`Place::OwnSessions`], with a call that needs permission. The user's program allows it in the broken form; in the
    /// corrected form nobody can be asked.
    AskingSessions,
    /// A session with the plugins of all such cases.
    Plugins,
}

/// A mistake and its correction.
///
/// In paths and texts, `$N` is the name of the case and form, and `$HOOK` are the fields of a hook that adds a line to the
/// file `ran/$N`. A path that ends in `!` is executable.
#[derive(Debug)]
pub(crate) struct LintCase {
    /// The id of the rule that reports the broken form.
    pub(crate) rule: &'static str,
    /// The session that shows it.
    pub(crate) place: Place,
    /// The files of the broken form.
    pub(crate) broken: Vec<(String, String)>,
    /// The files that differ in the corrected form. Empty if the rule has a fix.
    pub(crate) fixed: Vec<(String, String)>,
    /// The number of lines in `ran/$N` of the broken and of the corrected form. An empty file counts as one.
    pub(crate) lines: [usize; 2],
    /// True if the model calls Bash with `touch ran/$N`.
    pub(crate) has_call: bool,
    /// True if the file is saved in Latin-1.
    pub(crate) is_latin1: bool,
    /// True if the newest client skips the file or plugin of the broken form.
    pub(crate) voids_file: bool,
}

/// The path of the settings of a case.
pub(crate) const SETTINGS: &str = "settings.json";
/// A script that blocks.
pub(crate) const BLOCKS: &str = "#!/bin/sh\necho stop >&2\nexit 2\n";
/// The command of a script that belongs to the case.
pub(crate) const SCRIPT: &str = r#""command": "\"$CLAUDE_PROJECT_DIR\"/$N.sh""#;

/// Creates a case of settings.
pub(crate) fn settings(rule: &'static str, text: &str, lines: [usize; 2]) -> LintCase {
    LintCase {
        rule,
        place: Place::Joined,
        broken: vec![(SETTINGS.to_owned(), text.to_owned())],
        fixed: Vec::new(),
        lines,
        has_call: false,
        is_latin1: false,
        voids_file: false,
    }
}

/// Creates a case of a settings file that the client skips.
pub(crate) fn own_file(rule: &'static str, text: &str) -> LintCase {
    LintCase { place: Place::OwnFile, voids_file: true, ..settings(rule, text, [0, 1]) }
}

/// Creates a case of one group.
pub(crate) fn group(rule: &'static str, event: &str, group: &str, lines: [usize; 2]) -> LintCase {
    settings(rule, &one_group(event, group), lines)
}

/// Returns settings with one group.
pub(crate) fn one_group(event: &str, group: &str) -> String {
    format!("{{\"hooks\": {{\"{event}\": [{group}]}}}}")
}

/// Creates a case of a guard with these fields, which must keep the call `touch ran/$N` from running.
pub(crate) fn guard(rule: &'static str, fields: &str) -> LintCase {
    LintCase { has_call: true, ..settings(rule, &guard_settings(fields), [1, 0]) }
}

/// Returns settings with one guard.
fn guard_settings(fields: &str) -> String {
    let hook = format!("\"if\": \"Bash(touch ran/$N)\", \"type\": \"command\", {fields}");
    one_group("PreToolUse", &format!("{{\"matcher\": \"Bash\", \"hooks\": [{{{hook}}}]}}"))
}

/// Creates a case of a guard whose script is wrong.
pub(crate) fn guard_script(rule: &'static str, broken: &str, fixed: &str) -> LintCase {
    guard(rule, SCRIPT).file("$N.sh!", broken).fixed("$N.sh!", fixed)
}

impl LintCase {
    /// Adds a file of the broken form.
    pub(crate) fn file(mut self, path: &str, text: &str) -> Self {
        self.broken.push((path.to_owned(), text.to_owned()));
        self
    }

    /// Adds a file of the corrected form.
    pub(crate) fn fixed(mut self, path: &str, text: &str) -> Self {
        self.fixed.push((path.to_owned(), text.to_owned()));
        self
    }

    /// Sets the settings of the corrected form.
    pub(crate) fn fixed_settings(self, text: &str) -> Self {
        self.fixed(SETTINGS, text)
    }

    /// Sets the group of the corrected form.
    pub(crate) fn fixed_group(self, event: &str, group: &str) -> Self {
        self.fixed_settings(&one_group(event, group))
    }

    /// Sets the fields of the guard of the corrected form.
    pub(crate) fn fixed_guard(self, fields: &str) -> Self {
        self.fixed_settings(&guard_settings(fields))
    }

    /// Sets the session.
    pub(crate) fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// Sets that the client skips only the mistake, and not the file.
    pub(crate) fn keeping_file(self) -> Self {
        Self { voids_file: false, ..self }
    }
}
