//! No credential leaves the adapter, whatever the password is and whoever quotes it.

use idempost::store::Store;
use idempost::store::mongo::MongoStore;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::scripted::{Answer, Scripted, error};
use crate::{create, open, options};

/// Passwords that are hard to hide.
const PASSWORDS: [&str; 9] = [
    "hunter2hunter2",
    "p@ss:w/rd?x=y&z#",
    "100%sure%41",
    "quote\"back\\slash",
    "пароль-密码",
    "with blank and\ttab",
    "***",
    "mongodb://inner:secret@host",
    "a+b=c==",
];

fn encoded(password: &str) -> String {
    utf8_percent_encode(password, NON_ALPHANUMERIC).to_string()
}

#[tokio::test]
async fn not_in_a_fault_whatever_the_server_quotes() {
    for password in PASSWORDS {
        let server = Scripted::mongodb();
        let raw = encoded(password);
        let text = format!(
            "no: {password} / {raw} / {} / {password:?} / mongodb://ann:{raw}@h/ / mongodb://ann:{password}@h/",
            raw.to_lowercase()
        );
        server.on("saslStart", vec![Answer::Reply(error(18, "AuthenticationFailed", &text)); 9]);
        let uri = format!("mongodb://ann:{raw}@{}/blog?replicaSet=rs0", server.address());
        let store = open(&uri);
        let fault = store.connect().await.unwrap_err();
        let shown = format!("{fault} {fault:?} {store:?} {:?}", store.target());
        assert_hidden(&shown, password);
    }
}

#[tokio::test]
async fn not_in_a_fault_of_a_statement() {
    let password = "sw0rdfish/100%";
    let server = Scripted::mongodb();
    let quoted = format!("refused for ann with {password} and {}", encoded(password));
    let reply = bson::doc! {
        "n": 0, "ok": 1.0, "writeErrors": [{ "index": 0, "code": 121, "errmsg": &quoted }],
        "writeConcernError": { "code": 64, "errmsg": &quoted },
    };
    server.on("update", [Answer::Reply(reply)]);
    // A server that takes everybody: the mechanism is never asked for.
    let uri = format!(
        "mongodb://{}/blog?replicaSet=rs0&authMechanismProperties=SERVICE_NAME:{}",
        server.address(),
        encoded(password)
    );
    let effects = open(&uri).write(&[create("a")]).await.unwrap();
    assert_hidden(&format!("{effects:?}"), password);
}

/// Unescaped, so that no parser knows where the password ends.
#[test]
fn not_in_the_error_of_a_uri() {
    for password in PASSWORDS.into_iter().chain(["1234?x=y", "x/y", "a?b", "1234?retryWrites=f", "tail:99"]) {
        for shape in [
            format!("mongodb://ann:{password}@h/blog"),
            format!("mongodb://ann:{password}@h/blog?frobnicate=1"),
            format!("mongodb://ann:{password}@h:99999/blog"),
            format!("mongo://ann:{password}@h/blog"),
            format!("ann:{password}@h/blog"),
            format!("mongodb://ann:{}@h/blog?frobnicate=1", encoded(password)),
            format!("mongodb://ann:{}@h/bl og", encoded(password)),
            format!("mongodb://h/blog?authMechanism=MONGODB-AWS&authMechanismProperties={password}"),
        ] {
            match MongoStore::open(&shape, options()) {
                Err(fault) => assert_hidden(&format!("{fault} {fault:?}"), password),
                Ok(store) => assert_hidden(&format!("{store:?} {:?}", store.target()), password),
            }
        }
    }
}

/// No piece of it that is long enough to be one.
fn assert_hidden(shown: &str, password: &str) {
    if password == "***" {
        return;
    }
    let lower = shown.to_lowercase();
    for form in [password.to_owned(), encoded(password), format!("{password:?}").trim_matches('"').to_owned()]
    {
        assert!(!lower.contains(&form.to_lowercase()), "{form} shows in {shown}");
    }
    for piece in password.split(['@', ':', '/', '?', '&', '=', '#', '%']) {
        // `host` and `mongodb` are words of their own.
        if piece.len() > 4 && !["mongodb", "retryWrites"].contains(&piece) {
            assert!(!shown.contains(piece), "{piece} of {password} shows in {shown}");
        }
    }
}
