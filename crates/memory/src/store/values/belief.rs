//! The belief behind a prediction, compared with a sentence.

use rusqlite::Row;

use super::Sentence;
use crate::store::StoreResult;
use crate::{Clean, value};
use rutter_search::embed::Vector;

/// Minimum cosine between a belief and a sentence at which the belief may be based on the sentence.
const MIN_BELIEF_COSINE: f32 = 0.4;

/// The belief behind the prediction of a GHAP, and the lesson learnt from it.
pub(crate) struct Belief {
    action: Clean,
    held: Vector,
    learnt: Option<Vector>,
}

/// The three SQL columns of a GHAP from which a [`Belief`] is read.
pub(crate) const BELIEF_COLUMNS: &str = "ghap.hypothesis || char(10) || ghap.action, ghap.action,
    coalesce(ghap.surprise, '') || char(10) || coalesce(ghap.cause_text, '') || char(10) || coalesce(ghap.takeaway, '')";

impl Belief {
    /// Reads a belief from three columns starting at `first`. Returns None if no word of it is in the vector table.
    pub(crate) fn from_row(row: &Row<'_>, first: usize) -> StoreResult<Option<Self>> {
        let (belief, learnt): (Clean, Clean) = (row.get(first)?, row.get(first + 2)?);
        let Some(held) = Sentence::new(&belief).vector else { return Ok(None) };
        let learnt = Sentence::new(&learnt).vector;
        Ok(Some(Self { action: row.get(first + 1)?, held, learnt }))
    }

    /// Returns true if the belief is, or could be, based on a sentence. An agent that did the opposite did not act on
    /// the sentence. The action decides that, because a hypothesis often contains a *not*.
    pub(crate) fn is_based_on(&self, sentence: &Sentence) -> bool {
        let Some(vector) = &sentence.vector else { return false };
        let acted = self.held.cosine(vector);
        // A belief nearer to the lesson learnt than to the sentence was not based on the sentence.
        let learnt = self.learnt.as_ref().map_or(0.0, |learnt| learnt.cosine(vector));
        acted >= MIN_BELIEF_COSINE
            && acted > learnt
            && !value::are_opposed(&self.action, &sentence.text)
    }
}
