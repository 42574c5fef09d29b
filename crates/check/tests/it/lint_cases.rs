//! The cases of the linter.

use crate::lint_case::{
    BLOCKS, LintCase, Place, SCRIPT, SETTINGS, group, guard, guard_script, one_group, own_file,
    settings,
};

/// Returns the cases that settings show.
pub(crate) fn all_cases() -> Vec<LintCase> {
    let mut cases = guard_cases();
    cases.extend(command_cases());
    cases.extend(shape_cases());
    cases.extend(matcher_cases());
    cases.extend(field_cases());
    cases.extend(file_cases());
    cases.extend(plugin_cases());
    cases.extend(session_cases());
    cases
}

/// Answers and exits of guards.
fn guard_cases() -> Vec<LintCase> {
    let deny = r#"{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}}"#;
    let denies = format!("#!/bin/sh\necho '{deny}'\n");
    let says = |answer: &str| format!("#!/bin/sh\necho '{answer}'\n");
    let reads = |key: &str| {
        format!(
            "#!/bin/bash\ntool=$(jq -r {key})\nif [ \"$tool\" = Bash ]; then\n  echo no >&2\n  exit 2\nfi\n"
        )
    };
    let rewrite = |command: &str| {
        says(&format!(
            r#"{{"hookSpecificOutput": {{"hookEventName": "PreToolUse", "updatedInput": {{"command": "{command}", "description": "a step"}}}}}}"#
        ))
    };
    let two = r#""command": "\"$CLAUDE_PROJECT_DIR\"/a-$N.sh""#;
    let two = format!(
        "{two}}}, {{\"if\": \"Bash(touch ran/$N)\", \"type\": \"command\", {}",
        two.replace("a-", "b-")
    );
    let mut conflict = guard("rewrite-conflict", &two)
        .file("a-$N.sh!", &rewrite("echo a >> ran/$N").replacen("echo", "sleep 1\necho", 1))
        .file("b-$N.sh!", &rewrite("seq 3 >> ran/$N"))
        .fixed("$N.sh!", &rewrite("echo a >> ran/$N; seq 3 >> ran/$N"))
        .fixed_guard(SCRIPT);
    // The last one to finish wins.
    conflict.lines = [1, 4];
    vec![
        // The rule corrects the answer.
        guard("answer-dropped", SCRIPT).file(
            "$N.sh!",
            &says(r#"{"permissionDecision": "deny", "permissionDecisionReason": "no"}"#),
        ),
        guard("answer-dropped", SCRIPT).file("$N.sh!", &says(&deny.replace("ToolUse", "ToolCall"))),
        guard("answer-dropped", SCRIPT)
            .file("$N.sh!", &says(r#"{"decision": "deny", "reason": "no"}"#)),
        guard("async-guard", &format!("{SCRIPT}, \"async\": true"))
            .file("$N.sh!", BLOCKS)
            .fixed_guard(SCRIPT),
        // The rule corrects the script.
        guard("guard-fails-open", SCRIPT)
            .file("$N.sh!", "#!/bin/sh\necho 'Blocked: no touch' >&2\nexit 1\n"),
        guard_script(
            "guard-fails-open",
            "#!/bin/bash\nset -e\ngrep -q 'no such word'\nexit 2\n",
            "#!/bin/bash\nset -e\ntrap 'exit 2' ERR\ngrep -q 'no such word'\nexit 2\n",
        ),
        guard_script(
            "output-before-json",
            &denies.replacen("echo", "echo checking\necho", 1),
            &denies,
        ),
        guard_script("payload-key", &reads(".tool"), &reads(".tool_name")),
        guard("on-failure-ignored", r#""command": "exit 1", "onFailure": "block", "async": true"#)
            .fixed_guard(r#""command": "exit 1", "onFailure": "block""#),
        guard(
            "variable-unset",
            r#""command": "case \"$CLAUDE_TOOL_INPUT\" in *touch*) exit 2;; esac""#,
        )
        .fixed_guard(r#""command": "case \"$(cat)\" in *touch*) exit 2;; esac""#),
        // The client starts no hook of settings that names the folder of a plugin.
        guard("variable-unset", r#""command": "\"${CLAUDE_PLUGIN_ROOT}\"/$N.sh""#)
            .file("$N.sh!", BLOCKS)
            .fixed_guard(SCRIPT),
        conflict,
    ]
}

/// Commands that do not start.
fn command_cases() -> Vec<LintCase> {
    let python = "import os\nwith open('ran/$N', 'a') as file:\n    file.write('x\\n')\n";
    let good = |case: LintCase| case.fixed("$N.sh!", BLOCKS).fixed_guard(SCRIPT);
    vec![
        group(
            "command-path",
            "Stop",
            r#"{"hooks": [{"type": "command", "command": "./$N.sh"}]}"#,
            [0, 1],
        )
        .file("$N.sh!", "#!/bin/sh\necho x >> \"$CLAUDE_PROJECT_DIR\"/ran/$N\n")
        .fixed_group("Stop", &format!("{{\"hooks\": [{{\"type\": \"command\", {SCRIPT}}}]}}"))
        .at(Place::AfterCd),
        // The folder of the session has a space. The rule adds the quotes.
        guard("command-path", r#""command": "$CLAUDE_PROJECT_DIR/$N.sh""#).file("$N.sh!", BLOCKS),
        guard("command-path", r#""command": "$CLAUDE_PROJECT_DIR/$N.sh", "args": []"#)
            .file("$N.sh!", BLOCKS)
            .fixed_guard(r#""command": "${CLAUDE_PROJECT_DIR}/$N.sh", "args": []"#),
        guard("command-path", r#""command": "$HOME/$N.sh", "args": []"#)
            .file("$N.sh!", BLOCKS)
            .fixed_guard(r#""command": "${CLAUDE_PROJECT_DIR}/$N.sh", "args": []"#),
        guard("command-path", r#""command": "~/$N.sh", "args": []"#)
            .file("$N.sh!", BLOCKS)
            .fixed_guard(r#""command": "${CLAUDE_PROJECT_DIR}/$N.sh", "args": []"#),
        guard("command-path", r#""command": "sh $N.sh", "args": []"#)
            .file("$N.sh!", BLOCKS)
            .fixed_guard(r#""command": "sh", "args": ["${CLAUDE_PROJECT_DIR}/$N.sh"]"#),
        guard("command-path", r#""command": "\"~/$N.sh\"""#)
            .file("../home/$N.sh!", BLOCKS)
            .fixed_guard(r#""command": "sh \"$CLAUDE_PROJECT_DIR\"/../home/$N.sh""#),
        guard("command-path", r#""command": "./my hooks/$N.sh""#)
            .file("my hooks/$N.sh!", BLOCKS)
            .fixed_guard(r#""command": "\"$CLAUDE_PROJECT_DIR\"/\"my hooks\"/$N.sh""#),
        guard("command-program", r#""command": "no-such-program-7 --deny""#)
            .fixed_guard(r#""command": "exit 2""#),
        good(guard("command-script", SCRIPT).file("other.txt", "")),
        good(guard("command-script", SCRIPT).file("$N.sh", BLOCKS)),
        good(guard("command-script", SCRIPT).file("$N.sh!", &BLOCKS.replace('\n', "\r\n"))),
        good(guard("command-script", SCRIPT).file("$N.sh/x", "")),
        // As a guard it would block every call: the shell ends with 2 at the first syntax error.
        group(
            "command-script",
            "PostToolUse",
            &format!(
                "{{\"matcher\": \"Read\", \"hooks\": [{{\"type\": \"command\", {}}}]}}",
                SCRIPT.replace(".sh", ".py")
            ),
            [0, 2],
        )
        .file("$N.py!", python)
        .fixed("$N.py!", &format!("#!/usr/bin/env python3\n{python}")),
        guard("command-shell", r#""command": "[[ $(cat) == *touch* ]] && exit 2""#)
            .fixed_guard(r#""command": "bash -c '[[ $(cat) == *touch* ]] && exit 2'""#),
        guard(
            "command-shell",
            r#""command": "[[ $(cat) == *touch* ]] && exit 2", "shell": "bash""#,
        )
        .fixed_guard(r#""command": "bash -c '[[ $(cat) == *touch* ]] && exit 2'""#),
        guard("command-windows", r#""command": "hooks\\$N.sh""#)
            .file("hooks/$N.sh!", BLOCKS)
            .fixed_guard(r#""command": "\"$CLAUDE_PROJECT_DIR\"/hooks/$N.sh""#),
    ]
}

/// Groups and hooks in a wrong form.
fn shape_cases() -> Vec<LintCase> {
    let witness = r#""Stop": [{"hooks": [{$HOOK}]}]"#;
    let beside = |guards: &str| format!("{{\"hooks\": {{\"PreToolUse\": {guards}, {witness}}}}}");
    let own = |rule, text: &str| own_file(rule, text);
    let right = format!("{{\"hooks\": {{{witness}}}}}");
    vec![
        group("entry-flat", "Stop", "{$HOOK}", [0, 1]),
        own("entry-flat", &beside(r#"[{"matcher": "Edit", "type": "command", "command": "true"}]"#)),
        group("entry-invalid", "Stop", r#"{"hooks": [{"command": "echo x >> ran/$N"}]}"#, [0, 1]),
        group("entry-invalid", "Stop", r#"{"hooks": [{$HOOK, "timeout": "30"}]}"#, [0, 1]),
        group("entry-invalid", "Stop", r#"{"hooks": {$HOOK}}"#, [0, 1]),
        group("entry-invalid", "PostToolUse", r#"{"matcher": ["Read", "Glob"], "hooks": [{$HOOK}]}"#, [0, 2]),
        own("entry-invalid", &beside(r#"[{"hooks": [{"command": "true"}]}]"#)),
        own("entry-invalid", &beside(r#"[{"hooks": [{"type": "comand", "command": "true"}]}]"#))
            .fixed_settings(&right),
        own("event-not-list", r#"{"hooks": {"Stop": {"hooks": [{$HOOK}]}}}"#).keeping_file(),
        own("event-not-list", &beside(r#"{"hooks": [{"type": "command", "command": "true"}]}"#)),
        group("event-unknown", "Stopp", r#"{"hooks": [{$HOOK}]}"#, [0, 1]),
        group("event-unknown", "sessionstart", r#"{"hooks": [{$HOOK}]}"#, [0, 1]),
        group("event-unknown", "PostToolCall", r#"{"matcher": "Read", "hooks": [{$HOOK}]}"#, [0, 2]),
        own("guards-misplaced", &format!("{{\"PreToolUse\": [{{\"hooks\": []}}], \"hooks\": {{{witness}}}}}"))
            .fixed_settings(&right),
        own(
            "guards-misplaced",
            &format!("{{\"hooks\": {{\"Guards\": {{\"PreToolUse\": [{{\"hooks\": []}}]}}, {witness}}}}}"),
        )
        .fixed_settings(&right),
        own("hooks-invalid", r#"{"hooks": [{"event": "Stop", "hooks": [{$HOOK}]}]}"#)
            .fixed_settings(&right),
        own("wrapper-doubled", &format!("{{\"hooks\": {{\"hooks\": {{{witness}}}}}}}")).keeping_file(),
        own(
            "json-duplicate-key",
            &format!("{{\"hooks\": {{{witness}, \"Stop\": [{{\"hooks\": [{{\"type\": \"command\", \"command\": \"true\"}}]}}]}}}}"),
        )
        .keeping_file()
        .fixed_settings(&right),
    ]
}

/// Matchers and `if` rules.
fn matcher_cases() -> Vec<LintCase> {
    let filtered =
        |matcher: &str| format!("{{\"matcher\": \"{matcher}\", \"hooks\": [{{$HOOK}}]}}");
    let on_read = |rule, matcher: &str| group(rule, "PostToolUse", &filtered(matcher), [0, 2]);
    let blocks = r#"{"type": "command", "command": "exit 2"}"#;
    let mut rule = settings(
        "matcher-never",
        &one_group(
            "PreToolUse",
            &format!("{{\"matcher\": \"Bash(touch ran/$N)\", \"hooks\": [{blocks}]}}"),
        ),
        [1, 0],
    );
    rule.has_call = true;
    vec![
        rule,
        on_read("matcher-never", "read"),
        on_read("matcher-never", "Read Glob").fixed_group("PostToolUse", &filtered("Read|Glob")),
        on_read("matcher-never", "LS").fixed_group("PostToolUse", &filtered("Read")),
        on_read("matcher-never", "!Bash").fixed_group("PostToolUse", &filtered("Read")),
        on_read("matcher-never", "tool == 'Read'").fixed_group("PostToolUse", &filtered("Read")),
        on_read("matcher-never", "|").fixed_group("PostToolUse", &filtered("Read")),
        group("matcher-never", "SessionStart", &filtered("start"), [0, 1])
            .fixed_group("SessionStart", &filtered("startup")),
        on_read("matcher-dead-name", "read|Glob"),
        on_read("matcher-dead-name", "Reads|Glob")
            .fixed_group("PostToolUse", &filtered("Read|Glob")),
        on_read("matcher-invalid", "(?i)read").fixed_group("PostToolUse", &filtered("Read")),
        on_read("matcher-invalid", "*Read").fixed_group("PostToolUse", &filtered("Read")),
        group("matcher-invalid", "SessionStart", &filtered("**"), [0, 1]),
        group("matcher-broad", "PreToolUse", &filtered("(Edit|Write)"), [1, 0])
            .fixed_group("PreToolUse", &filtered("Edit|Write")),
        group("matcher-broad", "PreToolUse", &filtered("Edit.*"), [1, 0])
            .fixed_group("PreToolUse", &filtered("Edit")),
        group("matcher-ignored", "Stop", &filtered("Bash"), [1, 1])
            .fixed_group("Stop", r#"{"hooks": [{$HOOK}]}"#),
        group("matcher-ignored", "UserPromptSubmit", &filtered("no such word"), [1, 1])
            .fixed_group("UserPromptSubmit", r#"{"hooks": [{$HOOK}]}"#),
        group("if-never-runs", "Stop", r#"{"hooks": [{"if": "Bash(git *)", $HOOK}]}"#, [0, 1])
            .fixed_group("Stop", r#"{"hooks": [{$HOOK}]}"#),
        group("if-never-runs", "PostToolUse", r#"{"hooks": [{"if": "read", $HOOK}]}"#, [0, 2]),
        group(
            "if-never-runs",
            "PostToolUse",
            r#"{"matcher": "Glob", "hooks": [{"if": "Read", $HOOK}]}"#,
            [0, 2],
        )
        .fixed_group("PostToolUse", r#"{"matcher": "Read", "hooks": [{"if": "Read", $HOOK}]}"#),
        group("if-never-runs", "PostToolUse", r#"{"hooks": [{"if": "Read|Glob", $HOOK}]}"#, [0, 2])
            .fixed_group("PostToolUse", r#"{"hooks": [{"if": "Read", $HOOK}]}"#),
    ]
}

/// Fields of hooks.
fn field_cases() -> Vec<LintCase> {
    let hooks = |fields: &str| format!("{{\"hooks\": [{{{fields}}}]}}");
    let on_stop = |rule, fields: &str, lines| group(rule, "Stop", &hooks(fields), lines);
    let once = "[ -e ran/$N ] || echo x >> ran/$N";
    let http = r#"{"type": "http", "url": "http://127.0.0.1:$PORT/$N"}"#;
    let allowing = |path: &str| {
        format!(
            "{{\"allowedHttpHookUrls\": [\"http://127.0.0.1:$PORT/{path}\"], \"hooks\": {{\"Stop\": [{{\"hooks\": [{http}]}}]}}}}"
        )
    };
    let prompt = r#"{"type": "prompt", "prompt": "ran/$N"}"#;
    // The server does not count a request with this header and no value. Other cases have a list of allowed URLs.
    let with_header = |more: &str| {
        let fields = format!("\"headers\": {{\"X-Token\": \"$HOME\"}}{more}}}");
        allowing("$N").replace("/$N\"}", &format!("/$N\", {fields}"))
    };
    vec![
        group(
            "field-misplaced",
            "SessionStart",
            r#"{"hooks": [{"matcher": "resume", $HOOK}]}"#,
            [1, 0],
        )
        .fixed_group("SessionStart", r#"{"matcher": "resume", "hooks": [{$HOOK}]}"#),
        group("field-misplaced", "PostToolUse", r#"{"matcher": "Read", "if": "Read(/x/**)", "hooks": [{$HOOK}]}"#, [2, 0])
            .fixed_group("PostToolUse", r#"{"matcher": "Read", "hooks": [{"if": "Read(/x/**)", $HOOK}]}"#),
        on_stop("field-unknown", r#"$HOOK, "enabled": false"#, [1, 0]).fixed_settings("{}"),
        on_stop(
            "field-unknown",
            r#""type": "command", "command": "sleep 3 && echo x >> ran/$N", "Timeout": 1"#,
            [1, 0],
        ),
        on_stop(
            "timeout-too-long",
            r#""type": "command", "command": "sleep 5 && echo x >> ran/$N", "timeout": 4000"#,
            [1, 0],
        ),
        settings("handler-twice", r#"{"hooks": {"Stop": [{"hooks": [{$HOOK}]}, {"hooks": [{$HOOK}]}]}}"#, [1, 1])
            .fixed_group("Stop", &hooks("$HOOK")),
        group("once-ignored", "PostToolUse", r#"{"matcher": "Read", "hooks": [{$HOOK, "once": true}]}"#, [2, 1])
            .fixed_group(
                "PostToolUse",
                &format!("{{\"matcher\": \"Read\", \"hooks\": [{{\"type\": \"command\", \"command\": \"{once}\"}}]}}"),
            ),
        settings("http-blocked", &allowing("other"), [0, 1]).fixed_settings(&allowing("$N")),
        settings("http-variable", &with_header(""), [0, 1])
            .fixed_settings(&with_header(", \"allowedEnvVars\": [\"HOME\"]")),
        group("handler-not-run", "SessionStart", &format!("{{\"hooks\": [{http}]}}"), [0, 1])
            .fixed_group("SessionStart", &hooks("$HOOK")),
        group("handler-not-run", "SessionStart", &format!("{{\"hooks\": [{prompt}]}}"), [0, 1])
            .fixed_group("SessionStart", &hooks("$HOOK")),
    ]
}

/// Files that the client does not read, and switches.
fn file_cases() -> Vec<LintCase> {
    let stop = r#""hooks": {"Stop": [{"hooks": [{$HOOK}]}]}"#;
    let right = format!("{{{stop}}}");
    let case = |rule, text: &str| own_file(rule, text);
    let accented = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "[ é = \"$(printf '\\303\\251')\" ] && echo x >> ran/$N"}]}]}}"#;
    vec![
        case("json-invalid", &format!("{{\n  // the tests\n  {stop},\n}}\n")),
        case("json-invalid", &format!("{{'model': \"sonnet\" {stop}}}")),
        case("json-invalid", &format!("[{{{stop}}}]")).fixed_settings(&right),
        case("setting-wrong-type", &format!("{{\"env\": \"DEBUG=1\", {stop}}}"))
            .fixed_settings(&right),
        case("setting-wrong-type", &format!("{{\"permissions\": [\"Bash\"], {stop}}}"))
            .fixed_settings(&right),
        LintCase {
            is_latin1: true,
            ..case("file-unreadable", accented).fixed_settings(accented).keeping_file()
        },
        case("switched-off", &format!("{{\"disableAllHooks\": true, {stop}}}"))
            .fixed_settings(&right)
            .keeping_file()
            .at(Place::OwnSession),
        case("switched-off", &format!("{{\"env\": {{\"CLAUDE_CODE_SIMPLE\": \"1\"}}, {stop}}}"))
            .fixed_settings(&right)
            .keeping_file()
            .at(Place::UserSession),
    ]
}

/// Hooks that block the end of a turn or a request, each in a session of its own.
fn session_cases() -> Vec<LintCase> {
    let blocks = "echo x >> ran/$N\necho no >&2\nexit 2\n";
    let reads = r#"case "$(cat)" in *'"stop_hook_active":true'*) echo x >> ran/$N; exit 0;; esac"#;
    let stop = |fields: &str| format!("{{\"hooks\": [{{\"type\": \"command\", {fields}}}]}}");
    let on_failure = |word: &str| stop(&format!("{SCRIPT}{word}"));
    let once = format!("#!/bin/sh\n{reads}\n{blocks}");
    let asked = |script: &str| {
        let text =
            format!("{{\"matcher\": \"Bash\", \"hooks\": [{{\"type\": \"command\", {SCRIPT}}}]}}");
        let case = group("exit-ignored", "PermissionRequest", &text, [1, 0]);
        LintCase { has_call: true, ..case.file("$N.sh!", script) }
    };
    let deny = r#"{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "no"}}}"#;
    vec![
        // The client overrides the ninth block in a row.
        group("stop-loop", "Stop", &stop(SCRIPT), [9, 2])
            .file("$N.sh!", &format!("#!/bin/sh\n{blocks}"))
            .fixed("$N.sh!", &once)
            .at(Place::OwnSessions),
        group("on-failure-ignored", "Stop", &on_failure(", \"onFailure\": \"block\""), [1, 2])
            .file("$N.sh!", "#!/bin/sh\necho x >> ran/$N\nexit 1\n")
            .fixed("$N.sh!", &once)
            .fixed_group("Stop", &on_failure(""))
            .at(Place::OwnSessions),
        asked(BLOCKS)
            .fixed("$N.sh!", &format!("#!/bin/sh\necho '{deny}'\n"))
            .at(Place::AskingSessions),
    ]
}

/// Plugins.
fn plugin_cases() -> Vec<LintCase> {
    let stop = r#""Stop": [{"hooks": [{$HOOK}]}]"#;
    let wrapped = format!("{{\"hooks\": {{{stop}}}}}");
    let plugin = |rule, manifest: &str, path: &str, text: &str, lines| LintCase {
        rule,
        place: Place::Plugins,
        broken: vec![
            ("$N/.claude-plugin/plugin.json".to_owned(), manifest.to_owned()),
            (format!("$N/{path}"), text.to_owned()),
        ],
        fixed: Vec::new(),
        lines,
        has_call: false,
        is_latin1: false,
        voids_file: true,
    };
    let (manifest, hooks) = (r#"{"name": "$N"}"#, "hooks/hooks.json");
    let slow = |command: &str| {
        one_group(
            "SessionEnd",
            &format!(
                "{{\"hooks\": [{{\"type\": \"command\", \"command\": \"{command}\", \"timeout\": 30}}]}}"
            ),
        )
    };
    let detached = slow(r"setsid sh -c 'sleep 3; echo x >> ran/$N' > /dev/null 2>&1 < /dev/null &")
        .replace(", \"timeout\": 30", "");
    vec![
        plugin("plugin-invalid", manifest, hooks, &format!("{{{stop}}}"), [0, 1]),
        plugin(
            "plugin-invalid",
            r#"{"name": "$N", "hooks": "more.json"}"#,
            "more.json",
            &wrapped,
            [0, 1],
        ),
        plugin(
            "plugin-invalid",
            r#"{"name": "$N", "hooks": "./more.json"}"#,
            hooks,
            &wrapped,
            [1, 1],
        )
        .fixed("$N/.claude-plugin/plugin.json", manifest)
        .keeping_file(),
        plugin("wrapper-doubled", manifest, hooks, &format!("{{\"hooks\": {wrapped}}}"), [0, 1])
            .keeping_file(),
        plugin("handler-twice", manifest, hooks, &wrapped, [2, 1])
            .file(SETTINGS, &wrapped)
            .fixed(SETTINGS, "{}")
            .keeping_file(),
        plugin(
            "session-end-timeout",
            manifest,
            hooks,
            &slow("sleep 3 && echo x >> ran/$N"),
            [0, 1],
        )
        .fixed("$N/hooks/hooks.json", &detached)
        .keeping_file(),
    ]
}
