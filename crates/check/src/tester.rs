//! Tests of hooks without a client: a hook is run as the client runs it, over many payloads.
//!
//! [`TrialRunner`] runs a hook once. [`test_payloads`] has the payloads.

mod audit;
mod judgement;
mod payloads;
mod project_copy;
mod trial;

pub use audit::{AuditCase, FailOpenAudit, ProgramFolder, audit_guard};
pub use judgement::{JudgedTrial, TrialEffect, judge_trial};
pub use payloads::{
    PayloadKind, TestPayload, base_payload, has_tool, test_payloads, transcript_path,
};
pub use project_copy::{CopiedProject, CopyError, MAX_COPY_BYTES, copy_project};
pub use trial::{
    HookStart, HookTrial, MAX_TRIAL_TIME, TRIAL_SESSION_ID, TestedHook, TrialEnding,
    TrialEnvironment, TrialRunner,
};
