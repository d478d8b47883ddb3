//! Flags, then environment, then the file, then defaults: finds a key's value with its origin, and reads
//! it with an error that names the place.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::file::{ConfigFile, FileValue};
use super::{keys, value};
use crate::cli::Typed;
use crate::error::Failure;

/// The environment variables, as values.
pub type Environment = BTreeMap<String, String>;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A flag, with its dashes.
    Flag(&'static str),
    /// A PATH that was typed.
    Argument,
    /// An environment variable.
    Variable(String),
    /// A line of the configuration file.
    File {
        /// The file as a person is told it.
        file: String,
        /// Line from 1.
        line: u32,
        /// Column in characters from 1.
        column: u32,
    },
    /// The preset of this name.
    Preset(&'static str),
    /// Nobody said anything.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag(flag) => f.write_str(flag),
            Origin::Argument => f.write_str("PATH"),
            Origin::Variable(name) => f.write_str(name),
            Origin::File { file, line, .. } => write!(f, "{file}:{line}"),
            Origin::Preset(name) => write!(f, "preset {name}"),
            Origin::Default => f.write_str("default"),
        }
    }
}

/// A value with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub origin: Origin,
}

impl<T> Sourced<T> {
    /// A value that nobody configured.
    pub fn default(value: T) -> Self {
        Sourced { value, origin: Origin::Default }
    }

    /// Whether nobody configured it (a preset did not either).
    pub fn is_default(&self) -> bool {
        self.origin == Origin::Default
    }

    /// The same origin with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Sourced<U> {
        Sourced { value: change(self.value), origin: self.origin }
    }
}

/// What was found for a key, before it is read.
#[derive(Debug, Clone)]
pub(super) struct Found {
    raw: Raw,
    pub(super) origin: Origin,
}

#[derive(Debug, Clone)]
enum Raw {
    /// Text of a flag or a variable; items of a repeated flag each by itself.
    Texts(Vec<String>),
    /// A value of the file.
    File(FileValue),
}

impl Found {
    /// A text that a variable stands for.
    pub(super) fn of_variable(name: &str, text: &str) -> Self {
        Found { raw: Raw::Texts(vec![text.to_owned()]), origin: Origin::Variable(name.to_owned()) }
    }

    /// An error that names the place of the value.
    pub(super) fn wrong(&self, message: impl fmt::Display) -> Failure {
        let place = match &self.origin {
            Origin::File { file, line, column } => format!("{file}:{line}:{column}"),
            other => other.to_string(),
        };
        Failure::usage(format!("{place}: {message}"))
    }

    /// The value as one text.
    pub(super) fn text(&self) -> String {
        match &self.raw {
            Raw::Texts(texts) => texts.join(","),
            Raw::File(FileValue::Text(text)) => text.clone(),
            Raw::File(FileValue::Flag(flag)) => flag.to_string(),
            Raw::File(FileValue::Whole(number)) => number.to_string(),
            Raw::File(FileValue::List(items)) => items.join(","),
        }
    }

    /// The value as a list; a text is split at its commas.
    pub(super) fn list(&self) -> Vec<String> {
        match &self.raw {
            Raw::Texts(texts) => texts
                .iter()
                .flat_map(|text| text.split(','))
                .map(|item| item.trim().to_owned())
                .filter(|item| !item.is_empty())
                .collect(),
            Raw::File(FileValue::List(items)) => items.clone(),
            Raw::File(_) => vec![self.text()],
        }
    }
}

/// The layers, the strongest first.
pub(super) struct Layers<'a> {
    pub(super) typed: Vec<Typed>,
    pub(super) env: &'a Environment,
    pub(super) file: Option<ConfigFile>,
    pub(super) cwd: &'a Path,
}

impl Layers<'_> {
    /// The strongest value of a key.
    pub(super) fn find(&self, key: &str) -> Option<Found> {
        self.typed(key).or_else(|| self.variable(&keys::variable(key))).or_else(|| self.in_file(key))
    }

    /// The value that was typed.
    pub(super) fn typed(&self, key: &str) -> Option<Found> {
        let typed = self.typed.iter().find(|typed| typed.key == key)?;
        Some(Found { raw: Raw::Texts(typed.values.clone()), origin: Origin::Flag(typed.flag) })
    }

    /// The value of a variable; an empty one counts as not set.
    pub(super) fn variable(&self, name: &str) -> Option<Found> {
        let text = self.env.get(name).filter(|text| !text.trim().is_empty())?;
        Some(Found::of_variable(name, text))
    }

    /// The value in the file.
    pub(super) fn in_file(&self, key: &str) -> Option<Found> {
        let file = self.file.as_ref()?;
        let placed = file.values.get(key)?;
        Some(Found {
            raw: Raw::File(placed.value.clone()),
            origin: Origin::File { file: file.shown.clone(), line: placed.line, column: placed.column },
        })
    }

    /// The folder that a relative path of this origin is relative to.
    pub(super) fn base(&self, origin: &Origin) -> PathBuf {
        match (origin, &self.file) {
            (Origin::File { .. } | Origin::Default, Some(file)) => {
                file.path.parent().unwrap_or(self.cwd).to_owned()
            }
            _ => self.cwd.to_owned(),
        }
    }

    /// Reads a key with `parse`, or takes the default.
    pub(super) fn parse<T>(
        &self,
        key: &str,
        default: T,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Sourced<T>, Failure> {
        match self.find(key) {
            None => Ok(Sourced::default(default)),
            Some(found) => match parse(&found.text()) {
                Ok(value) => Ok(Sourced { value, origin: found.origin }),
                Err(message) => Err(found.wrong(message)),
            },
        }
    }

    /// Reads a key that holds text; empty text is an error.
    pub(super) fn text(&self, key: &str, default: &str) -> Result<Sourced<String>, Failure> {
        self.parse(key, default.to_owned(), |text| not_empty(key, text))
    }

    /// Reads a key that holds text and has no default.
    pub(super) fn text_or_none(&self, key: &str) -> Result<Sourced<Option<String>>, Failure> {
        self.parse(key, None, |text| not_empty(key, text).map(Some))
    }

    /// Reads a key that is true or false.
    pub(super) fn flag(&self, key: &str, default: bool) -> Result<Sourced<bool>, Failure> {
        self.parse(key, default, value::flag)
    }

    /// Reads a key that is one of some words.
    pub(super) fn word<T: Copy>(
        &self,
        key: &str,
        default: T,
        words: &[(&'static str, T)],
    ) -> Result<Sourced<T>, Failure> {
        self.parse(key, default, |text| {
            words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning).ok_or_else(|| {
                let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                let meant = crate::diagnostic::nearest(text, known.iter().copied())
                    .map_or_else(String::new, |word| format!(" (did you mean `{word}`?)"));
                format!("`{text}` is no {key}{meant}: write one of {}", known.join(", "))
            })
        })
    }
}

fn not_empty(key: &str, text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err(format!("`{key}` is empty")) } else { Ok(text.to_owned()) }
}
