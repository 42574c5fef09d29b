//! Command episodes in the database: commands that failed, and the variants that worked.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use super::effects::{InjectionEffect, write_effects};
use super::entry::ProjectPlace;
use super::{Store, StoreError, StoreResult, effects, injections, origins, tables};
use crate::command_episode::{
    CommandCall, CommandDifference, CommandEnding, CommandEndingKind, CommandEpisode,
    CommandVariant,
};
use crate::injection::{EffectCounts, ShownEffect};
use crate::origin::UnconfirmedReason;
use crate::project::ProjectKey;
use crate::{Clean, Id, IdSuffix, Time};
use rutter_runs::command_form::{
    CommandForm, FailureEvidence, VariantRelation, succeeded_commands,
};
use rutter_runs::command_line::CommandLine;
use rutter_runs::failed_command::{FailedCommand, is_query};
use rutter_runs::place::RunPlace;

/// Maximum number of Bash calls between a failure and the variant that worked.
const MAX_CALLS: u32 = 8;
/// Maximum time between them.
const MAX_SILENCE: Duration = Duration::from_mins(15);
/// Maximum number of commands in between that are kept.
const MAX_BETWEEN: usize = 8;
/// Maximum number of earlier episodes with which a failure is compared.
const MAX_COMPARED_EPISODES: u32 = 40;
/// Minimum number of failures after which a variant is known to be needed.
const MIN_KNOWN_FAILURES: u32 = 2;

pub(crate) const SELECT: &str = "SELECT command_episode.*, project.key AS project_key
     FROM command_episode JOIN project ON project.id = command_episode.project";

pub(crate) fn read_command_episode(row: &Row<'_>) -> rusqlite::Result<CommandEpisode> {
    let seen = row.get("seen")?;
    let how: Option<CommandEndingKind> = row.get("how")?;
    let ended: Option<Time> = row.get("ended")?;
    let worked: Option<Clean> = row.get("worked")?;
    let difference: Option<String> = row.get("difference")?;
    let variant = match (worked, difference) {
        (Some(command), Some(difference)) => {
            Some(CommandVariant { command, difference: read_json(&difference)? })
        }
        _ => None,
    };
    Ok(CommandEpisode {
        id: row.get("uid")?,
        project: row.get("project_key")?,
        session: row.get("client")?,
        agent: row.get("agent")?,
        root: row.get("root")?,
        program: row.get("program")?,
        command: row.get("command")?,
        shape: row.get::<_, i64>("shape")?.cast_unsigned(),
        error: row.get("error")?,
        signature: row.get("signature")?,
        failures: row.get("failures")?,
        opened: row.get("opened")?,
        seen,
        passed: row.get("passed")?,
        ending: how.map(|how| CommandEnding { how, at: ended.unwrap_or(seen), variant }),
    })
}

fn read_json<T: serde::de::DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error))
    })
}

/// Returns the command episodes of a query; `rest` follows [`SELECT`].
fn select_command_episodes(
    connection: &Connection,
    rest: &str,
    params: impl Params,
) -> StoreResult<Vec<CommandEpisode>> {
    let mut rows = connection.prepare_cached(&format!("{SELECT} {rest}"))?;
    Ok(rows.query_map(params, read_command_episode)?.collect::<Result<_, _>>()?)
}

/// Inserts an episode, or updates the one with the same id unless that one has ended or failed later. Returns true if
/// it was inserted, None if nothing changed.
pub(crate) fn upsert_command_episode(
    connection: &Connection,
    project: i64,
    episode: &CommandEpisode,
) -> rusqlite::Result<Option<bool>> {
    let known: Option<(bool, Time)> = connection
        .prepare_cached("SELECT how IS NOT NULL, seen FROM command_episode WHERE uid = ?1")?
        .query_row([episode.id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if known.is_some_and(|known| known >= (episode.ending.is_some(), episode.seen)) {
        return Ok(None);
    }
    let ending = episode.ending.as_ref();
    let variant = episode.variant();
    connection
        .prepare_cached(
            "INSERT INTO command_episode (uid, project, client, agent, root, program, command, shape, error, signature,
                                          failures, opened, seen, passed, how, ended, worked, difference)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)
             ON CONFLICT (uid) DO UPDATE SET
                 command = excluded.command, shape = excluded.shape, error = excluded.error,
                 failures = excluded.failures, seen = excluded.seen, passed = excluded.passed, how = excluded.how,
                 ended = excluded.ended, worked = excluded.worked, difference = excluded.difference",
        )?
        .execute(params![
            episode.id,
            project,
            episode.session,
            episode.agent,
            episode.root,
            episode.program,
            episode.command,
            episode.shape.cast_signed(),
            episode.error,
            episode.signature,
            episode.failures,
            episode.opened,
            episode.seen,
            episode.passed,
            ending.map(|ending| ending.how),
            ending.map(|ending| ending.at),
            variant.map(|variant| &variant.command),
            variant.map(|variant| super::episodes::to_json(&variant.difference)),
        ])?;
    Ok(Some(known.is_none()))
}

/// An open episode with the facts that are only kept while it is open.
struct OpenEpisode {
    row: i64,
    program: String,
    signature: String,
    error: String,
    form: CommandForm,
    output: String,
    between: Vec<CommandForm>,
    calls: u32,
    opened: Time,
    seen: Time,
}

/// Returns the open episodes of an agent in a checkout.
fn open_episodes(
    connection: &Connection,
    client: &str,
    agent: Option<&Clean>,
    root: &Clean,
) -> StoreResult<Vec<OpenEpisode>> {
    let mut rows = connection.prepare_cached(
        "SELECT * FROM command_episode WHERE how IS NULL AND client = ?1 AND agent IS ?2 AND root = ?3 AND form != ''
         ORDER BY id",
    )?;
    let rows = rows.query_map(params![client, agent, root], |row| {
        Ok(OpenEpisode {
            row: row.get("id")?,
            program: row.get("program")?,
            signature: row.get("signature")?,
            error: row.get("error")?,
            form: read_json(&row.get::<_, String>("form")?)?,
            output: row.get("output")?,
            between: read_json(&row.get::<_, String>("meanwhile")?)?,
            calls: row.get("calls")?,
            opened: row.get("opened")?,
            seen: row.get("seen")?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the program and the error of a command episode, or None if no episode has this id.
pub(super) fn describe_command_episode(
    connection: &Connection,
    row: Id,
) -> StoreResult<Option<Clean>> {
    Ok(connection
        .prepare_cached("SELECT program || ': ' || error FROM command_episode WHERE uid = ?1")?
        .query_row([row], |row| row.get(0))
        .optional()?)
}

/// Returns true if a command of a session failed and is still followed.
pub(crate) fn has_open_command(connection: &Connection, client: &str) -> StoreResult<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM command_episode WHERE how IS NULL AND client = ?1)",
        )?
        .query_row([client], |row| row.get(0))?)
}

/// Applies a finished Bash call: it opens, continues or ends episodes of its session.
pub(crate) fn apply_command_call(
    connection: &Connection,
    project: i64,
    session: i64,
    client: &Clean,
    place: &ProjectPlace,
    call: &CommandCall,
    at: Time,
) -> StoreResult {
    let line = CommandLine::parse(&call.line);
    let agent = call.agent.as_ref();
    let run_place = RunPlace { root: Path::new(place.root.as_str()), folder: &call.folder };
    let mut open = Vec::new();
    for mut episode in open_episodes(connection, client, agent, &place.root)? {
        episode.calls += 1;
        if episode.calls > MAX_CALLS || at.minus(MAX_SILENCE) > episode.seen {
            end_episode(connection, episode.row, CommandEndingKind::Left, at, None)?;
        } else {
            open.push(episode);
        }
    }
    if call.exit != 0 {
        let failed = FailedCommand::find(&line, &run_place, Some(call.exit), &call.output);
        if let Some(failed) = &failed {
            let session = ShownInSession { session, agent, at };
            session.record_effects(connection, project, failed, None, Time::from_millis(0))?;
            open_episode(connection, project, client, place, call, failed, &mut open, at)?;
        }
        return keep_open(connection, &open);
    }
    let forms = succeeded_commands(&line, &run_place, !call.names_error);
    for form in &forms {
        connection
            .prepare_cached(
                "UPDATE command_episode SET passed = ?3 WHERE project = ?1 AND shape = ?2",
            )?
            .execute(params![project, form.fingerprint().cast_signed(), at])?;
    }
    let mut left = Vec::new();
    for mut episode in open {
        match episode.find_variant(&forms) {
            Some((form, VariantRelation::Explained(difference))) => {
                let failed = FailedCommand {
                    form: episode.form.clone(),
                    error: episode.error.clone(),
                    signature: episode.signature.clone(),
                };
                let session = ShownInSession { session, agent, at };
                let worked = (form, &difference);
                session.record_effects(
                    connection,
                    project,
                    &failed,
                    Some(worked),
                    episode.opened,
                )?;
                let variant = Some((form.text.as_str(), &difference));
                end_episode(connection, episode.row, CommandEndingKind::Worked, at, variant)?;
            }
            Some((_, VariantRelation::Same)) => {
                end_episode(connection, episode.row, CommandEndingKind::Same, at, None)?;
            }
            Some((_, VariantRelation::Unclear)) | None => {
                let others = forms.iter().filter(|form| !is_query(form)).cloned();
                episode.between.extend(others);
                let surplus = episode.between.len().saturating_sub(MAX_BETWEEN);
                episode.between.drain(..surplus);
                left.push(episode);
            }
        }
    }
    keep_open(connection, &left)
}

impl OpenEpisode {
    /// Returns the succeeded command that runs the same program, and how it relates to the failing one.
    fn find_variant<'f>(
        &self,
        forms: &'f [CommandForm],
    ) -> Option<(&'f CommandForm, VariantRelation)> {
        let at = forms.iter().rposition(|form| form.has_program(&self.program))?;
        let mut between = self.between.clone();
        between.extend(forms[..at].iter().filter(|form| !is_query(form)).cloned());
        let failure = FailureEvidence {
            output: &self.output,
            is_path_missing: FailedCommand::is_path_missing(&self.error),
            calls: self.calls,
        };
        Some((&forms[at], self.form.compare(&forms[at], failure, &between)))
    }
}

/// Opens an episode for a failure, or continues the one with the same error.
#[expect(clippy::too_many_arguments, reason = "all of them are facts about the call")]
fn open_episode(
    connection: &Connection,
    project: i64,
    client: &Clean,
    place: &ProjectPlace,
    call: &CommandCall,
    failed: &FailedCommand,
    open: &mut Vec<OpenEpisode>,
    at: Time,
) -> StoreResult {
    let form = super::episodes::to_json(&failed.form);
    let shape = failed.form.fingerprint().cast_signed();
    let (command, error) = (Clean::new(&failed.form.text), Clean::new(&failed.error));
    let is_same = |episode: &OpenEpisode| {
        failed.form.has_program(&episode.program) && episode.signature == failed.signature
    };
    if let Some(known) = open.iter().position(is_same) {
        let known = open.swap_remove(known);
        connection
            .prepare_cached(
                "UPDATE command_episode SET command = ?2, shape = ?3, error = ?4, failures = failures + 1, seen = max(seen, ?5),
                     calls = 0, form = ?6, output = ?7, meanwhile = '[]' WHERE id = ?1",
            )?
            .execute(params![known.row, command, shape, error, at, form, call.output])?;
        return Ok(());
    }
    let inserted = connection
        .prepare_cached(
            "INSERT INTO command_episode (uid, project, client, agent, root, program, command, shape, error, signature,
                                          failures, opened, seen, form, output)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, ?11, ?11, ?12, ?13) ON CONFLICT (uid) DO NOTHING",
        )?
        .execute(params![
            call.id,
            project,
            client,
            call.agent,
            place.root,
            Clean::new(&failed.form.program),
            command,
            shape,
            error,
            Clean::new(&failed.signature),
            at,
            form,
            call.output,
        ])?;
    if inserted == 1 {
        let origin = origins::run_origin(place, client, call.agent.as_ref());
        origins::insert_origin(connection, call.id, &origin, None)?;
    }
    Ok(())
}

/// Stores what happened since the failures of open episodes.
fn keep_open(connection: &Connection, open: &[OpenEpisode]) -> StoreResult {
    let mut update = connection
        .prepare_cached("UPDATE command_episode SET calls = ?2, meanwhile = ?3 WHERE id = ?1")?;
    for episode in open {
        let between = super::episodes::to_json(&episode.between);
        update.execute(params![episode.row, episode.calls, between])?;
    }
    Ok(())
}

/// Ends an episode.
fn end_episode(
    connection: &Connection,
    row: i64,
    how: CommandEndingKind,
    at: Time,
    variant: Option<(&str, &CommandDifference)>,
) -> StoreResult {
    connection
        .prepare_cached(
            "UPDATE command_episode SET how = ?2, ended = ?3, worked = ?4, difference = ?5, form = '', output = '', meanwhile = '[]'
             WHERE id = ?1",
        )?
        .execute(params![
            row,
            how,
            at,
            variant.map(|(command, _)| Clean::new(command)),
            variant.map(|(_, difference)| super::episodes::to_json(difference)),
        ])?;
    Ok(())
}

/// The lessons that were shown to an agent of a session, up to a time.
struct ShownInSession<'a> {
    session: i64,
    agent: Option<&'a Clean>,
    at: Time,
}

impl ShownInSession<'_> {
    /// Records the effects of lessons that were shown for a failure: one helped if its difference worked, and hurt if the
    /// command has its difference and fails again with the same error.
    fn record_effects(
        &self,
        connection: &Connection,
        project: i64,
        failed: &FailedCommand,
        worked: Option<(&CommandForm, &CommandDifference)>,
        since: Time,
    ) -> StoreResult {
        let mut select = connection.prepare_cached(
            "SELECT injection.id, command_episode.difference
             FROM injection CROSS JOIN command_episode ON command_episode.uid = injection.row
             WHERE injection.session = ?1 AND injection.agent IS ?2 AND injection.effect IS NULL AND NOT injection.brief
               AND injection.at >= iif(injection.event = 'PreToolUse', ?7, ?3) AND injection.at < ?4 AND (injection.gone IS NULL OR injection.gone > ?4)
               AND command_episode.project = ?5 AND command_episode.signature = ?6 AND how = 'worked'",
        )?;
        let mut rows = select.query(params![
            self.session,
            self.agent,
            since,
            self.at,
            project,
            failed.signature,
            // One shown before the command precedes the failure.
            since.minus(MAX_SILENCE),
        ])?;
        let mut effects = Vec::new();
        while let Some(row) = rows.next()? {
            let difference: CommandDifference = read_json(&row.get::<_, String>(1)?)?;
            let effect = match worked {
                Some((form, now)) if *now == difference || form.has_taken(&difference) => {
                    ShownEffect::Helped
                }
                None if failed.form.has_taken(&difference) => ShownEffect::Hurt,
                _ => continue,
            };
            effects.push(InjectionEffect { injection: row.get(0)?, effect, at: self.at });
        }
        write_effects(connection, &effects)
    }
}

/// An earlier failure with the same error, and the variant that worked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLesson {
    /// The newest episode with this variant.
    pub episode: CommandEpisode,
    /// Number of recorded failures with this error.
    pub failures: u32,
    /// The reason to mark it as unconfirmed.
    pub unconfirmed: Option<UnconfirmedReason>,
}

/// Returns the variant that worked when the same program failed with the same error, if it can be applied to the
/// command. Returns None if the agent knows it from this session, if it did harm, or if the same command alone worked
/// more often.
pub(crate) fn recall_command_lesson(
    connection: &Connection,
    project: i64,
    place: &ProjectPlace,
    client: &str,
    agent: Option<&Clean>,
    failed: &FailedCommand,
    now: Time,
) -> StoreResult<Option<CommandLesson>> {
    let mut known = select_command_episodes(
        connection,
        "WHERE command_episode.project = ?1 AND signature = ?2 ORDER BY coalesce(ended, seen) DESC, command_episode.id DESC
         LIMIT ?3",
        params![project, failed.signature, MAX_COMPARED_EPISODES],
    )?;
    known.retain(|episode| {
        failed.form.has_program(&episode.program)
            || episode.variant().is_some_and(|variant| {
                failed.form.shares_wrapper(&episode.program, &variant.difference)
            })
    });
    let ended = known.iter().filter(|episode| episode.ending.is_some());
    let failures = ended.map(|episode| episode.failures).sum();
    let is_same = |episode: &&CommandEpisode| {
        episode.ending.as_ref().is_some_and(|ending| ending.how == CommandEndingKind::Same)
    };
    let same = known.iter().filter(is_same).count();
    let worked: Vec<&CommandEpisode> = known
        .iter()
        .filter(|one| {
            one.variant().is_some_and(|variant| failed.form.can_take(&variant.difference))
        })
        .collect();
    let count = |difference: &CommandDifference| {
        worked.iter().filter(|one| has_difference(one, difference)).count()
    };
    // The newest of those that worked most often.
    let mut best: Option<(usize, &CommandEpisode)> = None;
    for episode in &worked {
        let Some(variant) = episode.variant() else { continue };
        let times = count(&variant.difference);
        if best.is_none_or(|(most, _)| times > most) {
            best = Some((times, episode));
        }
    }
    let Some((times, episode)) = best else { return Ok(None) };
    if same > times {
        return Ok(None);
    }
    let mut total = EffectCounts::default();
    for one in worked.iter().filter(|one| {
        episode.variant().is_some_and(|variant| has_difference(one, &variant.difference))
    }) {
        if is_known_to_agent(connection, client, agent, one, now)? {
            return Ok(None);
        }
        let counts = effects::total_effects(connection, one.id)?;
        total.helped += counts.helped;
        total.hurt += counts.hurt;
    }
    if total.is_harmful() {
        return Ok(None);
    }
    let unconfirmed = origins::unconfirmed_reason(connection, episode.id, place)?;
    Ok(Some(CommandLesson { episode: episode.clone(), failures, unconfirmed }))
}

fn has_difference(episode: &CommandEpisode, difference: &CommandDifference) -> bool {
    episode.variant().is_some_and(|variant| variant.difference == *difference)
}

/// Returns true if an episode is in the agent's context: it was shown, or the agent itself found the variant, and the
/// context was not emptied since.
fn is_known_to_agent(
    connection: &Connection,
    client: &str,
    agent: Option<&Clean>,
    episode: &CommandEpisode,
    now: Time,
) -> StoreResult<bool> {
    if injections::is_in_context(connection, client, agent, episode.id, now)? {
        return Ok(true);
    }
    if episode.session.as_str() != client || episode.agent.as_ref() != agent {
        return Ok(false);
    }
    let ended = episode.ending.as_ref().map_or(episode.seen, |ending| ending.at);
    let refreshed: Option<Time> = connection
        .prepare_cached("SELECT refreshed FROM session WHERE client = ?1")?
        .query_row([client], |row| row.get(0))
        .optional()?
        .flatten();
    Ok(refreshed.is_none_or(|refreshed| ended >= refreshed || refreshed > now))
}

/// Returns the lesson about a command that is about to run, if the command failed at least twice in the project since it
/// last succeeded. Leaves out what [`recall_command_lesson`] leaves out after a failure, variants that need another
/// command before, and unconfirmed ones.
pub(crate) fn recall_before_command(
    connection: &Connection,
    project: i64,
    place: &ProjectPlace,
    client: &str,
    agent: Option<&Clean>,
    form: &CommandForm,
    now: Time,
) -> StoreResult<Option<CommandLesson>> {
    let Some(known) = failing_command(connection, project, form.fingerprint())? else {
        return Ok(None);
    };
    let failed = FailedCommand {
        form: form.clone(),
        error: known.error.to_string(),
        signature: known.signature.to_string(),
    };
    let lesson = recall_command_lesson(connection, project, place, client, agent, &failed, now)?;
    Ok(lesson.filter(|lesson| lesson.unconfirmed.is_none() && has_simple_variant(&lesson.episode)))
}

/// Returns the newest episode of a command that failed at least twice since it last succeeded, with a variant that
/// works without another command before it. `shape` is the command's [`CommandForm::fingerprint`].
pub(crate) fn failing_command(
    connection: &Connection,
    project: i64,
    shape: u64,
) -> StoreResult<Option<CommandEpisode>> {
    let mut known = select_command_episodes(
        connection,
        "WHERE command_episode.project = ?1 AND shape = ?2 ORDER BY coalesce(ended, seen) DESC, command_episode.id DESC
         LIMIT ?3",
        params![project, shape.cast_signed(), MAX_COMPARED_EPISODES],
    )?;
    let passed = known.iter().filter_map(|episode| episode.passed).max();
    known.retain(|episode| passed.is_none_or(|passed| episode.opened > passed));
    if known.iter().map(|episode| episode.failures).sum::<u32>() < MIN_KNOWN_FAILURES {
        return Ok(None);
    }
    Ok(known.into_iter().find(has_simple_variant))
}

fn has_simple_variant(episode: &CommandEpisode) -> bool {
    episode.variant().is_some_and(|variant| variant.difference.before.is_none())
}

/// Returns an episode of each command for which [`failing_command`] returns one in any project, the last failed first.
pub(crate) fn failing_commands(
    connection: &Connection,
    most: u32,
) -> StoreResult<Vec<CommandEpisode>> {
    let commands: Vec<(i64, i64)> = connection
        .prepare_cached(
            "SELECT project, shape FROM command_episode GROUP BY project, shape
             HAVING sum(failures) >= ?1 AND max(how = 'worked') ORDER BY max(seen) DESC LIMIT ?2",
        )?
        .query_map(params![MIN_KNOWN_FAILURES, most], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    let mut known = Vec::new();
    for (project, shape) in commands {
        known.extend(failing_command(connection, project, shape.cast_unsigned())?);
    }
    Ok(known)
}

/// Returns true if [`failing_command`] returns an episode in any project.
pub(crate) fn is_failing_command(connection: &Connection, shape: u64) -> StoreResult<bool> {
    let projects: Vec<i64> = connection
        .prepare_cached("SELECT DISTINCT project FROM command_episode WHERE shape = ?1")?
        .query_map([shape.cast_signed()], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for project in projects {
        if failing_command(connection, project, shape)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Ends episodes that nobody continued, and deletes those without a lesson that ended before a time.
pub(crate) fn retire_command_episodes(
    connection: &Connection,
    forgotten: Time,
    now: Time,
) -> StoreResult {
    let open = connection
        .prepare("SELECT id FROM command_episode WHERE how IS NULL AND seen < ?1")?
        .query_map([now.minus(MAX_SILENCE)], |row| row.get(0))?
        .collect::<Result<Vec<i64>, _>>()?;
    for row in open {
        end_episode(connection, row, CommandEndingKind::Left, now, None)?;
    }
    connection.execute(
        "DELETE FROM command_episode WHERE how IN ('same', 'left') AND ended < ?1",
        [forgotten],
    )?;
    Ok(())
}

impl Store {
    /// Returns command episodes of a project, or of all, the last failed first.
    pub fn command_episodes(
        &self,
        project: Option<&ProjectKey>,
        limit: Option<usize>,
    ) -> StoreResult<Vec<CommandEpisode>> {
        let limit = limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        select_command_episodes(
            &self.connection,
            "WHERE ?1 IS NULL OR project.key = ?1 ORDER BY seen DESC, command_episode.id DESC LIMIT ?2",
            params![project, limit],
        )
    }

    /// Returns a command episode by its id.
    pub fn command_episode(&self, id: Id) -> StoreResult<CommandEpisode> {
        select_command_episodes(&self.connection, "WHERE command_episode.uid = ?1", [id])?
            .pop()
            .ok_or(StoreError::NotFound { what: "command", id: id.into() })
    }

    /// Returns the command episode that a user names by the end of its id.
    pub fn command_episode_id(&self, id: &IdSuffix) -> StoreResult<Id> {
        tables::find_by_suffix(&self.connection, "command_episode", "command", id)
    }
}
