//! The kinds of documents that can be found, and the axes on which they can be searched.

use rutter_redact::choice;

choice! {
    /// What kind of row a document is.
    Kind, "kind of document" {
        /// What was asked to be remembered.
        Memory = "memory",
        /// What a resolved GHAP left.
        Experience = "experience",
        /// A failure and what turned it green.
        Episode = "episode",
    }
}

choice! {
    /// On what a document is asked.
    Axis, "axis" {
        /// All that it says.
        Full = "full",
        /// How it was gone about.
        Strategy = "strategy",
        /// What nobody had expected.
        Surprise = "surprise",
        /// Why it was so.
        RootCause = "root-cause",
    }
}

impl Axis {
    /// What stands before its terms, so that each axis counts for itself.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Full => "",
            Self::Strategy => "~t:",
            Self::Surprise => "~s:",
            Self::RootCause => "~r:",
        }
    }

    /// As files have it.
    pub const fn number(self) -> u8 {
        match self {
            Self::Full => 0,
            Self::Strategy => 1,
            Self::Surprise => 2,
            Self::RootCause => 3,
        }
    }
}

impl Kind {
    /// As files have it.
    pub const fn number(self) -> u8 {
        match self {
            Self::Memory => 0,
            Self::Experience => 1,
            Self::Episode => 2,
        }
    }
}
