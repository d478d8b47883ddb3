//! Posts that are made from something which changed, although their own files did not.

use std::collections::{BTreeSet, HashSet};

use rayon::prelude::*;

use super::targets::{Targets, name_of, names_of_target, nfc};
use super::{Catalog, cover_paths, may_be_asset, spellings};
use crate::post::Post;
use crate::post::links::Reference;

/// The files of the posts that refer to what changed: to a post whose file changed, to an asset that
/// did, or to a name that a changed file has, had, or might have had. The last is told by the name alone,
/// since what a file that is gone once made is not known; so there may be one too many, never one too few.
///
/// `changed` tells of a path whether it may have changed; `files` are the paths that did.
pub fn touched(
    catalog: &Catalog,
    changed: &(dyn Fn(&str) -> bool + Sync),
    files: &BTreeSet<String>,
) -> BTreeSet<String> {
    let targets = Targets::of(catalog);
    let names: HashSet<String> = files.iter().flat_map(|file| names_of_file(file)).collect();
    let one = |post: &Post| {
        let is_changed = |path: &str| spellings(path).iter().any(|path| changed(path));
        let by_reference = |reference: &Reference| {
            let post_of = targets.post(reference, post).and_then(|at| catalog.posts.get(at));
            post_of.is_some_and(|target| changed(&target.file))
                || names_of_target(reference, post)
                    .iter()
                    .any(|target| is_changed(target) || names.contains(name_of(&nfc(target))))
        };
        cover_paths(post).any(|path| may_be_asset(&path) && is_changed(&path))
            || post.references().iter().any(by_reference)
    };
    catalog.posts.par_iter().filter(|post| one(post)).map(|post| post.file.clone()).collect()
}

/// The names under which a link may mean a file: without extension and `index`, and without what may be
/// a language's suffix.
fn names_of_file(file: &str) -> Vec<String> {
    let path = nfc(file);
    let name = name_of(&path).to_owned();
    let bare = name.rsplit_once('.').map(|(stem, _)| {
        let index = stem.strip_suffix("index").filter(|folder| folder.is_empty() || folder.ends_with('/'));
        index.map_or(stem, |folder| folder.trim_end_matches('/')).to_owned()
    });
    bare.into_iter().chain([name]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::catalog::tests::rules;
    use crate::post::parse;

    fn touched_by(files: &[(&str, &str)], changed: &[&str]) -> Vec<String> {
        let rules = rules(&["en", "ko"]);
        let parsed = files
            .iter()
            .map(|(file, body)| {
                let text = format!("---\ndate: 2031-01-01\n---\n{body}\n");
                parse(file, false, text.as_bytes(), &rules)
            })
            .collect();
        let catalog = catalog::fold(parsed, Vec::new(), &rules);
        assert_eq!(catalog.posts.len(), files.len(), "{:?}", catalog.diagnostics);
        let set: BTreeSet<String> = changed.iter().map(|file| (*file).to_owned()).collect();
        touched(&catalog, &|path| set.contains(path), &set).into_iter().collect()
    }

    #[test]
    fn what_is_linked_to_is_what_a_post_is_made_from() {
        let files = [
            ("a.md", "[b](b.md)"),
            ("b.md", "nothing"),
            ("c.md", "[gone](gone.md) ![x](img/x.png)"),
            ("d.md", "[gone](../gone/)"),
            ("ko/e.md", "[b](../b) <img src=\"y.png\">"),
            ("f.md", "[elsewhere](https://example.com/b.md) `[b](b.md)`"),
        ];
        assert_eq!(touched_by(&files, &["b.md"]), ["a.md", "ko/e.md"]);
        assert_eq!(touched_by(&files, &["img/x.png"]), ["c.md"]);
        assert_eq!(touched_by(&files, &["ko/y.png"]), ["ko/e.md"]);
        assert_eq!(touched_by(&files, &["gone.md"]), ["c.md", "d.md"]);
        // A language's file of that name may be what the link means from now on.
        assert_eq!(touched_by(&files, &["gone.ko.md"]), ["c.md", "d.md"]);
        assert_eq!(touched_by(&files, &["gone/index.ko.md"]), ["c.md", "d.md"]);
        assert_eq!(touched_by(&files, &["x.png"]), [] as [&str; 0]);
    }
}
