//! `assets gc`: what nothing shows goes, after its time and when asked; what anything shows stays, whatever
//! runs beside it. And what `doctor` says of the asset store.

use std::time::Duration;

use idempost::apply::assets::row::State;
use idempost::store::document::Claim;

use crate::common::server::{database_name, proxied};
use crate::mongo_proxy::{Fate, Proxy};
use crate::scene::{Kind, Scene, png, sha256};

fn name(text: &str) -> String {
    format!("{}.png", sha256(&png(text)))
}

fn fates(json: &serde_json::Value) -> Vec<(String, String)> {
    let all = json["unreachable"].as_array().unwrap_or_else(|| panic!("{json}"));
    let text = |one: &serde_json::Value, key: &str| one[key].as_str().unwrap().to_owned();
    all.iter().map(|one| (text(one, "name"), text(one, "fate"))).collect()
}

fn what_nothing_shows_goes(kind: Kind) {
    let scene = Scene::new(kind);
    for at in ["shown", "archived", "changed"] {
        scene.write(&format!("{at}.png"), &png(at));
        scene.post(at, &[&format!("{at}.png")]);
    }
    assert_eq!(scene.run(&["assets", "gc"], &[]).exit, Some(0), "before the first run there is nothing");
    scene.ingest_well(&[]);
    std::fs::remove_file(scene.content().join("archived.md")).unwrap();
    scene.write("changed.png", &png("changed again"));
    scene.ingest_well(&["--prune"]);

    let young = scene.run(&["assets", "gc"], &["--grace", "3h"]);
    assert_eq!((fates(&young.json), young.json["young"].as_u64()), (vec![], Some(1)), "asked for just now");
    scene.age();
    let look = scene.run(&["assets", "gc"], &["--grace", "3h"]);
    assert_eq!(look.exit, Some(0), "{}", look.stderr);
    assert_eq!(fates(&look.json), [(name("changed"), "would-delete".to_owned())], "{}", look.json);
    assert_eq!(look.json["reachable"], 3, "the archived post keeps its own");
    assert!(scene.object(&name("changed")).is_some(), "only looked at");
    let long = scene.run(&["assets", "gc"], &["--delete"]);
    assert_eq!(fates(&long.json), [], "a week by default");

    let swept = scene.run(&["assets", "gc"], &["--delete", "--grace", "3h"]);
    assert_eq!(fates(&swept.json), [(name("changed"), "deleted".to_owned())], "{}", swept.json);
    assert_eq!(scene.object(&name("changed")), None);
    for at in ["shown", "archived", "changed again"] {
        assert!(scene.object(&name(at)).is_some(), "{at}");
    }
    assert_eq!(scene.rows().len(), 3);
    scene.write("changed.png", &png("changed"));
    scene.ingest_well(&[]);
    assert_eq!(scene.assert_no_post_without_its_pictures("stored again"), 2);
}

#[test]
fn what_nothing_shows_goes_from_a_folder() {
    what_nothing_shows_goes(Kind::Folder);
}

#[test]
fn what_nothing_shows_goes_from_s3() {
    what_nothing_shows_goes(Kind::S3);
}

#[test]
fn a_grace_that_runs_could_outlast_is_refused() {
    let scene = Scene::new(Kind::Folder);
    let ended = scene.run(&["assets", "gc"], &["--grace", "2h"]);
    assert_eq!(ended.exit, Some(64), "{}", ended.stderr);
}

/// A picture that nothing shows, old enough to go.
fn with_an_old_picture(kind: Kind) -> Scene {
    let mut scene = Scene::new(kind);
    scene.uri = proxied().uri(&database_name());
    scene.write("a.png", &png("a"));
    scene.post("first", &["a.png"]);
    scene.ingest_well(&[]);
    scene.post("first", &[]);
    scene.ingest_well(&[]);
    scene.age();
    scene.post("second", &["a.png"]);
    scene
}

async fn behind_a_proxy(scene: &Scene) -> (Proxy, String) {
    let proxy = Proxy::start(&proxied().address().unwrap()).await;
    let database = scene.uri.rsplit('/').next().unwrap().split('?').next().unwrap();
    let through = proxied().uri_through(&proxy.address(), database);
    (proxy, through)
}

/// The run saw that the picture is stored; then everything is swept; then the run shows its post.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_a_run_is_about_to_show_stays() {
    for kind in [Kind::Folder, Kind::S3] {
        let scene = with_an_old_picture(kind);
        let (proxy, through) = behind_a_proxy(&scene).await;
        proxy.script(
            |command| {
                if command.is_write() { Fate::Delay(Duration::from_secs(2)) } else { Fate::Pass }
            },
        );
        let mut run = scene.spawn(&through);
        while proxy.writes() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let swept = scene.run(&["assets", "gc"], &["--delete", "--grace", "3h"]);
        assert_eq!(run.try_wait().unwrap(), None, "{kind:?}: the run is still at work");
        assert_eq!((fates(&swept.json), swept.json["young"].as_u64()), (vec![], Some(1)), "{kind:?}");
        assert!(run.wait().unwrap().success());
        assert_eq!(scene.assert_no_post_without_its_pictures("beside a sweep"), 2, "{kind:?}");
    }
}

/// The sweep read that nothing shows the picture; then a run shows it; then the sweep goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_shown_while_a_sweep_is_at_work_stays() {
    for kind in [Kind::Folder, Kind::S3] {
        let scene = with_an_old_picture(kind);
        let (proxy, through) = behind_a_proxy(&scene).await;
        proxy.script(|command| {
            let is_mark = command.name == "update" && command.collection == "posts_assets";
            if is_mark { Fate::Delay(Duration::from_secs(2)) } else { Fate::Pass }
        });
        let command = scene.command_at(&through, &["assets", "gc"], &["--delete", "--grace", "3h"]).spawn();
        let sweep = command.unwrap();
        while proxy.seen("update", "posts_assets") == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        scene.ingest_well(&[]);
        let swept: crate::scene::Ended = sweep.wait_with_output().unwrap().into();
        assert_eq!(fates(&swept.json), [(name("a"), "wanted".to_owned())], "{kind:?}: {}", swept.json);
        assert_eq!(scene.assert_no_post_without_its_pictures("beside a sweep"), 2, "{kind:?}");
    }
}

/// A sweep that marked the picture and died: a run waits for the end of its mark, and stores it again.
#[test]
fn a_mark_of_a_dead_sweep_is_waited_out() {
    for kind in [Kind::Folder, Kind::S3] {
        let scene = with_an_old_picture(kind);
        let until = i64::try_from(
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis(),
        )
        .unwrap()
            + 1_500;
        scene.change_rows(|row| {
            row.state = State::Deleting;
            row.claim = Some(Claim { run_id: "A-DEAD-SWEEP".to_owned(), until });
        });
        scene.lose(&name("a"));
        let started = std::time::Instant::now();
        scene.ingest_well(&[]);
        assert!(started.elapsed() > Duration::from_secs(1), "{kind:?}: it did not wait");
        assert_eq!(scene.assert_no_post_without_its_pictures("after a dead sweep"), 2, "{kind:?}");
        assert_eq!(scene.rows()[0].state, State::Stored);
    }
}

#[test]
fn doctor_tells_of_the_asset_store() {
    for kind in [Kind::Folder, Kind::S3] {
        let scene = Scene::new(kind);
        let told = |scene: &Scene| {
            let ended = scene.run(&["doctor"], &[]);
            let all = ended.json["findings"].as_array().unwrap().clone();
            let one = all.into_iter().find(|one| one["what"] == "assets").unwrap();
            (one["verdict"].as_str().unwrap().to_owned(), one["says"].as_str().unwrap().to_owned())
        };
        let (verdict, says) = told(&scene);
        assert_eq!(verdict, "ok", "{kind:?}: {says}");
        assert!(says.ends_with("is reached and written, and has put-if-absent"), "{kind:?}: {says}");
        if kind == Kind::S3 {
            scene.proxy.script(|_| crate::proxy::Fate::Lose);
            let (verdict, says) = told(&scene);
            assert_eq!(verdict, "bad", "{says}");
            assert!(!says.contains("test-secret"), "{says}");
        }
    }
}
