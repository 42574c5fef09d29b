//! Arguments of `rutter mcp` and `rutter call`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

/// `rutter mcp`
#[derive(Debug, Args)]
pub struct McpArgs {
    /// Listen at http://ADDRESS:PORT/mcp until Ctrl-C, instead of using stdin and stdout
    #[arg(long, group = "over_http")]
    pub http: bool,
    /// Print the authorization header as JSON, for the client's `headersHelper`
    #[arg(long, group = "over_http")]
    pub http_header: bool,
    /// The port; with 0 the system chooses one
    #[arg(long, value_name = "PORT", default_value_t = 7888, requires = "http")]
    pub port: u16,
    /// The address; an address other than loopback lets other machines connect
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", requires = "http")]
    pub bind: IpAddr,
    /// The file with the token that clients must send; created if missing [default: http-token, next to the memory]
    #[arg(long, value_name = "FILE", requires = "over_http")]
    pub token_file: Option<PathBuf>,
}

/// `rutter call`
#[derive(Debug, Args)]
pub struct CallArgs {
    /// The name of the tool
    pub tool: String,
    /// The arguments of the tool, as JSON; `-` reads them from stdin
    #[arg(value_name = "JSON", default_value = "{}")]
    pub arguments: String,
}
