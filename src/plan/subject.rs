//! Which post is meant by what a person typed: an id, a file, `slug`, or `slug:lang`.
//!
//! Pure. Begin at [`meant`]; what there is to choose from, and how a path reads from the content root,
//! comes in from the caller.

use unicode_normalization::UnicodeNormalization;

use crate::post::lang::Lang;

/// Names that are offered where nothing was found.
const NEAR_MAX: usize = 3;

/// A post that can be meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Candidate {
    /// `_id`.
    pub id: String,
    /// Slug.
    pub slug: String,
    /// Language.
    pub lang: String,
    /// The file that makes it, or made it, below the content root; may be empty.
    pub path: String,
    /// What tells it from others of its name, for a list: its status.
    pub told: String,
    /// Whether what is asked for can be done to it: of several of one name the only such one is meant.
    pub fits: bool,
}

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub enum Meant<'a> {
    /// This one.
    One(&'a Candidate),
    /// Any of these.
    Several(Vec<&'a Candidate>),
    /// None; names that are near.
    Nothing(Vec<String>),
}

/// Finds the post. An id goes before a file, a file before a slug. `paths` are what the typed text can be
/// below the content root.
pub fn meant<'a>(typed: &str, paths: &[String], known: &'a [Candidate]) -> Meant<'a> {
    let by_id = |one: &&Candidate| one.id.eq_ignore_ascii_case(typed);
    let by_path = |one: &&Candidate| !one.path.is_empty() && paths.contains(&one.path);
    let slug: String = typed.nfc().collect();
    let parts = slug.rsplit_once(':').map(|(slug, lang)| {
        let lang = Lang::parse(lang).map_or_else(|_| lang.to_owned(), |lang| lang.as_str().to_owned());
        (slug.to_owned(), lang)
    });
    let by_name = |one: &&Candidate| {
        let named = parts.as_ref().is_some_and(|(slug, lang)| one.slug == *slug && one.lang == *lang);
        !one.slug.is_empty() && (one.slug == slug || named)
    };
    let mut found: Vec<&Candidate> = known.iter().filter(by_id).collect();
    if found.is_empty() {
        found = known.iter().filter(by_path).collect();
    }
    if found.is_empty() {
        found = known.iter().filter(by_name).collect();
    }
    let fitting: Vec<&Candidate> = found.iter().copied().filter(|one| one.fits).collect();
    match (found.as_slice(), fitting.as_slice()) {
        ([], _) => Meant::Nothing(near(typed, known)),
        ([one], _) | (_, [one]) => Meant::One(one),
        (_, []) => Meant::Several(found),
        _ => Meant::Several(fitting),
    }
}

/// The nearest slugs, `slug:lang`s and paths.
fn near(typed: &str, known: &[Candidate]) -> Vec<String> {
    let lower = typed.to_lowercase();
    let file = lower.rsplit('/').next().unwrap_or(&lower).to_owned();
    let mut all: Vec<(usize, String)> = Vec::new();
    for one in known.iter().filter(|one| !one.slug.is_empty()) {
        let name = format!("{}:{}", one.slug, one.lang);
        let last = one.path.rsplit('/').next().unwrap_or_default();
        let spelled = [(&lower, one.slug.as_str()), (&lower, name.as_str()), (&file, last)];
        let slips = spelled
            .into_iter()
            .filter(|(_, spelled)| !spelled.is_empty())
            .map(|(typed, spelled)| (strsim::osa_distance(typed, &spelled.to_lowercase()), spelled))
            .filter(|(slips, spelled)| *slips <= (spelled.chars().count() / 3).max(1))
            .map(|(slips, _)| slips)
            .min();
        all.extend(slips.map(|slips| (slips, name)));
    }
    all.sort();
    all.dedup_by(|a, b| a.1 == b.1);
    all.into_iter().take(NEAR_MAX).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(id: &str, name: &str, path: &str, fits: bool) -> Candidate {
        let (slug, lang) = name.rsplit_once(':').unwrap();
        Candidate {
            id: id.to_owned(),
            slug: slug.to_owned(),
            lang: lang.to_owned(),
            path: path.to_owned(),
            told: String::new(),
            fits,
        }
    }

    fn known() -> Vec<Candidate> {
        vec![
            candidate("01A", "apples:en", "apples.md", true),
            candidate("01B", "apples:ko", "ko/apples.md", true),
            candidate("01C", "pears:en", "old/pears.md", false),
            candidate("01D", "pears:en", "pears.md", true),
            candidate("01E", "10:30:en", "time.md", true),
            candidate("01F", "caf\u{e9}:zh-Hant-TW", "cafe.md", true),
            candidate("01G", "plums:en", "plums.md", false),
            candidate("01H", "plums:en", "plums.md", false),
        ]
    }

    fn found(typed: &str) -> String {
        let known = known();
        match meant(typed, &[typed.to_owned()], &known) {
            Meant::One(one) => one.id.clone(),
            Meant::Several(some) => some.iter().map(|one| one.id.as_str()).collect::<Vec<_>>().join(" "),
            Meant::Nothing(near) => format!("near {}", near.join(" ")),
        }
    }

    #[test]
    fn ids_files_and_names_find_their_post() {
        assert_eq!(found("01a"), "01A", "an id in any case");
        assert_eq!(found("ko/apples.md"), "01B");
        assert_eq!(found("apples:ko"), "01B");
        assert_eq!(found("10:30"), "01E", "a slug may hold a colon");
        assert_eq!(found("10:30:en"), "01E");
        assert_eq!(found("cafe\u{301}:ZH-hant-tw"), "01F", "other spellings of slug and language");
    }

    #[test]
    fn of_several_the_only_one_that_fits_is_meant() {
        assert_eq!(found("apples"), "01A 01B");
        assert_eq!(found("pears:en"), "01D");
        assert_eq!(found("plums"), "01G 01H", "none fits: all are told");
    }

    #[test]
    fn near_names_are_offered() {
        assert_eq!(found("aples"), "near apples:en apples:ko");
        assert_eq!(found("appels.md"), "near apples:en apples:ko");
        assert_eq!(found("pears:ko"), "near pears:en");
        assert_eq!(found("quinces"), "near ");
        assert_eq!(found(""), "near ");
    }
}
