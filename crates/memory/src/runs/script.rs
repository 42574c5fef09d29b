//! What npm, pnpm, yarn and bun print around a script they run: which command it was, and that it failed.
//!
//! `npm test` does not tell what tests; the line that the wrapper prints first does. Readers of runners pass over these
//! lines, so nothing need be cut out for them.

/// A script that was run through a package manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Script<'a> {
    /// The command behind the name, as the wrapper prints it.
    pub command: Option<&'a str>,
    /// The wrapper says that it failed.
    pub failed: bool,
}

/// Reads the wrapper's own lines. The first command counts: what a script prints later may look alike.
pub fn script(text: &str) -> Script<'_> {
    let mut script = Script::default();
    let mut above = "";
    let mut started = false;
    for (number, line) in text.lines().enumerate() {
        // They stand at the start, but standard error may come first.
        if script.command.is_none() {
            script.command = command(line, above, started || number == 0);
        }
        started = line.starts_with("yarn run v") || (started && line.starts_with("warning "));
        script.failed |= is_failure(line);
        above = line;
    }
    script
}

fn command<'a>(line: &'a str, above: &str, first: bool) -> Option<&'a str> {
    // npm, and pnpm up to 10: `> shop@1.0.0 test /home/ada/project`, then `> jest --ci`.
    if let Some(command) = line.strip_prefix("> ") {
        return above.strip_prefix("> ").filter(|above| above.contains('@')).map(|_| command);
    }
    // yarn and bun, and pnpm since: `$ jest --ci`.
    line.strip_prefix("$ ").filter(|_| first)
}

fn is_failure(line: &str) -> bool {
    line.starts_with("npm ERR! Test failed")
        || line.starts_with("npm ERR! code ELIFECYCLE")
        || line.starts_with("npm error code ELIFECYCLE")
        || line.starts_with("npm error Lifecycle script ")
        || line.starts_with("[ELIFECYCLE] ")
        || line.starts_with("\u{2009}ELIFECYCLE\u{2009} ")
        || line.starts_with(" ELIFECYCLE ")
        || line.starts_with("error Command failed with exit code ")
        || (line.starts_with("error: script \"") && line.contains("\" exited with code "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_behind_a_script_is_seen() {
        for (text, command, failed) in [
            ("\n> shop@1.0.0 unit\n> jest --ci\n\nPASS a\n", Some("jest --ci"), false),
            (
                "> shop@1.0.0 test /p\n> mocha\n\n\u{2009}ELIFECYCLE\u{2009} Test failed.\n",
                Some("mocha"),
                true,
            ),
            (
                "$ jest --ci\nFAIL a\n[ELIFECYCLE] Command failed with exit code 1.\n",
                Some("jest --ci"),
                true,
            ),
            (
                "yarn run v1.22.22\nwarning x\n$ jest\nerror Command failed with exit code 1.\n",
                Some("jest"),
                true,
            ),
            ("$ vitest run\nerror: script \"test\" exited with code 1\n", Some("vitest run"), true),
            ("> a quote\n> of two lines\n", None, false),
            ("PASS a\n$ rm -rf x\n", None, false),
            ("npm ERR! Test failed.  See above for more details.\n", None, true),
        ] {
            assert_eq!(script(text), Script { command, failed }, "{text}");
        }
    }
}
