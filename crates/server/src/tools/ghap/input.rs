//! Input types of the GHAP tools.

use rutter_memory::ghap::expect::Expects;
use rutter_memory::ghap::{CauseCategory, Domain, GhapStatus, Strategy};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::schema;

/// `start_ghap`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartGhapInput {
    #[schemars(schema_with = "schema::domain")]
    pub(super) domain: Domain,
    #[schemars(schema_with = "schema::strategy")]
    pub(super) strategy: Strategy,
    #[schemars(length(min = 1, max = 1000))]
    pub(super) goal: String,
    #[schemars(length(min = 1, max = 1000))]
    pub(super) hypothesis: String,
    #[schemars(length(min = 1, max = 1000))]
    pub(super) action: String,
    #[schemars(length(min = 1, max = 1000))]
    pub(super) prediction: String,
    /// Expected result; default: from the prediction
    #[schemars(schema_with = "schema::expects")]
    #[serde(default)]
    pub(super) expects: Option<Expects>,
    /// Its command, test or file; likewise
    #[schemars(length(max = 1000))]
    #[serde(default)]
    pub(super) target: Option<String>,
    #[schemars(range(min = 0, max = 1))]
    #[serde(default)]
    pub(super) confidence: Option<f64>,
}

/// `update_ghap`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpdateGhapInput {
    #[schemars(length(max = 1000))]
    #[serde(default)]
    pub(super) hypothesis: Option<String>,
    #[schemars(length(max = 1000))]
    #[serde(default)]
    pub(super) action: Option<String>,
    #[schemars(length(max = 1000))]
    #[serde(default)]
    pub(super) prediction: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "schema::strategy")]
    pub(super) strategy: Option<Strategy>,
    #[schemars(schema_with = "schema::expects")]
    #[serde(default)]
    pub(super) expects: Option<Expects>,
    #[schemars(length(max = 1000))]
    #[serde(default)]
    pub(super) target: Option<String>,
    #[schemars(range(min = 0, max = 1))]
    #[serde(default)]
    pub(super) confidence: Option<f64>,
    #[schemars(length(max = 2000))]
    #[serde(default)]
    pub(super) note: Option<String>,
}

/// `resolve_ghap`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResolveGhapInput {
    #[schemars(schema_with = "schema::ending")]
    pub(super) status: GhapStatus,
    /// Actual result
    #[schemars(length(min = 1, max = 2000))]
    pub(super) result: String,
    #[schemars(length(max = 2000))]
    #[serde(default)]
    pub(super) surprise: Option<String>,
    #[serde(default)]
    pub(super) root_cause: Option<RootCauseInput>,
    #[serde(default)]
    pub(super) lesson: Option<LessonInput>,
    /// 4–6 phrases a user would type not knowing the cause: symptom, error, task; varied words
    #[serde(default)]
    pub(super) applies_when: Vec<String>,
    /// Id of the run as evidence
    #[serde(default)]
    pub(super) outcome: Option<String>,
    /// false: look for no captured run
    #[serde(default)]
    pub(super) auto_captured: Option<bool>,
    /// Orphan's id, to abandon it
    #[serde(default)]
    pub(super) id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RootCauseInput {
    #[schemars(schema_with = "schema::cause")]
    pub(super) category: CauseCategory,
    #[schemars(length(min = 1, max = 2000))]
    pub(super) description: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LessonInput {
    #[schemars(length(max = 2000))]
    #[serde(default)]
    pub(super) what_worked: Option<String>,
    #[schemars(length(max = 2000))]
    #[serde(default)]
    pub(super) takeaway: Option<String>,
}

impl LessonInput {
    pub(super) const fn is_empty(&self) -> bool {
        self.what_worked.is_none() && self.takeaway.is_none()
    }
}

/// `get_ghap`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetGhapInput {
    #[serde(default)]
    pub(super) id: Option<String>,
    #[schemars(schema_with = "schema::status")]
    #[serde(default)]
    pub(super) status: Option<GhapStatus>,
    #[schemars(schema_with = "schema::domain")]
    #[serde(default)]
    pub(super) domain: Option<Domain>,
    /// All of this project
    #[serde(default)]
    pub(super) list: bool,
    /// Only orphans
    #[serde(default)]
    pub(super) orphans: bool,
    #[schemars(range(min = 1, max = 100))]
    #[serde(default)]
    pub(super) limit: Option<usize>,
    /// next_cursor of the last answer
    #[serde(default)]
    pub(super) cursor: Option<String>,
}

/// `adopt_ghap`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdoptGhapInput {
    /// Needed if there are several
    #[serde(default)]
    pub(super) id: Option<String>,
}
