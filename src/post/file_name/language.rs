//! The language in a path: a suffix of the stem, or the first folder, or a folder under `i18n/`, and
//! only if it is one of the configured languages.

use crate::post::Rules;
use crate::post::lang::Lang;

/// The folder whose folders are languages.
const I18N: &str = "i18n";

/// A language with the rule that found it.
type Found = (Lang, String);

/// The configured language that `text` spells, in any case and with `_` or `-`.
fn configured(text: &str, rules: &Rules) -> Option<Lang> {
    Lang::parse(text).ok().filter(|lang| rules.langs.contains(lang))
}

/// Takes the language suffix off a stem: `name.ko` is `name` in `ko`.
pub(super) fn of_stem<'a>(stem: &'a str, rules: &Rules) -> (&'a str, Option<Found>) {
    if !rules.preset.suffix_is_language() {
        return (stem, None);
    }
    match stem.rsplit_once('.') {
        Some((name, suffix)) if !name.is_empty() => match configured(suffix, rules) {
            Some(lang) => (name, Some((lang, format!("suffix .{suffix} of the file name")))),
            None => (stem, None),
        },
        _ => (stem, None),
    }
}

/// Takes the language folder out of the folders, with the `i18n` above it.
pub(super) fn of_folders<'a>(folders: &[&'a str], rules: &Rules) -> (Vec<&'a str>, Option<Found>) {
    if !rules.preset.folder_is_language() {
        return (folders.to_vec(), None);
    }
    // `_posts` and `_drafts` are no level of the site: the folder under them comes first there.
    let first = folders.iter().position(|folder| !matches!(*folder, "_posts" | "_drafts"));
    let under_i18n = folders.iter().position(|folder| *folder == I18N).map(|at| at + 1);
    for at in [first, under_i18n].into_iter().flatten() {
        let Some(lang) = folders.get(at).and_then(|folder| configured(folder, rules)) else {
            continue;
        };
        let i18n_above = at.checked_sub(1).filter(|above| folders.get(*above) == Some(&I18N));
        let kept = folders.iter().enumerate();
        let kept = kept.filter(|(place, _)| *place != at && Some(*place) != i18n_above);
        let rule = match (folders.get(at), i18n_above) {
            (Some(folder), Some(_)) => format!("folder {I18N}/{folder}/"),
            (Some(folder), None) => format!("folder {folder}/"),
            (None, _) => String::new(),
        };
        return (kept.map(|(_, folder)| *folder).collect(), Some((lang, rule)));
    }
    (folders.to_vec(), None)
}
