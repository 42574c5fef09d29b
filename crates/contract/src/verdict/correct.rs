//! Corrections: the intent of a mistaken answer in the form that the client honours.
//!
//! The intent is read from every form in the catalogue and rendered in the form of the event. Parts that the
//! event cannot express are left out; an empty correction is not offered.

use serde_json::{Map, Value, json};

use super::answer::ParsedAnswer;
use super::apply::missing_script;
use super::diagnose::{find_embedded_object, first_object_end};
use super::repair::parse_repaired;
use super::validate::is_accepted;
use super::{CorrectedAnswer, HookRun, MistakeSeverity, Verdict};
use crate::javascript::{self, JsonKind, JsonNode};
use crate::name::EventName;
use crate::output::truncate_to_limit;
use crate::spec::{DecisionModel, EventSpec, FieldType, Honoured};
use crate::table::TEXT_LIMIT_UNITS;
use crate::table::shapes::PERMISSION_UPDATE;
use crate::version::Contract;

pub(super) fn correct_answer(
    run: &HookRun<'_>,
    spec: &EventSpec,
    reading: &ParsedAnswer<'_>,
    contract: Contract,
    verdict: &Verdict,
) -> Option<CorrectedAnswer> {
    if verdict.severity().is_none_or(|severity| severity < MistakeSeverity::Warning) {
        return None;
    }
    if spec.name == EventName::WorktreeCreate {
        // For a command hook the only right answer is the path, never JSON.
        let output = reading.valid().and_then(|node| node.get("hookSpecificOutput"));
        let path = output.and_then(|output| output.get("worktreePath")?.text());
        return path.map(|path| CorrectedAnswer { stdout: path.to_owned(), exit: 0 });
    }
    let mut intent = AnswerIntent::default();
    match reading {
        ParsedAnswer::Silent => {}
        ParsedAnswer::Plain(text) => match extract_object(text) {
            Some(node) => intent.read_json(&node),
            // A truncated object cannot be completed, and it is not a text for a reader.
            None if text.starts_with('{') => return None,
            // On Stop a text keeps the agent going, which a hook that only printed something did not ask for.
            None if matches!(spec.name, EventName::Stop | EventName::SubagentStop) => return None,
            None if text.contains(|c: char| c.is_control() && !c.is_whitespace()) => return None,
            None => intent.context = Some((*text).to_owned()),
        },
        ParsedAnswer::Broken(_) => intent.read_json(&extract_object(javascript::trim(run.stdout))?),
        ParsedAnswer::Void(node, _)
        | ParsedAnswer::Foreign(node, _)
        | ParsedAnswer::Valid(node) => {
            intent.read_json(node);
        }
        ParsedAnswer::Async { .. } => return None,
    }
    if missing_script(run) {
        return None;
    }
    intent.read_exit_code(run, reading);
    // Ending the turn and allowing the call contradict each other.
    let torn = spec.name == EventName::PreToolUse
        && intent.stops
        && intent.choice == Some(IntendedDecision::Allow);
    if intent.lost || torn {
        return None;
    }
    if run.exit == 2 && intent.reason.is_none() {
        // Only the author can supply the reason.
        return None;
    }
    let stdout = intent.render_for(spec, contract)?;
    let same = stdout == javascript::trim(run.stdout) && run.exit == 0;
    (!same).then_some(CorrectedAnswer { stdout, exit: 0 })
}

/// Extracts an object from a text with other content around it.
fn extract_object(text: &str) -> Option<JsonNode> {
    if text.starts_with('{') {
        return match first_object_end(text) {
            Some(end) => javascript::parse(&text[..end]).ok(),
            None => parse_repaired(text),
        };
    }
    let (_, object) = find_embedded_object(text)?;
    javascript::parse(javascript::trim(object)).ok()
}

/// The intended effect of an answer.
#[derive(Debug, Default)]
struct AnswerIntent {
    choice: Option<IntendedDecision>,
    reason: Option<String>,
    context: Option<String>,
    message: Option<String>,
    stops: bool,
    stop_reason: Option<String>,
    input: Option<Value>,
    interrupt: bool,
    /// The `hookSpecificOutput`, for the fields that need no correction.
    output: Option<JsonNode>,
    /// True if a part cannot be rendered; a correction without it would have another effect.
    lost: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IntendedDecision {
    Allow,
    Deny,
    Ask,
    Defer,
}

impl IntendedDecision {
    fn from_name(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "allow" | "approve" | "continue" | "accept" | "true" => Some(Self::Allow),
            "deny" | "block" | "reject" | "stop" | "false" => Some(Self::Deny),
            "ask" => Some(Self::Ask),
            "defer" => Some(Self::Defer),
            _ => None,
        }
    }
}

impl AnswerIntent {
    fn read_json(&mut self, node: &JsonNode) {
        let output = node.get("hookSpecificOutput");
        let places = || [Some(node), output].into_iter().flatten();
        let find = |keys: &[&str]| -> Option<String> {
            let found =
                places().flat_map(|place| keys.iter().filter_map(|key| place.get(key)?.text()));
            found.map(str::to_owned).find(|text| !text.is_empty())
        };

        let mut context = find(&["additionalContext", "additional_context", "context"]);
        if context.is_none() && node.get("type").is_some() {
            context = find(&["content"]);
            if let (Some(text), Some(prompt)) = (&mut context, find(&["prompt"])) {
                *text = format!("{text}\n\n{prompt}");
            }
        }
        self.context = context;
        self.message = find(&["systemMessage", "system_message"]);
        self.stop_reason = find(&["stopReason"]);
        self.stops = node.get("continue").is_some_and(is_false);
        self.reason = find(&["permissionDecisionReason", "reason", "message"]);

        // The most restrictive choice wins, as in the client.
        let mut choices = Vec::new();
        for place in places() {
            for key in ["permissionDecision", "decision", "action"] {
                choices.extend(
                    place.get(key).and_then(JsonNode::text).and_then(IntendedDecision::from_name),
                );
            }
            let decision = place.get("decision");
            choices.extend(
                decision
                    .and_then(|node| node.get("behavior")?.text())
                    .and_then(IntendedDecision::from_name),
            );
            if let Some(decision) = decision.filter(|node| !node.members().is_empty()) {
                let text = decision.get("message").and_then(JsonNode::text);
                self.reason = self.reason.take().or(text.map(str::to_owned));
                self.interrupt = matches!(
                    decision.get("interrupt").map(|node| &node.kind),
                    Some(JsonKind::Bool(true))
                );
                self.input = self
                    .input
                    .take()
                    .or_else(|| decision.get("updatedInput").and_then(convert_object));
            }
            self.input =
                self.input.take().or_else(|| place.get("updatedInput").and_then(convert_object));
            let inputs =
                [place.get("updatedInput"), decision.and_then(|node| node.get("updatedInput"))];
            self.lost |= self.input.is_none() && inputs.into_iter().flatten().next().is_some();
        }
        self.output = output.cloned();
        choices.extend(
            node.get("ok").map(|ok| {
                if is_false(ok) { IntendedDecision::Deny } else { IntendedDecision::Allow }
            }),
        );
        let order = [
            IntendedDecision::Deny,
            IntendedDecision::Defer,
            IntendedDecision::Ask,
            IntendedDecision::Allow,
        ];
        self.choice = order.into_iter().find(|choice| choices.contains(choice));
    }

    /// Reads the intent of an exit code. Exit 1 counts as a refusal only with empty stdout and a message on
    /// stderr; the other codes never do, because the shell itself may have failed.
    fn read_exit_code(&mut self, run: &HookRun<'_>, reading: &ParsedAnswer<'_>) {
        let stderr = javascript::trim(run.stderr);
        let refuses = run.exit == 2
            || (run.exit == 1 && matches!(reading, ParsedAnswer::Silent) && !stderr.is_empty());
        if !refuses {
            return;
        }
        if self.choice != Some(IntendedDecision::Deny) {
            self.choice = Some(IntendedDecision::Deny);
            self.reason = None;
        }
        if self.reason.is_none() && !stderr.is_empty() {
            self.reason = Some(stderr.to_owned());
        }
    }

    /// Renders the intent in the form of an event; `None` if the event can express no part of it.
    fn render_for(&self, spec: &EventSpec, contract: Contract) -> Option<String> {
        let takes = |key: &str| {
            spec.output_at(contract).into_iter().flatten().any(|field| field.name == key)
        };
        let mut top = Map::new();
        let mut own = Map::new();
        if self.stops && spec.continue_false.honoured == Honoured::Yes {
            top.insert("continue".to_owned(), json!(false));
            if let Some(reason) = &self.stop_reason {
                top.insert("stopReason".to_owned(), json!(reason));
            }
        }
        let shown = spec.system_message.honoured != Honoured::No;
        if let Some(text) = self.message.as_ref().filter(|_| shown) {
            top.insert(
                "systemMessage".to_owned(),
                json!(truncate_to_limit(text, TEXT_LIMIT_UNITS)),
            );
        }
        self.add_decision(spec, contract, &mut top, &mut own)?;
        if let Some(text) = self.context.as_ref().filter(|_| takes("additionalContext")) {
            own.insert(
                "additionalContext".to_owned(),
                json!(truncate_to_limit(text, TEXT_LIMIT_UNITS)),
            );
        }
        self.add_kept_fields(spec, contract, &mut own);
        if !own.is_empty() {
            let mut output = Map::new();
            output.insert("hookEventName".to_owned(), json!(spec.name.as_str()));
            output.extend(own);
            top.insert("hookSpecificOutput".to_owned(), Value::Object(output));
        }
        (!top.is_empty()).then(|| Value::Object(top).to_string())
    }

    /// Adds the fields that were already right.
    fn add_kept_fields(&self, spec: &EventSpec, contract: Contract, own: &mut Map<String, Value>) {
        /// Fields that the intent supplies.
        const INTENT_FIELDS: [&str; 5] = [
            "permissionDecision",
            "permissionDecisionReason",
            "additionalContext",
            "updatedInput",
            "decision",
        ];
        let Some(output) = &self.output else { return };
        for field in spec.output_at(contract).into_iter().flatten() {
            let found = output.get(field.name).filter(|_| !INTENT_FIELDS.contains(&field.name));
            let Some(found) = found.filter(|found| is_accepted(found, field.ty, contract)) else {
                continue;
            };
            if let Some(value) = convert_value(found) {
                own.entry(field.name).or_insert(value);
            }
        }
    }

    /// Adds the decision; `None` if a decision is needed and cannot be made, or lacks its reason.
    fn add_decision(
        &self,
        spec: &EventSpec,
        contract: Contract,
        top: &mut Map<String, Value>,
        own: &mut Map<String, Value>,
    ) -> Option<()> {
        // The author meant `continue: false` to prevent the call, which it does not.
        let guards = spec.name == EventName::PreToolUse && self.stops && self.choice.is_none();
        let choice = if guards { Some(IntendedDecision::Deny) } else { self.choice };
        let reason = self.reason.clone().or_else(|| self.stop_reason.clone().filter(|_| guards));
        match (spec.decision.value, choice) {
            // Only a tool call can be deferred.
            (DecisionModel::PermissionDecision, Some(IntendedDecision::Defer))
                if spec.name != EventName::PreToolUse =>
            {
                return None;
            }
            (DecisionModel::PermissionDecision, Some(choice)) => {
                let word = match choice {
                    IntendedDecision::Allow => "allow",
                    IntendedDecision::Deny => "deny",
                    IntendedDecision::Ask => "ask",
                    IntendedDecision::Defer => "defer",
                };
                own.insert("permissionDecision".to_owned(), json!(word));
                if let Some(reason) = reason {
                    own.insert("permissionDecisionReason".to_owned(), json!(reason));
                }
            }
            (DecisionModel::DecisionBehavior, Some(IntendedDecision::Allow)) => {
                let mut decision = json!({ "behavior": "allow" });
                if let Some(input) = &self.input {
                    decision["updatedInput"] = input.clone();
                }
                let updates = self
                    .output
                    .as_ref()
                    .and_then(|output| output.get("decision")?.get("updatedPermissions"));
                let ty = FieldType::Unions(&PERMISSION_UPDATE);
                if let Some(updates) = updates
                    .filter(|updates| is_accepted(updates, ty, contract))
                    .and_then(convert_value)
                {
                    decision["updatedPermissions"] = updates;
                }
                own.insert("decision".to_owned(), decision);
                return Some(());
            }
            (DecisionModel::DecisionBehavior, Some(IntendedDecision::Deny)) => {
                let mut decision = json!({ "behavior": "deny" });
                if let Some(reason) = reason {
                    decision["message"] = json!(reason);
                }
                if self.interrupt {
                    decision["interrupt"] = json!(true);
                }
                own.insert("decision".to_owned(), decision);
            }
            // Without a decision no other answer is valid on this event.
            (DecisionModel::DecisionBehavior, _) => return None,
            (
                DecisionModel::TopLevelBlock | DecisionModel::ExitOrTopLevelBlock,
                Some(IntendedDecision::Deny),
            ) => {
                // A block without a reason does not help the agent; only the author can supply the reason.
                let reason = reason?;
                top.insert("decision".to_owned(), json!("block"));
                top.insert("reason".to_owned(), json!(reason));
            }
            _ => {}
        }
        if let Some(input) = self.input.as_ref().filter(|_| spec.name == EventName::PreToolUse) {
            own.insert("updatedInput".to_owned(), input.clone());
        }
        Some(())
    }
}

/// Returns true for `false`, with or without quotes.
fn is_false(node: &JsonNode) -> bool {
    match &node.kind {
        JsonKind::Bool(value) => !value,
        JsonKind::Text(text) => text.eq_ignore_ascii_case("false"),
        _ => false,
    }
}

/// Converts an object for serde; `None` if it is not an object or has values that only the client accepts.
fn convert_object(node: &JsonNode) -> Option<Value> {
    convert_value(node).filter(Value::is_object)
}

/// Converts a value for serde; `None` if it has values that only the client accepts.
fn convert_value(node: &JsonNode) -> Option<Value> {
    Some(match &node.kind {
        JsonKind::Null => Value::Null,
        JsonKind::Bool(value) => json!(value),
        JsonKind::Number(text) => Value::Number(serde_json::from_str(text).ok()?),
        JsonKind::Text(text) => json!(text),
        JsonKind::List(items) => {
            items.iter().map(convert_value).collect::<Option<Vec<_>>>()?.into()
        }
        JsonKind::Object(members) => {
            let members =
                members.iter().map(|(key, node)| Some((key.clone(), convert_value(node)?)));
            Value::Object(members.collect::<Option<Map<_, _>>>()?)
        }
    })
}
