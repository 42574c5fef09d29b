//! An agent starts: it gets what was recalled for its task.

use rutter_contract::input::{SubagentStart, Wire};

use super::{Call, Heard};
use crate::Clean;
use crate::context::Depth;
use crate::store::Wanted;

const EVENT: &str = "SubagentStart";

pub(super) fn hear(wire: &Wire<'_>, call: Option<Call>, heard: &mut Heard) {
    let (Some(mut call), Some(kind)) = (call, wire.text("agent_type")) else { return };
    if !call.may_speak() {
        return;
    }
    let (place, client, agent) = (call.place.clone(), call.client.clone(), call.agent.clone());
    let now = call.around.now;
    let Ok(store) = call.store() else { return };
    let context = store.unpark(&client, &kind, now).and_then(|parked| match parked {
        Some(parked) => {
            let wanted = Wanted {
                text: "",
                place: &place,
                everywhere: true,
                kinds: &[],
                depth: Depth::Light,
                limit: Depth::Light.limit(),
                tokens: Depth::Light.tokens(),
                to: Some((&client, agent.as_ref())),
            };
            store.context_of(&parked.rows, &wanted, now).map(|context| Some((parked, context)))
        }
        None => Ok(None),
    });
    match context {
        Ok(Some((parked, context))) if !context.items.is_empty() => {
            let mut shown = call.shown(EVENT, "", &context);
            for what in &mut shown {
                if let crate::store::entry::What::Shown(injection) = what {
                    injection.prompt = parked.prompt.clone();
                }
            }
            if call.record_said(shown, heard) {
                call.say::<SubagentStart>(&context.markdown(), heard);
            }
        }
        Ok(_) => {}
        Err(error) => heard.faults.push(Clean::new(&format!("subagent: {error}"))),
    }
}
