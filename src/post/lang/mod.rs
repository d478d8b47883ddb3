//! Languages: canonical BCP 47.
//!
//! A tag that is well-formed and begins with two or three letters is kept, known to the registry or
//! not. It is spelled in one way (RFC 5646, 2.1.1 and 4.5): case by kind of part, extensions in order
//! of their letter, `u` keywords in order of their key. Codes are never replaced by newer ones, since
//! that would change ids: [`Lang::replaced_by`] tells what to warn of.

mod codes;

use std::fmt;

use oxilangtag::LanguageTag;

use super::slug::shown;

/// Longest language tag, in bytes.
pub const LANG_BYTES_MAX: usize = 64;

/// A canonical BCP 47 language tag (`ko`, `en-US`, `zh-Hant-TW`). Holds no `:`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lang(String);

impl Lang {
    /// Reads a tag in any case and with `_` or `-`, and makes it canonical. Nothing is trimmed. The
    /// error says what is wrong; [`meant`] tells what to write instead. Replaced codes (`iw`, `in`)
    /// are kept.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("the language is empty".to_owned());
        }
        let refuse = |why: &str| Err(format!("\"{}\" is not a language tag: {why}", shown(text)));
        if text.trim() != text {
            return refuse("blanks stand around it");
        }
        if text.len() > LANG_BYTES_MAX {
            return refuse(&format!("it has more than {LANG_BYTES_MAX} bytes"));
        }
        let hyphened = text.replace('_', "-");
        let first = hyphened.split('-').next().unwrap_or("");
        if !first.chars().all(|letter| letter.is_ascii_alphabetic()) {
            return refuse("its first part is not of the letters a to z");
        }
        if !(2..=3).contains(&first.len()) {
            return refuse(&match first.len() {
                1 => "its first part is one letter, not two or three".to_owned(),
                count => format!("its first part has {count} letters, not two or three"),
            });
        }
        match LanguageTag::parse_and_normalize(&hyphened) {
            Ok(tag) => canonical(&tag.into_inner()).map(Lang).or_else(|why| refuse(&why)),
            Err(error) => refuse(&lowered(&error.to_string())),
        }
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The tag that has taken the place of this one (`iw-IL`: `he-IL`), for a warning; the tag itself
    /// is kept, as the id is made from it.
    pub fn replaced_by(&self) -> Option<String> {
        if let Some(whole) = codes::replaced_tag(&self.0) {
            return Some(whole.to_owned());
        }
        let (first, rest) = self.0.split_once('-').unwrap_or((&self.0, ""));
        let newer = codes::replaced_code(first)?;
        Some(if rest.is_empty() { newer.to_owned() } else { format!("{newer}-{rest}") })
    }

    /// The code that is likely meant where this one is a country's or no language's (`kr`: `ko`), for
    /// a message. A tag is never changed to it.
    pub fn likely_meant(&self) -> Option<&'static str> {
        meant(&self.0)
    }
}

impl fmt::Display for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The code that `text` likely means, where it is a country's code, a language's name or a code of
/// three letters: `kr`, `korean`, `한국어` and `kor` are `ko`.
pub fn meant(text: &str) -> Option<&'static str> {
    codes::meant(&text.trim().to_lowercase().replace('_', "-"))
}

/// Orders what BCP 47 leaves free and refuses what it forbids beyond its grammar: a variant or an
/// extension's letter that comes twice.
fn canonical(tag: &str) -> Result<String, String> {
    let parts: Vec<&str> = tag.split('-').collect();
    let extensions_start = parts.iter().position(|part| part.len() == 1).unwrap_or(parts.len());
    let (main, rest) = parts.split_at_checked(extensions_start).unwrap_or((&parts, &[]));
    // A variant is a part of five and more letters, or of four that begins with a digit.
    let mut variants: Vec<&&str> = main
        .iter()
        .skip(1)
        .filter(|part| part.len() > 4 || (part.len() == 4 && part.starts_with(|c: char| c.is_ascii_digit())))
        .collect();
    variants.sort();
    if let Some(twice) =
        variants.windows(2).find_map(|pair| (pair.first() == pair.last()).then(|| pair.first()))
    {
        return Err(format!("{} comes twice in it", twice.map_or("a variant", |part| part)));
    }
    let private_start = rest.iter().position(|part| *part == "x").unwrap_or(rest.len());
    let (extensions, private) = rest.split_at_checked(private_start).unwrap_or((rest, &[]));
    let mut groups: Vec<Vec<&str>> = Vec::new();
    for part in extensions {
        match groups.last_mut() {
            Some(group) if part.len() > 1 => group.push(part),
            _ => groups.push(vec![part]),
        }
    }
    groups.sort_by_key(|group| group.first().copied());
    if groups
        .windows(2)
        .any(|pair| pair.first().and_then(|g| g.first()) == pair.last().and_then(|g| g.first()))
    {
        return Err("one letter begins two of its extensions".to_owned());
    }
    let mut out: Vec<&str> = main.to_vec();
    for group in groups {
        match group.split_first() {
            Some((&"u", rest)) => {
                out.push("u");
                out.extend(unicode_extension(rest));
            }
            _ => out.extend(group),
        }
    }
    out.extend(private);
    Ok(out.join("-"))
}

/// The parts of a `u` extension in canonical order (RFC 6067, 2.1.1): attributes, then keywords by key;
/// of two keywords with one key the first holds.
fn unicode_extension<'a>(parts: &[&'a str]) -> Vec<&'a str> {
    let keys_start = parts.iter().position(|part| part.len() == 2).unwrap_or(parts.len());
    let (attributes, keywords) = parts.split_at_checked(keys_start).unwrap_or((parts, &[]));
    let mut attributes = attributes.to_vec();
    attributes.sort_unstable();
    attributes.dedup();
    let mut keys: std::collections::BTreeMap<&str, Vec<&str>> = std::collections::BTreeMap::new();
    let mut current: Option<(&str, Vec<&str>)> = None;
    for part in keywords {
        if part.len() == 2 {
            if let Some((key, values)) = current.replace((part, Vec::new())) {
                keys.entry(key).or_insert(values);
            }
        } else if let Some((_, values)) = current.as_mut() {
            values.push(part);
        }
    }
    if let Some((key, values)) = current {
        keys.entry(key).or_insert(values);
    }
    for (key, values) in keys {
        attributes.push(key);
        attributes.extend(values);
    }
    attributes
}

fn lowered(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
