use super::read_output;
use crate::{TestCounts, Verdict};

fn verdict_of(text: &str) -> Verdict {
    read_output(text).verdict
}

fn ruled_line(title: &str) -> String {
    format!("{:=^80}", format!(" {title} "))
}

#[test]
fn tail_is_enough() {
    let bar = ruled_line("5 passed in 0.02s");
    assert_eq!(verdict_of(&bar), Verdict::Passed);
    assert_eq!(verdict_of("5 passed in 0.02s\n"), Verdict::Passed);
    assert_eq!(verdict_of(&format!("t.py .....   [100%]\n\n{bar}\n")), Verdict::Passed);
    let report = read_output("FAILED a.py::test_b - assert 1 == 2\n1 failed, 4 passed in 0.02s\n");
    assert_eq!(report.verdict, Verdict::Failed);
    assert_eq!(report.failures[0].test.as_deref(), Some("a.py::test_b"));
}

#[test]
fn failing_tail_is_trusted() {
    let tail = "tests/test_book.py:14: \n_ _ _ _ _ _ _ _ _ _ _ _\n\n    def opened(self):\n>       return self.rows[0]\nE       IndexError: list index out of range\n\nbook.py:9: IndexError\n";
    let bar = "========================= 3 failed, 19 passed in 2.55s =========================\n";
    let report = read_output(&format!("{tail}{bar}"));
    assert_eq!(report.verdict, Verdict::Failed);
    assert_eq!(report.counts, Some(TestCounts { passed: 19, failed: 3, skipped: 0 }));
    let short = "FAILED tests/test_book.py::test_open - IndexError: list index out of range\n";
    let summary =
        "=========================== short test summary info ============================\n";
    let report = read_output(&format!("{tail}{summary}{short}{bar}"));
    assert_eq!(report.failures[0].test.as_deref(), Some("tests/test_book.py::test_open"));
    // The same form without a failure is not trusted.
    let passed = bar.replace("3 failed, 19", "22");
    assert_eq!(verdict_of(&format!("{tail}{passed}")), Verdict::Unknown);
}

#[test]
fn timed_summary_is_read() {
    let time = "pytest -q  1.02s user 0.31s system 98% cpu 1.354 total\ntail -1  0.00s user 0.00s system 0% cpu 1.353 total\n";
    assert_eq!(verdict_of(&format!("5 passed in 0.02s\n{time}")), Verdict::Passed);
    assert_eq!(verdict_of(&format!("1 failed, 5 passed in 0.02s\n{time}")), Verdict::Failed);
    let dots = ".....                                                                    [100%]\n";
    assert_eq!(verdict_of(&format!("{dots}5 passed in 0.02s\n{time}")), Verdict::Passed);
}

#[test]
fn misplaced_summary_is_ignored() {
    let bar = ruled_line("5 passed in 0.02s");
    for text in [
        format!("hello\n{bar}\n"),
        "hello\n5 passed in 0.02s\n".to_owned(),
        ".\n5 passed in 0.02s\n".to_owned(),
        format!("{}\ncollected 4 items\n\n{bar}\n", ruled_line("test session starts")),
        format!(
            "{}\ncollected 5 items\n\n=== 5 passed in 0.02s ===\n",
            ruled_line("test session starts")
        ),
        format!("{}\ncollected 5 items\n", ruled_line("test session starts")),
    ] {
        assert_eq!(verdict_of(&text), Verdict::Unknown, "{text}");
    }
}

#[test]
fn stopped_session_is_not_hidden() {
    let good = format!(
        "{}\ncollected 1 item\n\nt.py .   [100%]\n\n{}\n",
        ruled_line("test session starts"),
        ruled_line("1 passed in 0.02s")
    );
    assert_eq!(verdict_of(&good), Verdict::Passed);
    let broken =
        format!("{}\ncollected 3 items\n\nt.py .\n{good}", ruled_line("test session starts"));
    assert_eq!(verdict_of(&broken), Verdict::Unknown);
    let twice = read_output(&good.repeat(2));
    assert_eq!(twice.counts, Some(TestCounts { passed: 2, failed: 0, skipped: 0 }));
}

#[test]
fn inner_session_is_ignored() {
    let start = ruled_line("test session starts");
    let named = format!("{:_^80}", " test_b ");
    let captured = format!("{:-^80}", " Captured stdout call ");
    let text = format!(
        "{start}\ncollected 2 items\n\nt.py .F   [100%]\n\n{}\n{}\n{}\n{start}\ncollected 9 items\n\n{}\n{}\nFAILED t.py::test_b - x\n{}\n",
        ruled_line("FAILURES"),
        named,
        captured,
        ruled_line("9 passed in 0.01s"),
        ruled_line("short test summary info"),
        ruled_line("1 failed, 1 passed in 0.20s"),
    );
    let report = read_output(&text);
    assert_eq!(report.verdict, Verdict::Failed);
    assert_eq!(report.counts, Some(TestCounts { passed: 1, failed: 1, skipped: 0 }));
    assert_eq!(report.failures.len(), 1);
}
