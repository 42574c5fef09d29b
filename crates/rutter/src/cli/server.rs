//! The commands by which an agent has the memory in its own hands.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

/// `rutter mcp`
#[derive(Debug, Args)]
pub struct McpArgs {
    /// Listen for clients on this machine instead, at http://ADDRESS:PORT/mcp, until Ctrl-C
    #[arg(long, group = "over_http")]
    pub http: bool,
    /// Print the header that lets a client in, as JSON, for the client's `headersHelper`
    #[arg(long, group = "over_http")]
    pub http_header: bool,
    /// The port; 0 lets the system choose one
    #[arg(long, value_name = "PORT", default_value_t = 7888, requires = "http")]
    pub port: u16,
    /// The address; any but a loopback one lets other machines in
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", requires = "http")]
    pub bind: IpAddr,
    /// The token that clients have to bring; made if it is not there [default: http-token, beside the memory]
    #[arg(long, value_name = "FILE", requires = "over_http")]
    pub token_file: Option<PathBuf>,
}

/// `rutter call`
#[derive(Debug, Args)]
pub struct CallArgs {
    /// The tool
    pub tool: String,
    /// What it takes, as JSON; `-` reads it from stdin
    #[arg(value_name = "JSON", default_value = "{}")]
    pub arguments: String,
}
