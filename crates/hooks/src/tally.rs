//! Counts of received hook events, which distinguish a silent hook from a dead one.
//!
//! The file has one short record per event, with a count for each of the last [`DAYS`] days and the time of the last
//! event. A hook reads and writes its record in place: no lock, no row in the database, a few microseconds. If two
//! hooks do so at the same moment, one event may not be counted, which is accurate enough for the purpose. The file
//! contains no data of payloads.

use std::io;
use std::os::unix::fs::FileExt as _;

use rutter_contract::EventName;

use rutter_memory::data_dir::{Files, open_own, private, read_own};
use rutter_memory::{Time, checksum};

/// Number of days that are counted.
pub const DAYS: usize = 14;
const DAY: i64 = 24 * 60 * 60 * 1000;
/// The first bytes of the file.
const MARK: &[u8; 8] = b"rutally1";
/// Size of a record: checksum of the event name, time of the last event, day of the newest count, counts.
const RECORD: usize = 8 + 8 + 8 + 4 * DAYS;

/// The count of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// The event.
    pub event: EventName,
    /// The time of the last one.
    pub last: Time,
    /// The number of events in the last [`DAYS`] days.
    pub times: u64,
}

/// A record of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Record {
    last: i64,
    day: i64,
    /// Counts per day, the newest day first.
    counts: [u32; DAYS],
}

impl Record {
    /// Decodes the record of an event; None if the bytes belong to another event.
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

    /// Shifts the counts to a day and drops older ones.
    fn on(mut self, day: i64) -> Self {
        // With a clock that was set back, counting continues on the newest day.
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

/// Returns the offset of an event's record.
fn place(event: EventName) -> u64 {
    let number = EventName::ALL.iter().position(|other| *other == event).unwrap_or_default();
    (MARK.len() + number * RECORD) as u64
}

/// Counts an event. Fails if the data directory does not exist yet.
pub fn count(files: &Files, event: EventName, now: Time) -> io::Result<()> {
    let options = private().read(true).write(true).create(true).truncate(false).to_owned();
    let file = open_own(&files.tally(), &options)?;
    let mut bytes = [0; RECORD];
    let known = if file.read_exact_at(&mut bytes, place(event)).is_ok() {
        Record::read(&bytes, event)
    } else {
        // The file ends before this record.
        file.write_all_at(MARK, 0)?;
        None
    };
    let mut record = known.unwrap_or_default().on(now.millis().div_euclid(DAY));
    record.counts[0] = record.counts[0].saturating_add(1);
    record.last = now.millis();
    file.write_all_at(&record.bytes(event), place(event))
}

/// Returns the counts as of now, in the order of the events. Events that never occurred are left out.
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
        // The clock is set back: no count is lost or shifted.
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
            // Counts are not read from a file without our mark.
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
