//! Token file, address and shutdown of `rutter mcp --http`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::json;

use super::http_client::{HttpServer, status_call};
use crate::support::TestHome;

#[test]
fn token_is_created_once_never_shown() {
    let home = TestHome::new();
    let path = home.memory().join("http-token");
    let first = HttpServer::for_home(&home);
    let token = first.token.clone();
    assert_eq!(token.len(), 64);
    assert!(token.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert_eq!(file_mode(&path), 0o600);
    assert_eq!(file_mode(&home.memory()), 0o700);
    // The command has no token, because every user of the machine can read the arguments of a process.
    let entry = json!({
        "type": "http",
        "url": format!("http://{}/mcp", first.address),
        "headersHelper": format!(
            "{} mcp --http-header --token-file {}",
            env!("CARGO_BIN_EXE_rutter"),
            path.display()
        ),
    });
    let typed = format!(
        "listening on http://{}/mcp; register it with: claude mcp add-json --scope user rutter '{entry}'\n",
        first.address,
    );
    assert_eq!(first.line, typed);
    assert_eq!(first.send(&first.request().without_header("Authorization")).code, 401);
    let said = first.stop(Signal::INT).assert_success();
    assert!(!said.stdout.contains(&token) && !said.stderr.contains(&token), "{said}");
    assert_eq!(said.stderr, "");

    let second = HttpServer::for_home(&home);
    assert_eq!(second.token, token);
    assert_eq!(second.send(&second.request().message(&status_call())).code, 200);
    // Two servers at once share it.
    let third = HttpServer::for_home(&home);
    assert_eq!(third.token, token);
    assert_ne!(third.address, second.address);
}

#[test]
fn token_file_can_be_chosen() {
    let home = TestHome::new();
    let folder = home.path("my own");
    fs::create_dir(&folder).unwrap();
    let own = folder.join("token");
    fs::write(&own, "0123456789-abcdefghij.ABCDEFGHIJ~+/==\r\n").unwrap();
    fs::set_permissions(&own, fs::Permissions::from_mode(0o400)).unwrap();
    let args = ["mcp", "--http", "--port", "0", "--token-file"];
    let served = HttpServer::start(home.command(&[&args[..], &["../my own/token"]].concat()));
    assert_eq!(served.token, "0123456789-abcdefghij.ABCDEFGHIJ~+/==");
    assert_eq!(served.send(&served.request().message(&status_call())).code, 200);
    assert!(!home.memory().join("http-token").exists());
    // A missing token file is created for its owner alone, with any umask.
    let mut open =
        home.command(&["-c", "umask 0; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_rutter")]);
    open.args(args).arg(folder.join("new"));
    let open = shell_command(&open);
    let served = HttpServer::start(open);
    assert_eq!(file_mode(&folder.join("new")), 0o600);
    assert_eq!(served.send(&served.request().message(&status_call())).code, 200);
}

#[test]
fn weak_token_is_refused() {
    let home = TestHome::new();
    let path = home.memory().join("http-token");
    fs::create_dir(home.memory()).unwrap();
    let start = |args: &[&str]| home.rutter(&[&["mcp", "--http", "--port", "0"], args].concat());
    for open in [0o644, 0o640, 0o604, 0o620, 0o666] {
        fs::write(&path, "0123456789abcdef0123456789abcdef\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(open)).unwrap();
        let ran = start(&[]);
        assert_eq!((ran.exit, ran.stdout.as_str()), (Some(1), ""), "{ran}");
        let advice = format!("(mode {open:04o}); run: chmod 600 '{}'", path.display());
        assert!(ran.stderr.contains(&advice), "{ran}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    for text in [
        "",
        "\n",
        "short",
        "a word that has spaces in it, and is long",
        "\u{e4}".repeat(40).as_str(),
        "x".repeat(600).as_str(),
    ] {
        fs::write(&path, text).unwrap();
        let ran = start(&[]);
        assert_eq!(ran.exit, Some(1), "{ran}");
        assert!(ran.stderr.contains("holds no token") && ran.stderr.contains("remove it"), "{ran}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "it is left as it is");
    }
    let missing = start(&["--token-file", "nowhere/token"]);
    assert!(missing.stderr.contains("cannot create") && missing.exit == Some(1), "{missing}");
    let fifo: PathBuf = home.path("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    for no_file in [fifo, home.path("ship")] {
        let ran = start(&["--token-file", no_file.to_str().unwrap()]);
        assert!(ran.stderr.contains("is no plain file") && ran.exit == Some(1), "{ran}");
    }
}

#[test]
fn public_address_prints_warning() {
    let home = TestHome::new();
    let served =
        HttpServer::start(home.command(&["mcp", "--http", "--port", "0", "--bind", "0.0.0.0"]));
    assert!(served.address.starts_with("127.0.0.1:"), "{}", served.line);
    assert_eq!(served.send(&served.request().message(&status_call())).code, 200);
    let named = served.request().set_header("Host", "evil.example").message(&status_call());
    assert_eq!(served.send(&named).code, 403);
    let said = served.stop(Signal::TERM).assert_success();
    assert!(
        said.stderr.starts_with("warning: other machines can reach 0.0.0.0. Whoever has the token"),
        "{said}"
    );
    assert_eq!(said.stderr.lines().count(), 1, "{said}");

    let loopback =
        HttpServer::start(home.command(&["mcp", "--http", "--port", "0", "--bind", "127.0.0.9"]));
    assert_eq!(loopback.stop(Signal::TERM).assert_success().stderr, "");
}

#[test]
fn impossible_options_are_refused() {
    let home = TestHome::new();
    let served = HttpServer::for_home(&home);
    let port = served.address.rsplit_once(':').unwrap().1;
    let taken = home.rutter(&["mcp", "--http", "--port", port]);
    assert_eq!(taken.exit, Some(1), "{taken}");
    let advice = format!("cannot listen on {}: ", served.address);
    assert!(taken.stderr.contains(&advice) && taken.stderr.contains("--port 0"), "{taken}");
    for args in [
        &["--port", "0"][..],
        &["--bind", "127.0.0.1"],
        &["--token-file", "x"],
        &["--http", "--bind", "here"],
    ] {
        assert_eq!(home.rutter(&[&["mcp"], args].concat()).exit, Some(2), "{args:?}");
    }
}

#[test]
fn signals_end_server_cleanly() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let home = TestHome::new();
        let served = HttpServer::for_home(&home);
        let mut silent = served.connect();
        let mut slow = served.connect();
        slow.write("POST /mcp HTTP/1.1\r\n");
        let mut idle = served.connect();
        let text =
            json!({ "content": "the cache is counted before it is emptied", "category": "fact" });
        drop(idle.send(&served.request().call("remember", &text)).tool_result());
        let said = served.stop(signal).assert_success();
        assert_eq!((said.exit, said.stderr.as_str()), (Some(0), ""), "{said}");
        for talk in [&mut silent, &mut slow, &mut idle] {
            assert_eq!(talk.read_until_closed(), "");
        }
        let mut left: Vec<String> = fs::read_dir(home.memory())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["http-token", "log", "rutter.db"]);
        assert_eq!(home.json(&["memories"]).as_array().unwrap().len(), 1);
    }
}

/// Returns a shell command with the same arguments and environment.
fn shell_command(command: &Command) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(command.get_args()).env_clear().current_dir(command.get_current_dir().unwrap());
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

fn file_mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}
