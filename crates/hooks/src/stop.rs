//! The Stop hook: a turn ends. Output prolongs the turn, so it asks about the open GHAP only if the user has enabled
//! that, once per GHAP, and never in a turn that a Stop hook prolonged.

use rutter_contract::input::Stop;

use super::{HookCall, HookEnv, HookResult, ReceivedEvent};
use crate::messages;
use rutter_memory::Clean;
use rutter_memory::store::entry::EntryKind;

pub(super) fn handle_stop(
    event: &ReceivedEvent<'_>,
    env: impl FnOnce() -> HookEnv,
    result: &mut HookResult,
) {
    if event.wire.raw("stop_hook_active") != Some("false") {
        return;
    }
    let Some(mut call) = HookCall::open(event, env) else { return };
    if !call.config.hooks.stop.ask || !call.may_print() {
        return;
    }
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let Ok(store) = call.store() else { return };
    let open = store.active_ghap(&place, &client, agent.as_ref()).and_then(|ghap| match ghap {
        Some(ghap) => Ok((!store.was_asked_at_stop(ghap.id)?).then_some(ghap)),
        None => Ok(None),
    });
    match open {
        Ok(Some(ghap)) => {
            if call.record_shown(vec![EntryKind::Stopped(ghap.id)], result) {
                let text = messages::render_active_ghap(&ghap, &call.interface());
                call.print_context::<Stop>(&text, result);
            }
        }
        Ok(None) => {}
        Err(error) => result.errors.push(Clean::new(&format!("stop: {error}"))),
    }
}
