//! The blog of this repository in both stores: every field that a reader can see is equal.

use std::path::Path;

use bson::Document;

use crate::blog::{self, Blog};

/// Ingests `content/` with the configuration of the repository.
fn ingest_sample(blog: &Blog, cwd: &Path) -> serde_json::Value {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = root.join("idempost.toml");
    let args = ["ingest", "--config", config.to_str().unwrap(), "--format", "json"];
    let told = blog::run(cwd, &args, &[("IDEMPOST_URI", blog.uri())]);
    assert_eq!(told.exit, 0, "{told}");
    told.json()
}

/// The documents without bookkeeping. A server orders the fields of an insertion by their names, so all are
/// ordered so; what is inside of them keeps its order.
fn readers(documents: Vec<Document>) -> Vec<Document> {
    let without = |mut document: Document| {
        document.remove("ingest").expect("every post has its bookkeeping");
        let ordered: std::collections::BTreeMap<String, bson::Bson> = document.into_iter().collect();
        ordered.into_iter().collect()
    };
    documents.into_iter().map(without).collect()
}

#[test]
fn both_stores_hold_equal_documents() {
    let (sqlite, server) = (Blog::on_sqlite(), Blog::on_server());
    let run = ingest_sample(&sqlite, sqlite.folder());
    let on_server = ingest_sample(&server, Path::new("/"));
    assert_eq!(run["applied"], on_server["applied"]);
    assert_eq!(run["changes"], on_server["changes"]);
    let posts = usize::try_from(run["applied"]["create"].as_u64().unwrap()).unwrap();
    assert!(posts >= 12, "about a dozen posts: {posts}");

    let (here, there) = (readers(sqlite.stored.documents()), readers(server.stored.documents()));
    assert_eq!(here.len(), posts);
    let languages = ["ko", "en", "ja"];
    for lang in languages {
        assert!(here.iter().any(|document| document.get_str("lang").ok() == Some(lang)), "{lang}");
    }
    for (here, there) in here.iter().zip(&there) {
        assert_eq!(here.to_vec().unwrap(), there.to_vec().unwrap(), "{here}\n{there}");
    }

    // The control: one field less, and the comparison would tell.
    let mut other = there;
    other[0].remove("wordCount").expect("every post has it");
    assert_ne!(here[0].to_vec().unwrap(), other[0].to_vec().unwrap());

    for blog in [&sqlite, &server] {
        let watch = blog.stored.watch();
        assert_eq!(ingest_sample(blog, Path::new("/"))["summary"]["unchanged"], posts);
        assert_eq!(watch.written(), [] as [String; 0]);
    }
}
