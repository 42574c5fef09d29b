//! The commands by which an agent has the memory in its own hands.

use clap::Args;

/// `rutter mcp`
#[derive(Debug, Args)]
pub struct McpArgs {}

/// `rutter call`
#[derive(Debug, Args)]
pub struct CallArgs {
    /// The tool
    pub tool: String,
    /// What it takes, as JSON; `-` reads it from stdin
    #[arg(value_name = "JSON", default_value = "{}")]
    pub arguments: String,
}
