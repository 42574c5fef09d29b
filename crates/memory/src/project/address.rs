//! The address of a remote, reduced to what it names.
//!
//! One repository has many addresses. What differs between them without naming another repository is dropped:
//! scheme, user, password, query, fragment, well-known ports, the case of the host, `.git`, stray slashes. Other
//! ports stay. The case of the path stays too, except on hosts known to ignore it.
//!
//! What is no proper address has no key, and the project goes by its git directory. That is also the answer to an
//! `@` anywhere but before the host: it may end a password that somebody forgot to encode, and a weaker key is
//! better than a stored secret.

mod hosts;
mod path;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use super::place;
use path::{decode, segments, without_suffix};

/// Longer addresses are somebody's mistake; keys are kept and compared often.
const LONGEST: usize = 2048;

/// Schemes whose host and path name the repository whichever of them is used.
const SCHEMES: &[&str] = &[
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

/// Ports that say no more than the scheme did. SSH is also served on 443, so the pairing is not looked at.
const WELL_KNOWN_PORTS: &[u16] = &[22, 80, 443, 9418];

/// What a remote's URL leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    /// Another machine.
    Network {
        /// The project's key.
        key: String,
        /// The last part of the path, for people.
        name: String,
    },
    /// A path on this machine, perhaps relative to the repository.
    Local(PathBuf),
}

impl Address {
    /// Reads a URL as git reads it; `None` when it names nothing that could be shared.
    pub(super) fn read(url: &[u8]) -> Option<Self> {
        if url.is_empty() || url.len() > LONGEST {
            return None;
        }
        // Odd bytes are encoded below; a local path keeps them.
        let text = String::from_utf8_lossy(url);
        if text.chars().any(char::is_control) {
            return None;
        }
        if let Some((helper, address)) = helper(&text) {
            // `ext::` and `fd::` take commands and descriptors, not addresses.
            let address = if helper == "ext" || helper == "fd" {
                None
            } else {
                Self::read(address.as_bytes())
            };
            return address.filter(|address| matches!(address, Self::Network { .. }));
        }
        if let Some((scheme, rest)) = scheme(&text) {
            return match scheme.to_ascii_lowercase().as_str() {
                "file" => Some(Self::Local(file(rest)?)),
                scheme if scheme.contains("ssh") && SCHEMES.contains(&scheme) => {
                    network(None, &without_query(rest))
                }
                scheme if SCHEMES.contains(&scheme) => network(None, rest),
                scheme => network(Some(scheme), rest),
            };
        }
        match text.find([':', '/']) {
            Some(at) if text[at..].starts_with(':') => shell_copy(&text),
            _ => Some(Self::Local(place::path(url).to_owned())),
        }
    }
}

/// `helper::address`: the program that git fetches with, and what it is told.
fn helper(text: &str) -> Option<(&str, &str)> {
    let (helper, address) = text.split_once("::")?;
    is_scheme(helper).then_some((helper, address))
}

fn scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    is_scheme(scheme).then_some((scheme, rest))
}

fn is_scheme(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.bytes().all(plain)
}

/// The path of a `file://` URL. Between the slashes there may be a host, and a user before it.
fn file(rest: &str) -> Option<PathBuf> {
    let (host, path) = rest.split_once('/')?;
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = if host == "localhost" { "" } else { host };
    let bytes = decode(&format!("/{host}/{path}"));
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

/// `user@host:path`, and `[host:port]:path` for those who need it.
fn shell_copy(text: &str) -> Option<Address> {
    let bracket = text.find('[').filter(|at| {
        let user = &text[..*at];
        user.is_empty() || (user.ends_with('@') && !user.contains([':', '/']))
    });
    let Some(open) = bracket else {
        let (authority, path) = text.split_once(':')?;
        return network(None, &without_query(&format!("{authority}/{path}")));
    };
    let (inner, path) = text[open + 1..].split_once("]:")?;
    let inner = inner.rsplit_once('@').map_or(inner, |(_, inner)| inner);
    // Two colons are an IPv6 address, one separates a port.
    let address = inner.matches(':').count() > 1;
    let authority = if address { format!("[{inner}]") } else { inner.to_owned() };
    network(None, &without_query(&format!("{authority}/{path}")))
}

/// An address of SSH, whose path may hold any sign: it has neither a query nor a fragment.
fn without_query(address: &str) -> String {
    address.replace('?', "%3F").replace('#', "%23")
}

/// What stands behind `scheme://`. A scheme that is given stays in the key.
fn network(scheme: Option<&str>, rest: &str) -> Option<Address> {
    let (rest, dropped) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    if path.contains('@') || dropped.contains('@') {
        return None;
    }
    let authority = authority.rsplit_once('@').map_or(authority, |(_, authority)| authority);
    let (host, port) = host_and_port(authority)?;
    let segments = segments(path);
    let (place, fold, segments) = if let Some(scheme) = scheme {
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        (format!("{scheme}://{host}{port}"), false, without_suffix(segments, false))
    } else {
        let host = host.to_lowercase();
        let first = hosts::first_name(&host);
        let fold = hosts::ignores_case(first);
        let segments = hosts::arranged(&host, without_suffix(segments, fold));
        // A host that is known by several names has a port for each, which says nothing more.
        let port = port.filter(|port| !fold && !WELL_KNOWN_PORTS.contains(port));
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        (format!("{first}{port}"), fold, segments)
    };
    let name = match segments.last() {
        Some(last) => String::from_utf8_lossy(&decode(last)).replace(char::is_control, "\u{fffd}"),
        // Only a helper may know what a host alone means.
        None => scheme.map(|_| host.to_owned())?,
    };
    let path = segments.join("/");
    let path = if fold { path.to_ascii_lowercase() } else { path };
    let separator = if path.is_empty() { "" } else { "/" };
    Some(Address::Network { key: format!("{place}{separator}{path}"), name })
}

/// `None` for what cannot be a host or a port; a password with a slash in it looks like that.
fn host_and_port(authority: &str) -> Option<(&str, Option<u16>)> {
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
