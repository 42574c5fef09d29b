//! Measures clustering in a store: everything from the first read to the last write, on all four axes, values included.

use std::time::Duration;

use rutter_memory::session::{Session, StoredSessionSource};
use rutter_memory::store::entry::ProjectPlace;
use rutter_memory::store::{
    ClusterFilter, ExportRecord, ForgettableKind, ForgettableRow, ImportFile, Project, WhoseRows,
};
use rutter_memory::{Clean, Id, Store, Time};
use rutter_testkit::lessons::{GeneratedLesson, generate_lessons};

use super::corpus::lesson_ghap;

/// Promised time by number of lessons.
const PROMISED_TIMES: [(usize, Duration); 3] = [
    (1_000, Duration::from_millis(100)),
    (10_000, Duration::from_secs(1)),
    (50_000, Duration::from_secs(5)),
];

/// Number of rounds that add ten more lessons.
const GROWTH_ROUNDS: usize = 20;

/// Returns a time after all lessons.
pub(crate) fn after_all_lessons() -> Time {
    Time::from_millis(1_900_000_000_000)
}

pub(crate) fn measure_speed() {
    println!(
        "\nin a store, time of the processor: from nothing (promised), ten more (half the time, at worst), one forgotten"
    );
    for (count, promised) in PROMISED_TIMES {
        // A time before all lessons, so that each failure is compared with each value.
        let mut now = Time::from_millis(1_763_000_000_000);
        let all = generate_lessons(1, count + 10 * GROWTH_ROUNDS);
        let mut regroup = |store: &mut Store| {
            // The first query builds the index files; this time does not count.
            drop(store.search_documents(&rutter_memory::store::DocumentQuery::new("anything")));
            now = Time::from_millis(now.millis() + 1_000);
            let from = cpu_time();
            let done = store.update_clusters(now).expect("groups");
            (cpu_time().saturating_sub(from), done)
        };
        let (first, more, less, done) = with_store(&all[..count], |store| {
            let (first, done) = regroup(store);
            let mut more = Vec::new();
            for ten in all[count..].chunks(10) {
                import_lessons(store, ten);
                more.push(regroup(store).0);
            }
            more.sort_unstable();
            let cluster = store.clusters(&ClusterFilter::default()).expect("clusters")[0].id;
            let ghap = store.members(cluster).expect("members")[0].ghap;
            let row =
                ForgettableRow { kind: ForgettableKind::Ghap, id: ghap, text: Clean::default() };
            store.forget(&[row], None).expect("forgotten");
            let (less, _) = regroup(store);
            (first, more, less, done)
        });
        println!(
            "{count:>6}  {first:>9.1?} ({promised:?}){}  {:>9.1?} {:>9.1?}  {less:>9.1?}  {done:?}",
            if first > promised { "  BROKEN" } else { "" },
            more[GROWTH_ROUNDS / 2],
            more[GROWTH_ROUNDS - 1],
        );
    }
}

/// Runs a closure with a temporary store of these lessons.
pub(crate) fn with_store<T>(lessons: &[GeneratedLesson], look: impl FnOnce(&mut Store) -> T) -> T {
    let folder = std::env::temp_dir().join(format!("rutter-clusters-{}", std::process::id()));
    drop(std::fs::remove_dir_all(&folder));
    let mut store = Store::open(&folder, after_all_lessons()).expect("a store");
    import_lessons(&mut store, lessons);
    let found = look(&mut store);
    drop(store);
    drop(std::fs::remove_dir_all(&folder));
    found
}

/// Returns the CPU time of this process. On a shared machine, wall-clock time is not reliable.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or_default())
}

fn import_lessons(store: &mut Store, lessons: &[GeneratedLesson]) {
    let at = Time::from_millis(1_763_200_000_000);
    let place = ProjectPlace {
        key: rutter_memory::project::ProjectKey::new("bench"),
        aliases: Vec::new(),
        root: Clean::new("/bench"),
        name: Clean::new("bench"),
    };
    let mut lines = vec![
        ExportRecord::RutterExport { schema: rutter_memory::store::SCHEMA_VERSION },
        ExportRecord::Project(Project {
            id: Id::new(at),
            key: place.key.clone(),
            aliases: Vec::new(),
            merged: Vec::new(),
            name: place.name,
            root: place.root,
            created: at,
            changed: at,
        }),
    ];
    let mut session = 0;
    for lesson in lessons {
        let ghap = lesson_ghap(lesson);
        if lesson.session != session {
            session = lesson.session;
            lines.push(ExportRecord::Session(Session {
                id: Id::new(at),
                client: ghap.session.clone(),
                project: place.key.clone(),
                source: StoredSessionSource::Startup,
                started: ghap.created,
                seen: ghap.created,
                ended: Some(ghap.created),
                process: None,
                cohort: None,
                calls: 0,
                refreshed: None,
            }));
        }
        lines.push(ExportRecord::Ghap(Box::new(ghap)));
    }
    let text: String =
        lines.iter().map(|record| serde_json::to_string(record).expect("a line") + "\n").collect();
    let file = ImportFile::read(text.as_bytes(), |_| {}).expect("read");
    store.import(&file, "bench", WhoseRows::Own, Time::from_millis(0)).expect("imported");
}
