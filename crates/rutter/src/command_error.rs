//! The reasons for which a command fails, with their exit codes.

use std::fmt;
use std::io;

use rutter_contract::payload::ToolPayloadError;
use rutter_memory::StoreError;
use rutter_memory::store::ImportError;

/// The reason for which a command ends without a result. This type alone decides the exit code of each kind.
#[derive(Debug)]
pub enum CommandError {
    /// An invalid request: exit 2. The message ends with advice.
    Usage(String),
    /// A valid request that failed or was refused: exit 1. The message ends with advice.
    Refused(String),
    /// The command ran and has printed its findings: exit 1.
    Findings,
    /// The user answered no and has read that nothing was changed: exit 1.
    Declined,
    /// A read error on stdin: exit 1.
    Input(io::Error),
    /// Any other I/O error: exit 1.
    Io(io::Error),
}

/// The result of a command.
pub type CommandResult<T = ()> = Result<T, CommandError>;

impl CommandError {
    /// Returns the exit code. A broken pipe is success: the reader of the output has closed it on purpose.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::Refused(_) | Self::Findings | Self::Declined | Self::Input(_) | Self::Io(_) => 1,
        }
    }

    /// Returns true if the failure needs no error message.
    pub fn is_silent(&self) -> bool {
        self.exit_code() == 0 || matches!(self, Self::Findings | Self::Declined)
    }
}

impl fmt::Display for CommandError {
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

impl std::error::Error for CommandError {}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ToolPayloadError> for CommandError {
    fn from(error: ToolPayloadError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<ImportError> for CommandError {
    fn from(error: ImportError) -> Self {
        Self::Refused(error.to_string())
    }
}
