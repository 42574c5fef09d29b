//! A finding of the doctor: code, location, description and advice.

use rutter_check::settings::FileLocation;
use rutter_memory::Clean;
use serde::{Serialize, Serializer};

use super::codes::{FindingCode, FindingSeverity};

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
