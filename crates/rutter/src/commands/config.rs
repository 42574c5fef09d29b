//! `rutter config`: prints the effective configuration, its origins and its mistakes.

use std::path::{Path, PathBuf};

use rutter_memory::config::keys::KEYS;
use rutter_memory::config::{Config, Finding, HOOKS_YAML, Loaded, PROJECT_FILE, Standing, check};
use rutter_memory::project::Located;
use serde_json::{Map, Value as Json, json};

use crate::Failure;
use crate::cli::Format;
use crate::cli::config::{CheckConfigArgs, ConfigCommand, PathConfigArgs, ShowConfigArgs};
use crate::environment::Environment;
use crate::ui::{Ui, count};

mod hooks_yaml;

pub(crate) fn run(
    command: &ConfigCommand,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    match command {
        ConfigCommand::Show(args) => show(args, env, ui),
        ConfigCommand::Check(args) => complain(args, env, ui),
        ConfigCommand::Path(args) => paths(args, env, ui),
    }
}

/// The configuration files of a folder and the configuration that results from them.
pub(super) struct Here {
    /// The user's file; None without a home directory.
    pub(super) user: Option<PathBuf>,
    /// The root of the checkout.
    pub(super) root: PathBuf,
    pub(super) loaded: Loaded,
}

impl Here {
    pub(super) fn find(env: &Environment) -> Result<Self, Failure> {
        let root = Located::find(env.folder()?).root;
        let loaded = env.config(Some(&root));
        Ok(Self { user: env.config_file.clone(), root, loaded })
    }

    pub(super) fn project(&self) -> PathBuf {
        self.root.join(PROJECT_FILE)
    }

    /// Returns both files with the state of each.
    fn files(&self) -> Vec<(&'static str, PathBuf, &'static str)> {
        let user = self.user.iter().map(|path| {
            let state = if path.exists() { "in use" } else { "not there" };
            ("user", path.clone(), state)
        });
        let state = match self.loaded.project {
            Standing::Trusted => "trusted",
            Standing::Untrusted => "not trusted: it may do less, and nothing more",
            Standing::Absent if self.project().exists() => "unreadable",
            Standing::Absent => "not there",
        };
        user.chain([("project", self.project(), state)]).collect()
    }

    fn files_as_json(&self) -> Json {
        let user = self.user.as_ref();
        json!({
            "user": { "path": user, "there": user.is_some_and(|path| path.exists()) },
            "project": { "path": self.project(), "standing": self.loaded.project },
        })
    }
}

fn show(args: &ShowConfigArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let json = args.format.chosen() == Format::Json;
    if args.defaults {
        let config = Config::default();
        return if json { ui.json(&config) } else { write(&config, |_| "", ui) };
    }
    let here = Here::find(env)?;
    let Loaded { config, findings, .. } = &here.loaded;
    if !args.origin {
        if json {
            ui.json(config)?;
        } else {
            write(config, |_| "", ui)?;
        }
        if !findings.is_empty() {
            let findings = count(findings.len() as u64, "finding");
            ui.remark(&format!("{findings}; `rutter config check` says what"))?;
        }
        return Ok(());
    }
    if json {
        let origins: Map<String, Json> =
            KEYS.iter().map(|key| (key.path(), json!(here.loaded.origin(key)))).collect();
        return ui.json(&json!({
            "files": here.files_as_json(),
            "config": config,
            "origins": origins,
            "findings": findings,
        }));
    }
    for (whose, path, state) in here.files() {
        writeln!(ui.out, "# {whose}: {} ({state})", path.display())?;
    }
    writeln!(ui.out)?;
    write(config, |key| here.loaded.origin(key).as_str(), ui)?;
    findings.iter().try_for_each(|finding| Ok(ui.remark(&finding.to_string())?))
}

/// Prints a configuration as TOML, with a remark behind each value.
fn write(
    config: &Config,
    remark: impl Fn(&'static rutter_memory::config::keys::Key) -> &'static str,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
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

fn complain(args: &CheckConfigArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    if let Some(file) = &args.file
        && file.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
    {
        return hooks_yaml::tell(file, args.format.chosen(), ui);
    }
    let (files, findings, yaml) = if let Some(file) = &args.file {
        (vec![file.clone()], check(file), None)
    } else {
        let here = Here::find(env)?;
        let files = here.user.iter().cloned().chain([here.project()]);
        let yaml = Some(here.root.join(HOOKS_YAML)).filter(|path| path.is_file());
        (files.filter(|path| is_there(path)).collect(), here.loaded.findings, yaml)
    };
    if args.format.chosen() == Format::Json {
        let mut report = json!({ "files": files, "findings": findings });
        if let Some(path) = &yaml {
            report["hooks_yaml"] = hooks_yaml::as_json(path)?;
        }
        ui.json(&report)?;
    } else if !findings.is_empty() {
        findings.iter().try_for_each(|finding| tell(finding, ui))?;
    } else if files.is_empty() {
        writeln!(
            ui.out,
            "there is no file, so the defaults count; `rutter config path` says where"
        )?;
    } else {
        for file in &files {
            writeln!(ui.out, "{}: nothing to complain about", file.display())?;
        }
    }
    if let Some(path) = yaml.filter(|_| args.format.chosen() == Format::Text) {
        writeln!(ui.out)?;
        hooks_yaml::tell(&path, Format::Text, ui)?;
    }
    if findings.is_empty() { Ok(()) } else { Err(Failure::Findings) }
}

/// Returns true if the path exists. A dangling link counts: the user created it on purpose.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn tell(finding: &Finding, ui: &mut Ui<'_>) -> Result<(), Failure> {
    Ok(writeln!(ui.out, "{}: {}\n  -> {}", finding.place(), finding.what, finding.advice)?)
}

fn paths(args: &PathConfigArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let here = Here::find(env)?;
    if args.format.chosen() == Format::Json {
        return ui.json(&here.files_as_json());
    }
    for (whose, path, state) in here.files() {
        writeln!(ui.out, "{whose:<8} {} ({state})", path.display())?;
    }
    Ok(())
}
