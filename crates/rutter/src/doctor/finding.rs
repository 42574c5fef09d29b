//! A finding of the doctor: code, location, description and advice.

use std::fmt;
use std::path::{Path, PathBuf};

use rutter_memory::Clean;
use serde::{Serialize, Serializer};

use super::codes::{Code, Severity};

/// A file, or a position in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: PathBuf,
    /// Line and column, both from 1.
    pub(crate) position: Option<(usize, usize)>,
}

impl Place {
    pub(crate) fn file(file: &Path) -> Self {
        Self { file: file.to_owned(), position: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        match self.position {
            Some((line, column)) => write!(f, ":{line}:{column}"),
            None => Ok(()),
        }
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) code: &'static Code,
    pub(crate) place: Option<Place>,
    pub(crate) what: String,
    pub(crate) advice: String,
}

impl Finding {
    /// Creates a finding with the advice of the code table.
    pub(crate) fn new(code: &'static Code, what: impl Into<String>) -> Self {
        Self { code, place: None, what: what.into(), advice: code.advice.to_owned() }
    }

    pub(crate) fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// Replaces the advice of the code table by more specific advice.
    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    pub(crate) fn severity(&self) -> Severity {
        self.code.severity
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut out = serializer.serialize_struct("Finding", 5)?;
        out.serialize_field("code", self.code.name)?;
        out.serialize_field("severity", &self.severity())?;
        out.serialize_field("place", &self.place)?;
        out.serialize_field("what", &self.what)?;
        out.serialize_field("advice", &self.advice)?;
        out.end()
    }
}

/// Maximum length of a name from a user's file in a message.
const NAME: usize = 60;

/// Prepares a name from a user's file for a message: short, on one line, and without text that looks like a secret.
pub(crate) fn named(name: &str) -> String {
    let clean = Clean::new(name);
    let mut shown: String =
        clean.chars().map(|c| if c.is_control() { ' ' } else { c }).take(NAME).collect();
    if clean.chars().count() > NAME {
        shown.push('…');
    }
    shown
}
