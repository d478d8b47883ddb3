//! Many processes at once.

use std::process::Child;

use crate::scene::{Ended, Kind, Scene};
use crate::size;

fn end(children: Vec<Child>) -> Vec<Ended> {
    children.into_iter().map(|child| child.wait_with_output().unwrap().into()).collect()
}

fn eight_processes(kind: Kind, rounds: usize, pictures: bool) {
    for round in 0..rounds {
        let scene = Scene::new(kind);
        scene.write(20, "one text", pictures);
        let ended = end((0..8).map(|_| scene.spawn(&["--batch", "7"])).collect());
        for (at, one) in ended.iter().enumerate() {
            assert_eq!(
                one.exit,
                Some(0),
                "round {round}, process {at}: {} {}",
                one.json["failed"],
                one.stderr
            );
        }
        let created: u64 = ended.iter().map(|one| one.applied("create")).sum();
        assert_eq!(created, 20, "round {round}: the counts of all processes add up to one create a post");
        scene.assert_as_clean(&format!("round {round}"));
    }
    println!("{kind:?}: {rounds} rounds of 8 processes, 20 posts");
}

#[test]
fn eight_processes_ingest_one_tree_into_mongodb() {
    eight_processes(Kind::Mongo, size(2, 20), false);
}

#[test]
fn eight_processes_ingest_one_tree_into_sqlite() {
    eight_processes(Kind::Sqlite, size(2, 20), false);
}

#[test]
fn eight_processes_race_to_publish_pictures() {
    eight_processes(Kind::Mongo, size(1, 10), true);
}

/// Four editors save four versions of one post at the same moment.
fn four_editors(kind: Kind, rounds: usize) {
    let mut lost = 0;
    for round in 0..rounds {
        let base = Scene::new(kind);
        base.write(3, "first", false);
        assert_eq!(base.ingest(&[]).exit, Some(0));
        let editors: Vec<Scene> = (0..4)
            .map(|editor| {
                let scene = Scene::with_uri(base.uri.clone());
                scene.write(3, "first", false);
                let path = scene.content().join("entry-001.md");
                let text =
                    std::fs::read_to_string(&path).unwrap().replace("first", &format!("edit {editor}"));
                std::fs::write(path, text).unwrap();
                scene
            })
            .collect();
        let ended = end(editors.iter().map(|scene| scene.spawn(&[])).collect());
        let bodies: Vec<String> =
            base.stored().values().map(|post| post.get_str("body").unwrap().to_owned()).collect();
        let edited: Vec<usize> = (0..4)
            .filter(|editor| bodies.iter().any(|body| body.contains(&format!("edit {editor}"))))
            .collect();
        assert_eq!(edited.len(), 1, "round {round}: one text stays: {bodies:?}");
        for (editor, one) in ended.iter().enumerate() {
            match one.exit {
                Some(0) => assert_eq!(one.applied("update"), 1, "round {round}, editor {editor}"),
                Some(5) => {
                    lost += 1;
                    assert_eq!(one.applied("update"), 0, "round {round}, editor {editor}");
                    let message = one.json["failed"][0]["message"].as_str().unwrap_or_default();
                    assert!(
                        message.contains("another run"),
                        "round {round}: the loser says so: {}",
                        one.json
                    );
                }
                other => panic!("round {round}, editor {editor}: exit {other:?}: {}", one.stderr),
            }
        }
        assert_eq!(
            ended[edited[0]].exit,
            Some(0),
            "round {round}: whoever's text stays was told that it is in"
        );
        assert_eq!(editors[edited[0]].ingest(&[]).exit, Some(0));
        editors[edited[0]].assert_settled(&format!("round {round}"));
    }
    println!("{kind:?}: {rounds} rounds of 4 editors, {lost} of {} lost and said so", rounds * 4);
}

#[test]
fn four_editors_of_one_post_in_mongodb() {
    four_editors(Kind::Mongo, size(3, 20));
}

#[test]
fn four_editors_of_one_post_in_sqlite() {
    four_editors(Kind::Sqlite, size(3, 20));
}

/// One operation asked for by four processes at once: one does it, the others wait for its result.
fn one_operation(kind: Kind) {
    let scene = Scene::new(kind);
    scene.write(20, "one text", false);
    let ended = end((0..4).map(|_| scene.spawn(&["--operation-id", "publish-41", "--batch", "3"])).collect());
    for one in &ended {
        assert_eq!(one.exit, Some(0), "{}", one.stderr);
        assert_eq!(one.applied("create"), 20, "each is told the result: {}", one.json["applied"]);
    }
    let done: Vec<&Ended> = ended.iter().filter(|one| one.json["replayed"] == false).collect();
    assert_eq!(done.len(), 1, "one did it");
    assert!(ended.iter().all(|one| one.json["runId"] == done[0].json["runId"]), "the others name its run");
    scene.assert_as_clean("one operation");
}

#[test]
fn four_requests_of_one_operation_in_mongodb() {
    one_operation(Kind::Mongo);
}

#[test]
fn four_requests_of_one_operation_in_sqlite() {
    one_operation(Kind::Sqlite);
}
