//! YAML front matter: events → arena → tree.
//!
//! `compose` turns the parser's events into an arena in which an alias is a reference, and counts what each
//! reference stands for; `expand` makes the tree, within that budget, and merges `<<`. `schema` tells
//! what a scalar is, `syntax` what to do about an error of the parser.
//!
//! After a syntax error the entry that holds it is blanked and the block is read again, so that the
//! other mistakes of the file are told as well. It is never guessed what the broken entry meant.

mod compose;
mod expand;
mod schema;
mod syntax;

use std::borrow::Cow;
use std::ops::Range;

use super::Entry;
use super::meant::key_of;
use super::problems::Problems;
use super::split::lines;

/// Most syntax errors that are told of one block.
const SYNTAX_ERRORS_MAX: usize = 8;
/// Most aliases in one block.
const ALIASES_MAX: usize = 100;
/// Most values that the aliases of one block may stand for, together.
const ALIAS_NODES_MAX: usize = 10_000;
/// Most text that the aliases of one block may stand for, in bytes.
const ALIAS_TEXT_BYTES_MAX: usize = 1024 * 1024;

/// Reads the text at `range` of `source`.
pub(super) fn read(source: &str, range: Range<usize>, problems: &mut Problems) -> Vec<Entry> {
    let mut text = Cow::Borrowed(source.get(range.clone()).unwrap_or(""));
    let mut syntax_errors = 0;
    loop {
        let mut arena = compose::compose(&text, range.start);
        let fault = arena.error.take().map(|error| syntax::explain(&text, &error));
        let again = fault.as_ref().and_then(|fault| {
            syntax_errors += 1;
            problems.tell(|| fault.diagnostic(range.start));
            fault.lines.clone().filter(|_| syntax_errors < SYNTAX_ERRORS_MAX)
        });
        let Some(faulty) = again else {
            problems.append(std::mem::take(&mut arena.problems));
            return expand::expand(&arena, source, problems);
        };
        text = Cow::Owned(blanked(&text, faulty));
    }
}

/// `text` with blanks in place of every byte of `range` that ends no line: all other places stay.
fn blanked(text: &str, range: Range<usize>) -> String {
    let (head, rest) = text.split_at_checked(range.start).unwrap_or((text, ""));
    let (faulty, tail) = rest.split_at_checked(range.len()).unwrap_or((rest, ""));
    let mut blanked = String::with_capacity(text.len());
    blanked.push_str(head);
    blanked.extend(faulty.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
    blanked.push_str(tail);
    blanked
}

/// The lines of the entry at the first column that the byte `at` lies in; `None` where no key leads.
fn entry_at(text: &str, at: usize) -> Option<Range<usize>> {
    let mut entry: Option<Range<usize>> = None;
    for line in lines(text, 0) {
        let leads = line.text.starts_with(|c: char| !c.is_whitespace() && c != '#');
        if leads && line.span.start > at {
            break;
        }
        if leads {
            // A line of the first column that is no key (prose, a stray fence) belongs to no entry.
            let keyed = key_of(line.text).is_some_and(|(_, separator)| separator == ':');
            let goes_on = line.text.starts_with(['-', ']', '}']) && entry.is_some();
            if keyed {
                entry = Some(line.span.clone());
            } else if !goes_on {
                entry = None;
            }
        }
        if let Some(entry) = &mut entry {
            entry.end = line.span.end;
        }
    }
    entry
}
