//! The PreCompact hook: adds the open GHAP and open failures to the instructions for the summary.

use rutter_contract::input::PreCompact;
use rutter_contract::output::HookOutput;

use super::{HookCall, HookEnv, HookResult, ReceivedEvent};
use crate::messages;
use rutter_memory::Clean;
use rutter_memory::quote::DATA_LABEL;

pub(super) fn handle_pre_compact(
    event: &ReceivedEvent<'_>,
    env: impl FnOnce() -> HookEnv,
    result: &mut HookResult,
) {
    let Some(mut call) = HookCall::open(event, env) else { return };
    if !call.may_print() {
        return;
    }
    let (place, client) = (call.place.clone(), call.client.clone());
    let Ok(store) = call.store() else { return };
    let found = store.active_ghap(&place, &client, None).and_then(|ghap| {
        let episodes = store.open_episodes(&place, 2)?;
        Ok((ghap, episodes))
    });
    match found {
        Ok((ghap, episodes)) => {
            let mut texts: Vec<String> = Vec::new();
            // The agent interface costs a query and is needed only with a GHAP.
            texts.extend(ghap.map(|ghap| messages::render_active_ghap(&ghap, &call.interface())));
            texts.extend(episodes.iter().map(messages::render_open_failure));
            if texts.is_empty() || !call.is_before_deadline() {
                return;
            }
            let text = format!("Keep in the summary ({DATA_LABEL}):\n{}", texts.join("\n"));
            result.stdout = HookOutput::<PreCompact>::plain(&text).stdout;
        }
        Err(error) => result.errors.push(Clean::new(&format!("compact: {error}"))),
    }
}
