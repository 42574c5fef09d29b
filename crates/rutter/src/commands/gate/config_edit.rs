//! Edits the settings of a gate in the user's configuration file, and keeps every other byte.

use toml_edit::{Array, DocumentMut, Item, Table, value};

/// A change of the settings of the gate for tests.
#[derive(Debug)]
pub(super) enum GateEdit<'a> {
    /// Sets the mode and the options. Options that are not given are removed.
    Enable {
        mode: &'a str,
        require_red: bool,
        must_mention: bool,
        exclude: &'a [String],
        places: &'a [String],
    },
    /// Removes the settings of the gate.
    Disable,
}

/// Returns the text of the file after a change, or the reason for which it cannot be changed.
pub(super) fn edit_config(
    text: &str,
    project: &str,
    edit: &GateEdit<'_>,
) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|_| "is not valid TOML".to_owned())?;
    let path = ["projects", project, "gates", "tests_first"];
    match edit {
        GateEdit::Enable { mode, require_red, must_mention, exclude, places } => {
            let mut table = document.as_table_mut();
            for (depth, name) in path.iter().enumerate() {
                let entry = table.entry(name).or_insert_with(|| {
                    let mut table = Table::new();
                    // Only the last table has a header of its own.
                    table.set_implicit(depth + 1 < path.len());
                    Item::Table(table)
                });
                table = entry
                    .as_table_mut()
                    .ok_or_else(|| format!("has a `{name}` that is no table of its own"))?;
            }
            table["mode"] = value(*mode);
            let mut set = |key: &str, is_set: bool, item: Item| {
                if is_set {
                    table[key] = item;
                } else {
                    table.remove(key);
                }
            };
            set("require_red", *require_red, value(true));
            set("must_mention", *must_mention, value(true));
            set("exclude", !exclude.is_empty(), value(exclude.iter().collect::<Array>()));
            set("places", !places.is_empty(), value(places.iter().collect::<Array>()));
        }
        GateEdit::Disable => remove_path(document.as_table_mut(), &path),
    }
    Ok(document.to_string())
}

/// Removes a table, and the tables above it that are empty then.
fn remove_path(table: &mut Table, path: &[&str]) {
    let [first, rest @ ..] = path else { return };
    if !rest.is_empty() {
        let Some(inner) = table.get_mut(first).and_then(Item::as_table_mut) else { return };
        remove_path(inner, rest);
        if !inner.is_empty() {
            return;
        }
    }
    table.remove(first);
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECT: &str = "github.com/ada/shop";

    fn enable(text: &str, mode: &str) -> String {
        let exclude = ["scripts/".to_owned()];
        let edit = GateEdit::Enable {
            mode,
            require_red: false,
            must_mention: false,
            exclude: &exclude,
            places: &[],
        };
        edit_config(text, PROJECT, &edit).unwrap()
    }

    #[test]
    fn tables_of_a_project_are_added_and_removed() {
        let table = "[projects.\"github.com/ada/shop\".gates.tests_first]\nmode = \"deny\"\nexclude = [\"scripts/\"]\n";
        assert_eq!(enable("", "deny"), table);
        let other = "# mine\nnotify = \"brief\"  # short\n\n[scope]\nexclude = [ '~/x' ]\n";
        let enabled = enable(other, "deny");
        assert_eq!(enabled, format!("{other}\n{table}"));
        assert_eq!(enable(&enabled, "hold"), enabled.replace("deny", "hold"));
        let disabled = edit_config(&enabled, PROJECT, &GateEdit::Disable).unwrap();
        assert_eq!(disabled.trim_end(), other.trim_end());
    }

    #[test]
    fn files_that_cannot_be_edited_are_kept() {
        let edit = GateEdit::Disable;
        assert!(edit_config("a = [", PROJECT, &edit).is_err());
        let edit = GateEdit::Enable {
            mode: "deny",
            require_red: true,
            must_mention: true,
            exclude: &[],
            places: &[],
        };
        assert!(edit_config("projects = 1", PROJECT, &edit).is_err());
    }
}
