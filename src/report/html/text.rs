//! How two texts differ, as the page draws it: hunks of lines, with the words that differ marked.

use serde_json::{Value, json};

use super::super::snippet::plain;
use crate::plan::text::{self, Fate, Line, Piece};

/// Lines that are shown of one text.
const SHOWN_LINES_MAX: usize = 400;
/// Characters that are shown of one line.
const LINE_CHARS_MAX: usize = 1_000;

/// How two texts differ.
pub(super) struct Texts {
    /// Lines that are new.
    pub added: usize,
    /// Lines that go.
    pub removed: usize,
    /// Hunks: arrays of lines. A line is a text with ` `, `-` or `+` before it, or an array of that sign
    /// and pieces, of which every second one is marked.
    pub hunks: Vec<Value>,
    /// Lines that are not shown.
    pub left_out: usize,
}

/// Compares.
pub(super) fn compare(before: &str, after: &str) -> Texts {
    let change = text::compare(before, after);
    let mut texts = Texts { added: change.added, removed: change.removed, hunks: Vec::new(), left_out: 0 };
    let mut room = SHOWN_LINES_MAX;
    for hunk in &change.hunks {
        let lines: Vec<Value> = hunk.lines.iter().take(room).map(line).collect();
        texts.left_out += hunk.lines.len() - lines.len();
        room -= lines.len();
        if !lines.is_empty() {
            texts.hunks.push(Value::Array(lines));
        }
    }
    texts
}

fn line(line: &Line) -> Value {
    let sign = match line.fate {
        Fate::Stays => " ",
        Fate::Goes => "-",
        Fate::Comes => "+",
    };
    if !line.pieces.iter().any(|piece| piece.marked) {
        let text: String = line.pieces.iter().map(|piece| piece.text.as_str()).collect();
        return json!(format!("{sign}{}", shown(&text)));
    }
    let mut out = vec![json!(sign)];
    for Piece { text, marked } in &line.pieces {
        // The pieces at even places are not marked: an empty one keeps the turn.
        if out.len().is_multiple_of(2) != *marked {
            out.push(json!(""));
        }
        out.push(json!(shown(text)));
    }
    Value::Array(out)
}

/// A line without what would turn it around, cut to what a person reads. Tabs stay.
pub(super) fn shown(line: &str) -> String {
    let cut = match line.char_indices().nth(LINE_CHARS_MAX) {
        None => line,
        Some((at, _)) => line.get(..at).unwrap_or(line),
    };
    let mut text = cut.split('\t').map(plain).collect::<Vec<String>>().join("\t");
    if cut.len() < line.len() {
        text.push_str(" …");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_differ_are_marked_on_their_side() {
        let texts = compare("one\nthe red house\nthree\n", "one\nthe blue house\nthree\n");
        assert_eq!((texts.added, texts.removed, texts.left_out), (1, 1, 0));
        assert_eq!(
            texts.hunks,
            [json!([" one", ["-", "the ", "red", " house"], ["+", "the ", "blue", " house"], " three"])]
        );
        let texts = compare("red house\n", "blue house\n");
        assert_eq!(texts.hunks, [json!([["-", "", "red", " house"], ["+", "", "blue", " house"]])]);
    }

    #[test]
    fn what_would_turn_a_line_around_is_shown_by_its_code_point() {
        let texts = compare("", "a\u{202e}b\u{1b}[31m\tc");
        assert_eq!(texts.hunks, [json!(["+a\\u{202e}b\\u{1b}[31m\tc"])]);
    }

    #[test]
    fn ten_megabytes_are_bounded() {
        let long = "word ".repeat(2 << 20);
        let texts = compare(&long, &format!("{long}more"));
        let shown = serde_json::to_string(&texts.hunks).unwrap();
        assert!(shown.len() < 10_000, "{}", shown.len());
        let lines = |word: &str| {
            (0..200_000).map(|number| format!("{word} {number}")).collect::<Vec<String>>().join("\n")
        };
        let texts = compare(&lines("line"), &lines("row"));
        assert_eq!((texts.added, texts.removed), (200_000, 200_000));
        assert_eq!(texts.hunks[0].as_array().unwrap().len(), SHOWN_LINES_MAX);
        assert_eq!(texts.left_out, 400_000 - SHOWN_LINES_MAX);
    }
}
