//! Properties of the reader for arbitrary files.

use std::ops::Range;
use std::path::Path;

use proptest::prelude::*;
use rutter_contract::javascript::{JsonKind, JsonNode};
use rutter_contract::version::Contract;

use super::*;

const NAMES: [&str; 6] = [
    "-",
    "/g/hooks/hooks.json",
    "/g/.claude-plugin/plugin.json",
    "/p/.claude/skills/a/SKILL.md",
    "/p/.claude/agents/a.md",
    "/p/.claude/settings.json",
];

/// Returns parts of settings, of YAML and of mistakes, so that random texts are often almost valid.
fn text_part() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        ": ",
        "\n",
        "\n  ",
        "\n    ",
        "- ",
        "\t",
        "\"",
        "'",
        "// é\n",
        "/* é */",
        "\\",
        "---\n",
        "---",
        "hooks",
        "\"hooks\":",
        "hooks:\n",
        "\"Stop\":[",
        "Stop:\n",
        "PreToolUse: ",
        "- hooks:\n",
        "type: command\n",
        "\"type\":\"command\"",
        "command: é\n",
        "&a ",
        "*a",
        "<<: ",
        "|\n",
        ">\n",
        "!!str ",
        "? ",
        "# é\n",
        "\u{feff}",
        "é",
        "𝄞",
        "5",
        "True",
        "null",
        "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"é\"}]}]}}",
        "\r\n",
        "%",
    ]);
    prop_oneof![8 => known.prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
}

fn arbitrary_file() -> impl Strategy<Value = Vec<u8>> {
    let text = prop::collection::vec(text_part(), 0..40).prop_map(|parts| parts.concat()).boxed();
    let fenced = text.clone().prop_map(|text| format!("---\n{text}\n---\n"));
    let object = text.clone().prop_map(|text| format!("{{{text}}}"));
    let bytes = prop::collection::vec(any::<u8>(), 0..100);
    prop_oneof![
        2 => text.prop_map(String::into_bytes),
        3 => fenced.prop_map(String::into_bytes),
        2 => object.prop_map(String::into_bytes),
        1 => bytes,
    ]
}

fn assert_inside(text: &str, range: &Range<usize>) {
    assert!(text.get(range.clone()).is_some(), "{range:?} in {text:?}");
}

/// Asserts that the positions of a document lie in its text.
fn check_document(document: &ClientDocument) {
    let text = &document.text;
    let mut open: Vec<&JsonNode> = vec![&document.root];
    while let Some(node) = open.pop() {
        assert_inside(text, &document.value_range(node));
        for field in document.field_spans(node) {
            assert_inside(text, &field.key_range);
            assert_inside(text, &field.value_range);
        }
        match &node.kind {
            JsonKind::List(items) => open.extend(items),
            JsonKind::Object(members) => open.extend(members.iter().map(|(_, node)| node)),
            _ => {}
        }
    }
    for key in document.duplicate_keys() {
        assert_inside(text, &key.first);
        assert_inside(text, &key.second);
    }
}

fn check_layer(layer: &SettingsLayer) {
    if let Some(document) = layer.readable_document() {
        check_document(document);
        for entry in &layer.entries {
            assert_inside(&document.text, &entry.source.range);
            assert_inside(&document.text, &entry.source.group);
        }
    }
    for fault in &layer.faults {
        let SettingsFault::Document(fault) = fault else { continue };
        let text = fault.text().unwrap();
        assert_inside(text, &(fault.at..fault.at));
        if let DocumentFaultKind::NotJson { mistakes, .. } = &fault.kind {
            assert!(!mistakes.is_empty(), "{text:?}");
            for mistake in mistakes {
                assert_inside(text, &mistake.range);
                if let Some((range, _)) = &mistake.repair {
                    assert_inside(text, range);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_range_lies_in_the_text(bytes in arbitrary_file()) {
        for contract in Contract::MEASURED.map(Contract::for_client) {
            for name in NAMES {
                let file = HookFile::from_name(Path::new(name), None).unwrap();
                check_layer(&file.parse(&bytes, contract).unwrap());
            }
        }
    }
}
