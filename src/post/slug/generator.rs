//! How the site generators spell the name of a file in a URL. Each follows the generator's own code;
//! the tests compare with the generators where they are installed.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

fn is_letter(character: char) -> bool {
    character.general_category_group() == GeneralCategoryGroup::Letter
}

fn is_mark(character: char) -> bool {
    character.general_category_group() == GeneralCategoryGroup::Mark
}

fn is_digit(character: char) -> bool {
    character.general_category() == GeneralCategory::DecimalNumber
}

/// A file's name in Hugo: each blank becomes `-` (`paths.NormalizePathStringBasic`) before the rest is
/// spelled as any path.
pub(super) fn hugo_name(part: &str) -> String {
    hugo(&part.replace(' ', "-"))
}

/// Hugo's `paths.Sanitize` and `strings.ToLower` (its default `disablePathToLower = false`).
pub(super) fn hugo(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    let mut hyphen_waits = false;
    let mut was_hyphen = false;
    for character in part.chars() {
        let allowed = is_letter(character)
            || is_digit(character)
            || is_mark(character)
            || matches!(character, '.' | '_' | '#' | '+' | '~' | '-' | '@' | '\\');
        if allowed {
            was_hyphen = character == '-';
            if hyphen_waits && !was_hyphen {
                out.push('-');
            }
            hyphen_waits = false;
            // Go lowers each character by itself, to one character.
            out.extend(character.to_lowercase().next());
        } else if !out.is_empty() && !was_hyphen && character.is_whitespace() {
            hyphen_waits = true;
        }
    }
    out
}

/// The `slug` crate's `slugify`, which Zola's `slugify.paths = "on"` calls.
pub(super) fn zola(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    let mut push = |byte: char| {
        if byte.is_ascii_alphanumeric() {
            out.push(byte.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    };
    for character in part.chars() {
        if character.is_ascii() {
            push(character);
        } else {
            deunicode::deunicode_char(character).unwrap_or("-").chars().for_each(&mut push);
        }
    }
    out.truncate(out.trim_end_matches('-').len());
    out
}

/// Jekyll's `Utils.slugify(mode: "pretty", cased: true)`, which fills `:title` of a permalink.
pub(super) fn jekyll(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    for character in part.chars() {
        let kept = is_letter(character)
            || is_mark(character)
            || is_digit(character)
            || matches!(
                character,
                '.' | '_' | '~' | '!' | '$' | '&' | '\'' | '(' | ')' | '+' | ',' | ';' | '=' | '@'
            );
        if kept {
            out.push(character);
        } else if !out.ends_with('-') {
            out.push('-');
        }
    }
    let trimmed = out.strip_prefix('-').unwrap_or(&out);
    trimmed.strip_suffix('-').unwrap_or(trimmed).to_owned()
}

/// `github-slugger`'s `slug`, which Astro's content collections call for each part of a path.
pub(super) fn astro(part: &str) -> String {
    part.to_lowercase()
        .chars()
        .filter_map(|character| match character {
            ' ' | '-' => Some('-'),
            _ if character.is_alphabetic()
                || is_mark(character)
                || is_digit(character)
                || character.general_category() == GeneralCategory::ConnectorPunctuation =>
            {
                Some(character)
            }
            _ => None,
        })
        .collect()
}
