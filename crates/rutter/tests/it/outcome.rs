use crate::support::rutter_with;

/// What a runner really printed, from the fixtures of its reader.
fn printed(case: &str) -> Vec<u8> {
    let path = rutter_testkit::root().join("crates/memory/fixtures/outcomes").join(case);
    let mut bytes = std::fs::read(path.with_extension("out")).unwrap();
    bytes.extend(std::fs::read(path.with_extension("err")).unwrap_or_default());
    bytes
}

#[test]
fn a_run_is_read_and_the_verdict_explained() {
    insta::assert_snapshot!(rutter_with(&["outcome", "--command", "cd api && uv run pytest -x", "--exit", "1"], &printed("pytest/fail")), @"
    exit 0
    --- stdout
    failed: pytest (test)
      because    it failed by its exit status and by its text
      counts     7 passed, 3 failed, 1 skipped
      failing    tests/test_shop.py::TestShop::test_empty
      failing    tests/test_shop.py::test_discount[10-90]
      failing    tests/test_shop.py::test_discount[50-50]
      signature  tests/test_shop.py::TestShop::test_empty | shop.Empty | no items in basket at # | shop.py
      took       40 ms
    ");
    insta::assert_snapshot!(rutter_with(&["outcome", "--command", "pytest | tail -20", "--exit", "0"], &printed("pytest/fail")), @"
    exit 0
    --- stdout
    failed: pytest (test)
      because    the exit status is hidden; its text says that it failed
      counts     7 passed, 3 failed, 1 skipped
      failing    tests/test_shop.py::TestShop::test_empty
      failing    tests/test_shop.py::test_discount[10-90]
      failing    tests/test_shop.py::test_discount[50-50]
      signature  tests/test_shop.py::TestShop::test_empty | shop.Empty | no items in basket at # | shop.py
      took       40 ms
    ");
    insta::assert_snapshot!(rutter_with(&["outcome", "--command", "cargo test || true", "--exit", "0"], b"Compiling x"), @"
    exit 0
    --- stdout
    unknown: cargo test (test)
      because    the exit status is hidden, and the text does not say
    ");
    insta::assert_snapshot!(rutter_with(&["outcome", "--command", "ls -la", "--exit", "0"], b""), @"
    exit 0
    --- stdout
    no outcome: no command in it is a run of tests, a build or a check that is waited for
    ");
    insta::assert_snapshot!(rutter_with(&["outcome", "--command", "cargo test", "--exit", "143"], b""), @"
    exit 0
    --- stdout
    no outcome: a signal or a time-out ended it
    ");
    insta::assert_snapshot!(rutter_with(&["outcome", "--command", "go vet ./...", "--exit", "0", "--json"], b""), @r#"
    exit 0
    --- stdout
    {
      "outcome": {
        "kind": "lint",
        "runner": "go vet",
        "verdict": "passed",
        "counts": null,
        "failing": [],
        "signature": null,
        "exit": 0,
        "duration": null
      },
      "because": "it exited with 0"
    }
    "#);
}

#[test]
fn the_command_is_needed() {
    assert_eq!(rutter_with(&["outcome"], b"").exit, Some(2));
}
