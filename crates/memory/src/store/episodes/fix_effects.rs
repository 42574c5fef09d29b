//! Effects of earlier fixes that were shown for a failure.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::changes::changes_since;
use crate::change::{Change, ChangeKind};
use crate::episode::Episode;
use crate::injection::ShownEffect;
use crate::store::StoreResult;
use crate::store::effects::{InjectionEffect, write_effects};
use crate::{Clean, Time};

/// A run in a checkout by an agent of a session. It may meet open failures again.
pub(super) struct RunContext<'a> {
    pub(super) project: i64,
    pub(super) root: &'a Clean,
    pub(super) session: i64,
    pub(super) agent: Option<&'a Clean>,
    pub(super) at: Time,
}

impl RunContext<'_> {
    /// Records the effects of earlier fixes that were shown for a failure, by whether the failure is gone. A fix of
    /// which nothing was applied gets no effect.
    pub(super) fn record_fix_effects(
        &self,
        connection: &Connection,
        failure: &Episode,
        is_gone: bool,
    ) -> StoreResult {
        let mut select = connection.prepare_cached(
            "SELECT injection.id, injection.at, episode.fix
             -- A session was shown a few things, and a project may have thousands of failures.
             FROM injection CROSS JOIN episode ON episode.uid = injection.row
             WHERE injection.session = ?1 AND injection.agent IS ?2 AND injection.effect IS NULL AND NOT injection.brief
               AND injection.at >= ?3 AND injection.at < ?4 AND (injection.gone IS NULL OR injection.gone > ?4)
               AND episode.project = ?5 AND episode.how = 'fixed' AND (episode.signature = ?6 OR episode.test = ?7)",
        )?;
        let mut rows = select.query(params![
            self.session,
            self.agent,
            failure.opened,
            self.at,
            self.project,
            failure.signature,
            failure.test,
        ])?;
        let mut effects = Vec::new();
        while let Some(row) = rows.next()? {
            let (shown, fix): (Time, String) = (row.get(1)?, row.get(2)?);
            // Agents are shown the first change of a fix.
            let fix: Vec<Change> = serde_json::from_str(&fix).unwrap_or_default();
            let Some(fix) = fix.first() else { continue };
            let mut since = changes_since(connection, self.project, self.root, shown)?;
            since.retain(|change| change.at > shown && change.at < self.at);
            let effect = match (is_gone, FixReuse::compare(fix, &since)) {
                (true, FixReuse::Partly | FixReuse::Wholly) => ShownEffect::Helped,
                (false, FixReuse::Wholly) => ShownEffect::Hurt,
                _ => continue,
            };
            effects.push(InjectionEffect { injection: row.get(0)?, effect, at: self.at });
        }
        write_effects(connection, &effects)
    }
}

/// The part of a fix that was applied again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FixReuse {
    /// No line, as far as the recorded changes show.
    Not,
    /// Some lines.
    Partly,
    /// All lines.
    Wholly,
}

impl FixReuse {
    fn compare(fix: &Change, since: &[Change]) -> Self {
        let mut same = since
            .iter()
            .filter(|change| change.kind == fix.kind && change.name == fix.name)
            .peekable();
        if same.peek().is_none() {
            return Self::Not;
        }
        if fix.kind == ChangeKind::Command {
            return Self::Wholly;
        }
        let (mut came, mut went) = (BTreeSet::new(), BTreeSet::new());
        for hunk in same.flat_map(Change::hunks) {
            // A line that is removed again does not count as added.
            for line in identifying_lines(&hunk.removed) {
                came.remove(&line);
                went.insert(line);
            }
            for line in identifying_lines(&hunk.added) {
                went.remove(&line);
                came.insert(line);
            }
        }
        let (mut comes, mut goes) = (BTreeSet::new(), BTreeSet::new());
        for hunk in fix.hunks() {
            comes.extend(identifying_lines(&hunk.added));
            goes.extend(identifying_lines(&hunk.removed));
        }
        let wholly = match (comes.is_empty(), goes.is_empty()) {
            (false, _) => comes.is_subset(&came),
            (true, false) => goes.is_subset(&went),
            (true, true) => false,
        };
        if wholly {
            Self::Wholly
        } else if comes.is_disjoint(&came) && goes.is_disjoint(&went) {
            Self::Not
        } else {
            Self::Partly
        }
    }
}

/// Returns the trimmed lines that are long enough to identify a change.
fn identifying_lines(lines: &[String]) -> impl Iterator<Item = String> {
    lines.iter().map(|line| line.trim().to_owned()).filter(|line| line.len() > 2)
}
