//! A log of GitHub's runner is also its input: a line that begins with `::`, and `##[` anywhere, are
//! commands to it. What a post says must not become one.

use std::io::{self, Write};

/// What stands for the first colon of a line that would be a command.
const COLON: &[u8] = b"\\u{3a}";
/// What stands for the bracket after `##`.
const BRACKET: &[u8] = b"\\u{5b}";

/// A stream in which no line is a command. Bytes that begin none pass as they are.
pub struct NoCommands<W: Write> {
    inner: W,
    /// Only blanks were written since the line began.
    beginning: bool,
    /// A colon that begins the line and is not written yet: what it is depends on the next byte.
    held: bool,
    /// How many `#` were written last.
    marks: usize,
}

impl<W: Write> NoCommands<W> {
    /// Makes it.
    pub fn new(inner: W) -> Self {
        NoCommands { inner, beginning: true, held: false, marks: 0 }
    }

    fn byte(&mut self, byte: u8, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.held) {
            out.extend(if byte == b':' { COLON } else { b":" });
        }
        match byte {
            b':' if self.beginning => self.held = true,
            b'[' if self.marks >= 2 => out.extend(BRACKET),
            _ => out.push(byte),
        }
        self.marks = if byte == b'#' { self.marks + 1 } else { 0 };
        // A carriage return begins a line for the runner too, and a blank of any kind is skipped.
        self.beginning = match byte {
            b'\n' | b'\r' => true,
            byte => self.beginning && (byte.is_ascii_whitespace() || byte == 0x0b),
        };
    }
}

impl<W: Write> Write for NoCommands<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut out = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.byte(*byte, &mut out);
        }
        self.inner.write_all(&out)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<W: Write> Drop for NoCommands<W> {
    fn drop(&mut self) {
        if self.held {
            // The last byte of all; nobody is left to tell that it could not be written.
            let _ = self.inner.write_all(b":");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(pieces: &[&str]) -> String {
        let mut out = Vec::new();
        {
            let mut stream = NoCommands::new(&mut out);
            for piece in pieces {
                stream.write_all(piece.as_bytes()).unwrap();
                stream.flush().unwrap();
            }
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn no_line_is_a_command() {
        assert_eq!(through(&["::error::x\n"]), "\\u{3a}:error::x\n");
        assert_eq!(through(&["a\n  \t:", ":stop-commands::t\n"]), "a\n  \t\\u{3a}:stop-commands::t\n");
        assert_eq!(through(&["a\r::warning::x"]), "a\r\\u{3a}:warning::x");
        assert_eq!(through(&["a #", "#[error]b ###[c"]), "a ##\\u{5b}error]b ###\\u{5b}c");
    }

    #[test]
    fn everything_else_passes() {
        for text in ["a::b\n :c\n:\nd: e\n", "# Head\n## [x]\n[y]\n", "글 :: 글\n", ":", ""] {
            assert_eq!(through(&[text]), text);
        }
    }
}
