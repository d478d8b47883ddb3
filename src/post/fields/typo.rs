//! Unknown keys that look like a slip of the finger.

use super::gather::Gathered;
use super::table::{Field, TABLE};
use crate::diagnostic::Diagnostic;
use crate::post::front_matter::fold_key as folded;

/// Keys that real trees use for themselves and that lie near a known name.
const COMMON_KEYS: &[&str] = &[
    "class",
    "data",
    "data_file",
    "dates",
    "detail",
    "full",
    "group",
    "head",
    "icon",
    "id",
    "image_alt",
    "images",
    "key",
    "kind",
    "label",
    "layout",
    "level",
    "link",
    "links",
    "logo",
    "long",
    "mark",
    "menu",
    "meta",
    "name",
    "order",
    "page",
    "plugs",
    "rate",
    "refs",
    "related",
    "rel",
    "state",
    "stages",
    "stats",
    "series",
    "site",
    "style",
    "summary_image",
    "tab",
    "table",
    "tabs",
    "team",
    "term",
    "text",
    "theme",
    "time",
    "tile",
    "tiles",
    "toc",
    "type",
    "updates",
    "urls",
    "version",
    "video",
    "weight",
    "user",
    "users",
    "language_code",
    "landing",
    "rating",
    "outputs",
    "math",
    "paths",
    "cards",
    "over",
    "hover",
    "slides",
    "slide",
];

/// Shortest name that is compared; `ref` or `url` lie near too many words.
const NAME_CHARS_MIN: usize = 4;

/// Most unknown keys of one file that are compared with the table.
const KEYS_COMPARED_MAX: usize = 200;

/// Names at which two slips are still near.
const TWO_SLIPS_CHARS_MIN: usize = 8;

/// Warns of unknown keys near the name of a field that no other key gave.
pub fn warn(gathered: &Gathered<'_>, problems: &mut Vec<Diagnostic>) {
    let given = |field: Field| {
        gathered.candidates.iter().any(|candidate| candidate.place.spec.field == field)
            || (field == Field::PublishedAt && !gathered.published_flags.is_empty())
    };
    for entry in gathered.unknown.iter().take(KEYS_COMPARED_MAX) {
        let typed = folded(&entry.key);
        if COMMON_KEYS.iter().any(|common| folded(common) == typed) {
            continue;
        }
        let near = TABLE
            .iter()
            .filter(|spec| !given(spec.field))
            .flat_map(|spec| spec.names.iter())
            .filter(|name| !name.contains(['.', '[']))
            .filter_map(|name| slips(&typed, &folded(name)).map(|slips| (slips, *name)))
            .min_by_key(|(slips, _)| *slips);
        if let Some((_, name)) = near {
            problems.push(
                Diagnostic::warning(
                    "unknown-key",
                    format!("`{}` is no known field; `{name}` is near", entry.key),
                )
                .help(format!("write `{name}` if that was meant; it is kept as `extra.{}`", entry.key))
                .at(entry.key_span.clone()),
            );
        }
    }
}

/// How many slips lie between two names, if they are few enough for one to be meant for the other.
fn slips(typed: &str, name: &str) -> Option<usize> {
    let chars = name.chars().count();
    if chars < NAME_CHARS_MIN || typed.chars().count() < NAME_CHARS_MIN - 1 {
        return None;
    }
    let few = if chars >= TWO_SLIPS_CHARS_MIN { 2 } else { 1 };
    if typed.chars().count().abs_diff(chars) > few {
        return None;
    }
    let slips = strsim::osa_distance(typed, name);
    (slips > 0 && slips <= few).then_some(slips)
}
