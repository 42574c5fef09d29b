//! Adds, edits and retires values, and unites equal ones from different machines.

use rusqlite::{Connection, params};

use super::sentence::lowercase_words;
use super::support::load_lesson;
use super::{
    ClusterFit, NewValue, Sentence, ValueEdit, ValueWriteResult, all_values, check_cluster_fit,
    find_value, update_value, upsert_value, weigh_values,
};
use crate::project::ProjectKey;
use crate::store::clusters::RegroupReport;
use crate::store::{Store, StoreResult, origins, projects};
use crate::value::{self, Value, ValueError, ValueStanding};
use crate::{Clean, Id, Time};

/// Returns values about the same subject that hold in the same place and seem to say the opposite.
fn find_conflicts(connection: &Connection, value: &Value) -> StoreResult<Vec<Value>> {
    let sentence = Sentence::new(&value.text);
    let mut all = all_values(connection)?;
    all.retain(|other| {
        other.id != value.id
            && other.standing != ValueStanding::Retired
            && (other.project.is_none() || other.project == value.project)
            && Sentence::new(&other.text).contradicts(&sentence)
    });
    Ok(all)
}

/// Returns the existing value with the same meaning where a sentence should hold. In a project: its own value, or one
/// that holds everywhere and is not retired. Everywhere: only a value that holds everywhere. Values of other projects
/// do not count.
fn find_duplicate(
    connection: &Connection,
    place: Option<&ProjectKey>,
    sentence: &Sentence,
) -> StoreResult<Option<Value>> {
    let holds = |value: &Value| match &value.project {
        Some(own) => Some(own) == place,
        None => place.is_none() || value.standing != ValueStanding::Retired,
    };
    let mut all = all_values(connection)?;
    all.retain(|value| holds(value) && Sentence::new(&value.text).says_same(sentence));
    let mut own = Vec::new();
    for value in all {
        if !origins::is_unconfirmed_import(connection, value.id)? {
            own.push(value);
        }
    }
    let last = |value: &Value| (value.standing == ValueStanding::Retired, value.project.is_none());
    Ok(own.into_iter().min_by_key(last))
}

/// Returns the member of a cluster, in the value's project, with exactly this lesson. Forgetting that member also
/// forgets the value.
fn find_source_lesson(
    connection: &Connection,
    cluster: Id,
    place: Option<&ProjectKey>,
    text: &str,
) -> StoreResult<Option<Id>> {
    let wanted = lowercase_words(text);
    let mut members = connection.prepare_cached(
        "SELECT grouped.row FROM cluster JOIN grouped ON grouped.cluster = cluster.id
         JOIN ghap ON ghap.uid = grouped.row JOIN project ON project.id = ghap.project
         WHERE cluster.uid = ?1 AND project.key = ?2",
    )?;
    let mut rows = members.query(params![cluster, place])?;
    while let Some(row) = rows.next()? {
        let ghap = row.get(0)?;
        if load_lesson(connection, ghap)?.is_some_and(|lesson| lowercase_words(&lesson) == wanted) {
            return Ok(Some(ghap));
        }
    }
    Ok(None)
}

/// Sets the time of change, always later than the previous one: when machines exchange rows, the last change wins.
fn mark_changed(value: &mut Value, now: Time) {
    value.changed = Time::from_millis(value.changed.millis() + 1).max(now);
}

/// Sets the standing. Accepting a value that was not accepted resets the evidence against it, because the user has seen
/// it.
fn set_standing(value: &mut Value, standing: ValueStanding, now: Time) {
    if standing == ValueStanding::Accepted && value.standing != ValueStanding::Accepted {
        (value.since, value.contradicted, value.doubted) = (now, 0, None);
    }
    value.standing = standing;
}

impl Store {
    /// Adds a value, if it fits its cluster. If a value with the same meaning exists, that one is returned, with the
    /// higher standing of the two.
    pub fn add_value(&mut self, new: &NewValue<'_>, now: Time) -> StoreResult<ValueWriteResult> {
        let text = value::validate_value_text(new.text)?;
        let cluster = self.cluster(new.cluster)?;
        let author = self.author.clone();
        self.write(|transaction| {
            let ClusterFit { distance, threshold } =
                check_cluster_fit(transaction, cluster.id, cluster.axis, &text)?;
            let project = new
                .place
                .map(|place| projects::ensure_project(transaction, place, now))
                .transpose()?;
            let place =
                new.place.map(|place| projects::project_key(transaction, place)).transpose()?;
            let known = find_duplicate(transaction, place.as_ref(), &Sentence::new(&text))?;
            let merged = known.is_some();
            let revived =
                known.as_ref().is_some_and(|known| known.standing == ValueStanding::Retired);
            let id = if let Some(mut known) = known {
                if revived && !new.revives {
                    let value = known.id.short();
                    return Err(ValueError::Retired { value, at: known.changed }.into());
                }
                // One project may not change a value that holds everywhere.
                if known.project == place {
                    if known.standing != ValueStanding::Accepted {
                        set_standing(&mut known, new.standing, now);
                    }
                    known.cluster = known.cluster.or(Some(cluster.id));
                    mark_changed(&mut known, now);
                    update_value(transaction, &known)?;
                }
                known.id
            } else {
                let value = Value {
                    id: Id::new(now),
                    project: None,
                    source: find_source_lesson(transaction, cluster.id, place.as_ref(), &text)?,
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
                upsert_value(transaction, project, &value)?;
                origins::insert_origin_if_known(transaction, value.id, author.as_ref())?;
                super::against::skip_earlier_failures(transaction, value.id)?;
                value.id
            };
            weigh_values(transaction, now, &mut RegroupReport::default())?;
            let value = find_value(transaction, id)?;
            let conflicts = find_conflicts(transaction, &value)?;
            Ok(ValueWriteResult { value, merged, revived, conflicts })
        })
    }

    /// Changes a value. A new text has to fit the cluster too, and no other value here may say the same.
    pub fn edit_value(
        &mut self,
        id: Id,
        edit: &ValueEdit<'_>,
        now: Time,
    ) -> StoreResult<ValueWriteResult> {
        if edit.text.is_none() && edit.standing.is_none() && edit.place.is_none() {
            return Err(ValueError::NothingToChange.into());
        }
        let text = edit.text.map(value::validate_value_text).transpose()?;
        self.write(|transaction| {
            let mut value = find_value(transaction, id)?;
            let revived = value.standing == ValueStanding::Retired
                && edit.standing.is_some_and(|standing| standing != ValueStanding::Retired);
            if let Some(text) = text.filter(|text| *text != value.text) {
                if lowercase_words(&text) != lowercase_words(&value.text) {
                    check_duplicate(transaction, &value, value.project.as_ref(), &text)?;
                    if let Some(cluster) = value.cluster {
                        let judged = check_cluster_fit(transaction, cluster, value.axis, &text)?;
                        (value.distance, value.threshold) = (judged.distance, judged.threshold);
                        value.source = find_source_lesson(
                            transaction,
                            cluster,
                            value.project.as_ref(),
                            &text,
                        )?;
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
                set_standing(&mut value, standing, now);
            }
            mark_changed(&mut value, now);
            update_value(transaction, &value)?;
            origins::claim_imported_row(transaction, id)?;
            if let Some(place) = edit.place {
                let key =
                    place.map(|place| projects::project_key(transaction, place)).transpose()?;
                if key != value.project {
                    check_duplicate(transaction, &value, key.as_ref(), &value.text)?;
                }
                let project = place.map(|place| projects::ensure_project(transaction, place, now));
                move_to_project(transaction, id, project.transpose()?)?;
            }
            weigh_values(transaction, now, &mut RegroupReport::default())?;
            let value = find_value(transaction, id)?;
            let conflicts = find_conflicts(transaction, &value)?;
            Ok(ValueWriteResult { value, merged: false, revived, conflicts })
        })
    }

    /// Retires a value. The row stays, so that the value is not proposed again.
    pub fn retire_value(&mut self, id: Id, now: Time) -> StoreResult<Value> {
        let edit = ValueEdit { standing: Some(ValueStanding::Retired), ..ValueEdit::default() };
        Ok(self.edit_value(id, &edit, now)?.value)
    }
}

/// Returns an error if another value already says this text where the value should hold.
fn check_duplicate(
    connection: &Connection,
    value: &Value,
    place: Option<&ProjectKey>,
    text: &Clean,
) -> StoreResult {
    match find_duplicate(connection, place, &Sentence::new(text))? {
        Some(other) if other.id != value.id => {
            Err(ValueError::Duplicate { value: other.id.short() }.into())
        }
        _ => Ok(()),
    }
}

/// Moves a value to a project, or to everywhere.
fn move_to_project(connection: &Connection, value: Id, project: Option<i64>) -> StoreResult {
    connection
        .prepare_cached("UPDATE value SET project = ?2 WHERE uid = ?1")?
        .execute(params![value, project])?;
    Ok(())
}

/// The change to a value after its lesson was edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowedValue {
    /// The value.
    pub id: Id,
    /// Standing after the edit; None if the value was deleted.
    pub standing: Option<ValueStanding>,
}

/// Updates the values that quote a lesson after the lesson was edited: removing a name from it should remove it from
/// them too. A value with a new meaning has to be accepted again. A value is deleted if the new text is not a valid
/// value, or if another value says it already.
pub(crate) fn follow_lesson(
    connection: &Connection,
    ghap: Id,
    now: Time,
) -> StoreResult<Vec<FollowedValue>> {
    let lesson =
        load_lesson(connection, ghap)?.and_then(|lesson| value::validate_value_text(&lesson).ok());
    let mut followed = Vec::new();
    for mut value in all_values(connection)?.into_iter().filter(|value| value.source == Some(ghap))
    {
        if lesson
            .as_ref()
            .is_some_and(|lesson| lowercase_words(lesson) == lowercase_words(&value.text))
        {
            continue;
        }
        let (old, new) = (Sentence::new(&value.text), lesson.as_ref().map(Sentence::new));
        let place = value.project.clone();
        let twice = match &new {
            Some(new) => find_duplicate(connection, place.as_ref(), new)?
                .is_some_and(|other| other.id != value.id),
            None => true,
        };
        let new = new.filter(|_| !twice && value.standing != ValueStanding::Retired);
        if let Some(new) = new {
            if !new.is_about(&old) || new.contradicts(&old) {
                value.standing = ValueStanding::Proposed;
            }
            (value.text, value.support) = (new.text, 0);
            (value.since, value.contradicted) = (now.max(value.since), 0);
            mark_changed(&mut value, now);
            update_value(connection, &value)?;
            followed.push(FollowedValue { id: value.id, standing: Some(value.standing) });
        } else {
            connection.prepare_cached("DELETE FROM value WHERE uid = ?1")?.execute([value.id])?;
            followed.push(FollowedValue { id: value.id, standing: None });
        }
    }
    Ok(followed)
}

/// Unites values that say the same in the same place: two machines propose the same value under different ids. A
/// decision of a person takes precedence over a proposal, and the last decision over earlier ones.
pub(crate) fn unite_duplicates(connection: &Connection) -> StoreResult {
    let mut kept: Vec<(Value, Sentence)> = Vec::new();
    for value in all_values(connection)? {
        // An imported value is not a decision of this user, and is removed together with its import.
        if origins::is_unconfirmed_import(connection, value.id)? {
            continue;
        }
        let sentence = Sentence::new(&value.text);
        let held = |value: &Value| value.standing == ValueStanding::Accepted;
        let same = |(known, said): &&mut (Value, Sentence)| {
            known.project == value.project
                && said.says_same(&sentence)
                // Two accepted values with different words both stay.
                && !(held(known) && held(&value) && lowercase_words(&known.text) != lowercase_words(&value.text))
        };
        let Some((known, _)) = kept.iter_mut().find(same) else {
            kept.push((value, sentence));
            continue;
        };
        let decided = |value: &Value| (value.standing != ValueStanding::Proposed, value.changed);
        if decided(&value) > decided(known) {
            (known.standing, known.since) = (value.standing, value.since.max(known.since));
            known.doubted = value.doubted;
        }
        known.changed = known.changed.max(value.changed);
        known.created = known.created.min(value.created);
        update_value(connection, known)?;
        connection
            .prepare_cached("UPDATE injection SET row = ?2 WHERE row = ?1")?
            .execute(params![value.id, known.id])?;
        connection.prepare_cached("DELETE FROM value WHERE uid = ?1")?.execute([value.id])?;
    }
    Ok(())
}
