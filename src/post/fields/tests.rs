use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::*;
use crate::post::front_matter::{Kind, Node, Scalar, Value};
use crate::post::lang::Lang;
use crate::post::render::RenderOptions;
use crate::post::slug::{SlugMode, SlugPattern};

fn rules() -> Rules {
    Rules {
        preset: crate::post::preset::Preset::Plain,
        langs: Vec::new(),
        default_lang: Lang::parse("en").expect("a language"),
        timezone: jiff::tz::TimeZone::UTC,
        timezone_name: "UTC".to_owned(),
        slug_mode: SlugMode::Keep,
        slug_pattern: SlugPattern::default(),
        url_pattern: "/{lang}/{slug}".to_owned(),
        require_date: false,
        skip_after: None,
        field_names: BTreeMap::new(),
        file_bytes_max: 1 << 20,
        render: RenderOptions::default(),
    }
}

/// A tree as the reader of the block would make it. `{"!": "NonFinite", "text": ".nan"}` is a scalar
/// of a kind that JSON lacks.
fn node(json: &Json) -> Node {
    let scalar = |text: String, kind| Value::Scalar(Scalar { text, kind });
    let value = match json {
        Json::Null => scalar(String::new(), Kind::Null),
        Json::Bool(flag) => scalar(flag.to_string(), Kind::Bool(*flag)),
        Json::Number(number) => {
            let kind = number.as_i64().map_or_else(|| Kind::Float(number.as_f64().unwrap()), Kind::Int);
            scalar(number.to_string(), kind)
        }
        Json::String(text) => scalar(text.clone(), Kind::Text),
        Json::Array(items) => Value::List(items.iter().map(node).collect()),
        Json::Object(map) => {
            if let Some(kind) = map.get("!") {
                let kind = match kind.as_str().unwrap() {
                    "NonFinite" => Kind::NonFinite,
                    "BigInt" => Kind::BigInt,
                    "DateTime" => Kind::DateTime,
                    "LocalTime" => Kind::LocalTime,
                    other => panic!("no kind {other}"),
                };
                scalar(map["text"].as_str().unwrap().to_owned(), kind)
            } else {
                Value::Map(entries(json))
            }
        }
    };
    Node { span: 0..0, value }
}

fn entries(json: &Json) -> Vec<Entry> {
    let map = json.as_object().expect("a map");
    map.iter().map(|(key, value)| Entry { key: key.clone(), key_span: 0..0, node: node(value) }).collect()
}

fn read_json(json: &Json) -> (Fields, Vec<Diagnostic>) {
    read(&entries(json), "", &rules())
}

fn codes(problems: &[Diagnostic]) -> Vec<&'static str> {
    problems.iter().map(|problem| problem.code).collect()
}

fn text(read: &Read<String>) -> Option<&str> {
    match read {
        Read::Given(given) => Some(&given.value),
        _ => None,
    }
}

#[test]
fn every_field_has_a_row_and_every_name_one_place() {
    let mut seen = BTreeMap::new();
    for spec in table::TABLE {
        assert_eq!(table::spec(spec.field).name, spec.name);
        for name in spec.names {
            // Two spellings of one name may stand in one row, never in two.
            let path: Vec<String> = name.split('.').map(crate::post::front_matter::fold_key).collect();
            let owner = seen.entry(path).or_insert(spec.name);
            assert_eq!(*owner, spec.name, "{name}");
        }
    }
}

#[test]
fn keys_match_in_any_case_and_with_any_separator() {
    for key in ["canonicalUrl", "canonical_url", "CANONICAL-URL", "canonicalurl", "Canonical_Url"] {
        let (fields, problems) = read_json(&json!({key: "https://example.org/plum"}));
        assert_eq!(fields.meta.canonical_url.as_deref(), Some("https://example.org/plum"), "{key}");
        assert!(problems.is_empty(), "{key}: {problems:?}");
    }
    for key in ["_title", "title_", "__title"] {
        let (fields, _) = read_json(&json!({key: "Plum"}));
        assert_eq!(fields.meta.title, None, "{key}");
    }
}

#[test]
fn the_first_name_of_the_table_wins_with_a_warning() {
    let (fields, problems) = read_json(&json!({"excerpt": "late", "summary": "early"}));
    assert_eq!(fields.meta.summary.as_deref(), Some("early"));
    assert_eq!(codes(&problems), ["two-names"]);
    assert!(problems[0].message.contains("`summary` and `excerpt`"), "{}", problems[0].message);

    // What the loser said is not lost.
    assert_eq!(fields.meta.extra, bson::doc! {"excerpt": "late"});

    let (fields, problems) = read_json(&json!({"excerpt": "same", "summary": "same", "description": null}));
    assert_eq!(fields.meta.summary.as_deref(), Some("same"));
    assert!(problems.is_empty(), "{problems:?}");

    // A null or empty winner is absent.
    let (fields, problems) = read_json(&json!({"summary": "", "description": null, "excerpt": "kept"}));
    assert_eq!(fields.meta.summary.as_deref(), Some("kept"));
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn hugos_link_title_is_a_second_title_on_purpose() {
    let entries = entries(&json!({"title": "All about plums", "linkTitle": "Plums"}));
    let hugo = Rules { preset: Preset::Hugo, ..rules() };
    for (rules, warnings) in [(rules(), 1), (hugo, 0)] {
        let (fields, problems) = read(&entries, "", &rules);
        assert_eq!(fields.meta.title.as_deref(), Some("All about plums"));
        assert_eq!(fields.meta.extra, bson::doc! {"linkTitle": "Plums"});
        assert_eq!(problems.len(), warnings);
    }
}

#[test]
fn text_fields_keep_their_spelling_and_refuse_structures() {
    let (fields, _) =
        read_json(&json!({"title": 3, "slug": true, "ref": {"!": "BigInt", "text": "99999999999999999999"}}));
    assert_eq!(fields.meta.title.as_deref(), Some("3"));
    assert_eq!(text(&fields.slug), Some("true"));
    assert_eq!(fields.meta.translation_key.as_deref(), Some("99999999999999999999"));
    for (key, value, found) in [
        ("title", json!(["a"]), "a list"),
        ("summary", json!({"a": 1}), "a map"),
        ("lang", json!(["fi", "sv"]), "a list"),
        ("canonical", json!([1]), "a list"),
        ("cover", json!([1]), "a list"),
        ("cover", json!({"alt": "x"}), "a map"),
        ("slug", json!({"a": 1}), "a map"),
    ] {
        let (_, problems) = read_json(&json!({key: value}));
        assert_eq!(codes(&problems), ["wrong-type"], "{key}");
        assert!(problems[0].is_error() && problems[0].message.contains(found), "{}", problems[0].message);
        assert!(problems[0].message.contains(key), "{}", problems[0].message);
    }
}

#[test]
fn an_empty_title_or_slug_is_an_error_and_null_is_absent() {
    for key in ["title", "slug", "linkTitle"] {
        let (_, problems) = read_json(&json!({key: "  "}));
        assert_eq!(codes(&problems), ["empty-value"], "{key}");
        let (fields, problems) = read_json(&json!({key: null}));
        assert!(problems.is_empty() && fields.meta.title.is_none(), "{key}");
    }
}

#[test]
fn labels_come_in_many_shapes() {
    for (value, tags) in [
        (json!(["plum", "jam"]), vec!["plum", "jam"]),
        (json!("plum, jam tart ,,plum"), vec!["plum", "jam tart"]),
        (json!([" plum ", "", null, "plum", 7, true]), vec!["plum", "7", "true"]),
        (
            json!([{"label": "plum", "permalink": "/p"}, {"name": "jam"}, {"Label": "tart"}]),
            vec!["plum", "jam", "tart"],
        ),
        (json!(null), vec![]),
        (json!([]), vec![]),
        (json!(""), vec![]),
    ] {
        let (fields, problems) = read_json(&json!({"tags": value}));
        assert_eq!(fields.meta.tags, tags, "{value}");
        assert!(problems.is_empty(), "{problems:?}");
    }
    for value in [json!({"a": 1}), json!([["a"]]), json!([{"title": "x"}])] {
        let (_, problems) = read_json(&json!({"categories": value}));
        assert_eq!(codes(&problems), ["wrong-type"], "{value}");
    }
    let (fields, _) =
        read_json(&json!({"taxonomies": {"tags": ["plum"], "categories": "jam", "mood": ["calm"]}}));
    assert_eq!(fields.meta.tags, ["plum"]);
    assert_eq!(fields.meta.categories, ["jam"]);
    assert_eq!(fields.meta.extra, bson::doc! {"taxonomies": {"mood": ["calm"]}});
}

#[test]
fn authors_are_names_and_a_comma_belongs_to_one() {
    for (value, authors) in [
        (json!("Plum, Agatha"), vec!["Plum, Agatha"]),
        (json!(["Agatha", {"name": "Bertil", "url": "x"}]), vec!["Agatha", "Bertil"]),
        (json!({"name": "Agatha"}), vec!["Agatha"]),
    ] {
        let (fields, problems) = read_json(&json!({"author": value}));
        assert_eq!(fields.meta.authors, authors);
        assert!(problems.is_empty(), "{problems:?}");
    }
    let (_, problems) = read_json(&json!({"author": {"label": "Agatha"}}));
    assert_eq!(codes(&problems), ["wrong-type"]);
}

#[test]
fn a_cover_may_be_an_object_whose_rest_is_kept() {
    let (fields, problems) = read_json(&json!({"cover": {"image": "plum.jpg", "alt": "A plum"}}));
    assert_eq!(fields.meta.cover.as_deref(), Some("plum.jpg"));
    assert_eq!(fields.meta.extra, bson::doc! {"cover": {"alt": "A plum"}});
    assert!(problems.is_empty(), "{problems:?}");

    let (fields, _) = read_json(&json!({"images": ["one.jpg", "two.jpg"]}));
    assert_eq!(fields.meta.cover.as_deref(), Some("one.jpg"));
    assert_eq!(fields.meta.extra, bson::doc! {"images": ["one.jpg", "two.jpg"]});
    let (fields, _) = read_json(&json!({"images": ["one.jpg"]}));
    assert!(fields.meta.extra.is_empty());
}

#[test]
fn booleans_are_true_and_false_alone() {
    let (fields, problems) = read_json(&json!({"draft": true}));
    assert_eq!(fields.draft.as_deref(), Some("draft: true"));
    assert!(problems.is_empty());
    for (value, help) in [
        (json!("true"), "`draft: true`"),
        (json!("yes"), "`draft: true`"),
        (json!("Off"), "`draft: false`"),
        (json!(1), "`draft: true`"),
        (json!("perhaps"), "`draft: true` or `draft: false`"),
        (json!([true]), "`draft: true` or `draft: false`"),
    ] {
        let (_, problems) = read_json(&json!({"draft": value}));
        assert_eq!(codes(&problems), ["wrong-type"], "{value}");
        assert!(problems[0].is_error() && problems[0].help.contains(help), "{}", problems[0].help);
    }
    let (fields, problems) = read_json(&json!({"draft": null, "unlisted": true, "hidden": null}));
    assert!(fields.draft.is_none() && fields.meta.unlisted && problems.is_empty());
}

#[test]
fn whatever_says_draft_makes_a_draft() {
    for (json, draft, warned) in [
        (json!({"published": false}), Some("published: false"), false),
        (json!({"published": true}), None, false),
        (json!({"status": "Draft"}), Some("status: draft"), false),
        (json!({"status": "published"}), None, false),
        (json!({"draft": false, "published": false}), Some("published: false"), true),
        (json!({"draft": false, "status": "draft"}), Some("status: draft"), true),
        (json!({"draft": true, "published": true}), Some("draft: true"), true),
        (json!({"status": "private"}), None, true),
    ] {
        let (fields, problems) = read_json(&json);
        assert_eq!(fields.draft.as_deref(), draft, "{json}");
        assert_eq!(!problems.is_empty(), warned, "{json}: {problems:?}");
        assert!(problems.iter().all(|problem| !problem.is_error()));
    }
    let (_, problems) = read_json(&json!({"status": "drafts"}));
    assert!(problems[0].is_error(), "a draft is never published by a spelling");
    let (fields, _) = read_json(&json!({"status": "unlisted"}));
    assert!(fields.meta.unlisted && fields.meta.extra.is_empty());
    let (fields, _) = read_json(&json!({"status": "featured"}));
    assert_eq!(fields.meta.extra, bson::doc! {"status": "featured"});
}

#[test]
fn extra_keeps_every_other_key_and_lifts_params() {
    let (fields, problems) = read_json(&json!({
        "layout": "wide", "weight": 3, "ratio": 1.5, "zero": -0.0, "big": 5_000_000_000_i64, "none": null,
        "params": {"mood": "calm", "layout": "narrow"}, "extra": {"team": ["a", null]},
    }));
    assert_eq!(
        fields.meta.extra,
        bson::doc! {
            "layout": "wide", "weight": 3, "ratio": 1.5, "zero": 0.0, "big": 5_000_000_000_i64,
            "mood": "calm", "team": ["a", null],
        }
    );
    assert!(fields.meta.extra.get_f64("zero").unwrap().is_sign_positive());
    assert_eq!(codes(&problems), ["extra-twice"]);
}

#[test]
fn numbers_that_no_engine_keeps_stay_text_with_a_warning() {
    let (fields, problems) = read_json(&json!({
        "a": {"!": "NonFinite", "text": "-.inf"},
        "b": {"!": "BigInt", "text": "123456789012345678901"},
        "when": {"!": "DateTime", "text": "1979-05-27T07:32:00Z"},
        "at": {"!": "LocalTime", "text": "07:32:00"},
    }));
    assert_eq!(
        fields.meta.extra,
        bson::doc! {"a": "-.inf", "b": "123456789012345678901", "when": "1979-05-27T07:32:00Z", "at": "07:32:00"}
    );
    assert_eq!(codes(&problems), ["number-as-text", "number-as-text"]);
}

#[test]
fn unsafe_keys_are_renamed_with_a_warning_and_nothing_acts() {
    let (fields, problems) = read_json(&json!({"x.y": 1, "$unset": {"$a": 2}, "": 3, "__id__": 4, "_id": 5}));
    assert_eq!(
        fields.meta.extra,
        bson::doc! {"x%2Ey": 1, "%24unset": {"%24a": 2}, "%": 3, "%5F_id__": 4, "_id": 5}
    );
    assert_eq!(codes(&problems), ["key-renamed"; 5]);
}

#[test]
fn a_slip_of_the_finger_is_told_and_a_common_key_is_not() {
    for (key, near) in [
        ("tilte", "title"),
        ("pubDte", "pubDate"),
        ("sulg", "slug"),
        ("catagories", "categories"),
        ("descripton", "description"),
    ] {
        let (_, problems) = read_json(&json!({key: "x"}));
        assert_eq!(codes(&problems), ["unknown-key"], "{key}");
        assert!(problems[0].message.contains(&format!("`{near}`")), "{}", problems[0].message);
        assert!(!problems[0].is_error());
    }
    for key in ["layout", "weight", "type", "series", "menu", "toc", "data", "id", "order", "version", "math"]
    {
        let (_, problems) = read_json(&json!({key: "x"}));
        assert!(problems.is_empty(), "{key}: {problems:?}");
    }
    // Something else gave the field.
    let (_, problems) = read_json(&json!({"tilte": "x", "title": "y"}));
    assert!(problems.is_empty(), "{problems:?}");
}

#[test]
fn configured_names_come_after_the_table() {
    let mut rules = rules();
    rules.field_names.insert("summary".to_owned(), vec!["blurb".to_owned(), "seo.text".to_owned()]);
    let (fields, problems) = read(&entries(&json!({"Blurb": "one"})), "", &rules);
    assert_eq!(fields.meta.summary.as_deref(), Some("one"));
    assert!(problems.is_empty() && fields.meta.extra.is_empty());
    let (fields, _) = read(&entries(&json!({"seo": {"text": "two", "index": true}})), "", &rules);
    assert_eq!(fields.meta.summary.as_deref(), Some("two"));
    assert_eq!(fields.meta.extra, bson::doc! {"seo": {"index": true}});
    let (fields, problems) = read(&entries(&json!({"blurb": "one", "excerpt": "two"})), "", &rules);
    assert_eq!(fields.meta.summary.as_deref(), Some("two"));
    assert_eq!(codes(&problems), ["two-names"]);
}

#[test]
fn dates_are_compared_as_instants_and_published_goes_by_its_type() {
    let (fields, problems) = read_json(&json!({"date": "2031-07-09", "created": "2031-07-09T00:00:00Z"}));
    let Read::Given(given) = &fields.published_at else { panic!("no date") };
    assert_eq!((given.name.as_str(), given.value.unix_millis), ("date", 1_941_321_600_000));
    assert!(problems.is_empty(), "{problems:?}");

    let (fields, _) = read_json(&json!({"published": "2031-07-09", "date": "2030-01-01"}));
    let Read::Given(given) = &fields.published_at else { panic!("no date") };
    assert_eq!(given.name, "published");

    let (fields, _) = read_json(&json!({"published": false, "date": "2031-07-09"}));
    let Read::Given(given) = &fields.published_at else { panic!("no date") };
    assert_eq!((given.name.as_str(), fields.draft.as_deref()), ("date", Some("published: false")));

    let (fields, _) = read_json(&json!({"last_update": {"date": "2031-07-09", "author": "a"}}));
    assert_eq!(fields.meta.updated_at, Some(1_941_321_600_000));
    assert_eq!(fields.meta.extra, bson::doc! {"last_update": {"author": "a"}});
}

#[test]
fn what_is_no_date_is_refused() {
    for value in [
        json!(true),
        json!(["2031-07-09"]),
        json!({}),
        json!(""),
        json!({"!": "LocalTime", "text": "07:32:00"}),
        json!("1969-12-31"),
        json!("2031-02-30"),
        json!(20_310_709),
    ] {
        for key in ["date", "lastmod", "expiryDate"] {
            let (fields, problems) = read_json(&json!({key: value}));
            assert!(problems.iter().any(Diagnostic::is_error), "{key}: {value}");
            assert!(problems[0].message.contains(&format!("`{key}`")), "{}", problems[0].message);
            if key == "date" {
                assert_eq!(fields.published_at, Read::Broken);
            }
        }
    }
    let (fields, problems) = read_json(&json!({"date": null}));
    assert_eq!(fields.published_at, Read::Absent);
    assert_eq!(fields.published_at_empty.map(|empty| empty.name).as_deref(), Some("date"));
    assert!(problems.is_empty());
}

#[test]
fn the_schema_agrees_with_the_parser() {
    let schema = json_schema();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for (json, good) in [
        (json!({"title": "Plum", "tags": "a, b", "author": {"name": "A"}, "draft": false, "x": [1]}), true),
        (json!({"title": 7, "tags": [{"label": "a"}], "images": ["a.jpg"], "cover": {"src": "a.jpg"}}), true),
        (json!({"taxonomies": {"tags": ["a"]}, "published": false, "status": "draft", "title": null}), true),
        (json!({"title": ["a"]}), false),
        (json!({"title": ""}), false),
        (json!({"slug": {"a": 1}}), false),
        (json!({"draft": "yes"}), false),
        (json!({"hidden": 1}), false),
        (json!({"tags": {"a": 1}}), false),
        (json!({"authors": [["a"]]}), false),
        (json!({"taxonomies": {"tags": {"a": 1}}}), false),
        (json!({"date": true}), false),
        (json!({"aliases": {"a": 1}}), false),
        (json!({"cover": ["a"]}), false),
    ] {
        assert_eq!(validator.is_valid(&json), good, "the schema on {json}");
        let (_, problems) = read_json(&json);
        assert_eq!(!problems.iter().any(Diagnostic::is_error), good, "the parser on {json}: {problems:?}");
    }
    for spec in table::TABLE {
        let listed = schema["properties"].as_object().expect("properties");
        for name in spec.names {
            let top = name.split(['.', '[']).next().unwrap();
            assert!(listed.contains_key(top), "{name}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn stored_names_are_safe_reversible_and_distinct(
        key in "[a%.$_0-9A-F\0é]{0,8}", other in "[a%.$_0-9A-F\0é]{0,8}"
    ) {
        let name = stored_name(&key);
        proptest::prop_assert_eq!(original_name(&name), key.clone());
        proptest::prop_assert!(!name.is_empty() && !name.contains(['.', '\0']) && !name.starts_with('$'));
        proptest::prop_assert!(!(name.len() >= 4 && name.starts_with("__") && name.ends_with("__")));
        proptest::prop_assert_eq!(stored_name(&key) == stored_name(&other), key == other);
    }
}
