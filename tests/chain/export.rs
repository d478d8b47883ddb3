//! What is kept of a source so that its file can be given back, and `export`, which gives it back.

use bson::{Bson, Document};
use idempost::identity::ContentHash;
use idempost::store::document::content_of;

use crate::blog::{Blog, POSTS};

on_both_stores!(
    a_source_is_kept_whole,
    other_line_ends_are_no_change,
    documents_of_an_older_version_are_updated_once_and_told_so,
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
