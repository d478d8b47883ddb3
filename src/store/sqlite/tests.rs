//! What is SQLite's alone: the file and its faults. What the port promises is in `tests/contract`.

use bson::{Bson, doc};
use tempfile::TempDir;

use super::*;

fn post(id: &str, slug: &str) -> Document {
    doc! {
        "_id": id, "slug": slug, "lang": "en", "status": "active", "live": true,
        "title": "A title", "publishedAt": bson::DateTime::from_millis(1_700_000_000_123),
        "ingest": { "path": "a.md", "version": 1_i64 },
    }
}

fn create(id: &str, slug: &str) -> Statement {
    Statement::Create { document: post(id, slug) }
}

fn in_folder(folder: &TempDir) -> SqliteStore {
    SqliteStore::open(folder.path().join("posts.db")).unwrap()
}

async fn ready(folder: &TempDir) -> SqliteStore {
    let store = in_folder(folder);
    store.ensure_ready().await.unwrap();
    store
}

/// Runs SQL as another program would.
fn sql(folder: &TempDir, sql: &str) {
    Connection::open(folder.path().join("posts.db")).unwrap().execute_batch(sql).unwrap();
}

#[tokio::test]
async fn reading_a_missing_file_finds_nothing_and_makes_nothing() {
    let folder = TempDir::new().unwrap();
    let store = in_folder(&folder);
    store.connect().await.unwrap();
    assert_eq!(store.heads().await.unwrap(), []);
    assert_eq!(store.rows(Side::Runs, &doc! {}).await.unwrap(), []);
    assert_eq!(store.write(&[create("1", "a")]).await.unwrap_err().class, Class::Permanent);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn an_open_store_sees_the_file_that_another_one_makes() {
    let folder = TempDir::new().unwrap();
    let reader = in_folder(&folder);
    assert_eq!(reader.heads().await.unwrap(), []);
    let writer = ready(&folder).await;
    writer.write(&[create("1", "a")]).await.unwrap();
    assert_eq!(reader.heads().await.unwrap().len(), 1);
}

#[test]
fn names_of_no_file_are_refused() {
    for path in ["", ":memory:"] {
        assert_eq!(SqliteStore::open(path).unwrap_err().class, Class::Permanent, "{path}");
    }
    for name in ["", "sqlite_posts", "a\"b", "a b"] {
        assert!(SqliteStore::open_collection("x.db", name).is_err(), "{name}");
    }
}

#[tokio::test]
async fn files_that_cannot_be_used_are_told_apart() {
    let folder = TempDir::new().unwrap();
    let file = |name: &str| folder.path().join(name);
    std::fs::write(
        file("text.db"),
        "# not a database, but long enough to be read as the head of one\n".repeat(20),
    )
    .unwrap();
    std::fs::write(file("plain"), "").unwrap();
    std::fs::create_dir(file("folder.db")).unwrap();
    for (path, expected) in [
        (file("text.db"), "is no SQLite database"),
        (file("folder.db"), "is a folder"),
        (file("missing/posts.db"), "does not exist"),
        (file("plain/posts.db"), "is no folder"),
    ] {
        let fault = SqliteStore::open(&path).unwrap().ensure_ready().await.unwrap_err();
        assert_eq!(fault.class, Class::Permanent, "{fault:?}");
        assert!(fault.message.contains(expected), "{fault:?}");
        assert!(!fault.help.is_empty(), "{fault:?}");
    }
}

#[tokio::test]
async fn a_file_without_write_permission_is_read_and_not_written() {
    let folder = TempDir::new().unwrap();
    let store = ready(&folder).await;
    store.write(&[create("1", "a")]).await.unwrap();
    drop(store);
    let path = folder.path().join("posts.db");
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();

    let store = in_folder(&folder);
    assert_eq!(store.heads().await.unwrap().len(), 1);
    let fault = store.ensure_ready().await.unwrap_err();
    assert_eq!(fault.class, Class::Permanent);
    assert!(fault.message.contains("read-only"), "{fault:?}");
}

#[tokio::test]
async fn a_full_disk_is_permanent_and_undoes_the_batch() {
    let folder = TempDir::new().unwrap();
    let store = ready(&folder).await;
    store.write(&[create("1", "a")]).await.unwrap();
    if let Some(connection) = store.shared.connection.lock().unwrap().as_mut() {
        // The pages that the file has are all it may have: what SQLite answers on a full disk.
        let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
        connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(())).unwrap();
    }
    let mut big = post("3", "c");
    big.insert("body", "x".repeat(100_000));
    let fault = store.write(&[create("2", "b"), Statement::Create { document: big }]).await.unwrap_err();
    assert_eq!(fault.class, Class::Permanent);
    assert!(fault.message.contains("disk full"), "{fault:?}");
    assert_eq!(store.heads().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_lock_that_is_held_too_long_means_that_nothing_was_done() {
    let folder = TempDir::new().unwrap();
    let store = ready(&folder).await;
    let other = Connection::open(folder.path().join("posts.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    if let Some(connection) = store.shared.connection.lock().unwrap().as_ref() {
        connection.busy_timeout(Duration::from_millis(20)).unwrap();
    }
    assert_eq!(store.write(&[create("1", "a")]).await.unwrap_err().class, Class::NotApplied);
    assert_eq!(store.heads().await.unwrap(), [], "readers do not wait for a writer");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(store.write(&[create("1", "a")]).await.unwrap(), [Effect::Applied]);
}

#[tokio::test]
async fn a_damaged_file_is_named() {
    let folder = TempDir::new().unwrap();
    let store = ready(&folder).await;
    let many: Vec<Statement> = (0..200).map(|n| create(&format!("{n:04}"), &format!("s{n}"))).collect();
    store.write(&many).await.unwrap();
    drop(store);
    let path = folder.path().join("posts.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(0xA5);
    std::fs::write(&path, bytes).unwrap();
    let fault = in_folder(&folder).heads().await.unwrap_err();
    assert_eq!(fault.class, Class::Permanent);
    assert!(fault.message.contains("posts.db is damaged"), "{fault:?}");
}

#[tokio::test]
async fn a_newer_file_and_another_programs_file_are_refused() {
    let folder = TempDir::new().unwrap();
    drop(ready(&folder).await);
    sql(&folder, "PRAGMA user_version = 2");
    let fault = in_folder(&folder).heads().await.unwrap_err();
    assert!(fault.message.contains("version 2"), "{fault:?}");
    assert!(in_folder(&folder).ensure_ready().await.is_err());

    let folder = TempDir::new().unwrap();
    sql(&folder, "CREATE TABLE users (name TEXT)");
    let fault = in_folder(&folder).ensure_ready().await.unwrap_err();
    assert!(fault.message.contains("another program"), "{fault:?}");
}

#[tokio::test]
async fn getting_ready_again_changes_no_byte() {
    let folder = TempDir::new().unwrap();
    let first = in_folder(&folder).ensure_ready().await.unwrap();
    let path = folder.path().join("posts.db");
    let before = std::fs::read(&path).unwrap();
    assert_eq!(in_folder(&folder).ensure_ready().await.unwrap(), first);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(first.indexes.len(), 3, "{first:?}");
    assert!(first.warnings.is_empty(), "{first:?}");
}

#[tokio::test]
async fn what_another_program_adds_survives_and_what_it_breaks_is_told() {
    let folder = TempDir::new().unwrap();
    let store = ready(&folder).await;
    store.write(&[create("1", "a"), create("2", "b")]).await.unwrap();
    sql(&folder, "UPDATE posts SET doc = json_set(doc, '$.views', 41) WHERE _id = '1'");
    let update = Statement::Update {
        id: "1".to_owned(),
        slug: "a".to_owned(),
        lang: "en".to_owned(),
        expected_version: 1,
        set: doc! { "title": "B", "ingest.version": 2_i64 },
        unset: vec!["publishedAt".to_owned()],
    };
    assert_eq!(store.write(&[update]).await.unwrap(), [Effect::Applied]);
    let document = store.documents(&["1".to_owned()]).await.unwrap().remove(0);
    assert_eq!(document.get("views"), Some(&Bson::Int32(41)));
    assert_eq!(document.get_str("title").unwrap(), "B");

    sql(&folder, "UPDATE posts SET doc = json_set(doc, '$.x', json('{\"$date\": true}')) WHERE _id = '2'");
    assert_eq!(store.heads().await.unwrap().len(), 2, "heads do not look at it");
    let fault = store.documents(&["2".to_owned()]).await.unwrap_err();
    assert!(fault.message.contains("no Extended JSON"), "{fault:?}");
}

#[tokio::test]
async fn the_table_can_be_asked_as_a_website_does() {
    let folder = TempDir::new().unwrap();
    let store = ready(&folder).await;
    store.write(&[create("1", "a")]).await.unwrap();
    let other = Connection::open(folder.path().join("posts.db")).unwrap();
    let sql = "SELECT published_at, doc ->> '$.title' FROM posts
               WHERE slug = 'a' AND lang = 'en' AND live = 1 AND status = 'active'";
    let (at, title): (i64, String) = other.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!((at, title.as_str()), (1_700_000_000_123, "A title"));
    let plan: String =
        other.query_row(&format!("EXPLAIN QUERY PLAN {sql}"), [], |row| row.get("detail")).unwrap();
    assert!(plan.contains("posts_live"), "{plan}");
}

#[tokio::test]
async fn live_heads_are_found_by_the_index() {
    let folder = TempDir::new().unwrap();
    let store = ready(&folder).await;
    let many: Vec<Statement> = (0..50).map(|n| create(&format!("{n}"), &format!("s{n}"))).collect();
    store.write(&many).await.unwrap();
    let keys = [("s7".to_owned(), "en".to_owned()), ("s7".to_owned(), "en".to_owned())];
    let heads = store.heads_live(&keys).await.unwrap();
    assert_eq!(heads.iter().map(|head| head.id.as_str()).collect::<Vec<_>>(), ["7"]);
    let other = Connection::open(folder.path().join("posts.db")).unwrap();
    let mut plan = other.prepare(&format!("EXPLAIN QUERY PLAN {}", posts::heads_live_sql("posts"))).unwrap();
    let plan: Vec<String> =
        plan.query_map(["[]"], |row| row.get("detail")).unwrap().collect::<Result<_, _>>().unwrap();
    assert!(plan.iter().any(|step| step.contains("posts_live (slug=? AND lang=?)")), "{plan:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn stores_that_get_ready_and_write_at_once_all_succeed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("posts.db");
    let runs = (0..8).map(|writer| {
        let path = path.clone();
        tokio::spawn(async move {
            let store = SqliteStore::open(path).unwrap();
            store.ensure_ready().await.unwrap();
            let mut applied = 0;
            for n in 0..20 {
                let effects = store.write(&[create(&format!("{n}"), &format!("s{n}"))]).await.unwrap();
                applied += usize::from(effects == [Effect::Applied]);
            }
            let mine = store.write(&[create(&format!("w{writer}"), &format!("w{writer}"))]).await.unwrap();
            assert_eq!(mine, [Effect::Applied]);
            applied
        })
    });
    let runs: Vec<_> = runs.collect();
    let mut applied = 0;
    for run in runs {
        applied += run.await.unwrap();
    }
    assert_eq!(applied, 20);
    assert_eq!(SqliteStore::open(path).unwrap().heads().await.unwrap().len(), 28);
}
