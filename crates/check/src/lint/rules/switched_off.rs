//! Settings that switch hooks off.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFile, LintFinding, Severity, SourceNode};
use crate::settings::{DISABLE_HOOKS_KEY, LayerState, SIMPLE_VARIABLE, SettingsSource, is_truthy};

lint_rule! {
    /// A setting switches hooks off, so the hooks of these files do not run.
    ///
    /// - `disableAllHooks: true` in the strongest file that sets it stops all hooks, also those of plugins.
    /// - `allowManagedHooksOnly: true` and `strictPluginOnlyCustomization` in managed settings stop the hooks of all other
    ///   settings.
    /// - `CLAUDE_CODE_SIMPLE` in `env` of managed or user settings starts the client without hooks.
    ///
    /// ```json
    /// { "disableAllHooks": true, "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "./check.sh" }] }] } }
    /// ```
    ///
    /// The rule reports a switch only if one of the files has a hook.
    SWITCHED_OFF = "switched-off", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    let used = |file: &LintFile| file.state == LayerState::Read && !file.is_plugin();
    let outside =
        |file: &LintFile| file.whose != SettingsSource::Managed && file.handlers().next().is_some();
    if !context.files.iter().any(|file| file.handlers().next().is_some()) {
        return;
    }
    let layers = || context.files.iter().enumerate().filter(|(_, file)| used(file));
    let disabling =
        layers().find(|(_, file)| file.get(DISABLE_HOOKS_KEY).and_then(SourceNode::flag).is_some());
    if let Some((index, file)) = disabling
        && let Some(member) = file.root.as_ref().and_then(|root| root.member(DISABLE_HOOKS_KEY))
        && member.node.flag() == Some(true)
    {
        let message =
            "`disableAllHooks` is true, and no stronger settings change that: no hook runs";
        findings.push(LintFinding::new(
            &SWITCHED_OFF,
            index,
            member.range(),
            message,
            "remove it, or write false",
        ));
    }
    let managed = || layers().filter(|(_, file)| file.whose == SettingsSource::Managed);
    if context.files.iter().any(outside) {
        for (index, file) in managed() {
            let Some(root) = &file.root else { continue };
            for (key, what) in [
                ("allowManagedHooksOnly", "only hooks of managed settings run"),
                ("strictPluginOnlyCustomization", "only hooks of plugins run"),
            ] {
                let Some(member) = root.member(key) else { continue };
                let locks = member.node.flag() == Some(true)
                    || member.node.items().iter().any(|item| item.text() == Some("hooks"));
                if locks {
                    let message = format!("`{key}`: {what}");
                    let help = "move the hooks there, or ask your organisation";
                    findings.push(LintFinding::new(
                        &SWITCHED_OFF,
                        index,
                        member.range(),
                        message,
                        help,
                    ));
                }
            }
        }
    }
    for (index, file) in layers().filter(|(_, file)| file.whose != SettingsSource::Managed) {
        let Some(root) = &file.root else { continue };
        for key in ["allowManagedHooksOnly", "strictPluginOnlyCustomization"] {
            if let Some(member) = root.member(key) {
                let message = format!("`{key}` has no effect here: only managed settings have it");
                let help = "remove it, or move it to the managed settings of your organisation";
                let finding = LintFinding::new(&SWITCHED_OFF, index, member.range(), message, help);
                findings.push(finding.with_severity(Severity::Info));
            }
        }
    }
    for (index, file) in layers().filter(|(_, file)| !file.whose.is_in_checkout()) {
        let variable = file.get("env").and_then(|env| env.member(SIMPLE_VARIABLE));
        if let Some(member) = variable.filter(|member| member.node.text().is_some_and(is_truthy)) {
            let message = format!("`{SIMPLE_VARIABLE}` is set: the client runs no hooks");
            findings.push(LintFinding::new(
                &SWITCHED_OFF,
                index,
                member.range(),
                message,
                "remove it",
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SWITCHED_OFF;
    use crate::lint::testing::LintCase;
    use crate::settings::SettingsSource;

    const HOOK: &str =
        r#""hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}"#;

    #[test]
    fn strongest_setting_decides() {
        let off = format!("{{\"disableAllHooks\": true, {HOOK}}}");
        assert_eq!(LintCase::settings(&off).marked(&SWITCHED_OFF), ["\"disableAllHooks\": true"]);
        let case = LintCase::empty()
            .with_file(
                SettingsSource::Local,
                ".claude/settings.local.json",
                "{\"disableAllHooks\": false}",
            )
            .with_file(SettingsSource::Project, ".claude/settings.json", &off);
        assert!(case.marked(&SWITCHED_OFF).is_empty());
        assert!(LintCase::settings("{\"disableAllHooks\": true}").marked(&SWITCHED_OFF).is_empty());
    }

    #[test]
    fn managed_settings_restrict_others() {
        let case = LintCase::empty()
            .with_file(SettingsSource::Managed, "managed.json", "{\"allowManagedHooksOnly\": true}")
            .with_file(SettingsSource::Project, ".claude/settings.json", &format!("{{{HOOK}}}"));
        assert_eq!(case.marked(&SWITCHED_OFF), ["\"allowManagedHooksOnly\": true"]);
        let project = LintCase::settings(&format!("{{\"allowManagedHooksOnly\": true, {HOOK}}}"));
        assert!(project.messages(&SWITCHED_OFF)[0].contains("only managed settings have it"));
    }
}
