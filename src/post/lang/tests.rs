//! Tags are canonical, countries' codes are told apart, nothing is replaced.

use proptest::prelude::*;

use super::*;

fn lang(text: &str) -> String {
    Lang::parse(text).unwrap_or_else(|refused| panic!("{refused}")).as_str().to_owned()
}

#[test]
fn tags_have_one_spelling() {
    for (written, canonical) in [
        ("fr", "fr"),
        ("FR", "fr"),
        ("pt_PT", "pt-PT"),
        ("pt-pt", "pt-PT"),
        ("zh_hant_hk", "zh-Hant-HK"),
        ("SR-latn-rs", "sr-Latn-RS"),
        ("es-419", "es-419"),
        ("DE-1996", "de-1996"),
        ("sl-ROZAJ-biske", "sl-rozaj-biske"),
        ("haw", "haw"),
        ("no", "no"),
        ("zh-YUE-hk", "zh-yue-HK"),
        ("en-X-Pirate", "en-x-pirate"),
        ("de-DE-u-CO-phonebk", "de-DE-u-co-phonebk"),
        ("en-u-nu-thai-ca-buddhist", "en-u-ca-buddhist-nu-thai"),
        ("en-u-bar-attr-ca", "en-u-attr-bar-ca"),
        ("en-t-fr-a-foo", "en-a-foo-t-fr"),
        ("en-a-foo-x-a-b", "en-a-foo-x-a-b"),
        ("EN-gb-OED", "en-GB-oed"),
        ("zh-MIN-nan", "zh-min-nan"),
    ] {
        assert_eq!(lang(written), canonical, "{written}");
    }
    assert_ne!(lang("pt"), lang("pt-BR"));
    assert_ne!(lang("zh-Hans"), lang("zh-CN"));
}

#[test]
fn what_is_no_tag() {
    for (text, says) in [
        ("", "the language is empty"),
        (" fr", "blanks stand around it"),
        ("fr ", "blanks stand around it"),
        ("german", "its first part has 6 letters, not two or three"),
        ("fren-CH", "its first part has 4 letters"),
        ("x-private", "its first part is one letter"),
        ("i-navajo", "its first part is one letter"),
        ("日本語", "its first part is not of the letters a to z"),
        ("fr/ch", "its first part is not of the letters a to z"),
        ("e1", "its first part is not of the letters a to z"),
        ("fr:ch", "its first part is not of the letters a to z"),
        ("-fr", "its first part has 0 letters"),
        ("fr-", "is not a language tag"),
        ("fr--CH", "is not a language tag"),
        ("fr-toolongpart", "is not a language tag"),
        ("fr-u", "is not a language tag"),
        ("fr-CH-é", "is not a language tag"),
        ("en en", "its first part is not"),
        ("de-1901-1901", "1901 comes twice in it"),
        ("en-a-bbb-a-ccc", "one letter begins two of its extensions"),
    ] {
        let refused = Lang::parse(text).unwrap_err();
        assert!(refused.contains(says), "{text}: {refused}");
    }
    let long = format!("en-x-{}", "abcdefgh-".repeat(10));
    assert!(Lang::parse(long.trim_end_matches('-')).unwrap_err().contains("64 bytes"));
}

#[test]
fn replaced_codes_are_kept_and_told() {
    for (text, newer) in [
        ("iw", Some("he")),
        ("IN", Some("id")),
        ("iw_IL", Some("he-IL")),
        ("ji", Some("yi")),
        ("mo", Some("ro")),
        ("no-nyn", Some("nn")),
        ("zh-yue", Some("yue")),
        ("he", None),
        ("id", None),
        ("en-GB", None),
    ] {
        let lang = Lang::parse(text).unwrap();
        assert_eq!(lang.replaced_by().as_deref(), newer, "{text}");
    }
    assert_eq!(lang("iw"), "iw");
}

#[test]
fn countries_and_names_point_to_the_code_that_is_meant() {
    for (text, code) in [
        ("kr", "ko"),
        ("JP", "ja"),
        ("cn", "zh"),
        ("gr", "el"),
        ("dk", "da"),
        ("se", "sv"),
        ("ua", "uk"),
        ("cz", "cs"),
        ("vn", "vi"),
        ("tw", "zh-TW"),
        ("jpn", "ja"),
        ("Deutsch", "de"),
        ("한국어", "ko"),
        (" korean ", "ko"),
    ] {
        assert_eq!(meant(text), Some(code), "{text}");
        assert!(Lang::parse(code).is_ok());
    }
    for text in ["ko", "uk", "fr", "br", "xyz", ""] {
        assert_eq!(meant(text), None, "{text}");
    }
    assert_eq!(Lang::parse("kr").unwrap().likely_meant(), Some("ko"));
}

proptest! {
    #[test]
    fn never_panics(text in "\\PC{0,30}") {
        let _ = Lang::parse(&text);
    }

    #[test]
    fn canonical_form_is_a_fixed_point(text in "[a-zA-Z]{2,3}([-_][a-zA-Z0-9]{1,8}){0,6}") {
        if let Ok(lang) = Lang::parse(&text) {
            prop_assert_eq!(Lang::parse(lang.as_str()), Ok(lang.clone()));
            prop_assert!(!lang.as_str().contains(':'));
            prop_assert_eq!(Lang::parse(&text.to_uppercase()), Ok(lang.clone()));
            prop_assert_eq!(Lang::parse(&text.to_lowercase().replace('-', "_")), Ok(lang));
        }
    }
}
