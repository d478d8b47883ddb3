//! Which engine it is, what that changes, and the flag that beats it.

use bson::{Document, doc};
use idempost::store::mongo::profile::Profile;
use idempost::store::mongo::{MongoOptions, MongoStore};
use idempost::store::{Class, Effect, Statement, Store};

use crate::scripted::{Answer, Scripted, error};
use crate::{create, open, options};

async fn engine(change: Document, without: &[&str], build: Document) -> (String, String) {
    let server = Scripted::mongodb();
    server.greet_without(without);
    server.greet_with(change);
    server.build_info(build);
    let store = open(&server.uri("directConnection=true"));
    store.connect().await.unwrap();
    let (detected, _) = store.detected().unwrap();
    (store.target().engine, detected.reason)
}

const SET: [&str; 5] = ["setName", "hosts", "me", "primary", "setVersion"];

#[tokio::test]
async fn engines_are_told_apart_by_what_they_answer() {
    let mongod = doc! { "version": "8.0.4", "ok": 1.0 };
    let standalone = doc! { "version": "8.0.4", "storageEngines": ["wiredTiger"], "ok": 1.0 };
    for (change, without, build, expected) in [
        (doc! {}, &[][..], mongod.clone(), "mongodb"),
        (doc! {}, &SET[..], standalone, "mongodb"),
        (doc! { "msg": "isdbgrid" }, &SET[..], mongod.clone(), "mongodb-sharded"),
        (doc! { "msg": "isdbgrid", "internal": { "a": 1 } }, &SET[..], mongod.clone(), "documentdb-vcore"),
        (
            doc! {},
            &SET[..],
            doc! { "version": "7.0.42", "ferretdbVersion": "v1.24.2", "ok": 1.0 },
            "ferretdb1",
        ),
        (
            doc! {},
            &SET[..],
            doc! { "version": "7.0.77", "ferretdb": { "version": "v2.7.0" }, "ok": 1.0 },
            "ferretdb2",
        ),
        (doc! {}, &SET[..], doc! { "version": "5.0.0", "ok": 1.0 }, "unknown"),
        (doc! {}, &SET[..], error(59, "CommandNotFound", "no such command"), "unknown"),
    ] {
        let (engine, reason) = engine(change, without, build).await;
        assert_eq!(engine, expected, "{reason}");
        assert!(!reason.is_empty());
    }
}

#[tokio::test]
async fn a_flag_beats_detection() {
    let server = Scripted::mongodb();
    let flagged = MongoOptions { engine: Some(Profile::CosmosRu), ..options() };
    let store = MongoStore::open(&server.uri("replicaSet=rs0"), flagged).unwrap();
    assert_eq!(store.target().engine, "cosmos-ru");
    store.connect().await.unwrap();
    assert_eq!(store.target().engine, "cosmos-ru");
    assert!(store.detected().unwrap().0.reason.contains("--engine"));
    assert_eq!(store.limits().statements_max, 100);
    assert_eq!(store.limits().document_bytes_max, 2_000_000);
}

#[test]
fn names_are_those_of_the_flag() {
    for profile in Profile::all() {
        assert_eq!(Profile::from_name(profile.name()), Some(profile));
    }
    assert_eq!(Profile::all().count(), 10);
    assert_eq!(Profile::from_name("mongo"), None);
}

#[tokio::test]
async fn limits_are_the_smaller_of_what_is_known_and_what_is_said() {
    let server = Scripted::mongodb();
    server.greet_with(doc! { "maxWriteBatchSize": 700, "maxBsonObjectSize": 1_000_000 });
    let store = open(&server.uri("replicaSet=rs0"));
    store.connect().await.unwrap();
    let limits = store.limits();
    assert_eq!(limits.statements_max, 700);
    assert!(limits.document_bytes_max < 1_000_000 && limits.batch_bytes_max < 1_000_000);
    // An engine that says more than it enforces.
    let server = Scripted::mongodb();
    server.build_info(doc! { "ferretdb": {}, "ok": 1.0 });
    let store = open(&server.uri("replicaSet=rs0"));
    store.connect().await.unwrap();
    assert_eq!(store.limits().statements_max, 25_000);
}

#[tokio::test]
async fn nothing_above_the_limits_is_sent() {
    let server = Scripted::mongodb();
    server.greet_with(doc! { "maxWriteBatchSize": 2, "maxBsonObjectSize": 1_000_000 });
    let store = open(&server.uri("replicaSet=rs0"));
    let many = ["a", "b", "c"].map(create);
    assert_eq!(store.write(&many).await.unwrap_err().class, Class::Permanent);
    let sized = |id: &str, bytes: usize| {
        let Statement::Create { mut document } = create(id) else { unreachable!() };
        document.insert("body", "x".repeat(bytes));
        Statement::Create { document }
    };
    let alone = store.write(&[sized("big", 1_000_000)]).await.unwrap();
    assert!(
        matches!(&alone[..], [Effect::Failed(fault)] if fault.class == Class::Permanent && fault.message.contains("bytes")),
        "{alone:?}"
    );
    let together = store.write(&[sized("a", 600_000), sized("b", 600_000)]).await.unwrap_err();
    assert!(together.class == Class::Permanent && together.message.contains("bytes"), "{together:?}");
    assert_eq!(store.write(&[create("a"), create("a")]).await.unwrap_err().class, Class::Permanent);
    assert_eq!(server.sends("update"), 0);
}

#[tokio::test]
async fn each_engine_gets_the_write_concern_that_it_takes() {
    for (profile, expected) in [
        (Profile::MongoDb, Some(doc! { "w": "majority", "wtimeout": 1125_i64 })),
        (Profile::Firestore, Some(doc! { "w": "majority" })),
        (Profile::Oracle, None),
    ] {
        let server = Scripted::mongodb();
        let flagged = MongoOptions { engine: Some(profile), ..options() };
        let store = MongoStore::open(&server.uri("replicaSet=rs0"), flagged).unwrap();
        assert_eq!(store.write(&[create("a")]).await.unwrap(), [Effect::Applied]);
        let sent = server.commands("update").remove(0);
        assert_eq!(sent.get_document("writeConcern").ok(), expected.as_ref(), "{profile:?}");
    }
}

/// Cosmos DB says with a code of its own that retryable writes were asked for.
#[tokio::test]
async fn codes_that_mean_something_on_one_engine() {
    for (profile, reply) in [
        (
            Profile::CosmosRu,
            error(2, "BadValue", "Retryable writes are not supported. Please disable retryable writes"),
        ),
        (Profile::DocumentDb, error(301, "", "Retryable writes are not supported")),
        (
            Profile::MongoDb,
            error(20, "IllegalOperation", "Transaction numbers are only allowed on a replica set member"),
        ),
    ] {
        let server = Scripted::mongodb();
        server.on("update", [Answer::Reply(reply)]);
        let flagged = MongoOptions { engine: Some(profile), ..options() };
        let store = MongoStore::open(&server.uri("replicaSet=rs0"), flagged).unwrap();
        let fault = store.write(&[create("a")]).await.unwrap_err();
        assert_eq!(fault.class, Class::Permanent);
        assert!(fault.help.contains("etryable writes"), "{fault:?}");
    }
}

/// FerretDB 1 gives the index 0 to whichever statement failed, and stops there: it gets one at a time.
#[tokio::test]
async fn one_statement_a_command_where_a_reply_tells_of_one() {
    let server = Scripted::mongodb();
    server.build_info(doc! { "ferretdbVersion": "v1.24.2", "ok": 1.0 });
    let refused = doc! { "writeErrors": [{ "index": 0, "code": 11000, "errmsg": "E11000" }], "ok": 1.0 };
    server
        .on("update", [Answer::Reply(doc! { "n": 1, "upserted": [{ "index": 0, "_id": "a" }], "ok": 1.0 })]);
    server.on("update", [Answer::Reply(refused), Answer::Close]);
    let store = open(&server.uri("replicaSet=rs0"));
    let effects = store.write(&["a", "b", "c", "d"].map(create)).await.unwrap();
    assert_eq!(server.sends("update"), 3);
    assert_eq!(effects[0], Effect::Applied);
    let classes: Vec<Class> = effects[1..]
        .iter()
        .map(|effect| match effect {
            Effect::Failed(fault) => fault.class,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(classes, [Class::Conflict, Class::Unknown, Class::NotSent]);
}

/// The table of the documentation is that of the program.
#[test]
fn the_documented_facts_are_the_facts() {
    use idempost::store::mongo::profile::{PartialUnique, WriteConcern};
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/engines.md");
    let documented = std::fs::read_to_string(path).unwrap();
    for profile in Profile::all() {
        let facts = profile.facts();
        let unique = match facts.partial_unique {
            PartialUnique::Yes => "yes",
            PartialUnique::Perhaps => "tried",
            PartialUnique::No => "no",
        };
        let concern = match facts.write_concern {
            WriteConcern::MajorityTimed => "majority, timed",
            WriteConcern::Majority => "majority",
            WriteConcern::Unstated => "none",
        };
        let row = format!(
            "| `{}` | {} | {} | {} | {} | {unique} | {concern} | {} |",
            facts.name,
            facts.statements_max,
            facts.batch_bytes_max,
            facts.document_bytes_max,
            facts.nesting_levels_max,
            if facts.read_majority { "yes" } else { "no" },
        );
        assert!(documented.contains(&row), "docs/engines.md has no row\n{row}");
    }
}

/// Every code of the table stands in the documentation, in the row of its class.
#[test]
fn the_documented_codes_are_those_of_the_table() {
    use idempost::store::mongo::classify::{Place, RULES, Signal};
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/engines.md");
    let documented = std::fs::read_to_string(path).unwrap();
    for rule in
        RULES.iter().filter(|rule| rule.places != [Place::Index] && rule.places != [Place::WriteConcern])
    {
        let Signal::Codes(codes) = rule.signal else { continue };
        let name = match rule.class {
            Class::NotApplied => "not applied",
            Class::Unknown => "unknown outcome",
            Class::Conflict => "conflict",
            Class::Permanent => "permanent",
            Class::Auth => "not let in",
            other => panic!("{other:?}"),
        };
        let row = documented.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
        let numbers: Vec<&str> = row.split(|char: char| !char.is_ascii_digit()).collect();
        for code in codes {
            assert!(numbers.contains(&code.to_string().as_str()), "{code} is not in: {row}");
        }
    }
}
