//! Everything that the rules look at.

use std::collections::HashMap;

use rutter_contract::version::Contract;
use rutter_contract::{EventName, table};

use super::file::{LintFile, LintMachine};
use super::readings::{CommandReading, ScriptReading, read_commands};
use super::tree::SourceNode;
use crate::matcher::{Matcher, MatcherReach};
use crate::settings::PluginFault;

/// Everything that a rule may look at.
#[derive(Debug)]
pub struct LintContext<'a> {
    /// The files, in the client's order, then the scripts that they start.
    pub files: Vec<LintFile>,
    /// The faults of plugins that are not those of one file.
    pub plugin_faults: Vec<PluginFault>,
    /// The commands of the handlers.
    pub commands: Vec<CommandReading>,
    /// The scripts that commands start.
    pub scripts: Vec<ScriptReading>,
    /// The contract of the client version.
    pub contract: Contract,
    /// The machine on which the hooks run.
    pub machine: &'a LintMachine,
    /// The matchers of the files, each read once.
    matchers: HashMap<(EventName, String), ReadMatcher>,
}

/// A matcher and the values that it can match.
#[derive(Debug)]
pub struct ReadMatcher {
    /// The matcher.
    pub matcher: Matcher,
    /// The values.
    pub reach: MatcherReach,
}

impl<'a> LintContext<'a> {
    /// Reads the commands of all handlers and the scripts that they start.
    pub fn new(
        mut files: Vec<LintFile>,
        plugin_faults: Vec<PluginFault>,
        contract: Contract,
        machine: &'a LintMachine,
    ) -> Self {
        let (commands, scripts) = read_commands(&mut files, machine);
        let mut matchers = HashMap::new();
        for group in files.iter().flat_map(LintFile::groups) {
            let Some(text) = group.node.get("matcher").and_then(SourceNode::text) else { continue };
            matchers
                .entry((group.event, text.to_owned()))
                .or_insert_with(|| ReadMatcher::new(text, group.event, contract));
        }
        Self { files, plugin_faults, commands, scripts, contract, machine, matchers }
    }

    /// Returns a matcher of the files.
    pub fn matcher(&self, event: EventName, text: &str) -> Option<&ReadMatcher> {
        self.matchers.get(&(event, text.to_owned()))
    }
}

impl ReadMatcher {
    fn new(text: &str, event: EventName, contract: Contract) -> Self {
        let matcher = Matcher::parse(Some(text), table::event_spec(event), contract);
        Self { reach: matcher.reach(), matcher }
    }
}
