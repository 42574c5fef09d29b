//! `rutter mcp` and `rutter call`: serves the memory as MCP tools to a client, or for one call.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use rutter_memory::session::Process;
use rutter_memory::{Clean, Id};
use rutter_server::{Desk, Door, Whose, halves, http, mcp, tools};
use serde_json::{Value, json};

use crate::Failure;
use crate::cli::server::{CallArgs, McpArgs};
use crate::environment::{self, Environment};
use crate::install::quoted;
use crate::ui::Ui;

pub(crate) fn serve(args: &McpArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    // Each process without a session gets its own owner: two such clients need not be the same one.
    let alone = || {
        let name = Clean::new(&format!("mcp:{}", Id::new(env.now)));
        Whose::Process(name, Process::of(std::process::id()))
    };
    if args.http_header {
        return print_header(args, env, ui);
    }
    if args.http {
        // HTTP clients do not belong to the session that started the server.
        return listen(args, desk(env, alone(), Door::Anybody)?, env, ui);
    }
    if ui.terminal {
        ui.remark("rutter mcp is started by the client, which speaks to it through pipes; `rutter call` is for people")?;
    }
    let whose = env.session().map_or_else(alone, Whose::Session);
    mcp::stdio(desk(env, whose, Door::Client)?).map_err(Failure::Io)
}

fn listen(args: &McpArgs, desk: Desk, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let token = if let Some(path) = &args.token_file {
        std::path::absolute(path)?
    } else {
        let files = env.files();
        files.make_folder().map_err(|error| {
            Failure::Refused(format!("cannot make {}: {error}", env.data.display()))
        })?;
        files.http_token()
    };
    if http::is_open_to_others(args.bind) {
        writeln!(
            ui.err,
            "warning: other machines can reach {}. Whoever has the token can read, change and delete the whole memory, and token and \
             answers cross the network unencrypted. Leave --bind out unless that is what you want.",
            args.bind
        )?;
    }
    let terms = http::Terms { address: SocketAddr::new(args.bind, args.port), token };
    let served = http::serve(desk, &terms, |address| {
        let url = format!("http://{}{}", reached(address), http::PATH);
        let entry = json!({ "type": "http", "url": url, "headersHelper": helper(&terms.token) });
        let entry = quoted(&entry.to_string());
        writeln!(
            ui.out,
            "listening on {url}; register it with: claude mcp add-json --scope user rutter {entry}"
        )?;
        ui.out.flush()
    });
    served.map_err(|error| match error {
        http::NotServed::Io(error) => Failure::Io(error),
        error => Failure::Refused(error.to_string()),
    })
}

/// Returns the command by which a client asks for the header. The token is not an argument, which every user of the
/// machine could read, and is not in the client's settings.
fn helper(token: &Path) -> String {
    format!(
        "{} mcp --http-header --token-file {}",
        environment::called(),
        quoted(&token.to_string_lossy())
    )
}

/// Prints the authorization header for a client.
fn print_header(args: &McpArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let token = match &args.token_file {
        Some(path) => std::path::absolute(path)?,
        None => env.files().http_token(),
    };
    let header = http::header(&token).map_err(|error| Failure::Refused(error.to_string()))?;
    writeln!(ui.out, "{header}")?;
    Ok(())
}

/// Returns the address by which a client on this machine reaches the server.
fn reached(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

pub(crate) fn call(args: &CallArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let arguments = if args.arguments == "-" {
        String::from_utf8_lossy(&ui.stdin()?).into_owned()
    } else {
        args.arguments.clone()
    };
    let mut arguments = arguments.into_bytes();
    halves::mend(&mut arguments);
    let arguments: Value = serde_json::from_slice(&arguments).map_err(|error| {
        Failure::Usage(format!(
            "what the tool takes is not JSON: {error}; for example '{{\"query\": \"cache\"}}'"
        ))
    })?;
    let whose = env.session().map_or(Whose::Standing, Whose::Session);
    let desk = desk(env, whose, Door::Typed)?;
    match tools::call(&desk, &args.tool, arguments, None) {
        Ok(answer) => ui.json(&answer.structured),
        Err(refusal) => Err(Failure::Refused(refusal.to_string())),
    }
}

fn desk(env: &Environment, otherwise: Whose, door: Door) -> Result<Desk, Failure> {
    Ok(Desk {
        data: env.data.clone(),
        config: env.config_file.clone().unwrap_or_default(),
        folder: env.folder()?.to_owned(),
        started_in: environment::client_folder(),
        otherwise,
        door,
        off: environment::is_off(),
        home: environment::home,
        now: environment::now,
        called: environment::called,
    })
}
