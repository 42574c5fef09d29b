//! `rutter contract record`: turns the recording of hooks on and off, and shows what was recorded.

use std::path::{Path, PathBuf};

use rutter_check::settings::{LayerState, SettingsLayer, SettingsSource, load_folder_layers};
use rutter_contract::EventName;
use rutter_contract::version::Contract;
use rutter_memory::hook_recording::{CallEnding, HookRecording, hook_id};
use rutter_memory::quote::PathLine as _;
use serde::Serialize;
use serde_json::Value;

use super::recorded_calls::{describe_call, recording_here, select_calls};
use crate::cli::Format;
use crate::cli::record::{RecordCommand, RecordListArgs, RecordOnArgs};
use crate::doctor::ClientEnvironment;
use crate::environment::Environment;
use crate::install::is_our_hook;
use crate::ui::{Ui, first_line, format_count, format_size, one_line};
use crate::{CommandError, CommandResult};

pub(crate) mod files;
mod save_test;

use files::{RecordedFile, RecordedFiles};

pub(crate) fn run(command: &RecordCommand, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    match command {
        RecordCommand::On(args) => turn_on(args, env, ui),
        RecordCommand::Off(args) => turn_off(&args.settings, env, ui),
        RecordCommand::Status(args) => print_status(args.format.chosen() == Format::Json, env, ui),
        RecordCommand::List(args) => list_calls(args, env, ui),
        RecordCommand::SaveTest(args) => save_test::run(args, env, ui),
        RecordCommand::Clear(args) => clear(args.all, env, ui),
    }
}

fn turn_on(args: &RecordOnArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    super::super::init::refuse_foreign_home(env)?;
    env.secure_data(ui)?;
    let Some(program) = env.program.as_ref().and_then(|program| program.to_str()) else {
        return Err(CommandError::Refused(
            "the path of this program is unknown, so hooks cannot start it".to_owned(),
        ));
    };
    let identify = |event: EventName, handler: &Value| {
        let is_wanted = args.event.is_none_or(|wanted| wanted == event) && !is_our_hook(handler);
        is_wanted.then(|| hook_id(event.as_str(), handler))
    };
    let mut files = RecordedFiles::in_data_dir(&env.data);
    let (mut hooks, mut changed) = (0, 0);
    for path in settings_files(&args.files.settings, env, ui)? {
        let Some(file) = RecordedFile::load(&path, ui)? else { continue };
        let Some(added) = file.add_recorder(program, &identify) else { continue };
        hooks += added.entries;
        if added.is_changed {
            // A file that is noted and not recorded does no harm; the reverse would.
            files.note(&path)?;
            file.write(&added.text)?;
            changed += 1;
            let count = format_count(added.entries as u64, "hook");
            writeln!(ui.out, "recording {count} of {}", path.to_line())?;
        }
    }
    if hooks == 0 {
        let event = args.event.map(|event| format!(" on {event}")).unwrap_or_default();
        return Err(CommandError::Usage(format!(
            "there is no command hook to record{event}; give a settings file with --settings"
        )));
    }
    if changed == 0 {
        writeln!(ui.out, "{}: recorded already", format_count(hooks as u64, "hook"))?;
    } else {
        writeln!(ui.out, "`rutter contract record off` restores the settings")?;
    }
    Ok(())
}

/// Removes the recorder from files: the given ones, or those of this folder and all that were noted.
fn turn_off(settings: &[PathBuf], env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut paths = Vec::new();
    if settings.is_empty() {
        paths = own_layers(env)?.into_iter().map(|layer| layer.path).collect();
    }
    paths.extend(settings.iter().map(|path| absolute(path)));
    if remove_from(&paths, settings.is_empty(), env, ui)? == 0 {
        writeln!(ui.out, "no hook is recorded")?;
    }
    Ok(())
}

/// Removes the recorder from all files that were noted, before rutter itself is removed. With `dry_run`, only names them.
pub(crate) fn turn_off_everywhere(
    dry_run: bool,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    if dry_run {
        for path in RecordedFiles::in_data_dir(&env.data).paths() {
            ui.print_note(&format!("the hooks of {} would no longer be recorded", path.to_line()))?;
        }
        return Ok(());
    }
    remove_from(&[], true, env, ui).map(drop)
}

/// Removes the recorder from files, and from all noted ones if `with_noted`. Returns the number of hooks.
fn remove_from(
    paths: &[PathBuf],
    with_noted: bool,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult<usize> {
    let mut files = RecordedFiles::in_data_dir(&env.data);
    let mut paths = paths.to_vec();
    if with_noted {
        paths.extend(files.paths());
    }
    paths.sort();
    paths.dedup();
    let (mut hooks, mut failure) = (0, None);
    for path in paths {
        let removed = RecordedFile::load(&path, ui).and_then(|file| {
            let Some(removed) = file.as_ref().and_then(|file| Some((file, file.remove_recorder()?))) else {
                return Ok(0);
            };
            let (file, edit) = removed;
            if edit.is_changed {
                file.write(&edit.text)?;
            }
            if edit.has_rest {
                return Err(CommandError::Refused(format!(
                    "{} has a hook with `contract recorded-run` in a form that rutter did not write; remove it by hand",
                    path.to_line()
                )));
            }
            Ok(edit.entries)
        });
        match removed {
            Ok(count) => {
                hooks += count;
                files.forget(&path)?;
                if count > 0 {
                    let count = format_count(count as u64, "hook");
                    writeln!(ui.out, "no longer recording {count} of {}", path.to_line())?;
                }
            }
            // The other files are still restored.
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    failure.map_or(Ok(hooks), Err)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the layers of the user's own settings files here: local, project and user.
fn own_layers(env: &Environment) -> CommandResult<Vec<SettingsLayer>> {
    let places = ClientEnvironment::from_env(env)?;
    let layers = load_folder_layers(&places.files, Contract::newest()).layers;
    Ok(layers.into_iter().filter(|layer| is_own(layer.whose)).collect())
}

fn is_own(whose: SettingsSource) -> bool {
    matches!(whose, SettingsSource::Local | SettingsSource::Project | SettingsSource::User)
}

/// Returns the settings files to change, and prints which others have hooks.
fn settings_files(
    given: &[PathBuf],
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult<Vec<PathBuf>> {
    if !given.is_empty() {
        for path in given {
            if path.symlink_metadata().is_err() {
                return Err(CommandError::Usage(format!("{} does not exist", path.to_line())));
            }
        }
        return Ok(given.iter().map(|path| absolute(path)).collect());
    }
    let places = ClientEnvironment::from_env(env)?;
    let mut paths = Vec::new();
    for layer in load_folder_layers(&places.files, Contract::newest()).layers {
        let has_commands = layer
            .entries
            .iter()
            .any(|entry| entry.handler["type"] == "command" && !is_our_hook(&entry.handler));
        if !is_own(layer.whose) {
            if has_commands {
                let (path, whose) = (layer.path.to_line(), layer.whose.as_str());
                ui.print_note(&format!("left alone: {path} ({whose})"))?;
            }
        } else if layer.state == LayerState::Void {
            let path = layer.path.to_line();
            ui.print_note(&format!("the client ignores {path}; `rutter contract lint` says why"))?;
        } else if layer.state == LayerState::Read && has_commands {
            paths.push(layer.path);
        }
    }
    Ok(paths)
}

/// The state of the recording, as JSON.
#[derive(Debug, Serialize)]
struct RecordStatus {
    /// True if a hook of this folder is recorded.
    on: bool,
    files: Vec<RecordedSettings>,
    /// The recorded calls of this folder.
    calls: usize,
    bytes: u64,
    folder: PathBuf,
}

/// A settings file with recorded hooks.
#[derive(Debug, Serialize)]
struct RecordedSettings {
    path: PathBuf,
    hooks: usize,
}

fn print_status(is_json: bool, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let recording = recording_here(env)?;
    let files = own_layers(env)?.into_iter().filter_map(|layer| {
        let hooks = layer.document.as_ref()?.recorded_hooks;
        (hooks > 0).then_some(RecordedSettings { path: layer.path, hooks })
    });
    let files: Vec<RecordedSettings> = files.collect();
    let status = RecordStatus {
        on: !files.is_empty(),
        files,
        calls: recording.calls()?.count(),
        bytes: recording.size(),
        folder: recording.folder().to_owned(),
    };
    if is_json {
        return ui.print_json(&status);
    }
    for file in &status.files {
        let count = format_count(file.hooks as u64, "hook");
        writeln!(ui.out, "recording {count} of {}", file.path.to_line())?;
    }
    if status.files.is_empty() {
        writeln!(ui.out, "no hook is recorded")?;
    }
    let (calls, size) = (format_count(status.calls as u64, "call"), format_size(status.bytes));
    writeln!(ui.out, "{calls} of this folder, {size} in {}", status.folder.to_line())?;
    Ok(())
}

fn list_calls(args: &RecordListArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let calls = select_calls(&args.calls, env)?;
    if args.format.chosen() == Format::Json {
        let rows: Vec<Value> = calls
            .iter()
            .map(|(number, call)| {
                let mut row = serde_json::json!({ "number": number });
                if let (Value::Object(row), Ok(Value::Object(call))) =
                    (&mut row, serde_json::to_value(call))
                {
                    row.extend(call);
                }
                row
            })
            .collect();
        return ui.print_json(&rows);
    }
    if calls.is_empty() {
        writeln!(ui.out, "no calls are recorded")?;
    }
    for (number, call) in calls {
        let ending = match call.ending {
            CallEnding::Exit(code) => format!("exit {code}"),
            CallEnding::Signal(signal) => format!("signal {signal}"),
        };
        let took = call.micros / 1000;
        writeln!(
            ui.out,
            "{number}  {}  {}  {}  {ending}, {took} ms  {}",
            call.time,
            call.event,
            describe_call(&call),
            first_line(&one_line(&call.command))
        )?;
    }
    Ok(())
}

fn clear(all: bool, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let recordings = if all {
        HookRecording::list(&env.data_dir()).into_iter().map(|(recording, _)| recording).collect()
    } else {
        vec![recording_here(env)?]
    };
    let mut bytes = 0;
    for recording in recordings {
        bytes += recording.size();
        recording.clear()?;
    }
    writeln!(ui.out, "deleted {} of recorded calls", format_size(bytes))?;
    Ok(())
}
