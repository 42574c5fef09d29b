//! Texts that only declare or re-export: an empty `__init__.py`, a `mod.rs` of `mod` lines, a file of types.

use std::collections::HashSet;

use crate::language::Language;

/// Returns true if a text has no code that a test could run.
pub(crate) fn only_declares(text: &str, language: Language) -> bool {
    let mut open = 0_i64;
    let mut in_comment: Option<&str> = None;
    for line in text.lines() {
        let line = line.trim();
        if let Some(end) = in_comment {
            if line.contains(end) {
                in_comment = None;
            }
            continue;
        }
        if let Some(end) = comment_end(line, language) {
            in_comment = Some(end);
            continue;
        }
        if line.is_empty() || is_comment_line(line, language) {
            continue;
        }
        // Inside the brackets of a declaration
        if open > 0 {
            open += bracket_balance(line);
            continue;
        }
        if !is_declaration(line, language) {
            return false;
        }
        open = bracket_balance(line).max(0);
    }
    true
}

/// Returns the numbers of the lines that belong to imports, counted from 1.
pub(crate) fn import_lines(text: &str, language: Language) -> HashSet<usize> {
    let mut open = 0_i64;
    let mut lines = HashSet::new();
    for (at, line) in text.lines().enumerate() {
        if open > 0 || is_import(line, language) {
            lines.insert(at + 1);
            open = (open + bracket_balance(line)).max(0);
        }
    }
    lines
}

/// Returns true if a line begins an import.
fn is_import(line: &str, language: Language) -> bool {
    let is_indented = line.starts_with(char::is_whitespace);
    let line = line.trim();
    let begins = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
    match language {
        Language::Rust => {
            begins(&["use ", "pub use ", "extern crate "])
                || (begins(&["mod ", "pub mod "]) && line.ends_with(';'))
        }
        Language::Python => begins(&["import ", "from "]),
        Language::JavaScript => {
            begins(&["import ", "import{", "export * from "])
                || (line.contains("= require(") && begins(&["const ", "let ", "var "]))
        }
        Language::Go => line == "import (" || begins(&["import "]),
        Language::Jvm => begins(&["import ", "package "]),
        Language::CSharp => begins(&["using ", "global using "]) && !line.contains(['=', '(']),
        Language::Ruby => begins(&["require ", "require_relative ", "require(", "autoload "]),
        // In a class, `use` mixes a trait in.
        Language::Php => !is_indented && begins(&["use ", "require_once ", "namespace "]),
        Language::C => begins(&["#include ", "#include<", "#import "]),
        Language::Swift => begins(&["import ", "@testable import "]),
        Language::Elixir => begins(&["alias ", "import ", "require "]),
    }
}

/// Returns the end of a comment or docstring that begins on a line and does not end there.
fn comment_end(line: &str, language: Language) -> Option<&'static str> {
    match language {
        Language::Python => ["\"\"\"", "'''"]
            .into_iter()
            .find(|quotes| line.starts_with(quotes) && !line[quotes.len()..].contains(quotes)),
        Language::Ruby => (line == "=begin").then_some("=end"),
        Language::Elixir => None,
        _ => (line.starts_with("/*") && !line.contains("*/")).then_some("*/"),
    }
}

fn is_comment_line(line: &str, language: Language) -> bool {
    line.starts_with(language.line_comment())
        || line.starts_with("/*")
        || (language == Language::Python && (line.starts_with("\"\"\"") || line.starts_with("'''")))
}

fn bracket_balance(line: &str) -> i64 {
    line.chars().fold(0, |sum, sign| match sign {
        '{' | '(' | '[' => sum + 1,
        '}' | ')' | ']' => sum - 1,
        _ => sum,
    })
}

/// Returns true if a line begins a declaration that no test can run.
fn is_declaration(line: &str, language: Language) -> bool {
    let begins = |starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
    if line.chars().all(|sign| matches!(sign, '}' | ')' | ']' | ';' | ',')) {
        return true;
    }
    match language {
        Language::Rust => {
            let line = line
                .strip_prefix("pub ")
                .or_else(|| {
                    line.split_once(") ")
                        .filter(|(head, _)| head.starts_with("pub("))
                        .map(|(_, rest)| rest)
                })
                .unwrap_or(line);
            let is_module = line.starts_with("mod ") && line.ends_with(';');
            is_module
                || ["use ", "extern crate ", "#![", "#["]
                    .iter()
                    .any(|start| line.starts_with(start))
        }
        Language::Python => {
            begins(&["import ", "from ", "__all__", "__version__", "__author__"]) || line == "pass"
        }
        Language::JavaScript => {
            let is_reexport = (line.starts_with("export *")
                || line.starts_with("export {")
                || line.starts_with("export type {"))
                || (line.starts_with("import ") && !line.starts_with("import("));
            let is_type = begins(&[
                "export interface ",
                "interface ",
                "export type ",
                "type ",
                "declare ",
                "export declare ",
            ]);
            let is_default = line.strip_prefix("export default ").is_some_and(|name| {
                name.trim_end_matches(';').chars().all(|sign| sign.is_alphanumeric() || sign == '_')
            });
            is_reexport
                || is_default
                || is_type
                || begins(&["'use ", "\"use "])
                || is_required_export(line)
        }
        Language::Go | Language::Jvm => begins(&["package ", "import "]),
        Language::CSharp => {
            begins(&["using ", "global using ", "namespace ", "[assembly"]) && !line.contains('=')
        }
        Language::Ruby => begins(&["require ", "require_relative ", "autoload ", "# frozen"]),
        Language::Php => begins(&["<?php", "namespace ", "use ", "declare("]),
        Language::C => {
            begins(&[
                "#include", "#pragma", "#ifndef", "#ifdef", "#endif", "#if ", "#else", "extern ",
                "typedef ", "using ",
            ]) || (line.starts_with("#define") && line.split_whitespace().count() <= 2)
                || is_prototype(line)
        }
        Language::Swift => begins(&["import ", "@_exported import "]),
        Language::Elixir => false,
    }
}

/// Returns true for `module.exports = require('./cart')`.
fn is_required_export(line: &str) -> bool {
    line.starts_with("module.exports = require(")
        || line.starts_with("exports.") && line.contains("= require(")
}

/// Returns true for the prototype of a function on one line: `int total(const int *items);`.
fn is_prototype(line: &str) -> bool {
    let head = line.split('(').next().unwrap_or_default();
    line.ends_with(");")
        && !head.contains('=')
        && head.split_whitespace().count() >= 2
        && !head.starts_with("return")
}

/// Returns the names of the definitions in a text that others can use.
pub(crate) fn public_names(text: &str, language: Language) -> Vec<String> {
    text.lines().filter_map(|line| public_name(line, language)).collect()
}

fn public_name(line: &str, language: Language) -> Option<String> {
    let is_top = !line.starts_with(char::is_whitespace);
    let line = line.trim();
    let after = |words: &[&str]| {
        words.iter().find_map(|word| {
            let at = line.find(word)?;
            let starts_word = at == 0 || line[..at].ends_with(' ');
            let rest = &line[at + word.len()..];
            let name: String = rest
                .chars()
                .take_while(|sign| sign.is_alphanumeric() || matches!(sign, '_' | '?' | '!'))
                .collect();
            (starts_word && !name.is_empty()).then_some(name)
        })
    };
    match language {
        Language::Rust => line
            .starts_with("pub")
            .then(|| after(&["fn ", "struct ", "enum ", "trait ", "const ", "static ", "type "]))
            .flatten(),
        Language::Python => after(&["def ", "class "]).filter(|name| !name.starts_with('_')),
        Language::JavaScript => {
            let is_method = !is_top
                && line.ends_with('{')
                && line.contains('(')
                && !line.starts_with(['}', '.', '(']);
            if line.starts_with("export") {
                after(&["function ", "class ", "const ", "let ", "var ", "enum "])
            } else if is_method {
                let name =
                    line.split('(').next().unwrap_or_default().split_whitespace().next_back()?;
                (!matches!(name, "if" | "for" | "while" | "switch" | "catch" | "function")
                    && !line.contains("=>"))
                .then(|| name.to_owned())
            } else {
                is_top.then(|| after(&["function ", "class "])).flatten()
            }
        }
        Language::Go => {
            let rest = line.strip_prefix("func ")?;
            let rest = match rest.strip_prefix('(') {
                Some(receiver) => receiver.split_once(") ")?.1,
                None => rest,
            };
            let name: String =
                rest.chars().take_while(|sign| sign.is_alphanumeric() || *sign == '_').collect();
            name.starts_with(char::is_uppercase).then_some(name)
        }
        Language::Ruby => after(&["def self.", "def ", "class ", "module "]),
        Language::Elixir => after(&["def ", "defmodule ", "defmacro "]),
        Language::Swift => (!line.contains("private "))
            .then(|| after(&["func ", "class ", "struct ", "enum "]))
            .flatten(),
        Language::Php => {
            (!line.contains("private ")).then(|| after(&["function ", "class "])).flatten()
        }
        Language::Jvm | Language::CSharp | Language::C => {
            if line.contains("private ")
                || (language == Language::C && (!is_top || line.starts_with("static ")))
            {
                return None;
            }
            if let Some(name) =
                after(&["class ", "interface ", "record ", "enum ", "fun ", "object ", "struct "])
            {
                return Some(name);
            }
            let head =
                line.split('(').next().filter(|_| line.contains('(') && !line.ends_with(';'))?;
            let words: Vec<&str> = head.split_whitespace().collect();
            let is_call = head.contains(['=', '.', '"']) || words.len() < 2;
            (!is_call && !matches!(words[0], "return" | "new" | "else" | "if" | "for" | "while"))
                .then(|| words.last().map(|name| (*name).to_owned()))
                .flatten()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_no_code() {
        for (text, language, expected) in [
            ("", Language::Python, true),
            (
                "\"\"\"The shop.\n\nMore.\n\"\"\"\nfrom .cart import (\n    Cart,\n)\n__all__ = [\"Cart\"]\n",
                Language::Python,
                true,
            ),
            ("from .cart import Cart\nCART = Cart()\n", Language::Python, false),
            (
                "//! The shop.\nmod cart;\npub mod item;\npub use cart::{\n    Cart,\n};\n",
                Language::Rust,
                true,
            ),
            ("pub fn total() {}\n", Language::Rust, false),
            ("export * from './cart';\nexport { a } from './a';\n", Language::JavaScript, true),
            (
                "export interface Cart {\n  items: Item[];\n}\nexport type Id = string;\n",
                Language::JavaScript,
                true,
            ),
            ("export const a = 1;\n", Language::JavaScript, false),
            ("// Package cart is it.\npackage cart\n", Language::Go, true),
            ("#ifndef A_H\n#define A_H\nint total(const int *items);\n#endif\n", Language::C, true),
            ("#define MAX(a, b) ((a) > (b) ? (a) : (b))\n", Language::C, false),
        ] {
            assert_eq!(only_declares(text, language), expected, "{text}");
        }
    }

    #[test]
    fn public_names_are_found() {
        for (line, language, name) in [
            ("pub fn total(items: &[u8]) -> u8 {", Language::Rust, Some("total")),
            ("fn total() {", Language::Rust, None),
            ("def total(items):", Language::Python, Some("total")),
            ("def _total(items):", Language::Python, None),
            ("export const total = (items) => {", Language::JavaScript, Some("total")),
            ("  total(items) {", Language::JavaScript, Some("total")),
            ("  if (items) {", Language::JavaScript, None),
            ("func (c *Cart) Total() int {", Language::Go, Some("Total")),
            ("func total() int {", Language::Go, None),
            ("    public int total(List<Item> items) {", Language::Jvm, Some("total")),
            ("    private int total() {", Language::Jvm, None),
            ("        return total(items);", Language::Jvm, None),
        ] {
            assert_eq!(public_name(line, language).as_deref(), name, "{line}");
        }
    }
}
