//! Tests of hooks without a client: a hook is run as the client runs it, over many payloads.
//!
//! [`TrialRunner`] runs a hook once.

mod project_copy;
mod trial;

pub use project_copy::{CopiedProject, CopyError, MAX_COPY_BYTES, copy_project};
pub use trial::{
    HookStart, HookTrial, MAX_TRIAL_TIME, TRIAL_SESSION_ID, TestedHook, TrialEnding,
    TrialEnvironment, TrialRunner,
};
