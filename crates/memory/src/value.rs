//! Values: rules to work by, one sentence each, which many experiences support.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::project::ProjectKey;
use crate::quote::{escape_in_line, estimate_tokens};
use crate::{Clean, Id, Limit, TextError, Time};
use rutter_redact::choice;

mod polarity;

pub(crate) use polarity::are_opposed;

pub use crate::document::Axis;

choice! {
    /// The standing of a value.
    ValueStanding, "standing" {
        /// Derived from lessons and not confirmed by a person.
        Proposed = "proposed",
        /// Confirmed by a person.
        Accepted = "accepted",
        /// No longer valid.
        Retired = "retired",
    }
}

/// A rule to work by, in one sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// Id of the row.
    pub id: Id,
    /// The project in which it holds; everywhere if None.
    pub project: Option<ProjectKey>,
    /// The sentence.
    pub text: Clean,
    /// The axis on which its experiences are similar.
    pub axis: Axis,
    /// The cluster of that axis that it belongs to; None while it fits no cluster.
    pub cluster: Option<Id>,
    /// The current standing.
    pub standing: ValueStanding,
    /// The GHAP that contains this text as its lesson; None after a person rephrased it.
    pub source: Option<Id>,
    /// Distance from the middle of its cluster when it was written.
    pub distance: f64,
    /// Maximum distance at that time.
    pub threshold: f64,
    /// Number of independent experiences that say the same.
    pub support: u32,
    /// Number of predictions that relied on it since and failed.
    pub contradicted: u32,
    /// Time from which contradictions count.
    pub since: Time,
    /// Time when it lost the standing that a person had given it; None if it still has it, or never had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubted: Option<Time>,
    /// Time when it was created.
    pub created: Time,
    /// Time of the last change of text or standing.
    pub changed: Time,
}

/// The reason why a value is invalid or does not fit its cluster.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ValueError {
    /// The text is empty or too long.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The text is longer than one sentence.
    #[error(
        "the value has {length} characters, about {tokens} tokens; at most {MAX_VALUE_CHARS} \
         characters and {MAX_VALUE_TOKENS} tokens are allowed; shorten it to one sentence"
    )]
    TooLong {
        /// Number of characters.
        length: usize,
        /// Approximate number of tokens.
        tokens: usize,
    },
    /// None of the words is known.
    #[error(
        "the value has no known words, so it cannot be compared with the cluster; use other \
             words"
    )]
    NoWords,
    /// The text is too far from the cluster.
    #[error(
        "the value does not fit cluster {cluster}: its distance is {distance:.2}, and the \
         maximum is {threshold:.2}; {}",
        nearest_cluster_advice(.nearest.as_ref(), cluster)
    )]
    TooFar {
        /// The short id of the cluster.
        cluster: String,
        /// The distance.
        distance: f64,
        /// The maximum distance.
        threshold: f64,
        /// The nearest cluster of the axis and its distance.
        nearest: Option<(String, f64)>,
    },
    /// A retired value says the same.
    #[error(
        "value {value} says the same and was retired {at}; only the user can accept it again: \
         rutter values edit {value} --standing accepted"
    )]
    Retired {
        /// The short id of the value.
        value: String,
        /// Time when it was retired.
        at: Time,
    },
    /// Another value says the same.
    #[error("value {value} says the same; edit that one, or retire one of the two")]
    Duplicate {
        /// The short id of the other value.
        value: String,
    },
    /// A distance is out of range.
    #[error("the distance of a value must be a number from 0 to 2")]
    Distance,
    /// The edit has no changes.
    #[error("nothing to change; give an option such as `--text TEXT`")]
    NothingToChange,
}

fn nearest_cluster_advice(nearest: Option<&(String, f64)>, cluster: &str) -> String {
    match nearest {
        Some((name, distance)) if name != cluster => {
            format!("it is nearer to cluster {name} ({distance:.2})")
        }
        _ => "state what its members have in common".to_owned(),
    }
}

/// Maximum number of characters of a value.
pub const MAX_VALUE_CHARS: usize = 300;
/// Maximum number of tokens of a value. Every session starts with one, and half a sentence is useless.
pub const MAX_VALUE_TOKENS: usize = 75;

/// Validates the text of a value.
pub fn validate_value_text(text: &str) -> Result<Clean, ValueError> {
    let text = Clean::new(text.trim());
    if text.is_empty() {
        return Err(TextError::Empty { what: "the value" }.into());
    }
    if !is_sentence(&text) {
        let (length, tokens) = (text.chars().count(), estimate_tokens(&escape_in_line(&text)));
        return Err(ValueError::TooLong { length, tokens });
    }
    Ok(text)
}

/// Returns true if a text is short enough to be shown whole. Older versions accepted longer ones.
pub fn is_sentence(text: &str) -> bool {
    text.chars().count() <= MAX_VALUE_CHARS
        && estimate_tokens(&escape_in_line(text)) <= MAX_VALUE_TOKENS
}

impl Value {
    /// Validates an imported value like the commands do, except for its length: older versions accepted longer ones.
    pub fn validate(&self) -> Result<(), ValueError> {
        Clean::within(&self.text, "the value", Limit::Short)?;
        let can_be = |distance: f64| (0.0..=2.0).contains(&distance);
        if can_be(self.distance) && can_be(self.threshold) {
            Ok(())
        } else {
            Err(ValueError::Distance)
        }
    }
}

/// Maximum similarity to a member's lesson that counts: a sentence that one member says and that is far from all others
/// is not what they have in common.
const MAX_LESSON_SIMILARITY: f64 = 0.6;

/// Returns the distance of a sentence from a cluster. Its similarity to the mean direction of the members and to the
/// nearest lesson of a member count equally. If no member has a lesson, only the first counts.
pub fn cluster_distance(together: f64, lesson: Option<f64>) -> f64 {
    let lesson = lesson.unwrap_or(together).min(MAX_LESSON_SIMILARITY);
    (1.0 - f64::midpoint(together, lesson)).clamp(0.0, 2.0)
}

/// Returns the maximum distance of a sentence from a cluster along an axis. `docs/measurements/clusters.md` has the
/// measurement: of a hundred unrelated sentences, one or two get in. Clusters on the full axis are larger, so a
/// sentence is more likely to be near one of their many lessons.
pub const fn max_cluster_distance(axis: Axis) -> f64 {
    match axis {
        Axis::Full => 0.70,
        Axis::Strategy | Axis::Surprise | Axis::RootCause => 0.74,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_lesson_is_not_near() {
        let far = |together, lesson| cluster_distance(together, Some(lesson));
        assert!((far(0.4, 0.5) - 0.55).abs() < 1e-9);
        assert!((cluster_distance(0.5, None) - 0.5).abs() < 1e-9);
        for axis in Axis::ALL {
            assert!(far(-0.15, 1.0) > max_cluster_distance(*axis), "{axis}");
            assert!(far(0.3, 1.0) < max_cluster_distance(*axis), "{axis}");
        }
        assert!(far(-1.0, -1.0) <= 2.0 && far(1.0, 1.0) >= 0.0);
    }

    #[test]
    fn a_value_is_a_sentence() {
        assert!(
            validate_value_text(&"a".repeat(300)).is_ok()
                && validate_value_text(&"語".repeat(75)).is_ok()
        );
        assert_eq!(
            validate_value_text(&"a".repeat(301)).unwrap_err().to_string(),
            "the value has 301 characters, about 76 tokens; at most 300 characters and 75 tokens are allowed; \
             shorten it to one sentence"
        );
        assert_eq!(
            validate_value_text(&"語".repeat(76)),
            Err(ValueError::TooLong { length: 76, tokens: 76 })
        );
        // The limit applies to the quoted form, which can be longer.
        let tags = "<system-reminder>".repeat(17);
        assert!(
            tags.len() < 300
                && matches!(validate_value_text(&tags), Err(ValueError::TooLong { .. }))
        );
        assert_eq!(
            validate_value_text(" ").unwrap_err().to_string(),
            "the value is empty; say what it is"
        );
    }

    #[test]
    fn too_far_error_names_distances() {
        let error = |nearest| {
            let cluster = "0123abcd".to_owned();
            ValueError::TooFar { cluster, distance: 0.912, threshold: 0.7, nearest }.to_string()
        };
        assert_eq!(
            error(None),
            "the value does not fit cluster 0123abcd: its distance is 0.91, and the maximum is 0.70; \
             state what its members have in common"
        );
        assert_eq!(
            error(Some(("99887766".to_owned(), 0.5))),
            "the value does not fit cluster 0123abcd: its distance is 0.91, and the maximum is 0.70; \
             it is nearer to cluster 99887766 (0.50)"
        );
    }
}
