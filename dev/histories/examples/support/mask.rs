//! Makes the outputs of two runs comparable.

/// A warning about npm settings that is unrelated to the tests.
pub(crate) const NPM_WARNING: &str = "npm warn Unknown user config \"nodedir\". This will stop working in the next major version of npm. See `npm help npmrc` for supported config options.\n";

/// Replaces the parts that differ from run to run.
pub(crate) fn masked(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut words: Vec<String> = Vec::new();
        for word in line.split(' ') {
            let digits = word.chars().filter(char::is_ascii_digit).count();
            let masked = if word.starts_with("0x") && digits > 2 {
                "0xADDRESS".to_owned()
            } else if word.ends_with('s')
                && word[..word.len() - 1].trim_end_matches('m').parse::<f64>().is_ok()
            {
                "TIME".to_owned()
            } else if word.starts_with('(') && word.ends_with(')') && digits + 2 == word.len() {
                "(THREAD)".to_owned()
            } else if let Some((start, hash)) = word.rsplit_once('-')
                && hash.trim_end_matches(')').len() == 16
            {
                format!("{start}-HASH)")
            } else {
                word.to_owned()
            };
            words.push(masked);
        }
        let mut line = words.join(" ");
        // Go: durations, addresses and arguments of calls.
        if let Some((start, time)) = line.rsplit_once('\t')
            && (time == "(cached)" || time.starts_with("0.") || time == "TIME")
        {
            let rest = time.find(' ').map_or("", |at| &time[at..]);
            line = format!("{start}\tTIME{rest}");
        }
        if let Some(at) = line.find(" +0x") {
            line.truncate(at);
        }
        if line.starts_with("goroutine ") {
            line = String::from("goroutine");
        }
        if (line.starts_with("example.com/")
            || line.starts_with("panic({")
            || line.starts_with("testing."))
            && let Some(at) = line.rfind('(')
        {
            line.truncate(at);
        }
        // The bar around a time changes its length with the time.
        if line.contains(" TIME =") {
            line = line.trim_matches('=').into();
        }
        if line.starts_with("   Start at ")
            || line.starts_with("   Duration ")
            || line.starts_with("Time: ")
        {
            continue;
        }
        let is_noise = ["Compiling ", "Checking ", "Locking "];
        if is_noise.iter().any(|start| line.trim_start().starts_with(start)) {
            continue;
        }
        if let Some(at) = line.find("importlib/__init__.py") {
            line = line[at..].into();
        }
        if let Some(at) = line.find(" -- /") {
            line.truncate(at);
        }
        lines.push(line);
    }
    lines.join("\n") + "\n"
}
