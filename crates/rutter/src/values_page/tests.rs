use rutter_memory::Clean;
use rutter_memory::ghap::{GhapResolve, GhapStart};
use rutter_memory::project::LocatedProject;
use rutter_memory::store::{GhapOwner, ValueEdit};
use rutter_testkit::lessons::{GeneratedLesson, generate_lessons};

use super::*;

fn time_at(seconds: i64) -> Time {
    Time::from_millis(1_763_200_000_000 + seconds * 1_000)
}

/// Returns a store with the lessons and their clusters and values.
fn store_with_lessons(folder: &std::path::Path, all: &[GeneratedLesson]) -> Store {
    let mut store = Store::open(&folder.join("memory"), time_at(0)).unwrap();
    let place = (&LocatedProject::find(folder)).into();
    for lesson in all {
        let client = Some(Clean::new(&format!("session-{}", lesson.session)));
        let owner = GhapOwner { client, agent: None, place: Clone::clone(&place) };
        let start = GhapStart {
            domain: lesson.domain.parse().unwrap(),
            strategy: lesson.strategy.parse().unwrap(),
            goal: &lesson.goal,
            hypothesis: &lesson.hypothesis,
            action: &lesson.action,
            prediction: &lesson.prediction,
            expects: None,
            target: None,
            confidence: None,
        };
        store.start_ghap(&owner, &start, time_at(lesson.at)).unwrap();
        let cause = lesson.cause.as_ref();
        let resolve = GhapResolve {
            status: lesson.status.parse().unwrap(),
            result: &lesson.result,
            surprise: lesson.surprise.as_deref(),
            root_cause: cause.map(|(category, text)| (category.parse().unwrap(), text.as_str())),
            what_worked: lesson.what_worked.as_deref(),
            takeaway: lesson.takeaway.as_deref(),
            outcome: None,
            ignores_other_runs: false,
        };
        store.resolve_ghap(&owner, &resolve, time_at(lesson.at)).unwrap();
    }
    store.update_clusters(time_at(90_000_000)).unwrap();
    store
}

#[test]
fn page_shows_clusters_and_values() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store_with_lessons(folder.path(), &generate_lessons(7, 240));
    let values = store.values(&ValueFilter::default()).unwrap();
    assert!(values.len() > 2, "{values:?}");
    let edit = ValueEdit { standing: Some(ValueStanding::Accepted), ..ValueEdit::default() };
    store.edit_value(values[0].value.id, &edit, time_at(90_000_001)).unwrap();
    store.retire_value(values[1].value.id, time_at(90_000_001)).unwrap();
    let page = render_page(&store, time_at(90_000_002)).unwrap();
    for axis in Axis::ALL {
        let clusters = store.clusters(&ClusterFilter { axis: Some(*axis), ..Default::default() });
        for cluster in clusters.unwrap() {
            let id = cluster.id.short();
            assert_eq!(page.matches(&format!("id=\"c-{id}\"")).count(), 1);
            assert_eq!(page.matches(&format!("href=\"#c-{id}\"")).count(), 1);
        }
    }
    assert_eq!(page.matches("<svg ").count(), 4);
    assert!(page.matches("class=\"dot").count() > 300);
    for held in &values {
        assert!(page.contains(&EscapedText(&held.value.text).to_string()), "{held:?}");
    }
    assert!(page.contains("badge accepted") && page.contains("1 retired"));
    assert_eq!(
        page,
        super::render_page(&store, time_at(90_000_002)).unwrap(),
        "the same is drawn the same"
    );
}

#[test]
fn stored_text_is_escaped() {
    const HOSTILE: &str = "</text></svg><script>alert('1')</script> \" onload=\"x & <img src=//evil.example/x> \u{202e}";
    let folder = tempfile::tempdir().unwrap();
    let mean = |number: i64| GeneratedLesson {
        at: number * 100_000,
        session: usize::try_from(number).unwrap(),
        goal: HOSTILE.into(),
        surprise: Some(HOSTILE.into()),
        cause: Some(("oversight", HOSTILE.into())),
        what_worked: Some(HOSTILE.into()),
        takeaway: Some(HOSTILE.into()),
        ..generate_lessons(1, 1).remove(0)
    };
    let all: Vec<GeneratedLesson> = (0..4).map(mean).collect();
    let store = store_with_lessons(folder.path(), &all);
    let page = render_page(&store, time_at(1)).unwrap();
    assert!(page.contains("&lt;script&gt;alert(&#39;1&#39;)"), "{page}");
    for wrong in ["<script", "<img", "onload=\"", "\u{202e}", "http://", "https://", "url("] {
        assert!(!page.contains(wrong), "{wrong}");
    }
    assert_eq!(page.matches("</svg>").count(), page.matches("<svg ").count());
}

#[test]
fn empty_memory_has_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = render_page(&store_with_lessons(folder.path(), &[]), time_at(1)).unwrap();
    assert!(page.contains("None yet.") && page.contains("No cluster yet: 0 experiences here"));
    assert!(!page.contains("<svg"));
}
