//! Findings about the settings for which the client does not start a server.

use rutter_check::settings::{BlockReason, ServerBlock};

use super::codes;
use super::finding::DoctorFinding;

/// Returns the finding about the setting for which the client does not start our server.
pub(super) fn block_finding(block: &ServerBlock) -> DoctorFinding {
    let (code, what, advice) = match block.reason {
        BlockReason::NotManaged => (
            &codes::SERVER_NOT_ADMITTED,
            "the organisation has its own list of servers, and no others are started",
            None,
        ),
        BlockReason::PluginsOnly => (
            &codes::SERVER_NOT_ADMITTED,
            "`strictPluginOnlyCustomization`: only servers of plugins are started",
            None,
        ),
        BlockReason::Denied => (
            &codes::SERVER_NOT_ADMITTED,
            "`deniedMcpServers` has rutter's server, so the client leaves it out",
            Some("take it out there"),
        ),
        BlockReason::NotAllowed => (
            &codes::SERVER_NOT_ADMITTED,
            "`allowedMcpServers` does not have rutter's server, so the client leaves it out",
            Some("add { \"serverName\": \"rutter\" } there"),
        ),
        BlockReason::Disabled => (
            &codes::SERVER_OFF,
            "the server is switched off for this folder, so the agent has none of its tools",
            None,
        ),
        BlockReason::Rejected => (
            &codes::SERVER_OFF,
            "somebody has said no to the server of this project: `disabledMcpjsonServers`",
            Some("take `rutter` out of disabledMcpjsonServers there"),
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
