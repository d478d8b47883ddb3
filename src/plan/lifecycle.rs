//! The transition table (`DESIGN` 6): from which status to which, and who may ask. A transition that is
//! not drawn here is refused, whoever asks and however often.
//!
//! One table, asked twice: where a plan is checked ([`super::check`]) and where its statements are made
//! (`apply::statement`). Nothing else decides it.

use crate::store::document::Status;

/// Who asks for a transition. It goes with each operation, not with the verb that was typed: a move that an
/// `ingest` completes is a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum By {
    /// What the tree says: new, back, a draft, a fence; and what a late run takes back.
    Ingest,
    /// No file makes it any more, and `--prune` was asked for.
    Prune,
    /// A person, with `archive`.
    Archive,
    /// A person, with `restore`.
    Restore,
    /// `move`, and whoever completes one that died.
    Move,
    /// `undo`.
    Undo,
    /// `adopt`.
    Adopt,
}

impl By {
    /// All of them.
    pub const ALL: [By; 7] = [By::Ingest, By::Prune, By::Archive, By::Restore, By::Move, By::Undo, By::Adopt];

    /// The name in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            By::Ingest => "ingest",
            By::Prune => "prune",
            By::Archive => "archive",
            By::Restore => "restore",
            By::Move => "move",
            By::Undo => "undo",
            By::Adopt => "adopt",
        }
    }
}

/// One arrow of the drawing.
#[derive(Debug)]
pub struct Transition {
    /// Stored before; `None`: not stored.
    pub from: Option<Status>,
    /// Stored afterwards.
    pub to: Status,
    /// Who may.
    pub by: &'static [By],
}

const fn arrow(from: Option<Status>, to: Status, by: &'static [By]) -> Transition {
    Transition { from, to, by }
}

/// Every arrow. Staying where one is needs none.
pub static TRANSITIONS: [Transition; 10] = [
    arrow(None, Status::Publishing, &[By::Ingest]),
    arrow(None, Status::Active, &[By::Ingest, By::Move, By::Adopt]),
    // Only the date moves: both would be live under one slug.
    arrow(None, Status::Staged, &[By::Move, By::Adopt]),
    arrow(Some(Status::Publishing), Status::Active, &[By::Ingest]),
    arrow(Some(Status::Publishing), Status::Archived, &[By::Ingest, By::Prune, By::Archive, By::Undo]),
    arrow(Some(Status::Staged), Status::Active, &[By::Move, By::Adopt]),
    arrow(Some(Status::Active), Status::Archived, &[By::Ingest, By::Prune, By::Archive, By::Undo, By::Adopt]),
    arrow(Some(Status::Active), Status::Superseded, &[By::Move, By::Undo]),
    arrow(Some(Status::Archived), Status::Active, &[By::Ingest, By::Restore, By::Undo]),
    arrow(Some(Status::Superseded), Status::Active, &[By::Move, By::Undo]),
];

/// Whether a post may go from one status to another for this asker; `None` is "not stored". Staying is
/// always allowed for a stored post of a status that is ours.
pub fn allowed(from: Option<&Status>, to: &Status, by: By) -> bool {
    match from {
        Some(from) if from == to => !matches!(to, Status::Other(_)),
        _ => TRANSITIONS
            .iter()
            .any(|drawn| drawn.from.as_ref() == from && drawn.to == *to && drawn.by.contains(&by)),
    }
}

/// The refusal of [`allowed`], in one sentence.
pub fn refusal(from: Option<&Status>, to: &Status, by: By) -> String {
    let from = from.map_or("not stored", Status::as_str);
    format!("no post goes from {from:?} to {:?} by {}", to.as_str(), by.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Status::{Active, Archived, Publishing, Staged, Superseded};

    /// The drawing of `DESIGN` 6, written down a second time: from, to, who may.
    const DRAWN: [(&str, &str, &str); 10] = [
        ("none", "publishing", "ingest"),
        ("none", "active", "ingest move adopt"),
        ("none", "staged", "move adopt"),
        ("publishing", "active", "ingest"),
        ("publishing", "archived", "ingest prune archive undo"),
        ("staged", "active", "move adopt"),
        ("active", "archived", "ingest prune archive undo adopt"),
        ("active", "superseded", "move undo"),
        ("archived", "active", "ingest restore undo"),
        ("superseded", "active", "move undo"),
    ];

    #[test]
    fn exactly_the_drawn_transitions_are_allowed() {
        let other = Status::Other("published".to_owned());
        let all = [Publishing, Staged, Active, Archived, Superseded, other.clone()];
        let mut pairs = 0;
        for from in [None].into_iter().chain(all.iter().map(Some)) {
            for to in &all {
                for by in By::ALL {
                    let name = from.map_or("none", Status::as_str);
                    let drawn = DRAWN.iter().any(|(one, two, who)| {
                        *one == name && *two == to.as_str() && who.split(' ').any(|who| who == by.as_str())
                    });
                    let stays = from == Some(to) && *to != other;
                    assert_eq!(allowed(from, to, by), drawn || stays, "{}", refusal(from, to, by));
                    pairs += 1;
                }
            }
        }
        assert_eq!(pairs, 7 * 6 * 7, "every pair, for everybody");
    }

    #[test]
    fn a_status_of_somebody_else_goes_nowhere() {
        let other = Status::Other("published".to_owned());
        for by in By::ALL {
            assert!(!allowed(Some(&other), &Active, by));
            assert!(!allowed(Some(&other), &other, by));
        }
    }
}
