//! Search of experiences by words, on four axes, with filters.

use rutter_memory::Clean;
use rutter_memory::store::{ImportFile, WhoseRows};
use rutter_server::{CallerIdentity, ServerContext};
use serde_json::{Value, json};

use crate::support::{
    ToolTestEnv, assert_answer, call_ok, call_refused, confirm_arguments, exported_rows,
    falsify_arguments, ghap_start_arguments, now, with_fields,
};

/// Creates four resolved GHAPs about different topics.
fn world_with_experiences() -> ToolTestEnv {
    let world = ToolTestEnv::new();
    let one = |goal: &str, fields: Value, end: Value| {
        world.call_ok(
            "start_ghap",
            with_fields(with_fields(ghap_start_arguments(), json!({ "goal": goal })), fields),
        );
        world.call_ok("resolve_ghap", end);
    };
    let texts = |surprise: &str, cause: &str, takeaway: &str| {
        with_fields(
            falsify_arguments(),
            json!({
                "surprise": surprise,
                "root_cause": { "category": "wrong-assumption", "description": cause },
                "lesson": { "takeaway": takeaway },
            }),
        )
    };
    one(
        "the cache evicts old entries",
        json!({ "domain": "debugging", "strategy": "read-the-error" }),
        texts("the clock ran backwards", "monotonic time was assumed", "use Instant for the cache"),
    );
    one(
        "the cache is faster",
        json!({ "domain": "performance", "strategy": "trial-and-error" }),
        with_fields(
            confirm_arguments(),
            json!({ "lesson": { "takeaway": "batch the cache writes" } }),
        ),
    );
    one(
        "the login page loads",
        json!({ "domain": "debugging", "strategy": "check-assumptions" }),
        texts("the proxy strips headers", "the proxy was forgotten", "look at the proxy first"),
    );
    one(
        "the cache of the proxy is warm",
        json!({ "domain": "debugging", "strategy": "read-the-error" }),
        json!({ "status": "abandoned", "result": "not needed" }),
    );
    world
}

fn goals(found: &Value) -> Vec<&str> {
    found["results"].as_array().unwrap().iter().map(|hit| hit["goal"].as_str().unwrap()).collect()
}

#[test]
fn hit_has_actionable_fields() {
    let world = world_with_experiences();
    let ask = json!({ "query": "why does the cache evict old entries", "limit": 1 });
    let hit = world.call_ok("search_experiences", ask)["results"][0].clone();
    let score = hit["score"].as_f64().unwrap();
    assert!(score > 0.0 && score <= 1.0, "{hit}");
    let whole = world.call_ok("get_ghap", json!({ "id": hit["id"] }))["ghap"].clone();
    for key in ["goal", "domain", "strategy", "surprise", "takeaway", "tier"] {
        assert_eq!(hit[key], whole[key], "{key}");
    }
    assert_eq!(hit["outcome"], whole["status"]);
    assert_eq!(hit["surprise"], "the clock ran backwards");
    assert_eq!(hit["takeaway"], "use Instant for the cache");
}

#[test]
fn results_are_sorted_by_score() {
    let world = world_with_experiences();
    let found = world.call_ok("search_experiences", json!({ "query": "cache evicts entries" }));
    assert_eq!(goals(&found)[0], "the cache evicts old entries");
    let scores: Vec<f64> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["score"].as_f64().unwrap())
        .collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert_eq!(found["count"], scores.len());
}

#[test]
fn search_filters_narrow_results() {
    let world = world_with_experiences();
    for (fields, expected) in [
        (json!({ "domain": "performance" }), vec!["the cache is faster"]),
        (json!({ "strategy": "trial-and-error" }), vec!["the cache is faster"]),
        (json!({ "outcome": "confirmed" }), vec!["the cache is faster"]),
        (
            json!({ "outcome": "falsified" }),
            vec!["the cache evicts old entries", "the login page loads"],
        ),
        (json!({ "outcome": "abandoned" }), vec!["the cache of the proxy is warm"]),
        (
            json!({ "domain": "debugging", "strategy": "read-the-error", "outcome": "falsified" }),
            vec!["the cache evicts old entries"],
        ),
        (json!({ "domain": "security" }), vec![]),
    ] {
        let ask =
            with_fields(json!({ "query": "the cache or the login page or the proxy" }), fields);
        let found = world.call_ok("search_experiences", ask.clone());
        let mut found = goals(&found);
        found.sort_unstable();
        let mut expected = expected;
        expected.sort_unstable();
        assert_eq!(found, expected, "{ask}");
    }
}

#[test]
fn axis_selects_compared_text() {
    let world = world_with_experiences();
    for (axis, query, expected) in [
        ("surprise", "the clock ran backwards", "the cache evicts old entries"),
        ("surprise", "the proxy strips headers", "the login page loads"),
        ("root-cause", "monotonic time was assumed", "the cache evicts old entries"),
        ("root-cause", "the proxy was forgotten", "the login page loads"),
        ("strategy", "trial and error", "the cache is faster"),
    ] {
        let ask = json!({ "query": query, "axis": axis });
        let found = world.call_ok("search_experiences", ask);
        assert_eq!(goals(&found).first(), Some(&expected), "{axis}: {query}");
        // An experience without a surprise is not on the surprise axis.
        if axis != "strategy" {
            assert!(!goals(&found).contains(&"the cache is faster"), "{axis}");
        }
    }
}

#[test]
fn other_projects_need_user_consent() {
    let world = world_with_experiences();
    let boat = world.elsewhere("boat");
    let ask = json!({ "query": "the cache evicts old entries" });
    let closed = call_refused(&boat, "search_other_projects", ask.clone());
    assert!(closed.contains("`rutter config path`"), "{closed}");
    let asked = with_fields(ask.clone(), json!({ "everywhere": true }));
    assert!(call_refused(&boat, "search_experiences", asked).contains("there is no `everywhere`"));
    let config = std::fs::read_to_string(&boat.config).unwrap();
    std::fs::write(&boat.config, format!("{config}\n[scope]\nrecall = \"everywhere\"\n")).unwrap();
    let found = call_ok(&boat, "search_other_projects", ask.clone());
    assert_eq!(goals(&found)[0], "the cache evicts old entries");
    // Every other tool stays inside the project.
    let id = found["results"][0]["id"].clone();
    let found = call_ok(&boat, "search_experiences", ask.clone());
    assert_eq!((goals(&found), &found["count"]), (vec![], &json!(0)));
    let context = call_ok(&boat, "assemble_context", ask);
    assert_eq!(context["items"].as_array().map(Vec::len).unwrap_or_default(), 0, "{context}");
    assert!(call_refused(&boat, "get_ghap", json!({ "id": id })).contains("no GHAP has an id"));
    assert!(call_refused(&boat, "forget", json!({ "ids": [id] })).contains("no row has an id"));
}

#[test]
fn empty_result_gives_advice() {
    let world = ToolTestEnv::new();
    assert_answer!(world.call_answer("search_experiences", json!({ "query": "cache" })), @r#"
    Nothing was found; use other words, or call recall_memories.
    { "results": [], "count": 0, "hint": "use other words, or call recall_memories" }
    "#);
}

#[test]
fn open_ghaps_are_not_experiences() {
    let world = ToolTestEnv::new();
    world.call_ok("start_ghap", ghap_start_arguments());
    let ask = json!({ "query": "CRLF files parse" });
    assert_eq!(world.call_ok("search_experiences", ask.clone())["count"], 0);
    world.call_ok("resolve_ghap", falsify_arguments());
    assert_eq!(world.call_ok("search_experiences", ask)["count"], 1);
}

#[test]
fn premortem_counts_and_names_failures() {
    let world = world_with_experiences();
    assert_answer!(world.call_answer("premortem", json!({ "domain": "debugging" })), @r#"
    debugging: 2 hypotheses were resolved here.
    Failed: `the login page loads` — `look at the proxy first`
    Failed: `the cache evicts old entries` — `use Instant for the cache`
    {
      "resolved": 2,
      "falsified": 2,
      "strategies": [],
      "root_causes": [],
      "failures": [
        {
          "id": "[UUID]",
          "goal": "the login page loads",
          "surprise": "the proxy strips headers",
          "root_cause": "wrong-assumption: the proxy was forgotten",
          "takeaway": "look at the proxy first"
        },
        {
          "id": "[UUID]",
          "goal": "the cache evicts old entries",
          "surprise": "the clock ran backwards",
          "root_cause": "wrong-assumption: monotonic time was assumed",
          "takeaway": "use Instant for the cache"
        }
      ],
      "principles": []
    }
    "#);
    let near =
        world.call_ok("premortem", json!({ "domain": "debugging", "goal": "the login page" }));
    assert_eq!(near["failures"][0]["goal"], "the login page loads");
    // Five cases are enough to count strategies and root causes.
    for _ in 0..3 {
        world.call_ok("start_ghap", ghap_start_arguments());
        world.call_ok("resolve_ghap", falsify_arguments());
    }
    let counted = world.call_ok("premortem", json!({ "domain": "debugging" }));
    assert_eq!(counted["resolved"], 5);
    assert_eq!(counted["strategies"].as_array().unwrap().len(), 2, "{counted}");
    assert!(!counted["root_causes"].as_array().unwrap().is_empty(), "{counted}");
    let only = json!({ "domain": "debugging", "strategy": "check-assumptions" });
    let only = world.call_ok("premortem", only);
    assert_eq!(only["strategies"].as_array().unwrap().len(), 1);
    assert_answer!(world.call_answer("premortem", json!({ "domain": "security" })), @r#"
    Nothing is stored about security here yet.
    { "resolved": 0, "falsified": 0, "strategies": [], "root_causes": [], "failures": [], "principles": [] }
    "#);
}

#[test]
fn premortem_ignores_imported_ghaps() {
    let world = ToolTestEnv::new();
    // The same project in the memory of somebody else.
    let theirs = ServerContext { data: world.desk.data.join("theirs"), ..world.desk.clone() };
    for _ in 0..6 {
        call_ok(&theirs, "start_ghap", ghap_start_arguments());
        call_ok(&theirs, "resolve_ghap", falsify_arguments());
    }
    let file = ImportFile::read(exported_rows(&theirs).join("\n").as_bytes(), |_| {}).unwrap();
    let mut store = world.store();
    let imported = store.import(&file, "theirs.jsonl", WhoseRows::Foreign, now()).unwrap();
    assert!(imported.added >= 6, "{imported:?}");
    let import = store.imports().unwrap()[0].batch.id;
    world.call_ok(
        "start_ghap",
        with_fields(ghap_start_arguments(), json!({ "goal": "old Mac files parse" })),
    );
    world.call_ok("resolve_ghap", falsify_arguments());
    for ahead in [
        json!({ "domain": "debugging" }),
        json!({ "domain": "debugging", "goal": "CRLF files parse" }),
    ] {
        let own = world.call_ok("premortem", ahead.clone());
        assert_eq!((&own["resolved"], &own["falsified"]), (&json!(1), &json!(1)), "{own}");
        assert_eq!(own["failures"].as_array().unwrap().len(), 1, "{own}");
        assert_eq!(own["failures"][0]["goal"], "old Mac files parse");
        assert_eq!((&own["strategies"], &own["root_causes"]), (&json!([]), &json!([])), "{own}");
    }
    store.accept_import(import, now()).unwrap();
    let accepted = world.call_ok("premortem", json!({ "domain": "debugging" }));
    assert_eq!(accepted["resolved"], 7, "{accepted}");
    assert_eq!(accepted["strategies"][0]["falsified"], 7, "{accepted}");
}

/// The same attempt with two different outcomes is two experiences.
#[test]
fn different_outcomes_are_different_experiences() {
    let world = ToolTestEnv::new();
    for end in [confirm_arguments(), falsify_arguments(), confirm_arguments()] {
        world.call_ok("start_ghap", ghap_start_arguments());
        let lesson = json!({ "lesson": { "takeaway": "split lines in one place only" } });
        world.call_ok("resolve_ghap", with_fields(end, lesson));
    }
    let found = world.call_ok("search_experiences", json!({ "query": "CRLF files parse" }));
    let mut outcomes: Vec<&str> = found["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["outcome"].as_str().unwrap())
        .collect();
    outcomes.sort_unstable();
    assert_eq!(outcomes, ["confirmed", "falsified"]);
}

#[test]
fn tools_mark_rows_of_other_checkouts() {
    let world = ToolTestEnv::new();
    let checkout = |name: &str| {
        let desk = world.elsewhere(name);
        let git = desk.folder.join(".git");
        std::fs::create_dir_all(git.join("objects")).unwrap();
        std::fs::create_dir_all(git.join("refs")).unwrap();
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        let config = "[remote \"origin\"]\n\turl = https://github.com/ada/shop.git\n";
        std::fs::write(git.join("config"), config).unwrap();
        desk
    };
    let (one, two) = (checkout("one"), checkout("two"));
    call_ok(
        &one,
        "remember",
        json!({ "content": "the cache is on port 7000", "category": "fact" }),
    );
    // Three similar lessons are a cluster.
    for goal in
        ["the cache evicts old entries", "the cache evicts the oldest", "old cache entries go"]
    {
        call_ok(&one, "start_ghap", with_fields(ghap_start_arguments(), json!({ "goal": goal })));
        call_ok(&one, "resolve_ghap", falsify_arguments());
    }
    call_ok(&one, "start_ghap", ghap_start_arguments());
    world.end_session("session-1");
    let other =
        ServerContext { default_caller: CallerIdentity::Session(Clean::new("session-2")), ..two };
    let mark = "(from another checkout, not confirmed here)";
    let clusters = call_ok(&one, "list_clusters", json!({}));
    let cluster = clusters["clusters"][0]["id"].clone();
    assert!(cluster.is_string(), "{clusters}");
    let text = "look for every place that splits lines";
    call_ok(&one, "add_value", json!({ "cluster": cluster, "text": text }));
    for (tool, arguments, list) in [
        ("recall_memories", json!({ "query": "port of the cache" }), "results"),
        ("recall_memories", json!({}), "results"),
        ("search_experiences", json!({ "query": "the cache evicts old entries" }), "results"),
        ("premortem", json!({ "domain": "debugging" }), "failures"),
        ("get_ghap", json!({ "list": true }), "entries"),
        ("list_clusters", json!({ "cluster": cluster }), "members"),
        ("list_values", json!({}), "values"),
    ] {
        for (desk, expected) in [(&one, None), (&other, Some(mark))] {
            let answer = rutter_server::tools::call_tool(desk, tool, arguments.clone(), None);
            let answer = answer.unwrap_or_else(|refusal| panic!("{tool}: {refusal}"));
            let rows = answer.structured[list].as_array().unwrap();
            assert!(!rows.is_empty(), "{tool}");
            for row in rows {
                assert_eq!(row["unconfirmed"].as_str(), expected, "{tool}: {row}");
            }
            let marks = answer.text.matches(mark).count();
            let least = if expected.is_some() { rows.len() } else { 0 };
            assert!(marks >= least && (least > 0 || marks == 0), "{tool}: {}", answer.text);
        }
    }
}
