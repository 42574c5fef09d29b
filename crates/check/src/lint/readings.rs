//! The commands of handlers and the scripts that they start, read once for all rules.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rutter_contract::EventName;

use super::file::{HandlerNode, HandlerPlace, LintFile, LintMachine, is_executable};
use super::tree::SourceNode;
use crate::script::{
    CommandContext, CommandReport, HookCommand, HookFile, ScriptContext, ScriptLanguage,
    ScriptReport, StartedScript, read_command, read_script,
};
use crate::settings::{FileReadError, LayerState, read_regular_file};

/// Largest script that is read. Longer ones are bundles.
const MAX_SCRIPT_BYTES: u64 = 256 * 1024;

/// The command of a handler, read.
#[derive(Debug)]
pub struct CommandReading {
    /// Index of the file that has the handler.
    pub file: usize,
    /// Place of the handler in the file.
    pub place: HandlerPlace,
    /// The result.
    pub report: CommandReport,
    /// Indices of the scripts that it starts, in [`super::LintContext::scripts`].
    pub scripts: Vec<usize>,
}

/// A script that handlers start, read.
#[derive(Debug)]
pub struct ScriptReading {
    /// Index of the script among the files of the context.
    pub file: usize,
    /// The events on which it runs.
    pub events: Vec<EventName>,
    /// The language.
    pub language: ScriptLanguage,
    /// The result.
    pub report: ScriptReport,
}

/// A script and its registrations, before it is read.
struct FoundScript {
    path: PathBuf,
    text: String,
    language: ScriptLanguage,
    events: Vec<EventName>,
    /// The tools that the matchers name. None if one of them may match another tool.
    tools: Option<Vec<String>>,
    plugin: Option<PathBuf>,
    file: usize,
}

/// Reads the commands of all handlers and the scripts that they start. Adds the scripts to the files.
pub(super) fn read_commands(
    files: &mut Vec<LintFile>,
    machine: &LintMachine,
) -> (Vec<CommandReading>, Vec<ScriptReading>) {
    let mut commands = Vec::new();
    let mut found: Vec<FoundScript> = Vec::new();
    let variables = env_variables(files);
    let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
    for (index, file) in files.iter().enumerate() {
        for (place, handler) in file.placed_handlers() {
            if !handler.is_type("command") {
                continue;
            }
            let report = read_handler(handler, file, machine, &variables);
            let scripts = (report.scripts.iter())
                .filter_map(|script| add_script(script, handler, file, index, &mut found))
                .collect();
            commands.push(CommandReading { file: index, place, report, scripts });
        }
    }
    let mut scripts = Vec::new();
    for script in found {
        let tools = script.tools.unwrap_or_default();
        let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
        let context =
            ScriptContext { events: &script.events, tools: &tools, variables: &variables };
        let report = read_script(&script.text, script.language, &context);
        scripts.push(ScriptReading {
            file: files.len(),
            events: script.events,
            language: script.language,
            report,
        });
        files.push(LintFile {
            path: script.path,
            whose: files[script.file].whose,
            plugin: script.plugin,
            project: None,
            state: LayerState::Read,
            text: script.text,
            root: None,
            faults: Vec::new(),
            is_script: true,
            lines: OnceLock::new(),
        });
    }
    (commands, scripts)
}

/// Adds a script, or a registration of a known one. Returns its index.
fn add_script(
    script: &StartedScript,
    handler: HandlerNode<'_>,
    file: &LintFile,
    index: usize,
    found: &mut Vec<FoundScript>,
) -> Option<usize> {
    let tools = named_tools(handler);
    if let Some(at) = found.iter().position(|known| known.path == script.path) {
        let known = &mut found[at];
        if !known.events.contains(&handler.event) {
            known.events.push(handler.event);
        }
        known.tools = known.tools.take().zip(tools).map(|(known, more)| [known, more].concat());
        return Some(at);
    }
    found.push(FoundScript {
        path: script.path.clone(),
        text: script.text.clone(),
        language: script.language?,
        events: vec![handler.event],
        tools,
        plugin: file.plugin.clone(),
        file: index,
    });
    Some(found.len() - 1)
}

/// Returns the tools that a matcher names exactly. None if it may match another tool.
fn named_tools(handler: HandlerNode<'_>) -> Option<Vec<String>> {
    let matcher = handler.matcher()?;
    let names: Vec<String> = matcher.split(['|', ',']).map(|name| name.trim().to_owned()).collect();
    let is_name =
        |name: &String| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric());
    names.iter().all(is_name).then_some(names)
}

/// Returns the names of the variables that settings set.
fn env_variables(files: &[LintFile]) -> Vec<String> {
    let env = files.iter().filter_map(|file| file.get("env"));
    env.flat_map(SourceNode::members).map(|member| member.key.clone()).collect()
}

fn read_handler(
    handler: HandlerNode<'_>,
    file: &LintFile,
    machine: &LintMachine,
    variables: &[&str],
) -> CommandReport {
    let Some(command) = handler.text("command") else { return CommandReport::default() };
    let args: Option<Vec<String>> = handler
        .node
        .get("args")
        .map(|args| args.items().iter().filter_map(SourceNode::text).map(str::to_owned).collect());
    let unknown = Path::new("/");
    let has_folder = file.project.is_some();
    let tools = named_tools(handler).unwrap_or_default();
    let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
    let event = [handler.event];
    read_command(
        &HookCommand { command, args: args.as_deref(), shell: handler.text("shell") },
        &CommandContext {
            project: file.project.as_deref().unwrap_or(unknown),
            plugin_root: file.plugin.as_deref(),
            home: machine.home.as_deref(),
            has_program: &|name| machine.search.is_empty() || machine.find_program(name).is_some(),
            read_file: &|path| {
                if has_folder { read_hook_file(path) } else { HookFile::Unknown }
            },
            registration: ScriptContext { events: &event, tools: &tools, variables },
        },
    )
}

/// Reads a file that a command may start.
fn read_hook_file(path: &Path) -> HookFile {
    match read_regular_file(path, MAX_SCRIPT_BYTES) {
        Ok(bytes) => HookFile::File {
            is_executable: is_executable(path),
            text: String::from_utf8(bytes).ok(),
        },
        Err(FileReadError::Absent) => HookFile::Missing,
        Err(FileReadError::NotRegular) if path.is_dir() => HookFile::Folder,
        Err(FileReadError::TooLarge) => {
            HookFile::File { is_executable: is_executable(path), text: None }
        }
        Err(_) => HookFile::Unknown,
    }
}

impl CommandReading {
    /// Returns the handler.
    pub fn node<'a>(&self, files: &'a [LintFile]) -> Option<HandlerNode<'a>> {
        files.get(self.file)?.handler_at(self.place)
    }

    /// Returns the range in the file of a range in the command or in an argument. The whole value counts if it has escapes.
    pub fn range_in_file(
        &self,
        files: &[LintFile],
        argument: Option<usize>,
        range: &Range<usize>,
    ) -> Range<usize> {
        let value = self.node(files).and_then(|handler| match argument {
            None => handler.node.get("command"),
            Some(argument) => handler.node.get("args")?.items().get(argument),
        });
        let Some(value) = value else { return 0..0 };
        let raw = files[self.file].text.get(value.range.clone()).unwrap_or_default();
        let inner = raw.strip_prefix(['"', '\'']).map_or((0, raw), |inner| (1, inner));
        let is_plain = value.text().is_some_and(|text| inner.1.starts_with(text));
        if is_plain && !range.is_empty() {
            let start = value.range.start + inner.0;
            start + range.start..(start + range.end).min(value.range.end)
        } else {
            value.range.clone()
        }
    }
}
