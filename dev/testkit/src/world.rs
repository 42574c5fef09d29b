//! A data directory with projects, and the rows that tests put into it.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use rutter_memory::episode::Episode;
use rutter_memory::ghap::{
    CauseCategory, Domain, Ghap, GhapResolve, GhapStart, GhapStatus, Strategy,
};
use rutter_memory::memory::MemoryCategory;
use rutter_memory::outcome::{Outcome, RunKind, Verdict};
use rutter_memory::project::{LocatedProject, ProjectKey};
use rutter_memory::store::entry::{EntryKind, ProjectPlace, SessionEntry};
use rutter_memory::store::{
    DataDir, ExportRecord, GhapOwner, ImportError, ImportFile, ImportReport, NewMemory, WhoseRows,
};
use rutter_memory::{Clean, Id, Store, Time};

use rutter_runs::selection::TestSelection;

use crate::lessons::GeneratedLesson;

/// Configuration line that disables the offer to start a GHAP.
pub const NO_OFFER: &str = "offer_ghap = false\n";

/// A data directory and projects in a temporary folder.
pub struct TestWorld {
    folder: tempfile::TempDir,
}

/// Returns a fixed start time plus some seconds.
pub fn time_at(seconds: i64) -> Time {
    Time::from_millis(1_763_200_000_000 + seconds * 1_000)
}

thread_local! {
    /// Seconds on the clock of a test since the start time; each test has a separate thread.
    static CLOCK: Cell<i64> = const { Cell::new(0) };
}

/// Returns the time on the clock of this test.
pub fn now() -> Time {
    time_at(CLOCK.get())
}

/// Advances the clock of this test.
pub fn advance_clock(seconds: i64) {
    CLOCK.set(CLOCK.get() + seconds);
}

impl Default for TestWorld {
    fn default() -> Self {
        Self::new()
    }
}

impl TestWorld {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn memory(&self) -> PathBuf {
        self.path("memory")
    }

    pub fn files(&self) -> DataDir {
        DataDir::new(self.memory())
    }

    /// Returns the user's configuration.
    pub fn config(&self) -> PathBuf {
        let path = self.path("config.toml");
        if !path.exists() {
            let text = crate::HOOK_SECTIONS.map(|hook| format!("[hooks.{hook}]\n")).concat();
            // Most tests are about other texts after a failure; `offer.rs` is about this one.
            let capture = "[hooks.outcome_capture]\n";
            let text = text.replace(capture, &format!("{capture}{NO_OFFER}"));
            std::fs::write(&path, text).unwrap();
        }
        path
    }

    /// Adds a line to the section of a hook.
    pub fn set_hook_option(&self, hook: &str, line: &str) {
        let path = self.config();
        let text = std::fs::read_to_string(&path).unwrap();
        let header = format!("[hooks.{hook}]\n");
        assert!(text.contains(&header));
        std::fs::write(&path, text.replace(&header, &format!("{header}{line}\n"))).unwrap();
    }

    pub fn store(&self) -> Store {
        Store::open(&self.memory(), time_at(0)).unwrap()
    }

    /// Returns the folder of a project, and creates it if it is missing.
    pub fn project(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    pub fn place(&self) -> ProjectPlace {
        self.place_of("ship")
    }

    /// Returns the place of a project, and creates its folder if it is missing.
    pub fn place_of(&self, project: &str) -> ProjectPlace {
        ProjectPlace::from(&LocatedProject::find(&self.project(project)))
    }

    pub fn owner(&self) -> GhapOwner {
        GhapOwner { client: Some(Clean::new("session-1")), agent: None, place: self.place() }
    }

    /// Returns the same owner in another session.
    pub fn other_session(&self, client: &str) -> GhapOwner {
        GhapOwner { client: Some(Clean::new(client)), ..self.owner() }
    }

    pub fn entry(&self, client: &str, seconds: i64, kind: EntryKind) -> SessionEntry {
        SessionEntry {
            client: Clean::new(client),
            place: self.place(),
            process: None,
            at: time_at(seconds),
            kind,
        }
    }

    pub fn outcome(&self, seconds: i64, verdict: Verdict) -> Outcome {
        Outcome {
            id: Id::new(time_at(seconds)),
            project: self.place().key,
            session: Some(Clean::new("session-1")),
            agent: None,
            command: Clean::new("cargo test"),
            kind: RunKind::Test,
            runner: Clean::new("cargo test"),
            verdict,
            counts: None,
            failing: Vec::new(),
            signature: None,
            exit: None,
            duration: None,
            at: time_at(seconds),
        }
    }

    /// Records a run as a hook does.
    pub fn record_run(&self, outcome: &Outcome) {
        self.record(&self.entry("session-1", 0, EntryKind::Ran(Box::new(outcome.clone().into()))));
    }

    pub fn record(&self, entry: &SessionEntry) {
        use rutter_memory::store::recorder::Recorder;
        let budget = std::time::Duration::from_secs(2);
        Recorder::new(&self.files(), budget).record(std::slice::from_ref(entry)).unwrap();
    }

    /// Returns every file in the data directory with its content.
    pub fn file_contents(&self) -> Vec<(PathBuf, Vec<u8>)> {
        bytes_below(&self.memory())
    }

    /// Returns the files that contain a text.
    pub fn files_with(&self, text: &str) -> Vec<PathBuf> {
        let holds =
            |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        self.file_contents()
            .into_iter()
            .filter(|(_, bytes)| holds(bytes))
            .map(|(path, _)| path)
            .collect()
    }
}

pub fn bytes_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
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

/// A memory of a fact that applies in every project.
pub const FACT: NewMemory<'static> = NewMemory {
    place: None,
    category: MemoryCategory::Fact,
    text: "x",
    importance: 0.5,
    tags: &[],
    applies_when: &[],
};

/// Stores a fact about a project a second after the start time.
pub fn remember_fact(store: &mut Store, place: &ProjectPlace, text: &str) -> Id {
    let new = NewMemory { place: Some(place), text, ..FACT };
    store.remember(&new, time_at(1)).unwrap().memory.id
}

pub fn start_fields() -> GhapStart<'static> {
    GhapStart {
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

pub fn confirm_fields() -> GhapResolve<'static> {
    GhapResolve {
        status: GhapStatus::Confirmed,
        result: "all green",
        surprise: None,
        root_cause: None,
        what_worked: Some("lines()"),
        takeaway: None,
        applies_when: &[],
        outcome: None,
        ignores_other_runs: false,
    }
}

pub fn falsify_fields() -> GhapResolve<'static> {
    GhapResolve {
        status: GhapStatus::Falsified,
        result: "still red",
        surprise: Some("the lexer splits before the parser"),
        root_cause: Some((CauseCategory::WrongScope, "two places split lines")),
        takeaway: Some("look for every split"),
        what_worked: None,
        ..confirm_fields()
    }
}

/// Returns all records of a store, as its export has them.
pub fn all_records(store: &mut Store) -> Vec<ExportRecord> {
    let mut records = Vec::new();
    store
        .export::<rutter_memory::StoreError>(None, |record| {
            records.push(record.clone());
            Ok(())
        })
        .unwrap();
    records
}

pub fn all_ghaps(store: &mut Store) -> Vec<Ghap> {
    all_records(store)
        .into_iter()
        .filter_map(|record| match record {
            ExportRecord::Ghap(ghap) => Some(*ghap),
            _ => None,
        })
        .collect()
}

pub fn project_key(text: &str) -> ProjectKey {
    ProjectKey::new(text)
}

/// Import of a text in one call.
pub trait ImportText {
    fn import_as(&mut self, text: &[u8], whose: WhoseRows) -> Result<ImportReport, ImportError>;

    /// Imports a text as the user's own rows.
    fn import_own(&mut self, text: &[u8]) -> Result<ImportReport, ImportError> {
        self.import_as(text, WhoseRows::Own)
    }
}

impl ImportText for Store {
    fn import_as(&mut self, text: &[u8], whose: WhoseRows) -> Result<ImportReport, ImportError> {
        let file = ImportFile::read(text, |_| {})?;
        self.import(&file, "export.jsonl", whose, time_at(500))
    }
}

/// Starts and resolves a GHAP with the content of a lesson.
pub fn record_lesson(store: &mut Store, owner: &GhapOwner, lesson: &GeneratedLesson) -> Ghap {
    let now = time_at(lesson.at);
    let start = GhapStart {
        domain: lesson.domain.parse().unwrap(),
        strategy: lesson.strategy.parse().unwrap(),
        goal: &lesson.goal,
        hypothesis: &lesson.hypothesis,
        action: &lesson.action,
        prediction: &lesson.prediction,
        expects: None,
        target: None,
        confidence: None,
    };
    store.start_ghap(owner, &start, now).unwrap();
    let resolve = GhapResolve {
        status: lesson.status.parse().unwrap(),
        result: &lesson.result,
        surprise: lesson.surprise.as_deref(),
        root_cause: lesson
            .cause
            .as_ref()
            .map(|(category, text)| (category.parse().unwrap(), text.as_str())),
        what_worked: lesson.what_worked.as_deref(),
        takeaway: lesson.takeaway.as_deref(),
        applies_when: &[],
        outcome: None,
        ignores_other_runs: false,
    };
    store.resolve_ghap(owner, &resolve, now).unwrap().ghap
}

/// Returns the same lesson for every number, with another date.
pub fn repeated_lesson(number: i64) -> GeneratedLesson {
    GeneratedLesson {
        label: None,
        at: number * 100_000,
        session: 0,
        domain: "debugging",
        strategy: "read-the-error",
        status: "falsified",
        goal: "the export runs at night".into(),
        hypothesis: "the disk is too slow".into(),
        action: "write into a buffer".into(),
        prediction: "the tests pass".into(),
        result: "still red".into(),
        surprise: Some("the connection pool was empty after an hour".into()),
        cause: Some(("oversight", "an early return skips the release of the connection".into())),
        what_worked: None,
        takeaway: Some("release the connection in a finally block".into()),
        proven: false,
    }
}

/// Records the same lesson `count` times, each in a separate session.
pub fn record_repeatedly(world: &TestWorld, store: &mut Store, count: i64) -> Vec<Ghap> {
    (0..count)
        .map(|number| {
            record_lesson(
                store,
                &world.other_session(&format!("learner-{number}")),
                &repeated_lesson(number),
            )
        })
        .collect()
}

/// Returns an open episode of a run of pytest.
pub fn open_episode(id: Id, project: ProjectKey, at: Time) -> Episode {
    let selection = TestSelection {
        program: "pytest".into(),
        folder: Clean::default(),
        arguments: Vec::new(),
        stops: false,
        task: None,
        is_partial: false,
        package: None,
    };
    Episode {
        id,
        project,
        root: "/x".into(),
        selection,
        signature: "s".into(),
        test: None,
        error: Clean::default(),
        scope: None,
        file: None,
        is_compile_error: false,
        first: None,
        last: None,
        attempts: 1,
        opened: at,
        seen: at,
        gone: None,
        ending: None,
    }
}
