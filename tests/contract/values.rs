//! What goes in comes out: types, text, size.

use bson::{Bson, DateTime, Document, doc};
use idempost::store::{Class, Effect, Store};

use crate::subject::{Subject, create, post, post_with, ready, send, stored, update};

/// The bytes of a field's value, order of keys and types included.
fn bytes(document: &Document, key: &str) -> Vec<u8> {
    doc! { "": document.get(key).cloned().unwrap_or(Bson::Undefined) }.to_vec().unwrap()
}

/// Stores a value under `extra`, once by a create and once by an update, and reads it back.
async fn round_trip(store: &dyn Store, extra: Document) {
    let by_create = post_with("create", "create", doc! { "extra": extra.clone() });
    assert_eq!(send(store, create(by_create.clone())).await, Effect::Applied, "{extra}");
    send(store, create(post("update", "update"))).await;
    let set = doc! { "extra": extra.clone(), "ingest.version": 2_i64 };
    assert_eq!(send(store, update("update", "update", 1, set, &[])).await, Effect::Applied, "{extra}");
    for id in ["create", "update"] {
        let found = stored(store, id).await.unwrap();
        assert_eq!(bytes(&found, "extra"), bytes(&by_create, "extra"), "{id}: {found}");
    }
}

pub async fn every_type_comes_back_as_it_went_in(subject: &dyn Subject) {
    let store = ready(subject).await;
    let extra = doc! {
        "int32": [0_i32, -1_i32, i32::MAX, i32::MIN],
        "int64": [0_i64, 1_i64, i64::MAX, i64::MIN, 9_007_199_254_740_993_i64],
        "double": [0.0, 1.0, -2.5, 0.1, 1e300, 5e-324, f64::MAX],
        "bool": [true, false],
        "date": [
            DateTime::from_millis(0),
            DateTime::from_millis(1_716_300_000_007),
            DateTime::from_millis(253_402_300_799_999),
        ],
        "empty": { "text": "", "list": [], "document": {} },
        "zebra": 1_i64,
        "ant": { "b": 1_i64, "a": 2_i32, "c": [{ "y": 1_i64, "x": [[1_i64], []] }] },
        "item": [Bson::Null],
    };
    round_trip(&*store, extra).await;
    let found = stored(&*store, "create").await.unwrap();
    assert_eq!(found.get("publishedAt"), Some(&Bson::DateTime(DateTime::from_millis(1_716_300_000_000))));
    assert_eq!(found.get("live"), Some(&Bson::Boolean(true)));
    assert_eq!(found.get_document("ingest").unwrap().get("version"), Some(&Bson::Int64(1)));
}

pub async fn text_of_every_script_comes_back_as_it_went_in(subject: &dyn Subject) {
    let store = ready(subject).await;
    let texts = [
        "바다와 조수",
        "潮汐と月",
        "\u{1112}\u{1161}\u{11ab}",
        "e\u{301} é",
        "👩‍🚀🏴󠁧󠁢󠁳󠁣󠁴󠁿",
        "مرحبا",
        "\u{2028}\u{2029}\u{feff}\u{fffd}",
        "tab\tquote\"back\\slash/'single'\r\n",
        "\u{1}\u{1f}\u{7f}",
        "${x} $where {\"$date\": 1} %s ?1",
        "💣".repeat(1_000).as_str(),
    ]
    .map(str::to_owned);
    let mut extra = Document::new();
    for (n, text) in texts.iter().enumerate() {
        extra.insert(format!("text{n}"), text);
    }
    for key in ["키", "with blank", "quote\"d", "it's", "a/b", "ключ", "`", "x:y", "🌊", "#1"] {
        extra.insert(key, key);
    }
    round_trip(&*store, extra).await;
}

pub async fn slugs_are_compared_byte_by_byte(subject: &dyn Subject) {
    let store = ready(subject).await;
    let slugs = ["tide", "Tide", "tide ", "tidé", "tide\u{301}", "ｔide", "7", "007", "7.0", "true", "null"];
    for (n, slug) in slugs.iter().enumerate() {
        let effect = send(&*store, create(post(&format!("{n:02}"), slug))).await;
        assert_eq!(effect, Effect::Applied, "{slug:?}");
    }
    for (n, slug) in slugs.iter().enumerate() {
        let heads = store.heads_live(&[((*slug).to_owned(), "en".to_owned())]).await.unwrap();
        assert_eq!(heads.len(), 1, "{slug:?}");
        assert_eq!((heads[0].id.as_str(), heads[0].slug.as_str()), (format!("{n:02}").as_str(), *slug));
    }
}

/// A key with a dot or a dollar sign is a path or an operator to some engines. It may be refused; it may
/// never become another field.
pub async fn a_key_is_stored_as_it_is_or_refused(subject: &dyn Subject) {
    let store = ready(subject).await;
    for (n, key) in ["a.b", "$set", "$x", ".", "a.", "a.0", "ingest.version"].into_iter().enumerate() {
        let (id, slug) = (format!("{n}"), format!("s{n}"));
        let document = post_with(&id, &slug, doc! { "extra": { key: "as it is" } });
        match store.write(&[create(document.clone())]).await {
            Ok(effects) if effects == [Effect::Applied] => {
                assert_eq!(stored(&*store, &id).await, Some(document), "{key}");
            }
            Ok(effects) => {
                assert!(
                    matches!(effects.as_slice(), [Effect::Failed(fault)] if fault.class == Class::Permanent),
                    "{key}: {effects:?}"
                );
                assert_eq!(stored(&*store, &id).await, None, "{key}");
            }
            Err(fault) => {
                assert_eq!(fault.class, Class::Permanent, "{key}: {fault:?}");
                assert_eq!(stored(&*store, &id).await, None, "{key}");
            }
        }
    }
}

pub async fn a_document_of_a_mebibyte_goes_in(subject: &dyn Subject) {
    let store = ready(subject).await;
    let body = "밀물과 썰물 \"tide\"\n".repeat(1 << 16);
    assert!(body.len() > 1 << 20);
    let document = post_with("1", "a", doc! { "body": &body, "html": format!("<p>{body}</p>") });
    assert_eq!(send(&*store, create(document.clone())).await, Effect::Applied);
    assert_eq!(stored(&*store, "1").await, Some(document));
    let set = doc! { "body": body.to_uppercase(), "ingest.version": 2_i64 };
    assert_eq!(send(&*store, update("1", "a", 1, set, &["html"])).await, Effect::Applied);
    assert_eq!(stored(&*store, "1").await.unwrap().get_str("body").unwrap(), body.to_uppercase());
    assert_eq!(store.heads().await.unwrap()[0].version(), 2);
}

pub async fn a_document_that_is_too_big_is_refused_for_good(subject: &dyn Subject) {
    let store = ready(subject).await;
    let body = "x".repeat(store.limits().document_bytes_max + (64 << 10));
    let fault = match store.write(&[create(post_with("1", "a", doc! { "body": body }))]).await {
        Ok(effects) => match effects.into_iter().next() {
            Some(Effect::Failed(fault)) => fault,
            other => panic!("{other:?}"),
        },
        Err(fault) => fault,
    };
    assert_eq!(fault.class, Class::Permanent, "{fault:?}");
    assert_eq!(store.heads().await.unwrap(), []);
}
