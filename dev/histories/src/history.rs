//! A history: the payloads that the client's hooks get, the files at each moment, and the truth.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::project::{Language, Project};
use crate::truth::Truth;

/// A git command that a driver runs in a real checkout before a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitAction {
    /// The checkout.
    pub checkout: usize,
    /// Arguments of git.
    pub arguments: Vec<String>,
}

/// One payload, with the files as they are when it is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Milliseconds since the history began.
    pub at: i64,
    /// The checkout that it is about.
    pub checkout: usize,
    /// The payload. `@BASE@` stands for the folder that has the checkouts.
    pub payload: Value,
    /// Files that are written or removed before it, by their path from the base.
    pub writes: Vec<(String, Option<String>)>,
    /// Git commands that are run before it.
    pub git: Vec<GitAction>,
    /// A line for people; empty for the first half of a call.
    pub note: String,
}

/// A history with its truth.
#[derive(Debug)]
pub struct History {
    /// Seed that it was made from.
    pub seed: u64,
    /// Language of the project.
    pub language: Language,
    /// The project.
    pub project: Project,
    /// Folders of the checkouts, below the base.
    pub folders: Vec<String>,
    /// Payloads in their order.
    pub steps: Vec<Step>,
    /// The truth.
    pub truth: Truth,
    /// Kinds of mess in it.
    pub tags: BTreeSet<String>,
    /// True if the checkouts must be real git checkouts.
    pub uses_git: bool,
}
