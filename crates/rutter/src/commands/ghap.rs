//! `rutter ghap`: starts, changes, resolves and lists GHAPs.

use rutter_memory::ghap::{
    CauseCategory, Domain, GhapError, GhapResolve, GhapStart, GhapStatus, GhapUpdate, Strategy,
};
use rutter_memory::store::GhapFilter;
use rutter_memory::{Id, IdSuffix, Store, StoreError};

use crate::ask::{self, Question};
use crate::cli::memory::{
    GhapAbandonArgs, GhapAdoptArgs, GhapCommand, GhapListArgs, GhapNoteArgs, GhapResolveArgs,
    GhapShowArgs, GhapStartArgs, GhapUpdateArgs,
};
use crate::environment::Environment;
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

pub(super) mod show;

pub(super) use show::print_ghap as show;

pub(crate) fn run(command: &GhapCommand, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    match command {
        GhapCommand::Start(args) => start_ghap(args, env, ui),
        GhapCommand::Update(args) => update_ghap(args, env, ui),
        GhapCommand::Note(args) => add_note(args, env, ui),
        GhapCommand::Resolve(args) => resolve_ghap(args, env, ui),
        GhapCommand::Adopt(args) => adopt_ghap(args, env, ui),
        GhapCommand::Abandon(args) => abandon_ghap(args, env, ui),
        GhapCommand::Show(args) => show_ghap(args, env, ui),
        GhapCommand::List(args) => list_ghaps(args, env, ui),
    }
}

/// The answers to the questions about missing arguments.
struct MissingAnswers {
    answers: std::vec::IntoIter<String>,
}

impl MissingAnswers {
    fn ask(
        asked: &[(bool, Question)],
        editor: bool,
        env: &Environment,
        ui: &mut Ui<'_>,
    ) -> CommandResult<Self> {
        let missing: Vec<Question> =
            asked.iter().filter(|(given, _)| !given).map(|(_, question)| *question).collect();
        Ok(Self { answers: ask::ask_all(&missing, editor, env, ui)?.into_iter() })
    }

    /// Returns the given text, else the next answer. Must be called in the order of the questions.
    fn next_text(&mut self, given: Option<&String>) -> String {
        given.cloned().unwrap_or_else(|| self.answers.next().unwrap_or_default())
    }

    fn next_choice<T: Copy + std::str::FromStr<Err = rutter_memory::UnknownChoice>>(
        &mut self,
        given: Option<T>,
    ) -> CommandResult<T> {
        if let Some(given) = given {
            return Ok(given);
        }
        let answer = self.answers.next().unwrap_or_default();
        answer
            .parse()
            .map_err(|error: rutter_memory::UnknownChoice| CommandError::Usage(error.to_string()))
    }
}

fn start_ghap(args: &GhapStartArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    let owner = env.owner()?;
    // Refuses before it asks six questions.
    if let Some(active) = store.active_ghap(&owner)? {
        return Err(StoreError::from(GhapError::Active {
            id: active.id.short(),
            goal: active.goal,
        })
        .into());
    }
    let mut answers = MissingAnswers::ask(
        &[
            (
                args.domain.is_some(),
                Question::with_choices("domain", "What kind of work is it?", Domain::NAMES),
            ),
            (
                args.strategy.is_some(),
                Question::with_choices("strategy", "What is your strategy?", Strategy::NAMES),
            ),
            (args.goal.is_some(), Question::new("goal", "What is your goal?")),
            (args.hypothesis.is_some(), Question::new("hypothesis", "What is your hypothesis?")),
            (args.action.is_some(), Question::new("action", "What action do you take?")),
            (
                args.prediction.is_some(),
                Question::new("prediction", "What will you see if the hypothesis is right?"),
            ),
        ],
        args.editor,
        env,
        ui,
    )?;
    let (domain, strategy) =
        (answers.next_choice(args.domain)?, answers.next_choice(args.strategy)?);
    let goal = answers.next_text(args.goal.as_ref());
    let hypothesis = answers.next_text(args.hypothesis.as_ref());
    let action = answers.next_text(args.action.as_ref());
    let prediction = answers.next_text(args.prediction.as_ref());
    let start = GhapStart {
        domain,
        strategy,
        goal: &goal,
        hypothesis: &hypothesis,
        action: &action,
        prediction: &prediction,
        expects: args.test.expects,
        target: args.test.target.as_deref(),
        confidence: args.test.confidence,
    };
    let ghap = store.start_ghap(&owner, &start, env.now)?;
    show::print_ghap(&ghap, &store, args.format.chosen(), env, ui)
}

fn update_ghap(args: &GhapUpdateArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    let owner = env.owner()?;
    let update = GhapUpdate {
        hypothesis: args.hypothesis.as_deref(),
        action: args.action.as_deref(),
        prediction: args.prediction.as_deref(),
        strategy: args.strategy,
        expects: args.test.expects,
        target: args.test.target.as_deref(),
        confidence: args.test.confidence,
        note: args.note.as_deref(),
    };
    let ghap = store.update_ghap(&owner, &update, env.now)?;
    show::print_ghap(&ghap, &store, args.format.chosen(), env, ui)
}

fn add_note(args: &GhapNoteArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    let ghap = store.note_ghap(&env.owner()?, &args.text, env.now)?;
    show::print_ghap(&ghap, &store, args.format.chosen(), env, ui)
}

fn resolve_ghap(args: &GhapResolveArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    let owner = env.owner()?;
    if store.active_ghap(&owner)?.is_none() {
        return Err(StoreError::from(GhapError::NoneActive).into());
    }
    // The run that is the evidence may still be in the spool.
    store.try_drain_spool(env.now)?;
    let mut answers = MissingAnswers::ask(
        &[
            (
                args.status.is_some(),
                Question::with_choices("status", "How did it end?", &GhapStatus::NAMES[1..]),
            ),
            (args.result.is_some(), Question::new("result", "What happened?")),
        ],
        args.editor,
        env,
        ui,
    )?;
    let (status, result) =
        (answers.next_choice(args.status)?, answers.next_text(args.result.as_ref()));
    // Surprise and root cause are only asked for if the prediction failed.
    let given = status != GhapStatus::Falsified;
    let mut answers = MissingAnswers::ask(
        &[
            (
                given || args.surprise.is_some(),
                Question::new("surprise", "What did you not expect?"),
            ),
            (
                given || args.root_cause_category.is_some(),
                Question::with_choices(
                    "root-cause-category",
                    "What kind of cause was it?",
                    CauseCategory::NAMES,
                ),
            ),
            (
                given || args.root_cause.is_some(),
                Question::new("root-cause", "Why did the prediction fail?"),
            ),
        ],
        args.editor,
        env,
        ui,
    )?;
    let (surprise, cause, root_cause) = if given {
        (args.surprise.clone(), args.root_cause_category, args.root_cause.clone())
    } else {
        let surprise = answers.next_text(args.surprise.as_ref());
        let cause = answers.next_choice(args.root_cause_category)?;
        (Some(surprise), Some(cause), Some(answers.next_text(args.root_cause.as_ref())))
    };
    let root_cause = match (cause, &root_cause) {
        (Some(cause), Some(text)) => Some((cause, text.as_str())),
        (None, None) => None,
        _ => {
            let message = "--root-cause and --root-cause-category belong together; give both";
            return Err(CommandError::Usage(message.to_owned()));
        }
    };
    let outcome = args.outcome.as_ref().map(|id| store.outcome_id(id)).transpose()?;
    let resolve = GhapResolve {
        status,
        result: &result,
        surprise: surprise.as_deref(),
        root_cause,
        what_worked: args.what_worked.as_deref(),
        takeaway: args.takeaway.as_deref(),
        applies_when: &args.applies_when,
        outcome,
        ignores_other_runs: false,
    };
    let resolved = store.resolve_ghap(&owner, &resolve, env.now)?;
    show::print_resolved(&resolved, &store, args.format.chosen(), env, ui)
}

fn adopt_ghap(args: &GhapAdoptArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    let owner = env.owner()?;
    let id = match &args.id {
        Some(id) => store.ghap_id(id)?,
        None => find_only_orphan(&store, env)?,
    };
    let ghap = store.adopt_ghap(&owner, id, env.now)?;
    show::print_ghap(&ghap, &store, args.format.chosen(), env, ui)
}

fn find_only_orphan(store: &Store, env: &Environment) -> CommandResult<Id> {
    let project = store.project(&env.owner()?.place)?.map(|project| project.key);
    let filter = GhapFilter { project: project.clone(), orphaned: true, ..GhapFilter::default() };
    let orphans = if project.is_some() { store.ghaps(&filter, env.now)? } else { Vec::new() };
    match orphans.as_slice() {
        [one] => Ok(one.id),
        [] => Err(CommandError::Refused(
            "this project has no orphaned GHAP; `rutter ghap list` lists all GHAPs".to_owned(),
        )),
        several => Err(CommandError::Usage(format!(
            "{} GHAPs are orphaned; give the id of one: `rutter ghap list --orphaned` lists them",
            several.len()
        ))),
    }
}

fn abandon_ghap(args: &GhapAbandonArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    let id = args.id.as_ref().map(|id| store.ghap_id(id)).transpose()?;
    let question = (args.reason.is_some(), Question::new("reason", "Why do you abandon it?"));
    let reason = MissingAnswers::ask(&[question], false, env, ui)?.next_text(args.reason.as_ref());
    let ghap = store.abandon_ghap(&env.owner()?, id, &reason, env.now)?;
    show::print_ghap(&ghap, &store, args.format.chosen(), env, ui)
}

fn show_ghap(args: &GhapShowArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let store = env.open_store(ui)?;
    let find = |id: &IdSuffix| store.ghap_id(id).and_then(|id| store.ghap(id));
    let ghap = match &args.id {
        Some(id) => find(id)?,
        None => store.active_ghap(&env.owner()?)?.ok_or(StoreError::Ghap(GhapError::NoneActive))?,
    };
    show::print_with_origin(&ghap, &store, args.format.chosen(), env, ui)
}

fn list_ghaps(args: &GhapListArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let store = env.open_store(ui)?;
    let project = if args.all {
        None
    } else {
        store.project(&env.owner()?.place)?.map(|project| project.key)
    };
    let ghaps = if project.is_none() && !args.all {
        Vec::new()
    } else {
        let filter = GhapFilter {
            project,
            status: args.status,
            domain: args.domain,
            orphaned: args.orphaned,
            limit: Some(args.limit),
            ..GhapFilter::default()
        };
        store.ghaps(&filter, env.now)?
    };
    show::print_list(&ghaps, &store, args.format.chosen(), env, ui)
}
