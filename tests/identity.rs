//! Known answers of the identity and of the source digest. They were made independently of this
//! library (Python's `hashlib`) and never change: a stored id is for ever.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

use idempost::identity::{PostId, SourceHash};
use idempost::post::date::PublishedAt;
use idempost::post::lang::Lang;
use idempost::post::slug::Slug;

/// Slug, language, Unix milliseconds, id. The first two are canonical already.
const POST_IDS: &[(&str, &str, i64, &str)] = &[
    ("hello-world", "en", 1_714_521_600_000, "01HWRQ6W002BC0VWVKC580KT23"),
    ("hello-world", "ko", 1_714_521_600_000, "01HWRQ6W00SEJGH7FA7Y0KBBM5"),
    ("hello-world", "en", 1_714_521_600_001, "01HWRQ6W012BC0VWVKC580KT23"),
    (
        "\u{ba71}\u{b4f1}\u{c131}-\u{c5c5}\u{c11c}\u{d2b8}\u{b97c}-\u{c704}\u{d55c}-\u{acb0}\u{c815}\u{c801}-ulid",
        "ko",
        1_767_225_600_000,
        "01KDVDNA00W5W9XDH5NN4VPAXJ",
    ),
    (
        "\u{65e5}\u{672c}\u{8a9e}\u{306e}\u{30b9}\u{30e9}\u{30c3}\u{30b0}",
        "ja",
        1_704_067_200_000,
        "01HK153X00FAYS8YX4A1T5SYVN",
    ),
    ("caf\u{e9}", "fr", 1_700_000_000_000, "01HF7YAT00SX7AQ3YGJDB9YK3A"),
    ("guides/intro", "zh-Hant-TW", 1_609_459_200_000, "01ETXKWW00MFPHHJ9JV6HQ2MW3"),
    ("a:b", "en", 1_000, "00000000Z8A0G1YP9P42BVA3DC"),
    ("a", "en", 0, "00000000003RBVKHXGEQMDYJ3W"),
    ("epoch", "en", 0, "0000000000R7W0FP1HZ8GNM3GC"),
    ("far-future", "en", 253_402_300_799_999, "76EZ91ZPZZSBQSTVSWQP4TCNPD"),
    ("no", "no", 1_588_636_800_000, "01E7H23N00WJ6MQJ9RTTJ44VE9"),
    ("emoji-\u{1f680}", "en-US", 1_651_363_200_123, "01G1YENF3V8794MVG5FHCD9NCG"),
    (SLUG_OF_200_BYTES, "pt-BR", 1_577_836_800_000, "01DXF6DT00X8BR16BM1BBW4MCZ"),
];

const SLUG_OF_200_BYTES: &str = concat!(
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
);

/// As typed, and what it must become: slug, language, milliseconds, canonical slug and language, id.
const CANONICAL: &[(&str, &str, i64, &str, &str, &str)] = &[
    ("cafe\u{301}", "FR", 1_700_000_000_000, "caf\u{e9}", "fr", "01HF7YAT00SX7AQ3YGJDB9YK3A"),
    (
        "\u{1106}\u{1167}\u{11a8}\u{1103}\u{1173}\u{11bc}\u{1109}\u{1165}\u{11bc}",
        "ko_KR",
        1_767_225_600_000,
        "\u{ba71}\u{b4f1}\u{c131}",
        "ko-KR",
        "01KDVDNA00297BXXK9WV2VHMB1",
    ),
    (
        "guides/intro",
        "ZH_hant-tw",
        1_609_459_200_000,
        "guides/intro",
        "zh-Hant-TW",
        "01ETXKWW00MFPHHJ9JV6HQ2MW3",
    ),
];

/// Bytes of a file in hex, and the digest of its source.
const SOURCE_HASHES: &[(&str, &str)] = &[
    (
        "2d2d2d0a7469746c653a20410a2d2d2d0a426f64790a",
        "s1:3774a4c2ca497cfc819bc3a5dde0e4e284932687f86a22c161c9fdfe77b53b52",
    ),
    (
        "2d2d2d0d0a7469746c653a20410d0a2d2d2d0d0a426f64790d0a",
        "s1:3774a4c2ca497cfc819bc3a5dde0e4e284932687f86a22c161c9fdfe77b53b52",
    ),
    (
        "efbbbf2d2d2d0a7469746c653a20410a2d2d2d0a426f64790a",
        "s1:3774a4c2ca497cfc819bc3a5dde0e4e284932687f86a22c161c9fdfe77b53b52",
    ),
    ("610d620a", "s1:367d1c77eadc1495a7db4200f46a8b90ea1fa926282722d308c05a65098a4112"),
    ("", "s1:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (
        "2d2d2d0a7469746c653a20ec9588eb85950a2d2d2d0aebb3b8ebacb80a",
        "s1:54373b7b5d8a5b85bf79ecdbcbb255a24da15e906a34e281bc7c739defe570aa",
    ),
];

fn derive(slug: &str, lang: &str, millis: i64) -> Result<PostId, String> {
    let slug = Slug::parse(slug).map_err(|(message, _)| message)?;
    let lang = Lang::parse(lang)?;
    let at = PublishedAt::from_unix_millis(millis)?;
    Ok(PostId::derive(&slug, &lang, at))
}

#[test]
fn ids_are_as_known() {
    for (slug, lang, millis, id) in POST_IDS {
        let derived = derive(slug, lang, *millis).expect("a valid identity");
        assert_eq!(derived.to_string(), *id, "{slug} {lang} {millis}");
        assert_eq!(PostId::parse(id), Some(derived));
        assert_eq!(Some(derived.unix_millis()), u64::try_from(*millis).ok());
    }
}

#[test]
fn what_is_typed_becomes_canonical_before_it_is_hashed() {
    for (slug, lang, millis, canonical_slug, canonical_lang, id) in CANONICAL {
        assert_eq!(Slug::parse(slug).expect("a slug").as_str(), *canonical_slug);
        assert_eq!(Lang::parse(lang).expect("a language").as_str(), *canonical_lang);
        assert_eq!(derive(slug, lang, *millis).expect("a valid identity").to_string(), *id);
        // The canonical form is a fixed point.
        assert_eq!(derive(canonical_slug, canonical_lang, *millis), derive(slug, lang, *millis));
    }
}

#[test]
fn what_has_no_identity_is_refused() {
    for (slug, lang, millis) in
        [("old", "en", -1), ("late", "en", 253_402_300_800_000), ("", "en", 0), ("a", "not a lang", 0)]
    {
        assert!(derive(slug, lang, millis).is_err(), "{slug:?} {lang:?} {millis}");
    }
}

#[test]
fn source_hashes_are_as_known() {
    for (hex, hash) in SOURCE_HASHES {
        let bytes = hex::decode(hex).expect("hex");
        assert_eq!(SourceHash::of_file(&bytes).as_str(), *hash, "{hex}");
    }
}

#[test]
fn separators_inside_the_parts_never_let_two_identities_meet() {
    let mut seen = std::collections::BTreeMap::new();
    for slug in ["plum", "plum:en", "plum|en", "plum/en", "1", "11", "plum-en"] {
        for lang in ["en", "en-US", "ko"] {
            for millis in [0, 1, 10, 110, 1_941_321_600_000] {
                let id = derive(slug, lang, millis).expect("a valid identity");
                let before = seen.insert(id, (slug, lang, millis));
                assert_eq!(before, None, "{slug} {lang} {millis}");
            }
        }
    }
}
