//! Killed at every step from the run's first write to its last: the next run finishes, and no reader ever
//! sees a post without its pictures or half of a picture.

use crate::common::server::{database_name, proxied};
use crate::mongo_proxy::Proxy as StoreProxy;
use crate::proxy::Fate;
use crate::scene::{Kind, Scene, png, sha256};

const CLAIM: &str = "300ms";

/// One post with two pictures, one of which another post shows already.
fn scene(kind: Kind) -> Scene {
    let scene = Scene::with_claim(kind, CLAIM);
    scene.write("one.png", &png("one"));
    scene.write("two.png", &png("two"));
    scene.post("new", &["one.png", "two.png"]);
    scene
}

/// Kills the run at its write number `at` to the store of posts, before or after the server had it.
/// `false`: the run ended first.
async fn killed_at_write(kind: Kind, at: usize, after: bool) -> bool {
    let address = proxied().address().unwrap();
    let proxy = StoreProxy::start(&address).await;
    let mut scene = scene(kind);
    let database = database_name();
    scene.uri = proxied().uri(&database);
    let through = proxied().uri_through(&proxy.address(), &database);
    let stopped = proxy.stop_at_write(at, after);
    let mut child = scene.spawn(&through);
    let reached = stopped.kill(&mut child).is_none();
    let what = format!("{kind:?}: killed {} write {at}", if after { "after" } else { "before" });
    scene.assert_no_post_without_its_pictures(&what);
    scene.ingest_well(&[]);
    assert_eq!(scene.assert_no_post_without_its_pictures(&what), 1, "{what}: the next run finishes");
    scene.assert_settled(&what);
    assert!(scene.rows().iter().all(|row| row.claim.is_none()), "{what}: {:?}", scene.rows());
    if kind == Kind::S3 {
        let made: Vec<_> =
            scene.proxy.requests().into_iter().filter(|one| one.method == "PUT" && one.status != 0).collect();
        assert_eq!(made.len(), 2, "{what}: {:?}", scene.proxy.requests());
    }
    reached
}

async fn killed_at_every_write(kind: Kind) {
    let mut at = 0;
    while killed_at_write(kind, at, false).await {
        killed_at_write(kind, at, true).await;
        at += 1;
    }
    println!("{kind:?}: killed before and after each of {at} writes");
    assert!(at >= 9, "row, post, two assets twice, post, row: only {at} writes were seen");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_run_killed_at_any_write_is_finished_in_s3() {
    killed_at_every_write(Kind::S3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_run_killed_at_any_write_is_finished_in_a_folder() {
    killed_at_every_write(Kind::Folder).await;
}

/// Killed while an upload is lost, half there, or there with its reply lost.
#[test]
fn a_run_killed_in_an_upload_is_finished() {
    for (fate, killed) in
        [(Fate::Hold, true), (Fate::Cut, false), (Fate::Lose, false), (Fate::LoseReply, false)]
    {
        for upload in 0..2 {
            let scene = scene(Kind::S3);
            let mut seen = 0;
            scene.proxy.script(move |request| {
                let is_put = request.method == "PUT";
                seen += usize::from(is_put);
                if is_put && seen == upload + 1 { fate } else { Fate::Pass }
            });
            let what = format!("{fate:?} of upload {upload}");
            if killed {
                let mut child = scene.spawn(&scene.uri);
                scene.proxy.wait_for_hold();
                child.kill().unwrap();
                child.wait().unwrap();
                assert_eq!(scene.assert_no_post_without_its_pictures(&what), 0, "{what}: not shown yet");
                assert_eq!(
                    scene.documents()[0].get_str("status").unwrap(),
                    "publishing",
                    "{what}: the lock is there"
                );
            }
            scene.ingest_well(&[]);
            assert_eq!(scene.assert_no_post_without_its_pictures(&what), 1, "{what}");
            scene.assert_settled(&what);
        }
    }
}

/// An upload that fails for good shows nothing, and the next run begins at once.
#[test]
fn an_upload_that_fails_for_good_is_told_with_its_post() {
    let scene = scene(Kind::S3);
    scene.proxy.script(|request| if request.method == "PUT" { Fate::Lose } else { Fate::Pass });
    let ended = scene.ingest(&["--attempts", "2"]);
    assert_eq!(ended.json["failed"][0]["file"], "new.md", "{}", ended.json);
    assert_eq!(scene.assert_no_post_without_its_pictures("failed"), 0);
    let text = format!("{}{}", ended.json, ended.stderr);
    assert!(!text.contains("test-secret"), "{text}");
    scene.proxy.script(|_| Fate::Pass);
    scene.ingest_well(&[]);
    assert_eq!(scene.assert_no_post_without_its_pictures("again"), 1);
}

/// What a run with an asset that changes under it leaves: nothing under a digest that is not its own.
#[test]
fn no_object_ever_has_other_bytes_than_its_name_says() {
    let scene = scene(Kind::Folder);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let picture = scene.content().join("one.png");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut edition = 0_u32;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                edition += 1;
                std::fs::write(&picture, png(&format!("edition {edition}"))).unwrap();
            }
        });
        for _ in 0..6 {
            scene.ingest(&[]);
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    scene.ingest_well(&[]);
    let mut objects = 0;
    for entry in std::fs::read_dir(scene.folder.path().join("objects")).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        assert_eq!(sha256(&std::fs::read(&path).unwrap()), stem, "{}", path.display());
        objects += 1;
    }
    assert!(objects >= 2);
    scene.assert_no_post_without_its_pictures("changing");
}
