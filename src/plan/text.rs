//! How two texts differ: by lines, and within lines that were edited by words.
//!
//! Pure, and the same on every machine: what is too long to compare is told as replaced, decided by
//! sizes and never by time. Words are those of Unicode (UAX 29), so that Korean, Chinese and Japanese,
//! which put few blanks or none between them, are marked as finely as English.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use unicode_segmentation::UnicodeSegmentation;

/// Lines around a change that are shown.
pub const CONTEXT_LINES: usize = 2;
/// Most lines on both sides that are compared one by one; of more, all in between counts as replaced.
pub const LINES_COMPARED_MAX: usize = 20_000;
/// Most words on both sides of an edited place that are compared one by one; of more, all in between is
/// marked.
pub const WORDS_COMPARED_MAX: usize = 4_000;
/// Of two edited texts at least this part of the words stays, or marking words would tell nothing.
const WORDS_KEPT_MIN: f32 = 0.3;

/// How two texts differ.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextChange {
    /// Lines that are new.
    pub added: usize,
    /// Lines that go.
    pub removed: usize,
    /// The places that differ, with lines around them, in order.
    pub hunks: Vec<Hunk>,
}

/// One place that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line of the old text, from 1, and how many of it.
    pub before: (usize, usize),
    /// The same of the new text.
    pub after: (usize, usize),
    /// Its lines.
    pub lines: Vec<Line>,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Stays,
    /// It goes.
    Goes,
    /// It is new.
    Comes,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What becomes of it.
    pub fate: Fate,
    /// Its text in pieces, without the line's end.
    pub pieces: Vec<Piece>,
}

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// It is what differs within an edited line.
    pub marked: bool,
}

/// Compares two texts by lines, and edited lines by words.
pub fn compare(before: &str, after: &str) -> TextChange {
    let (old, new) = (lines(before), lines(after));
    let mut out = TextChange::default();
    for group in similar::group_diff_ops(ops(&old, &new, LINES_COMPARED_MAX), CONTEXT_LINES) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let before = (first.old_range().start, last.old_range().end);
        let after = (first.new_range().start, last.new_range().end);
        let mut hunk = Hunk {
            before: (before.0 + 1, before.1 - before.0),
            after: (after.0 + 1, after.1 - after.0),
            lines: Vec::new(),
        };
        for op in &group {
            let (gone, come) = (slice(&old, op.old_range()), slice(&new, op.new_range()));
            if matches!(op, DiffOp::Equal { .. }) {
                hunk.lines.extend(gone.iter().map(|line| plain(Fate::Stays, line)));
                continue;
            }
            out.removed += gone.len();
            out.added += come.len();
            let (gone, come) = edited(gone, come);
            hunk.lines.extend(gone);
            hunk.lines.extend(come);
        }
        out.hunks.push(hunk);
    }
    out
}

/// Compares two texts of one line by words: the old one and the new one in pieces. `None` where too
/// little stays of them.
pub fn words(before: &str, after: &str) -> Option<(Vec<Piece>, Vec<Piece>)> {
    let old: Vec<&str> = before.split_word_bounds().collect();
    let new: Vec<&str> = after.split_word_bounds().collect();
    let ops = ops(&old, &new, WORDS_COMPARED_MAX);
    let is_word = |text: &&str| text.chars().any(|letter| !letter.is_whitespace());
    let kept: usize = ops
        .iter()
        .filter(|op| matches!(op, DiffOp::Equal { .. }))
        .map(|op| slice(&old, op.old_range()).iter().filter(|text| is_word(text)).count())
        .sum();
    let all = old.iter().chain(&new).filter(|text| is_word(text)).count();
    #[expect(clippy::cast_precision_loss, reason = "a share of words")]
    let share = 2.0 * kept as f32 / all.max(1) as f32;
    if share < WORDS_KEPT_MIN {
        return None;
    }
    let mut pieces = (Vec::new(), Vec::new());
    for op in &ops {
        let marked = !matches!(op, DiffOp::Equal { .. });
        push(&mut pieces.0, &slice(&old, op.old_range()).concat(), marked);
        push(&mut pieces.1, &slice(&new, op.new_range()).concat(), marked);
    }
    Some(pieces)
}

fn push(pieces: &mut Vec<Piece>, text: &str, marked: bool) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.marked == marked => last.text.push_str(text),
        _ => pieces.push(Piece { text: text.to_owned(), marked }),
    }
}

/// The lines of a text. A last line without an end is told from one with it.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn slice<T>(items: &[T], range: std::ops::Range<usize>) -> &[T] {
    items.get(range).unwrap_or(&[])
}

/// What becomes of items. What is equal at both ends costs nothing; what lies between is replaced as a
/// whole where it is more than `most`.
fn ops(old: &[&str], new: &[&str], most: usize) -> Vec<DiffOp> {
    let shorter = old.len().min(new.len());
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count().min(shorter - head);
    let (old_len, new_len) = (old.len() - tail - head, new.len() - tail - head);
    if old_len + new_len <= most {
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let equal = |old_index, new_index, len| DiffOp::Equal { old_index, new_index, len };
    let replaced = DiffOp::Replace { old_index: head, old_len, new_index: head, new_len };
    [equal(0, 0, head), replaced, equal(head + old_len, head + new_len, tail)]
        .into_iter()
        .filter(|op| !op.old_range().is_empty() || !op.new_range().is_empty())
        .collect()
}

/// The lines of an edited place, with the words marked that differ.
fn edited(gone: &[&str], come: &[&str]) -> (Vec<Line>, Vec<Line>) {
    let unmarked = || {
        (
            gone.iter().map(|line| plain(Fate::Goes, line)).collect(),
            come.iter().map(|line| plain(Fate::Comes, line)).collect(),
        )
    };
    if gone.is_empty() || come.is_empty() {
        return unmarked();
    }
    match words(&gone.concat(), &come.concat()) {
        Some((old, new)) => (in_lines(&old, Fate::Goes), in_lines(&new, Fate::Comes)),
        None => unmarked(),
    }
}

/// Pieces of a text as its lines.
fn in_lines(pieces: &[Piece], fate: Fate) -> Vec<Line> {
    let mut out = vec![Line { fate, pieces: Vec::new() }];
    for piece in pieces {
        for part in piece.text.split_inclusive('\n') {
            if let Some(line) = out.last_mut() {
                push(&mut line.pieces, part.trim_end_matches('\n'), piece.marked);
            }
            if part.ends_with('\n') {
                out.push(Line { fate, pieces: Vec::new() });
            }
        }
    }
    if pieces.last().is_some_and(|piece| piece.text.ends_with('\n')) {
        out.pop();
    }
    out
}

fn plain(fate: Fate, line: &str) -> Line {
    let mut pieces = Vec::new();
    push(&mut pieces, line.trim_end_matches('\n'), false);
    Line { fate, pieces }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(change: &TextChange) -> Vec<String> {
        let line = |line: &Line| {
            let sign = match line.fate {
                Fate::Stays => ' ',
                Fate::Goes => '-',
                Fate::Comes => '+',
            };
            let text: String = line
                .pieces
                .iter()
                .map(|piece| if piece.marked { format!("<{}>", piece.text) } else { piece.text.clone() })
                .collect();
            format!("{sign}{text}")
        };
        change.hunks.iter().flat_map(|hunk| hunk.lines.iter().map(line)).collect()
    }

    #[test]
    fn texts_are_compared_by_lines() {
        let change = compare("a\nb\nc\n", "a\nB\nc\nd\n");
        assert_eq!((change.added, change.removed), (2, 1));
        assert_eq!(told(&change), [" a", "-b", "+B", " c", "+d"]);
        assert_eq!((change.hunks[0].before, change.hunks[0].after), ((1, 3), (1, 4)));
        assert_eq!(compare("a\n", "a\n"), TextChange::default());
        assert_eq!(told(&compare("", "a")), ["+a"]);
    }

    #[test]
    fn edited_words_are_marked_in_every_script() {
        let one = |before: &str, after: &str| told(&compare(before, after));
        assert_eq!(
            one("lay them apart\n", "lay them together\n"),
            ["-lay them <apart>", "+lay them <together>"]
        );
        assert_eq!(
            one("서로 떨어뜨려 둔다.\n", "서로 붙여 둔다.\n"),
            ["-서로 <떨어뜨려> 둔다.", "+서로 <붙여> 둔다."]
        );
        assert_eq!(one("猫が寝る。\n", "犬が寝る。\n"), ["-<猫>が寝る。", "+<犬>が寝る。"]);
        assert_eq!(one("all of it\n", "nothing else\n"), ["-all of it", "+nothing else"]);
    }

    #[test]
    fn an_edit_over_several_lines_keeps_its_lines() {
        let change = compare("one two\nthree four\n", "one 2\nthree four five\n");
        assert_eq!(told(&change), ["-one <two>", "-three four", "+one <2>", "+three four< five>"]);
        let change = compare("one two", "one two\n");
        assert_eq!((change.added, change.removed), (1, 1));
    }

    #[test]
    fn what_is_too_much_is_replaced_as_a_whole() {
        let many = |from: usize| {
            (from..from + LINES_COMPARED_MAX)
                .flat_map(|n| [n.to_string(), "\n".to_owned()])
                .collect::<String>()
        };
        let (before, after) =
            (format!("a\n{}z\n", many(0)), format!("a\n{}z\n", many(LINES_COMPARED_MAX / 2)));
        let change = compare(&before, &after);
        assert_eq!((change.added, change.removed), (LINES_COMPARED_MAX, LINES_COMPARED_MAX));
        let lines = told(&change);
        assert_eq!((lines[0].as_str(), lines[lines.len() - 1].as_str()), (" a", " z"));
    }
}
