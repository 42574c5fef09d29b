//! Log messages about calls, for clients that request them.
//!
//! The older protocol generation sets a log level per connection, the newer one per request. The protocol is about to
//! drop both. A client that still asks gets one message per call, without any of its arguments.

#![expect(deprecated, reason = "clients of the older generation may still ask for it")]

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ErrorData, LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;

use crate::refusal::redact_name;
use crate::tools::{ToolAnswer, ToolRefusal};

/// The request that sets the log level.
pub(super) type SetLogLevel = rmcp::model::SetLevelRequestParams;

/// The lowest level that a client wants to receive; None until it asks.
#[derive(Clone, Default)]
pub(super) struct ClientLogLevel(Arc<Mutex<Option<LoggingLevel>>>);

impl ClientLogLevel {
    pub(super) fn set(&self, wanted: &SetLogLevel) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(wanted.level);
    }

    /// Sends a message about the result of a call.
    pub(super) async fn log_call(
        &self,
        context: &RequestContext<RoleServer>,
        tool: &str,
        called: &Result<Result<ToolAnswer, ToolRefusal>, ErrorData>,
    ) {
        let wanted = context.meta.log_level();
        let wanted = wanted.or(*self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let (level, what) = match called {
            Ok(Ok(_)) => (LoggingLevel::Debug, "answered"),
            Ok(Err(_)) => (LoggingLevel::Notice, "refused"),
            Err(_) => (LoggingLevel::Error, "broke off"),
        };
        if wanted.is_some_and(|least| least as u8 <= level as u8) {
            let data = json!({ "tool": redact_name(tool, 60), "call": what });
            let told = LoggingMessageNotificationParam::new(level, data).with_logger("rutter");
            // A client that is gone does not receive the result either.
            drop(context.peer.notify_logging_message(told).await);
        }
    }
}
