use rutter_memory::store::ValueEdit;
use rutter_testkit::lessons::{GeneratedLesson, generate_lessons};
use rutter_testkit::world::{TestWorld, record_lesson, time_at};

use super::*;

/// Returns a store with the lessons and their clusters and values.
fn store_with_lessons(world: &TestWorld, all: &[GeneratedLesson]) -> Store {
    let mut store = world.store();
    for lesson in all {
        let owner = world.other_session(&format!("session-{}", lesson.session));
        record_lesson(&mut store, &owner, lesson);
    }
    store.update_clusters(time_at(90_000_000)).unwrap();
    store
}

#[test]
fn page_shows_clusters_and_values() {
    let world = TestWorld::new();
    let mut store = store_with_lessons(&world, &generate_lessons(7, 240));
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
    let world = TestWorld::new();
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
    let store = store_with_lessons(&world, &all);
    let page = render_page(&store, time_at(1)).unwrap();
    assert!(page.contains("&lt;script&gt;alert(&#39;1&#39;)"), "{page}");
    for wrong in ["<script", "<img", "onload=\"", "\u{202e}", "http://", "https://", "url("] {
        assert!(!page.contains(wrong), "{wrong}");
    }
    assert_eq!(page.matches("</svg>").count(), page.matches("<svg ").count());
}

#[test]
fn empty_memory_has_page() {
    let world = TestWorld::new();
    let page = render_page(&store_with_lessons(&world, &[]), time_at(1)).unwrap();
    assert!(page.contains("None yet.") && page.contains("No cluster yet: 0 experiences here"));
    assert!(!page.contains("<svg"));
}
