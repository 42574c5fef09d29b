use proptest::prelude::*;

use super::*;

/// Returns the key of an address; `-` for one without, `local <path>` for one on this machine.
fn format_key(url: &str) -> String {
    match RemoteAddress::parse(url.as_bytes()) {
        None => "-".to_owned(),
        Some(RemoteAddress::Network { key, .. }) => key,
        Some(RemoteAddress::Local(path)) => format!("local {}", path.display()),
    }
}

#[test]
fn equivalent_addresses_share_key() {
    for (expected, addresses) in [
        (
            "github.com/owner/repo",
            &[
                "https://github.com/owner/repo",
                "https://github.com/owner/repo.git",
                "https://github.com/owner/repo.git/",
                "https://github.com//owner//repo///",
                "https://github.com/Owner/Repo.GIT",
                "HTTPS://GitHub.COM/owner/repo",
                "https://github.com./owner/repo",
                "http://github.com:80/owner/repo",
                "https://github.com:443/owner/repo",
                "https://github.com:/owner/repo",
                "https://www.github.com/owner/repo",
                "https://user@github.com/owner/repo",
                "https://user:ghp_token@github.com/owner/repo.git",
                "https://oauth2:token@github.com/owner/repo",
                "https://x-access-token:to%40ken@github.com/owner/repo",
                "https://user:p@ss@github.com/owner/repo",
                "https://github.com/owner/repo?token=secret",
                "https://github.com/owner/repo#secret",
                "https://github.com/owner/./x/../repo",
                "https://github.com/%6fwner/r%65po",
                "ssh://git@github.com/owner/repo.git",
                "ssh://git@github.com:22/owner/repo.git",
                "ssh://git@ssh.github.com:443/owner/repo.git",
                "git+ssh://git@github.com/owner/repo",
                "ssh+git://git@github.com/owner/repo",
                "git://github.com/owner/repo",
                "git://github.com:9418/owner/repo",
                "git@github.com:owner/repo.git",
                "git@github.com:/owner/repo.git",
                "github.com:owner/repo",
                "git@GITHUB.com:owner/repo/",
                "[git@github.com:22]:owner/repo",
                "git@[github.com:22]:owner/repo",
                "gcrypt::https://user:token@github.com/owner/repo",
            ][..],
        ),
        (
            "git.example.org/Owner/Repo",
            &[
                "https://git.example.org/Owner/Repo",
                "git@git.example.org:Owner/Repo.git",
                "ssh://git@git.example.org/Owner/Repo",
            ],
        ),
        (
            "git.example.org:2222/o/r",
            &["ssh://git@git.example.org:2222/o/r.git", "[git@git.example.org:2222]:o/r"],
        ),
        ("git.example.org:8443/o/r", &["https://git.example.org:8443/o/r.git"]),
        ("gitlab.com/group/sub/repo", &["git@altssh.gitlab.com:Group/sub/repo.git"]),
        ("bitbucket.org/team/repo", &["ssh://git@altssh.bitbucket.org:443/team/repo.git"]),
        ("host/~user/repo", &["host:~user/repo", "ssh://host/~user/repo.git"]),
        ("[::1]/o/r", &["ssh://git@[::1]/o/r", "git@[::1]:o/r.git", "[::1]:o/r"]),
        ("[::1]:2222/o/r", &["ssh://git@[::1]:2222/o/r"]),
        ("host/my%20repo", &["https://host/my%20repo", "host:my repo", "https://host/my repo.git"]),
        ("host/caf%C3%A9", &["https://host/café", "https://host/caf%c3%a9"]),
        ("host/100%25", &["https://host/100%", "https://host/100%25"]),
        (
            "dev.azure.com/org/my%20project/_git/repo",
            &[
                "https://dev.azure.com/org/my%20project/_git/repo",
                "https://org@dev.azure.com/Org/My%20Project/_git/Repo",
                "git@ssh.dev.azure.com:v3/org/my%20project/repo",
                "https://org.visualstudio.com/my%20project/_git/repo",
                "https://org.visualstudio.com/DefaultCollection/my%20project/_git/repo",
                "org@vs-ssh.visualstudio.com:v3/org/my%20project/repo",
            ],
        ),
        (
            "dev.azure.com/org/repo/_git/repo",
            &["https://dev.azure.com/org/_git/repo", "https://org.visualstudio.com/_git/repo"],
        ),
        ("s3://Bucket/path", &["s3://key:secret@Bucket/path.git", "s3://Bucket/path?x=1"]),
        ("codecommit://Repo", &["codecommit://Repo", "codecommit://profile@Repo"]),
        ("us-east-1://Repo", &["codecommit::us-east-1://profile@Repo"]),
    ] {
        for address in addresses {
            assert_eq!(format_key(address), expected, "{address}");
        }
    }
}

#[test]
fn different_repositories_have_different_keys() {
    let keys = [
        "https://github.com/a/b",
        "https://github.com/b/a",
        "https://gitlab.com/a/b",
        "https://github.com/a/b/c",
        "https://example.org/a/B",
        "https://example.org/a/b",
        "https://example.org:8080/a/b",
        "https://example.org/a%2Fb",
        "s3://example.org/a/b",
        "https://gist.github.com/a/b",
    ];
    let distinct: std::collections::BTreeSet<String> =
        keys.iter().map(|url| format_key(url)).collect();
    assert_eq!(distinct.len(), keys.len(), "{distinct:?}");
}

#[test]
fn paths_are_local() {
    for (url, expected) in [
        ("/srv/x.git", "local /srv/x.git"),
        ("../x", "local ../x"),
        ("x", "local x"),
        ("./a:b", "local ./a:b"),
        ("/a:b", "local /a:b"),
        ("github.com/owner/repo", "local github.com/owner/repo"),
        ("file:///srv/x.git", "local //srv/x.git"),
        ("file://localhost/srv/x", "local //srv/x"),
        ("file://user:secret@host/srv/x", "local /host/srv/x"),
        ("file:///srv/a%20b", "local //srv/a b"),
    ] {
        assert_eq!(format_key(url), expected, "{url}");
    }
}

#[test]
fn invalid_addresses_have_no_key() {
    for url in [
        "",
        "https://",
        "https://github.com",
        "https://github.com/",
        "https://github.com/.git",
        "https:///owner/repo",
        "https://host:port/repo",
        "https://host:99999/repo",
        "https://ho st/repo",
        "https://[::1/repo",
        "https://[x]/repo",
        "host:",
        "host:.git",
        ":path",
        "ext::ssh -i key host %S repo",
        "fd::17",
        "gcrypt::/srv/x",
        "https://host/a\nb",
        "file://host",
        // A password with an unencoded `/`, `#` or `?`.
        "https://user:pa/ss@host/repo",
        "https://user:12/ss@host/repo",
        "https://token/@host/repo",
        "https://us@er:12/ss@host/repo",
        "https://user:pa#ss@host/repo",
        "https://to#ken@host/repo",
        "s3://to?ken@host/repo",
        // A missing or damaged scheme: git reads a host and a path.
        "user:token@host/repo",
        "https:user:token@host/repo",
        "https:/user:token@host/repo",
    ] {
        assert_eq!(format_key(url), "-", "{url}");
    }
    assert_eq!(format_key(&format!("https://host/{}", "x".repeat(MAX_ADDRESS_BYTES))), "-");
}

#[test]
fn names_are_for_people() {
    for (url, expected) in [
        ("https://github.com/Owner/Repo.git", "Repo"),
        ("git@host:o/my%20repo", "my repo"),
        ("https://host/caf%C3%A9", "café"),
        ("https://dev.azure.com/Org/Project/_git/Repo", "Repo"),
        ("codecommit://Repo", "Repo"),
        ("https://host/a%0Ab", "a\u{fffd}b"),
    ] {
        let name = match RemoteAddress::parse(url.as_bytes()) {
            Some(RemoteAddress::Network { name, .. }) => name,
            other => panic!("{url}: {other:?}"),
        };
        assert_eq!(name, expected, "{url}");
    }
}

/// Generates addresses of every form, including unusual ones.
fn arbitrary_address() -> impl Strategy<Value = String> {
    let scheme = prop_oneof![
        Just("https://"),
        Just("http://"),
        Just("ssh://"),
        Just("git://"),
        Just("git+ssh://"),
        Just("s3://"),
        Just("x::https://"),
        Just(""),
    ];
    let host = prop_oneof![
        4 => "[a-zA-Z0-9.-]{1,12}",
        2 => Just("github.com".to_owned()),
        1 => Just("SSH.dev.azure.com".to_owned()),
        1 => Just("dev.azure.com".to_owned()),
        1 => Just("org.VisualStudio.com".to_owned()),
        1 => Just("[::1]".to_owned()),
    ];
    let port = prop_oneof![3 => Just(String::new()), 1 => "[:/]{0,2}[0-9]{0,5}"];
    let segment = prop_oneof![
        4 => "[a-zA-Z0-9._~%:-]{0,8}",
        1 => Just("_GIT".to_owned()), 1 => Just("_git".to_owned()), 1 => Just("v3".to_owned()),
        1 => Just("..git".to_owned()), 1 => Just("...GIT".to_owned()), 1 => Just("%2e.git".to_owned()),
        1 => Just("DefaultCollection".to_owned()), 1 => Just("%2F%40%c3%A9 é".to_owned()),
    ];
    let path = prop::collection::vec(segment, 0..6).prop_map(|parts| parts.join("/"));
    let end =
        prop_oneof![Just(""), Just(".git"), Just(".GIT/"), Just("/"), Just("?a=b"), Just("#a")];
    let separator = prop_oneof![3 => Just("/"), 1 => Just(":"), 1 => Just(":/")];
    (scheme, host, port, separator, path, end).prop_map(
        |(scheme, host, port, separator, path, end)| {
            format!("{scheme}{host}{port}{separator}{path}{end}")
        },
    )
}

fn network_key(url: &str) -> Option<String> {
    match RemoteAddress::parse(url.as_bytes())? {
        RemoteAddress::Network { key, .. } => Some(key),
        RemoteAddress::Local(_) => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn keys_are_stable(url in arbitrary_address()) {
        if let Some(key) = network_key(&url) {
            let again = if key.contains("://") { key.clone() } else { format!("https://{key}") };
            prop_assert_eq!(network_key(&again), Some(key));
        }
    }

    /// The secret consists of characters that no other part has, encoded or not.
    #[test]
    fn credentials_never_reach_a_key(
        url in arbitrary_address(),
        user in "[a-z]{0,5}",
        secret in "([A-Z]{2}[/?#@:%\\[\\]\\\\ -]{0,2}){1,3}ZQ",
        helper in prop_oneof![Just(""), Just("x::")],
    ) {
        let lower = url.to_lowercase().replace('z', "y").replace("%7a", "%79").replace("%5a", "%59");
        let (scheme, rest) = lower.split_once("://").unwrap_or(("", &lower));
        let slashes = if scheme.is_empty() { "" } else { "://" };
        for login in [format!("{user}:{secret}"), secret.clone(), format!("{secret}:x-oauth-basic")] {
            let url = format!("{helper}{scheme}{slashes}{login}@{rest}");
            let key = match RemoteAddress::parse(url.as_bytes()) {
                Some(RemoteAddress::Network { key, name }) => format!("{key} {name}"),
                // Without a scheme it may be a path. A path with an `@` is looked up on disk before it is used.
                Some(RemoteAddress::Local(path)) if path.display().to_string().contains('@') => continue,
                Some(RemoteAddress::Local(path)) => path.display().to_string(),
                None => continue,
            };
            // On a host that ignores case the secret would be in lower case.
            prop_assert!(!key.contains("ZQ") && !key.contains("zq"), "{} made {}", url, key);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        drop(RemoteAddress::parse(&bytes));
    }

    #[test]
    fn no_text_makes_it_panic(text in "[a-z@:/?#%.\\[\\]é\\\\-]{0,40}") {
        drop(RemoteAddress::parse(text.as_bytes()));
    }
}
