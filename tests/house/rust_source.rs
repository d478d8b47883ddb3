//! Just enough of Rust's grammar to ask a source file what it refers to: comments, literals and test
//! modules are taken out, `use` trees are spelled out, `self` and `super` are resolved.
//!
//! It is no compiler. A name that a macro puts together, or that comes in through a glob import, is not seen.

use std::fs;
use std::path::{Path, PathBuf};

/// One file of `src/`.
pub struct RustFile {
    /// Path below the package with `/`.
    pub path: String,
    /// Its module, for example `["post", "date"]`; empty for `lib.rs` and `main.rs`.
    pub module: Vec<String>,
    /// The text as it is.
    pub text: String,
}

/// One path that a file names, outside its tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its parts; one of this package begins with `crate`.
    pub parts: Vec<String>,
    /// Line in the file, from 1.
    pub line: usize,
}

/// All files of `src/`, sorted by path; files that are only tests are left out.
pub fn all(package: &Path) -> Vec<RustFile> {
    let mut found = Vec::new();
    collect(&package.join("src"), &mut found);
    found.sort();
    found
        .into_iter()
        .map(|file| {
            let path = file.strip_prefix(package).unwrap().to_string_lossy().replace('\\', "/");
            RustFile::new(&path, &fs::read_to_string(&file).unwrap())
        })
        .filter(|file| !file.is_test())
        .collect()
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

impl RustFile {
    /// A file by its path below the package.
    pub fn new(path: &str, text: &str) -> Self {
        let inner = path.trim_start_matches("src/").trim_end_matches(".rs");
        let module = inner
            .split('/')
            .filter(|part| !matches!(*part, "mod" | "lib" | "main"))
            .map(str::to_owned)
            .collect();
        RustFile { path: path.to_owned(), module, text: text.to_owned() }
    }

    fn is_test(&self) -> bool {
        self.module.iter().any(|part| part == "tests" || part.ends_with("_tests"))
    }

    /// The text without comments, literals and `#[cfg(test)]` items; lines stay where they are.
    pub fn code(&self) -> String {
        without_tests(&without_literals(&self.text))
    }

    /// Every string literal outside tests and comments, without its quotes.
    pub fn literals(&self) -> Vec<String> {
        let (text, code) = self.aligned();
        let mut out = Vec::new();
        let mut at = 0;
        while at < code.len() {
            if code[at] == LITERAL {
                let end = literal_end(&text, at);
                out.extend(unquoted(&text[at..end]));
                at = end;
            } else {
                at += 1;
            }
        }
        out
    }

    /// The string literals that stand first among the arguments of `call`, for example `Diagnostic::error(`.
    pub fn first_arguments(&self, call: &str) -> Vec<String> {
        let (text, code) = self.aligned();
        let call: Vec<char> = call.chars().collect();
        (0..code.len())
            .filter(|at| code[*at..].starts_with(&call))
            .filter_map(|at| {
                let start = at + call.len();
                let first = start + code[start..].iter().take_while(|c| c.is_whitespace()).count();
                (code.get(first) == Some(&LITERAL))
                    .then(|| unquoted(&text[first..literal_end(&text, first)]))?
            })
            .collect()
    }

    /// The text and its code, character for character.
    fn aligned(&self) -> (Vec<char>, Vec<char>) {
        (self.text.chars().collect(), self.code().chars().collect())
    }

    /// Every path that the code names, `use` trees spelled out.
    pub fn names(&self) -> Vec<Named> {
        let tokens = tokens(&self.code());
        let mut named = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            if tokens[at].text == "use" {
                at = use_tree(&tokens, at + 1, &[], &mut named);
            } else if is_name(&tokens[at].text) {
                let line = tokens[at].line;
                let mut parts = vec![tokens[at].text.clone()];
                while at + 2 < tokens.len() && tokens[at + 1].text == "::" && is_name(&tokens[at + 2].text) {
                    parts.push(tokens[at + 2].text.clone());
                    at += 2;
                }
                named.push(Named { parts, line });
                at += 1;
            } else {
                at += 1;
            }
        }
        named.into_iter().map(|named| self.resolve(named)).collect()
    }

    fn resolve(&self, named: Named) -> Named {
        let mut parts = named.parts.into_iter().peekable();
        let mut base = match parts.peek().map(String::as_str) {
            Some("self" | "super") => self.module.clone(),
            _ => return Named { parts: parts.collect(), line: named.line },
        };
        while let Some(part) = parts.next_if(|part| part == "self" || part == "super") {
            if part == "super" {
                base.pop();
            }
        }
        let parts = std::iter::once("crate".to_owned()).chain(base).chain(parts).collect();
        Named { parts, line: named.line }
    }
}

#[derive(Debug)]
struct Token {
    text: String,
    line: usize,
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn tokens(code: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut line = 1;
    let mut chars = code.chars().peekable();
    while let Some(first) = chars.next() {
        if first == '\n' {
            line += 1;
        } else if first.is_alphanumeric() || first == '_' {
            let mut text = String::from(first);
            while let Some(next) = chars.next_if(|next| next.is_alphanumeric() || *next == '_') {
                text.push(next);
            }
            out.push(Token { text, line });
        } else if first == ':' && chars.next_if_eq(&':').is_some() {
            out.push(Token { text: "::".to_owned(), line });
        } else if !first.is_whitespace() && first != LITERAL {
            out.push(Token { text: first.to_string(), line });
        }
    }
    out
}

/// Reads one tree of a `use` item from `at`; returns the place after it.
fn use_tree(tokens: &[Token], mut at: usize, prefix: &[String], named: &mut Vec<Named>) -> usize {
    let mut parts = prefix.to_vec();
    let mut line = tokens.get(at).map_or(0, |token| token.line);
    while let Some(token) = tokens.get(at) {
        match token.text.as_str() {
            "::" => at += 1,
            "as" => at += 2,
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|token| token.text != "}") {
                    let before = at;
                    at = use_tree(tokens, at, &parts, named);
                    // What is no `use` after all (a macro's own syntax) must not be read for ever.
                    if at == before || tokens.get(at).is_some_and(|token| token.text == ",") {
                        at += 1;
                    }
                }
                return at + 1;
            }
            "," | "}" | ";" => break,
            // `{self}` names the prefix itself; a leading `self` is a part.
            "self" if !parts.is_empty() => at += 1,
            text => {
                line = token.line;
                parts.push(text.to_owned());
                at += 1;
            }
        }
    }
    named.push(Named { parts, line });
    at
}

/// What stands for each character of a literal.
const LITERAL: char = '\u{1}';

/// The text of a string literal between its quotes, escapes left as they are.
fn unquoted(literal: &[char]) -> Option<String> {
    let start = literal.iter().position(|c| *c == '"')? + 1;
    let end = literal.iter().rposition(|c| *c == '"')?;
    (start <= end).then(|| literal[start..end].iter().collect())
}

/// Blanks for comments, [`LITERAL`] for string and character literals.
fn without_literals(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = literal_end(&chars, at);
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            let fill = if chars[at] == '/' { ' ' } else { LITERAL };
            out.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { fill }));
            at = end;
        }
    }
    out
}

/// Where the comment or literal that begins at `at` ends; `at` where none begins.
fn literal_end(chars: &[char], at: usize) -> usize {
    let rest = &chars[at..];
    let after_name = at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
    match rest {
        ['/', '/', ..] => at + rest.iter().take_while(|c| **c != '\n').count(),
        ['/', '*', ..] => at + block_comment(rest),
        ['"', ..] => at + quoted(rest, 1),
        ['r' | 'b', ..] if !after_name => {
            let letters = rest.iter().take(2).take_while(|c| matches!(c, 'r' | 'b')).count();
            let raw = rest[..letters].contains(&'r');
            let marks = if raw { rest[letters..].iter().take_while(|c| **c == '#').count() } else { 0 };
            match rest.get(letters + marks) {
                Some('"') if raw => at + raw_quoted(rest, letters + marks + 1, marks),
                Some('"') => at + quoted(rest, letters + 1),
                _ => at,
            }
        }
        ['\'', '\\', _, ..] => {
            let body = rest.iter().skip(3).take_while(|c| **c != '\'').count();
            (at + 3 + body + 1).min(chars.len())
        }
        ['\'', _, '\'', ..] => at + 3,
        _ => at,
    }
}

fn block_comment(rest: &[char]) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < rest.len() {
        match rest[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at.min(rest.len())
}

fn quoted(rest: &[char], mut at: usize) -> usize {
    while at < rest.len() && rest[at] != '"' {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

fn raw_quoted(rest: &[char], mut at: usize, marks: usize) -> usize {
    while at < rest.len() {
        if rest[at] == '"' && rest[at + 1..].iter().take_while(|c| **c == '#').count() >= marks {
            return at + 1 + marks;
        }
        at += 1;
    }
    at
}

/// Blanks for each item under `#[cfg(test)]`, to the end of its block or its semicolon.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = code.to_owned();
    while let Some(start) = out.find(MARK) {
        let end = item_end(&out, start + MARK.len());
        let blanks: String = out[start..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        out.replace_range(start..end, &blanks);
    }
    out
}

fn item_end(code: &str, from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code[from..].char_indices() {
        match c {
            ';' if depth == 0 => return from + at + 1,
            '{' => depth += 1,
            '}' if depth <= 1 => return from + at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}
