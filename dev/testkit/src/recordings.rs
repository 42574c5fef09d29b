//! What real runs printed, and what is to be read of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rutter_memory::outcome::{Counts, Verdict};
use rutter_memory::runs::report::{Report, Runner};
use rutter_memory::runs::runners::RUNNERS;
use rutter_memory::runs::text::plain;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) command: String,
    pub(crate) exit: i32,
    pub(crate) version: String,
    pub(crate) bug: Option<String>,
    /// How many runs the command makes, where it is more than one: the text may then be cut between them.
    #[serde(default = "one")]
    pub(crate) sections: u32,
    pub(crate) expect: Expected,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    pub(crate) verdict: Verdict,
    pub(crate) counts: Option<Counts>,
    pub(crate) failing: Vec<String>,
    #[serde(default)]
    pub(crate) failures: Vec<BTreeMap<String, Option<String>>>,
    /// The names of passed tests, with the scope and a blank before them if there is one.
    pub(crate) passed: Option<Vec<String>>,
}

fn one() -> u32 {
    1
}

pub(crate) struct Fixture {
    pub(crate) name: String,
    pub(crate) runner: &'static Runner,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
    pub(crate) case: Case,
}

impl Fixture {
    pub(crate) fn read(&self, bytes: &[u8]) -> Report {
        (self.runner.read)(&plain(bytes))
    }

    pub(crate) fn whole(&self) -> Vec<u8> {
        [self.out.clone(), self.err.clone()].concat()
    }
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// A runner's folder: its name, with a hyphen for all that is neither letter nor digit.
fn folder_of(runner: &Runner) -> String {
    let words = runner.name.split(|sign: char| !sign.is_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

/// Every case of every runner.
pub(crate) fn fixtures() -> Vec<Fixture> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/outcomes");
    let mut found = Vec::new();
    for folder in folders(&root).iter().filter(|path| path.is_dir()) {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let runner = RUNNERS.iter().find(|runner| folder_of(runner) == name);
        let runner = runner.unwrap_or_else(|| panic!("no runner is called {name}"));
        for path in folders(folder).iter().filter(|path| path.extension().unwrap() == "json") {
            let name = format!("{name}/{}", path.file_stem().unwrap().to_str().unwrap());
            let case = serde_json::from_slice(&fs::read(path).unwrap())
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            let out = fs::read(path.with_extension("out")).unwrap();
            let err = fs::read(path.with_extension("err")).unwrap_or_default();
            found.push(Fixture { name, runner, out, err, case });
        }
    }
    found
}
