//! The fail-open audit: does a guard still block what it blocks, when something that it needs is missing?

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rutter_contract::version::Contract;
use serde::Serialize;
use serde_json::Value;

use super::judgement::{TrialEffect, fails_closed, judge_trial};
use super::trial::{TestedHook, TrialRunner};

/// Largest number of programs that are taken away, one at a time.
const MAX_PROGRAMS: usize = 12;
/// Commands that every shell has built in, so that a `PATH` without them changes nothing, and words of scripts.
const SHELL_WORDS: [&str; 24] = [
    "[", "alias", "break", "case", "cd", "command", "do", "done", "echo", "exec", "exit", "false",
    "for", "if", "in", "kill", "printf", "pwd", "read", "set", "test", "then", "true", "type",
];

/// The result of trying a blocked payload again under one condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditCase {
    /// The condition: a missing program, or a broken stdin.
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
    /// True if the client lets the action pass when the hook exceeds its time limit. By the contract, not by a trial.
    pub timeout_fails_open: bool,
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

/// Tries a blocked payload again without each of the programs, and with a broken stdin. Returns None if the hook does not
/// block the payload a second time: then nothing can be concluded.
pub fn audit_guard(
    runner: &TrialRunner,
    hook: &TestedHook,
    payload: (&str, &Value),
    (folder, programs): (&ProgramFolder, &[String]),
    contract: Contract,
) -> io::Result<Option<FailOpenAudit>> {
    let (name, value) = payload;
    let line = format!("{value}\n");
    let try_with = |stdin: &[u8], search: Option<&Path>| {
        judge_trial(hook, runner.run_with_stdin(hook, stdin, search), contract).effect
    };
    if try_with(line.as_bytes(), Some(&folder.folder)) != TrialEffect::Blocked {
        return Ok(None);
    }
    let mut cases = Vec::new();
    let mut add = |condition: String, effect: TrialEffect| {
        let fails_open = effect != TrialEffect::Blocked;
        cases.push(AuditCase { condition, effect, fails_open });
    };
    for program in programs {
        let effect = folder.without(program, |search| try_with(line.as_bytes(), Some(search)))?;
        add(format!("without {program}"), effect);
    }
    add("stdin ends in the middle".to_owned(), try_with(&line.as_bytes()[..line.len() / 2], None));
    add("stdin is empty".to_owned(), try_with(b"", None));
    let timeout_fails_open = !fails_closed(hook, contract);
    Ok(Some(FailOpenAudit { payload: name.to_owned(), cases, timeout_fails_open }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rutter_contract::EventName;
    use serde_json::json;

    use super::super::trial::{HookStart, TrialEnvironment};
    use super::*;

    fn audit(line: &str) -> Option<FailOpenAudit> {
        let scratch = tempfile::tempdir().unwrap();
        let environment = TrialEnvironment {
            project: scratch.path().to_owned(),
            home: scratch.path().to_owned(),
            temporary: scratch.path().to_owned(),
            variables: vec![("PATH".into(), "/usr/bin:/bin".into())],
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
        audit_guard(&runner, &hook, ("rm", &payload), (&folder, &programs), Contract::newest())
            .unwrap()
    }

    #[test]
    fn guard_that_fails_open_is_found() {
        let audit = audit("if grep -q 'rm -rf'; then exit 2; fi").unwrap();
        let open: Vec<&str> = (audit.cases.iter().filter(|case| case.fails_open))
            .map(|case| case.condition.as_str())
            .collect();
        assert!(open.contains(&"without grep") && open.contains(&"stdin is empty"), "{open:?}");
        assert!(audit.timeout_fails_open);
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
