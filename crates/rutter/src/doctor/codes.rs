//! The table of all finding codes of `rutter doctor`. The reference page is generated from it.

use serde::Serialize;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingSeverity {
    /// Something does not work. The command exits with 1.
    Problem,
    /// Something works, but needs attention.
    Warning,
    /// Something that may be intended.
    Note,
}

impl FindingSeverity {
    /// Returns the name in output and documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A kind of finding.
#[derive(Debug, PartialEq, Eq)]
pub struct FindingCode {
    /// Permanent name: scripts search for it.
    pub name: &'static str,
    /// Severity of each finding with this code.
    pub severity: FindingSeverity,
    /// Part of the setup that the code is about.
    pub about: &'static str,
    /// Sentence that describes the fault.
    pub summary: &'static str,
    /// Default advice, for findings without more specific advice.
    pub advice: &'static str,
}

macro_rules! codes {
    ($($about:literal { $($constant:ident = $name:literal, $severity:ident, $summary:literal, $advice:literal;)* })*) => {
        $($(
            #[doc = $summary]
            pub static $constant: FindingCode = FindingCode {
                name: $name,
                severity: FindingSeverity::$severity,
                about: $about,
                summary: $summary,
                advice: $advice,
            };
        )*)*

        /// All codes, in the order of the reference page.
        pub static CODES: &[&FindingCode] = &[$($(&$constant),*),*];
    };
}

codes! {
    "The client" {
        CLIENT_MISSING = "client-missing", Note,
            "`claude` is not in `PATH`, so its version is unknown.",
            "install Claude Code, or add its folder to PATH";
        CLIENT_UNUSABLE = "client-unusable", Warning,
            "`claude --version` fails, hangs or prints no version.",
            "claude --version";
        CLIENT_TOO_OLD = "client-too-old", Problem,
            "The client is older than 2.1.139 and ignores `args`, which a rutter entry has: it \
             starts `rutter` without arguments on every event.",
            "claude update";
        CLIENT_SIMPLE = "client-simple", Problem,
            "`CLAUDE_CODE_SIMPLE` is set here: a client started from here runs no hooks.",
            "unset CLAUDE_CODE_SIMPLE";
        FOLDER_UNTRUSTED = "folder-untrusted", Note,
            "The client does not trust this folder yet. Until it does, an interactive session \
             runs no hooks from the folder's settings and ignores the project's permission \
             rules; `claude -p` runs the hooks. Trust in a parent folder counts; newer clients \
             ignore parents outside the repository.",
            "start claude here once and accept the trust question";
        STATE_UNREADABLE = "client-state-unreadable", Problem,
            "The client's own file, with trusted folders and the user's servers, cannot be \
             read. Newer clients then start no session.",
            "fix the file, or move it away: the client makes a new one";
    }
    "Settings" {
        SETTINGS_UNREADABLE = "settings-unreadable", Problem,
            "A settings file cannot be read, so the client ignores it.",
            "make it a file that you may read";
        SETTINGS_NOT_JSON = "settings-not-json", Problem,
            "A settings file is not JSON as the client reads it: it skips the whole file. Comments and trailing commas are \
             not allowed.",
            "fix it there; comments and trailing commas are not allowed";
        SETTINGS_NOT_OBJECT = "settings-not-object", Problem,
            "A settings file does not contain an object, so the client skips it.",
            "write { … }";
        SETTINGS_NOT_UTF8 = "settings-not-utf8", Warning,
            "A settings file is not UTF-8: the client replaces the invalid bytes, and `rutter \
             init` does not change the file.",
            "save it as UTF-8";
        SETTINGS_KEY_WRONG = "settings-key-wrong", Problem,
            "A settings key has a value of the wrong type. The client skips the whole file: \
             hooks, permissions and everything else.",
            "give it a value of the right type, or remove it";
        SETTINGS_VOIDED = "settings-voided", Problem,
            "A malformed hook makes the client skip the whole file, and rutter's hooks with it: \
             under PreToolUse or PermissionRequest, or, before about 2.1.325, under any event.",
            "fix that entry, or remove it";
        SETTINGS_KEY_TWICE = "settings-key-twice", Warning,
            "A key occurs twice in a settings file, and the client ignores the first.",
            "merge the two into one";
        SETTINGS_LEFTOVER = "settings-leftover", Warning,
            "A killed `rutter init` or `uninstall` left a temporary copy of a settings file, \
             more than an hour ago.",
            "rm FILE";
        HOOKS_RECORDED = "hooks-recorded", Note,
            "`rutter contract record on` has put a recorder in front of hooks of this file, which start rutter.",
            "rutter contract record off";
        HOOKS_WRONG = "hooks-wrong", Problem,
            "`hooks` is not an object of events, so the client runs none of the hooks of that file.",
            "write { \"EVENT\": [ … ] }";
        EVENT_UNKNOWN = "event-unknown", Warning,
            "The event does not exist, so these hooks never run.",
            "rutter contract events";
        EVENT_WRONG = "event-wrong", Warning,
            "The hooks of an event are not an array of matcher groups, so none of them runs.",
            "write [ { \"hooks\": [ … ] } ]";
        ENTRY_WRONG = "entry-wrong", Warning,
            "The client cannot load an entry under `hooks` and skips it. It is not a rutter \
             entry.",
            "fix it, or remove it";
        HOOKS_DISABLED = "hooks-disabled", Problem,
            "`disableAllHooks` is in effect (precedence: managed, local, project, user), so no \
             hook runs.",
            "remove `disableAllHooks` there";
        HOOKS_MANAGED_ONLY = "hooks-managed-only", Problem,
            "Managed settings allow only hooks of the organisation or of plugins.",
            "ask the administrator of this machine";
        ENV_OFF = "env-off", Warning,
            "`env` in the settings disables rutter's hooks.",
            "remove `RUTTER` from `env` there";
        ENV_MOVES = "env-moves-memory", Warning,
            "`env` in the settings, or in the server's entry, makes hooks or tools use another \
             memory than commands in this shell.",
            "set the same variable here, or remove it there";
        ENV_SIMPLE = "env-simple", Problem,
            "`env` in the settings sets `CLAUDE_CODE_SIMPLE`, so the client runs no hooks. \
             Newer clients read it from the user's settings, older ones from any settings.",
            "remove `CLAUDE_CODE_SIMPLE` from `env` there";
    }
    "Our hooks" {
        HOOKS_NONE = "hooks-none", Problem,
            "No settings file that applies to this folder runs rutter.",
            "rutter init";
        HOOKS_MISSING = "hooks-missing", Problem,
            "Some of rutter's events have no rutter entry: an older version wrote the entries, \
             or some were removed.",
            "rutter init";
        HOOKS_EXTRA = "hooks-extra", Warning,
            "An entry runs rutter on an event that rutter does not handle.",
            "rutter init";
        HOOKS_TWICE = "hooks-twice", Warning,
            "Two entries run rutter on the same event, so everything is recorded twice. The \
             client merges only identical commands, not other paths, other spellings or the \
             copy of a plugin.",
            "run rutter uninstall for the one that you do not want";
        HOOKS_SHARED_OWN = "hooks-shared-own", Problem,
            "Your own settings have an entry that `rutter init --project` or `--plugin` writes \
             for a team. It runs the `rutter` in `PATH`, as a hook of the project.",
            "rutter init --user";
        HOOK_WRONG = "hook-wrong", Problem,
            "The client cannot load a rutter entry and skips it.",
            "rutter init";
        HOOK_MATCHER_NEVER = "hook-matcher-never", Problem,
            "The matcher of a rutter entry matches nothing that rutter handles, so the entry \
             never runs.",
            "rutter init";
        HOOK_MATCHER_DIFFERS = "hook-matcher-differs", Warning,
            "The matcher of a rutter entry is not the one that `rutter init` writes, so rutter \
             gets fewer or more events.",
            "rutter init";
        HOOK_TIMEOUT = "hook-timeout", Warning,
            "The `timeout` of a rutter entry is far from the value that `rutter init` writes. \
             It is in seconds, not milliseconds.",
            "rutter init";
        HOOK_CONDITION = "hook-condition", Problem,
            "A rutter entry has an `if`: on most events it then never runs, on the others rarely.",
            "rutter init";
        HOOK_ASYNC = "hook-async", Warning,
            "A rutter entry runs in the background, so its answer arrives too late or never.",
            "rutter init";
        HOOK_ON_FAILURE = "hook-on-failure", Warning,
            "A rutter entry has `onFailure`: if rutter cannot be started, the hook blocks the \
             agent.",
            "rutter init";
        HOOK_FIELD = "hook-field", Warning,
            "A rutter entry has a field that the client ignores.",
            "rutter init";
        HOOK_SHELL = "hook-shell", Warning,
            "A rutter entry is a shell command: it starts one more process on every event, and \
             the shell may misread the path.",
            "rutter init";
    }
    "The program that hooks and the server run" {
        PROGRAM_MISSING = "program-missing", Problem,
            "The program of the hooks or the server does not exist.",
            "rutter init";
        PROGRAM_NOT_IN_PATH = "program-not-in-path", Problem,
            "The hooks or the server look for `rutter` in `PATH`, or at a path that is the same \
             on every machine. It is not there, so they silently do nothing.",
            "add the folder of rutter to PATH";
        PROGRAM_NOT_EXECUTABLE = "program-not-executable", Problem,
            "The program of the hooks or the server is not executable, or you may not run it.",
            "rutter init";
        PROGRAM_BROKEN = "program-broken", Problem,
            "The program of the hooks or the server does not run: it was built for another \
             machine, its interpreter is missing, or it fails.",
            "rutter init";
        PROGRAM_OTHER = "program-other", Problem,
            "The program of the hooks or the server is named rutter but is another program.",
            "rutter init";
        PROGRAM_VERSION = "program-version", Warning,
            "Hooks or the server run another version of rutter than this one.",
            "rutter init";
        PROGRAM_IS_BUILD = "program-is-build", Warning,
            "The program of the hooks or the server is in a cargo build folder; the next `cargo \
             clean` deletes it.",
            "rutter init --bin PATH";
        PROGRAM_WRITABLE = "program-writable", Warning,
            "Other users can write to the program of the hooks or the server or to a parent \
             folder, or the program belongs to another user.",
            "chmod go-w PATH";
        BUILD_DYNAMIC = "build-dynamic", Note,
            "This build is linked dynamically and starts more slowly (Linux only).",
            "cargo install --path crates/rutter, in a checkout: it builds a static program";
    }
    "The MCP server" {
        SERVERS_VOID = "servers-void", Problem,
            "`.mcp.json`, or the list of servers in the client's own file, is malformed: the \
             client ignores all servers in it, mostly without a message.",
            "write { \"mcpServers\": { … } }";
        SERVER_MISSING = "server-missing", Problem,
            "rutter's hooks are installed and its server is not, so the agent has none of its \
             tools: an older version wrote the entries, or the server was removed.",
            "rutter init";
        SERVER_WRONG = "server-wrong", Problem,
            "The entry of the server does not start `rutter mcp`, or the client cannot load it.",
            "rutter init";
        SERVER_FOREIGN = "server-foreign", Problem,
            "Another server is called `rutter` and replaces rutter's server.",
            "give it another name, then rutter init";
        SERVER_FOREIGN_ALLOWED = "server-foreign-allowed", Problem,
            "Another server is called `rutter`, and the permission rule for rutter's server \
             lets the agent call all of its tools without asking. The `.mcp.json` of a checkout \
             can do that.",
            "check which program it starts, and remove it";
        SERVER_ALLOWED_WHOLE = "server-allowed-whole", Warning,
            "A rule allows every tool of rutter's server, including `forget` and the search in \
             other projects.",
            "rutter init, which allows the tools by name";
        SERVER_PROGRAM_DIFFERS = "server-program-differs", Warning,
            "The server and the hooks run different rutter programs.",
            "rutter init";
        SERVER_TWICE = "server-twice", Warning,
            "A plugin and the user's own configuration both run the server, so the agent has \
             every tool twice.",
            "run rutter uninstall for the one that you do not want";
        SERVER_SHADOWED = "server-shadowed", Note,
            "The server is registered twice with different programs, and this one is not \
             started: the client prefers the local entry, then the project's, then the user's.",
            "run rutter uninstall for the one that you do not want";
        SERVER_OFF = "server-off", Warning,
            "The server is disabled for this folder: by `/mcp`, or by your answer to the \
             client's question.",
            "enable it again: type /mcp in claude";
        SERVER_NOT_ADMITTED = "server-not-admitted", Problem,
            "Settings (`allowedMcpServers`, `deniedMcpServers` or an organisation's list) do \
             not allow rutter's server. The client silently does not start it.",
            "allow it there";
        SERVER_PENDING = "server-pending", Note,
            "The server of a project waits for your approval: an interactive session asks, and \
             newer clients suggest not to use it; `claude -p` starts it at once.",
            "start claude here once and choose to use the server";
        SERVER_DENIED = "server-denied", Problem,
            "A permission rule denies rutter's tools, so the agent does not see them. A deny \
             rule in any settings file wins over every allow rule.",
            "remove that rule there";
        SERVER_ASKS = "server-asks", Note,
            "A permission rule makes the client ask before each call of a rutter tool; `claude \
             -p` refuses the call.",
            "remove that rule there";
        SERVER_NOT_ALLOWED = "server-not-allowed", Note,
            "No permission rule allows rutter's tools, so the client asks before each call, and \
             `claude -p` refuses it. `rutter init --no-allow` keeps it that way.",
            "rutter init";
        SERVER_FAILS = "server-fails", Problem,
            "Doctor started the server as the client does, and the server gave a wrong answer \
             or did not list its tools.",
            "rutter init";
        SERVER_SLOW = "server-slow", Warning,
            "The server took more than one second to list its tools, in each of three tries.",
            "run rutter doctor again when the machine is idle";
    }
    "A test run of each hook" {
        HOOK_FAILS = "hook-fails", Problem,
            "Doctor ran a rutter entry as the client does, and it failed.",
            "rutter init";
        HOOK_ANSWER = "hook-answer", Problem,
            "The client does not accept all of a rutter entry's answer, or the answer decides \
             something.",
            "rutter contract explain";
        HOOK_SLOW = "hook-slow", Warning,
            "A hook took more than half of its deadline.",
            "run rutter doctor again when the machine is idle";
    }
    "Recent events" {
        EVENT_UNSEEN = "event-unseen", Warning,
            "One of rutter's events was not received for 14 days, although others were.",
            "rutter doctor --live";
    }
    "The real client, with `--live`" {
        LIVE_NO_CLIENT = "live-no-client", Problem,
            "`--live` needs a client, and none can be started.",
            "install Claude Code, or add its folder to PATH";
        LIVE_UNSEEN = "live-unseen", Problem,
            "Doctor started the client offline with the rutter entries of your settings, and an \
             expected step did not happen.",
            "fix the other findings, then run rutter doctor --live";
    }
    "The memory" {
        MEMORY_UNREADABLE = "memory-unreadable", Problem,
            "The folder of the memory cannot be read.",
            "make it a folder that belongs to you";
        MEMORY_UNWRITABLE = "memory-unwritable", Problem,
            "The folder of the memory is not writable.",
            "make it a folder that belongs to you";
        MEMORY_DAMAGED = "memory-damaged", Problem,
            "The database is damaged, or cannot be read.",
            "rutter doctor --repair";
        MEMORY_NEWER = "memory-newer", Problem,
            "A newer rutter wrote the database; this version does not use it.",
            "update rutter";
        MEMORY_FOREIGN = "memory-foreign", Problem,
            "The database file belongs to another program.",
            "move it away, or set RUTTER_HOME to another folder";
        MEMORY_OLDER = "memory-older", Warning,
            "An older rutter wrote the database, and it was not migrated yet.",
            "rutter maintain";
        MEMORY_SET_ASIDE = "memory-set-aside", Warning,
            "A damaged database was set aside and waits for a repair.",
            "rutter doctor --repair";
        MEMORY_REPAIRING = "memory-repairing", Warning,
            "A repair is running or was interrupted.",
            "rutter doctor --repair";
        MEMORY_OF_ANOTHER_USER = "memory-of-another-user", Problem,
            "The folder of the memory, or a file in it, belongs to another user, who could change it. Hooks and commands do not use it.",
            "sudo chown -R $(id -u) FOLDER, or set RUTTER_HOME to a folder of your own";
        MEMORY_LINK = "memory-link", Problem,
            "A file or folder of the memory is a symbolic link, and rutter does not write \
             through links.",
            "rm FILE, or replace it with its target";
        MEMORY_WRITABLE_BY_OTHERS = "memory-writable-by-others", Problem,
            "Other users can write to the folder of the memory. The next hook or command \
             removes that permission, if it can.",
            "rutter doctor --repair";
        MEMORY_WAS_OPEN = "memory-was-open", Warning,
            "Other users could write to the folder of the memory in the last 7 days. The \
             permission was removed, but they may have changed rows.",
            "rutter doctor, and check the output of rutter memories and rutter values list";
        MEMORY_READABLE = "memory-readable", Warning,
            "Other users can read a file or folder of the memory.",
            "rutter doctor --repair";
        MEMORY_FORGETTING = "memory-forgetting", Warning,
            "Rows were deleted, and some of their bytes are still in the files.",
            "rutter maintain";
        MEMORY_LARGE = "memory-large", Warning,
            "The database is larger than 1 GB.",
            "rutter forget --project frees the space of a project";
        MEMORY_WAITING = "memory-waiting", Warning,
            "The write-ahead log is large and not merged into the database.",
            "rutter maintain";
        MEMORY_UNFILED = "memory-unfiled", Warning,
            "Many rows are not in the search files yet, so a search takes long.",
            "rutter maintain";
        MEMORY_MISFILED = "memory-misfiled", Warning,
            "The search files are damaged, missing or of another database, so a search reads the \
             database instead; or the fingerprint file lacks rows, so hooks before tool calls ignore \
             them.",
            "rutter maintain";
        MEMORY_LEFTOVERS = "memory-leftovers", Warning,
            "A killed process left a temporary file, more than an hour ago.",
            "rm FILE";
        SPOOL_OLD = "spool-old", Warning,
            "Entries have been waiting in the spool for more than a day.",
            "rutter maintain";
        DISK_FULL = "disk-full", Warning,
            "Less than 50 MB are free on the disk of the memory.",
            "free some space there";
        LOG_FAULTS = "log-faults", Note,
            "Hooks failed in the last seven days; the log has the reasons.",
            "read the log";
    }
    "Configuration" {
        CONFIG_VOID = "config-void", Problem,
            "A configuration file cannot be read or is not TOML, so all of it is ignored.",
            "rutter config check";
        CONFIG_WRONG = "config-wrong", Warning,
            "A configuration key or value is invalid and is ignored.",
            "rutter config check";
        CONFIG_UNTRUSTED = "config-untrusted", Note,
            "The `.rutter.toml` of this checkout requests changes that need your trust.",
            "rutter trust";
        CONFIG_HOOKS_YAML = "config-hooks-yaml", Note,
            "The checkout has a `.claude/hooks/config.yaml`, which neither the client nor \
             rutter uses.",
            "rutter config check";
        CONFIG_GIT_IGNORED = "config-git-ignored", Warning,
            "Rutter does not use a `.git` or its configuration to identify the project: it \
             belongs to another user, points to another checkout, or is too large. The path of \
             the folder is the project's identity.",
            "rutter project show";
        HOOK_OFF = "hook-off", Note,
            "The configuration disables hooks.",
            "rutter config show --origin";
        FOLDER_EXCLUDED = "folder-excluded", Note,
            "The configuration excludes this folder: hooks record nothing and say nothing here.",
            "remove it from scope.exclude";
        PAUSED = "paused", Note,
            "The hooks are paused: they record nothing and say nothing.",
            "rutter pause --off";
        SWITCHED_OFF = "switched-off", Warning,
            "`RUTTER=off` is set here: the hooks of a client started from here do nothing.",
            "unset RUTTER";
    }
    "Other memories" {
        RIVAL = "rival-memory", Note,
            "Another memory tool also adds context for the agent. Both work; the agent reads \
             twice as much.",
            "keep the one you want";
    }
}

/// Finds a code by its name.
pub fn find_code(name: &str) -> Option<&'static FindingCode> {
    CODES.iter().copied().find(|code| code.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rutter_memory::store::doctor::StoreProblem;

    use super::*;

    #[test]
    fn code_names_are_unique() {
        let names: BTreeSet<&str> = CODES.iter().map(|code| code.name).collect();
        assert_eq!(names.len(), CODES.len());
        for code in CODES {
            assert!(code.name.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == '8'));
            assert!(code.summary.ends_with('.') && !code.advice.is_empty(), "{}", code.name);
        }
    }

    #[test]
    fn every_ailment_has_code() {
        for ailment in StoreProblem::NAMES {
            assert!(find_code(ailment).is_some(), "{ailment}");
        }
    }
}
