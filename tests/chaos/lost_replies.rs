//! The reply of the k-th write is lost, for every k.

use crate::proxy::Fate;
use crate::scene::{Scene, behind_a_proxy};
use crate::size;

/// Runs once with the reply of write `k` lost.
async fn once(posts: usize, batch: usize, k: usize) {
    let (proxy, through, past) = behind_a_proxy().await;
    proxy.script(
        move |command| {
            if command.is_write() && command.number == k { Fate::DropReply } else { Fate::Pass }
        },
    );
    let told = tokio::task::spawn_blocking(move || {
        let mut scene = Scene::with_uri(through);
        scene.write(posts, "first edition", false);
        let ended = scene.ingest(&["--batch", &batch.to_string(), "--in-flight", "2"]);
        assert_eq!(ended.exit, Some(0), "k {k}: {}", ended.stderr);
        scene.uri = past;
        scene.assert_as_clean(&format!("reply {k} lost, batches of {batch}"));
        ended.applied("create")
    });
    let created = told.await.unwrap();
    assert_eq!(created, posts as u64, "k {k}: every post is told created, once");
    assert_eq!(proxy.replies_dropped(), 1, "k {k}: the fault happened");
    // Posts of one day differ in nothing that matters here: each write went through the proxy.
    assert!(proxy.writes() >= posts.div_ceil(batch), "k {k}: the proxy saw {} writes", proxy.writes());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_post_a_batch() {
    let posts = size(12, 200);
    for k in 0..posts {
        once(posts, 1, k).await;
    }
    println!("lost replies, batches of 1: {posts} runs of {posts} posts");
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_posts_a_batch() {
    let posts = size(30, 200);
    for k in 0..posts / 10 {
        once(posts, 10, k).await;
    }
    println!("lost replies, batches of 10: {} runs of {posts} posts", posts / 10);
}
