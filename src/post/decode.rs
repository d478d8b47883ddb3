//! Bytes of a file to normalised text: one byte-order mark dropped, CR LF turned into LF, nothing else.
//! [`form`] tells what was dropped, and [`encode`] gives the bytes back.
//!
//! Never guesses an encoding and never replaces a byte: what is no UTF-8, or holds a NUL, is an error
//! that names the first bad byte. A lone CR is content and stays.

use std::borrow::Cow;

use crate::diagnostic::Diagnostic;

/// The byte-order mark of UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The marks by which other encodings say who they are. UTF-32 comes first, since its little-endian
/// mark begins with that of UTF-16.
const FOREIGN_MARKS: [(&[u8], &str, &str); 4] = [
    (b"\xff\xfe\x00\x00", "utf32", "UTF-32"),
    (b"\x00\x00\xfe\xff", "utf32", "UTF-32"),
    (b"\xff\xfe", "utf16", "UTF-16"),
    (b"\xfe\xff", "utf16", "UTF-16"),
];

/// Reads a file as UTF-8. Allocates only where there is a CR LF.
///
/// # Errors
/// `utf16`, `utf32`, `not-utf8`, `nul`: each with line and column set, and without source text, since
/// there is no text to show.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, Box<Diagnostic>> {
    if let Some((_, code, name)) = FOREIGN_MARKS.iter().find(|(mark, ..)| bytes.starts_with(mark)) {
        return Err(foreign(code, name));
    }
    let content = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let dropped = bytes.len() - content.len();
    // `contains` looks at whole words at a time; the place is searched only where there is one.
    if content.contains(&0) {
        return Err(nul(content, content.iter().take_while(|byte| **byte != 0).count(), dropped));
    }
    match std::str::from_utf8(content) {
        Ok(text) => Ok(normalise_line_ends(text)),
        Err(error) => Err(not_utf8(content, error.valid_up_to(), error.error_len().is_none(), dropped)),
    }
}

/// How the bytes of a file differ from its normalised text, which is what `sourceHash` is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hashed {
    /// Bytes of the file.
    pub file_bytes: usize,
    /// Bytes of the normalised text.
    pub bytes: usize,
    /// It begins with a byte-order mark, which is dropped.
    pub bom: bool,
    /// CRs before an LF, which are dropped.
    pub crlf: usize,
}

/// Tells what of a file is hashed; `None` where it cannot be decoded.
pub fn hashed(bytes: &[u8]) -> Option<Hashed> {
    let text = decode(bytes).ok()?;
    let bom = bytes.starts_with(BOM);
    let dropped = bytes.len().saturating_sub(text.len());
    let crlf = dropped.saturating_sub(if bom { BOM.len() } else { 0 });
    Some(Hashed { file_bytes: bytes.len(), bytes: text.len(), bom, crlf })
}

/// Looks for the single character CR, which is found many bytes at a time; a search for the pair is not.
fn normalise_line_ends(text: &str) -> Cow<'_, str> {
    let mut normalised = String::new();
    let mut rest = text;
    let mut kept = 0;
    while let Some(cr) = rest.get(kept..).and_then(|tail| tail.find('\r')).map(|at| at + kept) {
        if rest.get(cr + 1..).is_some_and(|tail| tail.starts_with('\n')) {
            normalised.reserve(if normalised.is_empty() { text.len() } else { 0 });
            let (head, tail) = rest.split_at(cr);
            normalised.push_str(head);
            rest = tail.get(1..).unwrap_or("");
            kept = 0;
        } else {
            kept = cr + 1;
        }
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    normalised.push_str(rest);
    Cow::Owned(normalised)
}

/// How a file was written, beside its text: what [`decode`] drops.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Form {
    /// A byte-order mark stood at its head.
    pub bom: bool,
    /// How its lines ended.
    pub line_ends: LineEnds,
}

/// How the lines of a file end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LineEnds {
    /// LF.
    #[default]
    Lf,
    /// CR LF, every one.
    CrLf,
    /// Both: how many line ends one after another are LF, then how many CR LF, and so on.
    Mixed(Vec<usize>),
}

/// Tells what [`decode`] drops of these bytes.
pub fn form(bytes: &[u8]) -> Form {
    let bom = bytes.starts_with(BOM);
    if !bytes.contains(&b'\r') {
        return Form { bom, line_ends: LineEnds::Lf };
    }
    // Of runs, those at even places are LF.
    let (mut runs, mut run) = (Vec::new(), 0_usize);
    let mut before = 0;
    for byte in bytes {
        if *byte == b'\n' {
            let crlf = before == b'\r';
            if crlf != (runs.len() % 2 == 1) {
                runs.push(run);
                run = 0;
            }
            run += 1;
        }
        before = *byte;
    }
    runs.push(run);
    let line_ends = match runs.as_slice() {
        [] | [_] => LineEnds::Lf,
        [0, _] => LineEnds::CrLf,
        _ => LineEnds::Mixed(runs),
    };
    Form { bom, line_ends }
}

/// The bytes of a file whose normalised text is that of `parts`, one after the other. What [`decode`] and
/// [`form`] gave of some bytes gives these bytes; a text with more lines ends them as the last one ended.
pub fn encode(parts: &[&str], form: &Form) -> Vec<u8> {
    let mut out = Vec::with_capacity(parts.iter().map(|part| part.len()).sum::<usize>() + BOM.len());
    if form.bom {
        out.extend(BOM);
    }
    let runs: &[usize] = match &form.line_ends {
        LineEnds::Lf => &[],
        LineEnds::CrLf => &[0, usize::MAX],
        LineEnds::Mixed(runs) => runs,
    };
    let mut left = runs.iter().copied();
    let (mut run, mut crlf) = (left.next().unwrap_or(usize::MAX), false);
    for part in parts {
        for line in part.split_inclusive('\n') {
            let Some(text) = line.strip_suffix('\n') else {
                out.extend(line.as_bytes());
                continue;
            };
            while run == 0
                && let Some(next) = left.next()
            {
                (run, crlf) = (next, !crlf);
            }
            run = run.saturating_sub(1);
            out.extend(text.as_bytes());
            out.extend(if crlf { &b"\r\n"[..] } else { b"\n" });
        }
    }
    out
}

impl LineEnds {
    /// The stored form: `crlf`, or the runs as numbers with a blank between; `None` for LF.
    pub fn to_stored(&self) -> Option<String> {
        match self {
            LineEnds::Lf => None,
            LineEnds::CrLf => Some("crlf".to_owned()),
            LineEnds::Mixed(runs) => {
                Some(runs.iter().map(ToString::to_string).collect::<Vec<String>>().join(" "))
            }
        }
    }

    /// Reads the stored form; what is none counts as LF.
    pub fn from_stored(text: &str) -> Self {
        if text == "crlf" {
            return LineEnds::CrLf;
        }
        let runs: Option<Vec<usize>> = text.split(' ').map(|run| run.parse().ok()).collect();
        runs.map_or(LineEnds::Lf, LineEnds::Mixed)
    }
}

fn foreign(code: &'static str, name: &str) -> Box<Diagnostic> {
    let mut diagnostic =
        Diagnostic::error(code, format!("the file is {name}; save as UTF-8")).help("save the file as UTF-8");
    (diagnostic.line, diagnostic.column) = (Some(1), Some(1));
    Box::new(diagnostic)
}

fn nul(content: &[u8], at: usize, dropped: usize) -> Box<Diagnostic> {
    // Text of a Latin script in UTF-16 without a mark has a NUL in every other byte.
    if let [a, b, c, d, ..] = content
        && ((*a == 0 && *c == 0 && *b != 0 && *d != 0) || (*a != 0 && *c != 0 && *b == 0 && *d == 0))
    {
        return foreign("utf16", "UTF-16");
    }
    let (line, column) = place(content, at);
    let mut diagnostic = Diagnostic::error(
        "nul",
        format!("a NUL character at line {line}, byte {} of the file", at + dropped + 1),
    )
    .help("remove the NUL; if this is no text file, move it out of the content");
    (diagnostic.line, diagnostic.column) = (Some(line), Some(column));
    Box::new(diagnostic)
}

fn not_utf8(content: &[u8], at: usize, cut: bool, dropped: usize) -> Box<Diagnostic> {
    let (line, column) = place(content, at);
    let byte = at + dropped + 1;
    let why = if cut { ": the file ends in the middle of a character" } else { "" };
    let mut diagnostic =
        Diagnostic::error("not-utf8", format!("not UTF-8 at line {line}, byte {byte} of the file{why}"))
            .help(if cut { "the file was cut short; restore its end" } else { "save the file as UTF-8" });
    (diagnostic.line, diagnostic.column) = (Some(line), Some(column));
    Box::new(diagnostic)
}

/// Line and column, from 1, of the byte at `at`; all before it is counted as UTF-8 where it is.
fn place(content: &[u8], at: usize) -> (u32, u32) {
    let before = content.get(..at).unwrap_or(content);
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let line = before.split(|byte| *byte == b'\n').count();
    let column = String::from_utf8_lossy(before.get(line_start..).unwrap_or_default()).chars().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_left_out_of_the_hash_is_counted() {
        let of = |bytes: &[u8]| hashed(bytes).expect("it is text");
        assert_eq!(of(b"\xef\xbb\xbfa\r\nb\rc\r\n"), Hashed { file_bytes: 11, bytes: 6, bom: true, crlf: 2 });
        assert_eq!(of(b"a\n"), Hashed { file_bytes: 2, bytes: 2, bom: false, crlf: 0 });
        assert!(hashed(b"\xff").is_none());
    }

    fn error(bytes: &[u8]) -> (&'static str, u32, u32, String) {
        let diagnostic = decode(bytes).expect_err("must be refused");
        assert!(!diagnostic.help.is_empty(), "{diagnostic:?}");
        (
            diagnostic.code,
            diagnostic.line.expect("line"),
            diagnostic.column.expect("column"),
            diagnostic.message,
        )
    }

    #[test]
    fn plain_text_is_borrowed() {
        assert!(matches!(decode("가\nb\rc".as_bytes()), Ok(Cow::Borrowed("가\nb\rc"))));
        assert!(matches!(decode(b""), Ok(Cow::Borrowed(""))));
    }

    #[test]
    fn one_byte_order_mark_is_dropped_and_a_second_stays() {
        assert_eq!(decode(b"\xef\xbb\xbfx").unwrap(), "x");
        assert_eq!(decode(b"\xef\xbb\xbf").unwrap(), "");
        assert_eq!(decode(b"\xef\xbb\xbf\xef\xbb\xbfx").unwrap(), "\u{feff}x");
        assert_eq!(decode(b"x\xef\xbb\xbf").unwrap(), "x\u{feff}");
    }

    #[test]
    fn crlf_becomes_lf_and_a_lone_cr_stays() {
        assert_eq!(decode(b"a\r\nb\nc\rd\r\r\n\r\n").unwrap(), "a\nb\nc\rd\r\n\n");
        assert_eq!(decode(b"\r\n").unwrap(), "\n");
        assert_eq!(decode(b"x\r").unwrap(), "x\r");
    }

    #[test]
    fn other_encodings_are_named() {
        for (bytes, code, name) in [
            (&b"\xff\xfeh\x00i\x00"[..], "utf16", "UTF-16"),
            (b"\xfe\xff\x00h\x00i", "utf16", "UTF-16"),
            (b"\xff\xfe\x00\x00h\x00\x00\x00", "utf32", "UTF-32"),
            (b"\x00\x00\xfe\xff\x00\x00\x00h", "utf32", "UTF-32"),
            (b"h\x00i\x00", "utf16", "UTF-16"),
            (b"\x00h\x00i", "utf16", "UTF-16"),
        ] {
            let (got, line, column, message) = error(bytes);
            assert_eq!((got, line, column), (code, 1, 1));
            assert_eq!(message, format!("the file is {name}; save as UTF-8"));
        }
    }

    #[test]
    fn the_first_bad_byte_is_named() {
        let (code, line, column, message) = error(b"one\r\ntwo \xc7\xd1\n\xff");
        assert_eq!((code, line, column), ("not-utf8", 2, 5));
        assert_eq!(message, "not UTF-8 at line 2, byte 10 of the file");
        // The column counts characters, the byte offset counts bytes and the mark at the head.
        let (_, line, column, message) = error(
            "\u{feff}가나\u{20}".as_bytes().iter().chain(b"\xe9x").copied().collect::<Vec<_>>().as_slice(),
        );
        assert_eq!((line, column), (1, 4));
        assert_eq!(message, "not UTF-8 at line 1, byte 11 of the file");
    }

    #[test]
    fn a_cut_character_and_a_surrogate_are_not_utf8() {
        let (code, line, _, message) = error(b"a\nb \xea\xb0");
        assert_eq!((code, line), ("not-utf8", 2));
        assert!(message.ends_with("in the middle of a character"), "{message}");
        assert_eq!(error(b"\n\n\xed\xb0\x80").1, 3);
        // Overlong forms and code points past U+10FFFF.
        assert_eq!(error(b"\xc0\xaf").0, "not-utf8");
        assert_eq!(error(b"\xf4\x90\x80\x80").0, "not-utf8");
    }

    #[test]
    fn a_nul_is_refused_wherever_it_is() {
        assert_eq!(
            error(b"title\nbo\x00dy\n"),
            ("nul", 2, 3, "a NUL character at line 2, byte 9 of the file".into())
        );
        assert_eq!(error(b"x\x00").0, "nul");
        // Of several problems the NUL is told, since it says that this is no text at all.
        assert_eq!(error(b"\x89PNG\n\x00\xff").0, "nul");
    }

    /// Bytes after decoding, telling the form, storing it, and encoding.
    fn there_and_back(bytes: &[u8], cut: usize) -> Vec<u8> {
        let text = decode(bytes).expect("decodes");
        let Form { bom, line_ends } = form(bytes);
        let stored = line_ends.to_stored();
        let line_ends = stored.map_or(LineEnds::Lf, |text| LineEnds::from_stored(&text));
        let at = crate::diagnostic::floor_char_boundary(&text, cut.min(text.len()));
        let (head, tail) = text.split_at(at);
        encode(&[head, tail], &Form { bom, line_ends })
    }

    #[test]
    fn what_was_dropped_is_told_and_put_back() {
        for (bytes, line_ends) in [
            (&b""[..], None),
            (b"a\rb\r", None),
            (b"a\nb\n", None),
            (b"a\r\nb\r\n", Some("crlf")),
            (b"\xef\xbb\xbf\r\n", Some("crlf")),
            (b"a\r\r\nb", Some("crlf")),
            (b"a\nb\r\nc\r\nd\n", Some("1 2 1")),
            (b"\r\n\n", Some("0 1 1")),
        ] {
            assert_eq!(form(bytes).line_ends.to_stored().as_deref(), line_ends, "{bytes:?}");
            assert_eq!(there_and_back(bytes, 2), bytes);
        }
        assert_eq!(encode(&["a\nb\nc\n"], &form(b"\r\n\n")), b"a\r\nb\nc\n");
        assert_eq!(LineEnds::from_stored("nonsense"), LineEnds::Lf);
    }

    proptest! {
        #[test]
        fn every_byte_comes_back(
            bom in any::<bool>(),
            parts in proptest::collection::vec("[a\u{feff}가\r\n]{0,4}|\r\n|\n|\r|\r\r\n", 0..40),
            cut in 0_usize..60,
        ) {
            let bytes = format!("{}{}", if bom { "\u{feff}" } else { "" }, parts.concat()).into_bytes();
            prop_assert_eq!(there_and_back(&bytes, cut), bytes);
        }

        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes);
        }

        #[test]
        fn marks_and_line_ends_do_not_matter(lines in proptest::collection::vec("[^\r\n\0\u{feff}]{0,9}", 0..9)) {
            let unix = lines.join("\n");
            let windows = format!("\u{feff}{}", lines.join("\r\n"));
            prop_assert_eq!(decode(windows.as_bytes()).unwrap(), unix.clone());
            prop_assert_eq!(decode(unix.as_bytes()).unwrap(), unix.as_str());
        }
    }
}
