//! What many experiences say together: a sentence to work by.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::choice::choice;
use crate::project::ProjectKey;
use crate::quote::{in_line, tokens};
use crate::{Clean, Id, Limit, TextError, Time};

mod polarity;

pub(crate) use polarity::opposed;

pub use crate::search::document::Axis;

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

/// What is always near enough to a cluster, however tight it is. `docs/reference/clusters.md` has what it was set by.
pub const LEAST: f64 = 0.85;

/// How far a text may be from the middle of a cluster whose members are so far from it themselves.
///
/// As far as members are: their mean and a deviation. But members of a tight cluster are the same sentence five times over, and no
/// other sentence is as near as that; so what is as near as a stranger is to a group that it may join is always near enough.
pub fn threshold(members: &[f64], least: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a count of members")]
    let count = members.len().max(1) as f64;
    let mean = members.iter().sum::<f64>() / count;
    let square = members.iter().map(|far| (far - mean).powi(2)).sum::<f64>() / count;
    (mean + square.sqrt()).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tight_cluster_can_be_met_and_a_wide_one_takes_no_more_than_its_own() {
        assert!((threshold(&[0.0; 5], 0.6) - 0.6).abs() < 1e-12);
        assert!((threshold(&[0.7, 0.7, 0.7], 0.6) - 0.7).abs() < 1e-9);
        assert!((threshold(&[0.6, 0.8], 0.6) - 0.8).abs() < 1e-9);
        assert!((threshold(&[], 0.6) - 0.6).abs() < 1e-12);
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
