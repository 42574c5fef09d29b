//! Which events have reached us, and how often: what tells a hook that is silent from one that is dead.
//!
//! A file of one short record for each event, with a count for each of the last [`DAYS`] days and the time of the last. A hook reads
//! and writes its record in place: no lock, no row in the database, a few microseconds. Of two hooks that do so at the same moment one may
//! not be counted, which is near enough for what it is for. Nothing of a payload is in it.

use std::io;
use std::os::unix::fs::FileExt as _;

use rutter_contract::EventName;

use crate::store::{Files, open_own, private, read_own};
use crate::{Time, checksum};

/// How far back it counts.
pub const DAYS: usize = 14;
const DAY: i64 = 24 * 60 * 60 * 1000;
/// The first bytes of the file.
const MARK: &[u8; 8] = b"rutally1";
/// The name of the event as a checksum, when it was last seen, the day of the newest count, the counts.
const RECORD: usize = 8 + 8 + 8 + 4 * DAYS;

/// An event, and how often it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// The event.
    pub event: EventName,
    /// When it came last.
    pub last: Time,
    /// How often in the last [`DAYS`] days.
    pub times: u64,
}

/// A record as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Record {
    last: i64,
    day: i64,
    /// Of the newest day first.
    counts: [u32; DAYS],
}

impl Record {
    /// What bytes say about an event; nothing where they are not about it.
    fn read(bytes: &[u8; RECORD], event: EventName) -> Option<Self> {
        let (name, rest) = bytes.split_first_chunk::<8>()?;
        let (last, rest) = rest.split_first_chunk::<8>()?;
        let (day, rest) = rest.split_first_chunk::<8>()?;
        let mut counts = [0; DAYS];
        for (count, bytes) in counts.iter_mut().zip(rest.as_chunks::<4>().0) {
            *count = u32::from_le_bytes(*bytes);
        }
        let [last, day] = [last, day].map(|bytes| i64::from_le_bytes(*bytes));
        (u64::from_le_bytes(*name) == name_of(event)).then_some(Self { last, day, counts })
    }

    fn bytes(&self, event: EventName) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(RECORD);
        bytes.extend(name_of(event).to_le_bytes());
        bytes.extend(self.last.to_le_bytes());
        bytes.extend(self.day.to_le_bytes());
        bytes.extend(self.counts.iter().flat_map(|count| count.to_le_bytes()));
        bytes
    }

    /// With the counts as they are on a day: what is older falls out behind.
    fn on(mut self, day: i64) -> Self {
        // A clock that was set back counts on where it was.
        let later = usize::try_from(day.saturating_sub(self.day)).unwrap_or_default();
        if later > 0 {
            self.counts.rotate_right(later.min(DAYS) % DAYS);
            self.counts[..later.min(DAYS)].fill(0);
            self.day = day;
        }
        self
    }
}

fn name_of(event: EventName) -> u64 {
    checksum::of(event.as_str().as_bytes())
}

/// Where the record of an event stands.
fn place(event: EventName) -> u64 {
    let number = EventName::ALL.iter().position(|other| *other == event).unwrap_or_default();
    (MARK.len() + number * RECORD) as u64
}

/// Counts an event. Where there is no memory yet, it is not counted.
pub fn count(files: &Files, event: EventName, now: Time) -> io::Result<()> {
    let options = private().read(true).write(true).create(true).truncate(false).to_owned();
    let file = open_own(&files.tally(), &options)?;
    let mut bytes = [0; RECORD];
    let known = if file.read_exact_at(&mut bytes, place(event)).is_ok() {
        Record::read(&bytes, event)
    } else {
        // It ends before that.
        file.write_all_at(MARK, 0)?;
        None
    };
    let mut record = known.unwrap_or_default().on(now.millis().div_euclid(DAY));
    record.counts[0] = record.counts[0].saturating_add(1);
    record.last = now.millis();
    file.write_all_at(&record.bytes(event), place(event))
}

/// What was counted, as of now, in the order of the events. Those that never came are not in it.
pub fn read(files: &Files, now: Time) -> io::Result<Vec<Seen>> {
    let bytes = match read_own(&files.tally()) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let records = bytes.strip_prefix(MARK).unwrap_or_default().as_chunks::<RECORD>().0;
    let records = EventName::ALL.into_iter().zip(records);
    Ok(records
        .filter_map(|(event, bytes)| {
            let record = Record::read(bytes, event)?.on(now.millis().div_euclid(DAY));
            let times = record.counts.iter().map(|count| u64::from(*count)).sum();
            Some(Seen { event, last: Time::from_millis(record.last), times })
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_763_200_000_000;

    fn at(days: i64) -> Time {
        Time::from_millis(NOW + days * DAY)
    }

    #[test]
    fn a_fortnight_is_kept_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new(folder.path());
        assert_eq!(read(&files, at(0)).unwrap(), []);
        for (event, day) in [
            (EventName::Stop, 0),
            (EventName::PreToolUse, 0),
            (EventName::PreToolUse, 0),
            (EventName::PreToolUse, 1),
            (EventName::PreToolUse, 13),
        ] {
            count(&files, event, at(day)).unwrap();
        }
        let seen = |day| {
            let seen = read(&files, at(day)).unwrap();
            seen.iter().map(|seen| (seen.event, seen.times)).collect::<Vec<_>>()
        };
        assert_eq!(seen(13), [(EventName::PreToolUse, 4), (EventName::Stop, 1)]);
        assert_eq!(seen(14), [(EventName::PreToolUse, 2), (EventName::Stop, 0)]);
        assert_eq!(seen(15), [(EventName::PreToolUse, 1), (EventName::Stop, 0)]);
        assert_eq!(seen(500), [(EventName::PreToolUse, 0), (EventName::Stop, 0)]);
        // Set back: nothing is lost and nothing turns round.
        count(&files, EventName::PreToolUse, at(2)).unwrap();
        assert_eq!(seen(13)[0], (EventName::PreToolUse, 5));
        assert_eq!(read(&files, at(13)).unwrap()[0].last, at(2));
    }

    #[test]
    fn what_is_torn_or_strange_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::new(folder.path());
        for bytes in [&b""[..], b"rutally1", b"rutally1 and then some", &[0xff; 4_000]] {
            std::fs::File::create(files.tally())
                .and_then(|mut file| io::Write::write_all(&mut file, bytes))
                .unwrap();
            drop(read(&files, at(0)).unwrap());
            count(&files, EventName::SessionStart, at(0)).unwrap();
            count(&files, EventName::SessionStart, at(0)).unwrap();
            let seen = read(&files, at(0)).unwrap();
            let seen: Vec<_> = seen.iter().map(|seen| (seen.event, seen.times)).collect();
            // A file of somebody else's is not counted in, and not taken for ours.
            let expected: &[_] =
                if bytes.starts_with(b"\xff") { &[] } else { &[(EventName::SessionStart, 2)] };
            assert_eq!(seen, expected, "{bytes:?}");
        }
    }

    #[test]
    fn nobody_else_may_read_it_and_no_folder_is_made() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let missing = Files::new(folder.path().join("none"));
        assert!(count(&missing, EventName::Stop, at(0)).is_err());
        assert!(!missing.folder().exists());
        let files = Files::new(folder.path());
        count(&files, EventName::Stop, at(0)).unwrap();
        let mode = std::fs::metadata(files.tally()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
