//! The fail-open audit: does a guard still block what it blocks, when something that it needs is missing?

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rutter_contract::version::Contract;
use serde::Serialize;
use serde_json::Value;

use super::judgement::{TrialEffect, fails_closed, judge_trial};
use super::trial::{TestedHook, TrialRunner};

/// Largest number of programs that are taken away, one at a time.
const MAX_PROGRAMS: usize = 12;
/// Largest number of files that are taken away, one at a time.
const MAX_FILES: usize = 8;
/// Number of entries of a folder up to which its files are looked for in a script.
const MAX_FOLDER_ENTRIES: usize = 500;
/// Time after which no further condition is tried.
const MAX_AUDIT_TIME: Duration = Duration::from_secs(20);
/// Commands that every shell has built in, so that a `PATH` without them changes nothing, and words of scripts.
const SHELL_WORDS: [&str; 24] = [
    "[", "alias", "break", "case", "cd", "command", "do", "done", "echo", "exec", "exit", "false",
    "for", "if", "in", "kill", "printf", "pwd", "read", "set", "test", "then", "true", "type",
];

/// The result of trying a blocked payload again under one condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditCase {
    /// The condition: a missing program, a missing file, or a broken stdin.
    pub condition: String,
    /// The effect.
    pub effect: TrialEffect,
    /// True if the payload is no longer blocked.
    pub fails_open: bool,
}

/// The result of the audit of a hook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FailOpenAudit {
    /// Name of the payload that the hook blocks.
    pub payload: String,
    /// The conditions.
    pub cases: Vec<AuditCase>,
    /// Number of conditions that were left out, because the audit took too long.
    pub unrun_conditions: usize,
    /// True if the client lets the action pass when the hook exceeds its time limit. By the contract, not by a trial.
    pub timeout_fails_open: bool,
    /// True if the client lets the action pass when a signal ends the hook. By the contract, not by a trial.
    pub crash_fails_open: bool,
}

/// What an audit takes away from a hook.
#[derive(Debug, Clone, Copy)]
pub(super) struct AuditPlan<'a> {
    /// The folder with all programs.
    pub(super) folder: &'a ProgramFolder,
    /// The programs to take away.
    pub(super) programs: &'a [String],
    /// The files to take away. They are put back.
    pub(super) files: &'a [PathBuf],
}

/// A `PATH` with one folder, from which programs can be taken away.
#[derive(Debug)]
pub struct ProgramFolder {
    folder: PathBuf,
    programs: BTreeSet<String>,
}

impl ProgramFolder {
    /// Creates links to all programs of the search path in a new folder.
    pub fn create(folder: PathBuf, search: &[PathBuf]) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        let mut programs = BTreeSet::new();
        for source in search {
            for entry in fs::read_dir(source).into_iter().flatten().flatten() {
                let Ok(name) = entry.file_name().into_string() else { continue };
                if !is_executable(&entry.path()) || programs.contains(&name) {
                    continue;
                }
                symlink(entry.path(), folder.join(&name))?;
                programs.insert(name);
            }
        }
        Ok(Self { folder, programs })
    }

    /// Returns the programs whose names are words of the texts, without comments, in order of their first occurrence.
    pub fn programs_in(&self, texts: &[&str]) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for line in texts.iter().flat_map(|text| text.lines().enumerate()) {
            let (number, line) = (line.0, line.1.trim());
            let is_comment = line.starts_with('#') || line.starts_with("//");
            if is_comment && !(number == 0 && line.starts_with("#!/usr/bin/env")) {
                continue;
            }
            let words =
                line.split(|sign: char| !(sign.is_ascii_alphanumeric() || "_-.+[".contains(sign)));
            for word in words {
                let is_known = self.programs.contains(word)
                    && !SHELL_WORDS.contains(&word)
                    && !found.iter().any(|known| known == word);
                if is_known && (word != "env") {
                    found.push(word.to_owned());
                }
            }
        }
        found.truncate(MAX_PROGRAMS);
        found
    }

    /// Runs a function while a program is missing.
    fn without<T>(&self, program: &str, run: impl FnOnce(&Path) -> T) -> io::Result<T> {
        let link = self.folder.join(program);
        let target = fs::read_link(&link)?;
        fs::remove_file(&link)?;
        let result = run(&self.folder);
        symlink(target, link)?;
        Ok(result)
    }
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Returns the files beside the scripts of a hook that the scripts name, or import by the name without an extension.
pub(super) fn find_used_files(scripts: &[PathBuf], texts: &[String]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut folders: Vec<&Path> = scripts.iter().filter_map(|script| script.parent()).collect();
    folders.sort_unstable();
    folders.dedup();
    for folder in folders {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries.take(MAX_FOLDER_ENTRIES) {
            let path = entry.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let is_named = texts.iter().any(|text| {
                has_word(text, name)
                    || text.lines().any(|line| line.contains("import") && has_word(line, stem))
            });
            if !name.starts_with('.') && is_named && !scripts.contains(&path) && path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    found.truncate(MAX_FILES);
    found
}

/// Returns true if a text has a name that is not a part of a longer one.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || "_-".contains(sign);
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let behind = &text[at + name.len()..];
            !text[..at].ends_with(is_part) && !behind.starts_with(is_part)
        })
}

/// Runs a function while a file is missing.
fn without_file<T>(path: &Path, run: impl FnOnce() -> T) -> io::Result<T> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".away");
    fs::rename(path, &aside)?;
    let result = run();
    fs::rename(&aside, path)?;
    Ok(result)
}

/// Tries a blocked payload again without each of the programs and files, and with a broken stdin. Returns None if the hook
/// does not block the payload a second time: then nothing can be concluded.
pub(super) fn audit_guard(
    runner: &TrialRunner,
    hook: &TestedHook,
    (name, value): (&str, &Value),
    plan: AuditPlan<'_>,
    contract: Contract,
) -> io::Result<Option<FailOpenAudit>> {
    let line = format!("{value}\n");
    let try_with = |stdin: &[u8], search: Option<&Path>| {
        judge_trial(hook, runner.run_with_stdin(hook, stdin, search), contract).effect
    };
    if try_with(line.as_bytes(), Some(&plan.folder.folder)) != TrialEffect::Blocked {
        return Ok(None);
    }
    let begun = Instant::now();
    let (mut cases, mut unrun_conditions) = (Vec::new(), 0);
    let mut add = |condition: String, run: &dyn Fn() -> io::Result<TrialEffect>| {
        if begun.elapsed() > MAX_AUDIT_TIME {
            unrun_conditions += 1;
            return Ok(());
        }
        let effect = run()?;
        let fails_open = effect != TrialEffect::Blocked;
        cases.push(AuditCase { condition, effect, fails_open });
        io::Result::Ok(())
    };
    for program in plan.programs {
        add(format!("without {program}"), &|| {
            plan.folder.without(program, |search| try_with(line.as_bytes(), Some(search)))
        })?;
    }
    for path in plan.files {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        add(format!("without the file {file}"), &|| {
            without_file(path, || try_with(line.as_bytes(), None))
        })?;
    }
    let half = &line.as_bytes()[..line.len() / 2];
    add("stdin ends in the middle".to_owned(), &|| Ok(try_with(half, None)))?;
    add("stdin is empty".to_owned(), &|| Ok(try_with(b"", None)))?;
    let fails_open = !fails_closed(hook, contract);
    Ok(Some(FailOpenAudit {
        payload: name.to_owned(),
        cases,
        unrun_conditions,
        timeout_fails_open: fails_open,
        crash_fails_open: fails_open,
    }))
}

#[cfg(test)]
mod tests {

    use rutter_contract::EventName;
    use serde_json::json;

    use super::super::trial::{HookStart, TrialEnvironment};
    use super::*;

    fn audit(line: &str) -> Option<FailOpenAudit> {
        let scratch = tempfile::tempdir().unwrap();
        write(&scratch.path().join("forbidden.txt"), "rm -rf\n");
        let environment = TrialEnvironment {
            project: scratch.path().to_owned(),
            home: scratch.path().to_owned(),
            temporary: scratch.path().to_owned(),
            variables: vec![("PATH".into(), "/usr/bin:/bin".into())],
            is_copy: true,
        };
        let runner = TrialRunner::new(environment).unwrap();
        let hook = TestedHook {
            event: EventName::PreToolUse,
            start: HookStart::Shell(line.to_owned()),
            plugin: None,
            timeout: Some(Duration::from_secs(5)),
            blocks_on_failure: false,
        };
        let search = ["/usr/bin".into(), "/bin".into()];
        let folder = ProgramFolder::create(scratch.path().join("programs"), &search).unwrap();
        let programs = folder.programs_in(&[line]);
        let payload = json!({ "tool_input": { "command": "rm -rf /" } });
        let files = find_used_files(&[scratch.path().join("guard")], &[line.to_owned()]);
        let plan = AuditPlan { folder: &folder, programs: &programs, files: &files };
        let found =
            audit_guard(&runner, &hook, ("rm", &payload), plan, Contract::newest()).unwrap();
        assert!(files.iter().all(|file| file.is_file()), "the files are put back");
        found
    }

    fn write(path: &Path, text: &str) {
        io::Write::write_all(&mut fs::File::create(path).unwrap(), text.as_bytes()).unwrap();
    }

    #[test]
    fn files_of_scripts_are_found() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["guard.py", "rules.json", "helpers.py", "other.py", "port.py", ".env"] {
            write(&folder.path().join(name), "");
        }
        let text = "import json\nfrom helpers import check\nopen('rules.json'), '.env'\n";
        let used = find_used_files(&[folder.path().join("guard.py")], &[text.to_owned()]);
        let names: Vec<_> = used.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names, ["helpers.py", "rules.json"]);
    }

    #[test]
    fn guard_that_fails_open_is_found() {
        let audit = audit("if grep -q 'rm -rf'; then exit 2; fi").unwrap();
        let open: Vec<&str> = (audit.cases.iter().filter(|case| case.fails_open))
            .map(|case| case.condition.as_str())
            .collect();
        assert!(open.contains(&"without grep") && open.contains(&"stdin is empty"), "{open:?}");
        assert!(audit.timeout_fails_open && audit.crash_fails_open);
    }

    #[test]
    fn missing_file_is_tried() {
        let audit = audit("if grep -qf forbidden.txt; then exit 2; fi").unwrap();
        let case = audit.cases.iter().find(|case| case.condition.contains("forbidden.txt"));
        assert!(case.is_some_and(|case| case.fails_open), "{audit:?}");
    }

    #[test]
    fn guard_that_fails_closed_is_found() {
        let audit = audit("grep -q 'harmless' && exit 0; exit 2").unwrap();
        assert!(
            audit.cases.len() >= 3 && audit.cases.iter().all(|case| !case.fails_open),
            "{audit:?}"
        );
    }

    #[test]
    fn hook_that_does_not_block_is_not_audited() {
        assert_eq!(audit("cat > last.json"), None);
    }
}
