//! Files that claim one place: the same identity, the same `(slug, lang)`, or slugs that a person or
//! a file system takes for one.
//!
//! Works on what could be read, errors or not: a file that is wrong otherwise still clashes, so that
//! mending it does not bring the next surprise. The result does not depend on any order.

use std::collections::{BTreeMap, BTreeSet};

use unicode_normalization::UnicodeNormalization;

use crate::diagnostic::Diagnostic;
use crate::post::date::PublishedAt;
use crate::post::lang::Lang;
use crate::post::{Outcome, Parsed, Rules, Skip};

/// Most paths that one message names.
const PATHS_SHOWN_MAX: usize = 5;

/// One file's claim.
#[derive(Clone, Copy)]
struct Claim<'a> {
    file: &'a str,
    slug: &'a str,
    place: Option<(u32, u32)>,
    lang: &'a Lang,
    published_at: Option<PublishedAt>,
    slug_from: &'a str,
    draft: bool,
}

/// The problems of each file that claims a place with another.
pub fn find(parsed: &[Parsed], rules: &Rules) -> BTreeMap<String, Vec<Diagnostic>> {
    let mut claims: Vec<Claim<'_>> = parsed.iter().filter_map(claim).collect();
    claims.sort_by(|a, b| a.file.cmp(b.file));
    let mut found: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
    let mut tell = |claim: &Claim<'_>, problem: Diagnostic| {
        let mut problem = problem.in_file(claim.file);
        problem.line = claim.place.map(|(line, _)| line);
        problem.column = claim.place.map(|(_, column)| column);
        found.entry(claim.file.to_owned()).or_default().push(problem);
    };
    let mut groups: BTreeMap<(&str, &str), Vec<Claim<'_>>> = BTreeMap::new();
    let mut looks: BTreeMap<(String, &str), Vec<Claim<'_>>> = BTreeMap::new();
    for claim in &claims {
        groups.entry((claim.slug, claim.lang.as_str())).or_default().push(*claim);
        looks.entry((look(claim.slug), claim.lang.as_str())).or_default().push(*claim);
    }
    for group in groups.values() {
        one_place(group, rules, &mut tell);
    }
    for alike in looks.values() {
        one_look(alike, &mut tell);
    }
    found
}

/// What a file claims, if slug and language could be read and it is no page.
fn claim(parsed: &Parsed) -> Option<Claim<'_>> {
    let facts = &parsed.facts;
    let draft = match &parsed.outcome {
        Outcome::Post(_) => false,
        Outcome::Skipped(reason, held) => {
            held.as_ref()?;
            *reason == Skip::Draft
        }
        // Without a date it is not known whether the file is a post at all.
        Outcome::Invalid => {
            facts.published_at?;
            facts.draft
        }
    };
    Some(Claim {
        file: &parsed.file,
        slug: facts.slug.as_ref()?.as_str(),
        place: facts.slug_place,
        lang: facts.lang.as_ref()?,
        published_at: facts.published_at,
        slug_from: facts.from.slug.as_deref().unwrap_or(""),
        draft,
    })
}

/// Posts with one `(slug, lang)` are an error each; of a draft and a post it is the draft's.
fn one_place(group: &[Claim<'_>], rules: &Rules, tell: &mut impl FnMut(&Claim<'_>, Diagnostic)) {
    let posts: Vec<Claim<'_>> = group.iter().filter(|claim| !claim.draft).copied().collect();
    if posts.len() > 1 {
        let help = apart(&posts, rules);
        let mut at_instant: BTreeMap<Option<PublishedAt>, usize> = BTreeMap::new();
        for post in &posts {
            *at_instant.entry(post.published_at).or_default() += 1;
        }
        for post in &posts {
            let same_instant = at_instant.get(&post.published_at).is_some_and(|posts| *posts > 1);
            let problem = if same_instant {
                Diagnostic::error(
                    "duplicate-identity",
                    format!(
                        "{} are one post: slug `{}`, language `{}`, published {}",
                        paths(&posts),
                        post.slug,
                        post.lang,
                        post.published_at.map_or_else(|| "at one time".to_owned(), PublishedAt::to_rfc3339)
                    ),
                )
            } else {
                Diagnostic::error(
                    "duplicate-slug",
                    format!(
                        "{} share the slug `{}` in `{}` on different days; it must be unique",
                        paths(&posts),
                        post.slug,
                        post.lang
                    ),
                )
            };
            tell(post, problem.help(help.clone()));
        }
    }
    let Some(post) = posts.first() else { return };
    for draft in group.iter().filter(|claim| claim.draft) {
        let mut both = vec![*draft, *post];
        both.sort_by(|a, b| a.file.cmp(b.file));
        let message = format!(
            "{} share the slug `{}` in `{}`, and `{}` is a draft",
            paths(&both),
            post.slug,
            post.lang,
            draft.file
        );
        tell(
            draft,
            Diagnostic::error("duplicate-draft", message)
                .help("give the draft another `slug`, or take one of the two files away"),
        );
    }
}

/// Slugs that differ by case or compatibility form alone are a warning each.
fn one_look(alike: &[Claim<'_>], tell: &mut impl FnMut(&Claim<'_>, Diagnostic)) {
    let slugs: BTreeSet<&str> = alike.iter().map(|claim| claim.slug).collect();
    if slugs.len() < 2 {
        return;
    }
    for claim in alike {
        let others: Vec<String> = alike
            .iter()
            .filter(|other| other.slug != claim.slug)
            .take(PATHS_SHOWN_MAX)
            .map(|other| format!("`{}` of `{}`", other.slug, other.file))
            .collect();
        let message =
            format!("the slug `{}` differs from {} by case or spelling alone", claim.slug, others.join(", "));
        tell(
            claim,
            Diagnostic::warning("slug-case", message).help("readers and file systems may take them for one"),
        );
    }
}

/// What a slug looks like: compatibility form, lower case.
fn look(slug: &str) -> String {
    slug.nfkc().flat_map(char::to_lowercase).nfkc().collect()
}

/// `a.md` and `b.md`, sorted.
fn paths(claims: &[Claim<'_>]) -> String {
    let mut shown: Vec<String> =
        claims.iter().take(PATHS_SHOWN_MAX).map(|claim| format!("`{}`", claim.file)).collect();
    if claims.len() > PATHS_SHOWN_MAX {
        shown.push(format!("{} more", claims.len() - PATHS_SHOWN_MAX));
    }
    let last = shown.pop().unwrap_or_default();
    if shown.is_empty() { last } else { format!("{} and {last}", shown.join(", ")) }
}

/// What would tell them apart: languages, a slug pattern, or other slugs.
fn apart(posts: &[Claim<'_>], rules: &Rules) -> String {
    if let Some(langs) = langs_apart(posts, rules) {
        return format!("`langs = [{langs}]` in the configuration would tell them apart");
    }
    let from_files = posts.iter().all(|post| !post.slug_from.starts_with("front matter"));
    let days: BTreeSet<_> = posts.iter().filter_map(|post| Some(day(post.published_at?, rules))).collect();
    if from_files && days.len() == posts.len() && !rules.slug_pattern.as_str().contains("{day}") {
        return "`slug_pattern = \"{year}/{month}/{day}/{stem}\"` in the configuration would tell them apart, or give each its own `slug`".to_owned();
    }
    let folders: BTreeSet<&str> =
        posts.iter().map(|post| post.file.rsplit_once('/').map_or("", |(folder, _)| folder)).collect();
    if from_files && folders.len() == posts.len() && !rules.slug_pattern.as_str().contains("{dir}") {
        return "give each its own `slug`; `slug_pattern = \"{dir}/{stem}\"` in the configuration would tell them apart too".to_owned();
    }
    "give each its own `slug`, or take one of the files away".to_owned()
}

/// The day of an instant in the configured zone.
fn day(at: PublishedAt, rules: &Rules) -> Option<jiff::civil::Date> {
    let instant = jiff::Timestamp::from_millisecond(at.unix_millis()).ok()?;
    Some(rules.timezone.to_datetime(instant).date())
}

/// The configured languages and those that the clashing paths seem to name, if these differ.
fn langs_apart(posts: &[Claim<'_>], rules: &Rules) -> Option<String> {
    let seem: Vec<Option<Lang>> = posts.iter().map(|post| seems(post.file, rules)).collect();
    let distinct: BTreeSet<&Option<Lang>> = seem.iter().collect();
    if distinct.len() < posts.len() {
        return None;
    }
    let mut langs: Vec<&Lang> = rules.langs.iter().collect();
    langs.extend(seem.iter().flatten());
    let texts: Vec<String> = langs.iter().map(|lang| format!("\"{lang}\"")).collect();
    Some(texts.join(", "))
}

/// The language that a suffix or folder of a path seems to name and that is not configured.
fn seems(file: &str, rules: &Rules) -> Option<Lang> {
    let (folders, name) = file.rsplit_once('/').unwrap_or(("", file));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let suffix = stem.rsplit_once('.').map(|(_, suffix)| suffix);
    let mut parts = folders.split('/');
    let first = parts.next();
    let under_i18n = if first == Some("i18n") { parts.next() } else { None };
    [suffix, under_i18n, first]
        .into_iter()
        .flatten()
        .filter_map(seems_language)
        .find(|lang| !rules.langs.contains(lang))
}

/// The language that a part of a path looks like to a person. For advice alone: what a part of a path
/// means is decided by the configured languages.
pub(crate) fn seems_language(part: &str) -> Option<Lang> {
    let first = part.split(['-', '_']).next().unwrap_or("").to_lowercase();
    if LANGUAGES.contains(&first.as_str()) { Lang::parse(part).ok() } else { None }
}

/// The two-letter codes of ISO 639-1: what a person means by a folder `ko`. Used for advice alone.
const LANGUAGES: &[&str] = &[
    "aa", "ab", "ae", "af", "ak", "am", "an", "ar", "as", "av", "ay", "az", "ba", "be", "bg", "bi", "bm",
    "bn", "bo", "br", "bs", "ca", "ce", "ch", "co", "cr", "cs", "cu", "cv", "cy", "da", "de", "dv", "dz",
    "ee", "el", "en", "eo", "es", "et", "eu", "fa", "ff", "fi", "fj", "fo", "fr", "fy", "ga", "gd", "gl",
    "gn", "gu", "gv", "ha", "he", "hi", "ho", "hr", "ht", "hu", "hy", "hz", "ia", "id", "ie", "ig", "ii",
    "ik", "io", "is", "it", "iu", "ja", "jv", "ka", "kg", "ki", "kj", "kk", "kl", "km", "kn", "ko", "kr",
    "ks", "ku", "kv", "kw", "ky", "la", "lb", "lg", "li", "ln", "lo", "lt", "lu", "lv", "mg", "mh", "mi",
    "mk", "ml", "mn", "mr", "ms", "mt", "my", "na", "nb", "nd", "ne", "ng", "nl", "nn", "no", "nr", "nv",
    "ny", "oc", "oj", "om", "or", "os", "pa", "pi", "pl", "ps", "pt", "qu", "rm", "rn", "ro", "ru", "rw",
    "sa", "sc", "sd", "se", "sg", "si", "sk", "sl", "sm", "sn", "so", "sq", "sr", "ss", "st", "su", "sv",
    "sw", "ta", "te", "tg", "th", "ti", "tk", "tl", "tn", "to", "tr", "ts", "tt", "tw", "ty", "ug", "uk",
    "ur", "uz", "ve", "vi", "vo", "wa", "wo", "xh", "yi", "yo", "za", "zh", "zu",
];
