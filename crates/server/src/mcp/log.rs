//! What a client is told about calls beside their results, if it asks to be told.
//!
//! The older generation sets a level for as long as it is connected, the newer one with each request. The protocol is about
//! to drop both; a client that still asks gets one message for each call, and nothing of what was sent.

#![expect(deprecated, reason = "clients of the older generation may still ask for it")]

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ErrorData, LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;

use crate::tools::{Answer, Refusal, sent};

/// What a client sends to be told.
pub(super) type SetLevel = rmcp::model::SetLevelRequestParams;

/// From which level on a client wants to be told. At first it does not.
#[derive(Clone, Default)]
pub(super) struct Level(Arc<Mutex<Option<LoggingLevel>>>);

impl Level {
    pub(super) fn set(&self, wanted: &SetLevel) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(wanted.level);
    }

    /// Tells how a call went.
    pub(super) async fn note(
        &self,
        context: &RequestContext<RoleServer>,
        tool: &str,
        called: &Result<Result<Answer, Refusal>, ErrorData>,
    ) {
        let wanted = context.meta.log_level();
        let wanted = wanted.or(*self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let (level, what) = match called {
            Ok(Ok(_)) => (LoggingLevel::Debug, "answered"),
            Ok(Err(_)) => (LoggingLevel::Notice, "refused"),
            Err(_) => (LoggingLevel::Error, "broke off"),
        };
        if wanted.is_some_and(|least| least as u8 <= level as u8) {
            let data = json!({ "tool": sent(tool, 60), "call": what });
            let told = LoggingMessageNotificationParam::new(level, data).with_logger("rutter");
            // Who does not listen any more does not listen to the result either.
            drop(context.peer.notify_logging_message(told).await);
        }
    }
}
