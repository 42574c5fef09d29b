//! `rutter config`: prints the effective configuration, its origins and its mistakes.

use std::path::{Path, PathBuf};

use rutter_memory::config::keys::KEYS;
use rutter_memory::config::{
    Config, ConfigFinding, HOOKS_YAML, LoadedConfig, PROJECT_FILE, ProjectFileTrust, check_file,
};
use rutter_memory::project::LocatedProject;
use rutter_memory::quote::PathLine as _;
use serde_json::{Map, Value as Json, json};

use crate::cli::Format;
use crate::cli::config::{CheckConfigArgs, ConfigCommand, PathConfigArgs, ShowConfigArgs};
use crate::environment::Environment;
use crate::ui::{Ui, format_count};
use crate::{CommandError, CommandResult};

mod hooks_yaml;

pub(crate) fn run(command: &ConfigCommand, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    match command {
        ConfigCommand::Show(args) => show_config(args, env, ui),
        ConfigCommand::Check(args) => check_config(args, env, ui),
        ConfigCommand::Path(args) => print_paths(args, env, ui),
    }
}

/// The configuration files of a folder and the configuration that results from them.
pub(super) struct FolderConfig {
    /// The user's file; None without a home directory.
    pub(super) user: Option<PathBuf>,
    /// The root of the checkout.
    pub(super) root: PathBuf,
    pub(super) loaded: LoadedConfig,
}

impl FolderConfig {
    pub(super) fn find(env: &Environment) -> CommandResult<Self> {
        let root = LocatedProject::find(env.working_dir()?).root;
        let loaded = env.load_config(Some(&root));
        Ok(Self { user: env.config_file.clone(), root, loaded })
    }

    pub(super) fn project_file(&self) -> PathBuf {
        self.root.join(PROJECT_FILE)
    }

    /// Returns both files with the state of each.
    fn described_files(&self) -> Vec<(&'static str, PathBuf, &'static str)> {
        let user = self.user.iter().map(|path| {
            let state = if path.exists() { "in use" } else { "not there" };
            ("user", path.clone(), state)
        });
        let state = match self.loaded.project {
            ProjectFileTrust::Trusted => "trusted",
            ProjectFileTrust::Untrusted => "not trusted: it can only make rutter do less",
            ProjectFileTrust::Absent if self.project_file().exists() => "unreadable",
            ProjectFileTrust::Absent => "not there",
        };
        user.chain([("project", self.project_file(), state)]).collect()
    }

    fn files_as_json(&self) -> Json {
        let user = self.user.as_ref();
        json!({
            "user": { "path": user, "there": user.is_some_and(|path| path.exists()) },
            "project": { "path": self.project_file(), "standing": self.loaded.project },
        })
    }
}

fn show_config(args: &ShowConfigArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let json = args.format.chosen() == Format::Json;
    if args.defaults {
        let config = Config::default();
        return if json { ui.print_json(&config) } else { print_toml(&config, |_| "", ui) };
    }
    let here = FolderConfig::find(env)?;
    let LoadedConfig { config, findings, .. } = &here.loaded;
    if !args.origin {
        if json {
            ui.print_json(config)?;
        } else {
            print_toml(config, |_| "", ui)?;
        }
        if !findings.is_empty() {
            let findings = format_count(findings.len() as u64, "finding");
            ui.print_note(&format!("{findings}; run `rutter config check` to see them"))?;
        }
        return Ok(());
    }
    if json {
        let origins: Map<String, Json> =
            KEYS.iter().map(|key| (key.path(), json!(here.loaded.origin(key)))).collect();
        return ui.print_json(&json!({
            "files": here.files_as_json(),
            "config": config,
            "origins": origins,
            "findings": findings,
        }));
    }
    for (whose, path, state) in here.described_files() {
        writeln!(ui.out, "# {whose}: {} ({state})", path.to_line())?;
    }
    writeln!(ui.out)?;
    print_toml(config, |key| here.loaded.origin(key).as_str(), ui)?;
    findings.iter().try_for_each(|finding| Ok(ui.print_note(&finding.to_string())?))
}

/// Prints a configuration as TOML, with a remark after each value.
fn print_toml(
    config: &Config,
    remark: impl Fn(&'static rutter_memory::config::keys::ConfigKey) -> &'static str,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let mut section = "";
    for key in KEYS {
        if key.section != section {
            section = key.section;
            writeln!(ui.out, "\n[{section}]")?;
        }
        let line = format!("{} = {}", key.name, key.value(config));
        match remark(key) {
            "" => writeln!(ui.out, "{line}")?,
            remark => writeln!(ui.out, "{line:<32}  # {remark}")?,
        }
    }
    Ok(())
}

fn check_config(args: &CheckConfigArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    if let Some(file) = &args.file
        && file.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
    {
        return hooks_yaml::print_report(file, args.format.chosen(), ui);
    }
    let (files, findings, yaml) = if let Some(file) = &args.file {
        (vec![file.clone()], check_file(file), None)
    } else {
        let here = FolderConfig::find(env)?;
        let files = here.user.iter().cloned().chain([here.project_file()]);
        let yaml = Some(here.root.join(HOOKS_YAML)).filter(|path| path.is_file());
        (files.filter(|path| path_exists(path)).collect(), here.loaded.findings, yaml)
    };
    if args.format.chosen() == Format::Json {
        let mut report = json!({ "files": files, "findings": findings });
        if let Some(path) = &yaml {
            report["hooks_yaml"] = hooks_yaml::report_json(path)?;
        }
        ui.print_json(&report)?;
    } else if !findings.is_empty() {
        findings.iter().try_for_each(|finding| print_finding(finding, ui))?;
    } else if files.is_empty() {
        writeln!(
            ui.out,
            "no configuration file exists, so the defaults apply; `rutter config path` prints \
             where to create one"
        )?;
    } else {
        for file in &files {
            writeln!(ui.out, "{}: no mistakes", file.to_line())?;
        }
    }
    if let Some(path) = yaml.filter(|_| args.format.chosen() == Format::Text) {
        writeln!(ui.out)?;
        hooks_yaml::print_report(&path, Format::Text, ui)?;
    }
    if findings.is_empty() { Ok(()) } else { Err(CommandError::Findings) }
}

/// Returns true if the path exists. A dangling link counts: the user created it on purpose.
fn path_exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn print_finding(finding: &ConfigFinding, ui: &mut Ui<'_>) -> CommandResult {
    Ok(writeln!(ui.out, "{}: {}\n  -> {}", finding.location(), finding.what, finding.advice)?)
}

fn print_paths(args: &PathConfigArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let here = FolderConfig::find(env)?;
    if args.format.chosen() == Format::Json {
        return ui.print_json(&here.files_as_json());
    }
    for (whose, path, state) in here.described_files() {
        writeln!(ui.out, "{whose:<8} {} ({state})", path.to_line())?;
    }
    Ok(())
}
