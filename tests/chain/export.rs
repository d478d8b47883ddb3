//! What is kept of a source so that its file can be given back, and `export`, which gives it back.

use std::collections::BTreeMap;
use std::path::Path;

use bson::{Bson, Document, doc};
use idempost::identity::ContentHash;
use idempost::store::document::content_of;
use serde_json::Value;

use crate::blog::{Blog, POSTS};
use crate::stored::{Sqlite, Stored};

on_both_stores!(
    a_source_is_kept_whole,
    other_line_ends_are_no_change,
    documents_of_an_older_version_are_updated_once_and_told_so,
    the_sources_come_back_byte_for_byte,
    a_file_that_differs_stays_unless_it_is_forced,
    a_look_writes_nothing,
    what_others_changed_is_in_the_file_and_the_rest_of_it_stays,
    documents_of_others_become_faithful_files,
    nothing_is_written_outside_of_the_folder,
    what_readers_do_not_see_is_left_or_set_aside,
    assets_are_copied_back,
);

/// The bytes of a post's file as the store has them.
fn source(document: &Document) -> Vec<u8> {
    let front_matter = idempost::store::document::front_matter_of(document).unwrap();
    let body = document.get_str("body").unwrap();
    idempost::post::decode::encode(&[&front_matter.text, body], &front_matter.form)
}

fn a_source_is_kept_whole(blog: &Blog) {
    let pears = "\u{feff}---\r\ntitle: Pears # a comment\nslug: pears\r\ndate: 2031-03-05T08:00:00Z\r\n--- \r\nA\r\rB\n\r\n";
    blog.write("pears.md", pears);
    blog.ingested();
    assert_eq!(source(&blog.stored.find("pears", "en")), pears.as_bytes());
    for (slug, lang, file) in
        [("apples", "en", "apples.md"), ("apples", "ko", "ko/apples.md"), ("plums", "en", "plums.md")]
    {
        assert_eq!(source(&blog.stored.find(slug, lang)), std::fs::read(blog.path(file)).unwrap(), "{file}");
    }
}

/// A checkout with other line ends has the same text: nothing is written, no digest differs, a saved plan
/// holds.
fn other_line_ends_are_no_change(blog: &Blog) {
    let told = blog.run(&["diff", "--out", "plan.json"]);
    assert_eq!(told.exit, 0, "{told}");
    let convert = || {
        for file in ["apples.md", "ko/apples.md", "pears.md", "plums.md"] {
            let text = std::fs::read_to_string(blog.path(file)).unwrap();
            blog.write(file, format!("\u{feff}{}", text.replace('\n', "\r\n")));
        }
    };
    convert();
    assert_eq!(blog.ingest(0, &["--plan", "plan.json"])["applied"]["create"], POSTS);
    for (file, text) in [("apples.md", "\u{feff}"), ("plums.md", "\r")] {
        let plain = std::fs::read_to_string(blog.path(file)).unwrap().replace(text, "");
        blog.write(file, plain);
    }
    let watch = blog.stored.watch();
    assert_eq!(blog.ingest(0, &[])["summary"]["unchanged"], POSTS);
    assert_eq!(watch.written(), [] as [String; 0]);
    let told = blog.run(&["verify", "--render"]);
    assert_eq!(told.exit, 0, "{told}");
}

fn documents_of_an_older_version_are_updated_once_and_told_so(blog: &Blog) {
    blog.ingested();
    for mut document in blog.stored.documents() {
        document.remove("frontMatter").unwrap();
        let digest = ContentHash::of_fields(&content_of(&document)).to_string();
        let Some(Bson::Document(ingest)) = document.get_mut("ingest") else { panic!("it is ours") };
        ingest.insert("contentHash", digest);
        ingest.insert("pipeline", "1.1-0123456789abcdef");
        blog.stored.put(&document);
    }
    let diff = blog.run(&["diff"]);
    assert_eq!(diff.out.matches("(pipeline)").count(), POSTS, "{diff}");
    assert_eq!(diff.out.matches("not for readers: frontMatter").count(), POSTS, "{diff}");
    assert_eq!(blog.ingest(0, &[])["applied"]["update"], POSTS);
    let plums = blog.stored.find("plums", "en");
    assert_eq!(source(&plums), std::fs::read(blog.path("plums.md")).unwrap());
    assert_eq!(blog.ingest(0, &[])["summary"]["unchanged"], POSTS);
}

/// Exports as JSON, which its schema describes.
fn export(blog: &Blog, exit: i32, args: &[&str]) -> Value {
    let all: Vec<&str> = ["export", "--format", "json"].iter().chain(args).copied().collect();
    let told = blog.run(&all);
    assert_eq!(told.exit, exit, "{told}");
    let json = told.json();
    assert_eq!(json["exit"], exit, "{told}");
    let schema: Value = blog.run(&["schema", "export"]).json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{told}");
    json
}

/// Every file below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, folder: &Path, out: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                walk(root, &path, out);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                let bytes = if path.is_file() { std::fs::read(path).unwrap() } else { Vec::new() };
                out.insert(name, bytes);
            }
        }
    }
    let mut out = BTreeMap::new();
    if folder.exists() {
        walk(folder, folder, &mut out);
    }
    out
}

/// The content of the posts that a new store has once the folder was ingested into it, by slug and language.
fn ingested_again(blog: &Blog, folder: &str) -> BTreeMap<(String, String), Document> {
    let again = blog.folder().join("again.db");
    let _ = std::fs::remove_file(&again);
    let told = blog.run(&["ingest", "--content", folder, "--store", &format!("sqlite:{}", again.display())]);
    assert_eq!(told.exit, 0, "{told}");
    contents(Sqlite::new(again).documents())
}

fn contents(documents: Vec<Document>) -> BTreeMap<(String, String), Document> {
    let text = |document: &Document, key: &str| document.get_str(key).unwrap().to_owned();
    documents.iter().map(|one| ((text(one, "slug"), text(one, "lang")), content_of(one))).collect()
}

/// Equal in every field of the content; the order of fields is the store's own.
fn assert_equal(left: &BTreeMap<(String, String), Document>, right: &BTreeMap<(String, String), Document>) {
    assert_eq!(left.keys().collect::<Vec<_>>(), right.keys().collect::<Vec<_>>());
    for (key, one) in left {
        let other = &right[key];
        assert_eq!(ContentHash::of_fields(one), ContentHash::of_fields(other), "{one}\n{other}");
    }
}

fn the_sources_come_back_byte_for_byte(blog: &Blog) {
    blog.write(
        "crlf/a b?.md",
        "\u{feff}---\r\nslug: ab\ndate: 2031-04-01 # why\r\n---\r\n# A\rb\r\n\n[p](../pears.md)",
    );
    blog.write("json.md", "{\n \"date\": \"2031-04-02\", \"slug\": \"json\"}");
    blog.write("empty.markdown", "---\ndate: 2031-04-03\n---");
    blog.write("Cr.mdx", "--- \r\ndate: 2031-04-04\nx: [1, 2.0, null]\r\n...\n\n");
    blog.ingest(0, &[]);
    let json = export(blog, 0, &["out"]);
    let sources = files(&blog.path(""));
    assert_eq!(json["summary"]["written"], sources.len(), "{json:#}");
    assert!(json["files"].as_array().unwrap().iter().all(|file| file["from"] == "source"), "{json:#}");
    assert_eq!(files(&blog.folder().join("out")), sources);
    assert_equal(&ingested_again(blog, "out"), &contents(blog.stored.documents()));
    // Again, nothing is written.
    let json = export(blog, 0, &["out"]);
    assert_eq!(json["summary"]["unchanged"], sources.len(), "{json:#}");
    // Into the tree itself as well.
    let json = export(blog, 0, &["content"]);
    assert_eq!(json["summary"]["unchanged"], sources.len(), "{json:#}");
}

fn a_file_that_differs_stays_unless_it_is_forced(blog: &Blog) {
    blog.ingested();
    let out = blog.folder().join("out");
    std::fs::create_dir_all(out.join("plums.md")).unwrap();
    std::fs::write(out.join("pears.md"), "mine").unwrap();
    std::fs::write(out.join("other.txt"), "mine too").unwrap();
    let json = export(blog, 3, &["out"]);
    assert_eq!(
        (&json["summary"]["written"], &json["summary"]["refused"]),
        (&2.into(), &2.into()),
        "{json:#}"
    );
    assert_eq!(files(&out)["pears.md"], b"mine");
    blog.run(&["export", "out"]).says(&[
        "refused    pears.md",
        "--force replaces it",
        "2 unchanged, 2 refused",
    ]);
    let json = export(blog, 3, &["out", "--force"]);
    assert_eq!(
        (&json["summary"]["replaced"], &json["summary"]["refused"]),
        (&1.into(), &1.into()),
        "{json:#}"
    );
    assert_eq!(files(&out)["pears.md"], std::fs::read(blog.path("pears.md")).unwrap());
    assert_eq!(files(&out)["other.txt"], b"mine too");
    assert!(!files(&out).keys().any(|name| name.contains(".part")), "{:?}", files(&out).keys());
    std::fs::write(blog.folder().join("file"), "").unwrap();
    let told = blog.run(&["export", "file"]);
    assert_eq!(told.exit, 64, "{told}");
}

fn a_look_writes_nothing(blog: &Blog) {
    let json = export(blog, 0, &["out"]);
    assert_eq!(json["summary"]["posts"], 0, "{json:#}");
    blog.ingested();
    std::fs::remove_dir_all(blog.folder().join("out")).unwrap();
    let watch = blog.stored.watch();
    let json = export(blog, 0, &["-n", "out"]);
    assert_eq!((&json["summary"]["written"], &json["dryRun"]), (&POSTS.into(), &true.into()), "{json:#}");
    assert!(!blog.folder().join("out").exists());
    assert_eq!(watch.written(), [] as [String; 0]);
    blog.run(&["export", "--dry-run", "out"]).says(&["4 would be written"]);
}

fn what_others_changed_is_in_the_file_and_the_rest_of_it_stays(blog: &Blog) {
    blog.write(
        "quinces.md",
        "\u{feff}---\r\ntitle: Quinces # to be cooked\r\ndate: 2031-05-01\r\n---\r\nCook them.\r\n",
    );
    blog.ingest(0, &[]);
    let change = |slug: &str, fields: Document| {
        let id = blog.stored.find(slug, "en").get_str("_id").unwrap().to_owned();
        blog.stored.plant(&id, fields);
    };
    change("quinces", doc! { "body": "Cook them\nlong.\n" });
    change(
        "plums",
        doc! { "title": "Plums: 1.10", "tags": ["yes", "a, b"], "extra": { "date": "2020-01-01", "a%2Eb": { "x": [1.0, 7_i32] } } },
    );
    change("pears", doc! { "summary": "  ", "views": 5 });
    let json = export(blog, 0, &["out"]);
    let of = |file: &str| {
        let files = json["files"].as_array().unwrap();
        files.iter().find(|one| one["file"] == file).unwrap_or_else(|| panic!("{file}: {json:#}"))
    };
    assert_eq!(of("quinces.md")["from"], "text");
    let out = files(&blog.folder().join("out"));
    assert_eq!(
        String::from_utf8(out["quinces.md"].clone()).unwrap(),
        "\u{feff}---\r\ntitle: Quinces # to be cooked\r\ndate: 2031-05-01\r\n---\r\nCook them\r\nlong.\r\n"
    );
    assert_eq!(
        (&of("plums.md")["from"], &of("plums.md")["lost"]),
        (&"fields".into(), &Value::from(Vec::<String>::new()))
    );
    let plums = String::from_utf8(out["plums.md"].clone()).unwrap();
    assert!(plums.starts_with("+++\ntitle = \"Plums: 1.10\"\nslug = \"plums\"\n"), "{plums}");
    assert!(plums.ends_with("+++\n\nStone them.\n"), "{plums}");
    // A summary of blanks cannot be said.
    assert_eq!(of("pears.md")["lost"], Value::from(vec!["summary"]));
    let again = ingested_again(blog, "out");
    let stored = contents(blog.stored.documents());
    let key = |slug: &str| (slug.to_owned(), "en".to_owned());
    for field in ["title", "tags", "extra", "body", "publishedAt", "_id"] {
        assert_eq!(again[&key("plums")].get(field), stored[&key("plums")].get(field), "{field}");
    }
    assert_eq!(again[&key("quinces")].get("body"), stored[&key("quinces")].get("body"));
}

fn documents_of_others_become_faithful_files(blog: &Blog) {
    std::fs::create_dir(blog.folder().join("empty")).unwrap();
    blog.ingest(0, &["--content", "empty", "--allow-empty"]);
    let at = bson::DateTime::from_millis(1_700_000_000_123);
    for document in [
        doc! { "_id": "by-hand", "slug": "a/b c", "lang": "ko", "publishedAt": at, "title": "봄: 여름", "body": "---\nText\n",
        "tags": ["x"], "extra": { "deep": [{ "n": Bson::Null }], "title": "short" }, "views": 7 },
        doc! { "_id": "text-date", "slug": "text-date", "lang": "en", "publishedAt": "2023-01-02T03:04:05Z", "body": "" },
        doc! { "_id": "draft", "slug": "draft", "lang": "en", "publishedAt": at, "body": "x", "status": "draft" },
        doc! { "_id": "no-body", "slug": "x", "lang": "en", "publishedAt": at },
        doc! { "_id": "no-date", "slug": "y", "lang": "en", "body": "x" },
        doc! { "_id": "wrong", "slug": "%41", "lang": "en", "publishedAt": at, "body": "x" },
        doc! { "_id": "counter", "value": 7 },
    ] {
        blog.stored.put(&document);
    }
    let json = export(blog, 3, &["out"]);
    let reasons: BTreeMap<&str, &str> = json["left"]
        .as_array()
        .unwrap()
        .iter()
        .map(|left| (left["id"].as_str().unwrap(), left["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(
        reasons,
        BTreeMap::from([("no-body", "no-body"), ("no-date", "no-date"), ("counter", "no-slug")])
    );
    let names: Vec<String> = files(&blog.folder().join("out")).into_keys().collect();
    assert_eq!(names, ["_drafts/en/draft.md", "en/text-date.md", "ko/a-b-c.md"]);
    let failed: Vec<&Value> =
        json["files"].as_array().unwrap().iter().filter(|one| one["fate"] == "failed").collect();
    assert_eq!((failed.len(), &failed[0]["id"]), (1, &"wrong".into()), "{json:#}");
    assert!(failed[0]["message"].as_str().unwrap().contains("percent"), "{json:#}");
    let again = ingested_again(blog, "out");
    assert_eq!(again.len(), 2);
    let post = &again[&("a/b c".to_owned(), "ko".to_owned())];
    assert_eq!(post.get_datetime("publishedAt").unwrap(), &at);
    for (field, value) in [
        ("title", Bson::from("봄: 여름")),
        ("body", Bson::from("---\nText\n")),
        ("tags", Bson::from(vec!["x"])),
        ("extra", Bson::from(doc! { "deep": [{}], "title": "short" })),
    ] {
        assert_eq!(post.get(field), Some(&value), "{field}");
    }
}

fn nothing_is_written_outside_of_the_folder(blog: &Blog) {
    blog.ingested();
    let outside = blog.folder().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("there.md"), "there").unwrap();
    let at = bson::DateTime::from_millis(1_700_000_000_000);
    for (number, slug) in
        ["../../outside/evil", "/tmp/evil", "..", "a/../../b", "C:\\evil", "nul", "\u{202e}x"]
            .iter()
            .enumerate()
    {
        blog.stored.put(&doc! { "_id": format!("f{number}"), "slug": *slug, "lang": "../x", "publishedAt": at, "body": "x" });
    }
    let mut paths = ["../outside/evil.md", "link/evil.md", "file.md", "/etc/evil.md"].into_iter();
    for mut document in blog.stored.documents() {
        if let Some(Bson::Document(ingest)) = document.get_mut("ingest") {
            ingest.insert("path", paths.next().unwrap());
            blog.stored.put(&document);
        }
    }
    let out = blog.folder().join("out");
    std::fs::create_dir_all(&out).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../outside", out.join("link")).unwrap();
        std::os::unix::fs::symlink("../outside/there.md", out.join("file.md")).unwrap();
    }
    let before: Vec<String> =
        files(blog.folder()).into_keys().filter(|name| !name.starts_with("out/")).collect();
    for args in [&["out"][..], &["out", "--force"]] {
        let json = export(blog, 3, args);
        assert!(
            json["summary"]["written"].as_u64().unwrap() + json["summary"]["unchanged"].as_u64().unwrap()
                >= 2,
            "{json:#}"
        );
        let after: Vec<String> =
            files(blog.folder()).into_keys().filter(|name| !name.starts_with("out/")).collect();
        let known = |name: &&String| !name.contains("posts.db");
        assert_eq!(
            after.iter().filter(known).collect::<Vec<_>>(),
            before.iter().filter(known).collect::<Vec<_>>()
        );
        assert_eq!(files(&outside)["there.md"], b"there", "{json:#}");
        for file in json["files"].as_array().unwrap() {
            let name = file["file"].as_str().unwrap();
            assert!(!name.split('/').any(|part| part == "..") && !name.starts_with('/'), "{name}");
        }
    }
    assert!(!Path::new("/etc/evil.md").exists() && !Path::new("/tmp/evil.md").exists());
}

fn what_readers_do_not_see_is_left_or_set_aside(blog: &Blog) {
    blog.ingested();
    let plums = std::fs::read(blog.path("plums.md")).unwrap();
    blog.remove("plums.md");
    assert_eq!(blog.ingest(0, &["--prune"])["applied"]["archive"], 1);
    let json = export(blog, 0, &["out"]);
    assert_eq!(json["left"][0]["reason"], "archived", "{json:#}");
    blog.run(&["export", "out"]).says(&["3 unchanged", "left: 1 archived"]);
    export(blog, 0, &["out", "--all"]);
    let out = files(&blog.folder().join("out"));
    assert_eq!((out.len(), &out["_archived/plums.md"]), (4, &plums));
    assert_eq!(ingested_again(blog, "out").len(), 3);
    // Of another source nothing is exported.
    let json = export(blog, 0, &["elsewhere", "--source", "other"]);
    assert_eq!((&json["summary"]["posts"], &json["left"][0]["reason"]), (&0.into(), &"other-source".into()));
}

fn assets_are_copied_back(blog: &Blog) {
    blog.configure(
        "source = \"orchard\"\n[assets]\nstore = \"file:stored\"\npublic_url = \"https://cdn.example.com\"\n",
    );
    let large: Vec<u8> = (0..9_000_000_u32).map(|number| (number % 251) as u8).collect();
    blog.write("img/apple 1.png", b"\x89PNG\r\n\x1a\nsmall");
    blog.write("large.bin", &large);
    blog.write(
        "figs.md",
        "---\ndate: 2031-06-01\ncover: img/apple%201.png\n---\n![a](img/apple%201.png) [l](large.bin)\n",
    );
    blog.ingest(0, &[]);
    blog.run(&["export", "out"]).says(&["5 written", "refer to 2 files that are not copied"]);
    let json = export(blog, 0, &["out", "--assets"]);
    assert_eq!(json["assets"].as_array().unwrap().len(), 2, "{json:#}");
    assert_eq!(files(&blog.folder().join("out")), files(&blog.path("")));
    let again = ingested_again(blog, "out");
    assert_equal(&again, &contents(blog.stored.documents()));
    let json = export(blog, 0, &["out", "--assets"]);
    assert!(json["assets"].as_array().unwrap().iter().all(|one| one["fate"] == "unchanged"), "{json:#}");
    // The address of the stored cover is no change by hand, and a title is.
    let figs = blog.stored.find("figs", "en");
    blog.stored.plant(figs.get_str("_id").unwrap(), doc! { "title": "Figs" });
    let json = export(blog, 0, &["out2", "--assets"]);
    let file = json["files"].as_array().unwrap().iter().find(|one| one["file"] == "figs.md").unwrap();
    assert_eq!((&file["from"], file["lost"].as_array().unwrap().len()), (&"fields".into(), 0), "{json:#}");
    let text = String::from_utf8(files(&blog.folder().join("out2"))["figs.md"].clone()).unwrap();
    assert!(
        text.contains("\ncover: img/apple%201.png\n") || text.contains("\ncover: \"img/apple%201.png\"\n"),
        "{text}"
    );
    // An object that is gone, or is another, is told and not written.
    let object = |start: &str| {
        let names = files(&blog.folder().join("stored")).into_keys();
        blog.folder().join("stored").join(names.into_iter().find(|name| name.ends_with(start)).unwrap())
    };
    std::fs::write(object(".png"), b"\x89PNG\r\n\x1a\nSMALL").unwrap();
    let json = export(blog, 3, &["out3", "--assets"]);
    let fates: Vec<&str> =
        json["assets"].as_array().unwrap().iter().map(|one| one["fate"].as_str().unwrap()).collect();
    assert_eq!(fates, ["failed", "written"], "{json:#}");
    std::fs::remove_file(object(".png")).unwrap();
    let json = export(blog, 3, &["out3", "--assets"]);
    assert_eq!(json["assets"][0]["fate"], "absent", "{json:#}");
    assert!(!files(&blog.folder().join("out3")).keys().any(|name| name.starts_with("img/")), "{json:#}");
}
