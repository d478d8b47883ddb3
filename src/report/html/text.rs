//! Two texts as hunks of lines, with the words that differ marked.
//!
//! What is compared is bounded, by size and never by time: two equal runs give equal bytes. Past a bound
//! the middle of the two texts counts as replaced, which is true, if less fine.

use serde_json::{Value, json};
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};
use unicode_segmentation::UnicodeSegmentation;

use super::super::snippet::plain;

/// Lines around a change that are shown.
const CONTEXT_LINES: usize = 3;
/// Lines of one text that are compared one by one; beyond, the middle counts as replaced.
const COMPARED_LINES_MAX: usize = 6_000;
/// Lines that are shown of one text.
const SHOWN_LINES_MAX: usize = 400;
/// Characters that are shown of one line.
const LINE_CHARS_MAX: usize = 1_000;
/// Bytes of replaced lines whose words are compared.
const WORDS_BYTES_MAX: usize = 8 << 10;

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
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let ops = line_ops(&before, &after);
    let mut texts = Texts { added: 0, removed: 0, hunks: Vec::new(), left_out: 0 };
    let mut room = SHOWN_LINES_MAX;
    for group in group_diff_ops(ops, CONTEXT_LINES) {
        let mut lines = Vec::new();
        for op in &group {
            op_lines(op, &before, &after, &mut texts, &mut lines);
        }
        let shown = lines.len().min(room);
        texts.left_out += lines.len() - shown;
        room -= shown;
        lines.truncate(shown);
        if !lines.is_empty() {
            texts.hunks.push(Value::Array(lines));
        }
    }
    texts
}

/// The operations between two lists of lines: equal ends first, the middle by comparing.
fn line_ops(before: &[&str], after: &[&str]) -> Vec<DiffOp> {
    if before.len() + after.len() <= COMPARED_LINES_MAX {
        return capture_diff_slices(Algorithm::Myers, before, after);
    }
    let head = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let rest = |lines: &[&str]| lines.len() - head;
    let tail = before
        .iter()
        .rev()
        .zip(after.iter().rev())
        .take(rest(before).min(rest(after)))
        .take_while(|(one, other)| one == other)
        .count();
    let (old_len, new_len) = (rest(before) - tail, rest(after) - tail);
    let mut ops = vec![DiffOp::Equal { old_index: 0, new_index: 0, len: head }];
    ops.push(DiffOp::Replace { old_index: head, old_len, new_index: head, new_len });
    ops.push(DiffOp::Equal { old_index: head + old_len, new_index: head + new_len, len: tail });
    ops.retain(|op| !op.old_range().is_empty() || !op.new_range().is_empty());
    ops
}

fn op_lines(op: &DiffOp, before: &[&str], after: &[&str], texts: &mut Texts, out: &mut Vec<Value>) {
    let old = before.get(op.old_range()).unwrap_or_default();
    let new = after.get(op.new_range()).unwrap_or_default();
    if matches!(op, DiffOp::Equal { .. }) {
        out.extend(old.iter().map(|line| line_value(" ", line)));
        return;
    }
    texts.removed += old.len();
    texts.added += new.len();
    let bytes: usize = old.iter().chain(new).map(|line| line.len()).sum();
    if old.is_empty() || new.is_empty() || bytes > WORDS_BYTES_MAX {
        out.extend(old.iter().map(|line| line_value("-", line)));
        out.extend(new.iter().map(|line| line_value("+", line)));
        return;
    }
    let (old, new) = (old.join("\n"), new.join("\n"));
    let old: Vec<&str> = old.split_word_bounds().collect();
    let new: Vec<&str> = new.split_word_bounds().collect();
    let (mut left, mut right) = (Marked::new(), Marked::new());
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let differs = !matches!(op, DiffOp::Equal { .. });
        left.push(old.get(op.old_range()).unwrap_or_default(), differs);
        right.push(new.get(op.new_range()).unwrap_or_default(), differs);
    }
    out.extend(left.values("-"));
    out.extend(right.values("+"));
}

/// One side of compared words as lines of pieces, those at odd places marked.
struct Marked(Vec<Vec<String>>);

impl Marked {
    fn new() -> Self {
        Marked(vec![vec![String::new()]])
    }

    fn push(&mut self, words: &[&str], marked: bool) {
        for (at, piece) in words.concat().split('\n').enumerate() {
            if at > 0 {
                self.0.push(vec![String::new()]);
            }
            if let Some(line) = self.0.last_mut().filter(|_| !piece.is_empty()) {
                push_piece(line, piece, marked);
            }
        }
    }

    fn values(&self, sign: &str) -> Vec<Value> {
        self.0.iter().map(|pieces| pieces_value(sign, pieces)).collect()
    }
}

/// Appends to the last piece, or begins another one. Pieces at even places are not marked.
fn push_piece(line: &mut Vec<String>, piece: &str, marked: bool) {
    if line.len().is_multiple_of(2) != marked {
        line.push(String::new());
    }
    if let Some(last) = line.last_mut() {
        last.push_str(piece);
    }
}

fn line_value(sign: &str, line: &str) -> Value {
    json!(format!("{sign}{}", shown(line)))
}

fn pieces_value(sign: &str, pieces: &[String]) -> Value {
    if let [only] = pieces {
        return line_value(sign, only);
    }
    let mut out = vec![json!(sign)];
    out.extend(pieces.iter().map(|piece| json!(shown(piece))));
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
    }

    #[test]
    fn words_of_korean_and_marks_over_lines_stay_in_their_lines() {
        let texts = compare("사과를 서로\n떨어뜨려 둔다.", "배를 서로\n붙여 둔다.");
        let lines = texts.hunks[0].as_array().unwrap();
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines.iter().all(Value::is_array), "{lines:?}");
        let text: String = lines[0].as_array().unwrap().iter().map(|piece| piece.as_str().unwrap()).collect();
        assert_eq!(text, "-사과를 서로");
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
        let (before, after) = (lines("line"), lines("row"));
        let started = std::time::Instant::now();
        let texts = compare(&before, &after);
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
        assert_eq!((texts.added, texts.removed), (200_000, 200_000));
        assert_eq!(texts.hunks[0].as_array().unwrap().len(), SHOWN_LINES_MAX);
        assert_eq!(texts.left_out, 400_000 - SHOWN_LINES_MAX);
    }
}
