//! Tests of the guide: each chapter is in the table of contents and is a doctest, links are valid, and compiler errors match the ui-tests.

use std::fs;
use std::path::Path;

use crate::workspace_root;

const CHAPTERS_FOLDER: &str = "docs/guide/src";

/// Returns file name and text of each chapter, sorted.
fn read_chapters() -> Vec<(String, String)> {
    let files = fs::read_dir(workspace_root().join(CHAPTERS_FOLDER)).unwrap().map(|entry| entry.unwrap().path());
    let read =
        |path: &Path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(path).unwrap());
    let mut chapters: Vec<_> = files.map(|path| read(&path)).filter(|(name, _)| name != "SUMMARY.md").collect();
    chapters.sort();
    chapters
}

#[test]
fn every_chapter_is_in_the_table_of_contents_and_a_doctest() {
    let read = |file: &str| fs::read_to_string(workspace_root().join(file)).unwrap();
    let contents = read("docs/guide/src/SUMMARY.md");
    let tested = read("src/lib.rs");
    let chapters = read_chapters();
    assert!(chapters.len() > 10);
    for (name, _) in chapters {
        assert!(contents.contains(&format!("({name})")), "{name} is not in SUMMARY.md");
        assert!(tested.contains(&format!("docs/guide/src/{name}\")]")), "{name} is not a doctest");
    }
}

#[test]
fn links_between_chapters_are_valid() {
    let chapters = read_chapters();
    for (name, text) in &chapters {
        for (_, link) in text.match_indices("](").map(|(at, open)| text.split_at(at + open.len())) {
            let target = link.split([')', '#']).next().unwrap_or_default();
            let exists = target.contains("://") || chapters.iter().any(|(other, _)| other == target);
            assert!(exists, "{name} links to {target}, which is not a chapter");
        }
    }
}

#[test]
fn compiler_errors_in_the_guide_match_the_ui_tests() {
    let mut known = Vec::new();
    for folder in fs::read_dir(workspace_root().join("ui-tests/fail")).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "stderr") {
                known.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    let mut count = 0;
    for (name, text) in read_chapters() {
        let blocks = text.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next());
        for error in blocks.filter(|block| block.starts_with("error")) {
            assert!(known.iter().any(|known| known.starts_with(error)), "{name}: no ui-test has this error\n{error}");
            count += 1;
        }
    }
    assert!(count > 5, "{count}");
}
