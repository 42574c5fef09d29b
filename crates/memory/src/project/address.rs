//! Normalises the address of a remote.
//!
//! One repository has many addresses. The parts that can differ without naming another repository are dropped: scheme,
//! user, password, query, fragment, well-known ports, the case of the host, `.git`, extra slashes. Other ports stay.
//! The case of the path stays too, except on hosts known to ignore it.
//!
//! An invalid address gives no key, and the project is identified by its git directory. The same holds for an `@`
//! anywhere but before the host: it may end a password that was not encoded, and a weaker key is better than a stored
//! secret.

mod hosts;
mod path;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use super::place;
use path::{normalized_segments, percent_decode, strip_git_suffix};

/// Maximum length of an address. A longer one is a mistake, and keys are stored and compared often.
const MAX_ADDRESS_BYTES: usize = 2048;

/// Schemes that lead to the same repository for the same host and path.
const EQUIVALENT_SCHEMES: &[&str] = &[
    "https",
    "http",
    "ssh",
    "git",
    "ftp",
    "ftps",
    "rsync",
    "git+ssh",
    "ssh+git",
    "git+https",
    "git+http",
];

/// Ports that add nothing to the scheme. SSH is also served on 443, so ports are not matched with schemes.
const WELL_KNOWN_PORTS: &[u16] = &[22, 80, 443, 9418];

/// The parsed URL of a remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RemoteAddress {
    /// A repository on another machine.
    Network {
        /// The project's key.
        key: String,
        /// The last part of the path, for users.
        name: String,
    },
    /// A path on this machine, possibly relative to the repository.
    Local(PathBuf),
}

impl RemoteAddress {
    /// Parses a URL like git does. Returns None if it names nothing that can be shared.
    pub(super) fn parse(url: &[u8]) -> Option<Self> {
        if url.is_empty() || url.len() > MAX_ADDRESS_BYTES {
            return None;
        }
        // Unusual bytes are encoded below; a local path keeps them.
        let text = String::from_utf8_lossy(url);
        if text.chars().any(char::is_control) {
            return None;
        }
        if let Some((helper, address)) = split_helper(&text) {
            // `ext::` and `fd::` take commands and descriptors, not addresses.
            let address = if helper == "ext" || helper == "fd" {
                None
            } else {
                Self::parse(address.as_bytes())
            };
            return address.filter(|address| matches!(address, Self::Network { .. }));
        }
        if let Some((scheme, rest)) = split_scheme(&text) {
            return match scheme.to_ascii_lowercase().as_str() {
                "file" => Some(Self::Local(parse_file_url(rest)?)),
                scheme if scheme.contains("ssh") && EQUIVALENT_SCHEMES.contains(&scheme) => {
                    parse_network(None, &encode_query_signs(rest))
                }
                scheme if EQUIVALENT_SCHEMES.contains(&scheme) => parse_network(None, rest),
                scheme => parse_network(Some(scheme), rest),
            };
        }
        match text.find([':', '/']) {
            Some(at) if text[at..].starts_with(':') => parse_scp_address(&text),
            _ => Some(Self::Local(place::path_from_bytes(url).to_owned())),
        }
    }
}

/// Splits `helper::address` into the program that git fetches with, and its argument.
fn split_helper(text: &str) -> Option<(&str, &str)> {
    let (helper, address) = text.split_once("::")?;
    is_scheme(helper).then_some((helper, address))
}

fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    is_scheme(scheme).then_some((scheme, rest))
}

fn is_scheme(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.bytes().all(plain)
}

/// Returns the path of a `file://` URL. Between the slashes there may be a host, and a user before it.
fn parse_file_url(rest: &str) -> Option<PathBuf> {
    let (host, path) = rest.split_once('/')?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = if host == "localhost" { "" } else { host };
    let bytes = percent_decode(&format!("/{host}/{path}"));
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

/// Parses `user@host:path`, and `[host:port]:path`.
fn parse_scp_address(text: &str) -> Option<RemoteAddress> {
    let bracket = text.find('[').filter(|at| {
        let user = &text[..*at];
        user.is_empty() || (user.ends_with('@') && !user.contains([':', '/']))
    });
    let Some(open) = bracket else {
        let (authority, path) = text.split_once(':')?;
        return parse_network(None, &encode_query_signs(&format!("{authority}/{path}")));
    };
    let (inner, path) = text[open + 1..].split_once("]:")?;
    let inner = inner.rsplit_once('@').map_or(inner, |(_, inner)| inner);
    // Two colons are an IPv6 address, one separates a port.
    let address = inner.matches(':').count() > 1;
    let authority = if address { format!("[{inner}]") } else { inner.to_owned() };
    parse_network(None, &encode_query_signs(&format!("{authority}/{path}")))
}

/// Encodes `?` and `#` of an SSH address, which has neither a query nor a fragment.
fn encode_query_signs(address: &str) -> String {
    address.replace('?', "%3F").replace('#', "%23")
}

/// Parses the part after `scheme://`. If a scheme is given, it stays in the key.
fn parse_network(scheme: Option<&str>, rest: &str) -> Option<RemoteAddress> {
    let (rest, dropped) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if path.contains('@') || dropped.contains('@') {
        return None;
    }
    let authority = authority.rsplit_once('@').map_or(authority, |(_, authority)| authority);
    let (host, port) = split_host_and_port(authority)?;
    let segments = normalized_segments(path);
    let (place, fold, segments) = if let Some(scheme) = scheme {
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        (format!("{scheme}://{host}{port}"), false, strip_git_suffix(segments, false))
    } else {
        let host = host.to_lowercase();
        let first = hosts::main_host_name(&host);
        let fold = hosts::ignores_case(first);
        let segments = hosts::normalize_azure_path(&host, strip_git_suffix(segments, fold));
        // The known hosts have a different port for each of their names, which adds nothing.
        let port = port.filter(|port| !fold && !WELL_KNOWN_PORTS.contains(port));
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        (format!("{first}{port}"), fold, segments)
    };
    let name = match segments.last() {
        Some(last) => {
            String::from_utf8_lossy(&percent_decode(last)).replace(char::is_control, "\u{fffd}")
        }
        // A host alone can have a meaning only for a helper.
        None => scheme.map(|_| host.to_owned())?,
    };
    let path = segments.join("/");
    let path = if fold { path.to_ascii_lowercase() } else { path };
    let separator = if path.is_empty() { "" } else { "/" };
    Some(RemoteAddress::Network { key: format!("{place}{separator}{path}"), name })
}

/// Returns None if the text cannot be a host and port, for example because of a password with a slash.
fn split_host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = if authority.starts_with('[') {
        let (host, port) = authority.split_at(authority.find(']')? + 1);
        let inner = &host[1..host.len() - 1];
        let address = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
        (inner.bytes().all(address) && !inner.is_empty()).then_some(())?;
        (host, if port.is_empty() { "" } else { port.strip_prefix(':')? })
    } else {
        let (host, port) = authority.split_once(':').unwrap_or((authority, ""));
        let host = host.trim_end_matches('.');
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
        (!host.is_empty() && host.chars().all(plain)).then_some(())?;
        (host, port)
    };
    let port = if port.is_empty() { None } else { Some(port.parse().ok()?) };
    Some((host, port))
}
