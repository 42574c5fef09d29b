//! Corrections: the intent of a mistaken answer in the form that the client honours.
//!
//! The intent is read from every form in the catalogue and rendered in the form of the event. Parts that the
//! event cannot express are left out; an empty correction is not offered.

use serde_json::{Map, Value, json};

use super::answer::Reading;
use super::apply::missing_script;
use super::diagnose::{embedded_object, first_object};
use super::validate::fits;
use super::{Corrected, HookRun, Severity, Verdict};
use crate::javascript::{self, Kind, Node};
use crate::name::EventName;
use crate::output::fit;
use crate::spec::{DecisionModel, EventSpec, FieldType, Honoured};
use crate::table::TEXT_LIMIT_UNITS;
use crate::table::shapes::PERMISSION_UPDATE;
use crate::version::Contract;

pub(super) fn correct(
    run: &HookRun<'_>,
    spec: &EventSpec,
    reading: &Reading<'_>,
    contract: Contract,
    verdict: &Verdict,
) -> Option<Corrected> {
    if verdict.severity().is_none_or(|severity| severity < Severity::Warning) {
        return None;
    }
    if spec.name == EventName::WorktreeCreate {
        // For a command hook the only right answer is the path, never JSON.
        let output = reading.valid().and_then(|node| node.get("hookSpecificOutput"));
        let path = output.and_then(|output| output.get("worktreePath")?.text());
        return path.map(|path| Corrected { stdout: path.to_owned(), exit: 0 });
    }
    let mut intent = Intent::default();
    match reading {
        Reading::Silent => {}
        Reading::Plain(text) => match salvaged(text) {
            Some(node) => intent.read(&node),
            // A truncated object cannot be completed, and it is not a text for a reader.
            None if text.starts_with('{') => return None,
            // On Stop a text keeps the agent going, which a hook that only printed something did not ask for.
            None if matches!(spec.name, EventName::Stop | EventName::SubagentStop) => return None,
            None if text.contains(|c: char| c.is_control() && !c.is_whitespace()) => return None,
            None => intent.context = Some((*text).to_owned()),
        },
        Reading::Broken(_) => intent.read(&salvaged(javascript::trim(run.stdout))?),
        Reading::Void(node, _) | Reading::Foreign(node, _) | Reading::Valid(node) => {
            intent.read(node);
        }
        Reading::Async { .. } => return None,
    }
    if missing_script(run) {
        return None;
    }
    intent.exit(run, reading);
    // Ending the turn and allowing the call contradict each other.
    let torn =
        spec.name == EventName::PreToolUse && intent.stops && intent.choice == Some(Choice::Allow);
    if intent.lost || torn {
        return None;
    }
    if run.exit == 2 && intent.reason.is_none() {
        // Only the author can supply the reason.
        return None;
    }
    let stdout = intent.said_on(spec, contract)?;
    let same = stdout == javascript::trim(run.stdout) && run.exit == 0;
    (!same).then_some(Corrected { stdout, exit: 0 })
}

/// Extracts an object from a text with other content around it.
fn salvaged(text: &str) -> Option<Node> {
    if text.starts_with('{') {
        let end = first_object(text)?;
        return javascript::parse(&text[..end]).ok();
    }
    let (_, object) = embedded_object(text)?;
    javascript::parse(javascript::trim(object)).ok()
}

/// The intended effect of an answer.
#[derive(Debug, Default)]
struct Intent {
    choice: Option<Choice>,
    reason: Option<String>,
    context: Option<String>,
    message: Option<String>,
    stops: bool,
    stop_reason: Option<String>,
    input: Option<Value>,
    interrupt: bool,
    /// The `hookSpecificOutput`, for the fields that need no correction.
    output: Option<Node>,
    /// True if a part cannot be rendered; a correction without it would have another effect.
    lost: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Allow,
    Deny,
    Ask,
    Defer,
}

impl Choice {
    fn named(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "allow" | "approve" | "continue" | "accept" | "true" => Some(Self::Allow),
            "deny" | "block" | "reject" | "stop" | "false" => Some(Self::Deny),
            "ask" => Some(Self::Ask),
            "defer" => Some(Self::Defer),
            _ => None,
        }
    }
}

impl Intent {
    fn read(&mut self, node: &Node) {
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
                choices.extend(place.get(key).and_then(Node::text).and_then(Choice::named));
            }
            let decision = place.get("decision");
            choices.extend(
                decision.and_then(|node| node.get("behavior")?.text()).and_then(Choice::named),
            );
            if let Some(decision) = decision.filter(|node| !node.members().is_empty()) {
                let text = decision.get("message").and_then(Node::text);
                self.reason = self.reason.take().or(text.map(str::to_owned));
                self.interrupt = matches!(
                    decision.get("interrupt").map(|node| &node.kind),
                    Some(Kind::Bool(true))
                );
                self.input =
                    self.input.take().or_else(|| decision.get("updatedInput").and_then(value));
            }
            self.input = self.input.take().or_else(|| place.get("updatedInput").and_then(value));
            let inputs =
                [place.get("updatedInput"), decision.and_then(|node| node.get("updatedInput"))];
            self.lost |= self.input.is_none() && inputs.into_iter().flatten().next().is_some();
        }
        self.output = output.cloned();
        choices.extend(
            node.get("ok").map(|ok| if is_false(ok) { Choice::Deny } else { Choice::Allow }),
        );
        let order = [Choice::Deny, Choice::Defer, Choice::Ask, Choice::Allow];
        self.choice = order.into_iter().find(|choice| choices.contains(choice));
    }

    /// Reads the intent of an exit code. Exit 1 counts as a refusal only with empty stdout and a message on
    /// stderr; the other codes never do, because the shell itself may have failed.
    fn exit(&mut self, run: &HookRun<'_>, reading: &Reading<'_>) {
        let stderr = javascript::trim(run.stderr);
        let refuses = run.exit == 2
            || (run.exit == 1 && matches!(reading, Reading::Silent) && !stderr.is_empty());
        if !refuses {
            return;
        }
        if self.choice != Some(Choice::Deny) {
            self.choice = Some(Choice::Deny);
            self.reason = None;
        }
        if self.reason.is_none() && !stderr.is_empty() {
            self.reason = Some(stderr.to_owned());
        }
    }

    /// Renders the intent in the form of an event; `None` if the event can express no part of it.
    fn said_on(&self, spec: &EventSpec, contract: Contract) -> Option<String> {
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
            top.insert("systemMessage".to_owned(), json!(fit(text, TEXT_LIMIT_UNITS)));
        }
        self.decide(spec, contract, &mut top, &mut own)?;
        if let Some(text) = self.context.as_ref().filter(|_| takes("additionalContext")) {
            own.insert("additionalContext".to_owned(), json!(fit(text, TEXT_LIMIT_UNITS)));
        }
        self.keep(spec, contract, &mut own);
        if !own.is_empty() {
            let mut output = Map::new();
            output.insert("hookEventName".to_owned(), json!(spec.name.as_str()));
            output.extend(own);
            top.insert("hookSpecificOutput".to_owned(), Value::Object(output));
        }
        (!top.is_empty()).then(|| Value::Object(top).to_string())
    }

    /// Adds the fields that were already right.
    fn keep(&self, spec: &EventSpec, contract: Contract, own: &mut Map<String, Value>) {
        /// Fields that the intent supplies.
        const INTENT: [&str; 5] = [
            "permissionDecision",
            "permissionDecisionReason",
            "additionalContext",
            "updatedInput",
            "decision",
        ];
        let Some(output) = &self.output else { return };
        for field in spec.output_at(contract).into_iter().flatten() {
            let found = output.get(field.name).filter(|_| !INTENT.contains(&field.name));
            let Some(found) = found.filter(|found| fits(found, field.ty, contract)) else {
                continue;
            };
            if let Some(value) = convert(found) {
                own.entry(field.name).or_insert(value);
            }
        }
    }

    /// Adds the decision; `None` if a decision is needed and cannot be made, or lacks its reason.
    fn decide(
        &self,
        spec: &EventSpec,
        contract: Contract,
        top: &mut Map<String, Value>,
        own: &mut Map<String, Value>,
    ) -> Option<()> {
        // The author meant `continue: false` to prevent the call, which it does not.
        let guards = spec.name == EventName::PreToolUse && self.stops && self.choice.is_none();
        let choice = if guards { Some(Choice::Deny) } else { self.choice };
        let reason = self.reason.clone().or_else(|| self.stop_reason.clone().filter(|_| guards));
        match (spec.decision.value, choice) {
            // Only a tool call can be deferred.
            (DecisionModel::PermissionDecision, Some(Choice::Defer))
                if spec.name != EventName::PreToolUse =>
            {
                return None;
            }
            (DecisionModel::PermissionDecision, Some(choice)) => {
                let word = match choice {
                    Choice::Allow => "allow",
                    Choice::Deny => "deny",
                    Choice::Ask => "ask",
                    Choice::Defer => "defer",
                };
                own.insert("permissionDecision".to_owned(), json!(word));
                if let Some(reason) = reason {
                    own.insert("permissionDecisionReason".to_owned(), json!(reason));
                }
            }
            (DecisionModel::DecisionBehavior, Some(Choice::Allow)) => {
                let mut decision = json!({ "behavior": "allow" });
                if let Some(input) = &self.input {
                    decision["updatedInput"] = input.clone();
                }
                let updates = self
                    .output
                    .as_ref()
                    .and_then(|output| output.get("decision")?.get("updatedPermissions"));
                let ty = FieldType::Unions(&PERMISSION_UPDATE);
                if let Some(updates) =
                    updates.filter(|updates| fits(updates, ty, contract)).and_then(convert)
                {
                    decision["updatedPermissions"] = updates;
                }
                own.insert("decision".to_owned(), decision);
                return Some(());
            }
            (DecisionModel::DecisionBehavior, Some(Choice::Deny)) => {
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
                Some(Choice::Deny),
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
fn is_false(node: &Node) -> bool {
    match &node.kind {
        Kind::Bool(value) => !value,
        Kind::Text(text) => text.eq_ignore_ascii_case("false"),
        _ => false,
    }
}

/// Converts an object for serde; `None` if it is not an object or has values that only the client accepts.
fn value(node: &Node) -> Option<Value> {
    convert(node).filter(Value::is_object)
}

/// Converts a value for serde; `None` if it has values that only the client accepts.
fn convert(node: &Node) -> Option<Value> {
    Some(match &node.kind {
        Kind::Null => Value::Null,
        Kind::Bool(value) => json!(value),
        Kind::Number(text) => Value::Number(serde_json::from_str(text).ok()?),
        Kind::Text(text) => json!(text),
        Kind::List(items) => items.iter().map(convert).collect::<Option<Vec<_>>>()?.into(),
        Kind::Object(members) => {
            let members = members.iter().map(|(key, node)| Some((key.clone(), convert(node)?)));
            Value::Object(members.collect::<Option<Map<_, _>>>()?)
        }
    })
}
