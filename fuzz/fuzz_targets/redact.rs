//! For any text, redaction does not panic and is idempotent.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rutter_redact::redact;

fuzz_target!(|text: &str| {
    let once = redact(text);
    assert_eq!(redact(&once), once);
});
