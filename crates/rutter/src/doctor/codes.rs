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
            "There is no `claude` in `PATH`, so nothing can be said of its version.",
            "install Claude Code, or add its folder to PATH";
        CLIENT_UNUSABLE = "client-unusable", Warning,
            "`claude --version` fails, hangs or prints no version.",
            "claude --version";
        CLIENT_TOO_OLD = "client-too-old", Problem,
            "The client is older than 2.1.139 and an entry of ours has `args`, which it does not know: it would start a bare \
             `rutter` on every event.",
            "claude update";
        CLIENT_SIMPLE = "client-simple", Problem,
            "`CLAUDE_CODE_SIMPLE` is set here, and a client that is started with it runs no hooks.",
            "unset CLAUDE_CODE_SIMPLE";
        FOLDER_UNTRUSTED = "folder-untrusted", Note,
            "The client has not been told to trust this folder. Until then an interactive session runs no hooks of its \
             settings, and permission rules of the project do not count; `claude -p` runs them at once. The trust of a folder above counts; for newer clients not that of one outside of \
             the repository.",
            "start claude here once and accept its question";
        STATE_UNREADABLE = "client-state-unreadable", Problem,
            "The file in which the client notes what it trusts and which servers the user has cannot be read. Newer clients then \
             start no session.",
            "mend it there, or move it away: the client makes a new one";
    }
    "Settings" {
        SETTINGS_UNREADABLE = "settings-unreadable", Problem,
            "A settings file is there and cannot be read, so the client goes without it.",
            "make it a file that you may read";
        SETTINGS_NOT_JSON = "settings-not-json", Problem,
            "A settings file is not JSON as the client reads it: it skips the whole file. Comments and trailing commas are \
             not allowed.",
            "mend it there; comments and trailing commas are not allowed";
        SETTINGS_NOT_OBJECT = "settings-not-object", Problem,
            "Settings are an object; the client skips a file that holds anything else.",
            "write { … }";
        SETTINGS_NOT_UTF8 = "settings-not-utf8", Warning,
            "A settings file is not UTF-8: the client replaces what it cannot read, and `rutter init` leaves the file alone.",
            "save it as UTF-8";
        SETTINGS_KEY_WRONG = "settings-key-wrong", Problem,
            "A key of the settings has a value of the wrong type. For that the client skips the whole file: hooks, \
             permissions and all.",
            "give it a value of the right type, or take it out";
        SETTINGS_VOIDED = "settings-voided", Problem,
            "A hook cannot be loaded in a place where the client then skips the whole file: under PreToolUse or \
             PermissionRequest, or, before about 2.1.325, under any event. Whoever's hook it is, ours die with it.",
            "mend that entry, or take it out";
        SETTINGS_KEY_TWICE = "settings-key-twice", Warning,
            "A key stands twice in a settings file, and the client forgets the first.",
            "make the two one";
        SETTINGS_LEFTOVER = "settings-leftover", Warning,
            "A `rutter init` or `uninstall` that was killed left a copy of settings beside them, more than an hour ago.",
            "rm FILE";
        HOOKS_WRONG = "hooks-wrong", Problem,
            "`hooks` is not an object of events, so the client runs none of the hooks of that file.",
            "write { \"<event>\": [ … ] }";
        EVENT_UNKNOWN = "event-unknown", Warning,
            "There is no such event, so these hooks never run.",
            "rutter contract events";
        EVENT_WRONG = "event-wrong", Warning,
            "The hooks of an event are not an array of matcher groups, so none of them runs.",
            "write [ { \"hooks\": [ … ] } ]";
        ENTRY_WRONG = "entry-wrong", Warning,
            "The client cannot load an entry under `hooks` and passes over it. It is not one of ours.",
            "mend it, or take it out";
        HOOKS_DISABLED = "hooks-disabled", Problem,
            "`disableAllHooks` is what counts after precedence (managed, local, project, user), so no hook runs.",
            "take `disableAllHooks` out there";
        HOOKS_MANAGED_ONLY = "hooks-managed-only", Problem,
            "Managed settings let only hooks of the organisation or of plugins run.",
            "ask whoever manages this machine";
        ENV_OFF = "env-off", Warning,
            "`env` in the settings switches rutter's hooks off.",
            "take `RUTTER` out of `env` there";
        ENV_MOVES = "env-moves-memory", Warning,
            "`env` in the settings, or in the entry of the server, makes hooks or tools use another memory than the commands that are \
             typed here.",
            "set the same here, or take it out there";
        ENV_SIMPLE = "env-simple", Problem,
            "`env` in the settings sets `CLAUDE_CODE_SIMPLE`, with which the client runs no hooks. Newer clients take it from the \
             user's settings, older ones from any.",
            "take `CLAUDE_CODE_SIMPLE` out of `env` there";
    }
    "Our hooks" {
        HOOKS_NONE = "hooks-none", Problem,
            "No settings that a client reads in this folder run rutter.",
            "rutter init";
        HOOKS_MISSING = "hooks-missing", Problem,
            "Events that rutter listens to do not run it: the entries are of an older version, or somebody took some out.",
            "rutter init";
        HOOKS_EXTRA = "hooks-extra", Warning,
            "rutter is run on events that it has nothing to do on.",
            "rutter init";
        HOOKS_TWICE = "hooks-twice", Warning,
            "Two entries run rutter on the same event. The client runs the same command once, but another path, another way \
             to write it, and the copy of a plugin once more: everything is recorded twice.",
            "rutter uninstall where it is not wanted";
        HOOKS_SHARED_OWN = "hooks-shared-own", Problem,
            "An entry that `rutter init --project` or `--plugin` writes for others stands in your own settings. It runs whatever \
             `rutter` is in `PATH`, and takes itself for the project's.",
            "rutter init --user";
        HOOK_WRONG = "hook-wrong", Problem,
            "The client cannot load an entry of ours and passes over it.",
            "rutter init";
        HOOK_MATCHER_NEVER = "hook-matcher-never", Problem,
            "The matcher of an entry of ours fits nothing that rutter listens to, so it never runs.",
            "rutter init";
        HOOK_MATCHER_DIFFERS = "hook-matcher-differs", Warning,
            "The matcher of an entry of ours is not the one that `rutter init` writes, so rutter hears of less, or of more.",
            "rutter init";
        HOOK_TIMEOUT = "hook-timeout", Warning,
            "The `timeout` of an entry of ours is far from what `rutter init` writes. It counts seconds, not milliseconds.",
            "rutter init";
        HOOK_CONDITION = "hook-condition", Problem,
            "An entry of ours has an `if`: on most events it then never runs, on the others seldom.",
            "rutter init";
        HOOK_ASYNC = "hook-async", Warning,
            "An entry of ours runs in the background, so what it says comes too late, or not at all.",
            "rutter init";
        HOOK_ON_FAILURE = "hook-on-failure", Warning,
            "An entry of ours has `onFailure`: a hook of rutter that cannot be started would then block the agent.",
            "rutter init";
        HOOK_FIELD = "hook-field", Warning,
            "An entry of ours has a field that the client ignores there.",
            "rutter init";
        HOOK_SHELL = "hook-shell", Warning,
            "An entry of ours is a line for a shell: a process more on every event, and a path that the shell may misread.",
            "rutter init";
    }
    "The program that hooks and the server run" {
        PROGRAM_MISSING = "program-missing", Problem,
            "The program that hooks or the server are to run is not there.",
            "rutter init";
        PROGRAM_NOT_IN_PATH = "program-not-in-path", Problem,
            "The hooks or the server look for `rutter` in `PATH`, or at a path that is the same for everybody, and there is none, \
             so they do nothing, without a word.",
            "add the folder of rutter to PATH";
        PROGRAM_NOT_EXECUTABLE = "program-not-executable", Problem,
            "What hooks or the server are to run is no program, or you may not run it.",
            "rutter init";
        PROGRAM_BROKEN = "program-broken", Problem,
            "The program that hooks or the server are to run does not run: of another kind of machine, a script without its interpreter, or \
             it fails.",
            "rutter init";
        PROGRAM_OTHER = "program-other", Problem,
            "The program that hooks or the server run goes by the name of rutter and is something else.",
            "rutter init";
        PROGRAM_VERSION = "program-version", Warning,
            "Hooks or the server run another version of rutter than this one.",
            "rutter init";
        PROGRAM_IS_BUILD = "program-is-build", Warning,
            "The program that hooks or the server run lies in a build folder of cargo, where the next `cargo clean` takes it away.",
            "rutter init --bin PATH";
        PROGRAM_WRITABLE = "program-writable", Warning,
            "Others may write to the program that hooks or the server run, or to a folder above it, or it is somebody else's.",
            "chmod go-w PATH";
    }
    "The server of tools" {
        SERVERS_VOID = "servers-void", Problem,
            "`.mcp.json`, or the part of the client's own file that has the servers, is not what the client reads: it goes without \
             all servers there, and mostly without a word.",
            "write { \"mcpServers\": { … } }";
        SERVER_MISSING = "server-missing", Problem,
            "rutter's hooks are installed and its server is not, so the agent has none of its tools: the entries are of an older \
             version, or somebody took the server out.",
            "rutter init";
        SERVER_WRONG = "server-wrong", Problem,
            "The entry of the server does not start `rutter mcp`, or is none that the client can load.",
            "rutter init";
        SERVER_FOREIGN = "server-foreign", Problem,
            "A server that is not rutter's is called `rutter`, and takes the place of ours.",
            "give it another name, then rutter init";
        SERVER_FOREIGN_ALLOWED = "server-foreign-allowed", Problem,
            "A server that is not rutter's is called `rutter`, and the rule that was meant for ours lets the agent call all of its \
             tools without a question. A `.mcp.json` that came with a checkout can do that.",
            "look at what it starts, and take it out";
        SERVER_ALLOWED_WHOLE = "server-allowed-whole", Warning,
            "A rule allows every tool of rutter's server: also `forget`, and the one that looks into other projects.",
            "rutter init, which allows the tools by name";
        SERVER_PROGRAM_DIFFERS = "server-program-differs", Warning,
            "The server is another rutter than the one that hooks run.",
            "rutter init";
        SERVER_TWICE = "server-twice", Warning,
            "The server of a plugin and one of the user's own both run, and the agent has every tool twice.",
            "rutter uninstall where it is not wanted";
        SERVER_SHADOWED = "server-shadowed", Note,
            "The server is registered a second time, with another program, and is not started: of several the client takes the local \
             one, then the project's, then the user's.",
            "rutter uninstall where it is not wanted";
        SERVER_OFF = "server-off", Warning,
            "The server is switched off for this folder: by `/mcp`, or by an answer to the client's question.",
            "switch it on again: type /mcp in claude";
        SERVER_NOT_ADMITTED = "server-not-admitted", Problem,
            "Settings say which servers may run, `allowedMcpServers`, `deniedMcpServers` or those of an organisation, and rutter's may \
             not. The client leaves it out without a word.",
            "let it in there";
        SERVER_PENDING = "server-pending", Note,
            "The server of a project waits until somebody says yes to it: an interactive session asks, and a newer client proposes \
             not to use it; `claude -p` starts it at once.",
            "start claude here once and choose to use the server";
        SERVER_DENIED = "server-denied", Problem,
            "A permission rule denies the tools of rutter, so the agent does not even see them. It counts from any settings, \
             whatever others allow.",
            "take that rule out there";
        SERVER_ASKS = "server-asks", Note,
            "A permission rule has the client ask before every call of a tool of rutter; `claude -p` refuses the call.",
            "take that rule out there";
        SERVER_NOT_ALLOWED = "server-not-allowed", Note,
            "No permission rule allows the tools of rutter, so the client asks before every call, and `claude -p` refuses it. \
             `rutter init --no-allow` leaves it so.",
            "rutter init";
        SERVER_FAILS = "server-fails", Problem,
            "The server was started as the client starts it, and did not answer as it should, or without its tools.",
            "rutter init";
        SERVER_SLOW = "server-slow", Warning,
            "The server took more than a second to say which tools it has, in three tries.",
            "run rutter doctor again when the machine is quiet";
    }
    "A run of each hook" {
        HOOK_FAILS = "hook-fails", Problem,
            "An entry of ours was run as the client runs it, and failed.",
            "rutter init";
        HOOK_ANSWER = "hook-answer", Problem,
            "What an entry of ours printed is not what the client takes whole, or it decides something.",
            "rutter contract explain";
        HOOK_SLOW = "hook-slow", Warning,
            "A hook took more than half of the time after which it stops trying to speak.",
            "run rutter doctor again when the machine is quiet";
    }
    "What has come" {
        EVENT_UNSEEN = "event-unseen", Warning,
            "An event that rutter is registered on has not come for 14 days, although others have.",
            "rutter doctor --live";
    }
    "The whole chain, with `--live`" {
        LIVE_NO_CLIENT = "live-no-client", Problem,
            "`--live` starts the client, and there is none that can be started.",
            "install Claude Code, or add its folder to PATH";
        LIVE_UNSEEN = "live-unseen", Problem,
            "The client was started, offline, with the entries of ours that the settings have, and something that had to happen did \
             not.",
            "mend what else was found, then rutter doctor --live";
    }
    "The memory" {
        MEMORY_UNREADABLE = "memory-unreadable", Problem,
            "The folder of the memory cannot be read.",
            "make it a folder of your own";
        MEMORY_UNWRITABLE = "memory-unwritable", Problem,
            "Nothing can be written to the folder of the memory.",
            "make it a folder of your own";
        MEMORY_DAMAGED = "memory-damaged", Problem,
            "The database is damaged, or cannot be read.",
            "rutter doctor --repair";
        MEMORY_NEWER = "memory-newer", Problem,
            "The database is of a newer rutter; this one leaves it alone.",
            "update rutter";
        MEMORY_FOREIGN = "memory-foreign", Problem,
            "Where the database should be is one of another program.",
            "move it away, or set RUTTER_HOME to another folder";
        MEMORY_OLDER = "memory-older", Warning,
            "The database is of an older rutter and was not brought up to date.",
            "rutter tend";
        MEMORY_SET_ASIDE = "memory-set-aside", Warning,
            "A damaged database was put aside and waits to be salvaged.",
            "rutter doctor --repair";
        MEMORY_REPAIRING = "memory-repairing", Warning,
            "A repair is at work or was interrupted.",
            "rutter doctor --repair";
        MEMORY_OF_ANOTHER_USER = "memory-of-another-user", Problem,
            "The folder of the memory, or a file in it, belongs to another user, who could change it. Hooks and commands do not use it.",
            "sudo chown -R $(id -u) FOLDER, or set RUTTER_HOME to a folder of your own";
        MEMORY_LINK = "memory-link", Problem,
            "A symbolic link is in the place of a file or folder of the memory; nothing is written through one.",
            "rm FILE, or put what it leads to in its place";
        MEMORY_WRITABLE_BY_OTHERS = "memory-writable-by-others", Problem,
            "Others may write to the folder of the memory. The next hook or command closes it, if it can.",
            "rutter doctor --repair";
        MEMORY_WAS_OPEN = "memory-was-open", Warning,
            "Others could write to the folder of the memory in the last 7 days. It was closed; what they may have changed, nobody knows.",
            "rutter doctor, and look at what rutter memories and rutter values list show";
        MEMORY_READABLE = "memory-readable", Warning,
            "Others may read a file or folder of the memory.",
            "rutter doctor --repair";
        MEMORY_FORGETTING = "memory-forgetting", Warning,
            "Rows were forgotten, and not every byte of them is gone yet.",
            "rutter tend";
        MEMORY_LARGE = "memory-large", Warning,
            "The database has more than 1 GB.",
            "rutter forget --project frees the space of a project";
        MEMORY_WAITING = "memory-waiting", Warning,
            "Much waits to be folded into the database.",
            "rutter tend";
        MEMORY_UNFILED = "memory-unfiled", Warning,
            "Much of what was learnt is not in the files that are searched, so a search takes long.",
            "rutter tend";
        MEMORY_MISFILED = "memory-misfiled", Warning,
            "The files that are searched are torn, missing or of another database; a search does without.",
            "rutter tend";
        MEMORY_LEFTOVERS = "memory-leftovers", Warning,
            "A process that was killed left a file behind, more than an hour ago.",
            "rm FILE";
        SPOOL_OLD = "spool-old", Warning,
            "What hooks left in the spool was not taken in for more than a day.",
            "rutter tend";
        DISK_FULL = "disk-full", Warning,
            "Less than 50 MB are left where the memory is.",
            "make room there";
        LOG_FAULTS = "log-faults", Note,
            "Hooks could not do their work in the last seven days; the log has the reasons.",
            "look at the log";
    }
    "What was decided" {
        CONFIG_VOID = "config-void", Problem,
            "A file of the configuration cannot be read or is no TOML, so nothing of it counts.",
            "rutter config check";
        CONFIG_WRONG = "config-wrong", Warning,
            "A key or value of the configuration makes no sense, and does not count.",
            "rutter config check";
        CONFIG_UNTRUSTED = "config-untrusted", Note,
            "The `.rutter.toml` of this checkout wants more than it may have until it is trusted.",
            "rutter trust";
        CONFIG_HOOKS_YAML = "config-hooks-yaml", Note,
            "The checkout has a `.claude/hooks/config.yaml`, which neither the client nor rutter acts on.",
            "rutter config check";
        CONFIG_GIT_IGNORED = "config-git-ignored", Warning,
            "A `.git` or its configuration is not used to find the project of this folder: it belongs to another user, leads to another checkout, or is too large. The folder goes by its path.",
            "rutter project show";
        HOOK_OFF = "hook-off", Note,
            "The configuration switches hooks off.",
            "rutter config show --origin";
        FOLDER_EXCLUDED = "folder-excluded", Note,
            "The configuration excludes this folder: hooks neither record nor say anything here.",
            "take it out of scope.exclude";
        PAUSED = "paused", Note,
            "Somebody has asked for quiet: hooks neither record nor say anything.",
            "rutter pause --off";
        SWITCHED_OFF = "switched-off", Warning,
            "`RUTTER=off` is set here: hooks of a client that is started from here do nothing.",
            "unset RUTTER";
    }
    "Other memories" {
        RIVAL = "rival-memory", Note,
            "Another memory puts its own text before the agent. Both work; the agent reads twice as much.",
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
