//! Files of a plugin from which the client takes no hooks.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFile, LintFinding};
use crate::settings::{HookFaultKind, LostPart, PluginFault, PluginFaultKind};

lint_rule! {
    /// The client takes no hooks from a file of a plugin, or does not load the plugin.
    ///
    /// `hooks/hooks.json` needs a `hooks` object around its events, like settings. Paths in the manifest start with `./` and
    /// stay inside the plugin. The client ignores hooks in the frontmatter of a plugin's agents and commands.
    ///
    /// ```json
    /// { "Stop": [{ "hooks": [{ "type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/check.sh" }] }] }
    /// ```
    ///
    /// Write `{ "hooks": { "Stop": [ … ] } }`. `--fix` adds the missing `hooks`, and `./` before a path.
    PLUGIN_INVALID = "plugin-invalid", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for fault in &context.plugin_faults {
        let found = context.files.iter().position(|file| file.path == fault.location.file);
        if let Some(index) = found {
            findings.extend(plugin_fault(fault, &context.files[index], index));
        }
    }
    for (index, file) in context.files.iter().enumerate() {
        for (fault, at) in file.hook_faults() {
            if fault.kind == HookFaultKind::HooksIgnored {
                let message = "the client ignores hooks in the agents and commands of a plugin";
                let help = "move them to `hooks/hooks.json` of the plugin, or to a skill";
                let range = file.root.as_ref().and_then(|root| root.member("hooks"));
                let range = range.map_or(at..at, |member| member.key_range.clone());
                findings.push(LintFinding::new(&PLUGIN_INVALID, index, range, message, help));
            }
        }
    }
}

fn plugin_fault(fault: &PluginFault, file: &LintFile, index: usize) -> Option<LintFinding> {
    let lost = match fault.lost {
        LostPart::File => "no hook of it runs",
        LostPart::Plugin => "the client does not load the plugin",
    };
    let at = fault.location.position.map_or(0, |position| file.offset(position));
    let range = file.node_at(at).map_or(at..at, |node| node.range.clone());
    let (what, help) = match &fault.kind {
        PluginFaultKind::MissingWrapper => (
            "the events of this file are not inside `hooks`".to_owned(),
            "write { \"hooks\": { … } } around them",
        ),
        // The rule wrapper-doubled reports it, with a fix.
        PluginFaultKind::DoubledWrapper => return None,
        PluginFaultKind::EmptyFile => {
            ("this file is empty".to_owned(), "write { \"hooks\": {} }, or remove the file")
        }
        PluginFaultKind::ByteOrderMark => (
            "the file begins with a byte order mark".to_owned(),
            "save it as UTF-8 without a byte order mark",
        ),
        PluginFaultKind::PathWithoutPrefix { path } => {
            (format!("the path `{path}` does not start with `./`"), "write `./` before it")
        }
        PluginFaultKind::PathOutside { path } => {
            (format!("the path `{path}` leads out of the plugin"), "move the file into the plugin")
        }
        PluginFaultKind::MissingFile { path } => {
            (format!("the file `{path}` does not exist"), "create it, or remove the path")
        }
    };
    // A wrong path loses another file than the one that names it.
    let names_other_file = matches!(
        fault.kind,
        PluginFaultKind::PathWithoutPrefix { .. }
            | PluginFaultKind::PathOutside { .. }
            | PluginFaultKind::MissingFile { .. }
    );
    let finding =
        LintFinding::new(&PLUGIN_INVALID, index, range.clone(), format!("{what}: {lost}"), help)
            .voiding_file(fault.lost == LostPart::Plugin || !names_other_file);
    Some(match &fault.kind {
        PluginFaultKind::MissingWrapper => match file.root.as_ref() {
            Some(root) => match file.text.get(root.range.clone()) {
                Some(text) => {
                    finding.with_edit(root.range.clone(), format!("{{\"hooks\": {text}}}"))
                }
                None => finding,
            },
            None => finding,
        },
        PluginFaultKind::PathWithoutPrefix { path }
            if file.node_at(at).is_some_and(|node| node.text() == Some(path)) =>
        {
            match serde_json::to_string(&format!("./{}", path.trim_start_matches('/'))) {
                Ok(text) if !path.starts_with(['/', '.']) => finding.with_edit(range, text),
                _ => finding,
            }
        }
        _ => finding,
    })
}

#[cfg(test)]
mod tests {
    use super::PLUGIN_INVALID;
    use crate::lint::testing::LintCase;

    const STOP: &str = r#""Stop": [{"hooks": [{"type": "command", "command": "true"}]}]"#;
    const MANIFEST: &str = ".claude-plugin/plugin.json";

    #[test]
    fn missing_wrapper_is_added() {
        let plugin = |text: &str| {
            LintCase::plugin(&[(MANIFEST, "{\"name\": \"a\"}"), ("hooks/hooks.json", text)])
        };
        let case = plugin(&format!("{{{STOP}}}"));
        assert!(
            case.messages(&PLUGIN_INVALID)[0].contains("not inside `hooks`"),
            "{:?}",
            case.all()
        );
        assert_eq!(case.fixed(&PLUGIN_INVALID), format!("{{\"hooks\": {{{STOP}}}}}"));
        assert!(plugin(&format!("{{\"hooks\": {{{STOP}}}}}")).all().is_empty());
    }

    #[test]
    fn paths_of_manifest_are_checked() {
        let hooks = format!("{{\"hooks\": {{{STOP}}}}}");
        let manifest = |path: &str| {
            let text = format!("{{\"name\": \"a\", \"hooks\": \"{path}\"}}");
            LintCase::plugin(&[(MANIFEST, &text), ("more/hooks.json", &hooks)])
        };
        assert!(
            manifest("more/hooks.json").messages(&PLUGIN_INVALID)[0]
                .contains("does not start with")
        );
        assert!(
            manifest("more/hooks.json").fixed(&PLUGIN_INVALID).contains("\"./more/hooks.json\"")
        );
        assert!(manifest("./none.json").messages(&PLUGIN_INVALID)[0].contains("does not exist"));
        assert!(manifest("./more/hooks.json").all().is_empty());
    }

    #[test]
    fn agents_of_plugins_run_no_hooks() {
        let agent = "---\nname: a\ndescription: b\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: \"true\"\n---\n";
        let case = LintCase::plugin(&[(MANIFEST, "{\"name\": \"a\"}"), ("agents/a.md", agent)]);
        assert_eq!(case.marked(&PLUGIN_INVALID), ["hooks"]);
    }
}
