//! The programs that a command line names.

use crate::alphabet::{self, NAME, QUOTE, SPACE};

/// The programs, each with its bit in a [`Programs`].
static PROGRAMS: &[&str] = &[
    "curl",
    "http",
    "https",
    "mysql",
    "mysqldump",
    "mysqladmin",
    "mariadb",
    "7z",
    "7za",
    "sshpass",
    "mongo",
    "mongosh",
    "mongodump",
    "login",
    "twine",
    "sqlcmd",
    "bcp",
    "unzip",
    "zip",
    "redis-cli",
    "smbclient",
    "ldapsearch",
    "ldapmodify",
    "codecov",
    "rabbitmqadmin",
    "snowsql",
    "ldapadd",
    "ldapwhoami",
    "ldapdelete",
    "ldappasswd",
    "mongorestore",
    "mongoexport",
    "mongoimport",
    "mosquitto_pub",
    "mosquitto_sub",
    "ipmitool",
    "lftp",
    "cqlsh",
    "beeline",
    "tsql",
    "xfreerdp",
    "rpcclient",
    "winexe",
    "ssh-keygen",
    "etcdctl",
    "wget",
    "rar",
    "unrar",
    "kadmin",
    "psexec",
    "cypher-shell",
    "snmpwalk",
    "snmpget",
    "useradd",
    "usermod",
    // `openssl enc -k X`
    "enc",
    // `gh secret set NAME --body VALUE`
    "secret",
];

/// The programs that the command line has named so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Programs(u64);

impl Programs {
    pub(super) fn meets(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    pub(super) const fn from_names(names: &[&str]) -> Self {
        let (mut bits, mut name) = (0, 0);
        while name < names.len() {
            let mut row = 0;
            while !is_same(PROGRAMS[row], names[name]) {
                row += 1;
            }
            bits |= 1 << row;
            name += 1;
        }
        Self(bits)
    }

    /// Adds the word from `at` to `end` if it names a program.
    pub(crate) fn note(&mut self, text: &[u8], at: usize, end: usize) {
        let free = at == 0 || !alphabet::has_class(text[at - 1], NAME);
        let named = |program: &&str| {
            let program = program.as_bytes();
            program[1] == text[at + 1]
                && alphabet::starts(text, at, program)
                && at + program.len() >= end
                && alphabet::is_at(text, at + program.len(), SPACE | QUOTE)
        };
        if free
            && end - at > 1
            && let Some(row) = PROGRAMS.iter().position(named)
        {
            self.0 |= 1 << row;
        }
    }

    /// Returns true if a word may name a program by its first letter and its length.
    pub(crate) fn may_be(first: u8, length: usize) -> bool {
        length < 16 && LENGTHS[(first & 127) as usize] & (1 << length) != 0
    }
}

/// For every first letter, the lengths of the programs that begin with it.
static LENGTHS: [u16; 128] = lengths();

const fn lengths() -> [u16; 128] {
    let mut table = [0; 128];
    let mut row = 0;
    while row < PROGRAMS.len() {
        let name = PROGRAMS[row].as_bytes();
        let mut length = 0;
        while length < name.len() && name[length] != b'-' && name[length] != b'_' {
            length += 1;
        }
        table[name[0] as usize] |= 1 << length;
        row += 1;
    }
    table
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}
