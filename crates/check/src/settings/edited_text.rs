//! A text with replaced ranges, and the way back from its offsets to those of the original.

use std::ops::Range;

/// A replacement of a byte range.
pub(super) type TextEdit = (Range<usize>, String);

/// A text after edits.
#[derive(Debug)]
pub(super) struct EditedText {
    /// The text after the edits.
    pub(super) text: String,
    segments: Vec<TextSegment>,
}

/// A part of the new text.
#[derive(Debug)]
struct TextSegment {
    /// Its range in the new text.
    new: Range<usize>,
    /// The range in the original that it keeps or replaces.
    original: Range<usize>,
    is_kept: bool,
}

impl EditedText {
    /// Applies edits. Leaves out edits that overlap an earlier one or do not lie on character boundaries.
    pub(super) fn apply(original: &str, mut edits: Vec<TextEdit>) -> Self {
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        let mut edited = Self { text: String::with_capacity(original.len()), segments: Vec::new() };
        let mut at = 0;
        for (range, replacement) in edits {
            if range.start < at || original.get(range.clone()).is_none() {
                continue;
            }
            let kept = original.get(at..range.start).unwrap_or_default();
            edited.add_segment(kept, at..range.start, true);
            at = range.end;
            edited.add_segment(&replacement, range, false);
        }
        let kept = original.get(at..).unwrap_or_default();
        edited.add_segment(kept, at..original.len(), true);
        edited
    }

    fn add_segment(&mut self, text: &str, original: Range<usize>, is_kept: bool) {
        let start = self.text.len();
        self.text.push_str(text);
        if !text.is_empty() {
            self.segments.push(TextSegment { new: start..self.text.len(), original, is_kept });
        }
    }

    /// Returns the offset in the original at which something starts in the new text. Inside a replacement, this is the
    /// start of the replaced range.
    pub(super) fn original_start(&self, at: usize) -> usize {
        let after = self.segments.partition_point(|segment| segment.new.start <= at);
        self.segment_before(after).map_or(0, |segment| {
            let inside = at.min(segment.new.end) - segment.new.start;
            segment.original.start + if segment.is_kept { inside } else { 0 }
        })
    }

    /// Returns the offset in the original at which something ends in the new text. Inside a replacement, this is the end
    /// of the replaced range.
    pub(super) fn original_end(&self, at: usize) -> usize {
        let after = self.segments.partition_point(|segment| segment.new.start < at);
        self.segment_before(after).map_or(0, |segment| {
            if segment.is_kept {
                segment.original.start + (at.min(segment.new.end) - segment.new.start)
            } else {
                segment.original.end
            }
        })
    }

    fn segment_before(&self, index: usize) -> Option<&TextSegment> {
        self.segments.get(index.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_offsets_back() {
        let edits = vec![(5..6, String::new()), (0..0, "<<".to_owned()), (2..3, "xyz".to_owned())];
        let edited = EditedText::apply("abcdefg", edits);
        assert_eq!(edited.text, "<<abxyzdeg");
        for (character, original) in [('a', 0), ('b', 1), ('x', 2), ('z', 2), ('d', 3), ('g', 6)] {
            let at = edited.text.find(character).unwrap();
            assert_eq!(edited.original_start(at), original, "{character}");
        }
        assert_eq!(edited.original_end(edited.text.len()), 7);
        // "e" ends before the removed "f", and "xyz" where "c" does.
        assert_eq!(edited.original_end(edited.text.find('g').unwrap()), 5);
        assert_eq!(edited.original_end(edited.text.find('d').unwrap()), 3);
    }

    #[test]
    fn overlapping_edits_are_left_out() {
        let edits = vec![(0..3, "x".to_owned()), (2..4, "y".to_owned())];
        assert_eq!(EditedText::apply("abcde", edits).text, "xde");
    }
}
