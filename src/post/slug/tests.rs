//! What a slug keeps, what it refuses and how the modes spell it.

use proptest::prelude::*;

use super::*;

fn kept(text: &str) -> String {
    Slug::parse(text).unwrap_or_else(|(message, _)| panic!("{message}")).as_str().to_owned()
}

fn refusal(text: &str) -> String {
    match Slug::parse(text) {
        Ok(slug) => panic!("{text:?} was taken as {slug}"),
        Err((message, help)) => format!("{message} | {help}"),
    }
}

#[test]
fn scripts_case_and_marks_are_kept() {
    for text in [
        "hello-world",
        "Hello.World",
        "f++",
        "ﬂuid",
        "ﾊﾝｶｸ",
        "새-소식",
        "привет-мир",
        "مرحبا",
        "🚀-to-the-moon",
        "???".replace('?', "!").as_str(),
        "trailing.",
        "nul",
        "-a-",
        "a b c",
        "x:y|z",
        "deep/er/path",
        "90%-off",
        "5%",
        "~tilde@2",
        "ÅngstrÖm",
    ] {
        assert_eq!(kept(text), text);
    }
    assert_eq!(kept("//a/b//"), "a/b");
    assert_eq!(kept("re\u{0301}sume\u{0301}"), "résumé");
    assert_eq!(kept("\u{1112}\u{1161}\u{11ab}"), "한");
    assert_eq!(kept("ｗｉｄｅ"), "ｗｉｄｅ", "NFC, not NFKC");
}

#[test]
fn joiners_stay_where_they_are_seen() {
    for text in ["👩‍🚀", "🏳️‍🌈-day", "می‌روم", "क्‍ष", "ශ්‍රී"] {
        assert_eq!(kept(text), text);
    }
    for text in [
        "ab\u{200D}cd",
        "ab\u{200C}cd",
        "\u{200D}",
        "👩\u{200D}",
        "\u{200D}👩",
        "👩\u{200D}x",
        "한\u{200C}글",
    ] {
        assert!(refusal(text).contains("U+200"), "{text}");
    }
    let england = "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}";
    assert_eq!(kept(england), england);
    assert!(refusal("a\u{E0067}").contains("U+E0067"));
}

#[test]
fn hidden_characters_are_named_by_code_point() {
    for (character, says) in [
        ('\0', "U+0000 (NUL)"),
        ('\u{7}', "U+0007 (control character)"),
        ('\t', "U+0009 (tab)"),
        ('\n', "U+000A (line feed)"),
        ('\u{85}', "U+0085 (control character)"),
        ('\u{AD}', "U+00AD (soft hyphen)"),
        ('\u{61C}', "U+061C (bidirectional control)"),
        ('\u{200B}', "U+200B (zero-width space)"),
        ('\u{200E}', "U+200E (bidirectional control)"),
        ('\u{202E}', "U+202E (bidirectional control)"),
        ('\u{2028}', "U+2028 (line separator)"),
        ('\u{2060}', "U+2060 (word joiner)"),
        ('\u{2066}', "U+2066 (bidirectional control)"),
        ('\u{3164}', "U+3164 (Hangul filler)"),
        ('\u{FEFF}', "U+FEFF (zero-width no-break space)"),
    ] {
        for text in [format!("ab{character}cd"), format!("{character}abcd"), format!("abcd{character}")] {
            let said = refusal(&text);
            assert!(said.starts_with(says), "{said}");
            assert!(said.ends_with("write abcd"), "{said}");
        }
    }
}

#[test]
fn what_breaks_a_url_or_a_path() {
    let long = "x".repeat(SLUG_BYTES_MAX + 1);
    let wide = "가".repeat(67);
    for (text, says) in [
        ("", "the slug is empty"),
        ("/", "the slug is empty"),
        ("  ", "the slug is empty"),
        (" padded", "blanks stand around the slug \" padded\" | write padded"),
        ("padded ", "blanks stand around"),
        ("/ padded/", "blanks stand around"),
        ("\u{3000}padded", "blanks stand around"),
        ("why?", "\"?\" stands in the slug"),
        ("c#", "\"#\" stands in the slug"),
        ("a\\b", "\"\\\" stands in the slug"),
        ("a//b", "has an empty part"),
        ("a/../b", "has a part \"..\""),
        ("..", "has a part \"..\""),
        ("./a", "has a part \".\""),
        ("%EC%83%88", "the slug looks percent-encoded: \"%EC%83%88\" | write 새"),
        ("caf%C3%A9", "write café"),
        ("a%20b", "write a b"),
        ("a%2Fb", "write a/b"),
        ("a%ffb", "write the characters themselves"),
        ("a%00b", "write the characters themselves"),
        (&long, "the slug is too long: it has 201 bytes"),
        (&wide, "the slug is too long: it has 201 bytes"),
    ] {
        let said = refusal(text);
        assert!(said.contains(says), "{text:?}: {said}");
    }
    assert_eq!(kept(&"y".repeat(SLUG_BYTES_MAX)).len(), SLUG_BYTES_MAX);
}

fn spelled(mode: SlugMode, text: &str) -> Result<String, String> {
    mode.spell(text).map_err(|(message, _)| message)
}

#[test]
fn modes_spell_the_name_of_a_file() {
    for (mode, text, wanted) in [
        (SlugMode::Keep, "Ab c.D", "Ab c.D"),
        (SlugMode::Lower, "ÄBC Straße", "äbc straße"),
        (SlugMode::Lower, "İzmir", "i\u{307}zmir"),
        (SlugMode::Ascii, "Crème Brûlée", "creme-brulee"),
        (SlugMode::Ascii, "Łódź & Ærø: Straße!", "lodz-aero-strasse"),
        (SlugMode::Ascii, "it's  done", "its-done"),
        (SlugMode::Ascii, "C++ 17", "c-17"),
        (SlugMode::Strict, "as-it-is", "as-it-is"),
        (SlugMode::Hugo, "My Post, Part 2", "my-post-part-2"),
        (SlugMode::Hugo, "a & b, c", "a--b-c"),
        (SlugMode::Hugo, "v1.2+x_y", "v1.2+x_y"),
        (SlugMode::Hugo, "İğne", "iğne"),
        (SlugMode::Zola, "새 글 Café", "sae-geul-cafe"),
        (SlugMode::Zola, "something-&-else", "something-else"),
        (SlugMode::Jekyll, "My Post: é & 1.0", "My-Post-é-&-1.0"),
        (SlugMode::Astro, "Node.js & Me", "nodejs--me"),
        (SlugMode::Astro, "새 글", "새-글"),
    ] {
        assert_eq!(spelled(mode, text).as_deref(), Ok(wanted), "{} {text}", mode.as_str());
    }
}

#[test]
fn generators_spell_a_slug_field_too() {
    for (mode, text, wanted) in [
        (SlugMode::Hugo, "A & B, c", Some("a-b-c")),
        (SlugMode::Zola, "A & B/Ç", Some("a-b/c")),
        (SlugMode::Jekyll, "A & B, c", Some("A-&-B,-c")),
        (SlugMode::Astro, "A & B", None),
        (SlugMode::Keep, "A & B", None),
        (SlugMode::Lower, "A & B", None),
    ] {
        assert_eq!(mode.spell_field(text).as_deref(), wanted, "{}", mode.as_str());
    }
}

#[test]
fn a_mode_drops_no_letter_and_leaves_no_slug_empty() {
    assert!(spelled(SlugMode::Ascii, "글-abc").unwrap_err().contains("cannot spell \"글\""));
    assert!(spelled(SlugMode::Ascii, "!!!").unwrap_err().contains("leaves nothing"));
    assert!(spelled(SlugMode::Astro, "🚀").unwrap_err().contains("leaves nothing"));
    let strict = |text: &str| SlugMode::Strict.check(&Slug::parse(text).unwrap());
    assert!(strict("ab-1/c").is_ok());
    for (text, letter) in [("Ab", "\"A\""), ("a_b", "\"_\""), ("a.b", "\".\""), ("é", "\"é\"")] {
        let (message, _) = strict(text).unwrap_err();
        assert!(message.contains(letter), "{message}");
    }
    assert_eq!(strict("Ab_é").unwrap_err().1, "write ab-e");
}

#[test]
fn modes_and_patterns_are_read_back() {
    for mode in SlugMode::ALL {
        assert_eq!(SlugMode::parse(mode.as_str()), Some(mode));
    }
    assert_eq!(SlugMode::parse("Keep it"), None);
    let pattern = SlugPattern::parse("{dir}/{year}-{month}-{day}-{stem}").unwrap();
    assert_eq!(pattern.expand((987, 3, 4), "a/b", "c"), "a/b/0987-03-04-c");
    assert_eq!(pattern.expand((2024, 11, 12), "", "c"), "2024-11-12-c");
    for (text, says) in [
        ("{slug}", "unknown token {slug}"),
        ("{yaer}-{stem}", "{year} is near"),
        ("{stem", "has no partner"),
        ("stem}", "has no partner"),
        ("{year}/{month}", "neither {stem} nor {dir}"),
        ("", "neither {stem} nor {dir}"),
        ("{stem}?x", "slug_pattern \"{stem}?x\""),
        ("a//{stem}", "empty part"),
    ] {
        let refused = SlugPattern::parse(text).unwrap_err();
        assert!(refused.contains(says), "{text}: {refused}");
    }
}

/// A mark that was held apart by a dropped character composes once it is gone.
#[test]
fn a_spelled_slug_is_in_nfc_after_characters_are_dropped() {
    let once = SlugMode::Hugo.spell("e:\u{301}t\u{e9}").unwrap();
    assert_eq!(once, "\u{e9}t\u{e9}");
    let odd = SlugMode::Hugo.spell("\u{1e023}:\u{e48}").unwrap();
    assert_eq!(SlugMode::Hugo.spell(&odd).unwrap(), odd);
}

proptest! {
    #[test]
    fn never_panics_and_is_a_fixed_point(text in "\\PC{0,60}|[ -~]{0,20}|.{0,10}") {
        if let Ok(slug) = Slug::parse(&text) {
            prop_assert_eq!(Slug::parse(slug.as_str()), Ok(slug.clone()));
            prop_assert!(slug.as_str().len() <= SLUG_BYTES_MAX);
            prop_assert!(!slug.as_str().chars().any(is_hidden));
        }
    }

    /// Composed and decomposed text is one slug.
    #[test]
    fn normalisation_forms_are_one_slug(text in "[a-zé한글ñ ö/が-]{1,20}") {
        let decomposed: String = text.nfd().collect();
        prop_assert_eq!(Slug::parse(&text).ok(), Slug::parse(&decomposed).ok());
    }

    /// Zola calls this crate.
    #[test]
    fn zola_spells_as_the_slug_crate(text in "\\PC{0,20}|[ -~é한ß—]{0,20}") {
        prop_assert_eq!(super::generator::zola(&text), slug::slugify(&text));
    }

    #[test]
    fn modes_never_panic_and_spell_once(text in "\\PC{0,30}") {
        for mode in SlugMode::ALL {
            if let Ok(once) = mode.spell(&text) {
                prop_assert_eq!(mode.spell(&once).ok(), Some(once), "{}", mode.as_str());
            }
        }
    }
}
