//! Updates of the episodes of a checkout by runs and changes.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::changes::changes_since;
use super::fix_effects::RunContext;
use super::{select_episodes, to_json};
use crate::change::{Change, invocation_difference};
use crate::episode::{Episode, EpisodeEndingKind, GreenRun, attribute_fix};
use crate::run::{CapturedRun, RunFault};
use crate::store::StoreResult;
use crate::{Clean, Id, Time};
use rutter_runs::clues::{Clues, own_name};
use rutter_runs::selection::{Coverage, TestSelection};
use rutter_runs::{RunKind, TestCounts, Verdict};

/// Maximum number of open episodes per checkout. Beyond it, the oldest are closed as left.
const MAX_OPEN_EPISODES: usize = 64;
/// Maximum number of stored changes per checkout.
const MAX_CHANGES: u32 = 200;

/// A run that updates the episodes of a checkout.
struct EpisodeUpdate<'a> {
    connection: &'a Connection,
    meeting: RunContext<'a>,
    run: &'a CapturedRun,
    /// The row of the run's outcome.
    outcome: i64,
}

/// Updates the episodes of a checkout by a run. `outcome` is the row of the run, `session` the row of its session.
pub(crate) fn apply_run(
    connection: &Connection,
    project: i64,
    root: &Clean,
    run: &CapturedRun,
    outcome: i64,
    session: i64,
) -> StoreResult {
    if run.selection.is_none() {
        return Ok(());
    }
    let (agent, at) = (run.outcome.agent.as_ref(), run.outcome.at);
    let meeting = RunContext { project, root, session, agent, at };
    let open = select_episodes(
        connection,
        "WHERE episode.project = ?1 AND episode.root = ?2 AND how IS NULL ORDER BY episode.id",
        params![project, root],
    )?;
    // An episode that was seen after this run is not affected: the run arrived late.
    let open: Vec<Episode> = open.into_iter().filter(|episode| episode.seen < at).collect();
    let moving = EpisodeUpdate { connection, meeting, run, outcome };
    match run.outcome.verdict {
        Verdict::Passed => {
            let mut answered = Vec::new();
            for episode in &open {
                if moving.executed(episode)? {
                    answered.push(episode);
                }
            }
            for episode in &answered {
                let how = moving.close_episode(episode, answered.len() > 1)?;
                if how == EpisodeEndingKind::Fixed {
                    moving.meeting.record_fix_effects(connection, episode, true)?;
                }
            }
            delete_unneeded_changes(connection, project, root)
        }
        Verdict::Failed => moving.apply_failed_run(&open),
        Verdict::Unknown => Ok(()),
    }
}

impl EpisodeUpdate<'_> {
    /// Returns true if the run executed the failing test or command of an episode.
    fn executed(&self, episode: &Episode) -> StoreResult<bool> {
        let before = last_counts(self.connection, episode)?;
        Ok(self.run.must_have_executed(&episode.selection, &episode.failed_test(), before))
    }

    fn close_episode(&self, episode: &Episode, is_shared: bool) -> StoreResult<EpisodeEndingKind> {
        let Self { connection, meeting, run, outcome } = self;
        let changes = changes_since(connection, meeting.project, meeting.root, episode.opened)?;
        let failed: Option<String> = connection
            .prepare_cached("SELECT command FROM outcome WHERE uid = ?1")?
            .query_row([episode.last], |row| row.get(0))
            .optional()?;
        let is_named = run.names_as_passed(&episode.failed_test());
        let otherwise =
            failed.and_then(|failed| invocation_difference(&failed, &run.outcome.command));
        let green =
            GreenRun { at: Some(run.outcome.at), difference: otherwise.as_ref(), is_shared };
        let clues = load_clues(connection, episode)?;
        let (mut how, fix) = attribute_fix(episode, &clues, &changes, &green);
        // The same command ran fewer tests than before: the failing test may have been removed.
        let same = run.selections().any(|selection| selection.is_same_command(&episode.selection));
        if how == EpisodeEndingKind::Fixed && same && episode.test.is_some() && !is_named {
            let ran = |counts: TestCounts| counts.passed + counts.failed;
            let before = last_counts(connection, episode)?.map(ran);
            if run.outcome.counts.map(ran).zip(before).is_some_and(|(now, before)| now < before) {
                how = EpisodeEndingKind::Removed;
            }
        }
        // The clues of the failure were only needed to find the fix.
        connection
            .prepare_cached(
                "UPDATE episode SET how = ?2, ended = ?3, closed = ?4, fix = ?5, changed = ?3, clues = '{}' WHERE uid = ?1",
            )?
            .execute(params![episode.id, how, run.outcome.at, outcome, to_json(&fix)])?;
        Ok(how)
    }

    fn apply_failed_run(&self, open: &[Episode]) -> StoreResult {
        let Self { connection, meeting, run, .. } = self;
        let at = meeting.at;
        let mut fresh: Vec<&RunFault> = run
            .faults
            .iter()
            .filter(|fault| {
                fault.signature.is_some() && !open.iter().any(|episode| episode.is_about(fault))
            })
            .collect();
        for episode in open {
            let same = run.faults.iter().find(|fault| episode.is_about(fault));
            // The test fails in another way, or truncated output still lists it as failing.
            let still = same.is_some()
                || run.faults.iter().any(|fault| episode.is_of_test(fault))
                || episode.test.as_ref().is_some_and(|test| run.outcome.failing.contains(test));
            if same.is_some() {
                meeting.record_fix_effects(connection, episode, false)?;
            }
            if still {
                self.record_attempt(episode, same)?;
                continue;
            }
            if !self.got_past(episode, &fresh)? {
                continue;
            }
            if let Some(heir) = self.find_renamed_fault(episode, &fresh)? {
                let fault = fresh.remove(heir);
                self.continue_renamed(episode, fault)?;
                continue;
            }
            meeting.record_fix_effects(connection, episode, true)?;
            connection
                .prepare_cached(
                    "UPDATE episode SET gone = coalesce(gone, ?2), changed = ?2 WHERE uid = ?1",
                )?
                .execute(params![episode.id, at])?;
        }
        // Close the oldest open episodes to make room.
        let many = (open.len() + fresh.len()).saturating_sub(MAX_OPEN_EPISODES);
        for episode in open.iter().take(many) {
            end_episode(connection, episode.id, EpisodeEndingKind::Left, at)?;
        }
        for fault in fresh {
            self.open_episode(fault, None)?;
        }
        Ok(())
    }

    /// Returns the selection of the run that a failure belongs to: of several, the one that covers its test.
    fn selection_of(&self, fault: &RunFault) -> &TestSelection {
        let failed = fault.as_failed_test();
        let mut selections = self.run.selections();
        let first = selections.next().unwrap_or_else(|| unreachable!("looked at before"));
        let fits = |selection: &&TestSelection| selection.covers(first, &failed) != Coverage::No;
        selections.find(fits).unwrap_or(first)
    }

    /// Records that a run met the failure of an episode again.
    fn record_attempt(&self, episode: &Episode, fault: Option<&RunFault>) -> StoreResult {
        let selection = fault.map_or(&episode.selection, |fault| self.selection_of(fault));
        self.connection
            .prepare_cached(
                "UPDATE episode SET attempts = attempts + 1, seen = ?2, gone = NULL, last = ?3, changed = ?2,
                        program = ?4, folder = ?5, arguments = ?6, stops = ?7, task = ?8, partial = ?9, clues = coalesce(?10, clues),
                        scope = coalesce(scope, ?11) WHERE uid = ?1",
            )?
            .execute(params![
                episode.id,
                self.meeting.at,
                self.outcome,
                selection.program,
                selection.folder,
                to_json(&selection.arguments),
                selection.stops,
                selection.task,
                selection.is_partial,
                fault.map(|fault| to_json(&fault.clues)),
                fault.and_then(|fault| fault.scope.as_ref()),
            ])?;
        Ok(())
    }

    /// Returns true if a run with other failures got past this failure and did not stop before it: at another failure,
    /// at a file that could not be read, or at an error that prevents all other checks.
    fn got_past(&self, episode: &Episode, fresh: &[&RunFault]) -> StoreResult<bool> {
        let run = self.run;
        if run.names_as_passed(&episode.failed_test()) {
            return Ok(true);
        }
        if !run.whole || !self.executed(episode)? {
            return Ok(false);
        }
        let Some(now) = run.outcome.counts else {
            // A list of findings is complete if it contains nothing new that could hide the rest, and if the output was
            // not piped: a pipe hides the exit status.
            return Ok(run.outcome.kind != RunKind::Test
                && run.selections().all(TestSelection::ran_all_tests)
                && run.outcome.exit.is_some()
                && !run.faults.is_empty()
                && fresh.is_empty());
        };
        if episode.test.is_none() {
            // An error that prevented the tests from running is fixed once they run.
            return Ok(
                now.passed + now.failed > 0 && run.faults.iter().all(|fault| fault.test.is_some())
            );
        }
        let all = |counts: TestCounts| counts.passed + counts.failed + counts.skipped;
        let before = last_counts(self.connection, episode)?;
        Ok(now.passed > 0 && before.is_some_and(|before| all(now) >= all(before)))
    }

    /// Returns the index of the failure that continues this episode under a new test name: it has the same error, and a
    /// change replaced the old name by the new one.
    fn find_renamed_fault(
        &self,
        episode: &Episode,
        fresh: &[&RunFault],
    ) -> StoreResult<Option<usize>> {
        let Some(test) = episode.test.as_deref() else { return Ok(None) };
        let found = fresh.iter().position(|fault| {
            fault.error == episode.error && fault.test.as_deref().is_some_and(|other| other != test)
        });
        let Some(at) = found else { return Ok(None) };
        let new = fresh[at].test.as_deref().unwrap_or_default();
        let RunContext { project, root, .. } = self.meeting;
        let changes = changes_since(self.connection, project, root, episode.seen)?;
        let renamed = changes.iter().flat_map(Change::hunks).any(|hunk| {
            let has = |lines: &[String], test: &str| {
                lines.iter().any(|line| line.contains(own_name(test)))
            };
            has(&hunk.removed, test) && has(&hunk.added, new)
        });
        Ok(renamed.then_some(at))
    }

    /// Continues an episode under another test name.
    fn continue_renamed(&self, episode: &Episode, fault: &RunFault) -> StoreResult {
        self.open_episode(fault, Some(episode))?;
        end_episode(self.connection, episode.id, EpisodeEndingKind::Renamed, self.meeting.at)
    }

    /// Opens an episode for a failure. The heir of a renamed episode keeps its start time, first run and attempts.
    fn open_episode(&self, fault: &RunFault, heir_of: Option<&Episode>) -> StoreResult {
        let Self { connection, meeting, outcome, .. } = self;
        let selection = self.selection_of(fault);
        connection
            .prepare_cached(
                "INSERT INTO episode (uid, project, root, program, folder, arguments, stops, signature, test, error, file,
                                      first, last, attempts, opened, seen, fix, changed, scope, task, partial,
                                      compile_error, clues)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,
                         coalesce((SELECT id FROM outcome WHERE uid = ?12), ?13), ?13, ?14, ?15, ?16, '[]', ?16, ?17, ?18,
                         ?19, ?20, ?21)
                 ON CONFLICT DO NOTHING",
            )?
            .execute(params![
                Id::new(meeting.at),
                meeting.project,
                meeting.root,
                selection.program,
                selection.folder,
                to_json(&selection.arguments),
                selection.stops,
                fault.signature,
                fault.test,
                fault.error,
                fault.file,
                heir_of.and_then(|episode| episode.first),
                outcome,
                heir_of.map_or(1, |episode| episode.attempts + 1),
                heir_of.map_or(meeting.at, |episode| episode.opened),
                meeting.at,
                fault.scope,
                selection.task,
                selection.is_partial,
                fault.is_compile_error,
                to_json(&fault.clues),
            ])?;
        Ok(())
    }
}

/// Returns the clues of an episode from the last run with its failure.
fn load_clues(connection: &Connection, episode: &Episode) -> StoreResult<Clues> {
    let text: Option<String> = connection
        .prepare_cached("SELECT clues FROM episode WHERE uid = ?1")?
        .query_row([episode.id], |row| row.get(0))
        .optional()?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// Returns the test counts of the last run with this failure.
fn last_counts(connection: &Connection, episode: &Episode) -> StoreResult<Option<TestCounts>> {
    let counts = |row: &Row<'_>| -> rusqlite::Result<Option<TestCounts>> {
        let (passed, failed, skipped) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(match (passed, failed, skipped) {
            (Some(passed), Some(failed), Some(skipped)) => {
                Some(TestCounts { passed, failed, skipped })
            }
            _ => None,
        })
    };
    Ok(connection
        .prepare_cached("SELECT passed, failed, skipped FROM outcome WHERE uid = ?1")?
        .query_row([episode.last], counts)
        .optional()?
        .flatten())
}

/// Ends an episode without a passing run.
fn end_episode(
    connection: &Connection,
    episode: Id,
    how: EpisodeEndingKind,
    at: Time,
) -> StoreResult {
    connection
        .prepare_cached(
            "UPDATE episode SET how = ?2, ended = ?3, changed = ?3, clues = '{}' WHERE uid = ?1",
        )?
        .execute(params![episode, how, at])?;
    Ok(())
}

/// Returns true if a checkout has an open episode.
pub(crate) fn has_open_episode(
    connection: &Connection,
    project: i64,
    root: &Clean,
) -> StoreResult<bool> {
    Ok(connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM episode WHERE project = ?1 AND root = ?2 AND how IS NULL)")?
        .query_row(params![project, root], |row| row.get(0))?)
}

/// Returns the files that the open episodes of a checkout point at, and the files edited since; newest first.
pub(crate) fn open_episode_files(
    connection: &Connection,
    project: i64,
    root: &Clean,
) -> StoreResult<Vec<Clean>> {
    let mut files = connection.prepare_cached(
        "SELECT name, max(at) AS at FROM change WHERE project = ?1 AND root = ?2 AND sort = 'edit' GROUP BY name
         UNION ALL
         SELECT json_extract(place.value, '$.file'), episode.seen
         FROM episode, json_each(episode.clues, '$.places') AS place
         WHERE episode.project = ?1 AND episode.root = ?2 AND episode.how IS NULL
         ORDER BY at DESC LIMIT 64",
    )?;
    Ok(files.query_map(params![project, root], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Records a change for the open episodes of its checkout. Does nothing if there are none, because the change is never
/// needed.
pub(crate) fn record_change(
    connection: &Connection,
    project: i64,
    root: &Clean,
    id: Id,
    change: &Change,
) -> StoreResult {
    if !has_open_episode(connection, project, root)? {
        return Ok(());
    }
    insert_change(connection, project, root, id, change)?;
    connection
        .prepare_cached(
            "DELETE FROM change WHERE id IN (
                 SELECT id FROM change WHERE project = ?1 AND root = ?2 ORDER BY at DESC, id DESC LIMIT -1 OFFSET ?3)",
        )?
        .execute(params![project, root, MAX_CHANGES])?;
    Ok(())
}

/// Inserts a change and returns true, or returns false if it is already there.
pub(crate) fn insert_change(
    connection: &Connection,
    project: i64,
    root: &Clean,
    id: Id,
    change: &Change,
) -> rusqlite::Result<bool> {
    let inserted = connection
        .prepare_cached(
            "INSERT INTO change (uid, project, root, sort, name, patch, at, made_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (uid) DO NOTHING",
        )?
        .execute(params![
            id,
            project,
            root,
            change.kind,
            change.name,
            change.patch,
            change.at,
            change.made_by,
        ])?;
    Ok(inserted == 1)
}

/// Deletes the changes of a checkout that are older than its open episodes.
fn delete_unneeded_changes(connection: &Connection, project: i64, root: &Clean) -> StoreResult {
    connection
        .prepare_cached(
            "DELETE FROM change WHERE project = ?1 AND root = ?2 AND at < coalesce(
                 (SELECT min(opened) FROM episode WHERE project = ?1 AND root = ?2 AND how IS NULL), 9223372036854775807)",
        )?
        .execute(params![project, root])?;
    Ok(())
}

/// Closes open episodes that were last seen before `oldest`, and deletes changes that no open episode needs.
pub(crate) fn retire_episodes(
    connection: &Connection,
    oldest: Time,
    forgotten: Time,
    now: Time,
) -> StoreResult {
    connection.execute(
        "UPDATE episode SET how = ?1, ended = ?2, changed = ?2 WHERE how IS NULL AND seen < ?3",
        params![EpisodeEndingKind::Left, now, oldest],
    )?;
    // Episodes without a fix are kept as long as their runs.
    connection.execute(
        "DELETE FROM episode WHERE how IN ('flaky', 'removed', 'renamed', 'left') AND ended < ?1",
        [forgotten],
    )?;
    connection.execute(
        "DELETE FROM change WHERE NOT EXISTS (
             SELECT 1 FROM episode WHERE how IS NULL AND episode.project = change.project AND episode.root = change.root
                AND episode.opened <= change.at)",
        [],
    )?;
    Ok(())
}
