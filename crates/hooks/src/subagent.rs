//! The SubagentStart hook: gives a subagent the lessons that were recalled for its task.

use rutter_contract::input::{RawPayload, SubagentStart};

use super::{Call, Heard};
use crate::context::Depth;
use crate::recall_context::{self, Audience, Wanted};

const EVENT: &str = "SubagentStart";

pub(super) fn hear(wire: &RawPayload<'_>, call: Option<Call>, heard: &mut Heard) {
    let (Some(mut call), Some(kind)) = (call, wire.text("agent_type")) else { return };
    if !call.may_speak() {
        return;
    }
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let now = call.around.now;
    let Ok(store) = call.store() else { return };
    let Some(Some(parked)) = heard.take("subagent", store.unpark(&client, &kind, now)) else {
        return;
    };
    let wanted = Wanted {
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
    let context = heard.take(
        "subagent",
        recall_context::context_of_rows(store.reader(), &parked.rows, &wanted, now),
    );
    if let Some(context) = context.filter(|context| !context.items.is_empty())
        && call.record_said(call.shown(EVENT, &parked.prompt, &context.rows()), heard)
    {
        call.say::<SubagentStart>(&context.markdown(), heard);
    }
}
