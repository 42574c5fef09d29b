use super::read_output;
use crate::Verdict;

/// Returns the names of the failing tests.
fn failing_tests(text: &str) -> Vec<String> {
    read_output(text).failures.into_iter().filter_map(|failure| failure.test).collect()
}

#[test]
fn failing_package_among_passing_ones() {
    let text = "ok  \ta\t0.1s\nFAIL\tb\t0.2s\nok  \tc\t0.1s\n";
    assert_eq!(read_output(text).verdict, Verdict::Failed);
}

#[test]
fn several_runs_are_read() {
    let first = "--- FAIL: TestLoad (0.01s)\n    load_test.go:9: Load() = 1, want 2\nFAIL\nFAIL\texample.com/shop/load\t0.1s\nFAIL\n";
    let second = "ok  \texample.com/shop/save\t0.2s\n";
    let verbose =
        "=== RUN   TestSave\n--- PASS: TestSave (0.00s)\nPASS\nok  \texample.com/shop/save\t0.2s\n";
    for text in [
        format!("{first}{second}"),
        format!("{second}{first}"),
        format!("{verbose}{first}"),
        format!("{first}{verbose}"),
    ] {
        let report = read_output(&text);
        assert_eq!(report.verdict, Verdict::Failed, "{text}");
        assert_eq!(report.failures.len(), 1, "{text}");
        let failure = &report.failures[0];
        assert_eq!(failure.test.as_deref(), Some("TestLoad"));
        assert_eq!(failure.scope.as_deref(), Some("example.com/shop/load"));
        assert_eq!(failure.message.as_deref(), Some("Load() = 1, want 2"));
        assert_eq!((failure.frame.as_deref(), failure.line), (Some("load_test.go"), Some(9)));
    }
    let report = read_output(&format!("{first}{verbose}"));
    assert_eq!(report.passed.len(), 1);
    assert_eq!(report.passed[0].test, "TestSave");
    assert_eq!(report.passed[0].scope.as_deref(), Some("example.com/shop/save"));
}

#[test]
fn filtered_lines_are_trusted() {
    assert_eq!(
        failing_tests("--- FAIL: TestA (0.53s)\n--- FAIL: TestB (0.55s)\n"),
        ["TestA", "TestB"]
    );
    assert_eq!(read_output("FAIL\n").verdict, Verdict::Failed);
    let text = "=== RUN   TestA\n=== RUN   TestB\n--- FAIL: TestA (0.53s)\nFAIL\nFAIL\tx/y\t0.6s\n";
    assert_eq!(failing_tests(text), ["TestA"]);
    // `tail` has cut off the start.
    let text = "=== CONT  TestB\n--- FAIL: TestA (0.53s)\n--- PASS: TestB (0.53s)\nFAIL\nFAIL\tx/y\t0.6s\n";
    assert_eq!(failing_tests(text), ["TestA"]);
}

#[test]
fn verbose_tail_has_passed() {
    let text = "--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- PASS: TestB (0.00s)\nPASS\nok  \tx/a\t0.3s\n";
    assert_eq!(read_output(text).verdict, Verdict::Passed);
    assert_eq!(read_output(&text.replace("PASS\nok", "ok")).verdict, Verdict::Unknown);
    assert_eq!(read_output(&format!("{text}FAIL\n")).verdict, Verdict::Failed);
}

#[test]
fn passing_test_output_is_ignored() {
    let text = "=== RUN   TestA\n--- FAIL: TestFake (0.00s)\nFAIL\nFAIL\tx/fake\t0.1s\n--- PASS: TestA (0.00s)\nPASS\nok  \tx/a\t0.1s\n";
    assert_eq!(read_output(text).verdict, Verdict::Unknown);
    assert!(read_output(text).failures.is_empty());
}

#[test]
fn setup_failures_have_reasons() {
    let setup = "# example.com/shop/it\npackage example.com/shop/it: build constraints exclude all Go files in /home/ada/project/it\nFAIL\texample.com/shop/it [setup failed]\nFAIL\n";
    let report = read_output(setup);
    assert_eq!(report.verdict, Verdict::Failed);
    let failure = &report.failures[0];
    assert_eq!(failure.scope.as_deref(), Some("example.com/shop/it"));
    let message = failure.message.as_deref().unwrap();
    assert!(message.starts_with("build constraints exclude all Go files"), "{message}");

    let missing = "# example.com/shop/it\nit/a_test.go:3:2: package shop/nowhere is not in std (/usr/lib/go/src/shop/nowhere)\nFAIL\texample.com/shop/it [setup failed]\nok  \texample.com/shop\t0.1s\nFAIL\n";
    let failure = &read_output(missing).failures[0];
    assert_eq!((failure.frame.as_deref(), failure.line), (Some("it/a_test.go"), Some(3)));

    // `head` has cut off the line of the package.
    let build = "# example.com/shop [example.com/shop.test]\n./a_test.go:7:2: undefined: Open\n./a_test.go:9:2: undefined: Close\n";
    let report = read_output(build);
    assert_eq!((report.verdict, report.failures.len()), (Verdict::Failed, 2));
    // Without a header it may be output of a test.
    assert_eq!(read_output("./a_test.go:7:2: undefined: Open\n").verdict, Verdict::Unknown);
}

/// Returns the message that is chosen from these log lines.
fn chosen_message(log: &str) -> Option<String> {
    let text = format!("--- FAIL: TestA (0.00s)\n{log}FAIL\nFAIL\tx/a\t0.1s\n");
    read_output(&text).failures.remove(0).message
}

#[test]
fn message_is_the_last_assertion() {
    let log = "    a_test.go:10: starting the daemon\n    a_test.go:20: Close() = true, want false\n    a_test.go:31: all sessions drained successfully\n";
    assert_eq!(chosen_message(log).as_deref(), Some("Close() = true, want false"));
    let log =
        "    a_test.go:10: Expected 3 rows, got 2\n    a_test.go:12: got expected reply: ok\n";
    assert_eq!(chosen_message(log).as_deref(), Some("Expected 3 rows, got 2"));
    let log = "    run.go:88: hook output: 2026-01-05 INFO expected state not found\n    a_test.go:20: open ledger: permission denied\n";
    assert_eq!(chosen_message(log).as_deref(), Some("open ledger: permission denied"));
    assert_eq!(chosen_message("    a_test.go:10: boom\n").as_deref(), Some("boom"));
}

#[test]
fn headless_log_belongs_to_test() {
    let text = "        more of it\n    a_test.go:9: Close() = 1, want 2\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tx/a\t0.1s\n";
    assert_eq!(read_output(text).failures[0].message.as_deref(), Some("Close() = 1, want 2"));
    // Without -v these belong to another test.
    let text = "    a_test.go:9: Close() = 1, want 2\n--- FAIL: TestB (0.00s)\n    b_test.go:3: Open() = 3, want 4\nFAIL\nFAIL\tx/a\t0.1s\n";
    assert_eq!(read_output(text).failures[0].message.as_deref(), Some("Open() = 3, want 4"));
}

#[test]
fn no_message_without_assertion() {
    let log = "    a_test.go:10: opening\n    a_test.go:12: writing\n";
    assert_eq!(chosen_message(log), None);
    let text = format!("--- FAIL: TestA (0.00s)\n{log}FAIL\nFAIL\tx/a\t0.1s\n");
    let failure = &read_output(&text).failures[0];
    assert_eq!((failure.frame.as_deref(), failure.line), (Some("a_test.go"), None));
}

#[test]
fn tables_of_testify_are_read() {
    let log = "    a_test.go:12: \n        \tError Trace:\t/home/ada/project/a_test.go:12\n        \tError:      \tNot equal: \n        \t            \texpected: 3\n        \t            \tactual  : 4\n        \tTest:       \tTestA\n        \tMessages:   \trows\n";
    assert_eq!(chosen_message(log).as_deref(), Some("Not equal: expected: 3, actual  : 4"));
    let log = "    a_test.go:12: \n        \tError Trace:\t/home/ada/project/a_test.go:12\n        \tError:      \tShould be true\n        \tTest:       \tTestA\n    a_test.go:14: cleaned up\n";
    assert_eq!(chosen_message(log).as_deref(), Some("Should be true"));
}

#[test]
fn panic_is_assigned_to_test() {
    let text = "--- FAIL: TestA (0.00s)\n    a_test.go:9: opening\npanic: boom [recovered, repanicked]\n\ngoroutine 5 [running]:\ntesting.tRunner.func1()\n\t/usr/lib/go/src/testing/testing.go:1 +0x1\nexample.com/shop.TestA(0x1)\n\t/home/ada/project/a_test.go:11 +0x2\nFAIL\texample.com/shop\t0.1s\nok  \texample.com/shop/b\t0.1s\nFAIL\n";
    let report = read_output(text);
    assert_eq!(report.failures.len(), 1);
    let failure = &report.failures[0];
    assert_eq!(failure.test.as_deref(), Some("TestA"));
    assert_eq!(failure.message.as_deref(), Some("boom"));
    assert_eq!(
        (failure.frame.as_deref(), failure.line),
        (Some("/home/ada/project/a_test.go"), Some(11))
    );
}
