//! Hosts that are known to serve one repository under several addresses.

/// Hosts that take a path in any case.
pub(super) fn ignores_case(host: &str) -> bool {
    matches!(
        host,
        "github.com"
            | "gist.github.com"
            | "gitlab.com"
            | "bitbucket.org"
            | "codeberg.org"
            | "dev.azure.com"
    )
}

/// The name a host is known by. The doors beside the main one are for networks that let only port 443 through.
pub(super) fn first_name(host: &str) -> &str {
    match host {
        "www.github.com" | "ssh.github.com" => "github.com",
        "www.gitlab.com" | "altssh.gitlab.com" => "gitlab.com",
        "www.bitbucket.org" | "altssh.bitbucket.org" => "bitbucket.org",
        "ssh.dev.azure.com" | "vs-ssh.visualstudio.com" => "dev.azure.com",
        _ if organisation(host).is_some() => "dev.azure.com",
        _ => host,
    }
}

/// The parts of a path in the order that the host's first name has them in.
///
/// Only Azure DevOps has several: `dev.azure.com/organisation/project/_git/repository`, over SSH without the
/// `_git`, of old with the organisation in the host, and with the project left out where the repository has its
/// name.
pub(super) fn arranged(host: &str, mut path: Vec<String>) -> Vec<String> {
    let is = |part: &String, name: &str| part.eq_ignore_ascii_case(name);
    if first_name(host) != "dev.azure.com" || path.is_empty() {
        return path;
    }
    if let Some(organisation) = organisation(host) {
        if is(&path[0], "DefaultCollection") {
            path.remove(0);
        }
        path.insert(0, organisation.to_owned());
    } else if host != "dev.azure.com" && path.len() == 4 && is(&path[0], "v3") {
        path.remove(0);
        path.insert(2, "_git".to_owned());
    }
    if path.len() == 3 && is(&path[1], "_git") {
        path.insert(1, path[2].clone());
    }
    path
}

/// The organisation in one of the old hosts.
fn organisation(host: &str) -> Option<&str> {
    host.strip_suffix(".visualstudio.com").filter(|name| *name != "vs-ssh" && !name.contains('.'))
}
