//! The linter on the corpus of `fixtures/lint`: planted mistakes, and clean projects.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rutter_check::lint::{LintContext, LintFile, LintMachine, run_rules};
use rutter_check::settings::{
    ClientFiles, line_and_column, load_folder_layers, load_plugin_folder,
};
use rutter_contract::version::{Contract, Version};
use rutter_testkit::repository_root;
use serde::Deserialize;

/// Planted mistakes that are found, by category: of the half that rules were written with, and of the other half.
const FOUND_MISTAKES: &[(&str, usize, usize)] = &[
    ("json", 8, 8),
    ("events", 9, 10),
    ("shape", 14, 15),
    ("matchers", 16, 15),
    ("if", 5, 5),
    ("timeouts", 6, 6),
    ("handlers", 8, 7),
    ("commands", 20, 20),
    ("switches", 2, 2),
    ("scripts", 14, 13),
];

/// Programs that are installed where the projects are checked.
const PROGRAMS: &[&str] = &[
    "sh", "bash", "python3", "node", "jq", "git", "npm", "npx", "curl", "cat", "date", "rm",
    "sleep",
];

#[derive(Deserialize)]
struct CorpusCase {
    name: String,
    #[serde(default)]
    half: String,
    #[serde(default)]
    category: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    line: usize,
    #[serde(default)]
    accepted_lines: Vec<usize>,
    #[serde(default)]
    accepted_files: Vec<String>,
    client: Option<String>,
    fixed: Option<FixedFile>,
    files: Vec<CaseFile>,
}

#[derive(Deserialize)]
struct CaseFile {
    path: String,
    text: Option<String>,
    shared: Option<String>,
    #[serde(default)]
    executable: bool,
}

#[derive(Deserialize)]
struct FixedFile {
    path: String,
    /// First line, number of replaced lines, and the new text of each edit.
    edits: Vec<(usize, usize, String)>,
    #[serde(default)]
    executable: bool,
}

/// A finding: its rule, its message, and its place.
struct PlacedFinding {
    rule: &'static str,
    message: String,
    has_fix: bool,
    file: PathBuf,
    line: usize,
}

/// The cases of a file of the corpus, and the texts that they share.
struct Corpus {
    cases: Vec<CorpusCase>,
    shared: BTreeMap<String, String>,
}

impl Corpus {
    fn load(name: &str) -> Self {
        let folder = repository_root().join("fixtures/lint");
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let cases = read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Self { cases, shared: serde_json::from_str(&read("shared.json")).unwrap() }
    }

    /// Writes the files of a case, with a correction of its mistake if there is one and it is wanted.
    fn write_case(&self, case: &CorpusCase, folder: &Path, is_fixed: bool) {
        for file in &case.files {
            let shared = file.shared.as_ref().map(|name| &self.shared[name]);
            let text = file.text.as_ref().or(shared).unwrap();
            let fixed = case.fixed.as_ref().filter(|fixed| is_fixed && fixed.path == file.path);
            let text = fixed.map_or_else(|| text.clone(), |fixed| fixed.apply_to(text));
            let path = folder.join(&file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            let is_executable = file.executable || fixed.is_some_and(|fixed| fixed.executable);
            let mode = if is_executable { 0o755 } else { 0o644 };
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    }

    /// Writes the files of a case and returns the findings in them.
    fn lint_case(
        &self,
        case: &CorpusCase,
        machine: &LintMachine,
        is_fixed: bool,
    ) -> Vec<PlacedFinding> {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap().join("project");
        self.write_case(case, &project, is_fixed);
        let client = case.client.as_deref().map(|client| client.parse::<Version>().unwrap());
        let contract = client.map_or(Contract::newest(), Contract::for_client);
        let is_plugin = !project.join(".claude").exists();
        let (layers, faults) = if is_plugin {
            let loaded = load_plugin_folder(&project, contract);
            (loaded.layers, loaded.faults)
        } else {
            let files = ClientFiles { folder: project.clone(), ..ClientFiles::default() };
            let loaded = load_folder_layers(&files, contract);
            (loaded.layers, loaded.plugin_faults)
        };
        let plugin = is_plugin.then(|| project.clone());
        let files = layers.into_iter().filter_map(|layer| {
            LintFile::from_layer(layer, plugin.clone(), Some(project.clone()), contract)
        });
        let context = LintContext::new(files.collect(), faults, contract, machine);
        let place = |finding: &rutter_check::lint::LintFinding| {
            let file = &context.files[finding.file];
            let (line, _) = line_and_column(&file.text, finding.range.start);
            let (rule, message) = (finding.rule.id, finding.message.clone());
            let has_fix = finding.fix.is_some();
            PlacedFinding { rule, message, has_fix, file: file.path.clone(), line }
        };
        run_rules(&context, &|_, _| false).iter().map(place).collect()
    }
}

impl FixedFile {
    fn apply_to(&self, text: &str) -> String {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut fixed = String::new();
        let mut next = 0;
        for (first, count, new) in &self.edits {
            fixed.extend(lines[next..first - 1].iter().copied());
            fixed.push_str(new);
            next = first - 1 + count;
        }
        fixed.extend(lines[next..].iter().copied());
        fixed
    }
}

impl CorpusCase {
    /// Returns true if a finding is where the mistake is.
    fn is_found(&self, findings: &[PlacedFinding]) -> bool {
        findings.iter().any(|finding| {
            let is_line = finding.line == self.line || self.accepted_lines.contains(&finding.line);
            finding.file.ends_with(&self.file) && is_line
                || self.accepted_files.iter().any(|file| finding.file.ends_with(file))
        })
    }
}

/// Returns a machine with the usual programs, in a folder that the caller keeps.
fn usual_machine(folder: &Path) -> LintMachine {
    for program in PROGRAMS {
        let path = folder.join(program);
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let search = vec![folder.to_owned()];
    LintMachine { home: None, search, has_bash_as_sh: false }
}

#[test]
#[expect(clippy::print_stdout, reason = "the table of the measurements")]
fn planted_mistakes_are_found() {
    let programs = tempfile::tempdir().unwrap();
    let machine = usual_machine(programs.path());
    let corpus = Corpus::load("planted.jsonl");
    assert_eq!(corpus.cases.len(), 207);
    let mut counts: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for case in &corpus.cases {
        let is_found = case.is_found(&corpus.lint_case(case, &machine, false));
        let count = counts.entry((&case.category, &case.half)).or_default();
        count.0 += usize::from(is_found);
        count.1 += 1;
        if case.half == "dev" && !is_found {
            println!("not found: {}", case.name);
        }
    }
    println!("category   dev      held out");
    let mut worse = Vec::new();
    for (category, dev, held_out) in FOUND_MISTAKES {
        let count = |half| counts.get(&(*category, half)).copied().unwrap_or_default();
        let ((own, of_own), (other, of_other)) = (count("dev"), count("held_out"));
        println!("{category:10} {own:2} of {of_own:2} {other:2} of {of_other:2}");
        if own < *dev || other < *held_out {
            worse.push(category);
        }
    }
    let listed = counts.keys().all(|(name, _)| FOUND_MISTAKES.iter().any(|row| row.0 == *name));
    assert!(listed, "a category is not listed");
    assert!(worse.is_empty(), "fewer mistakes are found than before: {worse:?}");
}

/// Returns the findings of all cases, each as a text with the name of its case.
fn all_findings(corpus: &Corpus, is_fixed: bool) -> Vec<String> {
    let programs = tempfile::tempdir().unwrap();
    let machine = usual_machine(programs.path());
    let cases = corpus.cases.iter().filter(|case| !is_fixed || case.fixed.is_some());
    cases
        .flat_map(|case| {
            let findings = corpus.lint_case(case, &machine, is_fixed).into_iter();
            findings.map(|PlacedFinding { rule, message, file, line, .. }| {
                format!("{}: {rule} at {}:{line}: {message}", case.name, file.display())
            })
        })
        .collect()
}

#[test]
fn clean_projects_have_no_findings() {
    let corpus = Corpus::load("clean.jsonl");
    assert_eq!(corpus.cases.len(), 52);
    let findings = all_findings(&corpus, false);
    assert!(findings.is_empty(), "{findings:#?}");
}

#[test]
fn corrected_projects_have_no_findings() {
    let corpus = Corpus::load("planted.jsonl");
    let corrected = corpus.cases.iter().filter(|case| case.fixed.is_some()).count();
    assert_eq!(corrected, 148);
    let findings = all_findings(&corpus, true);
    assert!(findings.is_empty(), "{findings:#?}");
}

/// Mistakes with more than one possible correction.
#[test]
fn uncertain_mistakes_are_not_edited() {
    let programs = tempfile::tempdir().unwrap();
    let machine = usual_machine(programs.path());
    let corpus = Corpus::load("planted.jsonl");
    let uncertain = corpus.cases.iter().filter(|case| case.fixed.is_none() && case.half == "dev");
    let mut checked = 0;
    for case in uncertain {
        let findings = corpus.lint_case(case, &machine, false);
        assert!(findings.iter().all(|finding| !finding.has_fix), "{}", case.name);
        checked += findings.len();
    }
    assert!(checked > 20, "{checked}");
}
