//! The structure of a pattern: an upper bound for the work of evaluating it, and a mistake that the engine accepts.
//!
//! The engine backtracks like the client's and has no limit of its own, so a pattern like `(a+)+!` may run for years.
//! The bound is the number of ways in which a pattern can be laid over a text: the product over a sequence, the sum over
//! alternatives, a power for repetitions. It exaggerates, and patterns with a group that is repeated without limit and
//! can match in several ways are always too expensive.

/// Number of ways above which a pattern is not evaluated. Four wildcards on a text of 32 characters stay below it.
const MAX_WAYS: u64 = 2 << 20;
/// Text length for which a pattern is judged when it is parsed; the longest tool name of the client has 23 characters.
pub(super) const TYPICAL_VALUE_CHARS: usize = 32;
/// Depth of groups beyond which a pattern is not judged.
const MAX_GROUP_DEPTH: usize = 64;

/// Returns true if a pattern can be evaluated on the names of tools.
pub(super) fn is_affordable_for_names(pattern: &str) -> bool {
    is_affordable(pattern, TYPICAL_VALUE_CHARS)
}

/// Returns true if a pattern can be evaluated on a text of this length.
pub(super) fn is_affordable(pattern: &str, text_chars: usize) -> bool {
    let places = u64::try_from(text_chars).unwrap_or(u64::MAX).saturating_add(1);
    let (ways, _) = read_pattern(pattern, places);
    ways.saturating_mul((places / 32).max(1)) <= MAX_WAYS
}

/// Returns true if a pattern repeats a word boundary, as `\b+`. The engine accepts it; for the client it is invalid.
pub(super) fn has_repeated_boundary(pattern: &str) -> bool {
    read_pattern(pattern, 1).1
}

/// Returns the ways of a pattern, and true if it repeats a word boundary.
fn read_pattern(pattern: &str, places: u64) -> (u64, bool) {
    let signs: Vec<char> = pattern.chars().collect();
    let mut reader = PatternReader { signs: &signs, at: 0, places, has_repeated_boundary: false };
    let ways = reader.read_alternatives(0);
    (ways, reader.has_repeated_boundary)
}

/// A reader of valid patterns.
struct PatternReader<'a> {
    signs: &'a [char],
    at: usize,
    /// Number of places in the text at which a repetition can end.
    places: u64,
    has_repeated_boundary: bool,
}

impl PatternReader<'_> {
    fn peek(&self) -> Option<char> {
        self.signs.get(self.at).copied()
    }

    /// Reads up to the end of the pattern or of the group. Returns the ways of all alternatives.
    fn read_alternatives(&mut self, depth: usize) -> u64 {
        if depth > MAX_GROUP_DEPTH {
            self.at = self.signs.len();
            return u64::MAX;
        }
        let mut total: u64 = 0;
        let mut ways: u64 = 1;
        while let Some(sign) = self.peek() {
            match sign {
                ')' if depth > 0 => break,
                '|' => {
                    self.at += 1;
                    total = total.saturating_add(ways);
                    ways = 1;
                }
                _ => ways = ways.saturating_mul(self.read_term(depth)),
            }
        }
        total.saturating_add(ways)
    }

    /// Reads a sign, class or group with its quantifier. Returns its ways.
    fn read_term(&mut self, depth: usize) -> u64 {
        let is_boundary = matches!(self.signs.get(self.at..self.at + 2), Some(['\\', 'b' | 'B']));
        let group_ways = match self.peek() {
            Some('(') => {
                self.at += 1;
                let ways = self.read_alternatives(depth + 1);
                self.at += 1;
                Some(ways)
            }
            Some('[') => {
                self.skip_class();
                None
            }
            Some('\\') => {
                self.at += 2;
                None
            }
            _ => {
                self.at += 1;
                None
            }
        };
        let Some((least, most)) = self.read_quantifier() else { return group_ways.unwrap_or(1) };
        self.has_repeated_boundary |= is_boundary;
        if self.peek() == Some('?') {
            self.at += 1;
        }
        let rounds = most.unwrap_or(self.places);
        let ends = rounds.saturating_sub(least).saturating_add(1);
        match group_ways {
            // A sign has one way per end. It consumes the text, so no more ends than places.
            None => ends.min(self.places),
            // A group may match nothing, and the engine still counts its rounds up to the least.
            Some(_) if least > 100 => u64::MAX,
            Some(1) => ends.min(self.places).saturating_mul(least.max(1)),
            Some(ways) => {
                let power = u32::try_from(rounds).unwrap_or(u32::MAX);
                ways.saturating_pow(power).saturating_mul(ends)
            }
        }
    }

    /// Skips a class like `[^a-z\]]`.
    fn skip_class(&mut self) {
        self.at += 1;
        while let Some(sign) = self.peek() {
            self.at += if sign == '\\' { 2 } else { 1 };
            if sign == ']' {
                return;
            }
        }
    }

    /// Reads a quantifier: the least number of rounds, and the most if there is a limit.
    fn read_quantifier(&mut self) -> Option<(u64, Option<u64>)> {
        let bounds = match self.peek()? {
            '*' => (0, None),
            '+' => (1, None),
            '?' => (0, Some(1)),
            '{' => {
                let rest = &self.signs[self.at + 1..];
                let end = rest.iter().position(|&sign| sign == '}')?;
                let inside: String = rest[..end].iter().collect();
                let (least, most) = inside.split_once(',').unwrap_or((&inside, &inside));
                let count = |digits: &str| {
                    let are_digits =
                        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
                    are_digits.then(|| digits.parse().unwrap_or(u64::MAX))
                };
                let least = count(least)?;
                let most = if most.is_empty() { None } else { Some(count(most)?) };
                self.at += end + 1;
                (least, most)
            }
            _ => return None,
        };
        self.at += 1;
        Some(bounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_patterns_are_affordable() {
        for pattern in [
            "mcp__.*__(get|list).*",
            r"^(Edit|MultiEdit|Write|NotebookEdit)$",
            r"\bEdit\b",
            "(?<!Notebook)Edit",
            "^(?!Bash).*",
            ".*foo.*bar.*",
            "(ab)+",
            "a{2,5}b{3}",
            "[{]*{",
            "mcp__(?:a|b|c)?__x",
        ] {
            assert!(is_affordable_for_names(pattern), "{pattern}");
        }
    }

    #[test]
    fn catastrophic_patterns_are_not_affordable() {
        let deep = format!("{}a{}", "(".repeat(100), ")".repeat(100));
        let optional = "a?".repeat(30);
        for pattern in [
            "(a+)+!",
            r"^(\w+\s?)*$",
            "(a|a)*b",
            "(?:(?:){60000}){60000}",
            "(?:(?:a?){90}){90}",
            ".*.*.*.*.*.*.*=",
            &deep,
            &optional,
        ] {
            assert!(!is_affordable_for_names(pattern), "{pattern}");
        }
    }

    #[test]
    fn repeated_boundaries_are_found() {
        for pattern in [r"\b+", r"a(\B{2})", r"x|\b?y", r"[\b]\b*"] {
            assert!(has_repeated_boundary(pattern), "{pattern}");
        }
        for pattern in [r"\bEdit\b", r"[\b]+", r"\\b+", r"(?:\b)?", r"\b{", r"b+"] {
            assert!(!has_repeated_boundary(pattern), "{pattern}");
        }
    }

    #[test]
    fn long_values_cost_more() {
        assert!(is_affordable(".*.*x", 100));
        assert!(!is_affordable(".*.*x", 5_000));
    }
}
