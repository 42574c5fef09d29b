//! The Stop hook: a turn ends. Output prolongs the turn, so it asks about the open GHAP only if the user has enabled
//! that, once per GHAP, and never in a turn that a Stop hook prolonged.

use rutter_contract::input::{RawPayload, Stop};

use super::{Call, Heard};
use crate::speech;
use rutter_memory::Clean;
use rutter_memory::store::entry::What;

pub(super) fn hear(wire: &RawPayload<'_>, call: impl FnOnce() -> Option<Call>, heard: &mut Heard) {
    if wire.raw("stop_hook_active") != Some("false") {
        return;
    }
    let Some(mut call) = call() else { return };
    if !call.config.hooks.stop.ask || !call.may_speak() {
        return;
    }
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let Ok(store) = call.store() else { return };
    let open = store.active(&place, &client, agent.as_ref()).and_then(|ghap| match ghap {
        Some(ghap) => Ok((!store.was_stopped(ghap.id)?).then_some(ghap)),
        None => Ok(None),
    });
    match open {
        Ok(Some(ghap)) => {
            if call.record_said(vec![What::Stopped(ghap.id)], heard) {
                let text = speech::active(&ghap, &call.hands());
                call.say::<Stop>(&text, heard);
            }
        }
        Ok(None) => {}
        Err(error) => heard.faults.push(Clean::new(&format!("stop: {error}"))),
    }
}
