//! The transition table (`DESIGN` 6). A transition that is not drawn here is refused, whoever asks.

use crate::store::document::Status;

/// Whether a post may go from one status to another; `None` is "not stored". Staying is always
/// allowed for a stored post.
pub fn allowed(from: Option<&Status>, to: &Status) -> bool {
    use Status::{Active, Archived, Publishing, Staged, Superseded};
    match (from, to) {
        (None, Publishing | Active | Staged)
        | (Some(Publishing), Active | Archived)
        | (Some(Active), Archived | Superseded)
        | (Some(Archived | Staged | Superseded), Active) => true,
        (Some(from), to) => from == to && !matches!(to, Status::Other(_)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Status::{Active, Archived, Publishing, Staged, Superseded};

    #[test]
    fn exactly_the_drawn_transitions_are_allowed() {
        let all = [Publishing, Staged, Active, Archived, Superseded];
        let mut drawn = Vec::new();
        for from in &all {
            for to in &all {
                if from != to && allowed(Some(from), to) {
                    drawn.push(format!("{}>{}", from.as_str(), to.as_str()));
                }
            }
        }
        assert_eq!(
            drawn,
            [
                "publishing>active",
                "publishing>archived",
                "staged>active",
                "active>archived",
                "active>superseded",
                "archived>active",
                "superseded>active"
            ]
        );
        let made: Vec<&str> = all.iter().filter(|to| allowed(None, to)).map(Status::as_str).collect();
        assert_eq!(made, ["publishing", "staged", "active"]);
    }

    #[test]
    fn a_status_of_somebody_else_goes_nowhere() {
        let other = Status::Other("published".to_owned());
        assert!(!allowed(Some(&other), &Active));
        assert!(!allowed(Some(&other), &other));
    }
}
