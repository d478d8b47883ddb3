//! Who a post is, and the digests of what it says. Every encoding is specified byte by byte here and
//! its known answers never change.
//!
//! | name | text | bytes that are hashed |
//! |---|---|---|
//! | [`PostId`] | ULID | 48 bits: `publishedAt` in Unix milliseconds, big endian; 80 bits: the first ten bytes of SHA-256 over slug, one `:`, lang, as UTF-8 |
//! | [`SourceHash`] | `s1:` + hex | the file without one leading BOM, every CR LF turned into LF, nothing else |
//! | [`ContentHash`] | `c1:` + hex | the canonical encoding of the content's fields, see [`canonical`]; of `frontMatter` without its [`FORM_FIELDS`] |
//! | links and assets | `l1:`, `a1:` + hex | see [`digest_pairs`] |
//!
//! Reads no clock and no environment.

use std::fmt;

use bson::{Bson, Document};
use sha2::{Digest, Sha256};

use crate::post::date::PublishedAt;
use crate::post::lang::Lang;
use crate::post::slug::Slug;

/// The derived id of a post: a ULID whose time is `publishedAt` and whose randomness is the hash of
/// slug and language. Its text is 26 characters of upper-case Crockford base32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PostId(ulid::Ulid);

impl PostId {
    /// Derives the id (`DESIGN` 1). A canonical language holds no `:`, so no two triples meet in the
    /// hashed text.
    pub fn derive(slug: &Slug, lang: &Lang, published_at: PublishedAt) -> Self {
        Self::of_texts(slug.as_str(), lang.as_str(), published_at)
    }

    /// The id that a stored document has by its own fields, canonical or not.
    pub fn of_texts(slug: &str, lang: &str, published_at: PublishedAt) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(slug.as_bytes());
        hasher.update(b":");
        hasher.update(lang.as_bytes());
        let digest = hasher.finalize();
        let random = digest.iter().take(10).fold(0_u128, |sum, byte| (sum << 8) | u128::from(*byte));
        PostId(ulid::Ulid::from_parts(published_at.unix_millis().unsigned_abs(), random))
    }

    /// Reads the text form. `None` for anything that is not 26 characters of Crockford base32.
    pub fn parse(text: &str) -> Option<Self> {
        ulid::Ulid::from_string(text).ok().map(PostId)
    }

    /// `publishedAt` in Unix milliseconds, as the id holds it.
    pub fn unix_millis(self) -> u64 {
        self.0.timestamp_ms()
    }

    /// The sixteen bytes: six of time, ten of hash.
    pub fn bytes(self) -> [u8; 16] {
        self.0.to_bytes()
    }
}

impl fmt::Display for PostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for PostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostId({self})")
    }
}

macro_rules! digest_text {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// The text form: version prefix, colon, 64 lower-case hex digits.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            fn of(hasher: Sha256) -> Self {
                $name(format!(concat!($prefix, ":{}"), hex::encode(hasher.finalize())))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

digest_text!(
    /// SHA-256 of a file's text after BOM removal and CRLF→LF: `s1:<hex>`.
    SourceHash,
    "s1"
);
digest_text!(
    /// SHA-256 of the canonical encoding of the reader-facing fields: `c1:<hex>`.
    ContentHash,
    "c1"
);
digest_text!(
    /// SHA-256 over the URLs behind a post's internal links: `l1:<hex>`.
    LinksHash,
    "l1"
);
digest_text!(
    /// SHA-256 over the paths and digests of a post's assets: `a1:<hex>`.
    AssetsHash,
    "a1"
);

impl SourceHash {
    /// Hashes a file as it lies on disk. Only a BOM at byte 0 is dropped; a lone CR stays.
    pub fn of_file(bytes: &[u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut hasher = Sha256::new();
        let mut rest = bytes;
        while let Some(at) = rest.windows(2).position(|pair| pair == b"\r\n") {
            let (head, tail) = rest.split_at(at);
            hasher.update(head);
            rest = tail.get(1..).unwrap_or(&[]);
        }
        hasher.update(rest);
        SourceHash::of(hasher)
    }

    /// Hashes text that is normalised already (no BOM, no CR LF).
    pub fn of_normalised(text: &str) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(text.as_bytes());
        SourceHash::of(hasher)
    }
}

/// How a file's bytes were written, beside its text: fields of `frontMatter` that are no content. A checkout
/// with other line ends gives the same `sourceHash`, and has to give the same [`ContentHash`].
pub const FORM_FIELDS: [&str; 2] = ["bom", "lineEnds"];

impl ContentHash {
    /// Hashes the canonical encoding of `fields`, without the [`FORM_FIELDS`].
    pub fn of_fields(fields: &Document) -> Self {
        let mut bytes = Vec::with_capacity(1024);
        canonical_keys(fields.iter().collect(), &mut bytes, |key, value, out| match value {
            Bson::Document(inner) if key == "frontMatter" => {
                let text = inner.iter().filter(|(key, _)| !FORM_FIELDS.contains(&key.as_str()));
                canonical_keys(text.collect(), out, |_, value, out| canonical_value(value, out));
            }
            _ => canonical_value(value, out),
        });
        let mut hasher = Sha256::new();
        hasher.update(&bytes);
        ContentHash::of(hasher)
    }
}

impl LinksHash {
    /// Hashes (link as written, URL it became), in the order of [`digest_pairs`].
    pub fn of_links(links: &[(String, String)]) -> Self {
        LinksHash::of(digest_pairs(links))
    }
}

impl AssetsHash {
    /// Hashes (path below the root, SHA-256 in hex), in the order of [`digest_pairs`].
    pub fn of_assets(assets: &[(String, String)]) -> Self {
        AssetsHash::of(digest_pairs(assets))
    }
}

/// The digest of a set of pairs: sorted by bytes, repeated ones once; of each text its length in
/// bytes as eight bytes big endian, then its UTF-8.
pub fn digest_pairs(pairs: &[(String, String)]) -> Sha256 {
    let mut sorted: Vec<&(String, String)> = pairs.iter().collect();
    sorted.sort();
    sorted.dedup();
    let mut hasher = Sha256::new();
    for (left, right) in sorted {
        for text in [left, right] {
            hasher.update((text.len() as u64).to_be_bytes());
            hasher.update(text.as_bytes());
        }
    }
    hasher
}

/// Appends the canonical encoding of a document to `out`:
///
/// - document: `d`, number of keys as eight bytes big endian, then for each key in the order of its
///   bytes: key as text, then the value;
/// - array: `a`, number of items as eight bytes big endian, then each item;
/// - text: `t`, length in bytes as eight bytes big endian, then UTF-8;
/// - integer of any width: `i`, eight bytes big endian two's complement;
/// - double: `f`, the eight bytes of IEEE 754 big endian (no NaN and no negative zero is ever stored);
/// - boolean: `T` or `F`; null: `n`;
/// - date: `m`, Unix milliseconds as eight bytes big endian two's complement;
/// - anything else: `x`, then its canonical Extended JSON as text.
pub fn canonical(document: &Document, out: &mut Vec<u8>) {
    canonical_keys(document.iter().collect(), out, |_, value, out| canonical_value(value, out));
}

fn canonical_keys(mut keys: Vec<(&String, &Bson)>, out: &mut Vec<u8>, write: fn(&str, &Bson, &mut Vec<u8>)) {
    keys.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
    out.push(b'd');
    out.extend((keys.len() as u64).to_be_bytes());
    for (key, value) in keys {
        canonical_text(key, out);
        write(key, value, out);
    }
}

fn canonical_text(text: &str, out: &mut Vec<u8>) {
    out.push(b't');
    out.extend((text.len() as u64).to_be_bytes());
    out.extend(text.as_bytes());
}

fn canonical_value(value: &Bson, out: &mut Vec<u8>) {
    match value {
        Bson::Document(document) => canonical(document, out),
        Bson::Array(items) => {
            out.push(b'a');
            out.extend((items.len() as u64).to_be_bytes());
            for item in items {
                canonical_value(item, out);
            }
        }
        Bson::String(text) => canonical_text(text, out),
        Bson::Int32(number) => canonical_int(i64::from(*number), out),
        Bson::Int64(number) => canonical_int(*number, out),
        Bson::Double(number) => {
            out.push(b'f');
            out.extend(number.to_bits().to_be_bytes());
        }
        Bson::Boolean(true) => out.push(b'T'),
        Bson::Boolean(false) => out.push(b'F'),
        Bson::Null => out.push(b'n'),
        Bson::DateTime(date) => {
            out.push(b'm');
            out.extend(date.timestamp_millis().to_be_bytes());
        }
        other => {
            out.push(b'x');
            canonical_text(&other.clone().into_canonical_extjson().to_string(), out);
        }
    }
}

fn canonical_int(number: i64, out: &mut Vec<u8>) {
    out.push(b'i');
    out.extend(number.to_be_bytes());
}
