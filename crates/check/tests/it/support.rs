//! The clients under test.

use rutter_check::live::Client;

/// The newest client that the contract was measured on, or `None` after a word about the skip.
pub(crate) fn client(what: &str) -> Option<Client> {
    named("RUTTER_TEST_CLIENT", what)
}

fn named(variable: &str, what: &str) -> Option<Client> {
    let Some(path) = std::env::var_os(variable) else {
        rutter_testkit::skip(what, &format!("{variable} is not set; scripts/test sets it"));
        return None;
    };
    Some(Client::at(path).unwrap())
}
