//! Which values bear on something that is asked, or is about to be done.

use rusqlite::{Connection, params};

use super::{Held, SELECT, held, held_in, is_worth_saying, read};
use crate::ghap::Domain;
use crate::rank::tried;
use crate::store::entry::Place;
use crate::store::{Store, StoreError, documents, effects, projects};
use crate::value::{Standing, Value};
use rutter_search::score::{FLOOR, MEANING};

/// Of more than these the newest are looked at. People work by tens of them.
const MOST: u32 = 200;
/// What nobody has accepted counts so much of what somebody has.
const PROPOSED: f64 = 0.9;

/// A value, and how well it fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Bearing {
    /// The value.
    pub value: Value,
    /// How likely it is what was meant.
    pub confidence: f64,
    /// What it is ordered by, as what is recalled is.
    pub rank: f64,
    is_worth_saying: bool,
}

impl Bearing {
    /// Whether it may be put before somebody who did not ask.
    pub fn is_above_floor(&self) -> bool {
        self.confidence >= FLOOR && self.is_worth_saying
    }
}

/// The values that hold somewhere, by how well they fit a text, best first. They are too few for an index, and stand in none:
/// each is read and weighed when it is asked for.
pub(crate) fn bearing(
    connection: &Connection,
    place: &Place,
    everywhere: bool,
    text: &str,
) -> Result<Vec<Bearing>, StoreError> {
    let project = projects::find(connection, place)?;
    let values = connection
        .prepare_cached(&format!(
            "{SELECT} WHERE value.standing != 'retired' AND (?2 OR value.project IS NULL OR value.project = ?1)
             ORDER BY value.id DESC LIMIT ?3"
        ))?
        .query_map(params![project, everywhere, MOST], read)?
        .collect::<Result<Vec<Value>, _>>()?;
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let texts: Vec<&str> = values.iter().map(|value| value.text.as_str()).collect();
    let fits = documents::fits(text, &texts);
    #[expect(clippy::cast_precision_loss, reason = "a count of values")]
    let count = values.len() as f64;
    let mut all: Vec<Bearing> = values
        .into_iter()
        .zip(fits)
        .map(|(value, fit)| {
            let prior = if value.standing == Standing::Accepted { 1.0 } else { PROPOSED };
            let effects = effects::of(connection, value.id, value.since)?;
            let rank = fit.score(MEANING) * prior * tried(effects);
            let is_worth_saying = is_worth_saying(&value, effects);
            Ok(Bearing { value, confidence: fit.confidence(count), rank, is_worth_saying })
        })
        .collect::<Result<_, StoreError>>()?;
    all.sort_by(|one, other| {
        other.rank.total_cmp(&one.rank).then(one.value.id.cmp(&other.value.id))
    });
    Ok(all)
}

impl Store {
    /// The values to bear in mind before something is begun: those that fit what is wanted, then those that were learnt in that
    /// kind of work and are worth most.
    pub fn principles(
        &self,
        place: &Place,
        domain: Option<Domain>,
        goal: Option<&str>,
        most: usize,
    ) -> Result<Vec<Held>, StoreError> {
        let mut chosen: Vec<Held> = Vec::new();
        if let Some(goal) = goal.filter(|goal| !goal.trim().is_empty()) {
            let near = bearing(&self.connection, place, false, goal)?;
            for near in near.into_iter().filter(Bearing::is_above_floor).take(most) {
                chosen.push(held(&self.connection, near.value)?);
            }
        }
        if let Some(domain) = domain {
            for other in held_in(&self.connection, place, usize::MAX)? {
                if chosen.len() < most
                    && chosen.iter().all(|known| known.value.id != other.value.id)
                    && is_of(&self.connection, &other.value, domain)?
                {
                    chosen.push(other);
                }
            }
        }
        Ok(chosen)
    }
}

/// Whether any experience that a value stands for was made in a kind of work.
fn is_of(connection: &Connection, value: &Value, domain: Domain) -> Result<bool, StoreError> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM cluster JOIN grouped ON grouped.cluster = cluster.id
                            JOIN ghap ON ghap.uid = grouped.row WHERE cluster.uid = ?1 AND ghap.domain = ?2)",
        )?
        .query_row(params![value.cluster, domain], |row| row.get(0))?)
}
