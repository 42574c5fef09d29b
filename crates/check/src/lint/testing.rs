//! Runs the rules on texts, for the cases of each rule.

use std::path::PathBuf;

use rutter_contract::version::{Contract, Version};
use tempfile::TempDir;

use super::{LintContext, LintFile, LintFinding, LintMachine, LintRule, Severity, run_rules};
use crate::settings::{
    PluginFault, SettingsLayer, SettingsSource, line_and_column, load_plugin_folder,
};
use crate::text_edit::apply_edits;

/// A folder with the files of a case.
pub(in crate::lint) struct LintCase {
    folder: TempDir,
    files: Vec<(SettingsSource, PathBuf)>,
    is_plugin: bool,
    contract: Contract,
}

impl LintCase {
    /// Creates a case with one file of project settings.
    pub(in crate::lint) fn settings(text: &str) -> Self {
        Self::empty().with_file(SettingsSource::Project, ".claude/settings.json", text)
    }

    /// Creates a case with one handler on an event. `fields` are the fields of the handler besides its type.
    pub(in crate::lint) fn command(event: &str, fields: &str) -> Self {
        Self::settings(&format!(
            "{{\"hooks\": {{\"{event}\": [{{\"hooks\": [{{\"type\": \"command\", {fields}}}]}}]}}}}"
        ))
    }

    /// Creates a case with one group with a matcher.
    pub(in crate::lint) fn matcher(event: &str, matcher: &str) -> Self {
        let matcher = serde_json::Value::from(matcher);
        Self::settings(&format!(
            "{{\"hooks\": {{\"{event}\": [{{\"matcher\": {matcher}, \"hooks\": [{{\"type\": \"command\", \"command\": \"true\"}}]}}]}}}}"
        ))
    }

    /// Creates a case without files.
    pub(in crate::lint) fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            files: Vec::new(),
            is_plugin: false,
            contract: Contract::newest(),
        }
    }

    /// Creates a case with the files of a plugin.
    pub(in crate::lint) fn plugin(files: &[(&str, &str)]) -> Self {
        let case =
            files.iter().fold(Self::empty(), |case, (path, text)| case.with_text(path, text));
        Self { is_plugin: true, ..case }
    }

    /// Reads a path that was created before.
    pub(in crate::lint) fn with_path(mut self, whose: SettingsSource, path: &str) -> Self {
        self.files.push((whose, self.folder.path().join(path)));
        self
    }

    /// Adds a file that may contain hooks.
    pub(in crate::lint) fn with_file(
        mut self,
        whose: SettingsSource,
        path: &str,
        text: &str,
    ) -> Self {
        self = self.with_text(path, text);
        self.files.push((whose, self.folder.path().join(path)));
        self
    }

    /// Adds any other file, for example a script. A name that ends in `!` makes it executable.
    pub(in crate::lint) fn with_text(self, path: &str, text: &str) -> Self {
        use std::io::Write as _;
        use std::os::unix::fs::PermissionsExt as _;
        let (path, mode) = path.strip_suffix('!').map_or((path, 0o644), |path| (path, 0o755));
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    /// Uses the contract of another client.
    pub(in crate::lint) fn on_client(mut self, client: &str) -> Self {
        self.contract = Contract::for_client(client.parse::<Version>().unwrap());
        self
    }

    fn load(&self) -> (Vec<LintFile>, Vec<PluginFault>) {
        if self.is_plugin {
            let folder = self.folder.path().canonicalize().unwrap();
            let loaded = load_plugin_folder(&folder, self.contract);
            let files = loaded.layers.into_iter();
            let files = files.filter_map(|layer| {
                LintFile::from_layer(
                    layer,
                    Some(folder.clone()),
                    Some(folder.clone()),
                    self.contract,
                )
            });
            return (files.collect(), loaded.faults);
        }
        let load = |(whose, path): &(SettingsSource, PathBuf)| {
            let layer = SettingsLayer::load(*whose, path, None, self.contract);
            LintFile::from_layer(layer, None, Some(self.folder.path().to_owned()), self.contract)
        };
        (self.files.iter().filter_map(load).collect(), Vec::new())
    }

    /// Returns the findings of all rules, and the files.
    fn findings(&self) -> (Vec<LintFinding>, Vec<LintFile>) {
        let (files, plugin_faults) = self.load();
        let machine = LintMachine {
            home: None,
            search: vec![PathBuf::from("/bin"), PathBuf::from("/usr/bin")],
            has_bash_as_sh: false,
        };
        let context = LintContext::new(files, plugin_faults, self.contract, &machine);
        let findings = run_rules(&context, &|_, _| false);
        let files = context.files;
        (findings, files)
    }

    /// Returns the findings of one rule as the marked text and its position, and checks that the message is not empty.
    pub(in crate::lint) fn marked(&self, rule: &LintRule) -> Vec<String> {
        let (findings, files) = self.findings();
        let of_rule = findings.iter().filter(|finding| finding.rule.id == rule.id);
        of_rule
            .map(|finding| {
                assert!(!finding.message.is_empty() && !finding.help.is_empty());
                files[finding.file].text[finding.range.clone()].to_owned()
            })
            .collect()
    }

    /// Returns the ids and positions of all findings, as `rule line:column`.
    pub(in crate::lint) fn all(&self) -> Vec<String> {
        let (findings, files) = self.findings();
        let describe = |finding: &LintFinding| {
            let (line, column) = line_and_column(&files[finding.file].text, finding.range.start);
            format!("{} {line}:{column}", finding.rule.id)
        };
        findings.iter().map(describe).collect()
    }

    /// Returns the severities of the findings of one rule.
    pub(in crate::lint) fn severities(&self, rule: &LintRule) -> Vec<Severity> {
        let of_rule = self.findings().0.into_iter().filter(|finding| finding.rule.id == rule.id);
        of_rule.map(|finding| finding.severity).collect()
    }

    /// Returns the messages of one rule.
    pub(in crate::lint) fn messages(&self, rule: &LintRule) -> Vec<String> {
        let of_rule = self.findings().0.into_iter().filter(|finding| finding.rule.id == rule.id);
        of_rule.map(|finding| finding.message).collect()
    }

    /// Applies the fixes of one rule to the first file that has any, and returns the text.
    pub(in crate::lint) fn fixed(&self, rule: &LintRule) -> String {
        let (findings, files) = self.findings();
        let mut of_rule = findings.iter().filter(|finding| finding.rule.id == rule.id);
        let fixed = of_rule.find(|finding| finding.fix.is_some()).map_or(0, |finding| finding.file);
        let mut edits: Vec<_> = findings
            .iter()
            .filter(|finding| finding.rule.id == rule.id && finding.file == fixed)
            .filter_map(|finding| finding.fix.clone())
            .flat_map(|fix| fix.edits)
            .collect();
        edits.sort_by_key(|edit| edit.range.start);
        apply_edits(&files[fixed].text, &edits)
    }
}
