//! `rutter doctor`: checks the installation and prints how to fix each problem.

use rutter_memory::project::LocatedProject;
use rutter_memory::quote::PathLine as _;
use rutter_memory::store::doctor::{self, RepairReport};
use rutter_memory::store::maintain::{MaintenanceLimits, MaintenanceReport, maintain};
use rutter_memory::store::{SalvageReport, SalvagedTable, spool};
use serde_json::json;
use std::path::PathBuf;

use crate::cli::Format;
use crate::cli::memory::DoctorArgs;
use crate::doctor::{ClientEnvironment, DoctorReport};
use crate::environment::Environment;
use crate::ui::{Ui, format_count};
use crate::{CommandError, CommandResult};

pub(crate) fn run(args: &DoctorArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let places = ClientEnvironment::from_env(env)?;
    let mended = if args.repair { Some(RepairSummary::repair(env)?) } else { None };
    let report = DoctorReport::run_checks(env, &places, args.live)?;
    if args.format.chosen() == Format::Json {
        let mut value = serde_json::to_value(&report).map_err(std::io::Error::from)?;
        if let Some(mended) = &mended {
            value["repaired"] = mended.to_json();
        }
        ui.print_json(&value)?;
    } else {
        if let Some(mended) = &mended {
            mended.write(ui)?;
        }
        report.write_text(ui.out)?;
    }
    if report.has_problems() { Err(CommandError::Findings) } else { Ok(()) }
}

/// Returns a line for each table with its salvaged and damaged rows, and a line about unreadable pages.
fn describe_tables(salvaged: &SalvageReport) -> Vec<String> {
    let mut lines: Vec<String> = (salvaged.tables.iter())
        .filter(|table| table.read + table.damaged > 0)
        .map(|SalvagedTable { table, read, damaged }| {
            let lost = if *damaged > 0 { format!(", {damaged} damaged") } else { String::new() };
            format!("{table}: {read} rows{lost}")
        })
        .collect();
    if salvaged.unreadable_pages > 0 {
        let pages = format_count(salvaged.unreadable_pages as u64, "page");
        lines.push(format!("{pages} could not be read: the rows on them are lost"));
    }
    lines
}

/// The results of `--repair`. It never changes settings; `rutter init` does that.
struct RepairSummary {
    repaired: RepairReport,
    tightened: Vec<PathBuf>,
    tended: Option<MaintenanceReport>,
}

impl RepairSummary {
    fn repair(env: &Environment) -> CommandResult<Self> {
        let tightened = doctor::restrict_access(&env.data)?;
        let repaired = doctor::repair_store(&env.data, env.now)?;
        let root = env.working_dir().ok().map(|folder| LocatedProject::find(folder).root);
        let bounds = MaintenanceLimits::from(&env.load_config(root.as_deref()).config.retention);
        let waits = spool::has_drainable_entries(&env.data_dir());
        let tended = if waits { maintain(&env.data, &bounds, env.now)? } else { None };
        Ok(Self { repaired, tightened, tended })
    }

    fn to_json(&self) -> serde_json::Value {
        let salvaged = self.repaired.salvaged.iter();
        let salvaged: Vec<_> = salvaged
            .map(|(path, salvaged)| json!({ "file": path.to_string_lossy(), "rows": salvaged }))
            .collect();
        json!({ "salvaged": salvaged, "tightened": self.tightened, "tended": self.tended })
    }

    fn write(&self, ui: &mut Ui<'_>) -> CommandResult {
        for path in &self.tightened {
            writeln!(ui.out, "closed    {} to others", path.to_line())?;
        }
        for (path, salvaged) in &self.repaired.salvaged {
            writeln!(
                ui.out,
                "salvaged  {}: {} rows read, {} new here, {} refused; the file is kept",
                path.to_line(),
                salvaged.read,
                salvaged.saved,
                salvaged.refused
            )?;
            for line in describe_tables(salvaged) {
                writeln!(ui.out, "          {line}")?;
            }
        }
        if let Some(MaintenanceReport { drained, .. }) = &self.tended {
            let taken = format_count(*drained as u64, "entry");
            writeln!(ui.out, "drained   {taken} out of the spool")?;
        }
        Ok(())
    }
}
