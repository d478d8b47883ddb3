//! Which stored posts become files, and under which names.
//!
//! Pure: a function of the heads. A stored path is taken as it is where nothing in it can lead out of the
//! folder or be refused by this system; else a name is made of language and slug. No two posts get one name.

use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;

use crate::source::{has_post_extension, skipped_by_name};
use crate::store::document::{Head, Status};

/// Longest part of a path, in bytes: what common file systems take.
const PART_BYTES_MAX: usize = 255;
/// Longest path, in bytes.
const PATH_BYTES_MAX: usize = 1024;
/// Numbers that are tried for one name.
const NUMBERS_MAX: usize = 10_000;
/// Longest part of a made name, in bytes: there is room for a number and an extension.
const MADE_BYTES_MAX: usize = 120;

/// Statuses of other tools under which a post was not public.
const NOT_PUBLIC: [&str; 8] =
    ["draft", "private", "pending", "trash", "review", "scheduled", "hidden", "unpublished"];

/// Which posts are asked for.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Whose posts, beside those that idempost did not write; `None`: everybody's.
    pub source: Option<String>,
    /// Those too that are not for readers any more.
    pub all: bool,
}

/// A post that becomes a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// `_id`.
    pub id: String,
    /// Slug.
    pub slug: String,
    /// Language.
    pub lang: String,
    /// Status as stored.
    pub status: String,
    /// The folder in which it is set aside, with its `/`, or nothing.
    pub aside: &'static str,
    /// Its path below that folder, as the tree would have it.
    pub path: String,
    /// The file that made it, where that is another path.
    pub instead_of: Option<String>,
}

impl Chosen {
    /// Path below the target folder, with `/`.
    pub fn file(&self) -> String {
        format!("{}{}", self.aside, self.path)
    }
}

/// A stored document that becomes no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// `_id`.
    pub id: String,
    /// Slug.
    pub slug: String,
    /// Language.
    pub lang: String,
    /// `archived`, `superseded`, `staged`, `other-source`, `id-not-text`, `no-slug`, `no-lang`, `no-date`,
    /// `no-body`, `gone`.
    pub reason: &'static str,
}

impl Left {
    /// With its reason.
    pub fn of(head: &Head, reason: &'static str) -> Self {
        Left { id: head.id.clone(), slug: head.slug.clone(), lang: head.lang.clone(), reason }
    }
}

/// Chooses and names: first what idempost wrote, then what others did, each in order of stored path and id, so
/// that the same store gives the same names.
pub fn choose(heads: &[Head], choice: &Choice) -> (Vec<Chosen>, Vec<Left>) {
    let mut left = Vec::new();
    let mut wanted: Vec<&Head> = Vec::new();
    for head in heads {
        match reason_to_leave(head, choice) {
            Some(reason) => left.push(Left::of(head, reason)),
            None => wanted.push(head),
        }
    }
    let key = |head: &Head| (aside(head), head.ingest.is_none(), stored_path(head).map(str::to_owned));
    wanted.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.id.cmp(&b.id)));
    let mut names = Names::default();
    let chosen = wanted.into_iter().map(|head| names.chosen(head)).collect();
    (chosen, left)
}

fn reason_to_leave(head: &Head, choice: &Choice) -> Option<&'static str> {
    if let (Some(ingest), Some(source)) = (&head.ingest, &choice.source)
        && ingest.source.as_ref().is_some_and(|other| other != source)
    {
        return Some("other-source");
    }
    match head.status {
        Status::Archived if !choice.all => Some("archived"),
        Status::Superseded if !choice.all => Some("superseded"),
        Status::Staged if !choice.all => Some("staged"),
        _ if head.slug.is_empty() => Some("no-slug"),
        _ => head.lang.is_empty().then_some("no-lang"),
    }
}

/// The folder for what readers do not see, which the walk passes by or reads as drafts: ingested again as it
/// lies there, it stays unseen.
fn aside(head: &Head) -> &'static str {
    match &head.status {
        Status::Archived => "_archived/",
        Status::Superseded => "_superseded/",
        Status::Staged => "_staged/",
        Status::Other(text)
            if head.ingest.is_none() && NOT_PUBLIC.contains(&text.to_lowercase().as_str()) =>
        {
            "_drafts/"
        }
        _ => "",
    }
}

fn stored_path(head: &Head) -> Option<&str> {
    head.ingest.as_ref().map(|ingest| ingest.path.as_str()).filter(|path| !path.is_empty())
}

/// The names that are taken.
#[derive(Default)]
struct Names {
    /// As written, each with its folder aside.
    exact: HashSet<String>,
    /// As a file system without case or normalisation forms sees them; folders on the way too.
    folded: HashMap<String, usize>,
}

impl Names {
    fn chosen(&mut self, head: &Head) -> Chosen {
        let aside = aside(head);
        let stored = stored_path(head);
        let path = match stored.filter(|path| is_safe(path)) {
            Some(path) if self.take(aside, path) => path.to_owned(),
            stored => self.made(aside, stored, head),
        };
        Chosen {
            id: head.id.clone(),
            slug: head.slug.clone(),
            lang: head.lang.clone(),
            status: head.status.as_str().to_owned(),
            aside,
            instead_of: stored.filter(|stored| *stored != path).map(str::to_owned),
            path,
        }
    }

    /// Takes a name as it is, where nobody has it. Two names that differ by case alone are two files where the
    /// tree was made.
    fn take(&mut self, aside: &str, path: &str) -> bool {
        let whole = format!("{aside}{path}");
        let folded = fold(&whole);
        let is_new = self.exact.insert(whole);
        if is_new {
            *self.folded.entry(folded).or_default() += 1;
        }
        is_new
    }

    /// A name of our own, which no file system takes for another: the stored one with a number where that is
    /// taken, else one of language and slug.
    fn made(&mut self, aside: &str, stored: Option<&str>, head: &Head) -> String {
        let extension = stored
            .and_then(|path| path.rsplit_once('.'))
            .map(|(_, extension)| extension)
            .filter(|extension| has_post_extension(&format!("a.{extension}")))
            .unwrap_or("md");
        let stem = match stored.filter(|path| is_safe(path)) {
            Some(path) => path.rsplit_once('.').map_or(path, |(stem, _)| stem).to_owned(),
            None => format!("{}/{}", part(&head.lang), part(&head.slug)),
        };
        let mut number = 1_usize;
        loop {
            let path = if number == 1 {
                format!("{stem}.{extension}")
            } else {
                format!("{stem}-{number}.{extension}")
            };
            number += 1;
            // A number ends somewhere: there are no more names than posts.
            if is_safe(&path)
                && !self.folded.contains_key(&fold(&format!("{aside}{path}")))
                && self.take(aside, &path)
            {
                return path;
            }
            if number > NUMBERS_MAX {
                let path = format!("{}.{extension}", part(&format!("post-{}-{}", head.id, self.exact.len())));
                self.take(aside, &path);
                return path;
            }
        }
    }
}

/// A text as one part of a path that every file system takes and the walk reads.
fn part(text: &str) -> String {
    let kept = |c: char| if c.is_alphanumeric() || "-_.+".contains(c) { c } else { '-' };
    let mut name = String::new();
    for c in text.nfc().map(kept) {
        if name.len() + c.len_utf8() > MADE_BYTES_MAX {
            break;
        }
        name.push(c);
    }
    let name = name.trim_start_matches(['.', '_', '-', '+']).trim_end_matches(['.', '-']);
    let reads = |name: &str| {
        skipped_by_name(&format!("{name}.md")).is_none() && skipped_by_name(&format!("{name}/a.md")).is_none()
    };
    if name.is_empty() || is_reserved(name) || !reads(name) {
        format!("post-{name}")
    } else {
        name.to_owned()
    }
}

/// A name as a file system sees it that knows neither case nor normalisation forms.
fn fold(path: &str) -> String {
    path.nfkd().flat_map(char::to_lowercase).collect::<String>().nfkd().collect()
}

/// Whether a path names a file below the folder, wherever it is written, and the walk reads it as a post.
fn is_safe(path: &str) -> bool {
    path.len() <= PATH_BYTES_MAX
        && !path.contains(['\\', '\0'])
        && path.split('/').all(|part| is_safe_part(part, cfg!(windows)))
        && has_post_extension(path)
        && skipped_by_name(path).is_none()
}

/// Whether one part of a path is a plain name. On Windows some names are devices or streams, and others lose
/// their end.
fn is_safe_part(part: &str, windows: bool) -> bool {
    let plain = !part.is_empty()
        && part != "."
        && part != ".."
        && part.len() <= PART_BYTES_MAX
        && !part.chars().any(char::is_control);
    let refused = windows
        && (part.contains(['<', '>', ':', '"', '|', '?', '*'])
            || part.ends_with([' ', '.'])
            || is_reserved(part));
    plain && !refused
}

/// A name of a device of Windows, with any extension.
fn is_reserved(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end().to_ascii_uppercase();
    let numbered = |device: &str| {
        stem.strip_prefix(device).is_some_and(|rest| {
            let mut digits = rest.chars();
            matches!(digits.next(), Some('0'..='9' | '¹' | '²' | '³')) && digits.next().is_none()
        })
    };
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
        || numbered("COM")
        || numbered("LPT")
}

/// The same for the path of an asset, which may have any extension.
pub fn is_safe_asset(path: &str) -> bool {
    path.len() <= PATH_BYTES_MAX
        && !path.contains(['\\', '\0'])
        && path.split('/').all(|part| is_safe_part(part, cfg!(windows)))
        && !has_post_extension(path)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::document::Ingest;

    fn head(id: &str, path: Option<&str>, slug: &str, status: Status) -> Head {
        Head {
            id: id.to_owned(),
            slug: slug.to_owned(),
            lang: "en".to_owned(),
            live: status.is_live(),
            status,
            translation_key: None,
            source_hash: None,
            superseded_by: None,
            ingest: path.map(|path| Ingest { path: path.to_owned(), ..Ingest::default() }),
        }
    }

    fn files(heads: &[Head], all: bool) -> Vec<String> {
        let (chosen, _) = choose(heads, &Choice { source: None, all });
        chosen.iter().map(Chosen::file).collect()
    }

    fn name(path: &str, slug: &str) -> String {
        files(&[head("A", Some(path), slug, Status::Active)], false).remove(0)
    }

    #[test]
    fn a_stored_path_is_taken_where_it_stays_in_the_folder() {
        for path in ["a.md", "ko/2021-05-06-x/index.ko.MDX", "_posts/a: b? .md", "가/é.markdown"] {
            assert_eq!(name(path, "x"), path);
        }
    }

    #[test]
    fn nothing_leads_out_of_the_folder() {
        let long = format!("{}.md", "x".repeat(300));
        for path in [
            "../a.md",
            "/etc/a.md",
            "a/../../b.md",
            "a//b.md",
            "./a.md",
            "a/./b.md",
            "..\\a.md",
            "a\0.md",
            "a\n.md",
            "a.md/",
            "a.txt",
            "",
            "/",
            "..",
            ".git/a.md",
            "README.md",
            "node_modules/a.md",
            "C:\\a.md",
            &long,
        ] {
            assert_eq!(name(path, "a-slug"), "en/a-slug.md", "{path:?}");
        }
        for (slug, made) in [
            ("../../etc/passwd", "en/etc-passwd.md"),
            ("..", "en/post-.md"),
            ("a/b", "en/a-b.md"),
            ("nul", "en/post-nul.md"),
            ("com1.x", "en/post-com1.x.md"),
            ("README", "en/post-README.md"),
            ("node_modules", "en/post-node_modules.md"),
            ("_index", "en/index.md"),
            ("a.bak", "en/post-a.bak.md"),
            ("봄: 여름?", "en/봄--여름.md"),
            ("\u{202e}x", "en/x.md"),
        ] {
            assert_eq!(name("../x.md", slug), made, "{slug:?}");
        }
        let slug = "봄".repeat(100);
        assert_eq!(name("..", &slug), format!("en/{}.md", "봄".repeat(40)));
    }

    #[test]
    fn names_of_windows_are_refused_there() {
        for part in ["con", "NUL.md", "Com1", "lpt9.tar.gz", "a.", "a ", "a:b", "a?b", "aux .md"] {
            assert!(!is_safe_part(part, true), "{part}");
            assert!(is_safe_part(part, false), "{part}");
        }
        for part in ["console", "com10.md", "com", "nul-1.md", ".md"] {
            assert!(is_safe_part(part, true), "{part}");
        }
    }

    #[test]
    fn two_posts_never_have_one_name() {
        let active = |id: &str, path: Option<&str>, slug: &str| head(id, path, slug, Status::Active);
        let heads = [
            active("1", Some("a.md"), "a"),
            active("2", Some("a.md"), "b"),
            active("3", None, "Slug"),
            active("4", None, "slug"),
            active("5", None, "slug/"),
            active("6", Some("en/SLUG.md"), "c"),
            active("7", Some("A.md"), "d"),
        ];
        assert_eq!(
            files(&heads, false),
            ["A.md", "a.md", "a-2.md", "en/SLUG.md", "en/Slug-2.md", "en/slug-3.md", "en/slug-4.md"]
        );
    }

    #[test]
    fn what_readers_do_not_see_is_left_or_set_aside() {
        let foreign = |id: &str, status: &str| head(id, None, id, Status::from_stored(status));
        let heads = [
            head("1", Some("a.md"), "a", Status::Active),
            head("2", Some("a.md"), "a", Status::Superseded),
            head("3", Some("b.md"), "b", Status::Archived),
            head("4", Some("c.md"), "c", Status::Staged),
            foreign("5", "draft"),
            foreign("6", "published"),
            foreign("", "x"),
        ];
        assert_eq!(files(&heads, false), ["a.md", "en/6.md", "_drafts/en/5.md"]);
        let all = files(&heads, true);
        assert_eq!(
            all,
            ["a.md", "en/6.md", "_archived/b.md", "_drafts/en/5.md", "_staged/c.md", "_superseded/a.md"]
        );
        let (_, left) = choose(&heads, &Choice::default());
        let reasons: Vec<&str> = left.iter().map(|left| left.reason).collect();
        assert_eq!(reasons, ["superseded", "archived", "staged", "no-slug"]);
    }

    proptest! {
        #[test]
        fn whatever_is_stored_every_name_is_below_the_folder_and_its_own(
            heads in prop::collection::vec(
                ("\\PC{0,8}|[./\\\\a]{0,8}(\\.md)?|\\.\\./[a-c]\\.md", "\\PC{0,8}|[./a-cA-C]{1,6}", "[./a-z-]{0,4}", any::<bool>()), 1..12,
            )
        ) {
            let heads: Vec<Head> = heads
                .into_iter()
                .enumerate()
                .map(|(at, (path, slug, lang, ours))| Head {
                    lang,
                    ..head(&at.to_string(), ours.then_some(path.as_str()), &slug, Status::Active)
                })
                .collect();
            let mut seen = HashSet::new();
            for file in files(&heads, true) {
                prop_assert!(is_safe(&file), "{file:?}");
                prop_assert!(seen.insert(file.clone()), "{file:?} twice");
                let parts = std::path::Path::new(&file).components();
                prop_assert!(parts.into_iter().all(|part| matches!(part, std::path::Component::Normal(_))));
            }
        }
    }
}
