//! The closed vocabularies of a GHAP.

use rutter_redact::choice;

choice! {
    /// What kind of work it is.
    Domain, "domain" {
        /// Finding out why something is wrong.
        Debugging = "debugging",
        /// Changing form, not behaviour.
        Refactoring = "refactoring",
        /// Something new.
        Feature = "feature",
        /// Tests themselves.
        Testing = "testing",
        /// Settings, build files, environments.
        Configuration = "configuration",
        /// Words about the code.
        Documentation = "documentation",
        /// Making it faster or smaller.
        Performance = "performance",
        /// Making it safe.
        Security = "security",
        /// Joining parts that others made.
        Integration = "integration",
    }
}

choice! {
    /// How it is gone about.
    Strategy, "strategy" {
        /// One cause after the other is ruled out.
        SystematicElimination = "systematic-elimination",
        /// Something is tried.
        TrialAndError = "trial-and-error",
        /// Reading comes first.
        ResearchFirst = "research-first",
        /// The problem is cut in parts.
        DivideAndConquer = "divide-and-conquer",
        /// The cause behind the cause is looked for.
        RootCauseAnalysis = "root-cause-analysis",
        /// It is done as it was done elsewhere.
        CopyFromSimilar = "copy-from-similar",
        /// What is taken for granted is checked.
        CheckAssumptions = "check-assumptions",
        /// The error is believed.
        ReadTheError = "read-the-error",
        /// The user knows.
        AskUser = "ask-user",
    }
}

choice! {
    /// Why a prediction failed.
    Cause, "root cause category" {
        /// Something believed was not so.
        WrongAssumption = "wrong-assumption",
        /// Something was not known.
        MissingKnowledge = "missing-knowledge",
        /// Something was known and not seen.
        Oversight = "oversight",
        /// The machine, not the code.
        EnvironmentIssue = "environment-issue",
        /// The symptom pointed elsewhere.
        MisleadingSymptom = "misleading-symptom",
        /// The fix was right and not enough.
        IncompleteFix = "incomplete-fix",
        /// Too much or too little was looked at.
        WrongScope = "wrong-scope",
        /// Tests disturbed each other.
        TestIsolation = "test-isolation",
        /// Order or speed.
        TimingIssue = "timing-issue",
    }
}

choice! {
    /// Where a GHAP is in its life. *Orphaned* is not a status: it is active, and its session is over.
    Status, "status" {
        /// Being worked on.
        Active = "active",
        /// It happened as predicted.
        Confirmed = "confirmed",
        /// It did not.
        Falsified = "falsified",
        /// It was given up.
        Abandoned = "abandoned",
    }
}

choice! {
    /// How well a resolution is founded.
    Tier, "tier" {
        /// A captured outcome is the evidence.
        Gold = "gold",
        /// The agent's word.
        Silver = "silver",
        /// Nothing testable was predicted.
        Bronze = "bronze",
        /// Given up.
        Abandoned = "abandoned",
    }
}

impl Tier {
    /// How much it counts.
    pub const fn weight(self) -> f64 {
        match self {
            Self::Gold => 1.0,
            Self::Silver => 0.8,
            Self::Bronze => 0.5,
            Self::Abandoned => 0.2,
        }
    }
}
