//! Selection of rows from the database for a context.

use rutter_memory::document::Axis;
use rutter_memory::store::entry::ProjectPlace;
use rutter_memory::store::{RecallRequest, StoreError, StoreReader};
use rutter_memory::{Clean, Id, Time};

use crate::context::{
    self, Context, ContextCandidate, ContextSection, Depth, InjectionSource, OmissionReason,
};
use crate::mention::Mentions;
use crate::{file_references, reference};

/// Number of rows that are examined for each one that is shown.
const ROWS_PER_ITEM: usize = 4;

/// The reader of a context, which decides which episodes are shown: an episode is one failure of one test, and most
/// texts that share words with it are about another topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// A user or agent that asked for recall: every episode that fits.
    Asker,
    /// An agent that got a prompt: episodes with a test or error that the prompt names, and one-line references to
    /// failures in the files that it names.
    Prompt,
    /// A subagent that got a task: episodes with a test or error that the task names, or that it is about if it names
    /// their file.
    Subagent,
}

/// A request for a context.
#[derive(Debug, Clone, Copy)]
pub struct ContextRequest<'a> {
    /// The prompt, task or query.
    pub text: &'a str,
    /// The project and checkout.
    pub place: &'a ProjectPlace,
    /// True if rows of other projects are included.
    pub everywhere: bool,
    /// The kinds to include; empty for all.
    pub kinds: &'a [InjectionSource],
    /// The level of detail.
    pub depth: Depth,
    /// Maximum number of items.
    pub limit: usize,
    /// Maximum number of tokens.
    pub tokens: usize,
    /// The kind of reader.
    pub audience: Audience,
    /// The client's session id and the agent that read it; no item is shown twice to the same agent.
    pub to: Option<(&'a str, Option<&'a Clean>)>,
}

impl ContextRequest<'_> {
    fn includes(&self, kind: InjectionSource) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }
}

/// Assembles a context from rows that were chosen before.
pub fn context_of_rows(
    reader: StoreReader<'_>,
    rows: &[(Id, f64)],
    request: &ContextRequest<'_>,
    now: Time,
) -> Result<Context, StoreError> {
    let mut candidates = Vec::new();
    for (row, confidence) in rows {
        // A row without a search document can only be a value.
        let kind = reader.kind(*row)?.map_or(InjectionSource::Value, InjectionSource::from);
        if let Some(text) = render_row(reader, kind, *row, request, now)? {
            let refused = is_shown(reader, request, *row, now)?.then_some(OmissionReason::Shown);
            candidates.push(ContextCandidate {
                row: *row,
                kind,
                section: ContextSection::Recalled,
                confidence: *confidence,
                refused,
                text,
            });
        }
    }
    Ok(Context::choose(candidates, request.depth, request.limit, request.tokens))
}

/// Returns the gist of a row in one line, for the user; None if the row is deleted or has none.
pub(crate) fn row_notice(
    reader: StoreReader<'_>,
    row: Id,
    kind: InjectionSource,
) -> Result<Option<String>, StoreError> {
    Ok(match kind {
        InjectionSource::Episode => {
            reader.episode(row)?.and_then(|episode| reference::fix_notice(&episode))
        }
        InjectionSource::Experience | InjectionSource::Memory | InjectionSource::Value => {
            reader.lesson(row)?.map(|lesson| reference::lesson_notice(&lesson))
        }
    })
}

/// Assembles the context for a text.
pub fn recall_context(
    reader: StoreReader<'_>,
    request: &ContextRequest<'_>,
    now: Time,
) -> Result<Context, StoreError> {
    let ask = RecallRequest {
        text: request.text,
        axis: Axis::Full,
        place: Some(request.place),
        all: request.everywhere,
        kind: None,
        domain: None,
        outcome: None,
        limit: request.limit.saturating_mul(ROWS_PER_ITEM),
    };
    let mentions = Mentions::parse(request.text);
    let mut ranked: Vec<(f64, ContextCandidate)> = Vec::new();
    // One of many rows that say nearly the same is enough, unless somebody asked for them.
    let shows_crowd = request.audience == Audience::Asker;
    let mut is_crowd_shown = false;
    for recall in reader.recall(&ask, now)? {
        let (row, kind) = (recall.hit.row, InjectionSource::from(recall.hit.kind));
        if !request.includes(kind) {
            continue;
        }
        let refused = if !recall.above_floor {
            Some(OmissionReason::BelowFloor)
        } else if is_shown(reader, request, row, now)? {
            Some(OmissionReason::Shown)
        } else if kind == InjectionSource::Episode
            && !is_named(reader, row, request.audience, &mentions)?
        {
            Some(OmissionReason::NotNamed)
        } else if recall.hit.fit.is_in_crowd && is_crowd_shown && !shows_crowd {
            Some(OmissionReason::SaysTheSame)
        } else {
            None
        };
        is_crowd_shown |=
            recall.hit.fit.is_in_crowd && matches!(refused, None | Some(OmissionReason::Shown));
        // The full text is rendered only for rows that may be shown.
        let text = match refused {
            Some(_) => Some(recall.text.to_string()),
            None => render_row(reader, kind, row, request, now)?,
        };
        if let Some(text) = text {
            let confidence = recall.hit.confidence;
            let section = ContextSection::Recalled;
            let candidate = ContextCandidate { row, kind, section, confidence, refused, text };
            ranked.push((recall.rank, candidate));
        }
    }
    if request.includes(InjectionSource::Value) {
        ranked.extend(fitting_values(reader, request, now)?);
        ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    }
    let candidates = ranked.into_iter().map(|(_, candidate)| candidate).collect();
    let mut context = Context::choose(candidates, request.depth, request.limit, request.tokens);
    if request.includes(InjectionSource::Episode) && request.audience == Audience::Prompt {
        let references = find_file_references(reader, request, &mentions, &context, now)?;
        let most = (context.items.len() + file_references::MAX_REFERENCES).min(request.limit);
        context.add_references(references, most, request.tokens);
    }
    Ok(context)
}

/// Returns references to failures in the files that the text names, without rows that are shown in full.
fn find_file_references(
    reader: StoreReader<'_>,
    request: &ContextRequest<'_>,
    mentions: &Mentions<'_>,
    context: &Context,
    now: Time,
) -> Result<Vec<ContextCandidate>, StoreError> {
    let mut found = file_references::find_references(reader, request.place, mentions, now)?;
    found.retain(|candidate| context.items.iter().all(|item| item.row != candidate.row));
    for candidate in &mut found {
        let is_shown = match request.to {
            Some(to) => reader.is_referred_to(to, candidate.row, now)?,
            None => false,
        };
        candidate.refused = is_shown.then_some(OmissionReason::Shown);
    }
    Ok(found)
}

/// Returns true if a text names an episode as strictly as its audience requires.
fn is_named(
    reader: StoreReader<'_>,
    row: Id,
    audience: Audience,
    mentions: &Mentions<'_>,
) -> Result<bool, StoreError> {
    if audience == Audience::Asker {
        return Ok(true);
    }
    let episode = reader.episode(row)?;
    Ok(episode.is_some_and(|episode| {
        mentions.names_failure(&episode)
            || (audience == Audience::Subagent && mentions.is_about_failure_in_file(&episode))
    }))
}

/// Returns the values that are related to the text, each with its rank.
fn fitting_values(
    reader: StoreReader<'_>,
    request: &ContextRequest<'_>,
    now: Time,
) -> Result<Vec<(f64, ContextCandidate)>, StoreError> {
    let mut found = Vec::new();
    let near = reader.fitting_values(request.place, request.everywhere, request.text)?;
    for near in near
        .into_iter()
        .filter(|near| near.rank > 0.0)
        .take(request.limit.saturating_mul(ROWS_PER_ITEM))
    {
        let (row, confidence) = (near.value.id, near.confidence);
        let refused = if !near.is_above_floor() {
            Some(OmissionReason::BelowFloor)
        } else if is_shown(reader, request, row, now)? {
            Some(OmissionReason::Shown)
        } else {
            None
        };
        let text = match refused {
            Some(_) => near.value.text.to_string(),
            None => mark_unconfirmed(
                reader,
                row,
                request.place,
                context::render_value(&near.value, request.depth),
            )?,
        };
        let (kind, section) = (InjectionSource::Value, ContextSection::Recalled);
        found.push((near.rank, ContextCandidate { row, kind, section, confidence, refused, text }));
    }
    Ok(found)
}

/// Appends the mark of an unconfirmed row to its text.
fn mark_unconfirmed(
    reader: StoreReader<'_>,
    row: Id,
    place: &ProjectPlace,
    text: String,
) -> Result<String, StoreError> {
    Ok(match reader.unconfirmed_reason(row, place)? {
        Some(unconfirmed) => unconfirmed.append_mark(&text),
        None => text,
    })
}

fn is_shown(
    reader: StoreReader<'_>,
    request: &ContextRequest<'_>,
    row: Id,
    now: Time,
) -> Result<bool, StoreError> {
    match request.to {
        Some(to) => reader.is_in_context(to, row, now),
        None => Ok(false),
    }
}

/// Renders a row; None if it is deleted.
fn render_row(
    reader: StoreReader<'_>,
    kind: InjectionSource,
    row: Id,
    request: &ContextRequest<'_>,
    now: Time,
) -> Result<Option<String>, StoreError> {
    let depth = request.depth;
    let unconfirmed = reader.unconfirmed_reason(row, request.place)?;
    let text = match kind {
        InjectionSource::Value => {
            reader.value(row)?.map(|value| context::render_value(&value, depth))
        }
        InjectionSource::Memory => {
            reader.memory(row)?.map(|memory| context::render_memory(&memory, depth))
        }
        InjectionSource::Experience => {
            reader.ghap(row)?.and_then(|ghap| context::render_ghap(&ghap, depth, now))
        }
        InjectionSource::Episode => reader
            .episode(row)?
            .and_then(|episode| context::render_episode(&episode, depth, unconfirmed, now)),
    };
    Ok(match unconfirmed {
        Some(unconfirmed) if kind != InjectionSource::Episode => {
            text.map(|text| unconfirmed.append_mark(&text))
        }
        _ => text,
    })
}
