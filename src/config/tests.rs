//! Precedence, places in messages, and what is refused.

use std::path::Path;

use super::*;
use crate::cli;

fn env(pairs: &[(&str, &str)]) -> Environment {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn load_in(folder: &Path, args: &[&str], pairs: &[(&str, &str)]) -> Result<Settings, Failure> {
    let cli = cli::parse(std::iter::once("idempost").chain(args.iter().copied()))
        .map_err(|told| Failure::usage(told.plain))?;
    load(&cli, &env(pairs), folder)
}

fn tree(config: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("content/ko")).unwrap();
    std::fs::write(folder.path().join("content/ko/a.md"), "").unwrap();
    if !config.is_empty() {
        std::fs::write(folder.path().join(file::FILE_NAME), config).unwrap();
    }
    folder
}

fn refused(config: &str) -> (String, String) {
    let folder = tree(config);
    let failure = load_in(folder.path(), &["check"], &[]).unwrap_err();
    assert_eq!(failure.exit, crate::error::Exit::Usage);
    (failure.message, failure.help)
}

#[test]
fn flags_win_over_variables_over_the_file_over_defaults() {
    let folder = tree("collection = \"from_file\"\n[limits]\nbatch = 7\n");
    let read = |args: &[&str], pairs: &[(&str, &str)]| {
        let settings = load_in(folder.path(), args, pairs).unwrap();
        (settings.collection.value, settings.collection.origin.to_string())
    };
    let pair = [("IDEMPOST_COLLECTION", "from_env")];
    assert_eq!(read(&["diff", "--collection", "typed"], &pair), ("typed".into(), "--collection".into()));
    assert_eq!(read(&["diff"], &pair), ("from_env".into(), "IDEMPOST_COLLECTION".into()));
    assert_eq!(read(&["diff"], &[]), ("from_file".into(), "idempost.toml:1".into()));
    assert_eq!(read(&["diff"], &[("IDEMPOST_COLLECTION", "")]).0, "from_file");
    let empty = tree("");
    let settings = load_in(empty.path(), &["diff"], &[]).unwrap();
    assert_eq!((settings.collection.value.as_str(), settings.collection.origin), ("posts", Origin::Default));
    let settings = load_in(folder.path(), &["diff"], &[("IDEMPOST_LIMITS_BATCH", "9")]).unwrap();
    assert_eq!(settings.limits.batch.value, 9);
    assert_eq!(settings.limits.in_flight.value, 4);
}

#[test]
fn an_unknown_key_names_its_place_and_the_nearest_known_one() {
    let (message, help) = refused("content = \"content\"\ntimezome = \"UTC\"\n");
    assert_eq!(message, "idempost.toml:2:1: unknown key `timezome`");
    assert_eq!(help, "did you mean `timezone`?");
    let (message, help) = refused("[retry]\natempts = 3\n");
    assert_eq!(message, "idempost.toml:2:1: unknown key `atempts` in [retry]");
    assert_eq!(help, "did you mean `attempts`?");
    assert_eq!(refused("in_flight = 3\n").1, "`in_flight` belongs in [limits]");
    assert!(refused("[render]\nfont = 1\n").1.contains("html, raw_html"));
    assert!(refused("\"retry.attempts\" = 3\n").0.contains("unknown key"));
}

#[test]
fn a_wrong_type_names_its_place_and_what_to_write() {
    assert_eq!(
        refused("\n  langs = \"ko\"\n").0,
        "idempost.toml:2:11: `langs` wants a list of texts, for example [\"a\", \"b\"], but here stands text"
    );
    assert!(refused("langs = [\"ko\", 1]\n").0.starts_with("idempost.toml:1:16: "));
    assert!(refused("require_date = \"yes\"\n").0.contains("wants true or false"));
    assert!(refused("render = true\n").0.contains("is a table"));
    assert!(refused("timezone = \n").0.starts_with("idempost.toml:1:"));
    assert!(refused("[limits]\nbatch = 0\n").0.starts_with("idempost.toml:2:9: `0` is no whole number"));
    assert!(refused("[limits]\nfile = \"1TiB\"\n").0.contains("is no size"));
    assert!(refused("[retry]\nbackoff = \"1s\"\n").0.contains("100ms..10s"));
    assert!(refused("url_pattern = \"/{lang}/{stem}\"\n").0.contains("`{stem}`"));
    assert!(refused("url_pattern = \"/{lang}\"\n").0.contains("no {slug}"));
    assert!(refused("slug_mode = \"lowr\"\n").0.contains("did you mean `lower`"));
    assert!(refused("preset = \"huga\"\n").0.contains("hugo is near"));
}

#[test]
fn a_zone_is_an_iana_name_in_any_case() {
    let folder = tree("timezone = \"asia/seoul\"\n");
    let settings = load_in(folder.path(), &["check"], &[]).unwrap();
    assert_eq!(settings.timezone.value, "Asia/Seoul");
    assert!(refused("timezone = \"Seoul\"\n").0.contains("did you mean `Asia/Seoul`"));
    assert!(refused("timezone = \"Europe/Berlim\"\n").0.contains("did you mean `Europe/Berlin`"));
    assert!(refused("timezone = \"+09:00\"\n").0.contains("IANA name"));
}

#[test]
fn a_lang_is_made_canonical_and_kept_once() {
    let folder = tree("");
    let settings = load_in(folder.path(), &["check", "--lang", "zh_cn", "--lang", "en,zh-CN"], &[]).unwrap();
    let langs: Vec<&str> = settings.langs.value.iter().map(Lang::as_str).collect();
    assert_eq!(langs, ["zh-CN", "en"]);
    assert!(
        load_in(folder.path(), &["check", "--lang", "korean"], &[])
            .unwrap_err()
            .message
            .starts_with("--lang: ")
    );
}

#[test]
fn a_preset_changes_defaults_and_says_so() {
    let folder = tree("preset = \"hugo\"\n");
    let settings = load_in(folder.path(), &["check"], &[]).unwrap();
    assert_eq!(
        (settings.slug_mode.value, settings.slug_mode.origin),
        (SlugMode::Hugo, Origin::Preset("hugo"))
    );
    assert!(settings.slug_pattern.is_default());
    let settings = load_in(folder.path(), &["check", "--slug-mode", "keep"], &[]).unwrap();
    assert_eq!(settings.slug_mode.value, SlugMode::Keep);
}

#[test]
fn jekyll_puts_the_day_into_slugs_unless_told_otherwise() {
    let folder = tree("preset = \"jekyll\"\n");
    let settings = load_in(folder.path(), &["check"], &[]).unwrap();
    assert_eq!(settings.slug_pattern.value.as_str(), "{year}/{month}/{day}/{stem}");
    assert_eq!(settings.slug_pattern.origin, Origin::Preset("jekyll"));
    assert_eq!(settings.slug_mode.value, SlugMode::Jekyll);
    assert_eq!(settings.slug_mode.origin, Origin::Preset("jekyll"));
    let settings = load_in(folder.path(), &["check", "--slug-pattern", "{stem}"], &[]).unwrap();
    assert_eq!(settings.slug_pattern.value.as_str(), "{stem}");
}

#[test]
fn the_store_is_the_first_that_is_named() {
    let bare = tree("");
    let store = |folder: &Path, args: &[&str], pairs: &[(&str, &str)]| {
        let settings = load_in(folder, args, pairs).unwrap();
        (settings.store.value.to_string(), settings.store.origin.to_string())
    };
    let two = [("IDEMPOST_URI", "mongodb://env/a"), ("MONGODB_URI", "mongodb://other/b")];
    assert_eq!(store(bare.path(), &["diff", "--store", "sqlite:t.db"], &two).0, "sqlite:t.db");
    assert_eq!(store(bare.path(), &["diff"], &two), ("mongodb://env/a".into(), "IDEMPOST_URI".into()));
    assert_eq!(store(bare.path(), &["diff"], &two[1..]).1, "MONGODB_URI");
    assert_eq!(store(bare.path(), &["diff"], &[]), ("sqlite:idempost.db".into(), "default".into()));
    // Without a database, the common variable is not for us, and that is said.
    let settings = load_in(bare.path(), &["diff"], &[("MONGODB_URI", "mongodb://other")]).unwrap();
    assert!(settings.store.is_default() && settings.warnings[0].contains("MONGODB_URI"));
    let named = tree("database = \"blog\"\n");
    assert_eq!(store(named.path(), &["diff"], &[("MONGODB_URI", "mongodb://other")]).1, "MONGODB_URI");
    let filed = tree("store = \"sqlite:data/x.db\"\n");
    assert_eq!(store(filed.path(), &["diff"], &two[1..]).1, "idempost.toml:1");
    let inside = filed.path().join("content");
    let settings = load_in(&inside, &["diff"], &[]).unwrap();
    assert_eq!(settings.store.value.sqlite_path(), Some(filed.path().join("data/x.db").as_path()));
}

#[test]
fn ci_without_a_store_is_refused_only_where_a_store_is_used() {
    let folder = tree("");
    let settings = load_in(folder.path(), &["check"], &[("CI", "true")]).unwrap();
    assert!(settings.store().unwrap_err().help.contains("IDEMPOST_URI"));
    assert!(load_in(folder.path(), &["ingest"], &[("CI", "true"), ("IDEMPOST_URI", "")]).is_err());
    assert!(load_in(folder.path(), &["ingest"], &[("CI", "false")]).unwrap().store().is_ok());
    let settings = load_in(folder.path(), &["ingest", "--store", "sqlite:x.db"], &[("CI", "true")]).unwrap();
    assert!(settings.store().is_ok());
}

#[test]
fn a_secret_may_be_mounted_as_a_file() {
    let folder = tree("");
    std::fs::write(folder.path().join("uri"), "mongodb://ann:s3cret@h/blog\n").unwrap();
    let settings = load_in(folder.path(), &["diff"], &[("IDEMPOST_URI_FILE", "uri")]).unwrap();
    assert_eq!(settings.store.value.expose(), "mongodb://ann:s3cret@h/blog");
    assert_eq!(settings.store.origin.to_string(), "IDEMPOST_URI_FILE");
    assert!(!format!("{settings:?}").contains("s3cret"));
    assert!(!format!("{:?}", settings.entries()).contains("s3cret"));
    let both = [("IDEMPOST_URI_FILE", "uri"), ("IDEMPOST_URI", "mongodb://h/b")];
    assert!(load_in(folder.path(), &["diff"], &both).unwrap_err().message.contains("both set"));
    assert!(load_in(folder.path(), &["diff"], &[("IDEMPOST_URI_FILE", "gone")]).is_err());
}

#[test]
fn a_password_in_the_file_is_warned_of_and_not_told() {
    let folder = tree("store = \"mongodb://ann:s3cret@h/blog\"\n");
    let settings = load_in(folder.path(), &["diff"], &[]).unwrap();
    assert!(settings.warnings[0].contains("idempost.toml:1"));
    assert!(!settings.warnings.join("").contains("s3cret"));
    assert!(!refused("store = \"mango://ann:s3cret@h/blog\"\n").0.contains("s3cret"));
}

#[test]
fn a_database_comes_from_flag_uri_or_file_in_this_order() {
    let folder = tree("database = \"from_file\"\n");
    let database = |args: &[&str], uri: &str| {
        load_in(folder.path(), args, &[("IDEMPOST_URI", uri)]).unwrap().database().unwrap()
    };
    assert_eq!(database(&["diff"], "mongodb://h/in_uri"), "in_uri");
    assert_eq!(database(&["diff"], "mongodb://h"), "from_file");
    assert_eq!(database(&["diff", "--database", "typed"], "mongodb://h/in_uri"), "typed");
    assert_eq!(database(&["diff"], "sqlite:some.db"), "some");
    let bare = tree("");
    let settings = load_in(bare.path(), &["diff", "--store", "mongodb://h"], &[]).unwrap();
    assert!(settings.database().unwrap_err().message.contains("names no database"));
}

#[test]
fn a_path_narrows_inside_the_root_and_is_the_root_where_none_is_configured() {
    let configured = tree("content = \"content\"\n");
    let narrow = |folder: &Path, args: &[&str]| load_in(folder, args, &[]).map(|settings| settings.content);
    let whole = narrow(configured.path(), &["ingest", "content"]).unwrap();
    assert_eq!((whole.narrow.len(), whole.shown.as_str()), (0, "content"));
    assert_eq!(narrow(configured.path(), &["ingest", "."]).unwrap().narrow.len(), 0);
    let part = narrow(configured.path(), &["ingest", "content/ko"]).unwrap();
    assert_eq!(part.narrow, ["ko"]);
    assert!(part.wants("ko/a.md") && part.wants("ko") && !part.wants("korea.md"));
    let from_inside = narrow(&configured.path().join("content"), &["ingest", "ko/a.md"]).unwrap();
    assert_eq!(from_inside.narrow, ["ko/a.md"]);
    assert_eq!((from_inside.shown.as_str(), from_inside.here.as_str()), ("content", "."));
    assert_eq!(part.here, "content");
    assert_eq!(from_inside.root.value, configured.path().join("content"));
    assert!(narrow(configured.path(), &["ingest", "content/gone"]).unwrap_err().message.contains("no such"));
    std::fs::create_dir(configured.path().join("other")).unwrap();
    let outside = narrow(configured.path(), &["ingest", "other"]).unwrap_err();
    assert!(outside.message.contains("outside of the content root content"));

    let bare = tree("");
    let root = narrow(bare.path(), &["ingest", "content"]).unwrap();
    assert_eq!(root.root, Sourced { value: bare.path().join("content"), origin: Origin::Argument });
    let file = narrow(bare.path(), &["check", "content/ko/a.md"]).unwrap();
    assert_eq!((file.root.value, file.narrow), (bare.path().join("content/ko"), vec!["a.md".to_owned()]));
    assert_eq!(narrow(bare.path(), &["ingest"]).unwrap().root.value, bare.path().join("content"));
}

#[test]
fn what_is_not_acted_on_and_what_is_misspelt_is_said() {
    let folder = tree("[translations]\nrequired = [\"ko\"]\n[effects.site]\nurl = \"https://example.com\"\n");
    let settings =
        load_in(folder.path(), &["check"], &[("IDEMPOST_TIMEZOME", "UTC"), ("IDEMPOST_TEST_URI", "x")])
            .unwrap();
    assert_eq!(settings.warnings.len(), 3, "{:?}", settings.warnings);
    assert!(settings.warnings[0].contains("IDEMPOST_TIMEZONE"));
    assert!(settings.warnings[1].contains("idempost.toml:4: `effects.site.url`"));
}

#[test]
fn a_format_that_makes_no_sense_is_refused() {
    let folder = tree("");
    let failure = load_in(folder.path(), &["explain", "a.md", "--format", "sarif"], &[]).unwrap_err();
    assert!(failure.message.contains("[possible values: human, json, ndjson]"), "{}", failure.message);
    let failure = load_in(folder.path(), &["--format", "sarif", "explain", "a.md"], &[]).unwrap_err();
    assert_eq!(failure.help, "--format for it: human, json, ndjson");
}

#[test]
fn more_names_for_a_field_are_read() {
    let folder = tree("[fields]\npublishedAt = [\"when\"]\n");
    let settings = load_in(folder.path(), &["check"], &[]).unwrap();
    assert_eq!(settings.rules(0).field_names["publishedAt"], ["when"]);
    let settings = load_in(folder.path(), &["check"], &[("IDEMPOST_FIELDS_PUBLISHED_AT", "on, at")]).unwrap();
    assert_eq!(settings.fields["publishedAt"].value, ["on", "at"]);
    assert_eq!(refused("[fields]\npublished_at = [\"when\"]\n").1, "did you mean `publishedAt`?");
}

#[test]
fn every_setting_is_shown() {
    let folder = tree("");
    let settings = load_in(folder.path(), &["config"], &[]).unwrap();
    let shown: Vec<String> = settings.entries().into_iter().map(|entry| entry.key).collect();
    for key in keys::KEYS.iter().filter(|key| key.acted_on && !key.name.starts_with("fields.")) {
        assert!(shown.iter().any(|name| name == key.name), "{} is not shown", key.name);
    }
}
