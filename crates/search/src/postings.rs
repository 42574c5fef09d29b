//! The inverted index, a [`cache`] file next to the database: the documents that contain each term.
//!
//! ```text
//! header     72 bytes   RUTTERMS, form, size of a document, 0, edition, high-water mark, counts, check of these
//! documents  24 bytes   row (i64), project (i64), length (u32, of it the upper 8 the kind), seal (u32); by row
//! terms      28 bytes   hash of the term, where its list begins (u64), how many (u32), check of the list, seal; by hash
//! lists       6 bytes   the places of the documents in the first part (u32 each), then how often each has it (u16 each)
//! ```
//!
//! All numbers are little-endian. Terms are identified by their 64-bit hashes alone: two of a million terms collide
//! once in forty million stores. A list is read in place; a search for a few terms touches little of the file.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use memmap2::Mmap;

use super::cache::{self, CacheDraft, CacheHeader, HEADER_BYTES, fnv_hash, make_seal, mix_hash};

const POSTINGS_MAGIC: [u8; 8] = *b"RUTTERMS";
const DOCUMENT_BYTES: usize = 8 + 8 + 4 + 4;
const TERM_BYTES: usize = 8 + 8 + 4 + 4 + 4;
const PLACE_BYTES: usize = 4;
const COUNT_BYTES: usize = 2;

fn new_header() -> CacheHeader {
    CacheHeader {
        magic: POSTINGS_MAGIC,
        record: DOCUMENT_BYTES,
        table: 0,
        edition: 0,
        high_water: 0,
        counts: [0; 3],
    }
}

/// A document of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexedDocument {
    /// Row id of the document.
    pub row: i64,
    /// Row id of the project, or [`cache::EVERYWHERE_PROJECT`].
    pub project: i64,
    /// Number of the document's kind.
    pub kind: u8,
    /// Number of terms, up to 16,777,215.
    pub length: u32,
}

/// Maximum recorded length of a document. No stored text has nearly as many terms.
const MAX_DOCUMENT_TERMS: u32 = (1 << 24) - 1;

impl IndexedDocument {
    /// Returns kind and length as one number.
    fn kind_and_length(self) -> u32 {
        u32::from(self.kind) << 24 | self.length.min(MAX_DOCUMENT_TERMS)
    }
}

/// The file, open for searching.
#[derive(Debug)]
pub struct PostingFile {
    map: Mmap,
    /// Offsets of the terms and the lists.
    terms: usize,
    lists: usize,
    high_water: i64,
    key: u64,
}

/// The documents that contain one term.
#[derive(Debug, Clone, Copy)]
pub struct PostingList<'a> {
    bytes: &'a [u8],
    count: usize,
    check: [u8; 4],
}

/// The places of a list and the counts.
type PlacesAndCounts<'a> = (&'a [[u8; PLACE_BYTES]], &'a [[u8; COUNT_BYTES]]);

impl PostingFile {
    /// Opens the file at a path. Returns None if it is invalid or not one of these editions.
    pub fn open(path: &Path, editions: &[i64]) -> Option<Self> {
        let (map, header) = cache::open_cache(path, new_header(), editions)?;
        let [documents, terms, lists] = header.counts.map(|count| usize::try_from(count).ok());
        let terms_at = documents?.checked_mul(DOCUMENT_BYTES)?.checked_add(HEADER_BYTES)?;
        let lists_at = terms?.checked_mul(TERM_BYTES)?.checked_add(terms_at)?;
        (map.len() == lists?.checked_add(lists_at)?).then_some(Self {
            map,
            terms: terms_at,
            lists: lists_at,
            high_water: header.high_water,
            key: header.seal_key(),
        })
    }

    /// Returns the last row that the file covers.
    pub fn high_water(&self) -> i64 {
        self.high_water
    }

    /// Returns the number of documents.
    pub fn documents(&self) -> usize {
        (self.terms - HEADER_BYTES) / DOCUMENT_BYTES
    }

    /// Returns the document at a place, or None if that part of the file is damaged.
    pub fn document(&self, place: u32) -> Option<IndexedDocument> {
        let records = self.map[HEADER_BYTES..self.terms].as_chunks::<DOCUMENT_BYTES>().0;
        let (row, rest) = records.get(place as usize)?.split_first_chunk()?;
        let (project, rest) = rest.split_first_chunk()?;
        let (shape, seal) = rest.split_first_chunk()?;
        let &[_, _, _, kind]: &[u8; 4] = shape;
        let document = IndexedDocument {
            row: i64::from_le_bytes(*row),
            project: i64::from_le_bytes(*project),
            kind,
            length: u32::from_le_bytes(*shape) & MAX_DOCUMENT_TERMS,
        };
        (*seal == document_seal(self.key, document)).then_some(document)
    }

    /// Returns the place of a row: None if that part of the file is damaged, Some(None) if the row is missing.
    pub fn place_of_row(&self, row: i64) -> Option<Option<u32>> {
        let (mut low, mut high) = (0, u32::try_from(self.documents()).ok()?);
        while low < high {
            let middle = low.midpoint(high);
            match self.document(middle)?.row.cmp(&row) {
                std::cmp::Ordering::Equal => return Some(Some(middle)),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Some(None)
    }

    /// Returns the list of a term, empty if no document contains it, or None if that part of the file is damaged. The
    /// binary search checks the seal of each entry that it visits, including the neighbours of a missing term, so it
    /// notices every hole that could contain the term.
    pub fn find_list(&self, term: &str) -> Option<PostingList<'_>> {
        let wanted = fnv_hash(term.as_bytes());
        let entries = self.map[self.terms..self.lists].as_chunks::<TERM_BYTES>().0;
        let (mut low, mut high) = (0, entries.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let (hash, list) = self.read_entry(&entries[middle])?;
            match hash.cmp(&wanted) {
                std::cmp::Ordering::Equal => return Some(list),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Some(PostingList { bytes: &[], count: 0, check: list_checksum(self.key, &[]) })
    }

    fn read_entry(&self, entry: &[u8; TERM_BYTES]) -> Option<(u64, PostingList<'_>)> {
        let (said, sealed) = entry.split_last_chunk::<4>()?;
        if *sealed != term_seal(self.key, said) {
            return None;
        }
        let (hash, rest) = said.split_first_chunk()?;
        let (start, rest) = rest.split_first_chunk()?;
        let (count, check) = rest.split_first_chunk()?;
        let start = usize::try_from(u64::from_le_bytes(*start)).ok()?;
        let count = u32::from_le_bytes(*count) as usize;
        let bytes =
            self.map[self.lists..].get(start..)?.get(..count * (PLACE_BYTES + COUNT_BYTES))?;
        let list = PostingList { bytes, count, check: *check.first_chunk()? };
        Some((u64::from_le_bytes(*hash), list))
    }

    /// Returns the places and counts of a list, or None if a part of it is damaged.
    pub fn read_list<'a>(
        &self,
        list: &PostingList<'a>,
    ) -> Option<impl Iterator<Item = (u32, u16)> + use<'a>> {
        let (places, times) = self.split_list(list)?;
        Some(
            places
                .iter()
                .zip(times)
                .map(|(place, times)| (u32::from_le_bytes(*place), u16::from_le_bytes(*times))),
        )
    }

    /// Counts these places in a list, or returns None if a part of it is damaged.
    pub fn count_places(&self, list: &PostingList<'_>, wanted: &[u32]) -> Option<usize> {
        if wanted.is_empty() || list.is_empty() {
            return Some(0);
        }
        let (places, _) = self.split_list(list)?;
        let is_there = |place: &&u32| {
            places.binary_search_by_key(*place, |place| u32::from_le_bytes(*place)).is_ok()
        };
        Some(wanted.iter().filter(is_there).count())
    }

    fn split_list<'a>(&self, list: &PostingList<'a>) -> Option<PlacesAndCounts<'a>> {
        let (places, times) = list.bytes.split_at_checked(list.count * PLACE_BYTES)?;
        let is_whole = list.check == list_checksum(self.key, list.bytes);
        is_whole.then_some((places.as_chunks().0, times.as_chunks().0))
    }

    /// Returns true if no part of the file is damaged.
    pub fn is_whole(&self) -> bool {
        let mut documents = 0..u32::try_from(self.documents()).unwrap_or(u32::MAX);
        let mut terms = self.map[self.terms..self.lists].as_chunks::<TERM_BYTES>().0.iter();
        documents.all(|place| self.document(place).is_some())
            && terms.all(|entry| {
                self.read_entry(entry).is_some_and(|(_, list)| self.split_list(&list).is_some())
            })
    }
}

impl PostingList<'_> {
    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns true if no document contains the term.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// A file that is being written to replace the current one. Its lists are in memory until it is finished: six bytes for
/// each term of each document.
#[derive(Debug)]
pub struct PostingDraft {
    draft: CacheDraft,
    header: CacheHeader,
    lists: HashMap<u64, Vec<(u32, u16)>>,
    /// Term counts of the current document.
    times: HashMap<u64, u16>,
}

impl PostingDraft {
    /// Creates the draft. Only one process may do this at a time: the caller holds the maintenance lock.
    pub fn create(path: &Path, edition: i64) -> io::Result<Self> {
        Ok(Self {
            draft: CacheDraft::create(path)?,
            header: CacheHeader { edition, ..new_header() },
            lists: HashMap::new(),
            times: HashMap::new(),
        })
    }

    /// Adds a document and its terms, each with `mark` as a prefix. Documents come in the order of their rows.
    pub fn add_document<'t>(
        &mut self,
        document: IndexedDocument,
        mark: &str,
        terms: impl Iterator<Item = &'t str>,
    ) -> io::Result<()> {
        let [documents, ..] = &mut self.header.counts;
        let place = u32::try_from(*documents).map_err(io::Error::other)?;
        *documents += 1;
        self.draft.write(&document.row.to_le_bytes())?;
        self.draft.write(&document.project.to_le_bytes())?;
        self.draft.write(&document.kind_and_length().to_le_bytes())?;
        self.draft.write(&document_seal(self.header.seal_key(), document))?;
        let mut marked = mark.to_owned();
        for term in terms {
            marked.truncate(mark.len());
            marked.push_str(term);
            let times = self.times.entry(fnv_hash(marked.as_bytes())).or_default();
            *times = times.saturating_add(1);
        }
        for (term, times) in self.times.drain() {
            self.lists.entry(term).or_default().push((place, times));
        }
        Ok(())
    }

    /// Writes the terms, lists and header, and replaces the current file. The file covers rows up to `high_water`.
    pub fn finish(mut self, high_water: i64) -> io::Result<()> {
        let mut lists: Vec<(u64, Vec<(u32, u16)>)> = self.lists.drain().collect();
        lists.sort_unstable_by_key(|(term, _)| *term);
        let key = self.header.seal_key();
        let mut bytes = Vec::new();
        let mut start = 0;
        for (term, list) in &lists {
            serialize_list(list, &mut bytes);
            let count = u32::try_from(list.len()).map_err(io::Error::other)?;
            let said = term
                .to_le_bytes()
                .into_iter()
                .chain(u64::try_from(start).map_err(io::Error::other)?.to_le_bytes())
                .chain(count.to_le_bytes())
                .chain(list_checksum(key, &bytes));
            let said: Vec<u8> = said.collect();
            self.draft.write(&said)?;
            self.draft.write(&term_seal(key, &said))?;
            start += bytes.len();
        }
        for (_, list) in &lists {
            serialize_list(list, &mut bytes);
            self.draft.write(&bytes)?;
        }
        let [documents, ..] = self.header.counts;
        let counts = [documents, lists.len() as u64, start as u64];
        self.draft.finish(&CacheHeader { high_water, counts, ..self.header })
    }
}

fn serialize_list(list: &[(u32, u16)], bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.extend(list.iter().flat_map(|(place, _)| place.to_le_bytes()));
    bytes.extend(list.iter().flat_map(|(_, times)| times.to_le_bytes()));
}

fn document_seal(key: u64, document: IndexedDocument) -> [u8; 4] {
    let about = mix_hash(key ^ u64::from(document.kind_and_length()), document.row.cast_unsigned());
    make_seal(mix_hash(about, document.project.cast_unsigned()))
}

fn term_seal(key: u64, said: &[u8]) -> [u8; 4] {
    list_checksum(!key, said)
}

/// Returns a checksum, eight bytes at a time because lists are long.
fn list_checksum(key: u64, bytes: &[u8]) -> [u8; 4] {
    let (words, rest) = bytes.as_chunks();
    let mixed = words.iter().fold(key, |mixed, word| mix_hash(mixed, u64::from_le_bytes(*word)));
    let rest = rest.iter().fold(0, |rest, byte| rest << 8 | u64::from(*byte));
    make_seal(mix_hash(mixed, rest ^ (bytes.len() as u64) << 56))
}

#[cfg(test)]
mod tests;
