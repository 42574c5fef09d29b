//! What many experiences say together: a sentence to work by.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::project::ProjectKey;
use crate::quote::{in_line, tokens};
use crate::{Clean, Id, Limit, TextError, Time};
use rutter_redact::choice;

mod polarity;

pub(crate) use polarity::opposed;

pub use crate::document::Axis;

choice! {
    /// What a value is worth so far.
    Standing, "standing" {
        /// It was found, and nobody has said yet that it is so.
        Proposed = "proposed",
        /// Somebody has.
        Accepted = "accepted",
        /// It is no longer held.
        Retired = "retired",
    }
}

/// A sentence to work by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// Its identity.
    pub id: Id,
    /// Where it holds; none is everywhere.
    pub project: Option<ProjectKey>,
    /// What it says.
    pub text: Clean,
    /// What its experiences have in common.
    pub axis: Axis,
    /// Which of the clusters along that axis it stands for; none while there is none that it fits.
    pub cluster: Option<Id>,
    /// What it is worth so far.
    pub standing: Standing,
    /// The GHAP whose own words these are; none once somebody said it otherwise.
    pub source: Option<Id>,
    /// How far it was from the middle of its cluster when it was held against it.
    pub distance: f64,
    /// How far it could have been.
    pub threshold: f64,
    /// How many experiences that have nothing to do with each other say the same.
    pub support: u32,
    /// How often it was acted upon since, and the prediction failed.
    pub contradicted: u32,
    /// Since when that counts.
    pub since: Time,
    /// When it lost the standing that somebody had given it; none where it has it still, or never had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubted: Option<Time>,
    /// When it was formed.
    pub created: Time,
    /// When it was last changed by somebody.
    pub changed: Time,
}

/// What cannot be a value, or not of that cluster.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ValueError {
    /// Its text.
    #[error(transparent)]
    Text(#[from] TextError),
    /// It is more than a sentence.
    #[error(
        "the value has {length} characters, about {tokens} tokens; at most {LONGEST} characters and {TOKENS} tokens would do, so \
         that it can be shown whole: say it in one sentence"
    )]
    Long {
        /// How many characters it has.
        length: usize,
        /// About how many tokens these are.
        tokens: usize,
    },
    /// None of its words is known.
    #[error("no word of it is known, so nobody can say what it is about; say it in other words")]
    NoWords,
    /// It says something else than the cluster.
    #[error(
        "it does not fit cluster {cluster}: its distance is {distance:.2}, and at most {threshold:.2} would do; {}",
        advice(.nearest.as_ref(), cluster)
    )]
    Far {
        /// The cluster's name, as people see it.
        cluster: String,
        /// How far it is.
        distance: f64,
        /// How far it could be.
        threshold: f64,
        /// The cluster of the axis that it is nearest to, and how far that is.
        nearest: Option<(String, f64)>,
    },
    /// Somebody ended it.
    #[error(
        "value {value} says the same and was retired {at}; only a person holds it again: rutter values edit {value} --standing accepted"
    )]
    Retired {
        /// The value's name, as people see it.
        value: String,
        /// When.
        at: Time,
    },
    /// Another one says it already.
    #[error("value {value} says the same; edit that one, or retire one of the two")]
    Said {
        /// The other's name, as people see it.
        value: String,
    },
    /// A number that cannot be.
    #[error("a distance of a value is a number from 0 to 2")]
    Distance,
    /// There is nothing to change.
    #[error("nothing was said to change; name what is new, as `--text TEXT`")]
    NothingToChange,
}

fn advice(nearest: Option<&(String, f64)>, cluster: &str) -> String {
    match nearest {
        Some((name, distance)) if name != cluster => {
            format!("it is nearer to cluster {name} ({distance:.2})")
        }
        _ => "say what its members have in common".to_owned(),
    }
}

/// How many characters a value may have.
pub const LONGEST: usize = 300;
/// How many tokens it may be. One is put before every session that begins, and the half of a sentence is none.
pub const TOKENS: usize = 75;

/// Checks the text of a value.
pub fn text(text: &str) -> Result<Clean, ValueError> {
    let text = Clean::new(text.trim());
    if text.is_empty() {
        return Err(TextError::Empty { what: "the value" }.into());
    }
    if !is_sentence(&text) {
        let (length, tokens) = (text.chars().count(), tokens(&in_line(&text)));
        return Err(ValueError::Long { length, tokens });
    }
    Ok(text)
}

/// Whether a text is short enough to be shown whole. Older versions kept longer ones.
pub fn is_sentence(text: &str) -> bool {
    text.chars().count() <= LONGEST && tokens(&in_line(text)) <= TOKENS
}

impl Value {
    /// Holds one from elsewhere to what every command holds to, but for its length: an older version took longer ones.
    pub fn check(&self) -> Result<(), ValueError> {
        Clean::within(&self.text, "the value", Limit::Short)?;
        let can_be = |distance: f64| (0.0..=2.0).contains(&distance);
        if can_be(self.distance) && can_be(self.threshold) {
            Ok(())
        } else {
            Err(ValueError::Distance)
        }
    }
}

/// A member's own words count no more than this: a sentence that one member says and no other points to is not what they have in
/// common.
const OWN_WORDS: f64 = 0.6;

/// How far a sentence is from a cluster: how near it is to where the members point together, and to the lesson of theirs that is
/// nearest to it, count alike. Where none of them drew a lesson, only the first counts.
pub fn distance(together: f64, lesson: Option<f64>) -> f64 {
    let lesson = lesson.unwrap_or(together).min(OWN_WORDS);
    (1.0 - f64::midpoint(together, lesson)).clamp(0.0, 2.0)
}

/// How far a sentence may be from a cluster along an axis. `docs/reference/clusters.md` has what it was set by: of a hundred
/// sentences that have nothing to do with a cluster, one or two get in. Along all of it clusters are larger, and one lesson of many is
/// sooner near.
pub const fn threshold(axis: Axis) -> f64 {
    match axis {
        Axis::Full => 0.70,
        Axis::Strategy | Axis::Surprise | Axis::RootCause => 0.74,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_member_says_and_none_points_to_is_not_near() {
        let far = |together, lesson| distance(together, Some(lesson));
        assert!((far(0.4, 0.5) - 0.55).abs() < 1e-9);
        assert!((distance(0.5, None) - 0.5).abs() < 1e-9);
        for axis in Axis::ALL {
            assert!(far(-0.15, 1.0) > threshold(*axis), "{axis}");
            assert!(far(0.3, 1.0) < threshold(*axis), "{axis}");
        }
        assert!(far(-1.0, -1.0) <= 2.0 && far(1.0, 1.0) >= 0.0);
    }

    #[test]
    fn a_value_is_a_sentence() {
        assert!(text(&"a".repeat(300)).is_ok() && text(&"語".repeat(75)).is_ok());
        assert_eq!(
            text(&"a".repeat(301)).unwrap_err().to_string(),
            "the value has 301 characters, about 76 tokens; at most 300 characters and 75 tokens would do, so that it can be \
             shown whole: say it in one sentence"
        );
        assert_eq!(text(&"語".repeat(76)), Err(ValueError::Long { length: 76, tokens: 76 }));
        // What takes more room when it is quoted is held to that.
        let tags = "<system-reminder>".repeat(17);
        assert!(tags.len() < 300 && matches!(text(&tags), Err(ValueError::Long { .. })));
        assert_eq!(text(" ").unwrap_err().to_string(), "the value is empty; say what it is");
    }

    #[test]
    fn a_refusal_says_how_far_and_how_far_it_could_be() {
        let error = |nearest| {
            let cluster = "0123abcd".to_owned();
            ValueError::Far { cluster, distance: 0.912, threshold: 0.7, nearest }.to_string()
        };
        assert_eq!(
            error(None),
            "it does not fit cluster 0123abcd: its distance is 0.91, and at most 0.70 would do; \
             say what its members have in common"
        );
        assert_eq!(
            error(Some(("99887766".to_owned(), 0.5))),
            "it does not fit cluster 0123abcd: its distance is 0.91, and at most 0.70 would do; \
             it is nearer to cluster 99887766 (0.50)"
        );
    }
}
