//! Why a command did not do what was asked, and with which exit code it says so.

use std::fmt;
use std::io;

use rutter_contract::payload::NoTool;
use rutter_memory::StoreError;
use rutter_memory::store::ImportError;

/// A command that ends without its result. Every kind has one exit code, decided here alone.
#[derive(Debug)]
pub enum Failure {
    /// What was asked cannot be done as it was asked: exit 2. The message ends with what to do.
    Usage(String),
    /// What was asked was refused: exit 1. The message ends with what to do.
    Refused(String),
    /// The command ran and has something to complain about, which it has printed: exit 1.
    Findings,
    /// The user was asked and said no, and was told that nothing happened: exit 1.
    Declined,
    /// stdin could not be read: exit 1.
    Input(io::Error),
    /// The world refused: exit 1.
    Io(io::Error),
}

impl Failure {
    /// The exit code. A reader that went away had enough: that is success.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::Refused(_) | Self::Findings | Self::Declined | Self::Input(_) | Self::Io(_) => 1,
        }
    }

    /// Whether anybody is left to be told.
    pub fn is_silent(&self) -> bool {
        self.exit_code() == 0 || matches!(self, Self::Findings | Self::Declined)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Refused(message) => f.write_str(message),
            Self::Findings => f.write_str("there are findings"),
            Self::Declined => f.write_str("nothing was changed"),
            Self::Input(error) => write!(f, "could not read stdin: {error}"),
            Self::Io(error) => write!(f, "could not write the output: {error}"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<NoTool> for Failure {
    fn from(error: NoTool) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        Self::Refused(error.to_string())
    }
}
