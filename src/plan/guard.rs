//! The guard: what the store holds under a post's identity fields, and every refusal of `DESIGN` 1.
//!
//! Pure look-ups over heads and catalog; decides nothing but whether a post is refused.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Policy, Reason};
use crate::catalog::Catalog;
use crate::identity::PostId;
use crate::post::Post;
use crate::post::date::PublishedAt;
use crate::store::document::{Head, Status};

/// The heads of the collection, looked up in every way that the guard needs.
pub(super) struct Stored<'a> {
    heads: &'a [Head],
    by_id: HashMap<&'a str, &'a Head>,
    live: HashMap<(&'a str, &'a str), Vec<&'a Head>>,
    by_path: HashMap<&'a str, Vec<&'a Head>>,
    by_key: HashMap<(&'a str, &'a str), Vec<&'a Head>>,
    foreign: Vec<&'a Head>,
    source: Option<&'a str>,
}

impl<'a> Stored<'a> {
    pub(super) fn new(heads: &'a [Head], policy: &'a Policy) -> Self {
        let mut stored = Stored {
            heads,
            by_id: HashMap::with_capacity(heads.len()),
            live: HashMap::with_capacity(heads.len()),
            by_path: HashMap::new(),
            by_key: HashMap::new(),
            foreign: Vec::new(),
            source: policy.origin.name.as_deref(),
        };
        for head in heads {
            stored.by_id.insert(&head.id, head);
            if head.live {
                stored.live.entry((&head.slug, &head.lang)).or_default().push(head);
            }
            let Some(ingest) = &head.ingest else {
                // A document without slug is a counter or the like, not a post of somebody else.
                if !head.slug.is_empty() {
                    stored.foreign.push(head);
                }
                continue;
            };
            if head.live && stored.is_ours(head) {
                stored.by_path.entry(&ingest.path).or_default().push(head);
                if let Some(key) = &head.translation_key {
                    stored.by_key.entry((key, &head.lang)).or_default().push(head);
                }
            }
        }
        stored
    }

    pub(super) fn heads(&self) -> impl Iterator<Item = &'a Head> {
        self.heads.iter()
    }

    pub(super) fn by_id(&self, id: &str) -> Option<&'a Head> {
        self.by_id.get(id).copied()
    }

    /// Live posts of this source that this file made.
    pub(super) fn made_by(&self, path: &str) -> &[&'a Head] {
        self.by_path.get(path).map_or(&[], Vec::as_slice)
    }

    /// Whether the post belongs to this source. A post without a source belongs to whoever has none.
    pub(super) fn is_ours(&self, head: &Head) -> bool {
        head.ingest.as_ref().is_some_and(|ingest| ingest.source.as_deref() == self.source)
    }

    /// Whether a run of this source may write the post: it is ours, or nobody's yet.
    pub(super) fn is_open_to_us(&self, head: &Head) -> bool {
        head.ingest
            .as_ref()
            .is_some_and(|ingest| ingest.source.is_none() || ingest.source.as_deref() == self.source)
    }

    fn told_source(&self) -> String {
        self.source.map_or_else(|| "of no source".to_owned(), |ours| format!("of {ours:?}"))
    }

    pub(super) fn live_of_source(&self) -> usize {
        self.heads.iter().filter(|head| head.live && self.is_ours(head)).count()
    }

    fn live_elsewhere(&self, post: &Post, id: &str) -> Option<&'a Head> {
        self.live_beside(post.slug.as_str(), post.lang.as_str(), id)
    }

    /// A live post of this slug and language under another id.
    pub(super) fn live_beside(&self, slug: &str, lang: &str, id: &str) -> Option<&'a Head> {
        let heads = self.live.get(&(slug, lang))?;
        heads.iter().find(|head| head.id != id).copied()
    }
}

/// What the tree makes, posts and drafts alike.
pub(super) struct Tree<'a> {
    keys: BTreeMap<(&'a str, &'a str), &'a str>,
    ids: HashSet<String>,
    invalid: HashSet<&'a str>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(catalog: &'a Catalog) -> Self {
        let posts = catalog.posts.iter().chain(catalog.held.iter().map(|(_, post)| post));
        let mut tree = Tree {
            keys: BTreeMap::new(),
            ids: HashSet::new(),
            invalid: catalog.invalid.iter().map(String::as_str).collect(),
        };
        for post in posts {
            tree.keys.insert((post.slug.as_str(), post.lang.as_str()), &post.file);
            tree.ids.insert(post.id.to_string());
        }
        tree
    }

    /// Whether some file makes this slug and language.
    pub(super) fn makes(&self, slug: &str, lang: &str) -> bool {
        self.keys.contains_key(&(slug, lang))
    }

    pub(super) fn makes_id(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Whether the file has errors: nothing is known of what it makes.
    pub(super) fn is_invalid(&self, path: &str) -> bool {
        self.invalid.contains(path)
    }
}

/// A refusal, and the stored post that it protects.
pub(super) struct Refusal<'a> {
    pub(super) reason: Reason,
    pub(super) protects: Option<&'a Head>,
}

/// Refuses a post, or lets it through.
pub(super) fn check<'a>(post: &Post, store: &Stored<'a>, tree: &Tree<'_>) -> Option<Refusal<'a>> {
    let id = post.id.to_string();
    match store.by_id(&id) {
        Some(head) => check_stored(post, &id, head, store),
        None => check_new(post, &id, store, tree),
    }
}

fn check_stored<'a>(post: &Post, id: &str, head: &'a Head, store: &Stored<'a>) -> Option<Refusal<'a>> {
    if head.slug != post.slug.as_str() || head.lang != post.lang.as_str() {
        return refuse(
            head,
            "id-taken",
            format!(
                "id {id} is stored with slug {:?} and lang {:?}; this file has slug {:?} and lang {:?}",
                head.slug,
                head.lang,
                post.slug.as_str(),
                post.lang.as_str()
            ),
            "look at the stored document: it was made by hand or by another tool, or two posts hash alike",
        );
    }
    if head.ingest.is_none() {
        return refuse(
            head,
            "id-taken",
            format!("id {id} is stored by somebody else: the document has no `ingest`"),
            "remove or rename the stored document if it is not wanted",
        );
    }
    if !store.is_open_to_us(head) {
        return refuse_other_source(head, store);
    }
    match &head.status {
        Status::Superseded => refuse(
            head,
            "id-taken",
            format!(
                "id {id} is superseded by {}: this post was moved on purpose",
                head.superseded_by.as_deref().unwrap_or("another post")
            ),
            "remove the file, or give it back the new slug, lang and date",
        ),
        Status::Staged | Status::Other(_) => refuse(
            head,
            "id-taken",
            format!(
                "id {id} is stored with status {:?}, which ingesting never changes",
                head.status.as_str()
            ),
            "finish what put it there, or correct the stored status",
        ),
        Status::Archived => {
            store.live_elsewhere(post, id).and_then(|live| refuse_live(post, id, live, store))
        }
        Status::Active | Status::Publishing => None,
    }
}

fn check_new<'a>(post: &Post, id: &str, store: &Stored<'a>, tree: &Tree<'_>) -> Option<Refusal<'a>> {
    if let Some(live) = store.live_elsewhere(post, id) {
        return refuse_live(post, id, live, store);
    }
    if let Some(first) = store.foreign.first() {
        return Some(Refusal {
            reason: Reason {
                code: "foreign-collection",
                detail: format!(
                    "the collection holds {} posts that idempost never wrote, the first is {} ({}, {}): readers would \
                     see doubles",
                    store.foreign.len(),
                    first.id,
                    first.slug,
                    first.lang
                ),
                help: "name an empty collection with --collection, or move the other posts away".to_owned(),
            },
            protects: None,
        });
    }
    let by_path = store.made_by(&post.file).iter();
    let by_key =
        post.meta.translation_key.as_deref().and_then(|key| store.by_key.get(&(key, post.lang.as_str())));
    let moved = by_path
        .chain(by_key.into_iter().flatten())
        .find(|head| head.id != id && !tree.makes(&head.slug, &head.lang))?;
    let made = moved.ingest.as_ref().map_or("", |ingest| ingest.path.as_str());
    let (code, what, was, now) = if moved.slug == post.slug.as_str() {
        ("frozen-lang", "lang", moved.lang.as_str(), post.lang.as_str())
    } else {
        ("frozen-slug", "slug", moved.slug.as_str(), post.slug.as_str())
    };
    refuse(
        moved,
        code,
        format!(
            "{what} was changed from {was:?} (id {}, published from {made}) to {now:?} (id {id}); the stored post would \
             be orphaned",
            moved.id
        ),
        &format!("put {what} back to {was:?}; slug, lang and publishedAt are frozen once a post is stored"),
    )
}

/// `(slug, lang)` is live under another id.
fn refuse_live<'a>(post: &Post, id: &str, live: &'a Head, store: &Stored<'a>) -> Option<Refusal<'a>> {
    if live.ingest.is_none() {
        return refuse(
            live,
            "foreign-collection",
            format!(
                "slug {:?} in {} is live as {}, which idempost never wrote: readers would see it twice",
                live.slug, live.lang, live.id
            ),
            "name an empty collection with --collection, or move the other post away",
        );
    }
    if !store.is_open_to_us(live) {
        return refuse_other_source(live, store);
    }
    let was = PostId::parse(&live.id)
        .and_then(|id| i64::try_from(id.unix_millis()).ok())
        .and_then(|millis| PublishedAt::from_unix_millis(millis).ok())
        .map_or_else(|| "another date".to_owned(), PublishedAt::to_rfc3339);
    let now = post.published_at.to_rfc3339();
    refuse(
        live,
        "frozen-date",
        format!(
            "publishedAt was changed from {was} (id {}) to {now} (id {id}); the stored post would be orphaned",
            live.id
        ),
        &format!("put the date back to {was}; slug, lang and publishedAt are frozen once a post is stored"),
    )
}

/// Refuses a stored post that is not ours to write, whatever is wanted of it; `None`: it is.
pub(super) fn not_ours(head: &Head, store: &Stored<'_>) -> Option<Reason> {
    if head.ingest.is_none() {
        return Some(Reason {
            code: "id-taken",
            detail: format!("{} is stored by somebody else: the document has no `ingest`", head.id),
            help: "idempost changes only what it wrote".to_owned(),
        });
    }
    if store.is_open_to_us(head) {
        return None;
    }
    let theirs = head.ingest.as_ref().and_then(|ingest| ingest.source.as_deref()).unwrap_or("");
    Some(Reason {
        code: "other-source",
        detail: format!("the post belongs to source {theirs:?}, this run is {}", store.told_source()),
        help: "name the source that owns it: --source".to_owned(),
    })
}

fn refuse_other_source<'a>(head: &'a Head, store: &Stored<'a>) -> Option<Refusal<'a>> {
    let theirs = head.ingest.as_ref().and_then(|ingest| ingest.source.as_deref()).unwrap_or("");
    refuse(
        head,
        "other-source",
        format!(
            "the stored post {} belongs to source {theirs:?}, this run is {}",
            head.id,
            store.told_source()
        ),
        "set `source` to the one that owns the post, or give this post another slug",
    )
}

#[expect(clippy::unnecessary_wraps, reason = "every caller returns the refusal as it is")]
fn refuse<'a>(head: &'a Head, code: &'static str, detail: String, help: &str) -> Option<Refusal<'a>> {
    Some(Refusal { reason: Reason { code, detail, help: help.to_owned() }, protects: Some(head) })
}
