use super::super::ScriptContext;
use super::*;

/// A context with the project `/srv/my app`, the plugin `/plugin` and the home `/home/ada`.
pub(in super::super) fn context<'a>(
    has_program: &'a dyn Fn(&str) -> bool,
    read_file: &'a dyn Fn(&Path) -> HookFile,
) -> CommandContext<'a> {
    CommandContext {
        project: Path::new("/srv/my app"),
        plugin_root: Some(Path::new("/plugin")),
        home: Some(Path::new("/home/ada")),
        has_program,
        read_file,
        registration: ScriptContext::default(),
    }
}

fn file(is_executable: bool, text: &str) -> HookFile {
    HookFile::File { is_executable, text: Some(text.to_owned()) }
}

/// The files of the tests.
fn read_file(path: &Path) -> HookFile {
    match path.to_str().unwrap() {
        "/srv/my app/run.sh" | "/plugin/run.sh" | "/home/ada/run.sh" => {
            file(true, "#!/bin/sh\nexit 0\n")
        }
        "/srv/my app/plain.sh" => file(false, "#!/bin/sh\nexit 0\n"),
        "/srv/my app/dos.sh" => file(true, "#!/bin/sh\r\nexit 0\r\n"),
        "/srv/my app/bare.py" => file(true, "import sys\n"),
        "/srv/my app/dos.py" => file(true, "import sys\r\n"),
        "/srv/my app/env.py" => file(true, "#!/usr/bin/env python9\n"),
        "/srv/my app/hook.ts" => file(false, "export {}\n"),
        "/srv/my app/folder" => HookFile::Folder,
        "/srv/my app/locked.sh" => HookFile::Unknown,
        _ => HookFile::Missing,
    }
}

fn read(command: &str, args: Option<&[String]>) -> CommandReport {
    let has_program = |name: &str| {
        matches!(
            name,
            "bash"
                | "sh"
                | "python3"
                | "node"
                | "npx"
                | "uv"
                | "cat"
                | "git"
                | "timeout"
                | "env"
                | "bun"
                | "make"
        )
    };
    let context = context(&has_program, &read_file);
    read_command(&HookCommand { command, args, shell: None }, &context)
}

fn faults(command: &str) -> Vec<(String, CommandFaultKind)> {
    let report = read(command, None);
    assert!(report.is_read, "not read: {command}");
    report.faults.into_iter().map(|fault| (command[fault.range].to_owned(), fault.kind)).collect()
}

#[test]
fn started_script_is_found() {
    for (command, path) in [
        ("\"$CLAUDE_PROJECT_DIR\"/run.sh", "/srv/my app/run.sh"),
        ("\"${CLAUDE_PROJECT_DIR}/run.sh\" --flag", "/srv/my app/run.sh"),
        ("bash \"$CLAUDE_PROJECT_DIR/run.sh\"", "/srv/my app/run.sh"),
        ("bash -eu \"$CLAUDE_PROJECT_DIR/run.sh\"", "/srv/my app/run.sh"),
        ("cd \"$CLAUDE_PROJECT_DIR\" && ./run.sh", "/srv/my app/run.sh"),
        ("A=b env C=d timeout 5 bash ~/run.sh", "/home/ada/run.sh"),
        ("\"${CLAUDE_PLUGIN_ROOT}/run.sh\"", "/plugin/run.sh"),
        ("sh \"$HOME/run.sh\" || true", "/home/ada/run.sh"),
        ("python3 -u \"$CLAUDE_PROJECT_DIR\"/bare.py", "/srv/my app/bare.py"),
        ("uv run --quiet \"$CLAUDE_PROJECT_DIR\"/bare.py", "/srv/my app/bare.py"),
        ("npx -y tsx \"$CLAUDE_PROJECT_DIR\"/hook.ts", "/srv/my app/hook.ts"),
        ("bun run \"$CLAUDE_PROJECT_DIR\"/hook.ts", "/srv/my app/hook.ts"),
        ("node --no-warnings \"$CLAUDE_PROJECT_DIR\"/hook.ts", "/srv/my app/hook.ts"),
    ] {
        let report = read(command, None);
        assert_eq!(report.faults, [], "{command}");
        let [script] = &report.scripts[..] else { panic!("one script: {command}") };
        assert_eq!(script.path, Path::new(path), "{command}");
    }
}

#[test]
fn faults_of_files_are_found() {
    use CommandFaultKind as Kind;
    let at = |name: &str| Path::new("/srv/my app").join(name);
    for (command, kind) in [
        ("\"$CLAUDE_PROJECT_DIR/gone.sh\"", Kind::ScriptMissing { path: at("gone.sh") }),
        ("bash \"$CLAUDE_PROJECT_DIR/gone.sh\"", Kind::ScriptMissing { path: at("gone.sh") }),
        ("bash gone.sh", Kind::ScriptMissing { path: at("gone.sh") }),
        ("\"$CLAUDE_PROJECT_DIR/folder\"", Kind::ScriptIsFolder { path: at("folder") }),
        ("\"$CLAUDE_PROJECT_DIR/plain.sh\"", Kind::NotExecutable { path: at("plain.sh") }),
        ("\"$CLAUDE_PROJECT_DIR/dos.sh\"", Kind::CarriageReturns { path: at("dos.sh") }),
        ("bash \"$CLAUDE_PROJECT_DIR/dos.sh\"", Kind::CarriageReturns { path: at("dos.sh") }),
        ("\"$CLAUDE_PROJECT_DIR/bare.py\"", Kind::NoShebang { path: at("bare.py") }),
        ("\"$CLAUDE_PROJECT_DIR/env.py\"", Kind::ProgramMissing { name: "python9".to_owned() }),
        ("./run.sh", Kind::RelativePath { path: "run.sh".into() }),
        ("bash run.sh", Kind::RelativePath { path: "run.sh".into() }),
        ("\"~/run.sh\"", Kind::NotExpanded { text: "~".to_owned() }),
        ("echo x >> \"~/log.txt\"", Kind::NotExpanded { text: "~".to_owned() }),
        ("cat '~/log.txt'", Kind::NotExpanded { text: "~".to_owned() }),
        (
            "bash '$CLAUDE_PROJECT_DIR/run.sh'",
            Kind::NotExpanded { text: "$CLAUDE_PROJECT_DIR".to_owned() },
        ),
        ("/srv/my app/run.sh", Kind::UnquotedSpace { path: at("run.sh") }),
        ("bash /srv/my app/run.sh", Kind::UnquotedSpace { path: at("run.sh") }),
        (
            "$CLAUDE_PROJECT_DIR/run.sh",
            Kind::UnquotedVariable { name: "CLAUDE_PROJECT_DIR".to_owned() },
        ),
        ("jq -r .x", Kind::ProgramMissing { name: "jq".to_owned() }),
        ("cat | jq -r .x", Kind::ProgramMissing { name: "jq".to_owned() }),
        ("cd x && jq .", Kind::ProgramMissing { name: "jq".to_owned() }),
    ] {
        let found: Vec<CommandFaultKind> =
            faults(command).into_iter().map(|(_, kind)| kind).collect();
        assert_eq!(found, [kind], "{command}");
    }
}

#[test]
fn fault_has_place_in_command() {
    assert_eq!(faults("cat | jq -r .x")[0].0, "jq");
    assert_eq!(
        faults("bash \"$CLAUDE_PROJECT_DIR/gone.sh\" a")[0].0,
        "\"$CLAUDE_PROJECT_DIR/gone.sh\""
    );
}

#[test]
fn commands_in_doubt_have_no_faults() {
    for command in [
        // Paths that are computed.
        "\"$(git rev-parse --show-toplevel)/gone.sh\"",
        "bash \"$ROOT/gone.sh\"",
        "CLAUDE_PROJECT_DIR=/x; bash \"$CLAUDE_PROJECT_DIR/gone.sh\"",
        "cd \"$ROOT\" && bash gone.sh",
        "for f in *.sh; do bash \"$f\"; done",
        "bash hooks/*.sh",
        // Guards.
        "[ -f gone.sh ] && bash gone.sh",
        "test -x ./gone.sh && ./gone.sh",
        "command -v jq >/dev/null && jq .",
        "if command -v jq; then jq .; fi",
        "jq . 2>/dev/null",
        "jq . || true",
        "cat | jq . || cat",
        "bash gone.sh || true",
        "bash gone.sh 2>/dev/null || exit 0",
        // No script, or not a file.
        "bash -c 'gone.sh'",
        "python3 -m gone",
        "python3 -c 'import x'",
        "node -e 'x'",
        "uv run pytest",
        "npx prettier --write x",
        "bun run lint",
        "make gone",
        "f() { x; }; f",
        "echo hi; exit 2",
        "git diff | cat",
        "bash \"$CLAUDE_PROJECT_DIR/locked.sh\"",
        // Carriage returns are harmless for Python.
        "python3 \"$CLAUDE_PROJECT_DIR/dos.py\"",
        "export PATH=\"/opt/bin:$PATH\"; jq .",
        "echo done >> \"$CLAUDE_PROJECT_DIR\"/log",
    ] {
        assert_eq!(faults(command), [], "{command}");
    }
}

#[test]
fn unreadable_commands_are_not_read() {
    for command in
        ["echo 'x", "%CLAUDE_PROJECT_DIR%\\x.cmd", "if x; then", "& $env:USERPROFILE\\x.ps1", ""]
    {
        assert_eq!(read(command, None), CommandReport::default(), "{command}");
    }
    let command = HookCommand { command: "gone", args: None, shell: Some("powershell") };
    let context = context(&|_| false, &read_file);
    assert_eq!(read_command(&command, &context), CommandReport::default());
}

#[test]
fn arguments_are_not_expanded_by_shell() {
    use CommandFaultKind as Kind;
    let args = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    for (command, arguments, argument, kind) in [
        ("bash", &["~/run.sh"][..], Some(0), Kind::NotExpanded { text: "~".to_owned() }),
        ("bash", &["$HOME/run.sh"], Some(0), Kind::NotExpanded { text: "$HOME".to_owned() }),
        (
            "bash",
            &["-e", "$CLAUDE_PROJECT_DIR/run.sh"],
            Some(1),
            Kind::NotExpanded { text: "$CLAUDE_PROJECT_DIR".to_owned() },
        ),
        (
            "$CLAUDE_PROJECT_DIR/run.sh",
            &[],
            None,
            Kind::NotExpanded { text: "$CLAUDE_PROJECT_DIR".to_owned() },
        ),
        (
            "${CLAUDE_PROJECT_DIR}/plain.sh",
            &[],
            None,
            Kind::NotExecutable { path: "/srv/my app/plain.sh".into() },
        ),
        (
            "bash",
            &["${CLAUDE_PROJECT_DIR}/gone.sh"],
            Some(0),
            Kind::ScriptMissing { path: "/srv/my app/gone.sh".into() },
        ),
        ("python3 x.py", &["a"], None, Kind::SpaceInProgram),
        ("jq", &["."], None, Kind::ProgramMissing { name: "jq".to_owned() }),
    ] {
        let report = read(command, Some(&args(arguments)));
        let [fault] = &report.faults[..] else { panic!("{command}: {report:?}") };
        assert_eq!((fault.argument, &fault.kind), (argument, &kind), "{command}");
    }
    for (command, arguments) in [
        ("${CLAUDE_PROJECT_DIR}/run.sh", &["--x"][..]),
        ("bash", &["-c", "echo $HOME ~/x"]),
        ("node", &["${CLAUDE_PLUGIN_DATA}/x.js"]),
        ("${user_config.program}", &["x"]),
    ] {
        assert_eq!(read(command, Some(&args(arguments))).faults, [], "{command}");
    }
}
