//! Any bytes on a hook's stdin are parsed or refused, never a panic; a parsed payload survives a round trip. The
//! test compares the written forms: an update with a duplicate key parses as unlisted, and after a write as listed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rutter_contract::input::{Input, RawPayload};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(wire) = RawPayload::parse(bytes) {
        let keys: Vec<String> = wire.keys().map(str::to_owned).collect();
        for key in keys {
            let _ = (wire.raw(&key), wire.text(&key));
        }
    }
    if let Ok(input) = Input::parse(bytes) {
        let written = serde_json::to_vec(&input).expect("what was read can be written");
        let again = Input::parse(&written).expect("what was written can be read");
        let again = serde_json::to_value(&again).expect("what was read can be written");
        let once = serde_json::to_value(&input).expect("what was read can be written");
        assert_eq!(again, once);
    }
});
