//! Any file is read and linted without a panic, all ranges lie in its text, and fixes keep every other byte and leave
//! nothing to fix.

#![no_main]

use std::ops::Range;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use rutter_check::lint::{
    LintContext, LintFile, LintMachine, fix_file, run_rules, select_edits,
};
use rutter_check::settings::{HookFile, SettingsFault};
use rutter_check::text_edit::apply_edits;
use rutter_contract::version::Contract;

const NAMES: [&str; 6] = [
    "/p/.claude/settings.json",
    "/p/.claude/settings.local.json",
    "/g/hooks/hooks.json",
    "/g/.claude-plugin/plugin.json",
    "/p/.claude/skills/a/SKILL.md",
    "/p/.claude/agents/a.md",
];

fuzz_target!(|bytes: &[u8]| {
    let [name, client, text @ ..] = bytes else { return };
    let name = Path::new(NAMES[usize::from(*name) % NAMES.len()]);
    let contract = Contract::for_client(Contract::MEASURED[usize::from(*client) % 2]);
    let Some(file) = HookFile::from_name(name, None) else { return };
    let Some(layer) = file.parse(text, contract) else { return };
    for entry in &layer.entries {
        if let Some(document) = layer.readable_document() {
            assert_inside(&document.text, &entry.source.range);
        }
    }
    for fault in &layer.faults {
        if let SettingsFault::Document(fault) = fault
            && let Some(text) = fault.text()
        {
            assert_inside(text, &(fault.at..fault.at));
        }
    }
    let Some(file) = LintFile::from_layer(layer, file.plugin, None, contract) else { return };
    let machine = LintMachine::default();
    let context = LintContext::new(vec![file], Vec::new(), contract, &machine);
    let findings = run_rules(&context, &|_, _| false);
    let file = &context.files[0];
    for finding in findings.iter().filter(|finding| finding.file == 0) {
        assert_inside(&file.text, &finding.range);
        for edit in finding.fix.iter().flat_map(|fix| &fix.edits) {
            assert_inside(&file.text, &edit.range);
        }
    }
    let edits = select_edits(file, findings.iter());
    assert!(edits.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start));
    let once = apply_edits(&file.text, &edits);
    let added: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let removed: usize = edits.iter().map(|edit| edit.range.len()).sum();
    assert_eq!(once.len() + removed, file.text.len() + added);
    let Some(fixed) = fix_file(&context, 0, &findings, &|_, _| false) else { return };
    let again = file.with_text(&fixed, contract);
    let again = LintContext::new(vec![again], Vec::new(), contract, &machine);
    assert_eq!(fix_file(&again, 0, &run_rules(&again, &|_, _| false), &|_, _| false), None);
});

fn assert_inside(text: &str, range: &Range<usize>) {
    assert!(text.get(range.clone()).is_some(), "{range:?} in {text:?}");
}
