//! The SubagentStart hook: gives a subagent the lessons that were recalled for its task.

use rutter_contract::input::SubagentStart;

use super::{HookCall, HookEnv, HookResult, ReceivedEvent};
use crate::context::{Context, Depth};
use crate::recall_context::{self, Audience, ContextRequest};
use rutter_memory::store::entry::ParkedRows;

pub(super) fn handle_subagent_start(
    event: &ReceivedEvent<'_>,
    env: impl FnOnce() -> HookEnv,
    result: &mut HookResult,
) {
    let Some(kind) = event.wire.text("agent_type") else { return };
    let Some(mut call) = HookCall::open(event, env) else { return };
    let (client, now) = (call.client.clone(), call.env.now);
    // Each round but the last loses its rows to another subagent that starts at the same time.
    while call.may_print() {
        let Ok(store) = call.store() else { return };
        let found = result.ok_or_log("subagent", store.parked_rows(&client, &kind, now));
        let Some(Some((key, parked))) = found else { return };
        let context = context_for_subagent(&mut call, &parked, result);
        let shown = call.shown_entries(&parked.prompt, &context.full_rows());
        match call.take_parked_rows(key, shown, result) {
            Some(true) => {
                return call.print_context::<SubagentStart>(&context.markdown(), result);
            }
            Some(false) => {}
            None => return,
        }
    }
}

/// Assembles the context of the rows that were recalled for the subagent's task; empty if that fails.
fn context_for_subagent(
    call: &mut HookCall,
    parked: &ParkedRows,
    result: &mut HookResult,
) -> Context {
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let now = call.env.now;
    let request = ContextRequest {
        text: "",
        place: &place,
        everywhere: true,
        kinds: &[],
        depth: Depth::Light,
        limit: Depth::Light.limit(),
        tokens: Depth::Light.tokens(),
        audience: Audience::Subagent,
        to: Some((&client, agent.as_ref())),
    };
    let Ok(store) = call.store() else { return Context::default() };
    let context = recall_context::context_of_rows(store.reader(), &parked.rows, &request, now);
    result.ok_or_log("subagent", context).unwrap_or_default()
}
