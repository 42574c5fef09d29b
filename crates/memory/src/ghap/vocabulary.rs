//! The closed vocabularies of a GHAP.

use rutter_redact::choice;

choice! {
    /// The kind of work.
    Domain, "domain" {
        /// Finding out why something is wrong.
        Debugging = "debugging",
        /// Changing structure, not behaviour.
        Refactoring = "refactoring",
        /// Something new.
        Feature = "feature",
        /// Tests themselves.
        Testing = "testing",
        /// Settings, build files, environments.
        Configuration = "configuration",
        /// Text about the code.
        Documentation = "documentation",
        /// Making it faster or smaller.
        Performance = "performance",
        /// Making it safe.
        Security = "security",
        /// Connecting existing parts.
        Integration = "integration",
    }
}

choice! {
    /// The approach to the work.
    Strategy, "strategy" {
        /// Rule out one cause after the other.
        SystematicElimination = "systematic-elimination",
        /// Try something.
        TrialAndError = "trial-and-error",
        /// Read first.
        ResearchFirst = "research-first",
        /// Split the problem into parts.
        DivideAndConquer = "divide-and-conquer",
        /// Search for the underlying cause.
        RootCauseAnalysis = "root-cause-analysis",
        /// Copy a similar solution.
        CopyFromSimilar = "copy-from-similar",
        /// Check the assumptions.
        CheckAssumptions = "check-assumptions",
        /// Trust the error message.
        ReadTheError = "read-the-error",
        /// Ask the user.
        AskUser = "ask-user",
    }
}

choice! {
    /// The kind of reason why a prediction failed.
    CauseCategory, "root cause category" {
        /// A belief was wrong.
        WrongAssumption = "wrong-assumption",
        /// Knowledge was missing.
        MissingKnowledge = "missing-knowledge",
        /// Something known was overlooked.
        Oversight = "oversight",
        /// The environment, not the code.
        EnvironmentIssue = "environment-issue",
        /// The symptom pointed to another place.
        MisleadingSymptom = "misleading-symptom",
        /// The fix was right but not sufficient.
        IncompleteFix = "incomplete-fix",
        /// The search was too wide or too narrow.
        WrongScope = "wrong-scope",
        /// Tests affected each other.
        TestIsolation = "test-isolation",
        /// Order or speed.
        TimingIssue = "timing-issue",
    }
}

choice! {
    /// The status of a GHAP. *Orphaned* is not a status: it means active with a session that is over.
    GhapStatus, "status" {
        /// Work in progress.
        Active = "active",
        /// The prediction came true.
        Confirmed = "confirmed",
        /// The prediction failed.
        Falsified = "falsified",
        /// The work was given up.
        Abandoned = "abandoned",
    }
}

choice! {
    /// The quality of a resolution's evidence.
    Tier, "tier" {
        /// A captured run.
        Gold = "gold",
        /// The claim of the agent.
        Silver = "silver",
        /// A prediction that no run can test.
        Bronze = "bronze",
        /// The work was given up.
        Abandoned = "abandoned",
    }
}

impl Tier {
    /// Returns the weight of the tier.
    pub const fn weight(self) -> f64 {
        match self {
            Self::Gold => 1.0,
            Self::Silver => 0.8,
            Self::Bronze => 0.5,
            Self::Abandoned => 0.2,
        }
    }
}
