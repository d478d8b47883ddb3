//! What a file is by its bytes, never by its name: the type it is served as and the ending of its address.
//!
//! Markup that a browser would run is served as plain text: HTML and XML always, an SVG where it holds
//! anything that could run. Equal bytes are of one kind, so that they have one address.

/// Bytes of a file from which its kind is told.
pub const HEAD_BYTES: usize = 64 * 1024;
/// The largest SVG that is looked through; a larger one counts as one that could run something.
pub const SVG_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Media {
    /// MIME type.
    pub mime: &'static str,
    /// Without its dot; empty for bytes of no known kind.
    pub extension: &'static str,
    /// An SVG that is served as text because of what it holds.
    pub disarmed: bool,
}

const fn media(mime: &'static str, extension: &'static str) -> Media {
    Media { mime, extension, disarmed: false }
}

const TEXT: Media = media("text/plain; charset=utf-8", "txt");
const SVG: Media = media("image/svg+xml", "svg");
const UNKNOWN: Media = media("application/octet-stream", "");

/// Begins of files.
const MAGIC: [(&[u8], Media); 26] = [
    (b"\x89PNG\r\n\x1a\n", media("image/png", "png")),
    (b"\xff\xd8\xff", media("image/jpeg", "jpg")),
    (b"GIF87a", media("image/gif", "gif")),
    (b"GIF89a", media("image/gif", "gif")),
    (b"BM", media("image/bmp", "bmp")),
    (b"II*\0", media("image/tiff", "tif")),
    (b"MM\0*", media("image/tiff", "tif")),
    (b"\0\0\x01\0", media("image/vnd.microsoft.icon", "ico")),
    (b"\0\0\0\x0cJXL \r\n\x87\n", media("image/jxl", "jxl")),
    (b"%PDF-", media("application/pdf", "pdf")),
    (b"\x1aE\xdf\xa3", media("video/webm", "webm")),
    (b"ID3", media("audio/mpeg", "mp3")),
    (b"\xff\xfb", media("audio/mpeg", "mp3")),
    (b"\xff\xf3", media("audio/mpeg", "mp3")),
    (b"\xff\xf2", media("audio/mpeg", "mp3")),
    (b"OggS", media("audio/ogg", "ogg")),
    (b"fLaC", media("audio/flac", "flac")),
    (b"wOFF", media("font/woff", "woff")),
    (b"wOF2", media("font/woff2", "woff2")),
    (b"\0\x01\0\0\0", media("font/ttf", "ttf")),
    (b"OTTO", media("font/otf", "otf")),
    (b"\x1f\x8b", media("application/gzip", "gz")),
    (b"BZh", media("application/x-bzip2", "bz2")),
    (b"\xfd7zXZ\0", media("application/x-xz", "xz")),
    (b"7z\xbc\xaf\x27\x1c", media("application/x-7z-compressed", "7z")),
    (b"\x28\xb5\x2f\xfd", media("application/zstd", "zst")),
];

/// Reads a file's bytes as they come.
#[derive(Debug, Default)]
pub struct Sniffer {
    head: Vec<u8>,
    bytes: u64,
    /// Known once the head is whole.
    svg: Option<bool>,
}

impl Sniffer {
    /// The next bytes of the file. Only as many are kept as are looked at.
    pub fn push(&mut self, chunk: &[u8]) {
        self.bytes = self.bytes.saturating_add(chunk.len() as u64);
        let (first, rest) = chunk.split_at(chunk.len().min(HEAD_BYTES.saturating_sub(self.head.len())));
        self.head.extend_from_slice(first);
        if self.head.len() < HEAD_BYTES {
            return;
        }
        if *self.svg.get_or_insert_with(|| is_svg(&self.head)) {
            let room = SVG_BYTES_MAX.saturating_sub(self.head.len());
            self.head.extend_from_slice(rest.get(..room.min(rest.len())).unwrap_or_default());
        }
    }

    /// The kind of what was read.
    pub fn finish(self) -> Media {
        let is_whole = self.bytes == self.head.len() as u64;
        of(&self.head, is_whole)
    }
}

/// The kind of a file that begins so; `is_whole`: there is no more of it.
fn of(head: &[u8], is_whole: bool) -> Media {
    if let Some(found) = container(head) {
        return found;
    }
    if let Some((_, found)) = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)) {
        return *found;
    }
    if head.get(257..262) == Some(b"ustar".as_slice()) {
        return media("application/x-tar", "tar");
    }
    let looked_at = head.get(..HEAD_BYTES.min(head.len())).unwrap_or_default();
    let Some(text) = text_of(looked_at) else { return UNKNOWN };
    if is_svg(head) {
        return if is_whole && !could_run(head) { SVG } else { Media { disarmed: true, ..TEXT } };
    }
    let trimmed = text.trim_start_matches('\u{feff}').trim_start();
    if is_whole && trimmed.starts_with(['{', '[']) && is_json(trimmed) {
        return media("application/json", "json");
    }
    if is_csv(text) { media("text/csv; charset=utf-8", "csv") } else { TEXT }
}

/// Formats whose kind stands inside a common frame.
fn container(head: &[u8]) -> Option<Media> {
    if head.starts_with(b"RIFF") {
        return match head.get(8..12)? {
            b"WEBP" => Some(media("image/webp", "webp")),
            b"WAVE" => Some(media("audio/wav", "wav")),
            b"AVI " => Some(media("video/x-msvideo", "avi")),
            _ => None,
        };
    }
    if head.get(4..8) == Some(b"ftyp") {
        return Some(match head.get(8..12)? {
            b"avif" | b"avis" => media("image/avif", "avif"),
            b"heic" | b"heix" | b"mif1" => media("image/heic", "heic"),
            b"M4A " | b"M4B " => media("audio/mp4", "m4a"),
            b"qt  " => media("video/quicktime", "mov"),
            _ => media("video/mp4", "mp4"),
        });
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        let names = |name: &[u8]| head.windows(name.len()).any(|window| window == name);
        let kinds: [(&[u8], Media); 7] = [
            (b"mimetypeapplication/epub+zip", media("application/epub+zip", "epub")),
            (
                b"mimetypeapplication/vnd.oasis.opendocument.text",
                media("application/vnd.oasis.opendocument.text", "odt"),
            ),
            (
                b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet",
                media("application/vnd.oasis.opendocument.spreadsheet", "ods"),
            ),
            (
                b"mimetypeapplication/vnd.oasis.opendocument.presentation",
                media("application/vnd.oasis.opendocument.presentation", "odp"),
            ),
            (
                b"word/document.xml",
                media("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
            ),
            (
                b"xl/workbook.xml",
                media("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"),
            ),
            (
                b"ppt/presentation.xml",
                media("application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"),
            ),
        ];
        let found = kinds.iter().find(|(name, _)| names(name));
        return Some(found.map_or(media("application/zip", "zip"), |(_, kind)| *kind));
    }
    None
}

/// The head as text, if it is UTF-8 without control characters; a character may be cut at its end.
fn text_of(head: &[u8]) -> Option<&str> {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(head.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    let odd = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}');
    (!text.contains(odd)).then_some(text)
}

/// Whether the first element is `svg`, past a declaration, comments and a document type.
fn is_svg(head: &[u8]) -> bool {
    let Some(text) = text_of(head.get(..HEAD_BYTES.min(head.len())).unwrap_or_default()) else {
        return false;
    };
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    loop {
        let end = if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<?") {
            "?>"
        } else if rest.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("<!doctype")) {
            let declared = rest.split('>').next().unwrap_or_default();
            if declared.contains('[') { "]" } else { ">" }
        } else {
            break;
        };
        let Some((_, after)) = rest.split_once(end) else { return false };
        rest = after.trim_start().trim_start_matches('>').trim_start();
    }
    let Some(tag) = rest.strip_prefix('<') else { return false };
    let name = tag.split(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).next().unwrap_or_default();
    name.rsplit(':').next().is_some_and(|name| name.eq_ignore_ascii_case("svg"))
}

/// What may run, load another document, or hide one of these.
const RUNS: [&str; 15] = [
    "<script",
    ":script",
    "script:",
    "<foreignobject",
    ":foreignobject",
    "<iframe",
    "<embed",
    "<object",
    "<handler",
    "<!entity",
    "<?xml-stylesheet",
    "data:text/",
    "data:image/svg",
    "data:application/x",
    "xmlns=\"http://www.w3.org/1999/xhtml",
];

/// Whether anything in an SVG could run. One mark too many is told, one too few would be served.
fn could_run(svg: &[u8]) -> bool {
    let text = decode_references(&String::from_utf8_lossy(svg).to_lowercase());
    let dense: String = text.chars().filter(|c| !c.is_whitespace() && !c.is_control()).collect();
    let marks = RUNS.iter().any(|mark| text.contains(mark) || dense.contains(mark));
    marks || has_handler(&text)
}

/// Whether an attribute that begins with `on` has a value.
fn has_handler(text: &str) -> bool {
    text.match_indices("on").any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let begins = before.is_some_and(|c| c.is_whitespace() || matches!(c, '"' | '\'' | '/'));
        let after =
            text.get(at + 2..).unwrap_or_default().trim_start_matches(|c: char| c.is_ascii_alphabetic());
        begins && after.trim_start().starts_with('=')
    })
}

/// Numeric character references, resolved.
fn decode_references(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("&#") {
        out.push_str(rest.get(..at).unwrap_or_default());
        let after = rest.get(at + 2..).unwrap_or_default();
        let digits_end = after.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len());
        let (digits, tail) = after.split_at(digits_end);
        let code = match digits.strip_prefix('x') {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => digits.parse().ok(),
        };
        out.extend(code.and_then(char::from_u32).map(|c| c.to_ascii_lowercase()));
        rest = tail.strip_prefix(';').unwrap_or(tail);
    }
    out.push_str(rest);
    out
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Two lines or more, each with as many commas (outside quotes) as the first; the last may be cut.
fn is_csv(text: &str) -> bool {
    let commas = |line: &str| {
        let mut quoted = false;
        line.chars()
            .filter(|c| {
                quoted ^= *c == '"';
                *c == ',' && !quoted
            })
            .count()
    };
    let lines: Vec<&str> = text.lines().take(64).filter(|line| !line.trim().is_empty()).collect();
    let Some((first, others)) = lines.split_first() else { return false };
    let wanted = commas(first);
    let whole = others.get(..others.len().saturating_sub(usize::from(others.len() > 1))).unwrap_or_default();
    wanted > 0
        && !first.contains(['<', '{'])
        && !whole.is_empty()
        && whole.iter().all(|line| commas(line) == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(bytes: &[u8]) -> (&'static str, &'static str) {
        let mut sniffer = Sniffer::default();
        for chunk in bytes.chunks(7) {
            sniffer.push(chunk);
        }
        let found = sniffer.finish();
        (found.mime, found.extension)
    }

    #[test]
    fn bytes_tell_what_a_file_is() {
        for (bytes, wanted) in [
            (&b"\x89PNG\r\n\x1a\n...."[..], ("image/png", "png")),
            (b"\xff\xd8\xff\xe0..", ("image/jpeg", "jpg")),
            (b"RIFF\0\0\0\0WEBPVP8 ", ("image/webp", "webp")),
            (b"\0\0\0\x20ftypavif\0\0", ("image/avif", "avif")),
            (b"\0\0\0\x20ftypisom\0\0", ("video/mp4", "mp4")),
            (b"%PDF-1.7\n", ("application/pdf", "pdf")),
            (b"PK\x03\x04....mimetypeapplication/epub+zip", ("application/epub+zip", "epub")),
            (b"PK\x03\x04....hello.txt", ("application/zip", "zip")),
            (b"\x00\x01\x02\x03", ("application/octet-stream", "")),
            (b"", ("text/plain; charset=utf-8", "txt")),
            ("한국어".as_bytes(), ("text/plain; charset=utf-8", "txt")),
            (b"{\"a\": [1]}", ("application/json", "json")),
            (b"{ no json", ("text/plain; charset=utf-8", "txt")),
            (b"a,b\n1,2\n\"x,y\",3\n4,5\n", ("text/csv; charset=utf-8", "csv")),
            (b"One, two, three.\nFour, and five.\nSix.\n", ("text/plain; charset=utf-8", "txt")),
        ] {
            assert_eq!(kind(bytes), wanted, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn what_a_browser_would_run_is_plain_text() {
        let text = ("text/plain; charset=utf-8", "txt");
        for markup in [
            "<!doctype html><script>alert(1)</script>",
            "<html><body>x</body></html>",
            "<?xml version=\"1.0\"?><x:html xmlns:x=\"http://www.w3.org/1999/xhtml\"/>",
            "<svg><script>alert(1)</script></svg>",
            "<svg><SCRIPT href=\"x.js\"/></svg>",
            "<s:svg xmlns:s=\"http://www.w3.org/2000/svg\"><s:script>x</s:script></s:svg>",
            "<svg onload=\"alert(1)\"/>",
            "<svg><g\nonclick = 'x()'/></svg>",
            "<svg><a href=\"java&#x73;cript:x()\"/></svg>",
            "<svg><a href=\"java\nscript:x()\"/></svg>",
            "<svg><foreignObject><p>x</p></foreignObject></svg>",
            "<?xml-stylesheet href=\"x.xsl\" type=\"text/xsl\"?><svg/>",
            "<!DOCTYPE svg [<!ENTITY x \"<script>\">]><svg>&x;</svg>",
            "<svg><use href=\"data:image/svg+xml;base64,AA\"/></svg>",
        ] {
            assert_eq!(kind(markup.as_bytes()), text, "{markup}");
        }
        let svg = ("image/svg+xml", "svg");
        for picture in [
            "<svg xmlns=\"http://www.w3.org/2000/svg\"><circle r=\"3\"/><text>&#160;once on a time</text></svg>",
            "\u{feff}<?xml version=\"1.0\"?>\n<!-- <html> -->\n<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"x.dtd\">\n<svg/>",
        ] {
            assert_eq!(kind(picture.as_bytes()), svg, "{picture}");
        }
    }

    #[test]
    fn an_svg_is_looked_through_to_its_end_and_no_further_than_a_limit() {
        let fill = "<!-- fill -->".repeat(HEAD_BYTES / 10);
        assert_eq!(kind(format!("<svg>{fill}</svg>").as_bytes()), ("image/svg+xml", "svg"));
        let late = format!("<svg>{fill}<script/></svg>");
        assert_eq!(kind(late.as_bytes()).1, "txt");
        let huge = format!("<svg>{}</svg>", "<!-- fill -->".repeat(SVG_BYTES_MAX / 12));
        assert_eq!(kind(huge.as_bytes()).1, "txt");
    }
}
