//! The words of errors and of prompts about them, and which of them tell one error from another.

/// Words that most errors and most sentences contain. They do not distinguish errors.
const GENERIC_WORDS: &str = "a actual after again all also always an and another any are argument arguments array \
    as assert assertion at attribute be been before being bool boolean both but by call called can cannot cases \
    code could current did do does each equal equals error errors ever exception expected expression fail failed \
    failing fails failure false field file find float for found from function get given got had has have identifier \
    if import in instance int integer into invalid is issue issues it its just keep keyword left like line list \
    literal main make makes match matches member method mismatched missing module more most must name named need \
    needs never new nil no none not now null number object of on once only or other our out over panicked \
    positional properties property read reading received required result right run same see set should since some \
    still str string such sure syntax test tests than that the then there these they this those thread to tobe \
    toequal too true type types undeclared undefined under unexpected unresolved until unused use used uses using \
    value values variable very want was way well were what when which who why will with would you your";

/// Splits a text into words for comparison: lower case, letters, digits and `_`.
pub fn split_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|sign: char| !sign.is_alphanumeric() && sign != '_')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Splits a text into words without its paths, except quoted paths as in `Cannot find module './cart'`.
pub fn prose_words(text: &str) -> impl Iterator<Item = String> {
    let is_prose = |part: &&str| !part.contains('/') || part.starts_with(['\'', '"', '`']);
    text.split_whitespace().filter(is_prose).flat_map(split_words)
}

/// Returns true if a word carries information about an error.
pub fn is_content(word: &str) -> bool {
    word.chars().count() > 2
        && !word.chars().all(|sign| sign.is_ascii_digit())
        && !GENERIC_WORDS.split(' ').any(|generic| generic == word)
}

/// Returns the number of different words that carry information about an error.
pub fn count_content(words: &[String]) -> usize {
    let mut content: Vec<&String> = words.iter().filter(|word| is_content(word)).collect();
    content.sort_unstable();
    content.dedup();
    content.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generic_words_carry_no_information() {
        let count = |text: &str| count_content(&split_words(text).collect::<Vec<_>>());
        assert_eq!(count("AssertionError: assert 3 == 1"), 1);
        assert_eq!(count("cannot find module cart of cart"), 1);
        assert_eq!(count("max number of clients reached"), 3);
    }
}
