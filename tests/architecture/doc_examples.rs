//! Tests that no two documentation examples of a crate define the same operator.
//!
//! Rustdoc compiles the examples of a crate as one program, in which two operators of one name are an error. Then it compiles each example
//! on its own, without a message, which takes many times as long.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::manifests::read_members;

#[test]
fn documentation_examples_of_a_crate_define_each_operator_once() {
    let root = crate::workspace_root();
    let mut count = 0;
    for member in read_members(root) {
        let mut files = Vec::new();
        crate::collect_rust_files(&root.join(&member.folder).join("src"), &mut files);
        let texts: Vec<String> = files.iter().flat_map(|file| doc_texts_of_file(file)).collect();
        let operators = count_operator_definitions(&texts);
        count += operators.len();
        let repeated: Vec<_> = operators.iter().filter(|(_, examples)| **examples > 1).collect();
        assert!(
            repeated.is_empty(),
            "{}: these operators are defined by several examples: {repeated:?}; rename them, or mark an example `standalone_crate`",
            member.name
        );
    }
    assert!(count > 50, "{count}");
}

#[test]
fn an_operator_of_two_merged_examples_is_found() {
    let example = |info: &str, name: &str| format!("```{info}\n#[op_def(\"{name}(Tensor self) -> Tensor\")]\n```\n");
    let counts = |texts: &[String]| count_operator_definitions(texts).into_values().collect::<Vec<_>>();
    assert_eq!(counts(&[example("", "twice") + "text\n" + &example("rust", "twice")]), [2]);
    assert_eq!(counts(&[example("", "twice"), example("should_panic", "twice")]), [2]);
    assert_eq!(counts(&[example("", "twice"), example("", "a::twice")]), [1, 1]);
    for info in ["standalone_crate", "rust,standalone_crate", "compile_fail", "ignore", "text", "toml"] {
        assert_eq!(counts(&[example("", "twice"), example(info, "twice")]), [1], "{info}");
    }
}

/// Returns how many examples define each operator. Counts only the examples that rustdoc compiles as one program.
fn count_operator_definitions(texts: &[String]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for text in texts {
        // Every second piece is an example, which begins with the rest of the line of its fence.
        for example in text.split("```").skip(1).step_by(2) {
            let (info, code) = example.split_once('\n').unwrap_or((example, ""));
            let is_merged = info.split(',').all(|word| matches!(word.trim(), "" | "rust" | "no_run" | "should_panic"));
            for definition in code.split("#[op_def(\"").skip(1).filter(|_| is_merged) {
                *counts.entry(definition.split('(').next().unwrap_or_default()).or_insert(0) += 1;
            }
        }
    }
    counts
}

/// Returns the text of a source file's documentation comments, and of the files that it includes as documentation.
fn doc_texts_of_file(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let comment = |line: &str| {
        let line = line.trim_start();
        let words = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
        Some(format!("{}\n", words.strip_prefix(' ').unwrap_or(words)))
    };
    let included = text.split("#[doc = include_str!(\"").skip(1).filter_map(|rest| rest.split('"').next());
    let folder = file.parent().unwrap();
    let included = included.map(|path| fs::read_to_string(folder.join(path)).unwrap());
    std::iter::once(text.lines().filter_map(comment).collect()).chain(included).collect()
}
