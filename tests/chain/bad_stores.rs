//! Stores that are wrong, shut, full or gone: each with its own message and exit, within its time, and never
//! with a password.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::bad_files::without;
use crate::blog::{self, Blog, Told};
use crate::common::server::{Options, Server, User};

/// The password, and what a URI must write for it.
const PASSWORD: &str = "s3cr3t/wOrd";
const ENCODED: &str = "s3cr3t%2FwOrd";

/// A run is bounded to this, plus what starting the program takes on a busy machine.
const BOUNDED: Duration = Duration::from_secs(40);

/// Runs on another store than the blog's, in every format, and shows nothing that is secret.
fn ingest(blog: &Blog, uri: &str, exit: i32, flags: &[&str]) -> Told {
    for format in ["json", "ndjson", "github"] {
        let args: Vec<&str> = ["ingest", "--format", format].iter().chain(flags).copied().collect();
        let told = blog::run(blog.folder(), &args, &[("IDEMPOST_URI", uri)]);
        assert_eq!(told.exit, exit, "{told}");
        told.hides(&[PASSWORD, ENCODED]);
    }
    let args: Vec<&str> = ["ingest", "-vv"].iter().chain(flags).copied().collect();
    let told = blog::run(blog.folder(), &args, &[("IDEMPOST_URI", uri)]);
    assert_eq!(told.exit, exit, "{told}");
    told.hides(&[PASSWORD, ENCODED]);
    told
}

#[test]
fn a_wrong_uri() {
    let blog = Blog::on_sqlite();
    for (uri, says) in [
        (format!("mongod://ann:{ENCODED}@localhost/blog"), "mongodb"),
        (format!("mongodb://ann:{PASSWORD}@localhost/blog"), "error"),
        (format!("mongodb://ann:{ENCODED}@localhost:99999/blog"), "error"),
        (format!("mongodb://ann:{ENCODED}@localhost/blog?authMechanism=NONE-SUCH"), "error"),
        (format!("mongodb://ann:{ENCODED}@/blog"), "error"),
        ("posts.sqlite".to_owned(), "sqlite:posts.sqlite"),
        ("sqlite:".to_owned(), "sqlite:PATH"),
    ] {
        let told = ingest(&blog, &uri, 64, &["--attempts", "1"]);
        told.says(&[says]);
    }
    assert!(!blog.folder().join("posts.sqlite").exists());
}

#[test]
fn no_database_is_named() {
    let blog = Blog::on_sqlite();
    let uri = format!("mongodb://ann:{ENCODED}@localhost/");
    ingest(&blog, &uri, 64, &["--attempts", "1"]).says(&["database"]);
}

#[test]
fn under_ci_a_store_is_named() {
    let blog = Blog::on_sqlite();
    let told = blog::run(blog.folder(), &["ingest"], &[("CI", "true")]);
    assert_eq!(told.exit, 64, "{told}");
    told.says(&["no store is named", "CI", "IDEMPOST_URI"]);
    assert!(!blog.folder().join("idempost.db").exists());
    // The control: without CI the same run makes its file.
    let told = blog::run(blog.folder(), &["ingest"], &[]);
    assert_eq!(told.exit, 0, "{told}");
    assert!(blog.folder().join("idempost.db").exists());
}

#[test]
fn a_wrong_password_and_a_right_too_few() {
    let users = vec![
        User { name: "ann", password: PASSWORD, role: "readWriteAnyDatabase" },
        User { name: "bo", password: PASSWORD, role: "readAnyDatabase" },
    ];
    let server = Server::start(Options { users, ..Options::default() });
    let blog = Blog::on_sqlite();
    let flags = ["--attempts", "2", "--deadline", "20s"];

    let wrong = server.uri_as("ann", "an0ther-secret", "blog");
    let told = ingest(&blog, &wrong, 64, &flags);
    told.hides(&["an0ther-secret"]);
    told.says(&["the engine did not let us in", "check user, password"]);
    // Nobody at all.
    let told = ingest(&blog, &server.uri("blog"), 64, &flags);
    told.says(&["error"]);
    // May read and may not write.
    let told = ingest(&blog, &server.uri_as("bo", ENCODED, "blog"), 64, &flags);
    told.says(&["error"]);
    // The control: with the right password it goes in, so nothing of the others was half there.
    let told = blog::run(
        blog.folder(),
        &["ingest", "--format", "json"],
        &[("IDEMPOST_URI", &server.uri_as("ann", ENCODED, "blog"))],
    );
    assert_eq!(told.exit, 0, "{told}");
    assert_eq!(told.json()["applied"]["create"], blog::POSTS, "{told}");
    told.hides(&[PASSWORD, ENCODED]);
    for verb in [&["doctor"][..], &["config"], &["runs"], &["diff"]] {
        let told =
            blog::run(blog.folder(), verb, &[("IDEMPOST_URI", &server.uri_as("ann", ENCODED, "blog"))]);
        told.hides(&[PASSWORD, ENCODED]);
    }
}

#[test]
fn a_server_that_is_down() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let uri = format!("mongodb://ann:{ENCODED}@127.0.0.1:{closed}/blog?directConnection=true");
    let blog = Blog::on_sqlite();
    let args = ["ingest", "--attempts", "2", "--deadline", "4s", "--command-timeout", "2s"];
    let started = Instant::now();
    let told = blog::run(blog.folder(), &args, &[("IDEMPOST_URI", &uri)]);
    assert_eq!(told.exit, 75, "{told}");
    assert!(started.elapsed() < BOUNDED, "{:?}: {told}", started.elapsed());
    told.says(&[&format!("127.0.0.1:{closed}"), "help"]);
    told.hides(&[PASSWORD, ENCODED]);
}

#[test]
fn a_server_that_says_nothing() {
    // It takes connections and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let uri = format!("mongodb://{}/blog?directConnection=true", silent.local_addr().unwrap());
    let blog = Blog::on_sqlite();
    let args = ["ingest", "--attempts", "2", "--deadline", "4s", "--command-timeout", "2s"];
    let started = Instant::now();
    let told = blog::run(blog.folder(), &args, &[("IDEMPOST_URI", &uri)]);
    assert_eq!(told.exit, 75, "{told}");
    assert!(started.elapsed() < BOUNDED, "{:?}: {told}", started.elapsed());
}

#[test]
fn a_file_that_may_not_be_written() {
    let blog = Blog::on_sqlite();
    blog.ingested();
    blog.edit("plums.md", "Stone them.", "Dry them.");
    let before = blog.stored.bytes();
    let file = blog.folder().join("posts.db");
    let told = without(&file, 0o444, &blog, &["ingest"]);
    assert_eq!(told.exit, 1, "{told}");
    told.says(&["posts.db", "read-only", "help: give the file"]);
    assert_eq!(blog.stored.bytes(), before);
    let told = without(blog.folder(), 0o555, &blog, &["ingest"]);
    assert_eq!(told.exit, 1, "{told}");
    told.says(&["posts.db", "help"]);
    assert_eq!(blog.stored.bytes(), before);

    let none = Blog::on_sqlite();
    let told = without(none.folder(), 0o555, &none, &["ingest"]);
    assert_eq!(told.exit, 1, "{told}");
    told.says(&["posts.db", "cannot be", "help"]);
    assert!(!none.folder().join("posts.db").exists());
}

#[test]
fn what_is_no_sqlite_file() {
    let blog = Blog::on_sqlite();
    let before = std::fs::read(blog.path("pears.md")).unwrap();
    ingest(&blog, "sqlite:content/pears.md", 1, &[]).says(&["pears.md is no SQLite database"]);
    assert_eq!(std::fs::read(blog.path("pears.md")).unwrap(), before);
    ingest(&blog, "sqlite:content", 1, &["--attempts", "2"]).says(&["content", "folder"]);
    ingest(&blog, "sqlite:nowhere/posts.db", 1, &["--attempts", "2"]).says(&["nowhere"]);
}

/// On a file system of 256 KiB: what fits is whole, what does not is told, and with room it goes on.
#[test]
fn a_full_disk() {
    let blog = Blog::on_sqlite();
    for number in 0..60_u32 {
        // Text that no page of the file holds twice.
        let body = format!("{number:>8} words. ").repeat(400);
        blog.write(
            &format!("long-{number}.md"),
            format!("---\ntitle: Long {number}\ndate: 2031-04-01\n---\n\n{body}\n"),
        );
    }
    let small = blog.folder().join("small");
    std::fs::create_dir(&small).unwrap();
    let program = assert_cmd::cargo::cargo_bin("idempost");
    let script = "mount -t tmpfs -o size=256k tmpfs small || exit 99\n\
                  \"$1\" ingest --attempts 2 --batch 10 --in-flight 1; exit=$?\n\
                  cp small/posts.db* . || exit 98\n\
                  exit $exit";
    // The mount is seen by this process alone and ends with it.
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(&program)
        .current_dir(blog.folder())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("IDEMPOST_URI", "sqlite:small/posts.db")
        .output()
        .expect("unshare is there");
    let told = Told {
        exit: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    };
    assert!(told.exit != 99, "no file system of that size can be mounted here: {told}");
    assert!(told.exit == 1 || told.exit == 3, "{told}");
    told.says(&["disk full", "small/posts.db", "make room and run again"]);

    let whole = Blog::on_sqlite();
    copy_tree(&blog.path(""), &whole.path(""));
    whole.ingest(0, &[]);
    let fitted = blog.stored.documents();
    assert!(fitted.len() < blog::POSTS + 60, "the disk was full: {told}");
    for mut document in fitted {
        let (slug, lang) =
            (document.get_str("slug").unwrap().to_owned(), document.get_str("lang").unwrap().to_owned());
        let mut complete = whole.stored.find(&slug, &lang);
        assert!(document.remove("ingest").is_some() && complete.remove("ingest").is_some());
        assert_eq!(document, complete, "nothing is half written");
    }
    // With room, running again finishes it.
    blog.ingest(0, &[]);
    assert_eq!(blog.stored.documents().len(), blog::POSTS + 60);
    assert_eq!(blog.ingest(0, &[])["summary"]["unchanged"], blog::POSTS + 60);
}

fn copy_tree(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-r").arg(from.join(".")).arg(to).status().unwrap();
    assert!(status.success());
}
