//! SQLite's record format: one row in a page.
//!
//! A record contains the length of each of its values, and its cell the length of the record. Both have to agree to the
//! byte, so a flipped bit in either is detected. A flipped bit inside of a value is not.

use rusqlite::types::Value;

/// Reads a variable-length number. Returns it and its length in bytes. SQLite writes no more bytes than necessary.
pub(super) fn read_sqlite_varint(bytes: &[u8]) -> Option<(i64, usize)> {
    if bytes.first() == Some(&0x80) {
        return None;
    }
    let mut value = 0_u64;
    for (at, byte) in bytes.iter().take(9).enumerate() {
        if at == 8 {
            return Some(((value << 8 | u64::from(*byte)).cast_signed(), 9));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value.cast_signed(), at + 1));
        }
    }
    None
}

/// Reads a record. Returns None if its length differs from the length in its header, or if a text is not UTF-8.
pub(super) fn parse_record(record: &[u8]) -> Option<Vec<Value>> {
    let (header, mut at) = read_sqlite_varint(record)?;
    let header = usize::try_from(header).ok().filter(|header| *header <= record.len())?;
    let mut body = header;
    let mut values = Vec::new();
    while at < header {
        let (kind, length) = read_sqlite_varint(&record[at..header])?;
        at += length;
        let (value, length) = parse_value(kind, record.get(body..)?)?;
        body += length;
        values.push(value);
    }
    (at == header && body == record.len()).then_some(values)
}

/// Reads a value of a kind. Returns it and its length in bytes.
fn parse_value(kind: i64, bytes: &[u8]) -> Option<(Value, usize)> {
    let integer = |length: usize| {
        let bytes = bytes.get(..length)?;
        let first = if bytes[0] & 0x80 == 0 { 0 } else { -1 };
        let value = bytes.iter().fold(first, |value: i64, byte| value << 8 | i64::from(*byte));
        Some((Value::Integer(value), length))
    };
    match kind {
        0 => Some((Value::Null, 0)),
        1..=4 => integer(usize::try_from(kind).ok()?),
        5 => integer(6),
        6 => integer(8),
        7 => Some((Value::Real(f64::from_be_bytes(*bytes.first_chunk()?)), 8)),
        8 | 9 => Some((Value::Integer(kind - 8), 0)),
        12.. => {
            let length = usize::try_from((kind - 12) / 2).ok()?;
            let bytes = bytes.get(..length)?.to_vec();
            let value = if kind % 2 == 0 {
                Value::Blob(bytes)
            } else {
                Value::Text(String::from_utf8(bytes).ok()?)
            };
            Some((value, length))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_of_every_length() {
        for (bytes, expected) in [
            (&[0x00][..], Some((0, 1))),
            (&[0x7f], Some((127, 1))),
            (&[0x81, 0x00], Some((128, 2))),
            (&[0xff; 9], Some((-1, 9))),
            (&[0x81], None),
            (&[], None),
        ] {
            assert_eq!(read_sqlite_varint(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn flipped_lengths_are_refused() {
        // NULL, 300, 'mast'.
        let record = [4, 0, 2, 21, 1, 44, b'm', b'a', b's', b't'];
        let values = [Value::Null, Value::Integer(300), Value::Text("mast".to_owned())];
        assert_eq!(parse_record(&record).as_deref(), Some(&values[..]));
        for at in 0..4 {
            for bit in 0..8 {
                let mut flipped = record;
                flipped[at] ^= 1 << bit;
                // A blob has the same length as a text, and 0 the same as NULL; only the column type tells them apart.
                let is_as_long = matches!((at, bit), (3, 0) | (1, 3));
                assert!(parse_record(&flipped).is_none_or(|_| is_as_long), "{flipped:?}");
            }
        }
        assert_eq!(parse_record(&record[..9]), None);
        assert_eq!(parse_record(&[]), None);
    }
}
