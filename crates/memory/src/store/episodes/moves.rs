//! How runs and changes move the episodes of a checkout.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::select;
use crate::change::Change;
use crate::episode::{Episode, How, judge, own_name};
use crate::outcome::{Counts, Kind, Verdict};
use crate::runs::run::{Fault, Run};
use crate::runs::selection::Selection;
use crate::store::effects::Meeting;
use crate::store::{StoreError, tables};
use crate::{Clean, Id, Time};

/// How many failures of one checkout are followed at once. Beyond it the oldest are left.
const OPEN: usize = 64;
/// How many changes of one checkout are kept at once: nobody learns from the last of a thousand.
const CHANGES: u32 = 200;

/// Moves the episodes of a checkout by a run. `outcome` is its row, `session` that of whose run it is.
pub(crate) fn ran(
    connection: &Connection,
    project: i64,
    root: &Clean,
    run: &Run,
    outcome: i64,
    session: i64,
) -> Result<(), StoreError> {
    let Some(selection) = &run.selection else { return Ok(()) };
    let (agent, at) = (run.outcome.agent.as_ref(), run.outcome.at);
    let meeting = Meeting { project, root, session, agent, at };
    let open = select(
        connection,
        "WHERE episode.project = ?1 AND episode.root = ?2 AND how IS NULL ORDER BY episode.id",
        params![project, root],
    )?;
    // One that was seen since: this run comes late, and says nothing about it any more.
    let open: Vec<Episode> =
        open.into_iter().filter(|episode| episode.seen < run.outcome.at).collect();
    match run.outcome.verdict {
        Verdict::Passed => {
            let covered =
                |episode: &&Episode| selection.covers(&episode.selection, episode.test.as_deref());
            for episode in open.iter().filter(covered) {
                let how = close(connection, project, root, episode, run, selection, outcome)?;
                if how == How::Fixed {
                    meeting.settle(connection, episode, true)?;
                }
            }
            clear(connection, project, root)
        }
        Verdict::Failed => failed(connection, &meeting, &open, run, selection, outcome),
        Verdict::Unknown => Ok(()),
    }
}

fn close(
    connection: &Connection,
    project: i64,
    root: &Clean,
    episode: &Episode,
    run: &Run,
    selection: &Selection,
    outcome: i64,
) -> Result<How, StoreError> {
    let changes = changes(connection, project, root, episode.opened)?;
    let (mut how, fix) = judge(episode, &changes, run.outcome.at);
    // Of what was asked for in the same words less ran than before: the test may be what is missing.
    let same = selection.arguments == episode.selection.arguments;
    if how == How::Fixed && same && episode.test.is_some() {
        let ran = |counts: Counts| counts.passed + counts.failed;
        let before = counts_then(connection, episode)?.map(ran);
        if run.outcome.counts.map(ran).zip(before).is_some_and(|(now, before)| now < before) {
            how = How::Removed;
        }
    }
    connection
        .prepare_cached(
            "UPDATE episode SET how = ?2, ended = ?3, closed = ?4, fix = ?5, changed = ?3 WHERE uid = ?1",
        )?
        .execute(params![episode.id, how, run.outcome.at, outcome, json(&fix)])?;
    Ok(how)
}

fn failed(
    connection: &Connection,
    meeting: &Meeting<'_>,
    open: &[Episode],
    run: &Run,
    selection: &Selection,
    outcome: i64,
) -> Result<(), StoreError> {
    let &Meeting { project, root, at, .. } = meeting;
    let mut fresh: Vec<&Fault> = run
        .faults
        .iter()
        .filter(|fault| {
            fault.signature.is_some() && !open.iter().any(|episode| episode.is_about(fault))
        })
        .collect();
    for episode in open {
        let same = run.faults.iter().any(|fault| episode.is_about(fault));
        // Its test fails in another way, or is among those that a cut text still names.
        let still = same
            || episode.test.as_ref().is_some_and(|test| {
                run.faults.iter().any(|fault| fault.test.as_ref() == Some(test))
                    || run.outcome.failing.contains(test)
            });
        if same {
            meeting.settle(connection, episode, false)?;
        }
        if still {
            let selection = if same { selection } else { &episode.selection };
            connection
                .prepare_cached(
                    "UPDATE episode SET attempts = attempts + 1, seen = ?2, gone = NULL, last = ?3, changed = ?2,
                            program = ?4, folder = ?5, arguments = ?6, stops = ?7 WHERE uid = ?1",
                )?
                .execute(params![
                    episode.id,
                    at,
                    outcome,
                    selection.program,
                    selection.folder,
                    tables::to_json(&selection.arguments),
                    selection.stops,
                ])?;
            continue;
        }
        let met = run.whole
            && selection.covers(&episode.selection, episode.test.as_deref())
            && went_past(connection, episode, run, selection, &fresh)?;
        if !met {
            continue;
        }
        if let Some(heir) = heir(connection, project, root, episode, &fresh)? {
            let fault = fresh.remove(heir);
            rename(connection, episode, fault, selection, outcome, at)?;
            continue;
        }
        meeting.settle(connection, episode, true)?;
        connection
            .prepare_cached(
                "UPDATE episode SET gone = coalesce(gone, ?2), changed = ?2 WHERE uid = ?1",
            )?
            .execute(params![episode.id, at])?;
    }
    // Those that were followed longest make room.
    let many = (open.len() + fresh.len()).saturating_sub(OPEN);
    for episode in open.iter().take(many) {
        end(connection, episode.id, How::Left, at)?;
    }
    for fault in fresh {
        insert_open(connection, project, root, fault, selection, outcome, at)?;
    }
    Ok(())
}

/// Whether a run that failed in other ways came past this failure, and did not end before it: at another failure, at a
/// file that could not be read, at an error that keeps everything else from being looked at.
fn went_past(
    connection: &Connection,
    episode: &Episode,
    run: &Run,
    selection: &Selection,
    fresh: &[&Fault],
) -> Result<bool, StoreError> {
    let Some(now) = run.outcome.counts else {
        // A list of findings is complete where nothing new is in it that could hide the rest, and where it was printed
        // and not piped through something: then the exit status would be hidden.
        return Ok(run.outcome.kind != Kind::Test
            && selection.went_on()
            && run.outcome.exit.is_some()
            && !run.faults.is_empty()
            && fresh.is_empty());
    };
    if episode.test.is_none() {
        // What kept the tests from running is over where they ran.
        return Ok(
            now.passed + now.failed > 0 && run.faults.iter().all(|fault| fault.test.is_some())
        );
    }
    let all = |counts: Counts| counts.passed + counts.failed + counts.skipped;
    let before = counts_then(connection, episode)?;
    Ok(now.passed > 0 && before.is_some_and(|before| all(now) >= all(before)))
}

/// What was counted by the run that last had this failure.
fn counts_then(connection: &Connection, episode: &Episode) -> Result<Option<Counts>, StoreError> {
    let counts = |row: &Row<'_>| -> rusqlite::Result<Option<Counts>> {
        let (passed, failed, skipped) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(match (passed, failed, skipped) {
            (Some(passed), Some(failed), Some(skipped)) => Some(Counts { passed, failed, skipped }),
            _ => None,
        })
    };
    Ok(connection
        .prepare_cached("SELECT passed, failed, skipped FROM outcome WHERE uid = ?1")?
        .query_row([episode.last], counts)
        .optional()?
        .flatten())
}

/// The failure that this one goes on as under another name: the same error of another test, where a change put one name
/// in the other's place.
fn heir(
    connection: &Connection,
    project: i64,
    root: &Clean,
    episode: &Episode,
    fresh: &[&Fault],
) -> Result<Option<usize>, StoreError> {
    let Some(test) = episode.test.as_deref() else { return Ok(None) };
    let found = fresh.iter().position(|fault| {
        fault.error == episode.error && fault.test.as_deref().is_some_and(|other| other != test)
    });
    let Some(at) = found else { return Ok(None) };
    let new = fresh[at].test.as_deref().unwrap_or_default();
    let changes = changes(connection, project, root, episode.seen)?;
    let renamed = changes.iter().flat_map(Change::hunks).any(|hunk| {
        let has =
            |lines: &[String], test: &str| lines.iter().any(|line| line.contains(own_name(test)));
        has(&hunk.removed, test) && has(&hunk.added, new)
    });
    Ok(renamed.then_some(at))
}

/// Lets an episode go on under another name.
fn rename(
    connection: &Connection,
    episode: &Episode,
    fault: &Fault,
    selection: &Selection,
    outcome: i64,
    at: Time,
) -> Result<(), StoreError> {
    let heir = Id::new(at);
    connection
        .prepare_cached(
            "INSERT INTO episode (uid, project, root, program, folder, arguments, stops, signature, test, error, file, first,
                                  last, attempts, opened, seen, fix, changed)
             SELECT ?2, project, root, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, first, ?11, attempts + 1, opened, ?12, '[]', ?12
             FROM episode WHERE uid = ?1 ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            episode.id,
            heir,
            selection.program,
            selection.folder,
            tables::to_json(&selection.arguments),
            selection.stops,
            fault.signature,
            fault.test,
            fault.error,
            fault.file,
            outcome,
            at,
        ])?;
    end(connection, episode.id, How::Renamed, at)
}

fn insert_open(
    connection: &Connection,
    project: i64,
    root: &Clean,
    fault: &Fault,
    selection: &Selection,
    outcome: i64,
    at: Time,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO episode (uid, project, root, program, folder, arguments, stops, signature, test, error, file, first,
                                  last, attempts, opened, seen, fix, changed)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12, 1, ?13, ?13, '[]', ?13)
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            Id::new(at),
            project,
            root,
            selection.program,
            selection.folder,
            tables::to_json(&selection.arguments),
            selection.stops,
            fault.signature,
            fault.test,
            fault.error,
            fault.file,
            outcome,
            at,
        ])?;
    Ok(())
}

/// Ends an episode that no green run ended.
fn end(connection: &Connection, episode: Id, how: How, at: Time) -> Result<(), StoreError> {
    connection
        .prepare_cached("UPDATE episode SET how = ?2, ended = ?3, changed = ?3 WHERE uid = ?1")?
        .execute(params![episode, how, at])?;
    Ok(())
}

/// Whether a failure is followed in a checkout.
pub(crate) fn is_open(
    connection: &Connection,
    project: i64,
    root: &Clean,
) -> Result<bool, StoreError> {
    Ok(connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM episode WHERE project = ?1 AND root = ?2 AND how IS NULL)")?
        .query_row(params![project, root], |row| row.get(0))?)
}

/// Notes a change for the episodes that are open in its checkout; without one nobody will ever ask for it.
pub(crate) fn note(
    connection: &Connection,
    project: i64,
    root: &Clean,
    id: Id,
    change: &Change,
) -> Result<(), StoreError> {
    if !is_open(connection, project, root)? {
        return Ok(());
    }
    put_change(connection, project, root, id, change)?;
    connection
        .prepare_cached(
            "DELETE FROM change WHERE id IN (
                 SELECT id FROM change WHERE project = ?1 AND root = ?2 ORDER BY at DESC, id DESC LIMIT -1 OFFSET ?3)",
        )?
        .execute(params![project, root, CHANGES])?;
    Ok(())
}

/// Writes a change down as it is. The same one again changes nothing.
pub(crate) fn put_change(
    connection: &Connection,
    project: i64,
    root: &Clean,
    id: Id,
    change: &Change,
) -> rusqlite::Result<bool> {
    let inserted = connection
        .prepare_cached(
            "INSERT INTO change (uid, project, root, sort, name, patch, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (uid) DO NOTHING",
        )?
        .execute(params![id, project, root, change.sort, change.name, change.patch, change.at])?;
    Ok(inserted == 1)
}

/// The changes in a checkout since a time, oldest first.
pub(crate) fn changes(
    connection: &Connection,
    project: i64,
    root: &Clean,
    since: Time,
) -> Result<Vec<Change>, StoreError> {
    let mut rows = connection.prepare_cached(
        "SELECT sort, name, patch, at FROM change WHERE project = ?1 AND root = ?2 AND at >= ?3 ORDER BY at, id",
    )?;
    Ok(rows.query_map(params![project, root, since], read_change)?.collect::<Result<_, _>>()?)
}

pub(crate) fn read_change(row: &Row<'_>) -> rusqlite::Result<Change> {
    Ok(Change {
        sort: row.get("sort")?,
        name: row.get("name")?,
        patch: row.get("patch")?,
        at: row.get("at")?,
    })
}

/// Removes the changes of a checkout that no open episode can ask for any more.
fn clear(connection: &Connection, project: i64, root: &Clean) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "DELETE FROM change WHERE project = ?1 AND root = ?2 AND at < coalesce(
                 (SELECT min(opened) FROM episode WHERE project = ?1 AND root = ?2 AND how IS NULL), 9223372036854775807)",
        )?
        .execute(params![project, root])?;
    Ok(())
}

/// Removes changes that no open episode can ask for any more, and leaves failures that nobody has run for long.
pub(crate) fn retire(
    connection: &Connection,
    oldest: Time,
    forgotten: Time,
    now: Time,
) -> Result<(), StoreError> {
    connection.execute(
        "UPDATE episode SET how = ?1, ended = ?2, changed = ?2 WHERE how IS NULL AND seen < ?3",
        params![How::Left, now, oldest],
    )?;
    // What nothing was learnt from is kept as long as the runs behind it.
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

pub(super) fn json(fix: &[Change]) -> String {
    serde_json::to_string(fix).unwrap_or_else(|_| "[]".to_owned())
}
