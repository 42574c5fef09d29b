//! Findings about the settings for which the client does not start a server.

use rutter_check::settings::{BlockReason, ServerBlock};

use super::codes;
use super::finding::DoctorFinding;

/// Returns the finding about the setting for which the client does not start our server.
pub(super) fn block_finding(block: &ServerBlock) -> DoctorFinding {
    let (code, what, advice) = match block.reason {
        BlockReason::NotManaged => (
            &codes::SERVER_NOT_ADMITTED,
            "the organisation has its own list of servers, and Claude Code starts no others",
            None,
        ),
        BlockReason::PluginsOnly => (
            &codes::SERVER_NOT_ADMITTED,
            "`strictPluginOnlyCustomization`: Claude Code starts only the servers of plugins",
            None,
        ),
        BlockReason::Denied => (
            &codes::SERVER_NOT_ADMITTED,
            "`deniedMcpServers` lists rutter's server, so Claude Code does not start it",
            Some("remove it there"),
        ),
        BlockReason::NotAllowed => (
            &codes::SERVER_NOT_ADMITTED,
            "`allowedMcpServers` does not list rutter's server, so Claude Code does not start it",
            Some("add { \"serverName\": \"rutter\" } there"),
        ),
        BlockReason::Disabled => (
            &codes::SERVER_OFF,
            "the server is disabled for this folder, so the agent has none of its tools",
            None,
        ),
        BlockReason::Rejected => (
            &codes::SERVER_OFF,
            "`disabledMcpjsonServers` disables the server of this project",
            Some("remove `rutter` from disabledMcpjsonServers there"),
        ),
    };
    let finding = DoctorFinding::new(code, what).with_location(block.location.clone());
    // Users cannot change the organisation's lists.
    if block.is_managed && code == &codes::SERVER_NOT_ADMITTED {
        return finding.with_advice(codes::HOOKS_MANAGED_ONLY.advice);
    }
    match advice {
        Some(advice) => finding.with_advice(advice),
        None => finding,
    }
}
