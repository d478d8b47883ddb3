//! What a CI tells of the run: an increasing number, and who counts it.
//!
//! Only counters that keep their number when an old job is started again are used: a re-run of an old
//! job has to be recognised as old.

use super::layers::Environment;

/// A detected source revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detected {
    /// The number.
    pub revision: i64,
    /// Who counts: two counters have no order between them.
    pub counter: String,
}

/// One CI: the variable that tells it apart, the one that counts, and the one that names what is
/// counted (where each workflow counts by itself).
type Counter = (&'static str, &'static str, &'static str, Option<&'static str>);

const COUNTERS: [Counter; 9] = [
    ("github", "GITHUB_ACTIONS", "GITHUB_RUN_NUMBER", Some("GITHUB_WORKFLOW")),
    ("gitlab", "GITLAB_CI", "CI_PIPELINE_IID", None),
    ("bitbucket", "BITBUCKET_BUILD_NUMBER", "BITBUCKET_BUILD_NUMBER", None),
    ("buildkite", "BUILDKITE", "BUILDKITE_BUILD_NUMBER", Some("BUILDKITE_PIPELINE_SLUG")),
    ("circleci", "CIRCLECI", "CIRCLE_BUILD_NUM", None),
    ("drone", "DRONE", "DRONE_BUILD_NUMBER", None),
    ("azure", "TF_BUILD", "BUILD_BUILDID", None),
    ("travis", "TRAVIS", "TRAVIS_BUILD_NUMBER", None),
    ("jenkins", "JENKINS_URL", "BUILD_NUMBER", Some("JOB_NAME")),
];

/// The revision that the CI counts, if one does.
pub fn detect(env: &Environment) -> Option<Detected> {
    let set = |name: &str| env.get(name).filter(|value| !value.is_empty());
    COUNTERS.iter().find_map(|(ci, marker, number, named)| {
        set(marker)?;
        let revision = set(number)?.parse::<i64>().ok().filter(|revision| *revision >= 0)?;
        let counter = match named.and_then(set) {
            Some(name) => format!("{ci}:{name}"),
            None => (*ci).to_owned(),
        };
        Some(Detected { revision, counter })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn each_ci_is_told_by_its_own_variables() {
        let github = env(&[
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_RUN_NUMBER", "41"),
            ("GITHUB_RUN_ATTEMPT", "3"),
            ("GITHUB_WORKFLOW", "publish"),
        ]);
        assert_eq!(detect(&github), Some(Detected { revision: 41, counter: "github:publish".to_owned() }));
        let gitlab = env(&[("GITLAB_CI", "true"), ("CI_PIPELINE_IID", "7")]);
        assert_eq!(detect(&gitlab), Some(Detected { revision: 7, counter: "gitlab".to_owned() }));
    }

    #[test]
    fn a_number_without_its_ci_and_a_ci_without_a_number_are_nothing() {
        assert_eq!(detect(&env(&[("BUILD_NUMBER", "12")])), None);
        assert_eq!(detect(&env(&[("GITHUB_ACTIONS", "true"), ("GITHUB_RUN_NUMBER", "soon")])), None);
        assert_eq!(detect(&env(&[("GITLAB_CI", ""), ("CI_PIPELINE_IID", "7")])), None);
    }
}
