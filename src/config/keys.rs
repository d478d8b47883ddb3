//! The configuration keys: their names, what each holds, and the variable that stands for it.
//!
//! One table feeds the reader of the file, the variables, `idempost config` and the test that holds the
//! JSON Schema to it.

/// What a key holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// `true` or `false`.
    Flag,
    /// A list of texts; in a variable separated by commas.
    List,
    /// A whole number.
    Whole,
    /// A whole number, or text such as `10%` or `8MiB`.
    WholeOrText,
}

impl Kind {
    /// What a person is told to write.
    pub fn wanted(self) -> &'static str {
        match self {
            Kind::Text => "text in quotes",
            Kind::Flag => "true or false",
            Kind::List => "a list of texts, for example [\"a\", \"b\"]",
            Kind::Whole => "a whole number",
            Kind::WholeOrText => "a whole number, or text in quotes",
        }
    }
}

/// One key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Dotted name; `*` stands for a name that the user chooses.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Whether this version acts on it. One that is read and not acted on is warned of.
    pub acted_on: bool,
}

const fn key(name: &'static str, kind: Kind) -> Key {
    Key { name, kind, acted_on: true }
}

const fn later(name: &'static str, kind: Kind) -> Key {
    Key { name, kind, acted_on: false }
}

/// All keys, in the order in which they are shown.
pub const KEYS: [Key; 52] = [
    key("content", Kind::Text),
    key("store", Kind::Text),
    key("database", Kind::Text),
    key("collection", Kind::Text),
    key("source", Kind::Text),
    key("engine", Kind::Text),
    key("preset", Kind::Text),
    key("langs", Kind::List),
    key("default_lang", Kind::Text),
    key("timezone", Kind::Text),
    key("slug_mode", Kind::Text),
    key("slug_pattern", Kind::Text),
    key("url_pattern", Kind::Text),
    key("require_date", Kind::Flag),
    key("future", Kind::Text),
    key("follow_links", Kind::Flag),
    key("runs_keep", Kind::Text),
    key("fields.title", Kind::List),
    key("fields.slug", Kind::List),
    key("fields.publishedAt", Kind::List),
    key("fields.updatedAt", Kind::List),
    key("fields.expiresAt", Kind::List),
    key("fields.draft", Kind::List),
    key("fields.unlisted", Kind::List),
    key("fields.summary", Kind::List),
    key("fields.tags", Kind::List),
    key("fields.categories", Kind::List),
    key("fields.authors", Kind::List),
    key("fields.cover", Kind::List),
    key("fields.canonicalUrl", Kind::List),
    key("fields.aliases", Kind::List),
    key("fields.lang", Kind::List),
    key("fields.translationKey", Kind::List),
    key("render.html", Kind::Flag),
    key("render.raw_html", Kind::Text),
    key("assets.store", Kind::Text),
    key("assets.public_url", Kind::Text),
    key("assets.missing", Kind::Text),
    key("assets.claim", Kind::Text),
    later("translations.required", Kind::List),
    later("effects.*.url", Kind::Text),
    later("effects.*.secret_env", Kind::Text),
    later("effects.*.kinds", Kind::List),
    key("retry.deadline", Kind::Text),
    key("retry.command", Kind::Text),
    key("retry.attempts", Kind::Whole),
    key("retry.backoff", Kind::Text),
    key("limits.prune", Kind::WholeOrText),
    key("limits.file", Kind::WholeOrText),
    key("limits.history", Kind::WholeOrText),
    key("limits.batch", Kind::Whole),
    key("limits.in_flight", Kind::Whole),
];

/// Whether `name` (dotted, in full) is one of the keys.
pub fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| matches(key.name, name))
}

/// Whether `name` is a table that holds keys.
pub fn is_table(name: &str) -> bool {
    let depth = name.split('.').count();
    KEYS.iter().any(|key| {
        let parts: Vec<&str> = key.name.split('.').collect();
        parts.len() > depth && parts.iter().zip(name.split('.')).all(|(known, part)| same(known, part))
    })
}

/// The names that may stand in the table `prefix` (empty: at the top), each once.
pub fn children(prefix: &str) -> Vec<&'static str> {
    let depth = if prefix.is_empty() { 0 } else { prefix.split('.').count() };
    let mut out: Vec<&'static str> = Vec::new();
    for key in &KEYS {
        let mut parts = key.name.split('.');
        let inside = prefix.is_empty()
            || prefix.split('.').all(|part| parts.next().is_some_and(|known| same(known, part)));
        let child = key.name.split('.').nth(depth);
        if let (true, Some(child)) = (inside, child)
            && !out.contains(&child)
        {
            out.push(child);
        }
    }
    out
}

fn matches(pattern: &str, name: &str) -> bool {
    pattern.split('.').count() == name.split('.').count()
        && pattern.split('.').zip(name.split('.')).all(|(known, part)| same(known, part))
}

fn same(known: &str, part: &str) -> bool {
    known == "*" || known == part
}

/// The variable that stands for a key: `retry.deadline` is `IDEMPOST_RETRY_DEADLINE`,
/// `fields.publishedAt` is `IDEMPOST_FIELDS_PUBLISHED_AT`.
pub fn variable(name: &str) -> String {
    let mut out = String::from("IDEMPOST_");
    let mut lower_before = false;
    for letter in name.chars() {
        if letter == '.' || letter == '-' {
            out.push('_');
        } else {
            if letter.is_ascii_uppercase() && lower_before {
                out.push('_');
            }
            out.push(letter.to_ascii_uppercase());
        }
        lower_before = letter.is_ascii_lowercase() || letter.is_ascii_digit();
    }
    out
}
