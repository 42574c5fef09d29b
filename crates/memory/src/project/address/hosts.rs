//! Hosts that are known to serve one repository under several addresses.

/// Returns true for hosts that ignore the case of a path.
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

/// Returns the main name of a host. The alternative names are for networks that allow only port 443.
pub(super) fn main_host_name(host: &str) -> &str {
    match host {
        "www.github.com" | "ssh.github.com" => "github.com",
        "www.gitlab.com" | "altssh.gitlab.com" => "gitlab.com",
        "www.bitbucket.org" | "altssh.bitbucket.org" => "bitbucket.org",
        "ssh.dev.azure.com" | "vs-ssh.visualstudio.com" => "dev.azure.com",
        _ if azure_organisation(host).is_some() => "dev.azure.com",
        _ => host,
    }
}

/// Returns the parts of a path in the order that the host's main name uses.
///
/// Only Azure DevOps has several orders: `dev.azure.com/organisation/project/_git/repository`; over SSH without the
/// `_git`; in old addresses with the organisation in the host; and without the project if the repository has the same
/// name.
pub(super) fn normalize_azure_path(host: &str, mut path: Vec<String>) -> Vec<String> {
    let is = |part: &String, name: &str| part.eq_ignore_ascii_case(name);
    if main_host_name(host) != "dev.azure.com" || path.is_empty() {
        return path;
    }
    if let Some(organisation) = azure_organisation(host) {
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

/// Returns the organisation in an old host name.
fn azure_organisation(host: &str) -> Option<&str> {
    host.strip_suffix(".visualstudio.com").filter(|name| *name != "vs-ssh" && !name.contains('.'))
}
