//! What `verify` finds in a collection that no unique index kept apart, and what a repair plans for it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;
use std::sync::Arc;

use idempost::catalog::links::PostLinks;
use idempost::catalog::{self, Catalog};
use idempost::cli;
use idempost::config::{self, Environment};
use idempost::plan::compose::Composer;
use idempost::plan::pipeline::Pipeline;
use idempost::plan::verify::{self, Finding, Level, Looked};
use idempost::plan::{self, Action, IdentitySettings, Observed, Origin, Plan, Policy, check};
use idempost::post::{self, Rules};
use idempost::store::Store;
use idempost::store::document::{Claim, Head, Ingest, Status};
use idempost::store::memory::MemoryStore;

const NOW: i64 = 1_000_000;

struct Tree {
    catalog: Catalog,
    policy: Policy,
}

fn tree() -> Tree {
    let cli = cli::parse(["idempost", "verify", "--lang", "en,ko"]).unwrap();
    let settings = config::load(&cli, &Environment::new(), Path::new("/nowhere")).unwrap();
    let rules: Rules = settings.rules(0);
    let text = "---\ntitle: Tides\nslug: tides\nlang: en\ndate: 2031-03-04T00:00:00Z\n---\n\nIn and out.\n";
    let parsed = post::parse("tides.md", false, text.as_bytes(), &rules);
    let store = MemoryStore::new();
    let policy = Policy {
        origin: Origin { name: Some("sea".to_owned()), ..Origin::default() },
        target: store.target(),
        limits: store.limits(),
        pipeline: Pipeline::of(&rules, &settings.link_policy()),
        revision: None,
        settings: IdentitySettings::default(),
        prune: false,
        force: false,
        only: None,
    };
    Tree { catalog: catalog::fold(vec![parsed], Vec::new(), &rules), policy }
}

impl Tree {
    /// The head of the post as this tree stores it.
    fn stored(&self) -> Head {
        let post = &self.catalog.posts[0];
        Head {
            id: post.id.to_string(),
            slug: "tides".to_owned(),
            lang: "en".to_owned(),
            status: Status::Active,
            live: true,
            translation_key: None,
            source_hash: Some(post.source_hash.to_string()),
            superseded_by: None,
            ingest: Some(Ingest {
                source: Some("sea".to_owned()),
                path: "tides.md".to_owned(),
                pipeline: self.policy.pipeline.to_string(),
                content_hash: "c1:00".to_owned(),
                version: 3,
                ..Ingest::default()
            }),
        }
    }

    fn plan(&self, heads: &[Head]) -> Plan {
        let observed = Observed { heads: heads.to_vec(), ..Observed::default() };
        let links = [Arc::new(PostLinks::default())];
        plan::plan(&self.catalog, &links, &observed, &self.policy, &Composer::of_given())
    }

    fn found(&self, heads: &[Head]) -> Vec<Finding> {
        verify::findings(&self.plan(heads), &[], heads, &Looked::default(), &self.policy, NOW)
    }

    /// (id, action, reason) of what a repair writes.
    fn mended(&self, heads: &[Head]) -> Vec<(String, Action, &'static str)> {
        let mut plan = self.plan(heads);
        verify::mend(&mut plan, heads, &self.policy, NOW);
        assert_eq!(check::check(&plan), [] as [String; 0]);
        let writing = plan.operations.iter().filter(|one| one.action.writes());
        writing.map(|one| (one.id.clone(), one.action, one.reason.code)).collect()
    }
}

fn other(head: &Head, id: &str) -> Head {
    Head { id: id.to_owned(), ..head.clone() }
}

fn of_source(mut head: Head, source: &str) -> Head {
    head.ingest.as_mut().unwrap().source = Some(source.to_owned());
    head
}

fn told(found: &[Finding]) -> Vec<(&str, &str, Option<Action>)> {
    found.iter().map(|one| (one.code, one.id.as_str(), one.repair)).collect()
}

#[test]
fn a_second_live_copy_is_archived_and_the_one_that_a_file_makes_stays() {
    let tree = tree();
    // The copy sorts before the post and after it: the file decides, not the order.
    for copy in ["0000000000AAAAAAAAAAAAAAAA", "ZZZ"] {
        let heads = [tree.stored(), other(&tree.stored(), copy)];
        assert_eq!(told(&tree.found(&heads)), [("duplicate", copy, Some(Action::Archive))]);
        assert_eq!(tree.mended(&heads), [(copy.to_owned(), Action::Archive, "duplicate")]);
    }
}

#[test]
fn copies_of_others_are_told_and_never_touched() {
    let tree = tree();
    let foreign = Head { ingest: None, ..other(&tree.stored(), "foreign") };
    let theirs = of_source(other(&tree.stored(), "theirs"), "land");
    let heads = [tree.stored(), foreign, theirs];
    let found = tree.found(&heads);
    assert_eq!(
        told(&found),
        [("duplicate", "foreign", None), ("foreign", "foreign", None), ("duplicate", "theirs", None)]
    );
    assert_eq!(tree.mended(&heads), []);
}

#[test]
fn of_two_copies_that_no_file_makes_neither_is_chosen() {
    let tree = tree();
    let gone = |id: &str| Head { slug: "gone".to_owned(), ..other(&tree.stored(), id) };
    let heads = [tree.stored(), gone("A"), gone("B")];
    let found = tree.found(&heads);
    assert!(found.iter().any(|one| one.code == "duplicate" && one.repair.is_none()), "{found:#?}");
    assert_eq!(tree.mended(&heads), []);
}

#[test]
fn live_is_set_right_whatever_the_status() {
    let tree = tree();
    let without = Head { live: false, ..tree.stored() };
    assert_eq!(
        told(&tree.found(std::slice::from_ref(&without))),
        [("status", without.id.as_str(), Some(Action::Restamp))]
    );
    assert_eq!(
        tree.mended(std::slice::from_ref(&without)),
        [(without.id.clone(), Action::Restamp, "status")]
    );

    let archived = Head { slug: "old".to_owned(), status: Status::Archived, ..other(&tree.stored(), "OLD") };
    let mut pruning = tree;
    pruning.policy.prune = true;
    // Archiving what is archived would be no sound plan.
    assert_eq!(
        pruning.mended(&[pruning.stored(), archived]),
        [("OLD".to_owned(), Action::Restamp, "status")]
    );
}

#[test]
fn a_claim_that_is_held_is_left_alone() {
    let tree = tree();
    let claimed = |until| {
        let mut head = tree.stored();
        head.ingest.as_mut().unwrap().claim = Some(Claim { run_id: "r".to_owned(), until });
        head
    };
    assert_eq!(tree.found(&[claimed(NOW + 1)]), []);
    assert_eq!(tree.mended(&[claimed(NOW + 1)]), []);
    assert_eq!(told(&tree.found(&[claimed(NOW)]))[0].0, "claim");
    assert_eq!(tree.mended(&[claimed(NOW)]).len(), 1);
    let publishing = |until| Head { status: Status::Publishing, ..claimed(until) };
    assert_eq!(tree.found(&[publishing(NOW + 1)])[0].level, Level::Note);
    assert_eq!(tree.found(&[publishing(NOW)])[0].level, Level::Difference);
}

#[test]
fn a_pointer_leads_to_a_live_post() {
    let tree = tree();
    let moved = |by: Option<&str>| Head {
        slug: "old".to_owned(),
        status: Status::Superseded,
        live: false,
        superseded_by: by.map(str::to_owned),
        ..other(&tree.stored(), "OLD")
    };
    let right = tree.stored().id;
    assert_eq!(tree.found(&[tree.stored(), moved(Some(&right))]), []);
    for wrong in [None, Some("nothing")] {
        let found = tree.found(&[tree.stored(), moved(wrong)]);
        assert_eq!(told(&found), [("pointer", "OLD", None)], "{wrong:?}");
    }
    let archived = Head {
        slug: "gone".to_owned(),
        status: Status::Archived,
        live: false,
        ..other(&tree.stored(), "GONE")
    };
    assert_eq!(
        told(&tree.found(&[tree.stored(), moved(Some("GONE")), archived])),
        [("pointer", "OLD", None)]
    );
}
