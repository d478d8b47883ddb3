//! One diagnostic as a person reads it: code, place, the source line with the place marked, and help.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::paint::{ERROR, FAINT, HELP, Paint, STRONG, WARNING};
use super::with_root;
use crate::diagnostic::{Diagnostic, Severity, SourceLine};

/// Columns that a tab takes.
const TAB_COLUMNS: usize = 4;

/// The text of a diagnostic, with its line ends.
pub fn snippet(diagnostic: &Diagnostic, root: &str, paint: Paint) -> String {
    let style = match diagnostic.severity {
        Severity::Error => ERROR,
        Severity::Warning => WARNING,
    };
    let head = format!("{}[{}]", diagnostic.severity.as_str(), diagnostic.code);
    let mut out = format!(
        "{}{}\n",
        paint.style(style, head),
        paint.style(STRONG, format!(": {}", plain(&diagnostic.message)))
    );
    let number = diagnostic.line.map(|line| line.to_string()).unwrap_or_default();
    let gutter = " ".repeat(number.len().max(1));
    if !diagnostic.file.is_empty() {
        out.push_str(&format!("{gutter}{} {}\n", paint.style(FAINT, "-->"), place(diagnostic, root)));
    }
    if let Some(line) = &diagnostic.source_line {
        let bar = paint.style(FAINT, "|");
        let (text, before, marked) = marked(line);
        out.push_str(&format!("{gutter} {bar}\n"));
        out.push_str(&format!("{} {bar} {text}\n", paint.style(FAINT, &number)).replace(" \n", "\n"));
        let carets = paint.style(style, "^".repeat(marked));
        out.push_str(&format!("{gutter} {bar} {}{carets}\n", " ".repeat(before)));
    }
    if !diagnostic.help.is_empty() {
        for (at, line) in diagnostic.help.lines().enumerate() {
            let lead = if at == 0 { "help:" } else { "     " };
            out.push_str(&format!("{gutter} {} {}\n", paint.style(HELP, format!("= {lead}")), plain(line)));
        }
    }
    out
}

/// `content/ko/a.md:3:7`, as far as it is known.
pub fn place(diagnostic: &Diagnostic, root: &str) -> String {
    let file = plain(&with_root(root, &diagnostic.file));
    match (diagnostic.line, diagnostic.column) {
        (Some(line), Some(column)) => format!("{file}:{line}:{column}"),
        (Some(line), None) => format!("{file}:{line}"),
        _ => file,
    }
}

/// The line as it is shown, and how many columns stand before the marked part and in it. A terminal
/// shows Hangul, kana and Han characters two columns wide, and a combining mark with the letter before.
fn marked(line: &SourceLine) -> (String, usize, usize) {
    let byte_of = |characters: usize| {
        line.text.char_indices().nth(characters).map_or(line.text.len(), |(byte, _)| byte)
    };
    let (start, end) = (byte_of(line.start), byte_of(line.start.saturating_add(line.width)));
    let (mut shown, mut before, mut marked) = (String::new(), 0, 0);
    for (byte, cluster) in line.text.grapheme_indices(true) {
        let text = shown_as(cluster);
        let columns = text.width();
        // A cluster that the mark begins inside of is marked whole.
        if byte + cluster.len() <= start {
            before += columns;
        } else if byte < end {
            marked += columns;
        }
        shown.push_str(&text);
    }
    (shown, before, marked.max(1))
}

fn shown_as(cluster: &str) -> String {
    if cluster == "\t" { " ".repeat(TAB_COLUMNS) } else { plain(cluster) }
}

/// Text without what would move the cursor or turn the line around: control characters and
/// bidirectional controls are shown by their code points.
pub fn plain(text: &str) -> String {
    let hidden = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            || matches!(letter, '\u{00ad}' | '\u{feff}' | '\u{2028}' | '\u{2029}')
    };
    if !text.contains(hidden) {
        return text.to_owned();
    }
    text.chars()
        .map(|letter| if hidden(letter) { letter.escape_unicode().to_string() } else { letter.to_string() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(source: &str, span: std::ops::Range<usize>) -> Diagnostic {
        let mut diagnostic = Diagnostic::error("bad-date", "there is no month 13")
            .at(span)
            .help("write 2024-12-01")
            .in_file("ko/a.md");
        diagnostic.locate(source);
        diagnostic
    }

    #[test]
    fn the_place_is_marked_below() {
        let source = "---\ndate: 2024-13-01\n---\n";
        assert_eq!(
            snippet(&located(source, 10..20), "content", Paint::OFF),
            "error[bad-date]: there is no month 13\n \
             --> content/ko/a.md:2:7\n  |\n2 | date: 2024-13-01\n  |       ^^^^^^^^^^\n  = help: write 2024-12-01\n"
        );
    }

    #[test]
    fn carets_stand_below_wide_characters() {
        for (line, mark, before, carets) in [
            ("날짜: 어제", "어제", 6, 4),
            ("\ttitle: x", "title", 4, 5),
            ("e\u{301}te: x", "x", 5, 1),
            ("한글: y", "y", 6, 1),
            ("タイトル", "イ", 2, 2),
            ("a\u{202e}b: c", "c", 12, 1),
        ] {
            let at = line.find(mark).unwrap();
            let text = snippet(&located(line, at..at + mark.len()), "", Paint::OFF);
            let caret_line = text.lines().find(|line| line.contains('^')).unwrap();
            assert_eq!(caret_line, format!("  | {}{}", " ".repeat(before), "^".repeat(carets)), "{text}");
        }
    }

    #[test]
    fn an_empty_place_and_the_end_of_the_file_are_marked_too() {
        let text = snippet(&located("title: a", 8..8), "", Paint::OFF);
        assert!(text.contains("1 | title: a\n  |         ^\n"), "{text}");
        assert!(snippet(&located("", 0..0), "", Paint::OFF).contains("1 |\n  | ^\n"));
    }

    #[test]
    fn nothing_in_a_file_reaches_the_terminal_as_a_command() {
        let text = snippet(&located("a: \u{1b}[2Jx\r", 0..1), "", Paint::OFF);
        assert!(!text.contains('\u{1b}') && !text.contains('\r'), "{text:?}");
    }

    #[test]
    fn without_a_place_there_is_no_line() {
        let diagnostic = Diagnostic::warning("w", "something").in_file("a.md");
        assert_eq!(snippet(&diagnostic, ".", Paint::OFF), "warning[w]: something\n --> a.md\n");
    }
}
