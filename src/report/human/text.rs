//! Text that changed, as a person reads it: unified hunks with the edited words marked, and values of
//! fields. In colour the style marks a word; without colour `[-…-]` and `{+…+}` do.

use anstyle::Style;
use bson::Bson;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::super::paint::{COMES_MARKED, FAINT, GOES_MARKED, GONE, HELP, NEW, Paint};
use super::super::snippet::plain;
use crate::plan::text::{self, Fate, Hunk, Line, Piece, TextChange};

/// Most lines of one text's difference that are shown without more verbosity.
const LINES_MAX: usize = 60;
/// Most lines with it.
const LINES_VERBOSE_MAX: usize = 5_000;
/// Longest stretch of an edited line that stays, in characters; of more its ends are shown.
const STRETCH_CHARS_MAX: usize = 160;
/// Longest line that is shown whole, in characters.
const LINE_CHARS_MAX: usize = 1_000;
/// Most items of a list that are told.
const ITEMS_MAX: usize = 20;
/// Columns of a value that is shown whole.
const VALUE_COLUMNS_MAX: usize = 60;
/// Columns of a value that are shown at least.
const VALUE_COLUMNS_MIN: usize = 8;

/// How texts are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Texts {
    pub(super) paint: Paint,
    pub(super) verbose: u8,
    /// Columns of the terminal, if it is one.
    pub(super) columns: Option<usize>,
}

impl Texts {
    /// The hunks of a text, each line after `indent`.
    pub(super) fn hunks(&self, change: &TextChange, indent: &str, out: &mut String) {
        let most = if self.verbose > 0 { LINES_VERBOSE_MAX } else { LINES_MAX };
        let all: usize = change.hunks.iter().map(|hunk| hunk.lines.len() + 1).sum();
        let mut left = most;
        for hunk in &change.hunks {
            let Some(rest) = left.checked_sub(1) else { break };
            out.push_str(&format!("{indent}{}\n", self.paint.style(HELP, head(hunk))));
            hunk.lines.iter().take(rest).for_each(|line| self.line(line, indent, out));
            left = rest.saturating_sub(hunk.lines.len());
        }
        if all > most {
            let more = if self.verbose > 0 { "" } else { "; -v shows them" };
            out.push_str(&format!("{indent}… {} more lines{more}\n", all - most));
        }
    }

    fn line(&self, line: &Line, indent: &str, out: &mut String) {
        let (sign, style) = match line.fate {
            Fate::Stays => (' ', Style::new()),
            Fate::Goes => ('-', GONE),
            Fate::Comes => ('+', NEW),
        };
        let text = self.pieces(&line.pieces, line.fate);
        if text.is_empty() && line.fate == Fate::Stays {
            out.push('\n');
            return;
        }
        out.push_str(&format!("{indent}{}{text}\n", self.paint.style(style, sign)));
    }

    /// The pieces of a line, marked ones as such, long ones without their middle.
    fn pieces(&self, pieces: &[Piece], fate: Fate) -> String {
        let (style, marked, open, close) = match fate {
            Fate::Stays => (Style::new(), Style::new(), "", ""),
            Fate::Goes => (GONE, GOES_MARKED, "[-", "-]"),
            Fate::Comes => (NEW, COMES_MARKED, "{+", "+}"),
        };
        let some_marked = pieces.iter().any(|piece| piece.marked);
        let one = |(at, piece): (usize, &Piece)| {
            if piece.marked {
                let text = plain(&middle_out(&piece.text, LINE_CHARS_MAX));
                if self.paint.is_on() {
                    return self.paint.style(marked, text);
                }
                return format!("{open}{text}{close}");
            }
            let most = if some_marked { STRETCH_CHARS_MAX } else { LINE_CHARS_MAX };
            let text = match (some_marked, at) {
                // Before the first mark its end tells where one is, after the last one its beginning.
                (true, 0) => front_out(&piece.text, most),
                _ => middle_out(&piece.text, most),
            };
            self.paint.style(style, plain(&text))
        };
        pieces.iter().enumerate().map(one).collect()
    }

    /// What a field was and is, on one line.
    pub(super) fn values(&self, before: Option<&Bson>, after: Option<&Bson>, used: usize) -> String {
        if let (Some(Bson::String(before)), Some(Bson::String(after))) = (before, after)
            && before.width().max(after.width()) > self.value_columns(used) / 2
            && let Some((old, new)) = text::words(before, after)
        {
            return format!("{} → {}", self.pieces(&old, Fate::Goes), self.pieces(&new, Fate::Comes));
        }
        if let (Some(Bson::Array(before)), Some(Bson::Array(after))) = (before, after)
            && let Some(told) = self.items(before, after, used)
        {
            return told;
        }
        let told = |value: Option<&Bson>, style| match value {
            Some(value) => self.paint.style(style, short(value, self.value_columns(used))),
            None => self.paint.style(FAINT, "absent"),
        };
        format!("{} → {}", told(before, GONE), told(after, NEW))
    }

    /// What goes from a list and what comes to it; `None` where only their order or number differs.
    fn items(&self, before: &[Bson], after: &[Bson], used: usize) -> Option<String> {
        let most = self.value_columns(used);
        let gone = before.iter().filter(|item| !after.contains(item));
        let come = after.iter().filter(|item| !before.contains(item));
        let told: Vec<String> = gone
            .map(|item| self.paint.style(GONE, format!("−{}", short(item, most))))
            .chain(come.map(|item| self.paint.style(NEW, format!("+{}", short(item, most)))))
            .collect();
        match told.len() {
            0 => None,
            number if number > ITEMS_MAX => {
                let first = told.get(..ITEMS_MAX).unwrap_or_default().join(" ");
                Some(format!("{first} and {} more", number - ITEMS_MAX))
            }
            _ => Some(told.join(" ")),
        }
    }

    fn value_columns(&self, used: usize) -> usize {
        let room = self.columns.map_or(VALUE_COLUMNS_MAX, |columns| columns.saturating_sub(used) / 2);
        room.clamp(VALUE_COLUMNS_MIN, VALUE_COLUMNS_MAX)
    }
}

fn head(hunk: &Hunk) -> String {
    format!("@@ -{},{} +{},{} @@", hunk.before.0, hunk.before.1, hunk.after.0, hunk.after.1)
}

/// A value on one line, cut to columns.
pub(super) fn short(value: &Bson, columns: usize) -> String {
    let text = match value {
        Bson::DateTime(date) => date.try_to_rfc3339_string().unwrap_or_else(|_| date.to_string()),
        // What is cut anyway is not copied whole.
        Bson::String(text) => {
            let start: String = text.chars().take(columns.saturating_mul(4)).collect();
            serde_json::Value::String(start).to_string()
        }
        other => other.clone().into_relaxed_extjson().to_string(),
    };
    cut(&plain(&text), columns)
}

/// A text of at most so many columns; what is cut off is told by `…`.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for cluster in text.graphemes(true) {
        let width = cluster.width();
        if used + width + 1 > columns {
            break;
        }
        used += width;
        out.push_str(cluster);
    }
    out.push('…');
    out
}

fn middle_out(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(length - half).collect();
    format!("{start}…{end}")
}

fn front_out(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    format!("…{}", text.chars().skip(length - most).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(paint: Paint, columns: Option<usize>) -> Texts {
        Texts { paint, verbose: 0, columns }
    }

    fn hunks(before: &str, after: &str, paint: Paint) -> String {
        let mut out = String::new();
        texts(paint, None).hunks(&text::compare(before, after), "  ", &mut out);
        out
    }

    #[test]
    fn words_are_marked_by_signs_or_by_colour() {
        let plain = hunks("서로 떨어뜨려 둔다.\n", "서로 붙여 둔다.\n", Paint::OFF);
        assert_eq!(plain, "  @@ -1,1 +1,1 @@\n  -서로 [-떨어뜨려-] 둔다.\n  +서로 {+붙여+} 둔다.\n");
        let colour = hunks("a b c\n", "a x c\n", Paint::ON);
        assert!(colour.contains('\u{1b}') && !colour.contains("[-") && !colour.contains("{+"), "{colour:?}");
    }

    #[test]
    fn a_terminal_gets_no_command_of_a_text() {
        let told = hunks("a \u{1b}[2J b\r\n", "a \u{202e} c\u{9b}\n", Paint::OFF);
        assert!(!told.chars().any(|letter| letter.is_control() && letter != '\n'), "{told:?}");
        assert!(!told.contains('\u{202e}'));
    }

    #[test]
    fn a_long_line_shows_what_differs_in_it() {
        let long = "말 ".repeat(5000);
        let told = hunks(&format!("{long}old {long}\n"), &format!("{long}new {long}\n"), Paint::OFF);
        assert!(told.len() < 6000, "{}", told.len());
        let small = "말 ".repeat(500);
        let told = hunks(&format!("{small}old {small}\n"), &format!("{small}new {small}\n"), Paint::OFF);
        assert!(told.contains("[-old-]") && told.contains("{+new+}") && told.len() < 2000, "{told}");
    }

    #[test]
    fn values_are_cut_to_columns_not_to_characters() {
        assert_eq!(cut("사과 두기", 9), "사과 두기");
        assert_eq!(cut("사과 두기", 8), "사과 두…");
        assert_eq!(cut("사과 두기", 6), "사과 …");
        let told = texts(Paint::OFF, Some(20)).values(Some(&Bson::from("가나다라마바사")), None, 5);
        assert_eq!(told, "\"가나다… → absent");
        let list =
            |items: &[&str]| Bson::from(items.iter().map(|item| Bson::from(*item)).collect::<Vec<Bson>>());
        let told = texts(Paint::OFF, None).values(Some(&list(&["a", "b"])), Some(&list(&["b", "c"])), 5);
        assert_eq!(told, "−\"a\" +\"c\"");
        let told = texts(Paint::OFF, None).values(Some(&list(&["a", "b"])), Some(&list(&["b", "a"])), 5);
        assert_eq!(told, "[\"a\",\"b\"] → [\"b\",\"a\"]");
    }
}
