//! The time that the client waits for the hooks of one tool call.

use std::collections::BTreeMap;
use std::time::Duration;

use rutter_check::tester::{HookLatency, JudgedTrial, TestPayload};
use rutter_contract::EventName;
use serde::Serialize;

use super::plan::PlannedHook;

/// The wait for the hooks of one tool. Hooks of an event run in parallel, so the client waits for the slowest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct ToolWait {
    /// The tool.
    pub(super) tool: String,
    /// The wait before the call, for PreToolUse.
    pub(super) before: HookLatency,
    /// The wait after the call, for PostToolUse.
    pub(super) after: HookLatency,
    /// The sum.
    pub(super) sum: HookLatency,
}

/// The waits of all calls, by tool.
#[derive(Debug, Default)]
pub(super) struct ToolWaits {
    waits: BTreeMap<String, [Vec<Duration>; 2]>,
}

impl ToolWaits {
    /// Adds the trials of an event: one list per hook, in the order of the payloads.
    pub(super) fn add(
        &mut self,
        event: EventName,
        hooks: &[PlannedHook],
        payloads: &[TestPayload],
        tested: &[Vec<Option<JudgedTrial>>],
    ) {
        let side = match event {
            EventName::PreToolUse => 0,
            EventName::PostToolUse => 1,
            _ => return,
        };
        for (index, payload) in payloads.iter().enumerate() {
            let Some(tool) = payload.value["tool_name"].as_str() else { continue };
            let trials = tested.iter().zip(hooks).filter(|(_, hook)| !hook.is_async);
            let durations =
                trials.filter_map(|(trials, _)| Some(trials.get(index)?.as_ref()?.trial.took));
            if let Some(slowest) = durations.max() {
                self.waits.entry(tool.to_owned()).or_default()[side].push(slowest);
            }
        }
    }

    /// Returns the waits of the tools for which hooks run both before and after a call.
    pub(super) fn finish(self) -> Vec<ToolWait> {
        let waits =
            self.waits.into_iter().filter(|(_, waits)| waits.iter().all(|wait| !wait.is_empty()));
        let waits = waits.map(|(tool, [before, after])| {
            let (before, after) = (HookLatency::of(before), HookLatency::of(after));
            let round = |ms: f64| (ms * 10.0).round() / 10.0;
            let sum = HookLatency {
                p50_ms: round(before.p50_ms + after.p50_ms),
                p95_ms: round(before.p95_ms + after.p95_ms),
            };
            ToolWait { tool, before, after, sum }
        });
        waits.collect()
    }
}
