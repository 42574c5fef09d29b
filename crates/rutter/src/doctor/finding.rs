//! A finding of the doctor: code, location, description and advice.

use std::fmt;
use std::path::{Path, PathBuf};

use rutter_memory::Clean;
use rutter_memory::quote::PathLine as _;
use serde::{Serialize, Serializer};

use super::codes::{FindingCode, FindingSeverity};

/// A file, or a position in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileLocation {
    pub(crate) file: PathBuf,
    /// Line and column, both from 1.
    pub(crate) position: Option<(usize, usize)>,
}

impl FileLocation {
    pub(crate) fn whole_file(file: &Path) -> Self {
        Self { file: file.to_owned(), position: None }
    }
}

impl fmt::Display for FileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.to_line())?;
        match self.position {
            Some((line, column)) => write!(f, ":{line}:{column}"),
            None => Ok(()),
        }
    }
}

impl Serialize for FileLocation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DoctorFinding {
    pub(crate) code: &'static FindingCode,
    pub(crate) place: Option<FileLocation>,
    pub(crate) what: String,
    pub(crate) advice: String,
}

impl DoctorFinding {
    /// Creates a finding with the advice of the code table.
    pub(crate) fn new(code: &'static FindingCode, what: impl Into<String>) -> Self {
        Self { code, place: None, what: what.into(), advice: code.advice.to_owned() }
    }

    pub(crate) fn with_location(mut self, place: FileLocation) -> Self {
        self.place = Some(place);
        self
    }

    /// Replaces the advice of the code table by more specific advice.
    pub(crate) fn with_advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    pub(crate) fn severity(&self) -> FindingSeverity {
        self.code.severity
    }
}

impl Serialize for DoctorFinding {
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
const MAX_NAME_CHARS: usize = 60;

/// Prepares a name from a user's file for a message: short, on one line, and without text that looks like a secret.
pub(crate) fn display_name(name: &str) -> String {
    let clean = Clean::new(name);
    let mut shown: String =
        clean.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_NAME_CHARS).collect();
    if clean.chars().count() > MAX_NAME_CHARS {
        shown.push('…');
    }
    shown
}
