//! `rutter mcp` and `rutter call`: the memory as tools, for a client or for one call.

use rutter_memory::Id;
use rutter_server::{Desk, Whose, mcp, tools};
use serde_json::Value;

use crate::Failure;
use crate::cli::server::{CallArgs, McpArgs};
use crate::environment::{self, Environment};
use crate::ui::Ui;

pub(crate) fn serve(_: &McpArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    if ui.terminal {
        ui.remark("rutter mcp is started by the client, which speaks to it through pipes; `rutter call` is for people")?;
    }
    // Nobody says that two clients without a session are the same one.
    let alone = || Whose::Process(rutter_memory::Clean::new(&format!("mcp:{}", Id::new(env.now))));
    let whose = env.session().map_or_else(alone, Whose::Session);
    mcp::stdio(desk(env, whose)?).map_err(Failure::Io)
}

pub(crate) fn call(args: &CallArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let arguments = if args.arguments == "-" {
        String::from_utf8_lossy(&ui.stdin()?).into_owned()
    } else {
        args.arguments.clone()
    };
    let arguments: Value = serde_json::from_str(&arguments).map_err(|error| {
        Failure::Usage(format!(
            "what the tool takes is not JSON: {error}; for example '{{\"query\": \"cache\"}}'"
        ))
    })?;
    let desk = desk(env, env.session().map_or(Whose::Standing, Whose::Session))?;
    match tools::call(&desk, &args.tool, arguments, None) {
        Ok(answer) => ui.json(&answer.structured),
        Err(refusal) => Err(Failure::Refused(refusal.to_string())),
    }
}

fn desk(env: &Environment, otherwise: Whose) -> Result<Desk, Failure> {
    Ok(Desk {
        data: env.data.clone(),
        config: env.config_file.clone().unwrap_or_default(),
        folder: env.folder()?.to_owned(),
        started_in: environment::client_folder(),
        otherwise,
        now: environment::now,
        called: environment::called,
    })
}
