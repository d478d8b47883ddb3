//! What a CI tells of the run: an increasing number and who counts it, and where the run comes from.
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

/// Where a run comes from: told in plans and kept in the run's row, and nothing is decided by it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    /// Commit of the checkout.
    pub commit: Option<String>,
    /// Branch or tag, as the CI spells it.
    pub reference: Option<String>,
    /// Where the CI shows the run.
    pub run: Option<String>,
}

/// Characters of one value that are kept.
const VALUE_CHARS_MAX: usize = 500;

/// One CI: the variable that tells it apart, those that name the commit, those that name branch or tag, and
/// the pieces of the run's address: variables with `$`, else text.
type Names = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const PROVENANCES: [Names; 9] = [
    (
        "GITHUB_ACTIONS",
        &["GITHUB_SHA"],
        &["GITHUB_REF"],
        &["$GITHUB_SERVER_URL", "/", "$GITHUB_REPOSITORY", "/actions/runs/", "$GITHUB_RUN_ID"],
    ),
    ("GITLAB_CI", &["CI_COMMIT_SHA"], &["CI_COMMIT_REF_NAME"], &["$CI_PIPELINE_URL"]),
    (
        "BITBUCKET_BUILD_NUMBER",
        &["BITBUCKET_COMMIT"],
        &["BITBUCKET_BRANCH", "BITBUCKET_TAG"],
        &["$BITBUCKET_GIT_HTTP_ORIGIN", "/pipelines/results/", "$BITBUCKET_BUILD_NUMBER"],
    ),
    ("BUILDKITE", &["BUILDKITE_COMMIT"], &["BUILDKITE_BRANCH"], &["$BUILDKITE_BUILD_URL"]),
    ("CIRCLECI", &["CIRCLE_SHA1"], &["CIRCLE_BRANCH", "CIRCLE_TAG"], &["$CIRCLE_BUILD_URL"]),
    ("DRONE", &["DRONE_COMMIT_SHA"], &["DRONE_COMMIT_REF", "DRONE_BRANCH"], &["$DRONE_BUILD_LINK"]),
    (
        "TF_BUILD",
        &["BUILD_SOURCEVERSION"],
        &["BUILD_SOURCEBRANCH"],
        &["$SYSTEM_COLLECTIONURI", "$SYSTEM_TEAMPROJECT", "/_build/results?buildId=", "$BUILD_BUILDID"],
    ),
    ("TRAVIS", &["TRAVIS_COMMIT"], &["TRAVIS_BRANCH"], &["$TRAVIS_BUILD_WEB_URL"]),
    ("JENKINS_URL", &["GIT_COMMIT"], &["GIT_BRANCH"], &["$BUILD_URL"]),
];

/// Where the run comes from, as far as a CI says. A commit is told without a CI too, where one of these
/// variables names it.
pub fn provenance(env: &Environment) -> Provenance {
    let set = |name: &&str| env.get(*name).filter(|value| !value.is_empty());
    let first = |names: &[&str]| names.iter().find_map(set).map(|value| cut(value));
    let ci = PROVENANCES.iter().find(|(marker, ..)| set(marker).is_some());
    let Some((_, commits, references, address)) = ci else {
        let commits: Vec<&str> = PROVENANCES.iter().flat_map(|(_, commits, ..)| *commits).copied().collect();
        return Provenance { commit: first(&commits), ..Provenance::default() };
    };
    let run: Option<String> = address
        .iter()
        .map(|piece| piece.strip_prefix('$').map_or(Some(*piece), |name| set(&name).map(String::as_str)))
        .collect();
    Provenance { commit: first(commits), reference: first(references), run: run.map(|run| cut(&run)) }
}

fn cut(value: &str) -> String {
    value.chars().take(VALUE_CHARS_MAX).collect()
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

    #[test]
    fn each_ci_tells_where_a_run_comes_from() {
        let told = |pairs: &[(&str, &str)]| {
            let Provenance { commit, reference, run } = provenance(&env(pairs));
            [commit, reference, run].map(Option::unwrap_or_default)
        };
        let github = [
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_SHA", "abc"),
            ("GITHUB_REF", "refs/heads/main"),
            ("GITHUB_SERVER_URL", "https://github.com"),
            ("GITHUB_REPOSITORY", "team/blog"),
            ("GITHUB_RUN_ID", "77"),
        ];
        assert_eq!(told(&github), ["abc", "refs/heads/main", "https://github.com/team/blog/actions/runs/77"]);
        assert_eq!(told(&github[..3]), ["abc", "refs/heads/main", ""], "half an address is none");
        let azure = [
            ("TF_BUILD", "True"),
            ("BUILD_SOURCEVERSION", "def"),
            ("BUILD_SOURCEBRANCH", "refs/heads/main"),
            ("SYSTEM_COLLECTIONURI", "https://dev.azure.com/team/"),
            ("SYSTEM_TEAMPROJECT", "blog"),
            ("BUILD_BUILDID", "5"),
        ];
        let address = "https://dev.azure.com/team/blog/_build/results?buildId=5";
        assert_eq!(told(&azure), ["def", "refs/heads/main", address]);
        for (marker, commit, reference, run) in [
            ("GITLAB_CI", "CI_COMMIT_SHA", "CI_COMMIT_REF_NAME", "CI_PIPELINE_URL"),
            ("BUILDKITE", "BUILDKITE_COMMIT", "BUILDKITE_BRANCH", "BUILDKITE_BUILD_URL"),
            ("CIRCLECI", "CIRCLE_SHA1", "CIRCLE_TAG", "CIRCLE_BUILD_URL"),
            ("DRONE", "DRONE_COMMIT_SHA", "DRONE_BRANCH", "DRONE_BUILD_LINK"),
            ("TRAVIS", "TRAVIS_COMMIT", "TRAVIS_BRANCH", "TRAVIS_BUILD_WEB_URL"),
            ("JENKINS_URL", "GIT_COMMIT", "GIT_BRANCH", "BUILD_URL"),
        ] {
            let pairs = [(marker, "1"), (commit, "c"), (reference, "r"), (run, "u")];
            assert_eq!(told(&pairs), ["c", "r", "u"], "{marker}");
        }
        assert_eq!(told(&[("GITHUB_SHA", "abc")]), ["abc", "", ""], "a commit is told without a CI");
        assert_eq!(told(&[]), ["", "", ""]);
    }

    #[test]
    fn every_ci_that_counts_tells_where_a_run_comes_from() {
        let counting: Vec<&str> = COUNTERS.iter().map(|(_, marker, ..)| *marker).collect();
        let telling: Vec<&str> = PROVENANCES.iter().map(|(marker, ..)| *marker).collect();
        assert_eq!(counting, telling);
    }
}
