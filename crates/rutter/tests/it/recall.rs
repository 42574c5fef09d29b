use crate::support::{TestHome, assert_output};

#[test]
fn recall_finds_by_words_and_meaning() {
    let home = TestHome::new();
    assert_output!(home, home.rutter(&["recall", "redis"]), @"
    exit 0
    --- stderr
    note: nothing was found; add `--all` to search other projects too
    ");
    home.ok(&[
        "remember",
        "The test suite leaks Redis connections: close the client in teardown",
        "--category",
        "fact",
    ]);
    home.ok(&["remember", "Deploys go out on Tuesdays", "--category", "workflow"]);
    assert_output!(home, home.rutter(&["recall", "redis connections leak in tests", "--why"]), @"
    exit 0
    --- stdout
    ID        KIND    SCORE   WHAT
    [ID]      memory  0.63    The test suite leaks Redis connections: close the client in teardown
    [ID]      memory  0.10 -  Deploys go out on Tuesdays

    [ID]     (0.6 × 0.38 of the words + 0.4 × 0.74 in meaning + 0.3 × 0.96 word by word) / 1.3 = 0.63; × 0.94 for place, tier, age and effect = 0.59; likely 98 %
      origin: person in [HOME]/ship
    [ID]     (0.6 × 0.00 of the words + 0.4 × 0.18 in meaning + 0.3 × 0.17 word by word) / 1.3 = 0.10; × 0.94 for place, tier, age and effect = 0.09; likely 0 %
      origin: person in [HOME]/ship
    --- stderr
    note: - is less likely than 50 %: too little to be shown to somebody who did not ask
    ");
    let json = home.json(&["recall", "when do we deploy", "-k", "1"]);
    assert_eq!(json[0]["kind"], "memory");
    assert_eq!(json[0]["text"], "Deploys go out on Tuesdays");
    for field in ["id", "score", "lexical", "meaning", "prior", "rank", "above_floor"] {
        assert!(!json[0][field].is_null(), "{field}: {json}");
    }
    assert_output!(home, home.rutter(&["recall", "redis", "--kind", "commit"]), @"
    exit 2
    --- stderr
    error: invalid value 'commit' for '--kind <KIND>'
      [possible values: memory, experience, episode]

    For more information, try '--help'.
    ");
}
