//! Measures redaction per 10 KB: `cargo run --release -p rutter-redact --example redact_speed`.
//! An argument limits the measurement to texts with a name that contains it.

use std::time::{Duration, Instant};

use rutter_redact::redact;

/// Text size that the promised times refer to.
const SAMPLE_BYTES: usize = 10 * 1024;

/// Promised milliseconds per 10 KB.
const PROMISED_MILLIS: f64 = 0.3;

/// Promised milliseconds per 10 KB of hostile text: repeated input that some rule has to scan twice.
const HOSTILE_PROMISED_MILLIS: f64 = 0.5;

/// Number of ordinary texts at the beginning of the list.
const ORDINARY_TEXT_COUNT: usize = 5;

/// Measuring time per text.
const MEASURED_TIME: Duration = Duration::from_millis(300);

#[expect(clippy::print_stdout, reason = "the figures")]
fn main() {
    let mut kept = true;
    println!("{:<40} {:>12} {:>14}", "text", "ms per 10 KB", "at 10 x 10 KB");
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let texts = sample_texts().into_iter().enumerate();
    for (number, (name, text)) in texts.filter(|(_, (name, _))| name.contains(&wanted)) {
        let (small, large) = (
            median_millis(&repeat_to_size(&text, SAMPLE_BYTES)),
            median_millis(&repeat_to_size(&text, 10 * SAMPLE_BYTES)) / 10.0,
        );
        let promised =
            if number < ORDINARY_TEXT_COUNT { PROMISED_MILLIS } else { HOSTILE_PROMISED_MILLIS };
        kept &= small <= promised && large <= promised;
        println!("{:<40} {small:>12.4} {large:>14.4}", name.escape_debug().to_string());
    }
    assert!(
        kept,
        "{PROMISED_MILLIS} ms per 10 KB are promised, {HOSTILE_PROMISED_MILLIS} for what is made to be slow"
    );
}

/// Returns the median time of a call in milliseconds.
fn median_millis(text: &str) -> f64 {
    let mut times = Vec::new();
    let from = Instant::now();
    while from.elapsed() < MEASURED_TIME || times.len() < 5 {
        let start = Instant::now();
        std::hint::black_box(redact(std::hint::black_box(text)));
        times.push(start.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

/// Repeats a text up to a size.
fn repeat_to_size(text: &str, size: usize) -> String {
    text.chars().cycle().take(size).collect()
}

fn sample_texts() -> Vec<(&'static str, String)> {
    let random: String = (0..4096_u32)
        .map(|at| {
            char::from(
                b"AZaz09QkXw7bR2mLp4sT"[(at.wrapping_mul(2_654_435_761) >> 13) as usize % 20],
            )
        })
        .collect();
    let key = &random[..40];
    let mut texts = vec![
        ("prose and test output", include_str!("../fixtures/speed.txt").to_owned()
            + "running 3 tests\ntest redact::tests::a_token_in_a_url ... ok\ntest result: ok. 3 passed; 0 failed\n"),
        ("log lines", "2026-11-15T12:20:13Z INFO request id=42 path=/api/v1/users status=200 took=12ms user=dev\n".to_owned()),
        ("full of secrets", format!(
            "GITHUB_TOKEN=ghp_{key}\nDATABASE_URL=postgres://app:{key}@db/x\nAuthorization: Bearer {key}\n\"password\": \"{key}\",\nsk-ant-api03-{key}{key}\n")),
        ("base64", random.clone()),
        ("minified", "!function(e,t){\"object\"==typeof exports?t(exports):(e.token={},t.key=n,o({apiKey:a,secret:s}))}(this);".to_owned()),
    ];
    // Input that no text should contain, and that could be slow in every rule.
    let hostile = [
        "=",
        ":",
        "a",
        "-",
        "<",
        "\\",
        "key=",
        "value=;",
        "token ",
        "a://a:a://b:",
        "a://b:c@@@@/@@@ ",
        "ghp_sk-AKIAeyJxoxb-glpat-",
        "password=password=token:secret:",
        "password=\"token='key=`",
        "api_key='aaaaaaaa ",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n",
        "<private><private></private>",
        " curl -u -p -a -P",
        "--password --token ",
        "eyJhbGciOi.eyJ.",
        "eyJ......",
        "Cookie: a=b; ",
        "Set-Cookie: a=b; ",
        "Cookie: a=[redacted:x]; ",
        "password=[redacted:x",
        "\"d\":\"a\" ",
        ":1234:a:b:\"",
        "authorization:a<",
        "htpasswd -b ",
        "openssl rand ",
        "Bearer a",
        "key=a&",
        "\"password\",\"a\",",
        "<token>",
        "pass is a ",
        "password Ab0dEf1hIj2l ",
        "login 'Ab0=Ef1:Ij2",
        "secret / a1! ",
        "token a=a:a@a,",
        " -p a -P b /p:c",
        "echo a | ",
        "$ secret\n",
        "password to go on:\n\n",
        "password from x to y ",
        "a/b@",
        "<a b>",
        ",'a1B2c3D4",
        "send \"",
        "set config login ",
        "npm config a ",
        "a|token\n---|\na|b\n",
        "token,a\n",
        "tokens:\n",
        "user pass:a ",
    ];
    texts.extend(hostile.map(|text| (text, text.to_owned())));
    texts
}
