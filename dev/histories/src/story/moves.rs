//! Moves of code: to other lines, or to another file.

use super::StoryBuilder;
use crate::project::{Bug, BugKind, Language};
use crate::runs::CheckoutState;
use crate::source::Region;

impl StoryBuilder {
    /// Inserts a new function before the function of a bug, which shifts its line numbers.
    pub(super) fn shift_lines(&self, state: &mut CheckoutState, bug: usize) {
        let bug = &self.world.project.bugs[bug];
        if bug.unit.is_empty() {
            return;
        }
        let gap = format!("{}/gap", bug.unit);
        let key = format!("{}-above", bug.unit);
        if state.tree.region(&gap).is_none() || state.tree.region(&key).is_some() {
            return;
        }
        let text = match self.world.project.language {
            Language::Python => {
                "\n\ndef audit(entry):\n    \"\"\"Line of the audit log.\"\"\"\n    return f\"audit {entry}\""
            }
            Language::Rust => {
                "\n/// Line of the audit log.\npub fn audit(entry: &str) -> String {\n    format!(\"audit {entry}\")\n}"
            }
            Language::Go => {
                "\n// Audit is a line of the audit log.\nfunc Audit(entry string) string {\n\treturn \"audit \" + entry\n}"
            }
            Language::TypeScript => {
                "\n/** Line of the audit log. */\nexport function audit(entry: string): string {\n  return `audit ${entry}`;\n}"
            }
            Language::JavaScript => {
                "\n/** Line of the audit log. */\nfunction audit(entry) {\n  return `audit ${entry}`;\n}"
            }
        };
        state.tree.insert_before(&gap, vec![Region::new(key, text)]);
    }

    /// Moves the function of a bug to a separate file. The old file still exports it, so no test changes.
    ///
    /// Returns false if the function depends on something that would have to move as well.
    pub(super) fn move_function(&self, state: &mut CheckoutState, bug: usize) -> bool {
        let project = &self.world.project;
        let bug = &project.bugs[bug];
        let mut parts = bug.unit.split('/').skip(1);
        let (Some(module), Some(function)) = (parts.next(), parts.next()) else { return false };
        let moved = format!("{}/{module}/moved", bug.package);
        let has =
            |part: &str| state.tree.region(&format!("{}/{module}/{part}", bug.package)).is_some();
        let is_free = !has("imports") && !has("prelude") && !has("moved");
        let has_setting = state.tree.region(&format!("{}/setting", bug.unit)).is_some();
        // A missing name would be reported in the new file, with another message.
        let is_import = bug.kind == BugKind::Import;
        if bug.unit.is_empty() || is_import || !is_free || has_setting {
            return false;
        }
        let own = project.packages[bug.package].clone();
        let regions = state.tree.remove_regions(&format!("{}/", bug.unit));
        let head = |text: &str| Region::new(format!("{moved}/head"), text);
        let link = |text: &str| Region::new(moved.clone(), text);
        let comment = format!("{}/{module}/comment", bug.package);
        let with = |first: Region, regions: Vec<Region>| {
            let mut all = vec![first];
            all.extend(regions);
            all
        };
        match project.language {
            Language::Python => {
                let name = &own.name;
                let first = head("\"\"\"Rules that moved out of their module.\"\"\"");
                state.tree.put_file(
                    own.path(&format!("src/{name}/{module}_rules.py")),
                    with(first, regions),
                );
                let text = format!("\nfrom {name}.{module}_rules import {function}");
                state.tree.insert_before(&comment, vec![link(&text)]);
            }
            Language::Rust => {
                let first = head("//! Rules that moved out of their module.");
                state
                    .tree
                    .put_file(own.path(&format!("src/{module}_rules.rs")), with(first, regions));
                let text = format!("\npub use crate::{module}_rules::{function};");
                state.tree.insert_before(&comment, vec![link(&text)]);
                state.tree.append(
                    &own.path("src/lib.rs"),
                    vec![Region::new(
                        format!("{moved}/declared"),
                        &format!("pub mod {module}_rules;"),
                    )],
                );
            }
            Language::Go => {
                let first = head(&format!("package {module}"));
                state.tree.put_file(own.path(&format!("{module}/rules.go")), with(first, regions));
            }
            Language::TypeScript => {
                let first = head("// Rules that moved out of their module.");
                state
                    .tree
                    .put_file(own.path(&format!("src/{module}Rules.ts")), with(first, regions));
                let text = format!("\nexport {{ {function} }} from \"./{module}Rules\";");
                state.tree.insert_before(&comment, vec![link(&text)]);
            }
            Language::JavaScript => {
                let first = head("// Rules that moved out of their module.");
                let mut regions = with(first, regions);
                regions.push(Region::new(
                    format!("{moved}/exports"),
                    &format!("\nmodule.exports = {{ {function} }};"),
                ));
                state.tree.put_file(own.path(&format!("src/{module}Rules.js")), regions);
                let text = format!("\nconst {{ {function} }} = require(\"./{module}Rules\");");
                state.tree.insert_before(&comment, vec![link(&text)]);
            }
        }
        true
    }

    /// Returns the bug with an index.
    pub(super) fn bug(&self, index: usize) -> &Bug {
        &self.world.project.bugs[index]
    }
}
