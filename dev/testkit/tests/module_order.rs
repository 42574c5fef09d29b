//! Modules can be read from the bottom up: no module uses, directly or through others, a module that uses it.
//!
//! The test reads the paths in the sources (`use crate::…`, `crate::…`, `super::…`), follows re-exports to the module
//! that defines the name, and finds cycles among the modules of one parent. Tests and the code of the parent itself are
//! left out: a parent starts its children, and children may use the types that it defines. Calls of methods are not
//! seen, because they name no path.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// A module's path within its crate; the crate root is empty.
type ModulePath = Vec<String>;

/// The cycles that remain: the parent, its modules, and the reason why they have no order. Cycles that grow or shrink
/// fail the test.
const KNOWN_CYCLES: &[(&str, &[&str], &str)] = &[
    (
        "check::live",
        &["client", "conversation", "hook", "record", "sandbox"],
        "a sandbox starts conversations, and they write into it",
    ),
    ("check::settings", &["admission", "servers"], "a server has the decision that admits it"),
    (
        "check::settings",
        &["entry", "layers"],
        "an entry names its layer, and a layer lists its entries",
    ),
    (
        "rutter::commands",
        &["episodes", "ghap", "show"],
        "`show` prints each kind of row as its own command does",
    ),
    (
        "rutter::commands",
        &["init", "plugin"],
        "`init` makes plugins, and both refuse the same folders",
    ),
    ("rutter::doctor", &["hook_run", "server_run"], "a server is run as a hook is"),
    (
        "rutter::install",
        &["hooks", "places", "record"],
        "a record lists places, and a place is checked against it",
    ),
];

#[test]
fn modules_have_an_order() {
    let crates = rutter_testkit::repository_root().join("crates");
    let mut found = BTreeMap::new();
    let mut all_uses = 0;
    for folder in std::fs::read_dir(crates).expect("the crates").flatten() {
        let sources = CrateSources::read(&folder.path().join("src"));
        let name = folder.file_name().to_string_lossy().into_owned();
        assert!(sources.modules.len() > 1, "{name} has no modules");
        for parent in &sources.modules {
            let parts = std::iter::once(&name).chain(parent);
            let label = parts.map(String::as_str).collect::<Vec<_>>().join("::");
            let uses = sources.uses_among(parent);
            all_uses += uses.len();
            for cycle in cycles(&uses) {
                found.insert((label.clone(), cycle.clone()), describe(&uses, &cycle));
            }
        }
    }
    assert!(all_uses > 100, "only {all_uses} uses between modules were read");
    let known: BTreeSet<(String, BTreeSet<String>)> = KNOWN_CYCLES
        .iter()
        .map(|(parent, modules, _)| {
            ((*parent).to_owned(), modules.iter().map(|&module| module.to_owned()).collect())
        })
        .collect();
    let mut problems = String::new();
    for ((parent, cycle), uses) in &found {
        if !known.contains(&(parent.clone(), cycle.clone())) {
            writeln!(
                problems,
                "{parent} has a cycle of {} modules: {cycle:?}\n{uses}",
                cycle.len()
            )
            .expect("a string accepts all text");
        }
    }
    for cycle in known.iter().filter(|cycle| !found.contains_key(*cycle)) {
        writeln!(problems, "no longer a cycle, remove it from the list: {cycle:?}")
            .expect("a string accepts all text");
    }
    assert!(problems.is_empty(), "{problems}");
}

#[test]
fn finds_a_cycle_behind_a_re_export() {
    let sources = CrateSources::parse(&[
        ("lib.rs", "mod a; mod b; mod c; pub use b::inner::Thing as Other;"),
        (
            "a.rs",
            "use crate::{c::{self, x}, Other}; // crate::b\nfn f() -> &'static str { \"crate::b\" }",
        ),
        ("b.rs", "mod inner { pub struct Thing; fn g() { super::super::a::f() } }"),
        ("c.rs", "#[cfg(test)] mod tests { use crate::a; } macro_rules! m { () => {} }"),
    ]);
    let uses = sources.uses_among(&[]);
    let found: Vec<(&str, &str)> = uses.keys().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(found, [("a", "b"), ("a", "c"), ("b", "a")]);
    let modules = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(cycles(&uses), [modules(&["a", "b"])]);
}

/// Uses between modules, each with the places where it is written.
type Uses = BTreeMap<(String, String), BTreeSet<String>>;

/// The modules of one crate and the paths that they contain.
#[derive(Default)]
struct CrateSources {
    modules: BTreeSet<ModulePath>,
    /// Names that a module makes available from elsewhere.
    re_exports: BTreeMap<(ModulePath, String), ModulePath>,
    /// Module, path that it contains, file and line.
    paths: Vec<(ModulePath, ModulePath, String)>,
}

impl CrateSources {
    fn read(folder: &Path) -> Self {
        let mut files = Vec::new();
        collect_files(folder, folder, &mut files);
        files.sort();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        Self::parse(&files)
    }

    fn parse(files: &[(&str, &str)]) -> Self {
        let mut sources = Self::default();
        for (path, text) in files {
            let mut module: ModulePath =
                path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            if path == &"lib.rs" || path.ends_with("/mod.rs") {
                module.pop();
            }
            if path == &"main.rs" || module.last().is_some_and(|name| name == "tests") {
                continue;
            }
            Reader { tokens: tokens(text), at: 0, file: path, sources: &mut sources }
                .read_items(&module);
        }
        sources
    }

    /// Returns the module that defines what `path` names, following re-exports.
    fn defining_module(&self, path: &[String]) -> ModulePath {
        let mut path = path.to_vec();
        // The bound stops at re-exports that name each other.
        for _ in 0..16 {
            let mut module = ModulePath::new();
            let mut rest = path.as_slice();
            while let [next, tail @ ..] = rest {
                let mut child = module.clone();
                child.push(next.clone());
                if !self.modules.contains(&child) {
                    break;
                }
                (module, rest) = (child, tail);
            }
            let Some((name, tail)) = rest.split_first() else { return module };
            let Some(target) = self.re_exports.get(&(module.clone(), name.clone())) else {
                return module;
            };
            path = target.iter().chain(tail).cloned().collect();
        }
        ModulePath::new()
    }

    /// Returns the uses between the modules directly below `parent`.
    fn uses_among(&self, parent: &[String]) -> Uses {
        let below =
            |module: &[String]| module.strip_prefix(parent).and_then(|rest| rest.first()).cloned();
        let mut uses = Uses::new();
        for (module, path, place) in &self.paths {
            let from = below(module);
            let to = below(&self.defining_module(path));
            if let (Some(from), Some(to)) = (from, to)
                && from != to
            {
                uses.entry((from, to)).or_default().insert(place.clone());
            }
        }
        uses
    }
}

fn collect_files(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("a source folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect_files(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).expect("a file in the folder").to_string_lossy();
            files
                .push((name.replace('\\', "/"), std::fs::read_to_string(&path).expect("a source")));
        }
    }
}

/// Reads the tokens of one file.
struct Reader<'a> {
    tokens: Vec<(String, usize)>,
    at: usize,
    file: &'a str,
    sources: &'a mut CrateSources,
}

impl Reader<'_> {
    fn token(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |(token, _)| token)
    }

    /// Reads the items of `module` until its closing brace or the end of the file.
    fn read_items(&mut self, module: &ModulePath) {
        self.sources.modules.insert(module.clone());
        let mut depth = 0;
        let mut is_public = false;
        while self.at < self.tokens.len() {
            let before = if self.at == 0 { "" } else { &self.tokens[self.at - 1].0 };
            match self.token(0) {
                "{" => depth += 1,
                "}" if depth == 0 => return,
                "}" => depth -= 1,
                "#" if self.is_test_attribute() => {
                    self.skip_item();
                    continue;
                }
                "pub" => {
                    self.at += 1;
                    if self.token(0) == "(" {
                        self.skip_group("(", ")");
                    }
                    is_public = true;
                    continue;
                }
                "use" => {
                    self.at += 1;
                    self.read_use(module, is_public, &ModulePath::new());
                }
                "mod" if self.token(2) == "{" => {
                    let mut child = module.clone();
                    child.push(self.token(1).to_owned());
                    self.at += 3;
                    self.read_items(&child);
                }
                "macro_rules" => {
                    // An exported macro is in the crate root, not in the module that defines it.
                    let name = self.token(2).to_owned();
                    let mut target = module.clone();
                    target.push(name.clone());
                    self.sources.re_exports.entry((ModulePath::new(), name)).or_insert(target);
                }
                "crate" | "super" | "self" if self.token(1) == "::" && before != "::" => {
                    let path = self.read_path();
                    self.add_path(module, &path);
                    continue;
                }
                _ => {}
            }
            is_public = false;
            self.at += 1;
        }
    }

    fn is_test_attribute(&self) -> bool {
        let tokens: Vec<&str> = (0..7).map(|ahead| self.token(ahead)).collect();
        tokens == ["#", "[", "cfg", "(", "test", ")", "]"]
    }

    /// Skips an attribute and the item below it.
    fn skip_item(&mut self) {
        while self.token(0) == "#" {
            self.at += 1;
            self.skip_group("[", "]");
        }
        while self.at < self.tokens.len() {
            match self.token(0) {
                ";" => {
                    self.at += 1;
                    return;
                }
                "{" => {
                    self.skip_group("{", "}");
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    fn skip_group(&mut self, open: &str, close: &str) {
        let mut depth = 0;
        while self.at < self.tokens.len() {
            let token = self.token(0);
            depth += i32::from(token == open) - i32::from(token == close);
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    fn read_path(&mut self) -> ModulePath {
        let mut path = Vec::new();
        loop {
            path.push(self.token(0).to_owned());
            self.at += 1;
            if self.token(0) != "::" || !is_word(self.token(1)) {
                return path;
            }
            self.at += 1;
        }
    }

    /// Reads the tree of a `use`, up to the token behind it.
    fn read_use(&mut self, module: &ModulePath, is_public: bool, prefix: &ModulePath) {
        let mut path = prefix.clone();
        while is_word(self.token(0)) {
            path.push(self.token(0).to_owned());
            self.at += 1;
            if self.token(0) == "::" {
                self.at += 1;
            } else {
                break;
            }
        }
        if self.token(0) == "{" {
            self.at += 1;
            while self.token(0) != "}" && self.at < self.tokens.len() {
                self.read_use(module, is_public, &path);
                if self.token(0) == "," {
                    self.at += 1;
                }
            }
            self.at += 1;
            return;
        }
        if self.token(0) == "*" {
            self.at += 1;
        }
        if path.len() > 1 && path.last().is_some_and(|name| name == "self") {
            path.pop();
        }
        let mut name = path.last().cloned().unwrap_or_default();
        if self.token(0) == "as" {
            self.token(1).clone_into(&mut name);
            self.at += 2;
        }
        if let Some(target) = absolute(module, &path) {
            // A private `use` also makes a name that children reach by `super::`.
            self.sources.re_exports.insert((module.clone(), name), target);
        }
        if !is_public {
            self.add_path(module, &path);
        }
    }

    fn add_path(&mut self, module: &ModulePath, path: &[String]) {
        if let Some(target) = absolute(module, path) {
            let line = self.tokens.get(self.at - 1).map_or(0, |(_, line)| *line);
            let place = format!("{}:{line} {}", self.file, path.join("::"));
            self.sources.paths.push((module.clone(), target, place));
        }
    }
}

/// Returns the path from the crate root, or relative to `module` if it starts with a plain name.
fn absolute(module: &[String], path: &[String]) -> Option<ModulePath> {
    let (first, mut rest) = path.split_first()?;
    let mut base = module.to_vec();
    match first.as_str() {
        "crate" => base.clear(),
        "self" => {}
        "super" => {
            base.pop()?;
            while let Some((next, tail)) = rest.split_first()
                && next == "super"
            {
                base.pop()?;
                rest = tail;
            }
        }
        _ => rest = path,
    }
    base.extend(rest.iter().cloned());
    Some(base)
}

fn is_word(token: &str) -> bool {
    token.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// Splits a source into words, `::` and single characters, each with its line; comments and literals are left out.
fn tokens(text: &str) -> Vec<(String, usize)> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let skipped = literal_or_comment_length(rest);
        if skipped > 0 {
            line += rest[..skipped].matches('\n').count();
            rest = &rest[skipped..];
            continue;
        }
        let length = if first.is_alphanumeric() || first == '_' {
            rest.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        if first == '\n' {
            line += 1;
        } else if !first.is_whitespace() {
            tokens.push((rest[..length].to_owned(), line));
        }
        rest = &rest[length..];
    }
    tokens
}

/// Returns the length of the comment, string or character at the start of `text`, or 0.
fn literal_or_comment_length(text: &str) -> usize {
    let until = |start: usize, end: &str| {
        text[start..].find(end).map_or(text.len(), |found| start + found + end.len())
    };
    if text.starts_with("//") {
        return until(2, "\n");
    }
    if text.starts_with("/*") {
        return until(2, "*/");
    }
    let unprefixed = text.strip_prefix('b').or_else(|| text.strip_prefix('c')).unwrap_or(text);
    let prefix = text.len() - unprefixed.len();
    if let Some(raw) = unprefixed.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            return until(prefix + hashes + 2, &format!("\"{}", "#".repeat(hashes)));
        }
    }
    if unprefixed.starts_with('"') {
        let mut is_escaped = false;
        for (at, byte) in unprefixed.bytes().enumerate().skip(1) {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => return prefix + at + 1,
                _ => {}
            }
        }
        return text.len();
    }
    let Some(quoted) = unprefixed.strip_prefix('\'') else { return 0 };
    if quoted.starts_with('\\') {
        return until(prefix + 3, "'");
    }
    let length = quoted.chars().next().map_or(0, char::len_utf8);
    if quoted[length..].starts_with('\'') { prefix + length + 2 } else { 0 }
}

/// Returns the sets of modules that use each other in a cycle.
fn cycles(uses: &Uses) -> Vec<BTreeSet<String>> {
    let mut reached: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (user, used) in uses.keys() {
        reached.entry(user).or_default().insert(used);
    }
    loop {
        let before: usize = reached.values().map(BTreeSet::len).sum();
        let old = reached.clone();
        for targets in reached.values_mut() {
            let further: Vec<&str> =
                targets.iter().filter_map(|target| old.get(target)).flatten().copied().collect();
            targets.extend(further);
        }
        if reached.values().map(BTreeSet::len).sum::<usize>() == before {
            break;
        }
    }
    let mut cycles: Vec<BTreeSet<String>> = Vec::new();
    for (module, targets) in &reached {
        let is_mutual =
            |other: &&&str| reached.get(**other).is_some_and(|back| back.contains(module));
        let cycle: BTreeSet<String> =
            targets.iter().filter(is_mutual).map(|&other| other.to_owned()).collect();
        if !cycle.is_empty() && !cycles.contains(&cycle) {
            cycles.push(cycle);
        }
    }
    cycles
}

/// Lists the uses that make up a cycle.
fn describe(uses: &Uses, cycle: &BTreeSet<String>) -> String {
    let mut text = String::new();
    for ((user, used), places) in uses {
        if cycle.contains(user) && cycle.contains(used) {
            let places: Vec<&str> = places.iter().map(String::as_str).collect();
            writeln!(text, "  {user} -> {used}: {}", places.join(", "))
                .expect("a string accepts all text");
        }
    }
    text
}
