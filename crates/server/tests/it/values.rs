//! What experiences have in common: clusters, values, and what is refused.

use serde_json::{Value, json};

use crate::support::{World, call, start, wait, with};

/// A day, in seconds.
const DAY: i64 = 86_400;

/// The same trap, five times, in other words each time; and something else between.
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

fn learnt(world: &World) {
    for (number, (goal, surprise, takeaway)) in TRAPS.into_iter().enumerate() {
        let desk = world.session(&format!("rounding-{number}"));
        call(&desk, "start_ghap", with(start(), json!({ "goal": goal })));
        let resolved = json!({
            "status": "falsified", "result": "still red", "surprise": surprise,
            "root_cause": { "category": "wrong-assumption", "description": surprise },
            "lesson": { "takeaway": takeaway },
        });
        call(&desk, "resolve_ghap", resolved);
        wait(DAY);
    }
}

fn cluster(world: &World) -> Value {
    let found = world.call("list_clusters", json!({ "axis": "root_cause" }));
    assert_eq!(found["count"], 1, "{found}");
    found["clusters"][0].clone()
}

#[test]
fn what_went_wrong_for_one_reason_belongs_together() {
    let world = World::new();
    assert_eq!(world.call("list_clusters", json!({}))["count"], 0);
    learnt(&world);
    let found = cluster(&world);
    assert_eq!(found["size"], 5, "{found}");
    assert_eq!(found["axis"], "root-cause");
    let one = world.call("list_clusters", json!({ "cluster": found["id"] }));
    let members = one["members"].as_array().unwrap();
    assert_eq!(members.len(), 5);
    let distances: Vec<f64> = members.iter().map(|one| one["distance"].as_f64().unwrap()).collect();
    assert!(distances.is_sorted(), "{distances:?}");
    // Its name stays when there is one more.
    call(&world.session("other"), "start_ghap", with(start(), json!({ "goal": "fees add up" })));
    let more = json!({
        "status": "falsified", "result": "red", "surprise": "the fee was rounded before it was added",
        "root_cause": { "category": "wrong-assumption", "description": "the fee was rounded before it was added up" },
    });
    call(&world.session("other"), "resolve_ghap", more);
    let grown = cluster(&world);
    assert_eq!((&grown["id"], &grown["size"]), (&found["id"], &json!(6)));
    let refusal = world.refused("list_clusters", json!({ "cluster": "0123456789abcdef" }));
    assert_eq!(refusal, "no cluster has an id that ends in 0123456789abcdef");
}

#[test]
fn a_value_is_held_against_its_cluster() {
    let world = World::new();
    learnt(&world);
    let id = cluster(&world)["id"].clone();
    let far = json!({ "cluster": id, "text": "Pin the version of the compiler in continuous integration" });
    let refusal = world.refused("add_value", far);
    assert!(refusal.contains("does not fit cluster"), "{refusal}");
    let number = |after: &str| -> f64 {
        let rest = refusal.split_once(after).expect(after).1;
        rest.split([',', ' ']).next().unwrap().parse().expect(&refusal)
    };
    assert!(number("its distance is ") > number("at most "), "{refusal}");
    assert_eq!(world.call("list_values", json!({ "standing": "accepted" }))["count"], 0);

    let text = "Round an amount once, at the end, never before it is added up";
    let added = world.call("add_value", json!({ "cluster": id, "text": text }));
    assert_eq!((&added["standing"], &added["merged"]), (&json!("accepted"), &json!(false)));
    assert!(added["distance"].as_f64() <= added["threshold"].as_f64(), "{added}");
    let again = world.call("add_value", json!({ "cluster": id, "text": text }));
    assert_eq!((&again["id"], &again["merged"]), (&added["id"], &json!(true)));
    let listed = world.call("list_values", json!({ "standing": "accepted" }));
    assert_eq!(listed["values"][0]["text"], text, "{listed}");
    assert_eq!(listed["count"], 1);
    assert_eq!(listed["values"][0]["cluster"], id);
}

#[test]
fn a_lesson_that_came_back_on_several_days_is_proposed() {
    let world = World::new();
    learnt(&world);
    let listed = world.call("list_values", json!({}));
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
    // Whoever says the same accepts it.
    let value = json!({ "cluster": proposed[0]["cluster"], "text": proposed[0]["text"] });
    let accepted = world.call("add_value", value);
    assert_eq!(accepted["id"], proposed[0]["id"]);
    assert_eq!(accepted["standing"], "accepted");
}
