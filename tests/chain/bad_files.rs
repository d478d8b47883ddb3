//! Files that are wrong: each is told with its own code, name and exit, and nothing is stored.

use std::path::Path;

use crate::blog::{self, Blog, Told};

on_both_stores!(
    each_fault_of_a_file_stops_the_run,
    what_is_good_goes_in_beside_each_fault,
    one_identity_is_made_once
);

/// One fault: name of the file, what is in it, flags, and what is told.
struct Fault {
    file: &'static str,
    bytes: &'static [u8],
    flags: &'static [&'static str],
    told: &'static [&'static str],
}

const FAULTS: &[Fault] = &[
    Fault {
        file: "latin.md",
        bytes: b"---\ntitle: P\xeaches\ndate: 2031-04-01\n---\n\nText.\n",
        flags: &[],
        told: &["not-utf8", "content/latin.md:2"],
    },
    Fault {
        file: "fence.md",
        bytes: b"---\ntitle: Open\ndate: 2031-04-01\n\nText.\n",
        flags: &[],
        told: &["front-matter-unclosed", "content/fence.md:1"],
    },
    Fault {
        file: "twice.md",
        bytes: b"---\ntitle: Once\ndate: 2031-04-01\nTitle: Twice\n---\n\nText.\n",
        flags: &[],
        told: &["duplicate-key", "content/twice.md:4"],
    },
    Fault {
        file: "day.md",
        bytes: b"---\ntitle: No such day\ndate: 2031-06-31\n---\n\nText.\n",
        flags: &[],
        told: &["date-impossible", "content/day.md:3", "2031-06-31"],
    },
    Fault {
        file: "undated.md",
        bytes: b"---\ntitle: When\n---\n\nText.\n",
        flags: &["--require-date"],
        told: &["content/undated.md", "date"],
    },
    Fault {
        file: "lang.md",
        bytes: b"---\ntitle: Which\nlang: kr\ndate: 2031-04-01\n---\n\nText.\n",
        flags: &[],
        told: &["lang-unknown", "content/lang.md:3", "kr"],
    },
    Fault {
        file: "words.md",
        bytes: b"---\ntitle: Which\nlang: korean\ndate: 2031-04-01\n---\n\nText.\n",
        flags: &[],
        told: &["content/words.md:3", "korean"],
    },
    Fault {
        file: "twin.md",
        bytes: b"---\ntitle: Again\nslug: pears\ndate: 2031-03-05T08:00:00Z\n---\n\nText.\n",
        flags: &[],
        told: &["duplicate-identity", "content/twin.md", "pears.md"],
    },
];

fn each_fault_of_a_file_stops_the_run(blog: &Blog) {
    for fault in FAULTS {
        blog.write(fault.file, fault.bytes);
        blog.write("new.md", "---\ntitle: New\ndate: 2031-05-01\n---\n\nNew.\n");
        let told = blog.refused(4, fault.flags);
        told.says(fault.told);
        told.says(&["help", "nothing was written"]);
        assert!(blog.stored.documents().is_empty(), "{told}");
        let check: Vec<&str> = ["check"].iter().chain(fault.flags).copied().collect();
        let told = blog.run(&check);
        assert_eq!(told.exit, 4, "{told}");
        told.says(fault.told);
        blog.remove(fault.file);
    }
    // The control: without the faults the same tree goes in.
    assert_eq!(blog.ingest(0, &["--require-date"])["applied"]["create"], blog::POSTS + 1);
}

fn what_is_good_goes_in_beside_each_fault(blog: &Blog) {
    let faults: Vec<&Fault> = FAULTS.iter().filter(|fault| fault.flags.is_empty()).collect();
    for fault in &faults {
        blog.write(fault.file, fault.bytes);
    }
    let run = blog.ingest(3, &["--keep-going"]);
    // The twins are told of both files, and neither goes in.
    assert_eq!(run["summary"]["invalid"], faults.len() + 1, "{run}");
    assert_eq!(run["applied"]["create"], blog::POSTS - 1, "{run}");
    let files = |key: &str| run["summary"][key].as_u64().unwrap();
    assert_eq!(files("posts") + files("skipped") + files("invalid"), files("files"), "{run}");
    assert!(!blog.stored.documents().iter().any(|document| document.get_str("slug").ok() == Some("pears")));
}

fn one_identity_is_made_once(blog: &Blog) {
    blog.ingested();
    blog.write("twin.md", "---\ntitle: Again\nslug: pears\ndate: 2031-09-09\n---\n\nOther day.\n");
    blog.refused(4, &[]).says(&["duplicate-slug", "content/twin.md", "pears.md"]);
    let run = blog.refused(3, &["--keep-going", "--format", "json"]);
    assert_eq!(run.json()["summary"]["invalid"], 2, "{run}");
}

/// Runs as somebody whom permissions bind: to root they are nothing unless it gives its rights away.
fn run_bound(blog: &Blog, args: &[&str]) -> Told {
    let program = assert_cmd::cargo::cargo_bin("idempost");
    let mut words = vec!["--bounding-set=-dac_override,-dac_read_search", program.to_str().unwrap()];
    words.extend(args);
    blog::run_program("setpriv", blog.folder(), &words, &[("IDEMPOST_URI", blog.uri())])
}

/// Takes permissions away, runs, and gives them back.
pub fn without(path: &Path, mode: u32, blog: &Blog, args: &[&str]) -> Told {
    use std::os::unix::fs::PermissionsExt;
    let before = std::fs::metadata(path).unwrap().permissions();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    let root = Path::new("/proc/self").metadata().map(|of| std::os::unix::fs::MetadataExt::uid(&of) == 0);
    let told = if root.unwrap_or(false) { run_bound(blog, args) } else { blog.run(args) };
    std::fs::set_permissions(path, before).unwrap();
    told
}

#[test]
fn a_file_that_may_not_be_read() {
    let blog = Blog::on_sqlite();
    blog.ingested();
    let before = blog.stored.bytes();
    let told = without(&blog.path("plums.md"), 0o000, &blog, &["ingest"]);
    assert_eq!(told.exit, 4, "{told}");
    told.says(&["file-unreadable", "content/plums.md", "Permission denied", "help"]);
    let told = without(&blog.path("ko"), 0o000, &blog, &["ingest"]);
    assert_eq!(told.exit, 4, "a folder that cannot be read hides posts: {told}");
    told.says(&["content/ko", "Permission denied"]);
    // Not read is not gone.
    let told = without(&blog.path("ko"), 0o000, &blog, &["ingest", "--prune", "--keep-going"]);
    assert_eq!(told.exit, 7, "{told}");
    let told = without(&blog.path("plums.md"), 0o000, &blog, &["ingest", "--keep-going"]);
    assert_eq!(told.exit, 3, "{told}");
    assert_eq!(blog.stored.bytes(), before);
    assert_eq!(blog.run(&["ingest"]).exit, 0);
}

#[test]
fn a_file_over_the_limit() {
    let blog = Blog::on_sqlite();
    blog.configure("[limits]\nfile = \"1KiB\"\n");
    blog.write("long.md", format!("---\ntitle: Long\ndate: 2031-04-01\n---\n\n{}", "Text. ".repeat(200)));
    let told = blog.refused(4, &[]);
    told.says(&["content/long.md", "1", "limits.file"]);
    assert!(blog.stored.documents().is_empty());
}

#[test]
fn what_has_a_posts_name_and_is_no_file() {
    let blog = Blog::on_sqlite();
    std::fs::create_dir(blog.path("folder.md")).unwrap();
    std::os::unix::fs::symlink("nowhere.md", blog.path("dangling.md")).unwrap();
    std::os::unix::fs::symlink("loop.md", blog.path("loop.md")).unwrap();
    // What is a post goes in.
    let run = blog.ingest(0, &[]);
    assert_eq!(run["applied"]["create"], blog::POSTS, "{run}");
    let skipped: Vec<&str> =
        run["skipped"].as_array().unwrap().iter().map(|one| one["file"].as_str().unwrap()).collect();
    assert_eq!(skipped, ["dangling.md", "loop.md"], "{run}");
    // A pipe would never end: it is told and not waited for.
    let made = std::process::Command::new("mkfifo").arg(blog.path("pipe.md")).status().unwrap();
    assert!(made.success());
    blog.refused(4, &[]).says(&["file-unreadable", "content/pipe.md", "a pipe"]);
}

#[test]
fn no_such_path() {
    let blog = Blog::on_sqlite();
    blog.refused(64, &["content/nowhere.md"]).says(&["content/nowhere.md"]);
    blog.refused(64, &["--content", "elsewhere"]).says(&["elsewhere"]);
    blog.refused(64, &["--config", "other.toml"]).says(&["other.toml"]);
    assert_eq!(blog.run(&["check", "content/nowhere.md"]).exit, 64);
    assert!(!blog.folder().join("posts.db").exists());
}

#[test]
fn an_empty_tree() {
    let blog = Blog::on_sqlite();
    let empty = blog.folder().join("empty");
    std::fs::create_dir(&empty).unwrap();
    blog.refused(7, &["--content", "empty"]).says(&["no file under empty", "--allow-empty"]);
    std::fs::write(empty.join("about.md"), "A page.\n").unwrap();
    blog.refused(7, &["--content", "empty"]).says(&["none of the 1 files", "skipped"]);
    assert_eq!(blog.run(&["check", "--content", "empty"]).exit, 7);
    blog.ingest(0, &["--content", "empty", "--allow-empty"]);
}
