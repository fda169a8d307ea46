//! Tests of the program's text output and of its exit codes.

use std::fs;
use std::process::{Command, Output};

const MLP: &str = "tests/programs/mlp.pt2";

fn run_program(words: &[&str]) -> (String, String, Option<i32>) {
    let Output { stdout, stderr, status } = Command::new(env!("CARGO_BIN_EXE_pt2")).args(words).output().unwrap();
    (String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap(), status.code())
}

/// Runs a command that does its work, and returns its output.
fn run_well(words: &[&str]) -> String {
    let (out, errors, code) = run_program(words);
    assert_eq!((errors.as_str(), code), ("", Some(0)), "{words:?}");
    out
}

/// The line that begins with this word, as its words.
fn line<'a>(text: &'a str, first: &str) -> Vec<&'a str> {
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find(|words| words.first() == Some(&first)).unwrap_or_else(|| panic!("no line `{first}` in\n{text}"))
}

#[test]
fn show_has_operators_and_modules_with_their_costs() {
    let text = run_well(&["show", MLP]);
    assert!(
        text.starts_with(
            "program `model`: 3 nodes, 58 parameters in 4 tensors (232 B), 0 other tensors\ninputs: x float32[s77, 4]\n"
        ),
        "{text}"
    );
    // Three rows through matrices of 4 x 8 and 8 x 2: two operations for each element of the matrices, and the bias is added.
    assert_eq!(line(&text, "aten.linear.default")[1], "2");
    assert_eq!(line(&text, "(program)")[1..4], ["float32[s77,", "2]", "3"]);
    assert_eq!(line(&text, "hidden")[1..], ["float32[s77,", "8]", "1", "40", "160", "B", "216", "96", "B"]);
}

#[test]
fn run_prints_outputs_and_saves_them() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("outputs.safetensors");
    let text = run_well(&["run", MLP, "--output", saved.to_str().unwrap()]);
    assert_eq!(line(&text, "output")[..2], ["output", "value"]);
    assert!(text.contains("float32[3, 2] ["), "{text}");
    let outputs = dispatch_files::load_safetensors(&saved).unwrap();
    assert_eq!(outputs["output"].sizes(), [3, 2]);
}

#[test]
fn run_takes_inputs_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let input = dispatch_runtime::Tensor::from([[1.0_f32, 2.0, 3.0, 4.0]]);
    let (array, tensors) = (folder.path().join("x.npy"), folder.path().join("x.safetensors"));
    dispatch_files::save_npy(&array, &input).unwrap();
    dispatch_files::save_safetensors(&tensors, [("x", &input)]).unwrap();
    let [from_array, from_tensors] = [array, tensors].map(|path| {
        let text = run_well(&["run", MLP, path.to_str().unwrap()]);
        text.lines().nth(1).unwrap().to_owned()
    });
    assert!(from_array.contains("float32[1, 2]"), "{from_array}");
    assert_eq!(from_array, from_tensors);

    let wrong = folder.path().join("y.safetensors");
    dispatch_files::save_safetensors(&wrong, [("y", &input)]).unwrap();
    let (_, errors, code) = run_program(&["run", MLP, wrong.to_str().unwrap()]);
    assert!(errors.contains("has a tensor `y`, which is no input. The inputs are: x"), "{errors}");
    assert_eq!(code, Some(2));
}

#[test]
fn bench_prints_times_beside_those_of_pytorch() {
    let text = run_well(&["bench", MLP, "--threads", "1,2", "--seconds", "0.01", "--torch-ms", "1,2"]);
    assert!(text.starts_with("loaded in "), "{text}");
    let (one, two) = (line(&text, "1"), line(&text, "2"));
    assert_eq!((one.len(), one[7], two[7]), (9, "1.000", "2.000"), "{text}");

    let (_, errors, code) = run_program(&["bench", MLP, "--threads", "1,2", "--torch-ms", "1"]);
    assert_eq!(
        (errors.as_str(), code),
        ("error: --torch-ms has 1 figures, and there are 2 numbers of threads\n", Some(2))
    );
}

#[test]
fn diff_names_the_first_node_that_differs() {
    let same = run_well(&["diff", MLP, "--threads", "2"]);
    assert!(same.starts_with("3 calls are in both runs, 0 only in the first, 0 only in the second\n"), "{same}");
    assert!(same.ends_with("no difference above the tolerance\n"), "{same}");

    let (text, errors, code) = run_program(&["diff", MLP, "--dtype", "bf16", "--tolerance", "1e-7"]);
    assert_eq!((errors.as_str(), code), ("", Some(1)));
    assert!(text.contains("\nfirst difference: `linear` (aten::linear): the relative difference is "), "{text}");

    // The dialects have other nodes, and the outputs agree.
    let dialects = run_well(&["diff", "tests/golden/nn_mlp.raw.pt2", "--with", "tests/golden/nn_mlp.core.pt2"]);
    assert!(
        dialects.starts_with("1 calls are in both runs, 2 only in the first, 4 only in the second\n"),
        "{dialects}"
    );
    assert!(dialects.ends_with("no difference above the tolerance\n"), "{dialects}");

    let (text, _, code) = run_program(&["diff", MLP, "--with", "tests/programs/mlp_core.pt2"]);
    assert!(text.contains("\nthe largest relative difference is ") && text.contains(", at output 0\n"), "{text}");
    assert_eq!(code, Some(1));
}

#[test]
fn a_file_that_cannot_be_used_is_an_error() {
    let (out, errors, code) = run_program(&["show", "no/such/file.pt2"]);
    assert_eq!((out.as_str(), code), ("", Some(2)));
    assert!(errors.starts_with("error: `no/such/file.pt2`: "), "{errors}");

    let (_, errors, code) = run_program(&["show", "tests/programs/unknown_operator.pt2"]);
    assert!(errors.contains("torch.ops.aten.relux.default"), "{errors}");
    assert_eq!(code, Some(2));
    assert_eq!(run_program(&["check", "tests/programs"]).2, Some(2));
}

#[test]
fn check_counts_a_program_that_disagrees() {
    let folder = tempfile::tempdir().unwrap();
    for ending in ["json", "safetensors", "raw.pt2"] {
        fs::copy(format!("tests/golden/nn_mlp.{ending}"), folder.path().join(format!("renamed.{ending}"))).unwrap();
    }
    fs::copy("tests/programs/unknown_operator.pt2", folder.path().join("renamed.core.pt2")).unwrap();
    let (text, _, code) = run_program(&["check", folder.path().to_str().unwrap()]);
    assert!(text.ends_with("\n1 passed, 1 failed\n"), "{text}");
    assert!(text.contains("renamed (core), load: "), "{text}");
    assert_eq!(code, Some(1));
}

#[test]
fn completions_are_a_script() {
    assert!(run_well(&["completions", "bash"]).contains("pt2"));
}
