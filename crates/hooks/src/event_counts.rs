//! Counts of received hook events, which distinguish a silent hook from a dead one.
//!
//! The file has one short record per event, with a count for each of the last [`COUNTED_DAYS`] days and the time of the last
//! event. A hook reads and writes its record in place: no lock, no row in the database, a few microseconds. If two
//! hooks do so at the same moment, one event may not be counted, which is accurate enough for the purpose. The file
//! contains no data of payloads.

use std::io;
use std::os::unix::fs::FileExt as _;

use rutter_contract::EventName;

use rutter_memory::data_dir::{DataDir, open_own, private_options, read_own};
use rutter_memory::{Time, checksum};

/// Number of days that are counted.
pub const COUNTED_DAYS: usize = 14;
const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1000;
/// The first bytes of the file.
const FILE_MAGIC: &[u8; 8] = b"rutally1";
/// Size of a record: checksum of the event name, time of the last event, day of the newest count, counts.
const RECORD_BYTES: usize = 8 + 8 + 8 + 4 * COUNTED_DAYS;

/// The count of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventCount {
    /// The event.
    pub event: EventName,
    /// The time of the last one.
    pub last: Time,
    /// The number of events in the last [`COUNTED_DAYS`] days.
    pub times: u64,
}

/// A record of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct EventRecord {
    last: i64,
    day: i64,
    /// Counts per day, the newest day first.
    counts: [u32; COUNTED_DAYS],
}

impl EventRecord {
    /// Decodes the record of an event; None if the bytes belong to another event.
    fn decode(bytes: &[u8; RECORD_BYTES], event: EventName) -> Option<Self> {
        let (name, rest) = bytes.split_first_chunk::<8>()?;
        let (last, rest) = rest.split_first_chunk::<8>()?;
        let (day, rest) = rest.split_first_chunk::<8>()?;
        let mut counts = [0; COUNTED_DAYS];
        for (count, bytes) in counts.iter_mut().zip(rest.as_chunks::<4>().0) {
            *count = u32::from_le_bytes(*bytes);
        }
        let [last, day] = [last, day].map(|bytes| i64::from_le_bytes(*bytes));
        (u64::from_le_bytes(*name) == event_checksum(event)).then_some(Self { last, day, counts })
    }

    fn encode(&self, event: EventName) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(RECORD_BYTES);
        bytes.extend(event_checksum(event).to_le_bytes());
        bytes.extend(self.last.to_le_bytes());
        bytes.extend(self.day.to_le_bytes());
        bytes.extend(self.counts.iter().flat_map(|count| count.to_le_bytes()));
        bytes
    }

    /// Shifts the counts to a day and drops older ones.
    fn shift_to_day(mut self, day: i64) -> Self {
        // With a clock that was set back, counting continues on the newest day.
        let later = usize::try_from(day.saturating_sub(self.day)).unwrap_or_default();
        if later > 0 {
            self.counts.rotate_right(later.min(COUNTED_DAYS) % COUNTED_DAYS);
            self.counts[..later.min(COUNTED_DAYS)].fill(0);
            self.day = day;
        }
        self
    }
}

fn event_checksum(event: EventName) -> u64 {
    checksum::fnv1a(event.as_str().as_bytes())
}

/// Returns the offset of an event's record.
fn record_offset(event: EventName) -> u64 {
    let number = EventName::ALL.iter().position(|other| *other == event).unwrap_or_default();
    (FILE_MAGIC.len() + number * RECORD_BYTES) as u64
}

/// Counts an event. Fails if the data directory does not exist yet.
pub fn count_event(files: &DataDir, event: EventName, now: Time) -> io::Result<()> {
    let options = private_options().read(true).write(true).create(true).truncate(false).to_owned();
    let file = open_own(&files.event_counts(), &options)?;
    let mut bytes = [0; RECORD_BYTES];
    let known = if file.read_exact_at(&mut bytes, record_offset(event)).is_ok() {
        EventRecord::decode(&bytes, event)
    } else {
        // The file ends before this record.
        file.write_all_at(FILE_MAGIC, 0)?;
        None
    };
    let mut record =
        known.unwrap_or_default().shift_to_day(now.millis().div_euclid(MILLIS_PER_DAY));
    record.counts[0] = record.counts[0].saturating_add(1);
    record.last = now.millis();
    file.write_all_at(&record.encode(event), record_offset(event))
}

/// Returns the counts as of now, in the order of the events. Events that never occurred are left out.
pub fn read_event_counts(files: &DataDir, now: Time) -> io::Result<Vec<EventCount>> {
    let bytes = match read_own(&files.event_counts()) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let records = bytes.strip_prefix(FILE_MAGIC).unwrap_or_default().as_chunks::<RECORD_BYTES>().0;
    let records = EventName::ALL.into_iter().zip(records);
    Ok(records
        .filter_map(|(event, bytes)| {
            let record = EventRecord::decode(bytes, event)?
                .shift_to_day(now.millis().div_euclid(MILLIS_PER_DAY));
            let times = record.counts.iter().map(|count| u64::from(*count)).sum();
            Some(EventCount { event, last: Time::from_millis(record.last), times })
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MILLIS: i64 = 1_763_200_000_000;

    fn time_after_days(days: i64) -> Time {
        Time::from_millis(NOW_MILLIS + days * MILLIS_PER_DAY)
    }

    #[test]
    fn counts_expire_after_fourteen_days() {
        let folder = tempfile::tempdir().unwrap();
        let files = DataDir::new(folder.path());
        assert_eq!(read_event_counts(&files, time_after_days(0)).unwrap(), []);
        for (event, day) in [
            (EventName::Stop, 0),
            (EventName::PreToolUse, 0),
            (EventName::PreToolUse, 0),
            (EventName::PreToolUse, 1),
            (EventName::PreToolUse, 13),
        ] {
            count_event(&files, event, time_after_days(day)).unwrap();
        }
        let seen = |day| {
            let seen = read_event_counts(&files, time_after_days(day)).unwrap();
            seen.iter().map(|seen| (seen.event, seen.times)).collect::<Vec<_>>()
        };
        assert_eq!(seen(13), [(EventName::PreToolUse, 4), (EventName::Stop, 1)]);
        assert_eq!(seen(14), [(EventName::PreToolUse, 2), (EventName::Stop, 0)]);
        assert_eq!(seen(15), [(EventName::PreToolUse, 1), (EventName::Stop, 0)]);
        assert_eq!(seen(500), [(EventName::PreToolUse, 0), (EventName::Stop, 0)]);
        // The clock is set back: no count is lost or shifted.
        count_event(&files, EventName::PreToolUse, time_after_days(2)).unwrap();
        assert_eq!(seen(13)[0], (EventName::PreToolUse, 5));
        assert_eq!(
            read_event_counts(&files, time_after_days(13)).unwrap()[0].last,
            time_after_days(2)
        );
    }

    #[test]
    fn damaged_file_is_restarted() {
        let folder = tempfile::tempdir().unwrap();
        let files = DataDir::new(folder.path());
        for bytes in [&b""[..], b"rutally1", b"rutally1 and then some", &[0xff; 4_000]] {
            std::fs::File::create(files.event_counts())
                .and_then(|mut file| io::Write::write_all(&mut file, bytes))
                .unwrap();
            drop(read_event_counts(&files, time_after_days(0)).unwrap());
            count_event(&files, EventName::SessionStart, time_after_days(0)).unwrap();
            count_event(&files, EventName::SessionStart, time_after_days(0)).unwrap();
            let seen = read_event_counts(&files, time_after_days(0)).unwrap();
            let seen: Vec<_> = seen.iter().map(|seen| (seen.event, seen.times)).collect();
            // Counts are not read from a file without our mark.
            let expected: &[_] =
                if bytes.starts_with(b"\xff") { &[] } else { &[(EventName::SessionStart, 2)] };
            assert_eq!(seen, expected, "{bytes:?}");
        }
    }

    #[test]
    fn file_is_private_without_folder() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let missing = DataDir::new(folder.path().join("none"));
        assert!(count_event(&missing, EventName::Stop, time_after_days(0)).is_err());
        assert!(!missing.folder().exists());
        let files = DataDir::new(folder.path());
        count_event(&files, EventName::Stop, time_after_days(0)).unwrap();
        let mode = std::fs::metadata(files.event_counts()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
