//! Events that precede a block of a page: sessions of a client, played with the real hooks.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::shell::{HOME, PageShell};

/// A named sequence of steps that a page refers to.
pub(super) struct Scene {
    name: &'static str,
    steps: &'static [SceneStep],
}

/// A single event in one of the sessions.
enum SceneStep {
    /// A session begins. The following commands of the page run inside of it.
    Begins(SceneSession),
    /// A session ends. The following commands of the page run outside of any session.
    Ends(SceneSession),
    /// The user submits a prompt.
    Prompt(SceneSession, &'static str),
    Fails(SceneSession, &'static FailingTest),
    /// The agent fixes `cart.py`.
    Fixes(SceneSession),
    Passes(SceneSession),
    /// `cart.py` gets its original bug back.
    Reverts,
    /// The agent starts a GHAP and resolves it as falsified, with a lesson.
    ResolvesGhap(SceneSession, &'static FalsifiedGhap),
}

use SceneSession::{First, Fourth, Second, Third};
use SceneStep::{Begins, Ends, Fails, Fixes, Passes, Prompt, ResolvesGhap, Reverts};

#[derive(Clone, Copy)]
enum SceneSession {
    First,
    Second,
    Third,
    Fourth,
}

impl SceneSession {
    fn id(self) -> &'static str {
        match self {
            First => "0c3b7a52-9d1e-4f60-8a37-5e2f1b6c4d90",
            Second => "7e91d4f8-2b6c-4a05-9c13-f08a5d7b3e64",
            Third => "b2d8e6a1-4c7f-4e93-8d20-6a9f3c5e1b78",
            Fourth => "e5f0c2d7-8a3b-4d16-9f42-1c7e8b6a0d35",
        }
    }
}

/// A falsified GHAP.
struct FalsifiedGhap {
    goal: &'static str,
    hypothesis: &'static str,
    surprise: &'static str,
    cause: &'static str,
    takeaway: &'static str,
}

const NIGHT: FalsifiedGhap = FalsifiedGhap {
    goal: "the nightly export finishes",
    hypothesis: "the timeout of the export is too short",
    surprise: "the connection pool was empty after an hour",
    cause: "an early return skips the release of the connection",
    takeaway: "release the connection in a finally block",
};
const IMPORT: FalsifiedGhap = FalsifiedGhap {
    goal: "the import of the catalogue does not hang",
    hypothesis: "the catalogue is too large for one transaction",
    surprise: "all connections of the pool were taken, by nobody",
    cause: "an exception in the loop skips the release of the connection",
    takeaway: "release connections in a finally block, never behind the last statement",
};
const REPORT: FalsifiedGhap = FalsifiedGhap {
    goal: "the report page answers",
    hypothesis: "the query of the report lacks an index",
    surprise: "the query was fast, and waited for a connection of the pool",
    cause: "a retry takes a second connection and never releases the first",
    takeaway: "a connection is released in the finally block of whoever took it",
};

/// A failing test.
struct FailingTest {
    module: &'static str,
    test: &'static str,
    error: &'static str,
}

const TOTAL: FailingTest = FailingTest {
    module: "test_cart.Cart",
    test: "test_total",
    error: "AssertionError: 90.0 != 100",
};
const EVICTS: FailingTest = FailingTest {
    module: "test_cache.Cache",
    test: "test_evicts",
    error: "AssertionError: 9 != 8",
};

const BUGGY_LINE: &str = "    return sum(items) * 0.9";
const FIXED_LINE: &str = "    return sum(items)";

const SCENES: [Scene; 11] = [
    Scene { name: "a session begins", steps: &[Begins(First)] },
    Scene { name: "the first test fails", steps: &[Fails(First, &TOTAL)] },
    Scene { name: "an edit mends it", steps: &[Fixes(First), Passes(First), Ends(First)] },
    Scene {
        name: "a test fails and an edit mends it",
        steps: &[Begins(First), Fails(First, &TOTAL), Fixes(First), Passes(First), Ends(First)],
    },
    Scene {
        name: "the same test fails in a later session",
        steps: &[Begins(Second), Reverts, Fails(Second, &TOTAL)],
    },
    Scene {
        name: "a failure that was mended comes back",
        steps: &[
            Begins(First),
            Fails(First, &TOTAL),
            Fixes(First),
            Passes(First),
            Ends(First),
            Begins(Second),
            Reverts,
            Fails(Second, &TOTAL),
        ],
    },
    Scene { name: "that session ends", steps: &[Ends(Second)] },
    Scene { name: "the run contradicts the prediction", steps: &[Fails(First, &EVICTS)] },
    Scene {
        name: "a later session is asked about it",
        steps: &[
            Ends(First),
            Begins(Second),
            Prompt(Second, "the cache test is flaky again, have a look"),
        ],
    },
    Scene {
        name: "three sessions learn the same thing",
        steps: &[
            Begins(First),
            ResolvesGhap(First, &NIGHT),
            Ends(First),
            Begins(Second),
            ResolvesGhap(Second, &IMPORT),
            Ends(Second),
            Begins(Third),
            ResolvesGhap(Third, &REPORT),
            Ends(Third),
        ],
    },
    Scene { name: "another session begins", steps: &[Begins(Fourth)] },
];

pub(super) fn find_scene(name: &str) -> Option<&'static Scene> {
    SCENES.iter().find(|scene| scene.name == name)
}

/// Returns the context for the model from a hook's output.
pub(super) fn additional_context(stdout: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(stdout).ok()?;
    Some(answer["hookSpecificOutput"]["additionalContext"].as_str()?.to_owned())
}

impl Scene {
    /// Returns the shell commands of the scene.
    pub(super) fn commands(&self, shell: &mut PageShell) -> Vec<String> {
        // Hooks do not create the database, so `maintain` does. `export` waits for background housekeeping.
        let settled = "rutter maintain >/dev/null && rutter export >/dev/null";
        let mut commands = vec![settled.to_owned()];
        for step in self.steps {
            commands.extend(step.commands(shell));
        }
        // The caller needs the output of the last hook, so that one stays last.
        let last = commands.pop().unwrap_or_default();
        commands.push(settled.to_owned());
        commands.push(last);
        commands
    }
}

impl SceneStep {
    fn commands(&self, shell: &mut PageShell) -> Vec<String> {
        let cwd = format!("{}{HOME}/shop", shell.root_dir().display());
        let cart = |line: &str| format!("printf 'def total(items):\\n{line}\\n' >{cwd}/cart.py");
        let mut hook = |session: &SceneSession, event: &str, fields: Value| {
            let mut payload =
                json!({ "session_id": session.id(), "cwd": cwd, "hook_event_name": event });
            if let (Value::Object(payload), Value::Object(fields)) = (&mut payload, fields) {
                payload.extend(fields);
            }
            let file = shell.add_file("payload", &payload.to_string());
            format!("rutter hook <{}", file.display())
        };
        let bash = json!({ "command": "python3 -m unittest" });
        match self {
            Begins(session) => vec![
                format!("export CLAUDE_CODE_SESSION_ID={}", session.id()),
                hook(session, "SessionStart", json!({ "source": "startup" })),
            ],
            Ends(session) => vec![
                "unset CLAUDE_CODE_SESSION_ID".to_owned(),
                hook(session, "SessionEnd", json!({ "reason": "other" })),
            ],
            Prompt(session, prompt) => {
                vec![hook(session, "UserPromptSubmit", json!({ "prompt": prompt }))]
            }
            Fails(session, failure) => {
                let fields =
                    json!({ "tool_name": "Bash", "tool_input": bash, "error": failure.output() });
                vec![hook(session, "PostToolUseFailure", fields)]
            }
            Passes(session) => {
                let output = format!(".\n{}\nRan 1 test in 0.000s\n\nOK", "-".repeat(70));
                let response = json!({ "stdout": output, "stderr": "", "interrupted": false });
                let fields =
                    json!({ "tool_name": "Bash", "tool_input": bash, "tool_response": response });
                vec![hook(session, "PostToolUse", fields)]
            }
            Fixes(session) => {
                let lines = [
                    " def total(items):".to_owned(),
                    format!("-{BUGGY_LINE}"),
                    format!("+{FIXED_LINE}"),
                ];
                let patch = json!([{ "lines": lines }]);
                let response =
                    json!({ "filePath": format!("{cwd}/cart.py"), "structuredPatch": patch });
                let fields = json!({ "tool_name": "Edit", "tool_response": response });
                vec![cart(FIXED_LINE), hook(session, "PostToolUse", fields)]
            }
            Reverts => vec![cart(BUGGY_LINE)],
            ResolvesGhap(session, wrong) => wrong.commands(session.id()),
        }
    }
}

impl FalsifiedGhap {
    /// Returns the commands that the agent types in its shell.
    fn commands(&self, session: &str) -> Vec<String> {
        let Self { goal, hypothesis, surprise, cause, takeaway } = self;
        let rutter = format!("CLAUDE_CODE_SESSION_ID={session} rutter ghap");
        vec![
            format!(
                "{rutter} start --domain debugging --strategy read-the-error --goal '{goal}' \
                 --hypothesis '{hypothesis}' --action 'change it and look' --prediction 'it does not hang' >/dev/null"
            ),
            format!(
                "{rutter} resolve --status falsified --result 'it hangs' --surprise '{surprise}' \
                 --root-cause-category oversight --root-cause '{cause}' --takeaway '{takeaway}' >/dev/null"
            ),
        ]
    }
}

impl FailingTest {
    /// Returns the output of unittest as the client passes it to hooks.
    fn output(&self) -> String {
        let Self { module, test, error } = self;
        let (double, single) = ("=".repeat(70), "-".repeat(70));
        let file = module.split('.').next().unwrap_or_default();
        let mut text =
            format!("Exit code 1\nF\n{double}\nFAIL: {test} ({module}.{test})\n{single}\n");
        let place = format!("  File \"/home/ada/shop/{file}.py\", line 6, in {test}");
        let called = "    self.assertEqual(seen, wanted)";
        writeln!(text, "Traceback (most recent call last):\n{place}\n{called}\n{error}\n").unwrap();
        text + &format!("{single}\nRan 1 test in 0.000s\n\nFAILED (failures=1)")
    }
}
