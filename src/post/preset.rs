//! What the site generators do differently by default, so that a tree made for one of them gives the
//! slugs, dates, languages and drafts that it gives there.
//!
//! A preset is nothing but other defaults. The rules of names stand in [`super::file_name`], the
//! spellings in [`super::slug::SlugMode`]; here is which of them a generator has.

use super::slug::{SlugMode, SlugPattern};

/// A site generator whose tree is ingested with no edits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// A folder of markdown files.
    #[default]
    Plain,
    /// Hugo: a day in a name is part of the name; paths are lower case; a language is a suffix or a
    /// folder.
    Hugo,
    /// Zola: a day before a name (with `-` or `_` after it) is the date; paths are ASCII; a
    /// language is a suffix.
    Zola,
    /// Jekyll: addresses carry the day of the post.
    Jekyll,
    /// Astro: the slug is the whole path, spelled as GitHub spells anchors; a day in a name is part of
    /// the name.
    Astro,
    /// Docusaurus' blog: the slug is the day in the path, then folder and name; a language is a folder
    /// under `i18n/`.
    Docusaurus,
    /// Eleventy: the slug is `page.fileSlug`; the date is the first `YYYY-MM-DD` in the path.
    Eleventy,
}

/// Where in a path a preset finds the day of a post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayIn {
    /// `YYYY-MM-DD-` before the name or the bundle's folder, and folders `YYYY/MM/DD/`.
    Prefix,
    /// The last `YYYY-MM-DD` or `YYYY/MM/DD` of the path, wherever it stands.
    LastInPath,
    /// The first `YYYY-MM-DD` of the path, wherever it stands.
    FirstInPath,
}

impl Preset {
    /// Every preset, in the order in which messages list them.
    pub const ALL: [Preset; 7] = [
        Preset::Plain,
        Preset::Hugo,
        Preset::Zola,
        Preset::Jekyll,
        Preset::Astro,
        Preset::Docusaurus,
        Preset::Eleventy,
    ];

    /// The spelling in configuration and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Preset::Plain => "plain",
            Preset::Hugo => "hugo",
            Preset::Zola => "zola",
            Preset::Jekyll => "jekyll",
            Preset::Astro => "astro",
            Preset::Docusaurus => "docusaurus",
            Preset::Eleventy => "eleventy",
        }
    }

    /// Reads the spelling of [`Preset::as_str`]; the error names all and the nearest.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = || Preset::ALL.into_iter().map(Preset::as_str);
        let wanted = text.trim().to_ascii_lowercase();
        let wanted = if wanted == "11ty" { "eleventy" } else { wanted.as_str() };
        Preset::ALL.into_iter().find(|preset| preset.as_str() == wanted).ok_or_else(|| {
            let all: Vec<&str> = known().collect();
            let near = crate::diagnostic::nearest(text, known())
                .map_or_else(String::new, |near| format!("; {near} is near"));
            format!("\"{text}\" is no preset: they are {}{near}", all.join(", "))
        })
    }

    /// `slug_pattern` where none is configured.
    pub fn slug_pattern(self) -> SlugPattern {
        let text = match self {
            Preset::Jekyll => "{year}/{month}/{day}/{stem}",
            Preset::Astro => "{dir}/{stem}",
            _ => "{stem}",
        };
        // The texts above are patterns, which a test checks.
        SlugPattern::parse(text).unwrap_or_default()
    }

    /// `slug_mode` where none is configured.
    pub fn slug_mode(self) -> SlugMode {
        match self {
            Preset::Hugo => SlugMode::Hugo,
            Preset::Zola => SlugMode::Zola,
            Preset::Jekyll => SlugMode::Jekyll,
            Preset::Astro => SlugMode::Astro,
            Preset::Plain | Preset::Docusaurus | Preset::Eleventy => SlugMode::Keep,
        }
    }

    /// Where the day of a post is found in its path. Hugo and Astro give no date to such a file; a day
    /// in the name is then better than no post.
    pub fn day_in(self) -> DayIn {
        match self {
            Preset::Docusaurus => DayIn::LastInPath,
            Preset::Eleventy => DayIn::FirstInPath,
            _ => DayIn::Prefix,
        }
    }

    /// Whether a day before a name stays in the slug.
    pub fn keeps_day_in_stem(self) -> bool {
        matches!(self, Preset::Hugo | Preset::Astro)
    }

    /// Whether a name that is a day alone (`2021-05-08.md`) is its own slug instead of an error.
    pub fn day_alone_is_stem(self) -> bool {
        matches!(self, Preset::Hugo | Preset::Astro | Preset::Zola | Preset::Eleventy)
    }

    /// Whether a name that looks like a day and is none (`2021-02-30-x.md`) is just a name, as it is to
    /// generators that look for no day in it.
    pub fn impossible_day_is_name(self) -> bool {
        matches!(self, Preset::Hugo | Preset::Astro)
    }

    /// The name behind a day: `rest` is what follows the day's digits. None where the preset sees no day
    /// before a name there. A day alone has an empty name.
    pub fn name_after_day(self, rest: &str) -> Option<&str> {
        if rest.is_empty() {
            return Some("");
        }
        match self {
            Preset::Zola => {
                let rest = rest.strip_prefix(char::is_whitespace).unwrap_or(rest);
                rest.strip_prefix(['-', '_']).filter(|name| !name.is_empty())
            }
            _ => rest.strip_prefix('-'),
        }
    }

    /// Whether a day in a name needs both digits of month and day.
    pub fn day_is_padded(self) -> bool {
        self == Preset::Zola
    }

    /// Whether a suffix of the stem may be a language.
    pub fn suffix_is_language(self) -> bool {
        self != Preset::Docusaurus
    }

    /// Whether a folder may be a language.
    pub fn folder_is_language(self) -> bool {
        self != Preset::Zola
    }
}
