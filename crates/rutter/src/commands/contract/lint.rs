//! `rutter contract lint`: finds mistakes in the configuration of hooks that the client does not report.

use std::path::{Path, PathBuf};

use rutter_check::lint::{LintContext, LintFile, LintFinding, LintRule, Severity, run_rules};
use rutter_contract::version::{Contract, Version};

use crate::cli::lint::{LintArgs, LintFormat};
use crate::doctor::ClientEnvironment;
use crate::environment::{self, Environment};
use crate::ui::{Ui, format_count};
use crate::{CommandError, CommandResult};

mod files;
mod fix;
mod formats;
mod frames;

/// The path that stands for stdin.
const STDIN_PATH: &str = "-";

/// The files of a run, and the findings in them.
pub(super) struct LintRun<'a> {
    /// A part for each project, because hooks of different projects never run together.
    parts: Vec<LintPart<'a>>,
    contract: Contract,
    /// True if `--fix` writes files of plugins. The next update of an installed plugin would replace them.
    writes_plugins: bool,
}

/// The files that a client reads together, and the findings in them.
pub(super) struct LintPart<'a> {
    context: LintContext<'a>,
    findings: Vec<LintFinding>,
}

pub(crate) fn run(args: &LintArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let places = ClientEnvironment::from_env(env)?;
    let contract = match args.client.client {
        Some(version) => Contract::for_client(version),
        None => find_client_version(&places).map_or(Contract::newest(), Contract::for_client),
    };
    if let Some(note) = contract.note() {
        ui.print_note(&note)?;
    }
    let disabled = DisabledRules::load(env);
    for name in disabled.unknown() {
        ui.print_note(&format!("`lint.off` names a rule that does not exist: {name}"))?;
    }
    let machine = files::describe_machine(&places);
    let lint = |ui: &mut Ui<'_>| -> CommandResult<LintRun<'_>> {
        let loaded = files::load_files(&args.paths, &places, contract, ui)?;
        let parts = loaded.into_iter().map(|part| {
            let context = LintContext::new(part.files, part.plugin_faults, contract, &machine);
            let findings = run_rules(&context, &|rule, file| disabled.contains(rule, file));
            LintPart { context, findings }
        });
        Ok(LintRun { parts: parts.collect(), contract, writes_plugins: !args.paths.is_empty() })
    };
    let mut found = lint(ui)?;
    if args.fix {
        if args.paths.iter().any(|path| path.as_os_str() == STDIN_PATH) {
            let message = "--fix cannot write to stdin; give the path of the file";
            return Err(CommandError::Usage(message.to_owned()));
        }
        let is_written = fix::fix_files(&found, &disabled, args, ui)?;
        if args.dry_run {
            return Ok(());
        }
        if is_written {
            found = lint(ui)?;
        }
    }
    match args.chosen_format() {
        LintFormat::Text => frames::print_text(&found, ui)?,
        LintFormat::Json => formats::print_json(&found, ui)?,
        LintFormat::Sarif => formats::print_sarif(&found, &places.files.folder, ui)?,
        LintFormat::Github => formats::print_github(&found, &places.files.folder, ui)?,
    }
    let limit = if args.deny.is_some() { Severity::Warning } else { Severity::Error };
    if found.located().any(|(finding, _)| finding.severity <= limit) {
        return Err(CommandError::Findings);
    }
    Ok(())
}

/// Returns the version of the installed client without starting it: from the environment of a session, from the path to
/// which `claude` leads, or from the package that contains it.
fn find_client_version(places: &ClientEnvironment) -> Option<Version> {
    let version = environment::client_version();
    version.or_else(|| {
        let program = places.find_program("claude")?.canonicalize().ok()?;
        let named = program.file_name()?.to_str()?.parse().ok();
        named.or_else(|| program.ancestors().skip(1).take(3).find_map(read_package_version))
    })
}

/// Returns the version in the `package.json` of a folder of the client's package.
fn read_package_version(folder: &Path) -> Option<Version> {
    const PACKAGE_PREFIX: &str = "@anthropic-ai/claude-code";
    let text = std::fs::read_to_string(folder.join("package.json")).ok()?;
    let package: serde_json::Value = serde_json::from_str(&text).ok()?;
    let is_client = package["name"].as_str()?.starts_with(PACKAGE_PREFIX);
    package["version"].as_str().filter(|_| is_client)?.parse().ok()
}

/// The rules that the configuration switches off.
pub(super) struct DisabledRules {
    entries: Vec<(String, Option<PathBuf>)>,
}

impl DisabledRules {
    /// Reads `lint.off` of the configuration. An entry is `RULE`, or `RULE PATH` with the end of a path.
    fn load(env: &Environment) -> Self {
        let words = env.load_folder_config().map(|config| config.lint.off).unwrap_or_default();
        let entries =
            words.into_iter().map(|word| match word.trim().split_once(char::is_whitespace) {
                Some((rule, path)) => (rule.to_owned(), Some(PathBuf::from(path.trim()))),
                None => (word.trim().to_owned(), None),
            });
        Self { entries: entries.collect() }
    }

    fn contains(&self, rule: &LintRule, file: &LintFile) -> bool {
        self.entries.iter().any(|(name, path)| {
            name == rule.id && path.as_ref().is_none_or(|path| file.path.ends_with(path))
        })
    }

    fn unknown(&self) -> impl Iterator<Item = &str> {
        let is_rule = |name: &str| rutter_check::lint::RULES.iter().any(|rule| rule.id == name);
        self.entries.iter().map(|(name, _)| name.as_str()).filter(move |name| !is_rule(name))
    }
}

impl LintRun<'_> {
    /// Returns the findings with their files.
    fn located(&self) -> impl Iterator<Item = (&LintFinding, &LintFile)> {
        self.parts.iter().flat_map(|part| {
            let file = |finding: &LintFinding| part.context.files.get(finding.file);
            part.findings.iter().filter_map(move |finding| Some((finding, file(finding)?)))
        })
    }

    /// Returns true if `--fix` may write a file.
    fn can_write(&self, file: &LintFile) -> bool {
        file.path.as_os_str() != STDIN_PATH && (self.writes_plugins || !file.is_plugin())
    }

    /// Returns the number of findings that `--fix` corrects at once.
    fn count_fixable(&self) -> usize {
        let is_fixable = |(finding, file): &(&LintFinding, &LintFile)| {
            self.can_write(file) && finding.fix.as_ref().is_some_and(|fix| file.can_take(fix))
        };
        self.located().filter(is_fixable).count()
    }

    /// Returns the files that are no scripts.
    fn config_files(&self) -> impl Iterator<Item = &LintFile> {
        let files = self.parts.iter().flat_map(|part| &part.context.files);
        files.filter(|file| !file.is_script)
    }

    /// Returns the number of findings of each severity, in words.
    fn summary(&self) -> String {
        let files = self.config_files().count();
        let hooks = self.config_files().map(|file| file.handlers().count()).sum::<usize>();
        let (files, hooks) =
            (format_count(files as u64, "file"), format_count(hooks as u64, "hook"));
        let scripts = self.parts.iter().map(|part| part.context.scripts.len()).sum::<usize>();
        let scripts = if scripts > 0 {
            format!(" and {}", format_count(scripts as u64, "script"))
        } else {
            String::new()
        };
        let checked = format!("checked {hooks} in {files}{scripts}");
        let counts = [Severity::Error, Severity::Warning, Severity::Info].map(|severity| {
            let number = self.located().filter(|(one, _)| one.severity == severity).count();
            let name = if severity == Severity::Info { "remark" } else { severity.as_str() };
            (number > 0).then(|| format_count(number as u64, name))
        });
        let counts: Vec<String> = counts.into_iter().flatten().collect();
        if counts.is_empty() {
            format!("{checked}: no findings")
        } else {
            format!("{checked}: {}", counts.join(", "))
        }
    }
}

/// Returns the line and column of a finding.
fn position(finding: &LintFinding, file: &LintFile) -> (usize, usize) {
    file.line_and_column(finding.range.start)
}
