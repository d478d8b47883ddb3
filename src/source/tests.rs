//! The walk over trees made for each test in a folder of its own.

use std::fs;

use super::*;
use crate::catalog::links::NoAsset;
use crate::post::Skip;

struct Tree(tempfile::TempDir);

impl Tree {
    fn of(files: &[&str]) -> Self {
        let tree = Tree(tempfile::tempdir().unwrap());
        for file in files {
            tree.write(file, "text");
        }
        tree
    }

    fn root(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn walked(&self) -> Walked {
        walk(self.root(), &WalkOptions::default()).unwrap()
    }

    /// Files, then skipped ones with their reason, then problems with their code.
    fn told(&self, follow_links: bool) -> (Vec<String>, Vec<String>, Vec<String>) {
        let walked = walk(self.root(), &WalkOptions { follow_links }).unwrap();
        (
            walked.files.into_iter().map(|file| file.path).collect(),
            walked
                .skipped
                .into_iter()
                .map(|skip| format!("{}: {}", skip.file, skip.reason.as_str()))
                .collect(),
            walked
                .problems
                .into_iter()
                .map(|problem| format!("{}: {}", problem.file, problem.code))
                .collect(),
        )
    }
}

#[test]
fn files_are_in_order_of_the_bytes_of_their_path() {
    let tree = Tree::of(&[
        "b.md",
        "a/z.md",
        "a-b.md",
        "a.md",
        "B.md",
        "ä.md",
        "a/a.mdx",
        "日/x.markdown",
        "a b/x.MD",
    ]);
    let (files, skipped, problems) = tree.told(false);
    assert_eq!(
        files,
        ["B.md", "a b/x.MD", "a-b.md", "a.md", "a/a.mdx", "a/z.md", "b.md", "ä.md", "日/x.markdown"]
    );
    assert!(skipped.is_empty() && problems.is_empty());
}

#[test]
fn names_tell_what_is_no_post() {
    let tree = Tree::of(&[
        "ok.md",
        ".dot.md",
        ".obsidian/x.md",
        "node_modules/pkg/deep/NEWS.md",
        "_index.md",
        "a/_index.ko.md",
        "_partial.md",
        "_layouts/x.md",
        "readme.md",
        "a/README.ko.md",
        "a/Licence.md",
        "a/LICENSE.markdown",
        "#x.md#",
        "~x.md",
        "x.md~",
        "x.md.bak",
        "x.mdx.swp",
        "old.bak/x.md",
        "x.tmp.md",
        "pic.png",
        ".hidden.png",
        "notes.txt",
        "md",
        "readme-first.md",
    ]);
    let (files, skipped, problems) = tree.told(false);
    assert_eq!(files, ["ok.md", "readme-first.md", "x.tmp.md"]);
    assert_eq!(
        skipped,
        [
            "#x.md#: backup",
            ".dot.md: hidden",
            ".obsidian/x.md: hidden",
            "_index.md: section",
            "_layouts/x.md: backup",
            "_partial.md: backup",
            "a/LICENSE.markdown: license",
            "a/Licence.md: license",
            "a/README.ko.md: readme",
            "a/_index.ko.md: section",
            "node_modules/pkg/deep/NEWS.md: node_modules",
            "old.bak/x.md: backup",
            "readme.md: readme",
            "x.md.bak: backup",
            "x.mdx.swp: backup",
            "x.md~: backup",
            "~x.md: backup",
        ]
    );
    assert!(problems.is_empty());
    for line in skipped {
        let (file, reason) = line.split_once(": ").unwrap();
        assert_eq!(skipped_by_name(file).map(Skip::as_str), Some(reason), "{file}");
    }
    assert_eq!(skipped_by_name("a/b.md"), None);
    assert_eq!(skipped_by_name("_posts/b.md"), None);
    assert_eq!(skipped_by_name("a/b.png"), Some(Skip::NotAPost));
}

#[test]
fn a_folder_may_be_called_like_a_post() {
    let tree = Tree::of(&["x.md/index.md", "README.md/y.md"]);
    assert_eq!(tree.told(false).0, ["README.md/y.md", "x.md/index.md"]);
}

#[test]
fn posts_and_drafts_of_jekyll_are_walked() {
    let tree =
        Tree::of(&["_posts/a.md", "tips/_posts/b.md", "_drafts/c.md", "tips/_drafts/deep/d.md", "e.md"]);
    let drafts: Vec<(String, bool)> =
        tree.walked().files.into_iter().map(|file| (file.path, file.in_drafts)).collect();
    let wanted = [
        ("_drafts/c.md", true),
        ("_posts/a.md", false),
        ("e.md", false),
        ("tips/_drafts/deep/d.md", true),
        ("tips/_posts/b.md", false),
    ];
    assert_eq!(drafts, wanted.map(|(path, draft)| (path.to_owned(), draft)));
}

#[test]
fn ignore_files_below_the_root_count_and_nothing_else_does() {
    let tree = Tree::of(&[
        "a.md",
        "build/b.md",
        "drafts/c.md",
        "drafts/keep.md",
        "sub/d.md",
        "sub/e.md",
        "sub/deep/f.md",
        "g.md",
        "h.md",
    ]);
    tree.write(".gitignore", "\u{FEFF}/build/\r\n# drafts\r\ndrafts/*\r\n!drafts/keep.md\r\ng.md\n[broken\n");
    tree.write("sub/.gitignore", "/d.md\ndeep/\n");
    tree.write(".idempostignore", "!g.md\nh.md\n");
    tree.write("sub/.idempostignore", "!d.md\n");
    // A repository's own excludes, and being one at all, change nothing.
    tree.write(".git/info/exclude", "a.md\n");
    let (files, skipped, problems) = tree.told(false);
    assert_eq!(files, ["a.md", "drafts/keep.md", "g.md", "sub/d.md", "sub/e.md"]);
    assert_eq!(
        skipped,
        ["build/b.md: ignored", "drafts/c.md: ignored", "h.md: ignored", "sub/deep/f.md: ignored"]
    );
    assert!(problems.is_empty());

    let inner = walk(&tree.root().join("sub"), &WalkOptions::default()).unwrap();
    let inner: Vec<&str> = inner.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(inner, ["d.md", "e.md"]);
    let drafts = walk(&tree.root().join("drafts"), &WalkOptions::default()).unwrap();
    assert_eq!(drafts.files.len(), 2, "ignore files above the root do not count");
}

#[test]
fn folders_too_deep_are_told_and_the_rest_is_walked() {
    let tree = Tree::of(&["a.md"]);
    let deep = |levels: usize| vec!["d"; levels].join("/");
    tree.write(&format!("{}/last.md", deep(FOLDER_LEVELS_MAX)), "text");
    tree.write(&format!("{}/beyond.md", deep(FOLDER_LEVELS_MAX + 2)), "text");
    let (files, _, problems) = tree.told(false);
    assert_eq!(files, ["a.md".to_owned(), format!("{}/last.md", deep(FOLDER_LEVELS_MAX))]);
    assert_eq!(problems, [format!("{}: folder-depth", deep(FOLDER_LEVELS_MAX + 1))]);
}

#[test]
fn the_root_must_be_a_folder() {
    let tree = Tree::of(&["a.md"]);
    let none = walk(&tree.root().join("nowhere"), &WalkOptions::default()).unwrap_err();
    assert_eq!(none.exit, Exit::Usage);
    assert!(none.message.contains("there is no folder") && !none.help.is_empty());
    let file = walk(&tree.root().join("a.md"), &WalkOptions::default()).unwrap_err();
    assert_eq!(file.exit, Exit::Usage);
    let empty = tempfile::tempdir().unwrap();
    assert!(walk(empty.path(), &WalkOptions::default()).unwrap().files.is_empty());
}

#[test]
fn a_file_is_read_up_to_its_limit() {
    let tree = Tree::of(&[]);
    tree.write("a.md", "12345");
    let file = tree.walked().files.remove(0);
    assert_eq!(read(&file, 5).unwrap(), b"12345");
    let refused = read(&file, 4).unwrap_err();
    assert_eq!((refused.code, refused.file.as_str()), ("file-too-large", "a.md"));
    assert!(refused.message.contains("5 bytes, and 4 are the most"), "{}", refused.message);
    fs::remove_file(tree.root().join("a.md")).unwrap();
    assert_eq!(read(&file, 5).unwrap_err().code, "file-unreadable");
}

#[test]
fn assets_are_digested_inside_the_root_alone() {
    let tree = Tree::of(&["root/a.md"]);
    tree.write("root/img/p.png", "abc");
    tree.write("secret.png", "secret");
    tree.write("root/cafe\u{301}.png", "");
    let root = tree.root().join("root");
    let fact = asset(&root, "img/p.png").unwrap();
    assert_eq!(fact.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(fact.bytes, 3);
    assert_eq!(asset(&root, "caf\u{e9}.png").unwrap().bytes, 0, "either normalisation form is found");
    for path in ["", ".", "img", "none.png", "../secret.png", "img/../../secret.png", "/etc/hostname", "a\0b"]
    {
        assert_eq!(asset(&root, path), Err(NoAsset::Absent), "{path}");
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    fn linked() -> Tree {
        let tree =
            Tree::of(&["outside.md", "root/a/one.md", "root/.store/two.md", "root/.store/sub/three.md"]);
        let root = tree.root().join("root");
        for (target, link) in [
            ("..", "a/loop"),
            (".", "a/self"),
            ("a", "b"),
            ("one.md", "a/alias.md"),
            ("me.md", "a/me.md"),
            ("nowhere.md", "a/broken.md"),
            ("../../outside.md", "a/leak.md"),
            ("../..", "a/up"),
            ("/etc", "a/etc"),
            ("../.store/two.md", "a/two.md"),
            (".store", "c"),
            ("nothing", "plain"),
            ("a", ".hidden"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        symlink("..", root.join(".store/sub/back")).unwrap();
        tree
    }

    #[test]
    fn links_are_named_once_and_not_followed() {
        let tree = linked();
        let walked = walk(&tree.root().join("root"), &WalkOptions::default()).unwrap();
        let files: Vec<&str> = walked.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(files, ["a/one.md"]);
        let links: Vec<&str> = walked
            .skipped
            .iter()
            .filter(|skip| skip.reason == Skip::Link)
            .map(|skip| skip.file.as_str())
            .collect();
        assert_eq!(
            links,
            [
                "a/alias.md",
                "a/broken.md",
                "a/etc",
                "a/leak.md",
                "a/loop",
                "a/me.md",
                "a/self",
                "a/two.md",
                "a/up",
                "b",
                "c",
            ]
        );
        assert!(walked.problems.is_empty());
    }

    #[test]
    fn links_are_followed_inside_the_root_and_every_file_counts_once() {
        let tree = linked();
        let walked = walk(&tree.root().join("root"), &WalkOptions { follow_links: true }).unwrap();
        let files: Vec<&str> = walked.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(files, ["a/one.md", "a/two.md", "c/sub/three.md"]);
        let links: Vec<&str> = walked
            .skipped
            .iter()
            .filter(|skip| skip.reason == Skip::Link)
            .map(|skip| skip.file.as_str())
            .collect();
        assert_eq!(
            links,
            [
                "a/alias.md",
                "a/broken.md",
                "a/etc",
                "a/leak.md",
                "a/loop",
                "a/me.md",
                "a/self",
                "a/up",
                "b",
                "c/sub/back",
                "c/two.md",
            ]
        );
        assert!(walked.problems.is_empty());
    }

    #[test]
    fn an_asset_behind_a_link_out_of_the_root_is_none() {
        let tree = linked();
        let root = tree.root().join("root");
        assert_eq!(asset(&root, "a/leak.md"), Err(NoAsset::Outside));
        assert_eq!(asset(&root, "a/up/outside.md"), Err(NoAsset::Outside));
        assert!(asset(&root, "b/one.md").is_ok());
    }

    #[test]
    fn what_cannot_be_read_is_a_problem_and_never_dropped() {
        let tree = Tree::of(&["ok.md", "closed/a.md", ".git/closed/b.md"]);
        let _listener = UnixListener::bind(tree.root().join("socket.md")).unwrap();
        let name = std::ffi::OsStr::from_bytes(b"bad\xFF.md");
        fs::write(tree.root().join(name), "text").unwrap();
        fs::create_dir(tree.root().join(std::ffi::OsStr::from_bytes(b"dir\xFE"))).unwrap();
        for closed in ["closed", ".git/closed"] {
            fs::set_permissions(tree.root().join(closed), fs::Permissions::from_mode(0o000)).unwrap();
        }
        let readable_anyway = fs::read_dir(tree.root().join("closed")).is_ok();
        let (files, _, problems) = tree.told(false);
        for closed in ["closed", ".git/closed"] {
            fs::set_permissions(tree.root().join(closed), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut wanted = vec![
            "bad\u{FFFD}.md: file-name-utf8",
            "dir\u{FFFD}: file-name-utf8",
            "socket.md: file-unreadable",
        ];
        // The superuser reads every folder.
        if readable_anyway {
            assert_eq!(files, ["closed/a.md", "ok.md"]);
        } else {
            assert_eq!(files, ["ok.md"]);
            wanted.insert(1, "closed: folder-unreadable");
        }
        assert_eq!(problems, wanted);
    }
}
