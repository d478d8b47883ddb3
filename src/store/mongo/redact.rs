//! Takes credentials out of every text that leaves the adapter.
//!
//! A driver's error may quote a part of the URI, decoded or not, or the `Debug` form of one. The
//! redactor knows every secret of a URI in each of these spellings.

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What stands in place of a secret.
pub const MASK: &str = "***";

/// Options of a URI whose value is a secret, in lower case.
const SECRET_OPTIONS: [&str; 3] =
    ["authmechanismproperties", "tlscertificatekeyfilepassword", "proxypassword"];

/// A secret shorter than this is masked only where it stands alone, so that a password `a` does not
/// tear every text apart.
const ANYWHERE_CHARS_MIN: usize = 4;

/// Knows the secrets of one URI.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Longest first, so that no secret leaves a piece of a longer one.
    secrets: Vec<String>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} secrets)", self.secrets.len())
    }
}

impl Redactor {
    /// Collects the secrets of a URI, whether or not it is well formed: everything between `://` and the
    /// last `@` (user and password together, and the password alone), and the values of options that
    /// hold a secret.
    pub fn of_uri(uri: &str) -> Self {
        let mut redactor = Redactor::default();
        let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest);
        if let Some((credentials, _)) = userinfo_ends(rest) {
            redactor.add(credentials);
            if let Some((_, password)) = credentials.split_once(':') {
                redactor.add(password);
                // Where a driver splits at another character than the author meant, it quotes a piece.
                for piece in password.split(['@', '/', '?', ':', '&', '=']) {
                    if piece.chars().count() >= ANYWHERE_CHARS_MIN {
                        redactor.add(piece);
                    }
                }
            }
        }
        if let Some((_, options)) = rest.split_once('?') {
            for option in options.split('&') {
                let Some((key, value)) = option.split_once('=') else { continue };
                if SECRET_OPTIONS.contains(&key.to_lowercase().as_str()) {
                    redactor.add(value);
                    let decoded = percent_decode_str(value).decode_utf8_lossy();
                    for property in decoded.split(',') {
                        if let Some((_, value)) = property.split_once(':') {
                            redactor.add(value);
                        }
                    }
                }
            }
        }
        redactor.secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        redactor.secrets.dedup();
        redactor
    }

    /// Adds a secret in every spelling that a message may show it in.
    fn add(&mut self, raw: &str) {
        let decoded = percent_decode_str(raw).decode_utf8_lossy().into_owned();
        let encoded = utf8_percent_encode(&decoded, NON_ALPHANUMERIC).to_string();
        let debug = format!("{decoded:?}");
        let debug = debug.trim_matches('"').to_owned();
        for secret in [raw.to_owned(), lower_escapes(raw), lower_escapes(&encoded), encoded, debug, decoded] {
            if !secret.is_empty() && !self.secrets.contains(&secret) {
                self.secrets.push(secret);
            }
        }
    }

    /// The text without any secret, and without the user part of any URI in it.
    pub fn text(&self, text: &str) -> String {
        let mut out = text.to_owned();
        for secret in &self.secrets {
            if out.contains(secret.as_str()) {
                out = if secret.chars().count() >= ANYWHERE_CHARS_MIN {
                    out.replace(secret.as_str(), MASK)
                } else {
                    replace_word(&out, secret)
                };
            }
        }
        without_userinfo(&out)
    }
}

/// Everything up to the last `@` that can end the credentials of a URI, and what follows it. In a
/// well-formed URI that is the last `@` before the first `/` or `?`; in one with unescaped characters the
/// last one before an option that may hold an `@` of its own.
pub(super) fn userinfo_ends(rest: &str) -> Option<(&str, &str)> {
    let authority_end = rest.find(['/', '?']).unwrap_or(rest.len());
    let authority = rest.get(..authority_end).unwrap_or("");
    if let Some(at) = authority.rfind('@') {
        // `u:p@ss/w@host/` would end too early: go on to a later one in the path.
        let path_end = rest.find('?').unwrap_or(rest.len());
        let later = rest.get(..path_end).unwrap_or("").rfind('@').unwrap_or(at);
        return Some((rest.get(..later)?, rest.get(later + 1..)?));
    }
    let at = rest.rfind('@')?;
    Some((rest.get(..at)?, rest.get(at + 1..)?))
}

/// `%2F` as `%2f`.
fn lower_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut escape = 0;
    for char in text.chars() {
        if char == '%' {
            escape = 2;
            out.push(char);
        } else if escape > 0 {
            escape -= 1;
            out.push(char.to_ascii_lowercase());
        } else {
            out.push(char);
        }
    }
    out
}

/// Replaces `word` where no letter or digit touches it.
fn replace_word(text: &str, word: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before: Option<char> = None;
    while let Some(at) = rest.find(word) {
        let (head, tail) = rest.split_at(at);
        let after = tail.get(word.len()..).unwrap_or("");
        out.push_str(head);
        let left = head.chars().next_back().or(before).is_some_and(char::is_alphanumeric);
        let right = after.chars().next().is_some_and(char::is_alphanumeric);
        out.push_str(if left || right { word } else { MASK });
        before = word.chars().next_back();
        rest = after;
    }
    out.push_str(rest);
    out
}

/// `mongodb://user:password@host` as `mongodb://host`, wherever it stands in a text.
fn without_userinfo(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (head, tail) = rest.split_at(at + "://".len());
        out.push_str(head);
        let end =
            tail.find(|char: char| char.is_whitespace() || "/?\"'".contains(char)).unwrap_or(tail.len());
        let authority = tail.get(..end).unwrap_or("");
        let host = authority.rfind('@').map_or(0, |at| at + 1);
        rest = tail.get(host..).unwrap_or("");
    }
    out.push_str(rest);
    out
}
