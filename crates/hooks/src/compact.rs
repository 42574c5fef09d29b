//! The PreCompact hook: adds the open GHAP and open failures to the instructions for the summary.

use rutter_contract::input::PreCompact;
use rutter_contract::output::HookOutput;

use super::{Call, Heard};
use crate::speech;
use rutter_memory::Clean;

pub(super) fn hear(call: Option<Call>, heard: &mut Heard) {
    let Some(mut call) = call else { return };
    if !call.may_speak() {
        return;
    }
    let (place, client) = (call.place.clone(), call.client.clone());
    let Ok(store) = call.store() else { return };
    let found = store.active(&place, &client, None).and_then(|ghap| {
        let episodes = store.open_episodes(&place, 2)?;
        Ok((ghap, episodes))
    });
    match found {
        Ok((ghap, episodes)) => {
            let mut texts: Vec<String> = Vec::new();
            // The agent interface costs a query and is needed only with a GHAP.
            texts.extend(ghap.map(|ghap| speech::active(&ghap, &call.hands())));
            texts.extend(episodes.iter().map(speech::open_failure));
            if texts.is_empty() || !call.is_in_time() {
                return;
            }
            let text = format!("Keep in the summary, as quoted:\n{}", texts.join("\n"));
            heard.stdout = HookOutput::<PreCompact>::plain(&text).stdout;
        }
        Err(error) => heard.faults.push(Clean::new(&format!("compact: {error}"))),
    }
}
