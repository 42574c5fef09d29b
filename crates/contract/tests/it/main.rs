//! Tests of the contract from outside: schemas, fixtures, properties.

/// Whatever the builder says is valid, and whatever the table allows to be sent is read.
mod properties;
/// Accept and reject fixtures, captured payloads, and the schemas themselves.
mod schemas;
/// Compiling and finding what the other modules need.
mod support;

/// A file that nobody declared would never run.
#[test]
fn no_test_file_is_forgotten() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let declared = include_str!("main.rs");
    for entry in std::fs::read_dir(here).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(module == "main" || declared.contains(&format!("mod {module};")), "{name}");
    }
}
