//! The one table of known fields. The parser and the JSON Schema are both made from it.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::post::Rules;
use crate::post::front_matter::fold_key as folded;

/// A known field of the front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// `title`.
    Title,
    /// `slug`.
    Slug,
    /// `url`, `path`, `permalink`: where the post lies on the website; gives slug and day.
    Address,
    /// `publishedAt`.
    PublishedAt,
    /// `updatedAt`.
    UpdatedAt,
    /// `expiresAt`.
    ExpiresAt,
    /// `draft`.
    Draft,
    /// `unlisted`.
    Unlisted,
    /// `status`: `draft` or `unlisted`.
    Status,
    /// `summary`.
    Summary,
    /// `tags`.
    Tags,
    /// `categories`.
    Categories,
    /// `authors`.
    Authors,
    /// `cover`.
    Cover,
    /// `canonicalUrl`.
    CanonicalUrl,
    /// `aliases`.
    Aliases,
    /// `lang`.
    Lang,
    /// `translationKey`.
    TranslationKey,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Text that is not empty; numbers and booleans keep their spelling.
    Text,
    /// Text; an empty one is the same as none.
    OptionalText,
    /// A date in any accepted form.
    Date,
    /// `true` or `false`.
    Flag,
    /// `draft`, `unlisted`, or any other word.
    Status,
    /// A list, comma-separated text, or objects with `label` or `name`.
    Labels,
    /// A text, a list, or objects with `name`.
    Names,
    /// A text or a list of texts.
    Texts,
    /// A text, or an object with `src`, `url`, `image` or `path`.
    Image,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldSpec {
    /// The field.
    pub field: Field,
    /// Its name in the store, in messages and in `[fields]` of the configuration.
    pub name: &'static str,
    /// Accepted names in order of precedence. `a.b` is the key `b` of the map `a`; `a[0]` is the
    /// first item of the list `a`.
    pub names: &'static [&'static str],
    /// What it holds.
    pub shape: Shape,
    /// One line for the person who writes it.
    pub about: &'static str,
}

/// The known fields, as `CONVENTIONS` lists them.
pub const TABLE: &[FieldSpec] = &[
    FieldSpec {
        field: Field::Title,
        name: "title",
        names: &["title", "linkTitle"],
        shape: Shape::Text,
        about: "Title of the post; without one, its first level-one heading, else its slug.",
    },
    FieldSpec {
        field: Field::Slug,
        name: "slug",
        names: &["slug"],
        shape: Shape::Text,
        about: "Last part of the post's address, kept as written. Frozen once published.",
    },
    FieldSpec {
        field: Field::Address,
        name: "path",
        names: &["url", "path", "permalink"],
        shape: Shape::OptionalText,
        about: "Address on the website; its last literal part is the slug where there is no `slug`, and YYYY/MM/DD in it the date where there is no date.",
    },
    FieldSpec {
        field: Field::PublishedAt,
        name: "publishedAt",
        names: &["publishedAt", "publishDate", "pubDate", "published", "date", "created", "createdAt"],
        shape: Shape::Date,
        about: "When the post was published, for example 2024-05-22 or 2024-05-22T09:30:00+09:00. Frozen once published.",
    },
    FieldSpec {
        field: Field::UpdatedAt,
        name: "updatedAt",
        names: &[
            "updatedAt",
            "updated",
            "lastmod",
            "lastModified",
            "modified",
            "modDate",
            "updatedDate",
            "last_modified_at",
            "last_update.date",
        ],
        shape: Shape::Date,
        about: "When the post was last changed for its readers.",
    },
    FieldSpec {
        field: Field::ExpiresAt,
        name: "expiresAt",
        names: &["expiresAt", "expiryDate", "unpublishDate"],
        shape: Shape::Date,
        about: "After this the website no longer shows the post.",
    },
    FieldSpec {
        field: Field::Draft,
        name: "draft",
        names: &["draft"],
        shape: Shape::Flag,
        about: "true keeps the post out of the store.",
    },
    FieldSpec {
        field: Field::Unlisted,
        name: "unlisted",
        names: &["unlisted", "hidden"],
        shape: Shape::Flag,
        about: "true keeps the post out of lists; its page is still there.",
    },
    FieldSpec {
        field: Field::Status,
        name: "status",
        names: &["status"],
        shape: Shape::Status,
        about: "`draft` or `unlisted`; any other word is kept as it is.",
    },
    FieldSpec {
        field: Field::Summary,
        name: "summary",
        names: &["summary", "description", "excerpt", "custom_excerpt"],
        shape: Shape::OptionalText,
        about: "One or two sentences for lists and search engines.",
    },
    FieldSpec {
        field: Field::Tags,
        name: "tags",
        names: &["tags", "keywords", "taxonomies.tags"],
        shape: Shape::Labels,
        about: "A list, or a text with commas between the tags.",
    },
    FieldSpec {
        field: Field::Categories,
        name: "categories",
        names: &["categories", "category", "taxonomies.categories"],
        shape: Shape::Labels,
        about: "A list, or a text with commas between the categories.",
    },
    FieldSpec {
        field: Field::Authors,
        name: "authors",
        names: &["authors", "author"],
        shape: Shape::Names,
        about: "A name, a list of names, or objects with `name`.",
    },
    FieldSpec {
        field: Field::Cover,
        name: "cover",
        names: &[
            "cover",
            "image",
            "heroImage",
            "coverImage",
            "featuredImage",
            "feature_image",
            "ogImage",
            "images[0]",
        ],
        shape: Shape::Image,
        about: "Path or URL of the picture that stands for the post.",
    },
    FieldSpec {
        field: Field::CanonicalUrl,
        name: "canonicalUrl",
        names: &["canonicalUrl", "canonical_url", "canonical"],
        shape: Shape::OptionalText,
        about: "URL of the original where this post is a copy.",
    },
    FieldSpec {
        field: Field::Aliases,
        name: "aliases",
        names: &["aliases", "redirect_from"],
        shape: Shape::Texts,
        about: "Older addresses of the post.",
    },
    FieldSpec {
        field: Field::Lang,
        name: "lang",
        names: &["lang", "language", "locale"],
        shape: Shape::OptionalText,
        about: "Language tag, for example ko, en-US or zh-Hant. Frozen once published.",
    },
    FieldSpec {
        field: Field::TranslationKey,
        name: "translationKey",
        names: &["translationKey", "page_id", "ref"],
        shape: Shape::OptionalText,
        about: "The same text in all translations of one post.",
    },
];

/// Maps whose keys are lifted into `extra`: Hugo's `params` and Zola's `extra`.
pub const LIFTED: &[&str] = &["params", "extra"];

/// Where a name stands: its field and its place in the order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The row.
    pub spec: &'static FieldSpec,
    /// Smaller wins.
    pub rank: usize,
}

/// Rank of the first name that the configuration adds: after every name of the table.
const CONFIGURED_RANK: usize = 1_000;

static BY_NAME: LazyLock<HashMap<String, Place>> = LazyLock::new(|| {
    let mut by_name = HashMap::new();
    for spec in TABLE {
        for (rank, name) in spec.names.iter().enumerate() {
            // `canonicalUrl` and `canonical_url` are one name; the first place counts.
            by_name.entry(folded_path(name)).or_insert(Place { spec, rank });
        }
    }
    by_name
});

/// The row of a field.
pub fn spec(field: Field) -> &'static FieldSpec {
    TABLE.iter().find(|spec| spec.field == field).unwrap_or(FALLBACK)
}

// Every `Field` has its row (a test says so); the constant spares a panic.
const FALLBACK: &FieldSpec =
    &FieldSpec { field: Field::Title, name: "title", names: &["title"], shape: Shape::Text, about: "" };

/// The names under which `[fields]` of the configuration can add more.
pub fn canonical_names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|spec| spec.name)
}

/// [`folded`], part by part, of a name with dots.
fn folded_path(name: &str) -> String {
    name.split('.').map(folded).collect::<Vec<_>>().join(".")
}

/// The names that count for one configuration.
pub struct Names {
    configured: Vec<(String, Place)>,
}

impl Names {
    /// The table and what `[fields]` adds. A configured name takes precedence over the same name in
    /// the table: it was asked for.
    pub fn new(rules: &Rules) -> Self {
        let mut configured = Vec::new();
        for (canonical, names) in &rules.field_names {
            let wanted = folded(canonical);
            let Some(spec) = TABLE.iter().find(|spec| folded(spec.name) == wanted) else {
                continue;
            };
            for (at, name) in names.iter().enumerate() {
                configured.push((folded_path(name), Place { spec, rank: CONFIGURED_RANK + at }));
            }
        }
        Names { configured }
    }

    /// The place of a key at the top.
    pub fn top(&self, key: &str) -> Option<Place> {
        if key.contains(['.', '[']) {
            return None;
        }
        self.find(&folded(key))
    }

    /// The place of the key `child` of the map `parent`.
    pub fn nested(&self, parent: &str, child: &str) -> Option<Place> {
        if parent.contains(['.', '[']) || child.contains(['.', '[']) {
            return None;
        }
        self.find(&format!("{}.{}", folded(parent), folded(child)))
    }

    /// The place of the first item of the list `parent`.
    pub fn first_item(&self, parent: &str) -> Option<Place> {
        self.find(&format!("{}[0]", folded(parent)))
    }

    /// Whether a key at the top is nobody's: no field's, and none below which one is looked for.
    pub fn is_free(&self, key: &str) -> bool {
        let key = folded(key);
        let (map, list) = (format!("{key}."), format!("{key}["));
        let holds = |name: &str| name.starts_with(&map) || name.starts_with(&list);
        !LIFTED.contains(&key.as_str())
            && self.find(&key).is_none()
            && !BY_NAME.keys().any(|name| holds(name))
            && !self.configured.iter().any(|(name, _)| holds(name))
    }

    fn find(&self, path: &str) -> Option<Place> {
        let configured = self.configured.iter().find(|(name, _)| name == path).map(|(_, place)| *place);
        configured.or_else(|| BY_NAME.get(path).copied())
    }
}
