//! Effects of injections in the database: whether the next run was better or worse because of a row that was shown.

use rusqlite::{Connection, params};

use super::StoreResult;
use crate::injection::{EffectCounts, ShownEffect};
use crate::{Id, Time};

/// Returns how often a row helped and hurt since a time.
pub(crate) fn effects_since(
    connection: &Connection,
    row: Id,
    since: Time,
) -> StoreResult<EffectCounts> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) FILTER (WHERE effect = 'helped'), count(*) FILTER (WHERE effect = 'hurt')
             FROM injection WHERE row = ?1 AND effect IS NOT NULL AND coalesce(came, at) > ?2",
        )?
        .query_row(params![row, since], |row| {
            Ok(EffectCounts { helped: row.get(0)?, hurt: row.get(1)? })
        })?)
}

/// Returns how often a row helped and hurt in all.
pub(crate) fn total_effects(connection: &Connection, row: Id) -> StoreResult<EffectCounts> {
    effects_since(connection, row, Time::from_millis(0))
}

/// Records that the rows shown to the main agent of a session have left its context.
pub(super) fn mark_left_context(connection: &Connection, session: i64, at: Time) -> StoreResult {
    connection
        .prepare_cached(
            "UPDATE injection SET gone = ?2 WHERE session = ?1 AND agent IS NULL AND gone IS NULL AND at <= ?2",
        )?
        .execute(params![session, at])?;
    Ok(())
}

/// Marks a session to be examined again, because one of its entries arrived late.
pub(super) fn mark_unexamined(connection: &Connection, session: i64) -> StoreResult {
    connection
        .prepare_cached("UPDATE session SET settled = 0 WHERE id = ?1 AND settled != 0")?
        .execute([session])?;
    Ok(())
}

/// The effect of one injection.
pub(super) struct InjectionEffect {
    pub(super) injection: i64,
    pub(super) effect: ShownEffect,
    /// The time of the run.
    pub(super) at: Time,
}

/// Records effects of injections that have none yet.
pub(super) fn write_effects(connection: &Connection, effects: &[InjectionEffect]) -> StoreResult {
    let mut update = connection.prepare_cached(
        "UPDATE injection SET effect = ?2, came = ?3 WHERE id = ?1 AND effect IS NULL",
    )?;
    for InjectionEffect { injection, effect, at } in effects {
        update.execute(params![injection, effect, at])?;
    }
    Ok(())
}
