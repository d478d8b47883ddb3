//! What is found in small trees, and that the file can be read again.

use std::path::Path;

use super::*;
use crate::cli;
use crate::config::{self, Environment};

fn tree(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    folder
}

fn made(folder: &Path) -> (String, config::Settings) {
    let mut out = Vec::new();
    run(&Init::default(), folder, &mut out).unwrap();
    let cli = cli::parse(["idempost", "config"]).unwrap();
    let settings = config::load(&cli, &Environment::new(), folder).unwrap();
    assert_eq!(settings.warnings, Vec::<String>::new());
    (std::fs::read_to_string(folder.join(FILE_NAME)).unwrap(), settings)
}

fn langs(settings: &config::Settings) -> Vec<&str> {
    settings.langs.value.iter().map(crate::post::lang::Lang::as_str).collect()
}

#[test]
fn languages_are_found_as_folders_and_suffixes() {
    let folder = tree(&["content/ko/a.md", "content/ja/a.md", "content/b.md", "content/b.zh-tw.md"]);
    let (_, settings) = made(folder.path());
    assert_eq!(langs(&settings), ["ja", "ko", "zh-TW"]);
    let folder = tree(&["content/i18n/fr/a.md", "content/en/a.md"]);
    assert_eq!(langs(&made(folder.path()).1), ["en", "fr"]);
}

#[test]
fn a_dot_in_a_name_is_no_language() {
    let folder = tree(&["content/v2.is.md", "content/node.js.md", "content/x.md"]);
    let (text, settings) = made(folder.path());
    assert!(settings.langs.is_default(), "{text}");
}

#[test]
fn one_folder_alone_is_only_a_remark() {
    let folder = tree(&["content/ts/a.md", "content/b.md"]);
    let (text, settings) = made(folder.path());
    assert!(settings.langs.is_default());
    assert!(text.contains("# langs = [\"ts\"]"), "{text}");
}

#[test]
fn the_language_of_most_files_is_proposed_where_english_is_none_of_them() {
    let folder = tree(&["posts/ko/a.md", "posts/ko/b.md", "posts/ja/a.md"]);
    let (_, settings) = made(folder.path());
    assert_eq!(settings.default_lang.value.as_str(), "ko");
    assert_eq!(settings.content.shown, "posts");
}

#[test]
fn a_generator_is_known_by_its_files() {
    let folder = tree(&["_config.yml", "_posts/2024-01-02-a.md"]);
    let (text, settings) = made(folder.path());
    assert_eq!(settings.preset.value.as_str(), "jekyll");
    assert_eq!(settings.content.shown, "_posts");
    assert!(text.contains("_config.yml is here"));
}

#[test]
fn zola_and_an_older_hugo_are_told_apart_by_what_their_file_says() {
    for (text, preset) in [("base_url = \"https://a.example\"\n", "zola"), ("baseURL = \"/\"\n", "hugo")] {
        let folder = tree(&["content/a.md"]);
        std::fs::write(folder.path().join("config.toml"), text).unwrap();
        assert_eq!(made(folder.path()).1.preset.value.as_str(), preset);
    }
    let folder = tree(&["content/a.md", "config.toml"]);
    assert!(made(folder.path()).1.preset.is_default(), "a file that says neither");
}

#[test]
fn the_folder_of_the_posts_comes_before_the_folder_of_everything() {
    let folder = tree(&["astro.config.mjs", "src/content/blog/ko/a.md", "src/content/blog/en/a.md"]);
    let (_, settings) = made(folder.path());
    assert_eq!(settings.content.shown, "src/content/blog");
    assert_eq!(langs(&settings), ["en", "ko"]);
}

#[test]
fn a_file_that_is_there_is_left_alone() {
    let folder = tree(&["content/a.md"]);
    std::fs::write(folder.path().join(FILE_NAME), "source = \"mine\"\n").unwrap();
    let failure = run(&Init::default(), folder.path(), &mut Vec::new()).unwrap_err();
    assert!(failure.message.contains("nothing was written"));
    assert_eq!(std::fs::read_to_string(folder.path().join(FILE_NAME)).unwrap(), "source = \"mine\"\n");
    let nowhere = Init { folder: Some("gone".into()), content: None };
    assert!(run(&nowhere, folder.path(), &mut Vec::new()).is_err());
}

#[test]
fn every_line_that_is_a_comment_is_a_line_that_can_be_said() {
    let folder = tree(&["content/a.md"]);
    let (text, _) = made(folder.path());
    let said: Vec<&str> = text
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.split_once(" = ").is_some_and(|(key, _)| !key.contains(' ')) => rest,
            _ => line,
        })
        .collect();
    let said = said.join("\n");
    std::fs::write(folder.path().join(FILE_NAME), &said).unwrap();
    let cli = cli::parse(["idempost", "config"]).unwrap();
    let settings = config::load(&cli, &Environment::new(), folder.path()).unwrap();
    assert_eq!(settings.source.value.as_deref(), Some("main-site"), "{said}");
    assert_eq!(settings.timezone.value, "UTC");
}
