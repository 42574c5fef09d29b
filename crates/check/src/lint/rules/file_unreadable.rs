//! Files that the client cannot read.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};
use crate::settings::{DocumentFaultKind, SettingsFault};

lint_rule! {
    /// The client cannot read the file, or reads it with wrong characters.
    ///
    /// The path is a folder, a pipe or a broken symbolic link, the file may not be read, or it is not UTF-8. The client
    /// ignores a file that it cannot read, and replaces bytes that are not UTF-8.
    FILE_UNREADABLE = "file-unreadable", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for fault in &file.faults {
            let (message, help) = match fault {
                SettingsFault::NotUtf8(_) => (
                    "this is not UTF-8: the client replaces the invalid bytes".to_owned(),
                    "save it as UTF-8",
                ),
                SettingsFault::Document(fault) => match &fault.kind {
                    DocumentFaultKind::NotRegular => {
                        ("this is not a file: the client ignores it".to_owned(), "make it a file")
                    }
                    DocumentFaultKind::TooLarge => {
                        ("this file is too large to check".to_owned(), "make it smaller")
                    }
                    DocumentFaultKind::DanglingLink => (
                        "this is a symbolic link without a target: the client ignores it"
                            .to_owned(),
                        "remove it, or restore its target",
                    ),
                    DocumentFaultKind::Unreadable(error) => (
                        format!("this cannot be read: {error}"),
                        "make it readable, and run this again",
                    ),
                    _ => continue,
                },
                _ => continue,
            };
            findings.push(LintFinding::new(&FILE_UNREADABLE, index, 0..0, message, help));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::testing::LintCase;
    use crate::settings::SettingsSource;

    #[test]
    fn folders_are_no_settings() {
        let case = LintCase::empty()
            .with_text(".claude/settings.json/x", "")
            .with_path(SettingsSource::Project, ".claude/settings.json");
        assert_eq!(case.all(), ["file-unreadable 1:1"]);
    }
}
