//! The offer to start a GHAP: once per session, on the first failure without a known fix.

use super::{Call, Heard};
use crate::speech;
use rutter_memory::store::entry::What;

/// Returns the offer and records it as made; None if it is disabled or was made before.
pub(super) fn offer(call: &mut Call, heard: &mut Heard) -> Option<String> {
    if !call.config.hooks.outcome_capture.offer_ghap || !call.may_speak() {
        return None;
    }
    let client = call.client.clone();
    let store = call.store().as_ref().ok()?;
    if !heard.take("offer", store.may_offer_ghap(&client))? {
        return None;
    }
    let text = speech::offer(&call.hands());
    call.record_said(vec![What::Offered], heard).then_some(text)
}
