//! What a command reads and where it writes: results to stdout, remarks to stderr.

use std::io::{self, Read, Write};

use crate::Failure;

/// The most that is read from stdin. The client itself would have to hold as much.
pub const STDIN_LIMIT: u64 = 32 * 1024 * 1024;

/// The ends of a command. Results and remarks never mix, so that results can be piped.
pub struct Ui<'a> {
    /// What is piped in.
    pub input: &'a mut dyn Read,
    /// Results.
    pub out: &'a mut dyn Write,
    /// Remarks.
    pub err: &'a mut dyn Write,
}

impl Ui<'_> {
    /// Everything that is piped in, up to [`STDIN_LIMIT`].
    pub fn stdin(&mut self) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let mut limited = (&mut *self.input).take(STDIN_LIMIT + 1);
        limited.read_to_end(&mut bytes).map_err(Failure::Input)?;
        if bytes.len() as u64 > STDIN_LIMIT {
            let mib = STDIN_LIMIT / 1024 / 1024;
            return Err(Failure::Usage(format!(
                "stdin holds more than {mib} MiB; pipe in what one hook printed"
            )));
        }
        Ok(bytes)
    }

    /// Tells the user something beside the result.
    pub fn remark(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.err, "note: {text}")
    }
}
