//! Where the front matter of a file lies: its opening fence on line 1 and its closing fence.
//!
//! Reads no value. What is *meant* as front matter and opens in no accepted way is judged in `meant`.

use std::ops::Range;

use super::{FRONT_MATTER_BYTES_MAX, Format, json, meant};
use crate::diagnostic::Diagnostic;

/// What stands at the head of a file.
#[derive(Debug)]
pub(super) enum Head {
    /// Nothing but blanks.
    Empty,
    /// No front matter, and none was meant.
    None,
    /// Meant as front matter, and is not.
    Broken(Box<Diagnostic>),
    /// A block between two fences.
    Fenced(Block),
    /// An object of JSON from byte 0; only its reader can tell where it ends.
    Object,
}

/// The text of a block and what follows it, as bytes of the source.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Its format.
    pub(super) format: Format,
    /// The text between the fences, with its last line end.
    pub(super) text: Range<usize>,
    /// First byte after the line of the closing fence.
    pub(super) body_start: usize,
}

/// What a line that begins like a fence says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fence<'a> {
    /// A fence of this format, to be closed by the same three characters.
    Opens(Format),
    /// A fence with the name of a language which is not read: `---js`.
    Language(&'a str),
    /// A fence with other text on its line: `---title: x`.
    Text,
}

/// A line of a text: the bytes it takes without its line end, and its content.
#[derive(Debug, Clone)]
pub(super) struct Line<'a> {
    /// Bytes in the source, without the line end.
    pub(super) span: Range<usize>,
    /// Content.
    pub(super) text: &'a str,
}

/// The lines of `source` from the byte `from` on.
pub(super) fn lines(source: &str, from: usize) -> impl Iterator<Item = Line<'_>> {
    let mut start = from;
    source.get(from..).unwrap_or("").split('\n').map(move |text| {
        let span = start..start + text.len();
        start = span.end + 1;
        Line { span, text }
    })
}

/// Line of the file, from 1, that the byte at `at` lies on.
pub(super) fn line_number(source: &str, at: usize) -> usize {
    source.as_bytes().get(..at).unwrap_or(source.as_bytes()).split(|byte| *byte == b'\n').count()
}

/// Blanks that may follow a fence. A CR is one of them: files whose line ends were converted twice have
/// CR CR LF.
pub(super) fn trim_blanks_end(line: &str) -> &str {
    line.trim_end_matches([' ', '\t', '\r'])
}

/// Finds the block. Only a fence on line 1 opens one.
pub(super) fn split(source: &str) -> Head {
    if source.chars().all(|c| c.is_whitespace() || meant::is_invisible(c)) {
        return Head::Empty;
    }
    let Some(first) = lines(source, 0).next() else {
        return Head::Empty;
    };
    match fence(first.text) {
        Some(Fence::Opens(format)) => fenced(source, &first, format),
        Some(Fence::Language(name)) => Head::Broken(Box::new(unknown_language(&first, name))),
        Some(Fence::Text) => match meant::old_mac_line_ends(&first) {
            Some(diagnostic) => Head::Broken(diagnostic),
            None => Head::Broken(Box::new(text_on_fence(&first))),
        },
        None if json::opens(source) => match meant::old_mac_object(source) {
            Some(diagnostic) => Head::Broken(diagnostic),
            None => Head::Object,
        },
        None => meant::judge(source).map_or(Head::None, Head::Broken),
    }
}

/// Reads a line as an opening fence. Four and more dashes are a rule of markdown, not a fence.
pub(super) fn fence(line: &str) -> Option<Fence<'_>> {
    let (mark, rest) = line.split_at_checked(3)?;
    let default = match mark {
        "---" => Format::Yaml,
        "+++" => Format::Toml,
        _ => return None,
    };
    if mark.starts_with(|c| rest.starts_with(c)) {
        return None;
    }
    let hint = rest.trim_matches([' ', '\t', '\r']);
    let named = match hint.to_ascii_lowercase().as_str() {
        "" => default,
        "yaml" | "yml" => Format::Yaml,
        "toml" => Format::Toml,
        "json" => Format::Json,
        _ if is_language_name(hint) => return Some(Fence::Language(hint)),
        _ => return Some(Fence::Text),
    };
    // `+++yaml` would need a rule of its own for what closes it, and no generator has one.
    if mark == "+++" && named != Format::Toml {
        Some(Fence::Language(hint))
    } else {
        Some(Fence::Opens(named))
    }
}

fn is_language_name(hint: &str) -> bool {
    hint.starts_with(|c: char| c.is_ascii_alphabetic())
        && hint.chars().all(|c| c.is_ascii_alphanumeric() || "+#-_.".contains(c))
}

fn fenced(source: &str, first: &Line<'_>, format: Format) -> Head {
    let mark = first.text.get(..3).unwrap_or_default();
    let start = (first.span.end + 1).min(source.len());
    let closing = lines(source, start).find(|line| match trim_blanks_end(line.text) {
        "..." => format == Format::Yaml,
        text => text == mark,
    });
    // The rest of a source that ends with its opening line is one empty line; it closes nothing.
    let Some(closing) = closing else {
        return Head::Broken(Box::new(unclosed(source, first, mark, start)));
    };
    let text = start..closing.span.start;
    if text.len() > FRONT_MATTER_BYTES_MAX {
        return Head::Broken(Box::new(too_big(first.span.clone(), text.len())));
    }
    Head::Fenced(Block { format, text, body_start: (closing.span.end + 1).min(source.len()) })
}

/// The error for a block over [`FRONT_MATTER_BYTES_MAX`].
pub(super) fn too_big(at: Range<usize>, bytes: usize) -> Diagnostic {
    Diagnostic::error(
        "front-matter-too-big",
        format!("the front matter has {bytes} bytes; at most {FRONT_MATTER_BYTES_MAX} (256 KiB) are read"),
    )
    .at(at)
    .help("move the text into the body, or look for a missing closing line")
}

fn unclosed(source: &str, first: &Line<'_>, mark: &str, start: usize) -> Diagnostic {
    let mut block = lines(source, start).take_while(|line| !line.text.trim().is_empty());
    let near = block.find(|line| meant::is_near_fence(line.text));
    let help = match near {
        Some(line) => {
            let number = line_number(source, line.span.start);
            let shown = meant::shown(line.text);
            // An indented fence, or one with invisible characters around it.
            let blanks =
                if shown.trim_matches(|c| !mark.contains(c)) == mark { " with blanks around it" } else { "" };
            format!("line {number} is `{shown}`{blanks}, which does not close it; write `{mark}` there")
        }
        None => format!("add a line `{mark}` after the last key"),
    };
    Diagnostic::error(
        "front-matter-unclosed",
        format!("front matter opened with {mark} on line 1 is not closed: the closing line is missing"),
    )
    .at(first.span.clone())
    .help(help)
}

fn unknown_language(first: &Line<'_>, name: &str) -> Diagnostic {
    Diagnostic::error("front-matter-language", format!("front matter language \"{name}\" is not supported"))
        .at(first.span.clone())
        .help("write the keys as YAML, TOML or JSON; for YAML the fence is `---` alone on its line")
}

fn text_on_fence(first: &Line<'_>) -> Diagnostic {
    let mark = first.text.get(..3).unwrap_or_default();
    Diagnostic::error("front-matter-fence", format!("text after the opening {mark} of the front matter"))
        .at(first.span.clone())
        .help(format!("put `{mark}` on a line of its own"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::string_slice, reason = "a wrong place is a failed test")]

    use super::*;

    fn block(source: &str) -> (Format, &str, &str) {
        match split(source) {
            Head::Fenced(block) => (block.format, &source[block.text.clone()], &source[block.body_start..]),
            other => panic!("no block in {source:?}: {other:?}"),
        }
    }

    fn broken(source: &str) -> (&'static str, usize, String, String) {
        match split(source) {
            Head::Broken(diagnostic) => {
                let at = diagnostic.span.clone().expect("span").start;
                (diagnostic.code, line_number(source, at), diagnostic.message, diagnostic.help)
            }
            other => panic!("{source:?} is not broken: {other:?}"),
        }
    }

    #[test]
    fn fences_open_and_close() {
        assert_eq!(block("---\na: 1\n---\nB\n"), (Format::Yaml, "a: 1\n", "B\n"));
        assert_eq!(block("+++\na = 1\n+++\nB"), (Format::Toml, "a = 1\n", "B"));
        assert_eq!(block("---\n---"), (Format::Yaml, "", ""));
        assert_eq!(block("--- \t\na: 1\n---  \n\nB"), (Format::Yaml, "a: 1\n", "\nB"));
        assert_eq!(block("---\r\na: 1\r\n---\r\nB"), (Format::Yaml, "a: 1\r\n", "B"));
        assert_eq!(block("---\na: 1\n...\nB\n---\n"), (Format::Yaml, "a: 1\n", "B\n---\n"));
        assert_eq!(
            block("+++\na = '''\n...\n---\n'''\n+++\n"),
            (Format::Toml, "a = '''\n...\n---\n'''\n", "")
        );
    }

    #[test]
    fn only_a_whole_line_closes() {
        let source = "---\na: |\n  ---\n  x\n----\n--- b\n---\nB";
        assert_eq!(block(source).1, "a: |\n  ---\n  x\n----\n--- b\n");
    }

    #[test]
    fn the_three_hints_are_read() {
        assert_eq!(block("---yaml\na: 1\n---\n").0, Format::Yaml);
        assert_eq!(block("--- YML\na: 1\n...\n").0, Format::Yaml);
        assert_eq!(block("---toml\na = 1\n---\n"), (Format::Toml, "a = 1\n", ""));
        assert_eq!(block("---json\n{}\n---\nB"), (Format::Json, "{}\n", "B"));
        assert_eq!(block("+++ toml\na = 1\n+++\n").0, Format::Toml);
    }

    #[test]
    fn other_languages_are_refused_by_name() {
        for (line, name) in [
            ("---ts", "ts"),
            ("--- lua", "lua"),
            ("---cson", "cson"),
            ("---JavaScript ", "JavaScript"),
            ("---c++", "c++"),
            ("+++yaml", "yaml"),
            ("---title", "title"),
        ] {
            let (code, at, message, _) = broken(&format!("{line}\nx\n---\n"));
            assert_eq!((code, at), ("front-matter-language", 1));
            assert_eq!(message, format!("front matter language \"{name}\" is not supported"));
        }
    }

    #[test]
    fn text_on_the_fence_is_refused() {
        for line in ["---title: x", "--- some words", "+++ a = 1", "---{", "---한글"] {
            let (code, at, ..) = broken(&format!("{line}\na: 1\n---\n"));
            assert_eq!((code, at), ("front-matter-fence", 1), "{line}");
        }
    }

    #[test]
    fn an_unclosed_fence_is_an_error_on_line_1() {
        for source in
            ["---", "---\n", "+++\n", "---\na: 1\n\nText\n", "---toml\na = 1\n+++\n", "+++\na = 1\n...\n"]
        {
            let (code, at, message, help) = broken(source);
            assert_eq!((code, at), ("front-matter-unclosed", 1), "{source:?}");
            assert!(message.ends_with("the closing line is missing"), "{message}");
            assert!(!help.is_empty());
        }
        assert!(broken("---\na: 1\n---\u{a0}\nText\n").3.contains("with blanks around it"));
    }

    #[test]
    fn what_looks_like_the_closing_line_is_named() {
        for near in ["--", "----", "+++", " ---", "\u{2014}", "\u{2013}\u{2013}\u{2013}", "===", "***", "```"]
        {
            let (code, _, _, help) = broken(&format!("---\na: 1\n{near}\nText\n"));
            assert_eq!(code, "front-matter-unclosed");
            assert!(help.starts_with("line 3 is `"), "{near:?}: {help}");
            assert_eq!(help.contains("with blanks around it"), near == " ---", "{near:?}: {help}");
        }
    }

    #[test]
    fn a_block_has_a_size_limit() {
        let fits = format!("---\n{}\n---\n", "#".repeat(FRONT_MATTER_BYTES_MAX - 1));
        assert_eq!(block(&fits).1.len(), FRONT_MATTER_BYTES_MAX);
        let over = format!("---\n{}\n---\n", "#".repeat(FRONT_MATTER_BYTES_MAX));
        assert_eq!(broken(&over).0, "front-matter-too-big");
    }

    #[test]
    fn blank_files_are_empty() {
        for source in ["", "\n", " \n\t\n", "\u{a0}\n", "\u{feff}"] {
            assert!(matches!(split(source), Head::Empty), "{source:?}");
        }
    }
}
