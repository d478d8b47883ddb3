//! The JSON Schemas are held to what is really printed and stored: real outputs validate, and no key is
//! printed that no schema tells of.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;
use std::path::Path;

use bson::{Bson, doc};
use idempost::app::schema;
use idempost::catalog::Skipped;
use idempost::cli::{self, SchemaName};
use idempost::config::{self, Environment, keys};
use idempost::plan::Summary;
use idempost::post::links::Asset;
use idempost::post::{self, Outcome, Parsed, Skip, decode, render};
use idempost::report::event::Checked;
use idempost::report::json::{self, PostReport};
use idempost::store::document::{self, Ingest, OWNED_FIELDS};
use serde_json::{Value, json};

const NAMES: [SchemaName; 9] = [
    SchemaName::Document,
    SchemaName::Plan,
    SchemaName::Run,
    SchemaName::Check,
    SchemaName::Verify,
    SchemaName::Export,
    SchemaName::Post,
    SchemaName::FrontMatter,
    SchemaName::Config,
];

fn schema(name: SchemaName) -> Value {
    serde_json::from_str(&schema::text(name)).unwrap()
}

fn valid(name: SchemaName, value: &Value) {
    let schema = schema(name);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert!(errors.is_empty(), "{name:?}: {errors:#?}\n{value:#}");
    told(&schema, &schema, value, "");
}

/// Every key of `value` is one that the schema tells of.
fn told(root: &Value, schema: &Value, value: &Value, at: &str) {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => root.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    match value {
        Value::Object(object) => {
            // Documents of others' keys, values of Extended JSON.
            let Some(properties) = schema["properties"].as_object() else { return };
            for (key, inner) in object {
                let known = properties.get(key).unwrap_or_else(|| panic!("{at}/{key} is in no schema"));
                told(root, known, inner, &format!("{at}/{key}"));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| told(root, &schema["items"], item, at)),
        _ => {}
    }
}

fn rules() -> post::Rules {
    let cli = cli::parse(["idempost", "check", "--lang", "ko,en"]).unwrap();
    config::load(&cli, &Environment::new(), Path::new("/nowhere")).unwrap().rules(0)
}

const SOURCE: &str = "---\ntitle: 바다\ndate: 2024-02-03T04:05:06Z\nupdated: 2024-03-01\nexpiryDate: 2030-01-01\n\
    tags: [sea, sky]\ncategories: [a]\nauthors: [Kim]\nsummary: s\ncover: c.png\ncanonical: https://example.com/x\n\
    aliases: [/old/]\nhidden: true\ntranslationKey: sea\nlayout: wide\nweight: 3\n---\n# Head\n\nText with [a](b.md).\n";

fn parsed(file: &str, source: &str) -> Parsed {
    post::parse(file, false, source.as_bytes(), &rules())
}

fn asset(url: Option<&str>) -> Asset {
    Asset {
        path: "ko/c.png".to_owned(),
        sha256: "ab".repeat(32),
        bytes: 12,
        mime: "image/png".to_owned(),
        url: url.map(str::to_owned),
    }
}

#[test]
fn every_schema_is_a_schema() {
    for name in NAMES {
        let schema = schema(name);
        assert!(jsonschema::meta::is_valid(&schema), "{name:?}");
        assert!(schema["title"].is_string() && schema["$schema"].is_string(), "{name:?}");
    }
}

#[test]
fn a_stored_document_is_what_the_schema_says() {
    let parsed = parsed("ko/sea.md", SOURCE);
    let Outcome::Post(post) = &parsed.outcome else { panic!("{:#?}", parsed.diagnostics) };
    let body = post.body.text().unwrap();
    let rendered = render::render(body, &rules().render, &BTreeMap::new());
    let content =
        document::content(post, body, &rendered, &[asset(Some("https://cdn/x")), asset(None)], None, None);
    let ingest = Ingest {
        source: Some("site".to_owned()),
        path: post.file.clone(),
        pipeline: "p".to_owned(),
        content_hash: content.content_hash.to_string(),
        assets_hash: Some(format!("a1:{}", "0".repeat(64))),
        links_hash: Some(format!("l1:{}", "0".repeat(64))),
        version: 1,
        run_id: "r".to_owned(),
        operation_id: "o".to_owned(),
        revision: Some(4),
        live_by: Some("r".to_owned()),
        archived_by: Some("r".to_owned()),
        claim: Some(document::Claim { run_id: "r".to_owned(), until: 1_700_000_000_000 }),
    };
    let mut stored = content.fields.clone();
    stored.extend(doc! { "status": "active", "live": true, "ingest": ingest.to_document() });
    let properties = schema(SchemaName::Document)["properties"].clone();
    for field in OWNED_FIELDS {
        assert!(properties.get(field).is_some(), "{field} is in no schema");
        let elsewhere = ["supersededBy", "effects"];
        assert!(stored.contains_key(field) || elsewhere.contains(&field), "the sample has no {field}");
    }
    assert_eq!(properties.as_object().unwrap().len(), OWNED_FIELDS.len());
    valid(SchemaName::Document, &Bson::Document(stored.clone()).into_relaxed_extjson());

    stored.insert("publishedAt", "2024-02-03");
    let wrong = Bson::Document(stored).into_relaxed_extjson();
    assert!(!jsonschema::is_valid(&schema(SchemaName::Document), &wrong));
}

#[test]
fn what_explain_prints_is_what_the_schema_says() {
    for (file, source) in [
        ("ko/sea.md", SOURCE),
        ("ko/no-date.md", "---\ntitle: x\n---\n"),
        ("ko/broken.md", "---\ntitle: [x\ndate: nonsense\n"),
        ("ko/draft.md", "---\ndraft: true\ndate: 2024-01-01\n---\n"),
        ("ko/empty.md", ""),
    ] {
        let parsed = parsed(file, source);
        let skipped = match &parsed.outcome {
            Outcome::Skipped(reason, _) => Some(*reason),
            _ => None,
        };
        let assets = [asset(None)];
        let value = json::post(&PostReport {
            parsed: &parsed,
            diagnostics: &parsed.diagnostics,
            skipped,
            pipeline: "p",
            assets: &assets,
            html: Some("<p>"),
            hashed: decode::hashed(source.as_bytes()),
            store: None,
        });
        valid(SchemaName::Post, &value);
    }
}

#[test]
fn what_check_prints_is_what_the_schema_says() {
    let parsed = parsed("ko/broken.md", "---\ndate: 2024-13-01\ntitle: x\n---\n");
    assert!(!parsed.diagnostics.is_empty());
    let skipped = [Skipped { file: "README.md".to_owned(), reason: Skip::Readme }];
    let summary = Summary { files: 2, skipped: 1, invalid: 1, ..Summary::default() };
    let checked = Checked { summary: &summary, skipped: &skipped, diagnostics: &parsed.diagnostics };
    valid(SchemaName::Check, &json::check(&checked));
}

#[test]
fn a_run_has_the_keys_of_its_plan() {
    let (plan, run) = (schema(SchemaName::Plan), schema(SchemaName::Run));
    for (key, value) in plan["properties"].as_object().unwrap() {
        assert_eq!(run["properties"].get(key), Some(value), "{key}");
    }
    assert_eq!(plan["$defs"], run["$defs"]);
}

#[test]
fn the_configurations_schema_has_the_keys_that_are_read() {
    let config = schema(SchemaName::Config);
    let mut in_schema = Vec::new();
    leaves(&config, "", &mut in_schema);
    let mut read: Vec<String> = keys::KEYS.iter().map(|key| key.name.to_owned()).collect();
    in_schema.sort();
    read.sort();
    assert_eq!(in_schema, read);
}

fn leaves(schema: &Value, prefix: &str, out: &mut Vec<String>) {
    let inner = schema["properties"].as_object().into_iter().flatten();
    let any =
        schema["additionalProperties"].as_object().map(|_| ("*".to_owned(), &schema["additionalProperties"]));
    let children = inner.map(|(key, value)| (key.clone(), value)).chain(any);
    let mut leaf = true;
    for (key, value) in children {
        leaf = false;
        let name = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
        leaves(value, &name, out);
    }
    if leaf {
        out.push(prefix.to_owned());
    }
}

#[test]
fn the_schemas_defaults_are_the_defaults() {
    let cli = cli::parse(["idempost", "config"]).unwrap();
    let settings = config::load(&cli, &Environment::new(), Path::new("/nowhere")).unwrap();
    let config = schema(SchemaName::Config);
    for entry in settings.entries() {
        let pointer = format!("/properties/{}", entry.key.replace('.', "/properties/"));
        let told = config.pointer(&pointer).and_then(|key| key.get("default"));
        let empty = entry.value.is_null() || entry.value == json!([]);
        assert!(told == Some(&entry.value) || (told.is_none() && empty), "{}: {told:?}", entry.key);
    }
}

#[test]
fn the_sample_configuration_is_valid() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("idempost.toml")).unwrap();
    let value: toml::Value = toml::from_str(&text).unwrap();
    valid(SchemaName::Config, &serde_json::to_value(value).unwrap());
}
