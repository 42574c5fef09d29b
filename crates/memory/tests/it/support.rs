use std::path::{Path, PathBuf};

use rutter_memory::ghap::{Cause, Domain, Ghap, Resolve, Start, Status, Strategy};
use rutter_memory::outcome::{Kind, Outcome, Verdict};
use rutter_memory::project::{Located, ProjectKey};
use rutter_memory::store::entry::{Entry, Place, What};
use rutter_memory::store::{Files, ImportError, ImportFile, Imported, Owner, Record, WhoseRows};
use rutter_memory::{Clean, Id, Store, Time};

/// Configuration line that disables the offer to start a GHAP.
pub(crate) const NO_OFFER: &str = "offer_ghap = false\n";

/// A data directory and projects in a temporary folder.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

/// Returns a fixed start time plus some seconds.
pub(crate) fn at(seconds: i64) -> Time {
    Time::from_millis(1_763_200_000_000 + seconds * 1_000)
}

impl World {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn memory(&self) -> PathBuf {
        self.folder.path().join("memory")
    }

    pub(crate) fn files(&self) -> Files {
        Files::new(self.memory())
    }

    /// Returns the user's configuration. Its deadlines are long enough for a machine that is busy with other tests.
    pub(crate) fn config(&self) -> PathBuf {
        let path = self.folder.path().join("config.toml");
        if !path.exists() {
            let hooks = [
                "session_start",
                "user_prompt_submit",
                "ghap_checkin",
                "outcome_capture",
                "edits",
                "subagent_start",
                "pre_compact",
                "stop",
                "session_end",
            ];
            let text = hooks.map(|hook| format!("[hooks.{hook}]\ndeadline_ms = 1000\n")).concat();
            // Most tests are about other texts after a failure; `offer.rs` is about this one.
            let capture = "[hooks.outcome_capture]\n";
            let text = text.replace(capture, &format!("{capture}{NO_OFFER}"));
            std::fs::write(&path, text).unwrap();
        }
        path
    }

    /// Adds a line to the section of a hook.
    pub(crate) fn set(&self, hook: &str, line: &str) {
        let path = self.config();
        let text = std::fs::read_to_string(&path).unwrap();
        let header = format!("[hooks.{hook}]\n");
        assert!(text.contains(&header));
        std::fs::write(&path, text.replace(&header, &format!("{header}{line}\n"))).unwrap();
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.memory(), at(0)).unwrap()
    }

    /// Returns the folder of a project, and creates it if it is missing.
    pub(crate) fn project(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    pub(crate) fn place(&self) -> Place {
        Place::from(&Located::find(&self.project("ship")))
    }

    pub(crate) fn owner(&self) -> Owner {
        Owner { client: Some(Clean::new("session-1")), agent: None, place: self.place() }
    }

    /// Returns the same owner in another session.
    pub(crate) fn other(&self, client: &str) -> Owner {
        Owner { client: Some(Clean::new(client)), ..self.owner() }
    }

    pub(crate) fn entry(&self, client: &str, seconds: i64, what: What) -> Entry {
        Entry {
            client: Clean::new(client),
            place: self.place(),
            process: None,
            at: at(seconds),
            what,
        }
    }

    pub(crate) fn outcome(&self, seconds: i64, verdict: Verdict) -> Outcome {
        Outcome {
            id: Id::new(at(seconds)),
            project: self.place().key,
            session: Some(Clean::new("session-1")),
            agent: None,
            command: Clean::new("cargo test"),
            kind: Kind::Test,
            runner: Clean::new("cargo test"),
            verdict,
            counts: None,
            failing: Vec::new(),
            signature: None,
            exit: None,
            duration: None,
            at: at(seconds),
        }
    }

    /// Records a run as a hook does.
    pub(crate) fn ran(&self, outcome: &Outcome) {
        self.record(&self.entry("session-1", 0, What::Ran(Box::new(outcome.clone().into()))));
    }

    pub(crate) fn record(&self, entry: &Entry) {
        use rutter_memory::store::hot;
        let budget = std::time::Duration::from_secs(2);
        hot::record(&self.files(), std::slice::from_ref(entry), budget).unwrap();
    }

    /// Returns every file in the data directory with its content.
    pub(crate) fn bytes(&self) -> Vec<(PathBuf, Vec<u8>)> {
        bytes_below(&self.memory())
    }

    /// Returns the files that contain a text.
    pub(crate) fn files_with(&self, text: &str) -> Vec<PathBuf> {
        let holds =
            |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        self.bytes().into_iter().filter(|(_, bytes)| holds(bytes)).map(|(path, _)| path).collect()
    }
}

pub(crate) fn bytes_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(bytes_below(&path));
        } else {
            found.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
    found
}

pub(crate) fn start() -> Start<'static> {
    Start {
        domain: Domain::Debugging,
        strategy: Strategy::ReadTheError,
        goal: "the parser takes CRLF",
        hypothesis: "lines are split at \\n alone",
        action: "split with lines()",
        prediction: "cargo test passes",
        expects: None,
        target: None,
        confidence: Some(0.8),
    }
}

pub(crate) fn confirm() -> Resolve<'static> {
    Resolve {
        status: Status::Confirmed,
        result: "all green",
        surprise: None,
        root_cause: None,
        what_worked: Some("lines()"),
        takeaway: None,
        outcome: None,
        unlooked: false,
    }
}

pub(crate) fn falsify() -> Resolve<'static> {
    Resolve {
        status: Status::Falsified,
        result: "still red",
        surprise: Some("the lexer splits before the parser"),
        root_cause: Some((Cause::WrongScope, "two places split lines")),
        takeaway: Some("look for every split"),
        what_worked: None,
        ..confirm()
    }
}

/// Returns all records of a store, as its export has them.
pub(crate) fn all(store: &mut Store) -> Vec<Record> {
    let mut records = Vec::new();
    store
        .export::<rutter_memory::StoreError>(None, |record| {
            records.push(record.clone());
            Ok(())
        })
        .unwrap();
    records
}

pub(crate) fn ghaps(store: &mut Store) -> Vec<Ghap> {
    all(store)
        .into_iter()
        .filter_map(|record| match record {
            Record::Ghap(ghap) => Some(*ghap),
            _ => None,
        })
        .collect()
}

pub(crate) fn key(text: &str) -> ProjectKey {
    ProjectKey::new(text)
}

/// Import of a text in one call.
pub(crate) trait ImportText {
    fn import_as(&mut self, text: &[u8], whose: WhoseRows) -> Result<Imported, ImportError>;

    /// Imports a text as the user's own rows.
    fn import_own(&mut self, text: &[u8]) -> Result<Imported, ImportError> {
        self.import_as(text, WhoseRows::Own)
    }
}

impl ImportText for Store {
    fn import_as(&mut self, text: &[u8], whose: WhoseRows) -> Result<Imported, ImportError> {
        let file = ImportFile::read(text, |_| {})?;
        self.import(&file, "export.jsonl", whose, at(500))
    }
}
