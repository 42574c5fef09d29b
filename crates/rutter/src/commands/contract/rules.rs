//! `rutter contract rules`: lists the rules of the linter, or prints the page of one.

use rutter_check::lint::RULES;
use rutter_contract::find_nearest;
use serde_json::json;

use crate::cli::Format;
use crate::cli::lint::RulesArgs;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

pub(crate) fn run(args: &RulesArgs, ui: &mut Ui<'_>) -> CommandResult {
    let is_json = args.format.chosen() == Format::Json;
    let Some(id) = &args.id else {
        if is_json {
            let rules: Vec<_> = (RULES.iter())
                .map(|rule| json!({ "id": rule.id, "severity": rule.severity, "summary": rule.summary() }))
                .collect();
            return ui.print_json(&rules);
        }
        let rows = RULES.iter().map(|rule| {
            [rule.id.to_owned(), rule.severity.as_str().to_owned(), rule.summary().to_owned()]
        });
        return Ok(ui.print_table(["RULE", "SEVERITY", "SUMMARY"], rows)?);
    };
    let Some(rule) = RULES.iter().find(|rule| rule.id == id) else {
        let near = find_nearest(id, RULES.iter().map(|rule| (rule.id, rule.id)));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        let message = format!("there is no such rule; {near}`rutter contract rules` lists them");
        return Err(CommandError::Usage(message));
    };
    if is_json {
        return ui.print_json(&json!({
            "id": rule.id, "severity": rule.severity, "summary": rule.summary(), "page": rule.page(),
        }));
    }
    writeln!(ui.out, "{} ({})\n\n{}", rule.id, rule.severity.as_str(), rule.page().trim_end())?;
    Ok(())
}
