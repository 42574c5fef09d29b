//! The tool `assemble_context`: all rows that are relevant to a task.

use rutter_hooks::context::{Context, Depth, InjectionSource};
use rutter_hooks::recall_context::{Audience, ContextRequest, recall_context};
use rutter_hooks::session_context::{SessionContextRequest, session_context};
use rutter_memory::config::Config;
use rutter_memory::project::LocatedProject;
use rutter_memory::quote::estimate_tokens;
use rutter_memory::store::GhapOwner;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ToolInvocation, ToolRefusal, TypedAnswer};
use crate::schema;

/// `assemble_context`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AssembleContextInput {
    #[schemars(length(max = 10000))]
    #[serde(default)]
    query: Option<String>,
    #[schemars(schema_with = "schema::kinds")]
    #[serde(default)]
    context_types: Vec<InjectionSource>,
    #[schemars(range(min = 1, max = 50))]
    #[serde(default)]
    limit: Option<usize>,
    #[schemars(range(min = 100, max = 10000))]
    #[serde(default)]
    max_tokens: Option<usize>,
    #[schemars(schema_with = "schema::depth")]
    #[serde(default)]
    depth: Option<Depth>,
}

/// The answer of `assemble_context`.
#[derive(Serialize, JsonSchema)]
pub(super) struct AssembleContextAnswer {
    markdown: String,
    token_count: usize,
    item_count: usize,
    /// True if relevant rows were left out for lack of room.
    truncated: bool,
    sources_used: Vec<String>,
}

pub(super) fn assemble_context(
    ask: &AssembleContextInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<AssembleContextAnswer>, ToolRefusal> {
    let now = call.now();
    let owner = call.owner()?;
    call.store.try_drain_spool(now)?;
    let config = call.desk.checkout_config(&owner.place.root);
    let hook = &config.hooks.user_prompt_submit;
    let (depth, limit, room) = match ask.depth {
        Some(depth) => (depth, depth.limit(), depth.tokens()),
        None => (hook.context_depth, hook.limit as usize, hook.token_budget as usize),
    };
    let query = ask.query.as_deref().unwrap_or_default().trim();
    if query.is_empty() {
        let context = session_start_context(ask, &owner, &config, call)?;
        return Ok(context_answer(&context));
    }
    let wanted = ContextRequest {
        text: query,
        place: &owner.place,
        everywhere: false,
        kinds: &ask.context_types,
        depth,
        limit: ask.limit.unwrap_or(limit),
        tokens: ask.max_tokens.unwrap_or(room),
        audience: Audience::Asker,
        // No session: rows that the agent has already seen are returned again.
        to: None,
    };
    Ok(context_answer(&recall_context(call.store.indexed_reader()?, &wanted, now)?))
}

/// Returns the context at the start of a new session.
fn session_start_context(
    ask: &AssembleContextInput,
    owner: &GhapOwner,
    config: &Config,
    call: &ToolInvocation<'_>,
) -> Result<Context, ToolRefusal> {
    let branch = LocatedProject::find(std::path::Path::new(owner.place.root.as_str())).branch;
    let hands = call.desk.agent_interface();
    let own = call.store.active_ghap(owner)?;
    let wanted = SessionContextRequest {
        own_ghap: own.as_ref(),
        everywhere: false,
        kinds: &ask.context_types,
        branch: branch.as_deref(),
        ..SessionContextRequest::new(&owner.place, &hands, &config.hooks.session_start, ask.depth)
    };
    let wanted = SessionContextRequest {
        limit: ask.limit.unwrap_or(wanted.limit),
        tokens: ask.max_tokens.unwrap_or(wanted.tokens),
        ..wanted
    };
    Ok(session_context(call.store.reader(), &wanted, call.now())?)
}

fn context_answer(context: &Context) -> TypedAnswer<AssembleContextAnswer> {
    let markdown = context.markdown();
    let mut sources_used: Vec<String> =
        context.items.iter().map(|item| item.kind.to_string()).collect();
    sources_used.sort();
    sources_used.dedup();
    let truncated = context.left_out.iter().any(|(_, why)| {
        use rutter_hooks::context::OmissionReason;
        matches!(why, OmissionReason::Limit | OmissionReason::NoRoom)
    });
    let text = if markdown.is_empty() {
        "Nothing stored is relevant to this.".to_owned()
    } else {
        markdown.clone()
    };
    TypedAnswer {
        value: AssembleContextAnswer {
            token_count: estimate_tokens(&markdown),
            item_count: context.items.len(),
            truncated,
            sources_used,
            markdown,
        },
        text,
    }
}
