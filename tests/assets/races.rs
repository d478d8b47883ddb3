//! Many processes that want the same assets at once, and runs that are cut off and sent again.

use std::collections::BTreeMap;
use std::process::Child;

use crate::proxy::Fate;
use crate::scene::{Ended, Kind, Scene, png};

const POSTS: usize = 50;

fn end(children: Vec<Child>) -> Vec<Ended> {
    children.into_iter().map(|child| child.wait_with_output().unwrap().into()).collect()
}

fn eight_processes(scene: &Scene) {
    let ended = end((0..8).map(|_| scene.spawn(&scene.uri)).collect());
    for (at, one) in ended.iter().enumerate() {
        assert_eq!(one.exit, Some(0), "process {at}: {} {}", one.json["failed"], one.stderr);
    }
    let created: u64 = ended.iter().map(|one| one.json["applied"]["create"].as_u64().unwrap_or(0)).sum();
    assert_eq!(created, POSTS as u64, "the counts of all processes add up to one create a post");
    assert_eq!(scene.assert_no_post_without_its_pictures("race"), POSTS);
}

#[test]
fn eight_processes_upload_each_of_150_pictures_once() {
    let scene = Scene::new(Kind::S3);
    scene.gallery(POSTS);
    eight_processes(&scene);
    let mut by_method: BTreeMap<String, usize> = BTreeMap::new();
    for one in scene.proxy.requests() {
        *by_method.entry(format!("{} {}", one.method, one.status)).or_default() += 1;
    }
    println!("8 processes, {POSTS} posts with 3 pictures each: {by_method:?}");
    assert_eq!(
        by_method,
        BTreeMap::from([("PUT 200".to_owned(), 3 * POSTS)]),
        "each picture is one request, and losers make none"
    );
    scene.ingest_well(&[]);
    assert_eq!(scene.proxy.requests().len(), 3 * POSTS, "sent again: nothing");
    scene.assert_settled("race");
}

#[test]
fn eight_processes_fill_a_folder() {
    let scene = Scene::new(Kind::Folder);
    scene.gallery(POSTS);
    eight_processes(&scene);
    assert_eq!(scene.uploads(), 3 * POSTS, "one file a picture, and no half ones beside them");
    assert!(scene.rows().iter().all(|row| row.version == 2), "one insert and one end a picture: one upload");
}

#[test]
fn posts_that_share_a_picture_store_it_once_across_processes() {
    let scene = Scene::new(Kind::S3);
    scene.write("shared.png", &png("shared"));
    for at in 0..POSTS {
        scene.post(&format!("post-{at}"), &["shared.png"]);
    }
    eight_processes(&scene);
    assert_eq!(scene.proxy.requests().len(), 1, "{:?}", scene.proxy.requests());
}

/// A run that is killed in its middle, and one at its end, each sent again.
#[test]
fn a_run_that_was_cut_off_uploads_nothing_twice() {
    for cut in [75, 3 * POSTS - 1] {
        let scene = Scene::with_claim(Kind::S3, "500ms");
        scene.gallery(POSTS);
        let mut seen = 0;
        scene.proxy.script(move |request| {
            seen += usize::from(request.method == "PUT");
            if seen > cut { Fate::Hold } else { Fate::Pass }
        });
        let mut child = scene.spawn(&scene.uri);
        scene.proxy.wait_for_hold();
        child.kill().unwrap();
        child.wait().unwrap();
        let shown = scene.assert_no_post_without_its_pictures("cut off");
        scene.proxy.script(|_| Fate::Pass);
        let made = |scene: &Scene| {
            scene.proxy.requests().iter().filter(|one| one.method == "PUT" && one.status != 0).count()
        };
        let before = made(&scene);
        scene.ingest_well(&[]);
        assert_eq!(made(&scene), 3 * POSTS, "cut at {cut}: {before} before it");
        assert_eq!(scene.assert_no_post_without_its_pictures("sent again"), POSTS);
        let all = scene.proxy.requests().len();
        scene.ingest_well(&[]);
        assert_eq!(scene.proxy.requests().len(), all, "sent again once more: 0 further uploads");
        println!(
            "cut off at upload {cut}: {shown} posts shown, {before} uploads; then {}",
            made(&scene) - before
        );
    }
}
