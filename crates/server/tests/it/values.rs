//! Clusters, values, and refused values.

use rutter_memory::project::LocatedProject;
use rutter_memory::store::{GhapOwner, ValueEdit};
use rutter_memory::value::ValueStanding;
use rutter_server::ServerContext;
use rutter_server::tools::ToolAnswer;
use rutter_testkit::lessons::GeneratedLesson;
use rutter_testkit::world::{record_lesson, repeated_lesson, time_at};
use serde_json::{Value, json};

use crate::support::{
    ToolTestEnv, advance_clock, assert_answer, call_ok, ghap_start_arguments, now, with_fields,
};

/// A day, in seconds.
const DAY_SECONDS: i64 = 86_400;

/// The same trap five times, in different words.
const TRAPS: [(&str, &str, &str); 5] = [
    (
        "the total is off by one cent",
        "the discount was rounded before the tax was added",
        "round once, at the end, not in between",
    ),
    (
        "the invoice sum differs from the items",
        "each line was rounded before the lines were added up",
        "add first and round the sum at the end",
    ),
    (
        "the basket shows another amount than the receipt",
        "amounts were rounded in between, before the tax",
        "keep exact amounts and round once at the end",
    ),
    (
        "tax is one cent too high",
        "rounding happened twice, before and after the tax was added",
        "never round an amount twice: round at the end",
    ),
    (
        "the refund does not match the payment",
        "the amount was rounded before the fee was taken off",
        "round the amount once, at the very end",
    ),
];

fn learn_traps(world: &ToolTestEnv) {
    learn_traps_in(world, &world.desk, &TRAPS);
}

/// Creates the experiences in the project of a server context.
fn learn_traps_in(world: &ToolTestEnv, desk: &ServerContext, traps: &[(&str, &str, &str)]) {
    for (number, (goal, surprise, takeaway)) in traps.iter().enumerate() {
        let owner = GhapOwner {
            place: (&LocatedProject::find(&desk.folder)).into(),
            ..world.world.other_session(&format!("rounding-{number}"))
        };
        let lesson = GeneratedLesson {
            at: (now().millis() - time_at(0).millis()) / 1_000,
            goal: (*goal).to_owned(),
            surprise: Some((*surprise).to_owned()),
            cause: Some(("wrong-assumption", (*surprise).to_owned())),
            takeaway: Some((*takeaway).to_owned()),
            ..repeated_lesson(0)
        };
        record_lesson(&mut world.store(), &owner, &lesson);
        advance_clock(DAY_SECONDS);
    }
}

fn only_cluster(world: &ToolTestEnv) -> Value {
    let found = world.call_ok("list_clusters", json!({ "axis": "root_cause" }));
    assert_eq!(found["count"], 1, "{found}");
    found["clusters"][0].clone()
}

#[test]
fn common_root_cause_forms_cluster() {
    let world = ToolTestEnv::new();
    assert_eq!(world.call_ok("list_clusters", json!({}))["count"], 0);
    learn_traps(&world);
    let found = only_cluster(&world);
    assert_eq!(found["size"], 5, "{found}");
    assert_eq!(found["axis"], "root-cause");
    let one = world.call_ok("list_clusters", json!({ "cluster": found["id"] }));
    let members = one["members"].as_array().unwrap();
    assert_eq!(members.len(), 5);
    let distances: Vec<f64> = members.iter().map(|one| one["distance"].as_f64().unwrap()).collect();
    assert!(distances.is_sorted(), "{distances:?}");
    // The cluster keeps its id when a member is added.
    call_ok(
        &world.session("other"),
        "start_ghap",
        with_fields(ghap_start_arguments(), json!({ "goal": "fees add up" })),
    );
    let more = json!({
        "status": "falsified", "result": "red", "surprise": "the fee was rounded before it was added",
        "root_cause": { "category": "wrong-assumption", "description": "the fee was rounded before it was added up" },
    });
    call_ok(&world.session("other"), "resolve_ghap", more);
    let grown = only_cluster(&world);
    assert_eq!((&grown["id"], &grown["size"]), (&found["id"], &json!(6)));
    let refusal = world.call_refused("list_clusters", json!({ "cluster": "0123456789abcdef" }));
    assert_eq!(refusal, "no cluster has an id that ends in 0123456789abcdef");
}

#[test]
fn value_must_fit_its_cluster() {
    let world = ToolTestEnv::new();
    learn_traps(&world);
    let id = only_cluster(&world)["id"].clone();
    let far = json!({ "cluster": id, "text": "Pin the version of the compiler in continuous integration" });
    let refusal = world.call_refused("add_value", far);
    assert!(refusal.contains("does not fit cluster"), "{refusal}");
    let number = |after: &str| -> f64 {
        let rest = refusal.split_once(after).expect(after).1;
        rest.split([',', ';', ' ']).next().unwrap().parse().expect(&refusal)
    };
    assert!(number("its distance is ") > number("the maximum is "), "{refusal}");

    let text = "Round an amount once, at the end, never before it is added up";
    let added = world.call_ok("add_value", json!({ "cluster": id, "text": text }));
    assert_eq!((&added["standing"], &added["merged"]), (&json!("proposed"), &json!(false)));
    assert!(added["distance"].as_f64() <= added["threshold"].as_f64(), "{added}");
    let again = world.call_ok("add_value", json!({ "cluster": id, "text": text }));
    assert_eq!((&again["id"], &again["merged"]), (&added["id"], &json!(true)));
    let listed = world.call_ok("list_values", json!({ "standing": "proposed" }));
    let values = listed["values"].as_array().unwrap();
    let own: Vec<&Value> = values.iter().filter(|value| value["text"] == text).collect();
    assert_eq!(own.len(), 1, "{listed}");
    assert_eq!(own[0]["cluster"], id);
}

#[test]
fn tools_accept_no_value() {
    let world = ToolTestEnv::new();
    learn_traps(&world);
    let listed = world.call_ok("list_values", json!({}));
    let proposed: Vec<&Value> = listed["values"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|value| value["standing"] == "proposed")
        .collect();
    assert!(!proposed.is_empty(), "{listed}");
    assert!(proposed[0]["support"].as_u64() >= Some(3), "{listed}");
    let lessons: Vec<&str> = TRAPS.iter().map(|(_, _, takeaway)| *takeaway).collect();
    assert!(lessons.contains(&proposed[0]["text"].as_str().unwrap()), "{listed}");
    // A recurring lesson is proposed; the same text from an agent does not accept it, and neither does another text.
    let value = json!({ "cluster": proposed[0]["cluster"], "text": proposed[0]["text"] });
    let again = world.call_ok("add_value", value.clone());
    assert_eq!(again["id"], proposed[0]["id"]);
    assert_eq!(again["standing"], "proposed");
    let text = "Round an amount once, at the end, never before it is added up";
    let new =
        world.call_ok("add_value", json!({ "cluster": proposed[0]["cluster"], "text": text }));
    assert_eq!(new["standing"], "proposed");
    assert_eq!(world.call_ok("list_values", json!({ "standing": "accepted" }))["count"], 0);
    // A person accepts it, and a later call does not change that.
    let accepts = ValueEdit { standing: Some(ValueStanding::Accepted), ..ValueEdit::default() };
    let id = again["id"].as_str().unwrap().parse().unwrap();
    world.store().edit_value(id, &accepts, now()).unwrap();
    assert_eq!(world.call_ok("add_value", value)["standing"], "accepted");
}

#[test]
fn other_projects_are_only_counted() {
    let world = ToolTestEnv::new();
    let boat = world.elsewhere("boat");
    learn_traps_in(&world, &boat, &TRAPS[..4]);
    let axis = json!({ "axis": "root_cause" });
    let answer = world.call_answer("list_clusters", axis.clone());
    assert_answer!(answer, @r#"
    There are no clusters yet; a cluster needs three or more similar experiences.
    { "clusters": [], "count": 0, "hint": "a cluster needs three or more similar experiences" }
    "#);
    let theirs = call_ok(&boat, "list_clusters", axis.clone());
    assert_eq!((&theirs["count"], &theirs["clusters"][0]["size"]), (&json!(1), &json!(4)));
    let id = theirs["clusters"][0]["id"].clone();
    let refusal = world.call_refused("list_clusters", json!({ "cluster": id }));
    assert!(refusal.starts_with("no cluster has an id"), "{refusal}");
    let value = json!({ "cluster": id, "text": TRAPS[0].1 });
    assert_eq!(world.call_refused("add_value", value), refusal);

    // In a cluster of both projects, each sees its own members and the number of the others.
    learn_traps_in(&world, &world.desk, &TRAPS[4..]);
    assert_answer!(world.call_answer("list_clusters", json!({ "cluster": id })), @r#"
    [ID] root-cause, 5 experiences (4 elsewhere): `the amount was rounded before the fee was taken off`
    0.17 [ID] falsified: `the amount was rounded before the fee was taken off`
    {
      "clusters": [
        {
          "id": "[UUID]",
          "axis": "root-cause",
          "size": 5,
          "elsewhere": 4,
          "cohesion": 0.555,
          "medoid": "[UUID]",
          "text": "the amount was rounded before the fee was taken off",
          "values": 1
        }
      ],
      "count": 1,
      "members": [
        {
          "id": "[UUID]",
          "distance": 0.166,
          "outcome": "falsified",
          "domain": "debugging",
          "tier": "silver",
          "text": "the amount was rounded before the fee was taken off"
        }
      ]
    }
    "#);
    let listed = world.call_ok("list_clusters", axis.clone());
    assert_eq!(listed["clusters"][0]["text"], TRAPS[4].1, "{listed}");
    assert_eq!(listed["clusters"][0]["elsewhere"], 4, "{listed}");
    let theirs = call_ok(&boat, "list_clusters", json!({ "cluster": id }));
    assert_eq!(theirs["clusters"][0]["elsewhere"], 1, "{theirs}");
    assert!(!theirs.to_string().contains(TRAPS[4].1), "{theirs}");
    assert_eq!(theirs["members"].as_array().unwrap().len(), 4);
    assert_eq!(theirs["clusters"][0]["medoid"], theirs["members"][0]["id"], "{theirs}");

    // `scope.recall = "everywhere"` opens other projects to hooks and to `search_other_projects` only.
    let config = std::fs::read_to_string(&world.desk.config).unwrap();
    std::fs::write(&world.desk.config, format!("{config}\n[scope]\nrecall = \"everywhere\"\n"))
        .unwrap();
    let still = world.call_ok("list_clusters", axis);
    assert_eq!(still["clusters"][0]["elsewhere"], 4, "{still}");
}

#[test]
fn other_projects_cause_no_conflicts() {
    let world = ToolTestEnv::new();
    let boat = world.elsewhere("boat");
    learn_traps_in(&world, &boat, &TRAPS[..3]);
    learn_traps_in(&world, &world.desk, &TRAPS[3..]);
    let id = only_cluster(&world)["id"].clone();
    let add = |text: &str| json!({ "cluster": id, "text": text });
    let theirs = "Always round an amount before it is added up";
    let against = call_ok(&boat, "add_value", add(theirs));
    let ours = add("Never round an amount before it is added up");
    let added = world.call_answer("add_value", ours.clone());
    let conflict = json!({ "id": against["id"], "text": theirs });
    let names = |answer: &ToolAnswer| {
        let conflicts = answer.structured["conflicts"].as_array();
        let listed = conflicts.is_some_and(|conflicts| conflicts.contains(&conflict));
        assert_eq!(listed, answer.text.contains(theirs), "{answer:?}");
        listed
    };
    assert!(!names(&added), "{added:?}");
    // A value for every project also applies here.
    let everywhere = ValueEdit { place: Some(None), ..ValueEdit::default() };
    let id = against["id"].as_str().unwrap().parse().unwrap();
    world.store().edit_value(id, &everywhere, now()).unwrap();
    let again = world.call_answer("add_value", ours);
    assert!(names(&again), "{again:?}");
}

#[test]
fn overlong_value_is_refused() {
    let world = ToolTestEnv::new();
    learn_traps(&world);
    let id = only_cluster(&world)["id"].clone();
    let long =
        |text: String| world.call_refused("add_value", json!({ "cluster": id, "text": text }));
    assert_eq!(
        long("round once ".repeat(30)),
        "text has 330 characters; at most 300 are allowed, so shorten it"
    );
    assert_eq!(
        long("四捨五入は最後に一度だけ".repeat(10)),
        "the value has 120 characters, about 120 tokens; at most 300 characters and 75 tokens are allowed; shorten it to one sentence"
    );
}
