//! The rows that the fingerprint file stands for: active GHAPs, open failures, fixes with a certain edit, and commands that
//! are known to fail.
//!
//! Every write transaction adds the fingerprints of the rows that it changed, before it commits, whoever changed them. The
//! write lock of the database is also the lock of the file. Maintenance rebuilds the file.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::hooks::Action;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::command_episodes::{failing_command, failing_commands};
use super::{DataDir, Store, StoreResult, io_error};
use crate::change::Change;
use crate::command_episode::CommandEpisode;
use crate::episode::guarded_hunks;
use crate::fingerprints::{
    FingerprintKind, Fingerprints, add_to_file, fingerprint, kind_fingerprint, remove_file,
    write_file,
};

/// Maximum number of fixes in a rebuilt file, the newest.
const MAX_FIXES: u32 = 4_096;
/// Maximum number of commands in a rebuilt file, those that failed last.
const MAX_COMMANDS: u32 = 1_024;

/// A table whose rows have fingerprints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrackedTable {
    Ghap,
    Episode,
    Command,
}

impl TrackedTable {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "ghap" => Some(Self::Ghap),
            "episode" => Some(Self::Episode),
            "command_episode" => Some(Self::Command),
            _ => None,
        }
    }
}

/// The rows that a connection inserted or updated in the current transaction.
#[derive(Debug, Default)]
pub(super) struct ChangedRows(Arc<Mutex<Vec<(TrackedTable, i64)>>>);

impl ChangedRows {
    /// Follows the changes that are made through a connection.
    pub(super) fn follow(connection: &mut Connection) -> rusqlite::Result<Self> {
        let rows = Self::default();
        let changed = Arc::clone(&rows.0);
        connection.update_hook(Some(move |action, _: &str, table: &str, row| {
            if matches!(action, Action::SQLITE_INSERT | Action::SQLITE_UPDATE)
                && let Some(table) = TrackedTable::from_name(table)
            {
                let mut rows = changed.lock().unwrap_or_else(PoisonError::into_inner);
                if rows.last() != Some(&(table, row)) {
                    rows.push((table, row));
                }
            }
        }))?;
        Ok(rows)
    }

    /// Forgets the rows of a transaction that was rolled back.
    pub(super) fn clear(&self) {
        drop(self.take());
    }

    fn take(&self) -> Vec<(TrackedTable, i64)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds the fingerprints of the changed rows to the file. The caller commits afterwards. If they cannot be added, removes
    /// the file: hooks then ask the database.
    pub(super) fn add_fingerprints(&self, connection: &Connection, files: &DataDir) -> StoreResult {
        let rows = self.take();
        if rows.is_empty() {
            return Ok(());
        }
        let found: StoreResult<Vec<Vec<u64>>> =
            rows.into_iter().map(|(table, row)| row_fingerprints(connection, table, row)).collect();
        let path = files.fingerprints();
        let added = found
            .and_then(|new| add_to_file(files, &new.concat()).map_err(io_error("write", &path)));
        added.or_else(|_| remove_file(files).map_err(io_error("remove", &path)))
    }
}

/// Returns the fingerprints of a row.
fn row_fingerprints(
    connection: &Connection,
    table: TrackedTable,
    row: i64,
) -> StoreResult<Vec<u64>> {
    match table {
        TrackedTable::Ghap => {
            let client: Option<String> = connection
                .prepare_cached(
                    "SELECT session.client FROM ghap JOIN session ON session.id = ghap.session
                     WHERE ghap.id = ?1 AND status = 'active'",
                )?
                .query_row([row], |row| row.get(0))
                .optional()?;
            Ok(client.map(|client| ghap_fingerprints(&client).to_vec()).unwrap_or_default())
        }
        TrackedTable::Episode => {
            let found = connection
                .prepare_cached(
                    "SELECT root, how IS NULL, fix FROM episode WHERE id = ?1 AND (how IS NULL OR how = 'fixed')",
                )?
                .query_row([row], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
                .optional()?;
            let Some((root, is_open, fix)): Option<(String, bool, String)> = found else {
                return Ok(Vec::new());
            };
            Ok(if is_open { folder_fingerprints(&root).to_vec() } else { fix_fingerprints(&fix) })
        }
        TrackedTable::Command => {
            let found: Option<(i64, i64)> = connection
                .prepare_cached("SELECT project, shape FROM command_episode WHERE id = ?1")?
                .query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((project, shape)) = found else { return Ok(Vec::new()) };
            let known = failing_command(connection, project, shape.cast_unsigned())?;
            Ok(known.map(|known| command_fingerprints(&known).to_vec()).unwrap_or_default())
        }
    }
}

fn ghap_fingerprints(client: &str) -> [u64; 2] {
    [kind_fingerprint(FingerprintKind::ActiveGhap), ghap_fingerprint(client)]
}

fn folder_fingerprints(root: &str) -> [u64; 2] {
    [kind_fingerprint(FingerprintKind::OpenEpisode), folder_fingerprint(root)]
}

pub(super) fn ghap_fingerprint(client: &str) -> u64 {
    fingerprint(FingerprintKind::ActiveGhap, client)
}

pub(super) fn folder_fingerprint(root: &str) -> u64 {
    fingerprint(FingerprintKind::OpenEpisode, root)
}

/// Returns the fingerprints of the files of a stored fix whose removal is worth a message.
///
/// Not of its lines: an edit may name any part of a line, and whether a part belongs to a line only the file shows.
fn fix_fingerprints(fix: &str) -> Vec<u64> {
    let changes: Vec<Change> = serde_json::from_str(fix).unwrap_or_default();
    guarded_hunks(&changes).map(|(file, _)| fixed_file_fingerprint(file)).collect()
}

/// Returns the fingerprint of a file with a fix. Only the last part of its path counts.
pub fn fixed_file_fingerprint(file: &str) -> u64 {
    fingerprint(FingerprintKind::FixedFile, file.rsplit('/').next().unwrap_or(file))
}

fn command_fingerprints(command: &CommandEpisode) -> [u64; 3] {
    [
        kind_fingerprint(FingerprintKind::FailingCommand),
        program_fingerprint(&command.program),
        command_fingerprint(command.shape),
    ]
}

/// Returns the fingerprint of a program with its subcommand. Most commands have another program, and computing a shape
/// takes longer.
pub fn program_fingerprint(program: &str) -> u64 {
    fingerprint(FingerprintKind::FailingCommand, program)
}

/// Returns the fingerprint of a command with this [`CommandForm::fingerprint`](rutter_runs::command_form::CommandForm).
pub fn command_fingerprint(shape: u64) -> u64 {
    fingerprint(FingerprintKind::FailingCommand, &format!("{shape:016x}"))
}

/// Returns the fingerprints of all rows.
fn all_fingerprints(connection: &Connection) -> StoreResult<Vec<u64>> {
    let mut all = Vec::new();
    let mut ghaps = connection.prepare(
        "SELECT DISTINCT session.client FROM ghap JOIN session ON session.id = ghap.session WHERE status = 'active'",
    )?;
    let mut open = connection.prepare("SELECT DISTINCT root FROM episode WHERE how IS NULL")?;
    let mut fixes = connection.prepare(
        "SELECT fix FROM episode WHERE how = 'fixed' AND fix != '[]' ORDER BY ended DESC, id DESC LIMIT ?1",
    )?;
    let mut rows = ghaps.query([])?;
    while let Some(row) = rows.next()? {
        all.extend(ghap_fingerprints(row.get_ref(0)?.as_str().unwrap_or_default()));
    }
    let mut rows = open.query([])?;
    while let Some(row) = rows.next()? {
        all.extend(folder_fingerprints(row.get_ref(0)?.as_str().unwrap_or_default()));
    }
    let mut rows = fixes.query([MAX_FIXES])?;
    while let Some(row) = rows.next()? {
        all.extend(fix_fingerprints(row.get_ref(0)?.as_str().unwrap_or_default()));
    }
    for command in failing_commands(connection, MAX_COMMANDS)? {
        all.extend(command_fingerprints(&command));
    }
    Ok(all)
}

/// Returns true if there is a fingerprint file and it lacks a fingerprint of a row.
pub(super) fn lacks_fingerprint(connection: &Connection, files: &DataDir) -> StoreResult<bool> {
    // The rows first: theirs were in the file before.
    let all = all_fingerprints(connection)?;
    let known = Fingerprints::read(files);
    Ok(known.is_some_and(|known| all.iter().any(|one| !known.contains(*one))))
}

impl Store {
    /// Rebuilds the fingerprint file, without fingerprints that no row has any more.
    pub(super) fn rebuild_fingerprints(&mut self) -> StoreResult {
        let files = self.files.clone();
        // The write lock: no other process adds a fingerprint meanwhile.
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let all = all_fingerprints(&transaction)?;
        let path = files.fingerprints();
        if Fingerprints::read(&files).is_some_and(|known| {
            let mut sorted = all.clone();
            sorted.sort_unstable();
            sorted.dedup();
            known.all().eq(sorted)
        }) {
            return Ok(());
        }
        write_file(&files, all).map_err(io_error("write", &path))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use rusqlite::params;

    use super::*;
    use crate::change::Hunk;
    use crate::episode::EpisodeEndingKind;
    use crate::ghap::{Domain, GhapStart, Strategy};
    use crate::project::LocatedProject;
    use crate::store::GhapOwner;
    use crate::store::entry::ProjectPlace;
    use crate::store::hook_store::HookStore;
    use crate::store::maintain::{MaintenanceLimits, maintain};
    use crate::store::projects::ensure_project;
    use crate::{Clean, Id, Time};

    /// Returns the time of all rows.
    fn now() -> Time {
        Time::from_millis(1_763_200_000_000)
    }

    const CLIENT: &str = "session-1";

    struct World {
        folder: tempfile::TempDir,
        store: Store,
    }

    impl World {
        /// Returns a store with a fingerprint file.
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let mut store = Store::open(&folder.path().join("memory"), now()).unwrap();
            assert_eq!(Fingerprints::read(&store.files), None);
            store.rebuild_fingerprints().unwrap();
            Self { folder, store }
        }

        fn place(&self) -> ProjectPlace {
            ProjectPlace::from(&LocatedProject::find(self.folder.path()))
        }

        fn start_ghap(&mut self) -> StoreResult {
            let owner =
                GhapOwner { client: Some(Clean::new(CLIENT)), agent: None, place: self.place() };
            let start = GhapStart {
                domain: Domain::Debugging,
                strategy: Strategy::ReadTheError,
                goal: "the suite is green",
                hypothesis: "the price is rounded twice",
                action: "round once",
                prediction: "cargo test passes",
                expects: None,
                target: None,
                confidence: None,
            };
            self.store.start_ghap(&owner, &start, now()).map(drop)
        }

        fn insert_open_episode(&mut self, root: &str) {
            let place = self.place();
            self.store
                .write(|transaction| {
                    let project = ensure_project(transaction, &place, now())?;
                    insert_episode(transaction, project, root)
                })
                .unwrap();
        }

        fn knows(&self, fingerprint: u64) -> bool {
            Fingerprints::read(&self.store.files).unwrap().contains(fingerprint)
        }
    }

    fn insert_episode(connection: &Connection, project: i64, root: &str) -> StoreResult {
        connection.execute(
            "INSERT INTO episode (uid, project, root, program, folder, arguments, stops, signature, error, attempts,
                                  opened, seen, fix, changed, partial, compile_error, clues)
             VALUES (?1, ?2, ?3, 'pytest', '', '[]', 0, 's', '', 1, ?4, ?4, '[]', ?4, 0, 0, '{}')",
            params![Id::new(now()), project, root, now()],
        )?;
        Ok(())
    }

    /// The moment of the commit, at which a process may be killed.
    #[test]
    fn file_precedes_commit() {
        let mut world = World::new();
        let was_in_file = Arc::new(AtomicBool::new(false));
        let (files, seen) = (world.store.files.clone(), Arc::clone(&was_in_file));
        world
            .store
            .connection
            .commit_hook(Some(move || {
                let known = Fingerprints::read(&files).unwrap();
                seen.store(known.contains(ghap_fingerprint(CLIENT)), Ordering::Relaxed);
                // Turns the commit into a rollback.
                true
            }))
            .unwrap();
        world.start_ghap().unwrap_err();
        assert!(was_in_file.load(Ordering::Relaxed));
        world.store.connection.commit_hook(None::<fn() -> bool>).unwrap();
        // More than the database has, until the next maintenance.
        assert!(world.knows(ghap_fingerprint(CLIENT)));
        world.store.rebuild_fingerprints().unwrap();
        assert!(!world.knows(ghap_fingerprint(CLIENT)));
        world.start_ghap().unwrap();
        assert!(world.knows(ghap_fingerprint(CLIENT)));
    }

    #[test]
    fn failed_write_removes_file() {
        let mut world = World::new();
        let draft = world.store.files.folder().join("fingerprints.new");
        // A folder in the place of the draft cannot be replaced.
        std::fs::create_dir_all(draft.join("x")).unwrap();
        world.start_ghap().unwrap();
        assert!(!world.store.files.fingerprints().exists());
    }

    #[test]
    fn doctor_finds_missing_fingerprint() {
        use crate::store::doctor::{StoreProblem, check_store};

        let mut world = World::new();
        world.start_ghap().unwrap();
        let problems = |world: &World| -> Vec<StoreProblem> {
            let health = check_store(world.store.files.folder()).unwrap();
            health.findings.iter().map(|finding| finding.ailment).collect()
        };
        assert_eq!(problems(&world), []);
        write_file(&world.store.files, Vec::new()).unwrap();
        assert_eq!(problems(&world), [StoreProblem::Misfiled]);
        world.store.rebuild_fingerprints().unwrap();
        assert_eq!(problems(&world), []);
    }

    #[test]
    fn missing_file_stays_missing() {
        let mut world = World::new();
        world.insert_open_episode("/ship");
        remove_file(&world.store.files).unwrap();
        world.start_ghap().unwrap();
        assert!(!world.store.files.fingerprints().exists());
        world.store.rebuild_fingerprints().unwrap();
        assert!(world.knows(ghap_fingerprint(CLIENT)) && world.knows(folder_fingerprint("/ship")));
    }

    /// Inserts episodes of one command, each with its number of failures and the time at which the command succeeded.
    fn insert_commands(world: &mut World, shape: i64, commands: &[(u32, Option<Time>)]) {
        let place = world.place();
        let insert = |connection: &Connection| -> StoreResult {
            let project = ensure_project(connection, &place, now())?;
            for (failures, passed) in commands {
                connection.execute(
                    "INSERT INTO command_episode (uid, project, client, root, program, command, shape, error, signature,
                                                  failures, opened, seen, passed, how, ended, worked, difference)
                     VALUES (?1, ?2, 'one', '/ship', 'git push', 'git push -x', ?3, 'e', 's', ?4, ?5, ?5, ?6, 'worked', ?5,
                             'git push', '{\"removed\":[\"-x\"]}')",
                    params![Id::new(now()), project, shape, failures, now(), passed],
                )?;
            }
            Ok(())
        };
        world.store.write(|transaction| insert(transaction)).unwrap();
    }

    #[test]
    fn failing_command_has_fingerprint() {
        let mut world = World::new();
        let kind = kind_fingerprint(FingerprintKind::FailingCommand);
        insert_commands(&mut world, 7, &[(1, None)]);
        insert_commands(&mut world, 8, &[(2, Some(now()))]);
        assert!(!world.knows(kind));
        insert_commands(&mut world, 7, &[(1, None)]);
        insert_commands(&mut world, -9, &[(2, None)]);
        let shapes = [7, u64::MAX - 8];
        assert!(
            world.knows(kind) && shapes.iter().all(|one| world.knows(command_fingerprint(*one)))
        );
        assert!(!world.knows(command_fingerprint(8)));
        assert!(!lacks_fingerprint(&world.store.connection, &world.store.files).unwrap());
        // The rebuilt file has the same.
        let before = Fingerprints::read(&world.store.files);
        remove_file(&world.store.files).unwrap();
        world.store.rebuild_fingerprints().unwrap();
        assert_eq!(Fingerprints::read(&world.store.files).unwrap().all().count(), 4);
        assert!(before.unwrap().all().eq(Fingerprints::read(&world.store.files).unwrap().all()));
        write_file(&world.store.files, Vec::new()).unwrap();
        assert!(lacks_fingerprint(&world.store.connection, &world.store.files).unwrap());
        // Every change of a row is followed.
        let pass = "UPDATE command_episode SET passed = opened WHERE shape = 7";
        world.store.rebuild_fingerprints().unwrap();
        world.store.write(|transaction| Ok(transaction.execute(pass, [])?)).unwrap();
        let mut hook = HookStore::open(&world.store.files, Duration::from_secs(2)).unwrap();
        hook.remove_stale_fingerprints(CLIENT, &[], &shapes).unwrap();
        assert!(!world.knows(command_fingerprint(shapes[0])));
        assert!(world.knows(command_fingerprint(shapes[1])));
    }

    #[test]
    fn stale_fingerprints_are_removed() {
        let mut world = World::new();
        world.insert_open_episode("/ship");
        world.insert_open_episode("/boat");
        world.start_ghap().unwrap();
        let open = world
            .store
            .connection
            .execute("UPDATE episode SET how = ?1 WHERE root = '/ship'", [EpisodeEndingKind::Left]);
        open.unwrap();
        let mut hook = HookStore::open(&world.store.files, Duration::from_secs(2)).unwrap();
        hook.remove_stale_fingerprints(CLIENT, &["/ship", "/boat", "/"], &[]).unwrap();
        assert!(!world.knows(folder_fingerprint("/ship")));
        assert!(world.knows(folder_fingerprint("/boat")) && world.knows(ghap_fingerprint(CLIENT)));
    }

    #[test]
    fn certain_fix_has_fingerprint_of_file() {
        let mut world = World::new();
        world.insert_open_episode("/ship");
        let hunk = Hunk {
            removed: vec!["    return sum(items) * 0.9".to_owned()],
            added: vec!["    return sum(items)".to_owned()],
            ..Hunk::default()
        };
        let mut change = Change::from_edit("src/cart.py", &[hunk], now());
        let file = fixed_file_fingerprint("/elsewhere/src/cart.py");
        let end = |world: &mut World, change: &Change| {
            let fix = serde_json::to_string(&[change]).unwrap();
            world
                .store
                .write(|transaction| {
                    Ok(transaction.execute(
                        "UPDATE episode SET how = 'fixed', ended = ?1, fix = ?2",
                        params![now(), fix],
                    )?)
                })
                .unwrap();
        };
        end(&mut world, &change);
        assert!(!world.knows(file), "not known to be the fix");
        change.is_certain = true;
        end(&mut world, &change);
        assert!(world.knows(file));
        maintain(world.store.files.folder(), &MaintenanceLimits::default(), now())
            .unwrap()
            .unwrap();
        let known: Vec<u64> = Fingerprints::read(&world.store.files).unwrap().all().collect();
        assert_eq!(known, [file]);
    }
}
