//! The kinds of documents that can be found, and the axes on which they can be searched.

use rutter_redact::choice;

choice! {
    /// The kind of row that a document is.
    DocumentKind, "kind of document" {
        /// A memory that the user or the agent asked to remember.
        Memory = "memory",
        /// The lesson of a resolved GHAP.
        Experience = "experience",
        /// A failure and the change that fixed it.
        Episode = "episode",
    }
}

choice! {
    /// The aspect of a document that is searched.
    Axis, "axis" {
        /// The whole text.
        Full = "full",
        /// The approach to the work.
        Strategy = "strategy",
        /// The unexpected part.
        Surprise = "surprise",
        /// The cause.
        RootCause = "root-cause",
    }
}

impl Axis {
    /// Returns the prefix of the axis's terms, so that terms are counted per axis.
    pub const fn term_prefix(self) -> &'static str {
        match self {
            Self::Full => "",
            Self::Strategy => "~t:",
            Self::Surprise => "~s:",
            Self::RootCause => "~r:",
        }
    }

    /// Returns the number of the axis in cache files.
    pub const fn file_number(self) -> u8 {
        match self {
            Self::Full => 0,
            Self::Strategy => 1,
            Self::Surprise => 2,
            Self::RootCause => 3,
        }
    }
}

impl DocumentKind {
    /// Returns the number of the kind in cache files.
    pub const fn file_number(self) -> u8 {
        match self {
            Self::Memory => 0,
            Self::Experience => 1,
            Self::Episode => 2,
        }
    }
}
