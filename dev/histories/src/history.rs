//! A history: the payloads that the client's hooks get, the files at each step, and the truth.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::project::{Language, VirtualProject};
use crate::truth::HistoryTruth;

/// A git command that is run in a real checkout before a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitAction {
    /// The checkout.
    pub checkout: usize,
    /// Arguments of git.
    pub arguments: Vec<String>,
}

/// A payload, with the files at the time when it is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryStep {
    /// Milliseconds since the history began.
    pub at: i64,
    /// The checkout of the payload.
    pub checkout: usize,
    /// The payload. `@BASE@` stands for the folder that has the checkouts.
    pub payload: Value,
    /// Files that are written or removed before the payload, by path from the base.
    pub writes: Vec<(String, Option<String>)>,
    /// Git commands that are run before the payload.
    pub git: Vec<GitAction>,
    /// A line for human readers; empty for the first payload of a call.
    pub note: String,
}

/// A history with its truth.
#[derive(Debug)]
pub struct History {
    /// Seed of the history.
    pub seed: u64,
    /// Language of the project.
    pub language: Language,
    /// The project.
    pub project: VirtualProject,
    /// Folders of the checkouts, below the base.
    pub folders: Vec<String>,
    /// Payloads in their order.
    pub steps: Vec<HistoryStep>,
    /// The truth.
    pub truth: HistoryTruth,
    /// Kinds of mess in the history.
    pub tags: BTreeSet<String>,
    /// True if the checkouts must be real git checkouts.
    pub uses_git: bool,
}
