//! `rutter mcp` and `rutter call`: serves the memory as MCP tools to a client, or for one call.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use rutter_memory::quote::PathLine as _;
use rutter_memory::session::SessionProcess;
use rutter_memory::{Clean, Id};
use rutter_server::{CallChannel, CallerIdentity, ServerContext, http, mcp, tools};
use serde_json::{Value, json};

use crate::cli::server::{CallArgs, McpArgs};
use crate::environment::{self, Environment};
use crate::install::quote_shell_word;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

pub(crate) fn serve(args: &McpArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    // Each process without a session gets its own owner: two such clients need not be the same one.
    let alone = || {
        let name = Clean::new(&format!("mcp:{}", Id::new(env.now)));
        CallerIdentity::Process(name, SessionProcess::from_pid(std::process::id()))
    };
    if args.http_header {
        return print_header(args, env, ui);
    }
    if args.http {
        // HTTP clients do not belong to the session that started the server.
        return serve_http(args, server_context(env, alone(), CallChannel::AnyClient)?, env, ui);
    }
    if ui.terminal {
        ui.print_note(
            "Claude Code starts `rutter mcp` and talks to it through pipes; on a \
                       terminal use `rutter call`",
        )?;
    }
    let whose = env.session_id().map_or_else(alone, CallerIdentity::Session);
    let context = server_context(env, whose, CallChannel::Client)?.with_start_place();
    mcp::serve_stdio(context).map_err(CommandError::Io)
}

fn serve_http(
    args: &McpArgs,
    context: ServerContext,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let token = if let Some(path) = &args.token_file {
        std::path::absolute(path)?
    } else {
        let files = env.data_dir();
        files.make_folder().map_err(|error| {
            CommandError::Refused(format!("cannot make {}: {error}", env.data.to_line()))
        })?;
        files.http_token()
    };
    if http::is_open_to_others(args.bind) {
        writeln!(
            ui.err,
            "warning: other machines can reach {}. Anyone with the token can read, change and \
             delete the whole memory, and the connection is not encrypted. Omit --bind to \
             accept only this machine.",
            args.bind
        )?;
    }
    let options = http::HttpOptions { address: SocketAddr::new(args.bind, args.port), token };
    let served = http::serve(context, &options, |address| {
        let url = format!("http://{}{}", client_address(address), http::PATH);
        let entry =
            json!({ "type": "http", "url": url, "headersHelper": header_command(&options.token) });
        let entry = quote_shell_word(&entry.to_string());
        writeln!(
            ui.out,
            "listening on {url}; register it with: claude mcp add-json --scope user rutter {entry}"
        )?;
        ui.out.flush()
    });
    served.map_err(|error| match error {
        http::HttpServeError::Io(error) => CommandError::Io(error),
        error => CommandError::Refused(error.to_string()),
    })
}

/// Returns the command by which a client asks for the header. The token is not an argument, which every user of the
/// machine could read, and is not in the client's settings.
fn header_command(token: &Path) -> String {
    format!(
        "{} mcp --http-header --token-file {}",
        environment::agent_command(),
        quote_shell_word(&token.to_string_lossy())
    )
}

/// Prints the authorization header for a client.
fn print_header(args: &McpArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let token = match &args.token_file {
        Some(path) => std::path::absolute(path)?,
        None => env.data_dir().http_token(),
    };
    let header = http::authorization_header(&token)
        .map_err(|error| CommandError::Refused(error.to_string()))?;
    writeln!(ui.out, "{header}")?;
    Ok(())
}

/// Returns the address by which a client on this machine reaches the server.
fn client_address(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

pub(crate) fn call_tool(args: &CallArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let arguments = if args.arguments == "-" {
        String::from_utf8_lossy(&ui.read_stdin()?).into_owned()
    } else {
        args.arguments.clone()
    };
    let mut arguments = arguments.into_bytes();
    rutter_contract::replace_lone_surrogates(&mut arguments);
    let arguments: Value = serde_json::from_slice(&arguments).map_err(|error| {
        CommandError::Usage(format!(
            "the arguments are not JSON: {error}; for example '{{\"query\": \"cache\"}}'"
        ))
    })?;
    let whose = env.session_id().map_or(CallerIdentity::Standing, CallerIdentity::Session);
    let context = server_context(env, whose, CallChannel::CommandLine)?;
    match tools::call_tool(&context, &args.tool, arguments, None) {
        Ok(answer) => ui.print_json(&answer.structured),
        Err(refusal) => Err(CommandError::Refused(refusal.to_string())),
    }
}

fn server_context(
    env: &Environment,
    otherwise: CallerIdentity,
    door: CallChannel,
) -> CommandResult<ServerContext> {
    Ok(ServerContext {
        data: env.data.clone(),
        config: env.config_file.clone().unwrap_or_default(),
        folder: env.working_dir()?.to_owned(),
        started_in: environment::client_start_dir(),
        start_place: None,
        default_caller: otherwise,
        channel: door,
        off: environment::is_rutter_off(),
        home: environment::home_dir,
        now: environment::current_time,
        called: environment::agent_command,
    })
}
