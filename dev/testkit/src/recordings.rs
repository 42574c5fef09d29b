//! Recorded output of real runs, with the expected outcomes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rutter_runs::report::{OutputReader, OutputReport};
use rutter_runs::runners::RUNNERS;
use rutter_runs::text::plain_text;
use rutter_runs::{TestCounts, Verdict};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedCase {
    pub command: String,
    pub exit: i32,
    pub version: String,
    pub bug: Option<String>,
    /// Number of runs in the command. With more than one, the text may be cut between them.
    #[serde(default = "one")]
    pub sections: u32,
    pub expect: ExpectedOutcome,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedOutcome {
    pub verdict: Verdict,
    pub counts: Option<TestCounts>,
    pub failing: Vec<String>,
    #[serde(default)]
    pub failures: Vec<BTreeMap<String, Option<String>>>,
    /// Names of the passed tests, each with its scope and a blank before it if there is a scope.
    pub passed: Option<Vec<String>>,
}

fn one() -> u32 {
    1
}

pub struct RecordedRun {
    pub name: String,
    pub runner: &'static OutputReader,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    pub case: RecordedCase,
}

impl RecordedRun {
    pub fn read_output(&self, bytes: &[u8]) -> OutputReport {
        (self.runner.read)(&plain_text(bytes))
    }

    pub fn full_output(&self) -> Vec<u8> {
        [self.out.clone(), self.err.clone()].concat()
    }
}

fn sorted_entries(path: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// Returns the folder of a runner: its name with one hyphen for each run of other characters than letters and digits.
fn runner_folder(runner: &OutputReader) -> String {
    let words = runner.name.split(|sign: char| !sign.is_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// Returns every case of every runner.
pub fn load_recordings() -> Vec<RecordedRun> {
    let root = crate::repository_root().join("crates/runs/fixtures/outcomes");
    let mut found = Vec::new();
    for folder in sorted_entries(&root).iter().filter(|path| path.is_dir()) {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let runner = RUNNERS.iter().find(|runner| runner_folder(runner) == name);
        let runner = runner.unwrap_or_else(|| panic!("no runner is called {name}"));
        for path in sorted_entries(folder).iter().filter(|path| path.extension().unwrap() == "json")
        {
            let name = format!("{name}/{}", path.file_stem().unwrap().to_str().unwrap());
            let case = serde_json::from_slice(&fs::read(path).unwrap())
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let out = fs::read(path.with_extension("out")).unwrap();
            let err = fs::read(path.with_extension("err")).unwrap_or_default();
            found.push(RecordedRun { name, runner, out, err, case });
        }
    }
    found
}
