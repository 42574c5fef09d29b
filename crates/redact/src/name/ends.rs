//! A quick test of names by their last letters. It dismisses most words.

/// Returns true if a name may be one of a secret by its last letters. Cheap enough for every word.
pub(crate) fn may_end(name: &[u8]) -> bool {
    let [.., a, b, c] = *name else { return false };
    let end = [a | 32, b | 32, c | 32];
    // Programs are full of words such as `import` and `spin`.
    match &end {
        b"pat" | b"pin" | b"puk" => return name.len() == 3,
        b"psk" => return true,
        b"ode" => {
            return name.len() >= 8 && name[name.len() - 8..].eq_ignore_ascii_case(b"passcode");
        }
        b"ort" => return name.len() >= 8 && name[name.len() - 4] | 32 == b'w',
        _ => {}
    }
    matches!(
        &end,
        b"ord"
            | b"swd"
            | b"pwd"
            | b"ret"
            | b"ken"
            | b"key"
            | b"ase"
            | b"ial"
            | b"als"
            | b"eds"
            | b"rer"
            | b"ass"
    )
}

/// Last two letters of every name that matters before a separator: names of secrets, their suffixes, headers, types,
/// and attributes that take their name from elsewhere.
static ENDS: [u32; 32] = pair_table(
    b"rdwdrtssdeseicpwswenetallsdsedeythltwtertionidieigrentaestaevnvexveinewxtldryodawgengtrstuearyskatys",
);

pub(crate) const fn pair_table(pairs: &[u8]) -> [u32; 32] {
    let mut table = [0; 32];
    let mut at = 0;
    // Every two neighbours, also across pairs: the few extra pairs cost less than separators in the list.
    while at + 1 < pairs.len() {
        table[(pairs[at] & 31) as usize] |= 1 << (pairs[at + 1] & 31);
        at += 1;
    }
    table
}

/// Returns true if a name before a separator needs a closer look.
pub(crate) fn may_matter(name: &[u8]) -> bool {
    match *name {
        [.., a, b] if b.is_ascii_alphabetic() => ENDS[(a & 31) as usize] & (1 << (b & 31)) != 0,
        [.., _] => true,
        [] => false,
    }
}
