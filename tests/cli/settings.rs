//! `config`, `init` and `schema`.

use super::harness::Scratch;

const CONFIG: &str = "\
content = \"posts\"
store = \"mongodb://ann:s3cret@db.example.com/blog\"
langs = [\"ko\", \"en\"]
preset = \"jekyll\"

[fields]
publishedAt = [\"when\"]

[limits]
prune = 3
";

#[test]
fn each_setting_is_printed_with_its_origin() {
    let scratch = Scratch::new().with("idempost.toml", CONFIG).with("posts/a.md", "");
    let env = [("IDEMPOST_TIMEZONE", "asia/seoul"), ("IDEMPOST_RETRY_ATTEMPTS", "3")];
    let told = scratch.run_with(&["config", "--collection", "notes", "--lang", "ja,ko"], &env);
    insta::assert_snapshot!(told);
    let json = scratch.run_with(&["config", "--format", "json"], &env);
    assert!(!format!("{told}{json}").contains("s3cret"));
    let value: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    let zone = value["settings"].as_array().unwrap().iter().find(|one| one["key"] == "timezone").unwrap();
    assert_eq!((&zone["value"], &zone["origin"]), (&"Asia/Seoul".into(), &"IDEMPOST_TIMEZONE".into()));
}

#[test]
fn what_config_prints_is_a_configuration() {
    let scratch = Scratch::new();
    let first = scratch.run(&["config"]);
    assert_eq!(first.exit, 0, "{first}");
    let again = Scratch::new().with("idempost.toml", &first.out).with("content/a.md", "").run(&["config"]);
    assert_eq!(again.exit, 0, "{again}");
    let values = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with('#')).map(|line| line.replace("  ", "")).collect()
    };
    let without_origin = |lines: Vec<String>| -> Vec<String> {
        lines
            .into_iter()
            .map(|line| line.split(" #").next().unwrap().split("# ").next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(without_origin(values(&first.out)), without_origin(values(&again.out)));
}

#[test]
fn a_misspelt_key_is_told_with_its_place() {
    let scratch = Scratch::new().with("idempost.toml", "content = \"posts\"\n\n[retry]\natempts = 3\n");
    insta::assert_snapshot!(scratch.run(&["check"]));
}

#[test]
fn init_writes_a_file_once() {
    let scratch = Scratch::new().with("content/ko/a.md", "").with("content/en/a.md", "");
    insta::assert_snapshot!(scratch.run(&["init"]));
    insta::assert_snapshot!(std::fs::read_to_string(scratch.path().join("idempost.toml")).unwrap());
    insta::assert_snapshot!(scratch.run(&["init"]));
    let told = scratch.run(&["config"]);
    assert_eq!((told.exit, told.err.as_str()), (0, ""), "{told}");
}

#[test]
fn every_schema_is_printed() {
    let scratch = Scratch::new();
    for name in ["document", "plan", "run", "check", "post", "front-matter", "config"] {
        let told = scratch.run(&["schema", name]);
        assert_eq!(told.exit, 0, "{told}");
        let schema: serde_json::Value = serde_json::from_str(&told.out).unwrap();
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
    }
}
