//! The SubagentStart hook: gives a subagent the lessons that were recalled for its task.

use rutter_contract::input::SubagentStart;

use super::{HookCall, HookEnv, HookEvent, HookResult};
use crate::context::Depth;
use crate::recall_context::{self, Audience, ContextRequest};

pub(super) fn handle_subagent_start(
    event: &HookEvent<'_>,
    env: impl FnOnce() -> HookEnv,
    heard: &mut HookResult,
) {
    let Some(kind) = event.wire.text("agent_type") else { return };
    let Some(mut call) = HookCall::open(event, env) else { return };
    if !call.may_print() {
        return;
    }
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let now = call.env.now;
    let Ok(store) = call.store() else { return };
    let Some(Some(parked)) =
        heard.ok_or_log("subagent", store.take_parked_rows(&client, &kind, now))
    else {
        return;
    };
    let wanted = ContextRequest {
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
    let context = heard.ok_or_log(
        "subagent",
        recall_context::context_of_rows(store.reader(), &parked.rows, &wanted, now),
    );
    if let Some(context) = context.filter(|context| !context.items.is_empty())
        && call.record_shown(call.shown_entries(&parked.prompt, &context.full_rows()), heard)
    {
        call.print_context::<SubagentStart>(&context.markdown(), heard);
    }
}
