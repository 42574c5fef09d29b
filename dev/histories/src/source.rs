//! Files of a virtual checkout, made of named regions.
//!
//! A region is a group of lines that belong together: the body of a function, its documentation, one test, one line of
//! a configuration file. Edits replace, insert, remove or move regions; line numbers and diffs are always derived from
//! the resulting text, so they cannot contradict the files.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A named group of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Name of the region, unique in its tree.
    pub key: String,
    /// Lines without their line ends.
    pub lines: Vec<String>,
}

impl Region {
    /// Creates a region from a text; an empty text has no lines.
    pub fn new(key: impl Into<String>, text: &str) -> Self {
        Self { key: key.into(), lines: lines_of(text) }
    }

    /// Creates a region of empty lines.
    pub fn blank(key: impl Into<String>, count: usize) -> Self {
        Self { key: key.into(), lines: vec![String::new(); count] }
    }
}

/// Splits a text into lines; an empty text has none.
pub fn lines_of(text: &str) -> Vec<String> {
    if text.is_empty() { Vec::new() } else { text.split('\n').map(str::to_owned).collect() }
}

/// A file as a list of regions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceFile {
    /// Regions in the order of the file.
    pub regions: Vec<Region>,
}

impl SourceFile {
    /// Creates a file from regions.
    pub fn new(regions: Vec<Region>) -> Self {
        Self { regions }
    }

    /// Returns the text of the file; every line ends with a newline.
    pub fn text(&self) -> String {
        self.regions.iter().flat_map(|region| &region.lines).fold(
            String::new(),
            |mut text, line| {
                let _ = writeln!(text, "{line}");
                text
            },
        )
    }

    /// Returns every line of the file.
    pub fn lines(&self) -> Vec<&str> {
        self.regions.iter().flat_map(|region| region.lines.iter().map(String::as_str)).collect()
    }
}

/// The location of a region: its file, and the number of its first line, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionLocation {
    /// Path from the root of the checkout.
    pub file: String,
    /// Number of the first line.
    pub line: usize,
}

/// All files of a checkout, by their path from its root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    /// Files by path.
    pub files: BTreeMap<String, SourceFile>,
}

impl Tree {
    /// Adds or replaces a file.
    pub fn put_file(&mut self, path: impl Into<String>, regions: Vec<Region>) {
        self.files.insert(path.into(), SourceFile::new(regions));
    }

    /// Returns the text of a file, or None if it does not exist.
    pub fn text(&self, path: &str) -> Option<String> {
        self.files.get(path).map(SourceFile::text)
    }

    /// Returns the lines of a region, or None if it does not exist.
    pub fn region(&self, key: &str) -> Option<&[String]> {
        let region = self.files.values().flat_map(|file| &file.regions).find(|at| at.key == key);
        region.map(|region| region.lines.as_slice())
    }

    /// Finds the location of a region.
    pub fn region_location(&self, key: &str) -> Option<RegionLocation> {
        for (path, file) in &self.files {
            let mut line = 1;
            for region in &file.regions {
                if region.key == key {
                    return Some(RegionLocation { file: path.clone(), line });
                }
                line += region.lines.len();
            }
        }
        None
    }

    /// Replaces the lines of a region.
    ///
    /// # Panics
    /// Panics if the region does not exist.
    pub fn set_region(&mut self, key: &str, lines: &[String]) {
        let regions = self.files.values_mut().flat_map(|file| &mut file.regions);
        let region = regions.into_iter().find(|region| region.key == key);
        lines.clone_into(&mut region.unwrap_or_else(|| panic!("no region {key}")).lines);
    }

    /// Inserts regions before another one.
    ///
    /// # Panics
    /// Panics if the region does not exist.
    pub fn insert_before(&mut self, key: &str, regions: Vec<Region>) {
        for file in self.files.values_mut() {
            if let Some(at) = file.regions.iter().position(|region| region.key == key) {
                file.regions.splice(at..at, regions);
                return;
            }
        }
        panic!("no region {key}");
    }

    /// Appends regions to a file, which is created if it is missing.
    pub fn append(&mut self, path: &str, regions: Vec<Region>) {
        self.files.entry(path.to_owned()).or_default().regions.extend(regions);
    }

    /// Removes all regions with a key that starts with a prefix, and returns them in order.
    pub fn remove_regions(&mut self, prefix: &str) -> Vec<Region> {
        let mut taken = Vec::new();
        for file in self.files.values_mut() {
            file.regions.retain(|region| {
                let goes = region.key.starts_with(prefix);
                if goes {
                    taken.push(region.clone());
                }
                !goes
            });
        }
        taken
    }

    /// Returns the paths of the files that differ between two trees.
    pub fn changed_files(&self, other: &Self) -> Vec<String> {
        let mut paths: Vec<&String> = self.files.keys().chain(other.files.keys()).collect();
        paths.sort_unstable();
        paths.dedup();
        paths.into_iter().filter(|path| self.text(path) != other.text(path)).cloned().collect()
    }
}
