//! Properties of redaction for every text: no secret survives, a second pass changes nothing, nothing panics.

use proptest::prelude::*;

use super::{redact, redact_by_line};

#[test]
fn clean_text_is_borrowed() {
    assert!(matches!(redact("nothing to see: x = 1"), std::borrow::Cow::Borrowed(_)));
}

#[test]
fn placeholders_are_left_alone() {
    for text in [
        "GITHUB_TOKEN=[redacted:github-token]",
        "postgres://app:[redacted:password]@db/x",
        "password: \"[redacted:password]\"",
        "Authorization: Bearer [redacted:authorization]",
        "curl -u a:[redacted:password] x",
        "[redacted:text]",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn false_placeholder_hides_nothing() {
    let secret = "glpat-q7yh2lpv9sxc4nwbq7yh2";
    for text in [format!("[redacted:{secret}]"), format!("password=[redacted:x]{secret}")] {
        assert!(!redact(&text).contains(&secret[6..]), "{text}");
    }
}

/// Generates pieces that rules begin, continue and end with.
fn fragment() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "=",
        ":",
        " ",
        "\n",
        "\"",
        "'",
        "`",
        "\\",
        "\\n",
        "\\\"",
        "://",
        "@",
        "%3D",
        ",",
        ";",
        "&",
        "?",
        "<",
        ">",
        "</",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "|",
        "-",
        "--",
        "-----",
        "$",
        "~",
        "password",
        "PASSWORD",
        "token",
        "secret_key",
        "api key",
        "is ",
        "Authorization",
        "Bearer ",
        "Basic ",
        "Cookie: ",
        "Set-Cookie: ",
        "curl ",
        "-u ",
        "mysql ",
        "-p",
        "<private>",
        "</private>",
        "[redacted:password]",
        "[redacted:",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "postgres",
        "value",
        "string",
        "ghp_",
        "AKIA",
        "sk-",
        "eyJ",
        "é",
        "密码",
        "\u{1b}[0m",
        "MTk",
        "8Q~",
        "user",
        "name=\"",
        "login",
        "echo ",
        " / ",
        "$ ",
        "/p:",
        "from ",
        "k3Xw9QzA1bT7",
        "arn:",
        "_",
        "is the ",
        " as ",
        " into ",
        "==",
        "<<< ",
        " > token.txt",
        "seed phrase: ",
        "mnemonic ",
        "ripple orbit canyon velvet ",
        "root/",
        "admin:",
        "mot de passe ",
        "пароль ",
        "backup codes: ",
        "PIN ",
        "bytes.fromhex(\"",
        "Harb0ur!x7",
        "The password is ",
        "log in with ",
        "use ",
        "it's ",
        ". ",
        ", ",
        "Hamburg-2019",
        "bob / ",
        "bob:",
        "credentials ",
        "passphrase ",
        "changed from ",
        " to ",
        "wifi key ",
        "%40",
        "-----END PRIVATE KEY-----",
    ]);
    prop_oneof![
        4 => fixed.prop_map(str::to_owned),
        1 => "[A-Za-z0-9]{1,40}",
        1 => "[a-f0-9]{32}",
        1 => "[A-Za-z0-9+/]{16,64}={0,2}",
        1 => "[ -~]{1,12}",
        1 => "\\PC{1,6}",
    ]
}

/// Generates tokens that are known without a name.
fn token() -> impl Strategy<Value = String> {
    prop_oneof![
        "ghp_[A-Za-z0-9]{36}",
        "github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}",
        "glpat-[A-Za-z0-9]{20}",
        "AKIA[A-Z2-7]{16}",
        "xoxb-[0-9]{12}-[0-9]{13}-[A-Za-z0-9]{24}",
        "sk_live_[A-Za-z0-9]{24}",
        "sk-ant-api03-[A-Za-z0-9_-]{93}AA",
        "npm_[A-Za-z0-9]{36}",
        "AIza[A-Za-z0-9]{35}",
        "hvs\\.[A-Za-z0-9]{90}",
        "dop_v1_[a-f0-9]{64}",
        "eyJhbGciOiJIUzI1NiJ9\\.eyJ[A-Za-z0-9]{40}\\.[A-Za-z0-9]{43}",
        "SG\\.[A-Za-z0-9]{22}\\.[A-Za-z0-9]{43}",
    ]
}

/// Generates text right before and right after a token.
fn delimiter() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        " ",
        "\n",
        "\t",
        "\"",
        "'",
        "`",
        "=",
        ": ",
        "(",
        ")",
        ",",
        ";",
        "{\"k\":\"",
        "\"}",
        "\\n",
        "\\\"",
        "%3D",
        "> ",
        "<",
        "|",
        "@",
        "\r\n",
        "，",
        "…",
        "[",
        "]",
        "&x=",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn redaction_is_idempotent(parts in prop::collection::vec(fragment(), 0..40)) {
        let text: String = parts.concat();
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once), once.as_str());
        // Dropping the whole text is reserved for texts that no test has found yet.
        prop_assert_ne!(once, "[redacted:text]");
    }

    #[test]
    fn by_line_keeps_line_count(parts in prop::collection::vec(fragment(), 0..40)) {
        let text: String = parts.concat();
        let once = redact_by_line(&text).into_owned();
        prop_assert_eq!(once.split('\n').count(), text.split('\n').count());
        prop_assert_eq!(redact_by_line(&once), once.as_str());
        prop_assert_eq!(redact(&once), once.as_str());
    }

    #[test]
    fn no_text_panics(text in "\\PC*") {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once), once.as_str());
    }

    #[test]
    fn no_token_survives(
        before in prop::collection::vec(fragment(), 0..12),
        left in delimiter(),
        token in token(),
        right in delimiter(),
        after in prop::collection::vec(fragment(), 0..12),
    ) {
        let text = format!("{}{left}{token}{right}{}", before.concat(), after.concat());
        let kept = redact(&text);
        let tail = &token[token.len() - 12..];
        prop_assert!(!kept.contains(tail), "{} in {} of {}", tail, kept, text);
    }

    #[test]
    fn no_password_survives(
        before in "[ -~]{0,20}",
        password in "[B-Hb-h]{3}[0-9]{2}[A-Za-z0-9!^*+~]{8}[0-9A-Z]",
        form in 0_usize..9,
    ) {
        let form = [
            "\nDB_PASSWORD={}\n", "\npassword: {}\n", "\n\"password\": \"{}\",", "\npostgres://app:{}@db/x\n",
            "\ncurl -u admin:{} http://x\n", "\nmysql -p{} shop\n", "\n{\\\"password\\\":\\\"{}\\\"}\n",
            "\n<password>{}</password>\n", "\nServer=x;Password={};\n",
        ][form];
        let text = format!("{before}{}", form.replace("{}", &password));
        let kept = redact(&text);
        prop_assert!(!kept.contains(&password[..8]), "{} of {}", kept, text);
    }
}
