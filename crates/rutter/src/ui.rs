//! Where a command writes: results to stdout, remarks to stderr.

use std::io::{self, Write};

/// The two ends of a command. Results and remarks never mix, so that results can be piped.
pub struct Ui<'a> {
    /// Results.
    pub out: &'a mut dyn Write,
    /// Remarks.
    pub err: &'a mut dyn Write,
}

impl Ui<'_> {
    /// Tells the user something beside the result.
    pub fn remark(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.err, "note: {text}")
    }
}
