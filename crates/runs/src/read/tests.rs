use super::*;

fn verdict_of(command: &str, exit: Option<i32>, output: &str) -> Option<Verdict> {
    read_line(command, &CapturedOutput { exit, output: output.as_bytes(), cut: false })
        .ok()
        .map(|reading| reading.verdict)
}

const GREEN: &str = "\nrunning 2 tests\ntest a ... ok\ntest b ... ok\n\n\
                     test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n";
const RED: &str = "\nrunning 1 test\ntest a ... FAILED\n\nfailures:\n\n---- a stdout ----\n\n\
                   thread 'a' panicked at src/lib.rs:5:9:\nboom\n\n\nfailures:\n    a\n\n\
                   test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n";
const EMPTY: &str = "\nrunning 0 tests\n\n\
                     test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s\n\n";

#[test]
fn verdicts_of_lines() {
    use Verdict::{Failed, Passed, Unknown};
    for (command, exit, output, expected) in [
        ("cargo test", Some(0), GREEN, Some(Passed)),
        ("cargo test", Some(101), RED, Some(Failed)),
        ("cargo test", Some(101), "", Some(Failed)),
        ("cargo test", Some(0), RED, Some(Unknown)),
        ("cargo test nothing", Some(0), EMPTY, Some(Unknown)),
        ("cargo test | tail -3", Some(0), GREEN, Some(Passed)),
        ("cargo test | tail -3", Some(0), RED, Some(Failed)),
        ("cargo test | tail -3", Some(0), "half of it", Some(Unknown)),
        ("cargo test | grep ok", Some(0), GREEN, Some(Unknown)),
        ("cargo test | grep -i fail", Some(0), RED, Some(Failed)),
        ("cargo test | grep -i fail", Some(1), "", Some(Unknown)),
        ("set -o pipefail; cargo test | grep -i fail", Some(1), "", Some(Unknown)),
        ("set -o pipefail; cargo test | grep ok", Some(0), GREEN, Some(Passed)),
        ("cargo test || true", Some(0), RED, Some(Failed)),
        ("cargo test || true", Some(0), "", Some(Unknown)),
        ("cargo test && git push", Some(1), GREEN, Some(Passed)),
        ("cargo test && git push", Some(1), "", Some(Unknown)),
        ("cargo build && cargo test", Some(101), "the build went wrong", Some(Unknown)),
        ("cargo build && cargo test", Some(101), RED, Some(Failed)),
        ("pytest", Some(5), "no tests ran in 0.01s", Some(Unknown)),
        ("cargo test", Some(127), "", None),
        ("cargo test", Some(143), "", None),
        ("timeout 5 cargo test", Some(124), "", None),
        ("ls", Some(0), "", None),
        ("make test", Some(0), "", Some(Passed)),
        ("make test", Some(2), RED, Some(Failed)),
        ("make test | tail", Some(0), "ok", Some(Unknown)),
        (
            "npm test | cat",
            Some(0),
            "\n> shop@1.0.0 test\n> cargo test\n\nhalf of it",
            Some(Unknown),
        ),
    ] {
        assert_eq!(verdict_of(command, exit, output), expected, "{command} {exit:?} {output:.20}");
    }
}

#[test]
fn cut_text_keeps_visible_failure() {
    for cut in [false, true] {
        let seen = CapturedOutput { exit: Some(101), output: RED.as_bytes(), cut };
        let reading = read_line("cargo test", &seen).unwrap();
        assert_eq!(reading.failing, ["a"]);
        assert_eq!(reading.signature.as_deref(), Some("a | panicked | boom | lib.rs"));
        assert_eq!(reading.is_whole, !cut);
    }
}

#[test]
fn each_run_has_an_outcome() {
    use Verdict::{Failed, Passed, Unknown};

    let outcomes = |command: &str, exit, output: &str| -> Vec<(String, Verdict)> {
        let seen = CapturedOutput { exit: Some(exit), output: output.as_bytes(), cut: false };
        let readings = read_runs(&CommandLine::parse(command), &seen).unwrap();
        readings.into_iter().map(|reading| (reading.runner, reading.verdict)).collect()
    };
    let some = |list: &[(&str, Verdict)]| -> Vec<(String, Verdict)> {
        list.iter().map(|(name, verdict)| ((*name).to_owned(), *verdict)).collect()
    };
    assert_eq!(
        outcomes("cargo clippy && cargo test", 0, GREEN),
        some(&[("cargo clippy", Passed), ("cargo test", Passed)])
    );
    assert_eq!(outcomes("cargo test && cargo clippy", 101, RED), some(&[("cargo test", Failed)]));
    let go = "FAIL\nok  \texample.com/b\t0.01s\n";
    assert_eq!(
        outcomes("go test ./a | tail -1 && go test ./b | tail -1", 0, go),
        some(&[("go test", Failed)])
    );
    assert_eq!(outcomes("go build ./... 2>&1 | head -20", 0, ""), some(&[("go build", Passed)]));
    assert_eq!(
        outcomes("go build ./... 2>/dev/null | head", 0, ""),
        some(&[("go build", Unknown)])
    );
    assert_eq!(outcomes("go build ./... | grep x", 0, ""), some(&[("go build", Unknown)]));
    assert_eq!(
        outcomes("go vet ./...; echo \"exit: $?\"", 0, "exit: 0\n"),
        some(&[("go vet", Passed)])
    );
}

#[test]
fn unknown_scripts_are_read_by_output() {
    let read = |command: &str, output: &str| {
        read_line(command, &CapturedOutput { exit: Some(0), output: output.as_bytes(), cut: false })
            .map(|reading| (reading.runner, reading.verdict))
    };
    let pytest = Ok(("pytest".to_owned(), Verdict::Passed));
    assert_eq!(read("./do.sh", "===== 3 passed in 0.12s =====\n"), pytest);
    assert_eq!(read("./do.sh", "all done\n"), Err(NO_RUN));
    assert_eq!(read("cat log.txt", "===== 3 passed in 0.12s =====\n"), Err(NO_RUN));
    assert_eq!(read("gh run view --log", "===== 3 passed in 0.12s =====\n"), Err(NO_RUN));
}

#[test]
fn task_packages_have_own_outcomes() {
    let line = |package: &str, text: &str| {
        text.lines().flat_map(|line| [package, ":test: ", line, "\n"]).collect::<String>()
    };
    let text = line("api", GREEN)
        + &line("web", RED)
        + "web#test: command (/p/web) npm run test exited (1)\n ERROR  run failed: command  exited (1)\n";
    let seen = CapturedOutput { exit: Some(1), output: text.as_bytes(), cut: false };
    let readings = read_runs(&CommandLine::parse("turbo run test"), &seen).unwrap();
    let found: Vec<(Option<&str>, Verdict)> = readings
        .iter()
        .map(|reading| (reading.invocations[0].package.as_deref(), reading.verdict))
        .collect();
    assert_eq!(found, [(Some("api"), Verdict::Passed), (Some("web"), Verdict::Failed)]);
}
