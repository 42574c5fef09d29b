//! Finds the values that are relevant to a question or a planned action.

use rusqlite::{Connection, params};

use super::entry::ProjectPlace;
use super::values::{
    SELECT_VALUE, ValueWithEffects, load_effects, may_show_unasked, read_value, values_to_show,
};
use super::{Store, StoreResult, documents, effects, projects};
use crate::ghap::Domain;
use crate::rank::effect_factor;
use crate::value::{Value, ValueStanding};
use rutter_search::score::{MEANING_SHARE, MIN_CONFIDENCE};

/// Maximum number of values that are read, the newest. Users have tens of them.
const MAX_VALUES_READ: u32 = 200;
/// Factor for the rank of a proposed value, relative to an accepted one.
const PROPOSED_FACTOR: f64 = 0.9;

/// A value and its relevance.
#[derive(Debug, Clone, PartialEq)]
pub struct RelevantValue {
    /// The value.
    pub value: Value,
    /// Probability that it is relevant.
    pub confidence: f64,
    /// Sort key, on the same scale as that of recalled documents.
    pub rank: f64,
    is_worth_saying: bool,
}

impl RelevantValue {
    /// Returns true if the value may be shown without being asked for.
    pub fn is_above_floor(&self) -> bool {
        self.confidence >= MIN_CONFIDENCE && self.is_worth_saying
    }
}

/// Returns the values that hold in a place by their relevance to a text, best first. They are too few for an index:
/// each is read and weighed on every call.
pub(crate) fn relevant_values(
    connection: &Connection,
    place: &ProjectPlace,
    everywhere: bool,
    text: &str,
) -> StoreResult<Vec<RelevantValue>> {
    let project = projects::find_project(connection, place)?;
    let values = connection
        .prepare_cached(&format!(
            "{SELECT_VALUE} WHERE value.standing != 'retired' AND (?2 OR value.project IS NULL OR value.project = ?1)
             ORDER BY value.id DESC LIMIT ?3"
        ))?
        .query_map(params![project, everywhere, MAX_VALUES_READ], read_value)?
        .collect::<Result<Vec<Value>, _>>()?;
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let texts: Vec<&str> = values.iter().map(|value| value.text.as_str()).collect();
    let fits = documents::compare_texts(text, &texts);
    #[expect(clippy::cast_precision_loss, reason = "a count of values")]
    let count = values.len() as f64;
    let mut all: Vec<RelevantValue> = values
        .into_iter()
        .zip(fits)
        .map(|(value, fit)| {
            let prior =
                if value.standing == ValueStanding::Accepted { 1.0 } else { PROPOSED_FACTOR };
            let effects = effects::effects_since(connection, value.id, value.since)?;
            let rank = fit.score(MEANING_SHARE) * prior * effect_factor(effects);
            let is_worth_saying = may_show_unasked(&value, effects);
            Ok(RelevantValue { value, confidence: fit.confidence(count), rank, is_worth_saying })
        })
        .collect::<StoreResult<_>>()?;
    all.sort_by(|one, other| {
        other.rank.total_cmp(&one.rank).then(one.value.id.cmp(&other.value.id))
    });
    Ok(all)
}

impl Store {
    /// Returns the values to show before work begins: those relevant to the goal, then the most valuable ones that were
    /// learnt in that kind of work.
    pub fn principles(
        &self,
        place: &ProjectPlace,
        domain: Option<Domain>,
        goal: Option<&str>,
        most: usize,
    ) -> StoreResult<Vec<ValueWithEffects>> {
        let mut chosen: Vec<ValueWithEffects> = Vec::new();
        if let Some(goal) = goal.filter(|goal| !goal.trim().is_empty()) {
            let near = relevant_values(&self.connection, place, false, goal)?;
            for near in near.into_iter().filter(RelevantValue::is_above_floor).take(most) {
                chosen.push(load_effects(&self.connection, near.value)?);
            }
        }
        if let Some(domain) = domain {
            for other in values_to_show(&self.connection, place, usize::MAX)? {
                if chosen.len() < most
                    && chosen.iter().all(|known| known.value.id != other.value.id)
                    && has_experience_in(&self.connection, &other.value, domain)?
                {
                    chosen.push(other);
                }
            }
        }
        Ok(chosen)
    }
}

/// Returns true if the value's cluster has an experience from this kind of work.
fn has_experience_in(connection: &Connection, value: &Value, domain: Domain) -> StoreResult<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM cluster JOIN grouped ON grouped.cluster = cluster.id
                            JOIN ghap ON ghap.uid = grouped.row WHERE cluster.uid = ?1 AND ghap.domain = ?2)",
        )?
        .query_row(params![value.cluster, domain], |row| row.get(0))?)
}
