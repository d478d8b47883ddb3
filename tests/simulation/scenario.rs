//! What happens under one seed: which runs, which trees, when they begin, which are killed.

use rand::{RngExt, SeedableRng, rngs::SmallRng};

use super::hostile::Rates;

/// One post of a tree: which text it has, whether its date is the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text {
    pub edition: u8,
    pub other_date: bool,
    pub asset: bool,
}

/// A tree: for each of the posts of the scenario its text, or nothing.
pub type Tree = Vec<Option<Text>>;

#[derive(Debug, Clone)]
pub struct Planned {
    pub name: usize,
    pub revision: Option<i64>,
    pub tree: Tree,
    pub begins_millis: u64,
    pub killed_after_millis: Option<u64>,
    pub batch: usize,
    pub in_flight: usize,
    pub attempts: u32,
}

#[derive(Debug, Clone)]
pub struct Scenario {
    pub seed: u64,
    pub rates: Rates,
    pub with_revisions: bool,
    pub equal_trees: bool,
    pub first: Option<Tree>,
    /// What the first run made is archived before the others begin.
    pub first_archived: bool,
    pub runs: Vec<Planned>,
}

impl Scenario {
    pub fn of(seed: u64) -> Self {
        if seed % 5 == 4 { Self::with_stragglers(seed) } else { Self::of_many_kinds(seed) }
    }

    /// An older run gives up or dies, and its statements land long after the newer one has ended.
    fn with_stragglers(seed: u64) -> Self {
        let mut rng = SmallRng::seed_from_u64(seed);
        let rates = Rates {
            late: rng.random_range(20..=60),
            delay_millis: rng.random_range(1..=20),
            late_millis: 15_000,
            ..Rates::default()
        };
        let text =
            |rng: &mut SmallRng| Text { edition: rng.random_range(0..2), other_date: false, asset: false };
        let posts = rng.random_range(1..=2);
        let full: Tree = (0..posts).map(|_| Some(text(&mut rng))).collect();
        let runs = [1, 2]
            .into_iter()
            .map(|revision| Planned {
                name: usize::try_from(revision).unwrap() - 1,
                revision: Some(revision),
                tree: if revision == 1 { full.clone() } else { full.iter().map(|_| None).collect() },
                begins_millis: if revision == 1 { 0 } else { rng.random_range(0..300) },
                killed_after_millis: (revision == 1 && rng.random_range(0..2) == 0)
                    .then(|| rng.random_range(0..300)),
                batch: 1,
                in_flight: 1,
                attempts: if revision == 1 { rng.random_range(1..=2) } else { 12 },
            })
            .collect();
        let first_archived = rng.random_range(0..2) == 0;
        Scenario {
            seed,
            rates,
            with_revisions: true,
            equal_trees: false,
            first: first_archived.then(|| full.clone()),
            first_archived,
            runs,
        }
    }

    fn of_many_kinds(seed: u64) -> Self {
        let mut rng = SmallRng::seed_from_u64(seed);
        let rates = rates(&mut rng);
        let with_revisions = rng.random_range(0..3) > 0;
        let equal_trees = !with_revisions && rng.random_range(0..2) == 0;
        let dates = rng.random_range(0..6) == 0;
        let assets = rng.random_range(0..4) == 0;
        let posts = rng.random_range(1..=3);
        let mut tree = |texts: u8| -> Tree {
            (0..posts)
                .map(|_| {
                    let there = rng.random_range(0..4) > 0;
                    let edition = rng.random_range(0..texts);
                    let other_date = dates && rng.random_range(0..3) == 0;
                    let asset = assets && rng.random_range(0..2) == 0;
                    there.then_some(Text { edition, other_date, asset })
                })
                .collect()
        };
        let one = tree(2);
        let first = tree(2);
        let trees: Vec<Tree> = (0..4).map(|_| if equal_trees { one.clone() } else { tree(2) }).collect();
        let count = rng.random_range(2..=4);
        let mut revisions: Vec<i64> = (1..=count).collect();
        // The order in which jobs begin is not the order of their commits.
        for at in (1..revisions.len()).rev() {
            revisions.swap(at, rng.random_range(0..=at));
        }
        let runs = (0..usize::try_from(count).unwrap())
            .map(|name| Planned {
                name,
                revision: with_revisions.then(|| revisions[name]),
                tree: trees[name].clone(),
                begins_millis: rng.random_range(0..400),
                killed_after_millis: (rng.random_range(0..4) == 0).then(|| rng.random_range(0..900)),
                batch: rng.random_range(1..=3),
                in_flight: rng.random_range(1..=2),
                attempts: rng.random_range(3..=8),
            })
            .collect();
        let first = (rng.random_range(0..2) == 0).then_some(first);
        Scenario { seed, rates, with_revisions, equal_trees, first, first_archived: false, runs }
    }
}

fn rates(rng: &mut SmallRng) -> Rates {
    let mut percent = |most: u32| if rng.random_range(0..2) == 0 { 0 } else { rng.random_range(0..=most) };
    Rates {
        lost_request: percent(15),
        lost_reply: percent(20),
        late: percent(20),
        repeated: percent(20),
        throttled: percent(15),
        failed_read: percent(10),
        delay_millis: u64::from(percent(60)) + 1,
        late_millis: u64::from(percent(3_000)) + 1,
    }
}
