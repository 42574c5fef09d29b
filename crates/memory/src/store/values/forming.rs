//! Adds, edits and retires values, and unites equal ones from different machines.

use rusqlite::{Connection, params};

use super::sentence::verbatim;
use super::weigh::lesson;
use super::{
    Judged, NewValue, Sentence, ValueEdit, Written, every, fit, insert, one, update, weigh,
};
use crate::project::ProjectKey;
use crate::store::clusters::Regrouped;
use crate::store::{Store, StoreError, origins, projects};
use crate::value::{self, Standing, Value, ValueError};
use crate::{Clean, Id, Time};

/// Returns values about the same subject that hold in the same place and seem to say the opposite.
fn conflicts(connection: &Connection, value: &Value) -> Result<Vec<Value>, StoreError> {
    let sentence = Sentence::of(&value.text);
    let mut all = every(connection)?;
    all.retain(|other| {
        other.id != value.id
            && other.standing != Standing::Retired
            && (other.project.is_none() || other.project == value.project)
            && Sentence::of(&other.text).contradicts(&sentence)
    });
    Ok(all)
}

/// Returns the existing value with the same meaning where a sentence should hold. In a project: its own value, or one
/// that holds everywhere and is not retired. Everywhere: only a value that holds everywhere. Values of other projects
/// do not count.
fn said_already(
    connection: &Connection,
    place: Option<&ProjectKey>,
    sentence: &Sentence,
) -> Result<Option<Value>, StoreError> {
    let holds = |value: &Value| match &value.project {
        Some(own) => Some(own) == place,
        None => place.is_none() || value.standing != Standing::Retired,
    };
    let mut all = every(connection)?;
    all.retain(|value| holds(value) && Sentence::of(&value.text).says(sentence));
    let mut own = Vec::new();
    for value in all {
        if !origins::is_unconfirmed_import(connection, value.id)? {
            own.push(value);
        }
    }
    let last = |value: &Value| (value.standing == Standing::Retired, value.project.is_none());
    Ok(own.into_iter().min_by_key(last))
}

/// Returns the member of a cluster, in the value's project, with exactly this lesson. Forgetting that member also
/// forgets the value.
fn in_words_of(
    connection: &Connection,
    cluster: Id,
    place: Option<&ProjectKey>,
    text: &str,
) -> Result<Option<Id>, StoreError> {
    let wanted = verbatim(text);
    let mut members = connection.prepare_cached(
        "SELECT grouped.row FROM cluster JOIN grouped ON grouped.cluster = cluster.id
         JOIN ghap ON ghap.uid = grouped.row JOIN project ON project.id = ghap.project
         WHERE cluster.uid = ?1 AND project.key = ?2",
    )?;
    let mut rows = members.query(params![cluster, place])?;
    while let Some(row) = rows.next()? {
        let ghap = row.get(0)?;
        if lesson(connection, ghap)?.is_some_and(|lesson| verbatim(&lesson) == wanted) {
            return Ok(Some(ghap));
        }
    }
    Ok(None)
}

/// Sets the time of change, always later than the previous one: when machines exchange rows, the last change wins.
fn touch(value: &mut Value, now: Time) {
    value.changed = Time::from_millis(value.changed.millis() + 1).max(now);
}

/// Sets the standing. Accepting a value that was not accepted resets the evidence against it, because the user has seen
/// it.
fn hold(value: &mut Value, standing: Standing, now: Time) {
    if standing == Standing::Accepted && value.standing != Standing::Accepted {
        (value.since, value.contradicted, value.doubted) = (now, 0, None);
    }
    value.standing = standing;
}

impl Store {
    /// Adds a value, if it fits its cluster. If a value with the same meaning exists, that one is returned, with the
    /// higher standing of the two.
    pub fn add_value(&mut self, new: &NewValue<'_>, now: Time) -> Result<Written, StoreError> {
        let text = value::text(new.text)?;
        let cluster = self.cluster(new.cluster)?;
        let author = self.author.clone();
        self.write(|transaction| {
            let Judged { distance, threshold } = fit(transaction, cluster.id, cluster.axis, &text)?;
            let project =
                new.place.map(|place| projects::row_of(transaction, place, now)).transpose()?;
            let place = new.place.map(|place| projects::key_of(transaction, place)).transpose()?;
            let known = said_already(transaction, place.as_ref(), &Sentence::of(&text))?;
            let merged = known.is_some();
            let revived = known.as_ref().is_some_and(|known| known.standing == Standing::Retired);
            let id = if let Some(mut known) = known {
                if revived && !new.revives {
                    let value = known.id.short();
                    return Err(ValueError::Retired { value, at: known.changed }.into());
                }
                // One project may not change a value that holds everywhere.
                if known.project == place {
                    if known.standing != Standing::Accepted {
                        hold(&mut known, new.standing, now);
                    }
                    known.cluster = known.cluster.or(Some(cluster.id));
                    touch(&mut known, now);
                    update(transaction, &known)?;
                }
                known.id
            } else {
                let value = Value {
                    id: Id::new(now),
                    project: None,
                    source: in_words_of(transaction, cluster.id, place.as_ref(), &text)?,
                    text,
                    axis: cluster.axis,
                    cluster: Some(cluster.id),
                    standing: new.standing,
                    distance,
                    threshold,
                    support: 0,
                    contradicted: 0,
                    since: now,
                    doubted: None,
                    created: now,
                    changed: now,
                };
                insert(transaction, project, &value)?;
                origins::insert_if_known(transaction, value.id, author.as_ref())?;
                super::against::begins(transaction, value.id)?;
                value.id
            };
            weigh(transaction, now, &mut Regrouped::default())?;
            let value = one(transaction, id)?;
            let conflicts = conflicts(transaction, &value)?;
            Ok(Written { value, merged, revived, conflicts })
        })
    }

    /// Changes a value. A new text has to fit the cluster too, and no other value here may say the same.
    pub fn edit_value(
        &mut self,
        id: Id,
        edit: &ValueEdit<'_>,
        now: Time,
    ) -> Result<Written, StoreError> {
        if edit.text.is_none() && edit.standing.is_none() && edit.place.is_none() {
            return Err(ValueError::NothingToChange.into());
        }
        let text = edit.text.map(value::text).transpose()?;
        self.write(|transaction| {
            let mut value = one(transaction, id)?;
            let revived = value.standing == Standing::Retired
                && edit.standing.is_some_and(|standing| standing != Standing::Retired);
            if let Some(text) = text.filter(|text| *text != value.text) {
                if verbatim(&text) != verbatim(&value.text) {
                    refuse_twice(transaction, &value, value.project.as_ref(), &text)?;
                    if let Some(cluster) = value.cluster {
                        let judged = fit(transaction, cluster, value.axis, &text)?;
                        (value.distance, value.threshold) = (judged.distance, judged.threshold);
                        value.source =
                            in_words_of(transaction, cluster, value.project.as_ref(), &text)?;
                    } else {
                        // A text of the user's own no longer comes from a lesson, so it stays when that is forgotten.
                        value.source = None;
                    }
                    // The effects of the old text do not count for the new one.
                    (value.since, value.support, value.contradicted) = (now, 0, 0);
                }
                value.text = text;
            }
            if let Some(standing) = edit.standing {
                hold(&mut value, standing, now);
            }
            touch(&mut value, now);
            update(transaction, &value)?;
            origins::take_over(transaction, id)?;
            if let Some(place) = edit.place {
                let key = place.map(|place| projects::key_of(transaction, place)).transpose()?;
                if key != value.project {
                    refuse_twice(transaction, &value, key.as_ref(), &value.text)?;
                }
                let project = place.map(|place| projects::row_of(transaction, place, now));
                settle_in(transaction, id, project.transpose()?)?;
            }
            weigh(transaction, now, &mut Regrouped::default())?;
            let value = one(transaction, id)?;
            let conflicts = conflicts(transaction, &value)?;
            Ok(Written { value, merged: false, revived, conflicts })
        })
    }

    /// Retires a value. The row stays, so that the value is not proposed again.
    pub fn retire_value(&mut self, id: Id, now: Time) -> Result<Value, StoreError> {
        let edit = ValueEdit { standing: Some(Standing::Retired), ..ValueEdit::default() };
        Ok(self.edit_value(id, &edit, now)?.value)
    }
}

/// Returns an error if another value already says this text where the value should hold.
fn refuse_twice(
    connection: &Connection,
    value: &Value,
    place: Option<&ProjectKey>,
    text: &Clean,
) -> Result<(), StoreError> {
    match said_already(connection, place, &Sentence::of(text))? {
        Some(other) if other.id != value.id => {
            Err(ValueError::Said { value: other.id.short() }.into())
        }
        _ => Ok(()),
    }
}

/// Moves a value to a project, or to everywhere.
fn settle_in(connection: &Connection, value: Id, project: Option<i64>) -> Result<(), StoreError> {
    connection
        .prepare_cached("UPDATE value SET project = ?2 WHERE uid = ?1")?
        .execute(params![value, project])?;
    Ok(())
}

/// The change to a value after its lesson was edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// The value.
    pub id: Id,
    /// Standing after the edit; None if the value was deleted.
    pub standing: Option<Standing>,
}

/// Updates the values that quote a lesson after the lesson was edited: removing a name from it should remove it from
/// them too. A value with a new meaning has to be accepted again. A value is deleted if the new text is not a valid
/// value, or if another value says it already.
pub(crate) fn follow(
    connection: &Connection,
    ghap: Id,
    now: Time,
) -> Result<Vec<Followed>, StoreError> {
    let lesson = lesson(connection, ghap)?.and_then(|lesson| value::text(&lesson).ok());
    let mut followed = Vec::new();
    for mut value in every(connection)?.into_iter().filter(|value| value.source == Some(ghap)) {
        if lesson.as_ref().is_some_and(|lesson| verbatim(lesson) == verbatim(&value.text)) {
            continue;
        }
        let (old, new) = (Sentence::of(&value.text), lesson.as_ref().map(Sentence::of));
        let place = value.project.clone();
        let twice = match &new {
            Some(new) => said_already(connection, place.as_ref(), new)?
                .is_some_and(|other| other.id != value.id),
            None => true,
        };
        let new = new.filter(|_| !twice && value.standing != Standing::Retired);
        if let Some(new) = new {
            if !new.is_about(&old) || new.contradicts(&old) {
                value.standing = Standing::Proposed;
            }
            (value.text, value.support) = (new.text, 0);
            (value.since, value.contradicted) = (now.max(value.since), 0);
            touch(&mut value, now);
            update(connection, &value)?;
            followed.push(Followed { id: value.id, standing: Some(value.standing) });
        } else {
            connection.prepare_cached("DELETE FROM value WHERE uid = ?1")?.execute([value.id])?;
            followed.push(Followed { id: value.id, standing: None });
        }
    }
    Ok(followed)
}

/// Unites values that say the same in the same place: two machines propose the same value under different ids. A
/// decision of a person takes precedence over a proposal, and the last decision over earlier ones.
pub(crate) fn unite(connection: &Connection) -> Result<(), StoreError> {
    let mut kept: Vec<(Value, Sentence)> = Vec::new();
    for value in every(connection)? {
        // An imported value is not a decision of this user, and is removed together with its import.
        if origins::is_unconfirmed_import(connection, value.id)? {
            continue;
        }
        let sentence = Sentence::of(&value.text);
        let held = |value: &Value| value.standing == Standing::Accepted;
        let same = |(known, said): &&mut (Value, Sentence)| {
            known.project == value.project
                && said.says(&sentence)
                // Two accepted values with different words both stay.
                && !(held(known) && held(&value) && verbatim(&known.text) != verbatim(&value.text))
        };
        let Some((known, _)) = kept.iter_mut().find(same) else {
            kept.push((value, sentence));
            continue;
        };
        let decided = |value: &Value| (value.standing != Standing::Proposed, value.changed);
        if decided(&value) > decided(known) {
            (known.standing, known.since) = (value.standing, value.since.max(known.since));
            known.doubted = value.doubted;
        }
        known.changed = known.changed.max(value.changed);
        known.created = known.created.min(value.created);
        update(connection, known)?;
        connection
            .prepare_cached("UPDATE injection SET row = ?2 WHERE row = ?1")?
            .execute(params![value.id, known.id])?;
        connection.prepare_cached("DELETE FROM value WHERE uid = ?1")?.execute([value.id])?;
    }
    Ok(())
}
