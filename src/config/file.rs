//! Reads `idempost.toml` into a flat list of keys with their places. Knows which keys there are and of
//! what type each is, not what a value means.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{self, Kind};
use crate::diagnostic::nearest;
use crate::error::Failure;

/// Name of the file that is looked for.
pub const FILE_NAME: &str = "idempost.toml";

/// Largest configuration file that is read, in bytes.
pub const CONFIG_BYTES_MAX: u64 = 1024 * 1024;

/// A value of the file, of the type its key wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileValue {
    /// Text.
    Text(String),
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// A list of texts.
    List(Vec<String>),
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The value.
    pub value: FileValue,
    /// Line from 1.
    pub line: u32,
    /// Column in characters from 1.
    pub column: u32,
}

/// A configuration file, read.
#[derive(Debug, Clone)]
pub struct ConfigFile {
    /// Where it lies.
    pub path: PathBuf,
    /// The path as a person is told it: below the working directory where it lies there.
    pub shown: String,
    /// Dotted key to value.
    pub values: BTreeMap<String, Placed>,
}

/// Looks for the file from `cwd` upwards.
pub fn find(cwd: &Path) -> Option<PathBuf> {
    cwd.ancestors().map(|folder| folder.join(FILE_NAME)).find(|path| path.is_file())
}

/// Reads the file at `path`.
pub fn read(path: &Path, cwd: &Path) -> Result<ConfigFile, Failure> {
    let shown = shown(path, cwd);
    let failed = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("the configuration file {shown} cannot be read: {why}"))
    };
    let bytes_count = std::fs::metadata(path).map_err(|error| failed(&error))?.len();
    if bytes_count > CONFIG_BYTES_MAX {
        return Err(failed(&format!("it has {bytes_count} bytes, the limit is {CONFIG_BYTES_MAX}")));
    }
    let bytes = std::fs::read(path).map_err(|error| failed(&error))?;
    let text = String::from_utf8(bytes)
        .map_err(|error| failed(&format!("it is not UTF-8 (byte {})", error.utf8_error().valid_up_to())))?;
    let values = parse(&text, &shown)?;
    Ok(ConfigFile { path: path.to_owned(), shown, values })
}

fn shown(path: &Path, cwd: &Path) -> String {
    let below = path.strip_prefix(cwd).unwrap_or(path);
    below.display().to_string().replace('\\', "/")
}

/// Parses the text of a file; `shown` names it in messages.
pub fn parse(text: &str, shown: &str) -> Result<BTreeMap<String, Placed>, Failure> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let reader = Reader { text, shown };
    let table = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        Failure::usage(format!("{}: {}", reader.place(&span), error.message()))
    })?;
    let mut values = BTreeMap::new();
    reader.table(table.get_ref(), "", &mut values)?;
    Ok(values)
}

struct Reader<'a> {
    text: &'a str,
    shown: &'a str,
}

impl Reader<'_> {
    fn table(
        &self,
        table: &DeTable<'_>,
        prefix: &str,
        values: &mut BTreeMap<String, Placed>,
    ) -> Result<(), Failure> {
        for (key, value) in table {
            let name = if prefix.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{prefix}.{}", key.get_ref())
            };
            if let Some(known) = keys::find(&name).filter(|_| !key.get_ref().contains('.')) {
                let (line, column) = self.line_column(&value.span());
                let value = self.value(&name, known.kind, value)?;
                values.insert(name, Placed { value, line, column });
            } else if keys::is_table(&name) && !key.get_ref().contains('.') {
                match value.get_ref() {
                    DeValue::Table(inner) => self.table(inner, &name, values)?,
                    other => {
                        return Err(Failure::usage(format!(
                            "{}: `{name}` is a table, but here stands {}",
                            self.place(&value.span()),
                            type_of(other)
                        ))
                        .help(format!("write [{name}] on a line of its own, its keys below")));
                    }
                }
            } else {
                return Err(self.unknown(prefix, key));
            }
        }
        Ok(())
    }

    fn value(&self, name: &str, kind: Kind, value: &Spanned<DeValue<'_>>) -> Result<FileValue, Failure> {
        let wrong = |at: &Spanned<DeValue<'_>>| {
            Failure::usage(format!(
                "{}: `{name}` wants {}, but here stands {}",
                self.place(&at.span()),
                kind.wanted(),
                type_of(at.get_ref())
            ))
        };
        match (kind, value.get_ref()) {
            (Kind::Text | Kind::WholeOrText, DeValue::String(text)) => Ok(FileValue::Text(text.to_string())),
            (Kind::Flag, DeValue::Boolean(flag)) => Ok(FileValue::Flag(*flag)),
            (Kind::Whole | Kind::WholeOrText, DeValue::Integer(number)) => {
                i64::from_str_radix(number.as_str(), number.radix()).map(FileValue::Whole).map_err(|_| {
                    Failure::usage(format!(
                        "{}: {} is too large for `{name}`",
                        self.place(&value.span()),
                        number.as_str()
                    ))
                })
            }
            (Kind::List, DeValue::Array(items)) => items
                .iter()
                .map(|item| match item.get_ref() {
                    DeValue::String(text) => Ok(text.to_string()),
                    _ => Err(wrong(item)),
                })
                .collect::<Result<Vec<String>, Failure>>()
                .map(FileValue::List),
            _ => Err(wrong(value)),
        }
    }

    /// An unknown key, with the nearest known one: first in its own table, then under this name in
    /// another.
    fn unknown(&self, prefix: &str, key: &Spanned<std::borrow::Cow<'_, str>>) -> Failure {
        let typed = key.get_ref();
        let place = self.place(&key.span());
        let table = if prefix.is_empty() { String::new() } else { format!(" in [{prefix}]") };
        let siblings = keys::children(prefix);
        let elsewhere = keys::KEYS.iter().find(|known| {
            known.name.rsplit_once('.').is_some_and(|(_, last)| last == typed.as_ref() && last != "*")
        });
        let help = if let Some(known) = nearest(typed, siblings.iter().copied().filter(|name| *name != "*")) {
            format!("did you mean `{known}`?")
        } else if let Some((table, last)) = elsewhere.and_then(|known| known.name.rsplit_once('.')) {
            format!("`{last}` belongs in [{table}]")
        } else {
            format!("known here: {}", siblings.join(", "))
        };
        Failure::usage(format!("{place}: unknown key `{typed}`{table}")).help(help)
    }

    fn place(&self, span: &Range<usize>) -> String {
        let (line, column) = self.line_column(span);
        format!("{}:{line}:{column}", self.shown)
    }

    fn line_column(&self, span: &Range<usize>) -> (u32, u32) {
        let at = crate::diagnostic::floor_char_boundary(self.text, span.start);
        let before = self.text.get(..at).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }
}

fn type_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
