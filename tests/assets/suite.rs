//! What holds of every asset store: each test runs on a folder and on a real S3.

use crate::common::objects;
use crate::scene::{Kind, Scene, png, sha256};

macro_rules! on_both {
    ($($name:ident)+) => { $(mod $name {
        #[test] fn in_a_folder() { super::$name(super::Kind::Folder); }
        #[test] fn in_s3() { super::$name(super::Kind::S3); }
    })+ };
}

on_both! {
    what_is_stored_is_found_at_its_address
    posts_that_share_a_picture_store_it_once
    a_changed_picture_updates_its_posts
    a_large_file_goes_in_parts
    what_a_browser_would_run_is_stored_as_text
    an_object_deleted_by_hand_is_stored_again_by_force
    a_broken_object_under_the_name_is_mended
    what_leaves_the_root_is_refused
}

fn what_is_stored_is_found_at_its_address(kind: Kind) {
    let scene = Scene::new(kind);
    scene.write("img/a.dat", &png("a"));
    scene.write("b.pdf", b"%PDF-1.7 b");
    scene.write("cover.png", &png("cover"));
    let text = "---\ntitle: x\ndate: 2024-03-01\ncover: cover.png\n---\n\n![a](img/a.dat) [b](b.pdf#page=2)\n\n\
                <img src=\"img/a.dat\" alt=\"again\">\n";
    scene.write("x.md", text.as_bytes());
    scene.ingest_well(&[]);
    let document = &scene.documents()[0];
    let (a, b) = (sha256(&png("a")), sha256(b"%PDF-1.7 b"));
    let html = document.get_str("html").unwrap();
    assert_eq!(html.matches(&format!("src=\"https://cdn.test/a/{a}.png\"")).count(), 2, "{html}");
    assert!(html.contains(&format!("href=\"https://cdn.test/a/{b}.pdf#page=2\"")), "{html}");
    let cover = sha256(&png("cover"));
    assert_eq!(document.get_str("cover").unwrap(), format!("https://cdn.test/a/{cover}.png"));
    assert!(document.get_str("body").unwrap().contains("![a](img/a.dat)"), "the source is left as it is");
    assert_eq!(scene.object(&format!("{a}.png")), Some(png("a")), "by its bytes a PNG, whatever its name");
    if kind == Kind::S3 {
        let reply = objects::shared().get(&scene.key(&format!("{b}.pdf"))).unwrap();
        assert_eq!(reply.header("content-type"), Some("application/pdf"));
        assert!(reply.header("cache-control").unwrap().contains("immutable"));
        let single: Vec<_> = scene.proxy.requests();
        assert!(single.iter().all(|one| one.method == "PUT"), "one request an asset: {single:?}");
    }
    assert_eq!((scene.uploads(), scene.assert_no_post_without_its_pictures("first")), (3, 1));
    let before = scene.proxy.requests().len();
    scene.ingest_well(&[]);
    assert_eq!(scene.proxy.requests().len(), before, "an unchanged post asks the asset store nothing");
    scene.assert_settled("second");
}

fn posts_that_share_a_picture_store_it_once(kind: Kind) {
    let scene = Scene::new(kind);
    scene.write("shared.png", &png("shared"));
    scene.write("same-bytes.jpeg", &png("shared"));
    for at in 0..12 {
        scene.post(&format!("post-{at}"), &[if at % 2 == 0 { "shared.png" } else { "same-bytes.jpeg" }]);
    }
    scene.ingest_well(&[]);
    assert_eq!((scene.uploads(), scene.rows().len()), (1, 1));
    assert_eq!(scene.assert_no_post_without_its_pictures("shared"), 12);
    scene.post("later", &["shared.png"]);
    let before = scene.proxy.requests().len();
    scene.ingest_well(&[]);
    assert_eq!(scene.proxy.requests().len(), before, "its row says that it is there");
}

fn a_changed_picture_updates_its_posts(kind: Kind) {
    let scene = Scene::new(kind);
    scene.write("a.png", &png("first"));
    scene.post("shows", &["a.png"]);
    scene.post("other", &[]);
    scene.ingest_well(&[]);
    scene.write("a.png", &png("second"));
    let plan = scene.run(&["diff"], &[]);
    assert_eq!(plan.json["changes"].as_array().unwrap().len(), 1, "{}", plan.json);
    assert_eq!(plan.json["changes"][0]["action"], "update");
    assert_eq!(plan.json["changes"][0]["reason"], "assets");
    assert_eq!(scene.ingest_well(&[]).json["applied"]["update"], 1);
    assert_eq!(scene.uploads(), 2);
    scene.assert_no_post_without_its_pictures("changed");
    scene.assert_settled("changed");
}

fn a_large_file_goes_in_parts(kind: Kind) {
    let scene = Scene::new(kind);
    let mut film = b"\0\0\0\x20ftypisom".to_vec();
    film.extend((0..19_000_000_u32).map(|at| u8::try_from(at.wrapping_mul(2_654_435_761) >> 24).unwrap()));
    scene.write("film.mp4", &film);
    scene.post("film", &["film.mp4"]);
    scene.ingest_well(&[]);
    assert_eq!(scene.assert_no_post_without_its_pictures("film"), 1);
    assert_eq!(scene.uploads(), 1);
    if kind == Kind::S3 {
        let parts = scene.proxy.requests().iter().filter(|one| one.path.contains("partNumber=")).count();
        assert_eq!(parts, 3, "{:?}", scene.proxy.requests());
        let reply = objects::shared().get(&scene.key(&format!("{}.mp4", sha256(&film)))).unwrap();
        assert_eq!(reply.header("content-type"), Some("video/mp4"));
    }
}

fn what_a_browser_would_run_is_stored_as_text(kind: Kind) {
    let scene = Scene::new(kind);
    let (active, page, picture) = (
        "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>",
        "<!doctype html><script>alert(1)</script>",
        "<svg xmlns=\"http://www.w3.org/2000/svg\"><circle r=\"4\"/></svg>",
    );
    scene.write("active.svg", active.as_bytes());
    scene.write("page.png", page.as_bytes());
    scene.write("good.svg", picture.as_bytes());
    scene.post("x", &["active.svg", "page.png", "good.svg"]);
    let ended = scene.ingest_well(&[]);
    let told = &ended.json["diagnostics"];
    assert_eq!(told.as_array().unwrap().len(), 1, "{told}");
    assert_eq!((told[0]["code"].as_str(), told[0]["line"].as_u64()), (Some("active-svg"), Some(8)));
    for text in [active, page] {
        let name = format!("{}.txt", sha256(text.as_bytes()));
        assert_eq!(scene.object(&name).as_deref(), Some(text.as_bytes()));
        if kind == Kind::S3 {
            let reply = objects::shared().get(&scene.key(&name)).unwrap();
            assert_eq!(reply.header("content-type"), Some("text/plain; charset=utf-8"));
        }
    }
    let name = format!("{}.svg", sha256(picture.as_bytes()));
    assert!(scene.object(&name).is_some());
    if kind == Kind::S3 {
        let reply = objects::shared().get(&scene.key(&name)).unwrap();
        assert_eq!(reply.header("content-type"), Some("image/svg+xml"));
        assert_eq!(reply.header("content-disposition"), Some("attachment"));
    }
}

fn an_object_deleted_by_hand_is_stored_again_by_force(kind: Kind) {
    let scene = Scene::new(kind);
    scene.write("a.png", &png("a"));
    scene.post("x", &["a.png"]);
    scene.ingest_well(&[]);
    let name = format!("{}.png", sha256(&png("a")));
    scene.lose(&name);
    scene.ingest_well(&["--force"]);
    assert_eq!(scene.object(&name), Some(png("a")));
    let before = scene.uploads();
    scene.ingest_well(&["--force"]);
    assert_eq!(scene.uploads(), before, "what is there is only looked at");
}

fn a_broken_object_under_the_name_is_mended(kind: Kind) {
    let scene = Scene::new(kind);
    let name = format!("{}.png", sha256(&png("a")));
    match kind {
        Kind::Folder => {
            std::fs::create_dir(scene.folder.path().join("objects")).unwrap();
            std::fs::write(scene.folder.path().join("objects").join(&name), b"half").unwrap();
        }
        Kind::S3 => objects::shared().put(&scene.key(&name), b"half"),
    }
    scene.write("a.png", &png("a"));
    scene.post("x", &["a.png"]);
    scene.ingest_well(&[]);
    assert_eq!(scene.object(&name), Some(png("a")));
}

fn what_leaves_the_root_is_refused(kind: Kind) {
    let scene = Scene::new(kind);
    std::fs::write(scene.folder.path().join("secret.png"), png("secret")).unwrap();
    std::os::unix::fs::symlink("../secret.png", scene.content().join("link.png")).unwrap();
    let absolute = format!("file://{}", scene.folder.path().join("secret.png").display());
    for (path, code) in [
        ("../secret.png", "link-outside-root"),
        ("link.png", "missing-asset"),
        ("%2e%2e/secret.png", "link-outside-root"),
        (absolute.as_str(), "machine-path"),
    ] {
        scene.post("x", &[path]);
        let ended = scene.ingest(&[]);
        assert_eq!(ended.exit, Some(4), "{path}: {}", ended.json);
        let told = &ended.json["diagnostics"][0];
        assert_eq!((told["code"].as_str(), told["line"].as_u64()), (Some(code), Some(8)), "{path}: {told}");
    }
    assert_eq!(scene.uploads(), 0);
}
