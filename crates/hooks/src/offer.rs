//! The offer to start a GHAP: once per session, on the first failure without a known fix.

use super::{HookCall, HookResult};
use crate::messages::{self, AgentText};
use rutter_memory::store::entry::EntryKind;

/// Returns the offer; None if it is disabled or was made before.
pub(super) fn offer_ghap(call: &mut HookCall, result: &mut HookResult) -> Option<AgentText> {
    if !call.config.hooks.outcome_capture.offer_ghap || !call.may_print() {
        return None;
    }
    let client = call.client.clone();
    let store = call.store().ok()?;
    if !result.ok_or_log("offer", store.may_offer_ghap(&client))? {
        return None;
    }
    let text = messages::render_offer(&call.interface());
    Some(AgentText { text, shown: vec![EntryKind::Offered] })
}
