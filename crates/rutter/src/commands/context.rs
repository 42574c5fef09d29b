//! `rutter context`: prints the context that an agent would get, and why other rows were left out.

use rutter_hooks::AgentInterface;
use rutter_hooks::context::{Context, ContextCandidate, InjectionSource};
use rutter_hooks::recall_context::{Audience, ContextRequest, recall_context};
use rutter_hooks::session_context::{SessionContextRequest, session_context};
use rutter_hooks::strip_slash_command;
use rutter_memory::config::{Config, RecallScope};
use rutter_memory::project::LocatedProject;
use rutter_memory::quote::estimate_tokens;
use rutter_memory::store::GhapOwner;
use rutter_memory::{Id, Store};
use rutter_search::score::MIN_CONFIDENCE;
use serde::Serialize;

use super::pause::QuietReason;
use crate::CommandResult;
use crate::cli::Format;
use crate::cli::steer::ContextArgs;
use crate::environment::{self, Environment};
use crate::ui::{Ui, first_line};

/// The context in the JSON output.
#[derive(Serialize)]
struct ContextJson<'a> {
    markdown: &'a str,
    tokens: usize,
    items: Vec<ContextItemJson<'a>>,
    left_out: Vec<LeftOutJson<'a>>,
}

#[derive(Serialize)]
struct ContextItemJson<'a> {
    id: Id,
    kind: InjectionSource,
    /// None without a prompt, because a confidence is relative to one.
    confidence: Option<f64>,
    tokens: usize,
    text: &'a str,
}

#[derive(Serialize)]
struct LeftOutJson<'a> {
    id: Id,
    kind: InjectionSource,
    confidence: Option<f64>,
    reason: rutter_hooks::context::OmissionReason,
    text: &'a str,
}

pub(crate) fn run(args: &ContextArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    // Also finds rows that hooks could only write to the spool.
    store.try_drain_spool(env.now)?;
    let (owner, session, config) = (env.owner()?, env.session_id(), env.load_folder_config()?);
    let hook = &config.hooks.user_prompt_submit;
    // An explicit depth has its own limits; otherwise the hook's configuration applies.
    let (depth, limit, room) = match args.depth {
        Some(depth) => (depth, depth.limit(), depth.tokens()),
        None => (hook.context_depth, hook.limit as usize, hook.token_budget as usize),
    };
    let prompt =
        args.prompt.as_deref().map(strip_slash_command).filter(|prompt| !prompt.is_empty());
    let Some(text) = prompt else {
        let context = session_start_context(args, &store, &owner, &config, env)?;
        return print_context(args, &context, false, &config, env, ui);
    };
    let wanted = ContextRequest {
        text,
        place: &owner.place,
        everywhere: args.all || config.scope.recall == RecallScope::Everywhere,
        kinds: &args.types,
        depth,
        limit: args.limit.unwrap_or(limit),
        tokens: args.max_tokens.unwrap_or(room),
        audience: Audience::Prompt,
        to: session.as_ref().map(|session| (session.as_str(), None)),
    };
    let context = recall_context(store.indexed_reader()?, &wanted, env.now)?;
    print_context(args, &context, true, &config, env, ui)
}

/// Returns the context at the start of a new session.
fn session_start_context(
    args: &ContextArgs,
    store: &Store,
    owner: &GhapOwner,
    config: &Config,
    env: &Environment,
) -> CommandResult<Context> {
    let session = env.session_id();
    let branch = LocatedProject::find(env.working_dir()?).branch;
    let hands = AgentInterface::Cli(environment::agent_command());
    let own = store.active_ghap(owner)?;
    let wanted = SessionContextRequest {
        to: session.as_ref().map(|session| (session.as_str(), None)),
        own_ghap: own.as_ref(),
        everywhere: args.all || config.scope.recall == RecallScope::Everywhere,
        kinds: &args.types,
        branch: branch.as_deref(),
        ..SessionContextRequest::new(&owner.place, &hands, &config.hooks.session_start, args.depth)
    };
    let wanted = SessionContextRequest {
        limit: args.limit.unwrap_or(wanted.limit),
        tokens: args.max_tokens.unwrap_or(wanted.tokens),
        ..wanted
    };
    Ok(session_context(store.reader(), &wanted, env.now)?)
}

fn print_context(
    args: &ContextArgs,
    context: &Context,
    has_prompt: bool,
    config: &Config,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let session = env.session_id();
    let markdown = context.markdown();
    if args.format.chosen() == Format::Json {
        return print_json(context, &markdown, has_prompt, ui);
    }
    if markdown.is_empty() {
        let hint = if context.left_out.is_empty() || args.why {
            ""
        } else {
            "; add `--why` to see the rows that were considered"
        };
        ui.print_note(&format!("an agent would get no context{hint}"))?;
    } else {
        writeln!(ui.out, "{markdown}")?;
    }
    if args.why {
        print_considered(context, has_prompt, !markdown.is_empty(), ui)?;
    }
    if let Some(quiet) = QuietReason::current(env, session.as_ref())? {
        ui.print_note(&format!("agents get no context at the moment: {}", quiet.reason()))?;
    } else if has_prompt && !config.hooks.user_prompt_submit.enabled {
        ui.print_note(
            "agents get no context for a prompt: `hooks.user_prompt_submit` is disabled",
        )?;
    } else if !has_prompt && !config.hooks.session_start.enabled {
        ui.print_note(
            "agents get no context at the start of a session: `hooks.session_start` is disabled",
        )?;
    }
    Ok(())
}

fn print_json(
    context: &Context,
    markdown: &str,
    has_prompt: bool,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let confidence = |of: &ContextCandidate| has_prompt.then_some(of.confidence);
    let items = context.items.iter().map(|item| ContextItemJson {
        id: item.row,
        kind: item.kind,
        confidence: confidence(item),
        tokens: estimate_tokens(&item.text),
        text: &item.text,
    });
    let left_out = context.left_out.iter().map(|(left, reason)| LeftOutJson {
        id: left.row,
        kind: left.kind,
        confidence: confidence(left),
        reason: *reason,
        text: &left.text,
    });
    ui.print_json(&ContextJson {
        markdown,
        tokens: estimate_tokens(markdown),
        items: items.collect(),
        left_out: left_out.collect(),
    })
}

/// Prints every row that was considered.
fn print_considered(context: &Context, asked: bool, apart: bool, ui: &mut Ui<'_>) -> CommandResult {
    let row = |of: &ContextCandidate, became: &str| {
        // The rendered text of an early-refused candidate does not exist, so it has no cost.
        let cost =
            of.refused.map_or_else(|| estimate_tokens(&of.text).to_string(), |_| "-".to_owned());
        let likely = if asked { format!("{:.0} %", of.confidence * 100.0) } else { "-".to_owned() };
        [of.row.short(), of.kind.to_string(), likely, cost, became.to_owned(), first_line(&of.text)]
    };
    let shown = context.items.iter().map(|item| row(item, "shown"));
    let left = context.left_out.iter().map(|(left, reason)| row(left, reason.reason()));
    let rows: Vec<_> = shown.chain(left).collect();
    if rows.is_empty() {
        return Ok(());
    }
    if apart {
        writeln!(ui.out)?;
    }
    ui.print_table(["ID", "KIND", "LIKELY", "TOKENS", "RESULT", "TEXT"], rows)?;
    if asked {
        ui.print_note(&format!("rows below {:.0} % are left out", MIN_CONFIDENCE * 100.0))?;
    }
    Ok(())
}
