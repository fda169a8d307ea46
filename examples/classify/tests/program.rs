//! Runs the program, and compares its text with PyTorch's answer.

use std::process::{Command, Output};

/// PyTorch's answer for the model and the picture of this example, after torchvision's transforms.
const ANSWER: [&str; 5] = ["27.6 class 5", "12.9 class 3", "9.9 class 0", "9.6 class 1", "9.5 class 8"];

fn classify(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_classify"));
    command.args(arguments).current_dir(env!("CARGO_TARGET_TMPDIR")).output().expect("the program starts")
}

fn path(file: &str) -> String {
    format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_answer_is_that_of_pytorch() {
    for arguments in [vec![], vec![path("data/resnet18.pt2"), path("data/picture.png")]] {
        let output = classify(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let text = String::from_utf8_lossy(&output.stdout);
        let guesses = text.lines().filter_map(|line| {
            let (percent, rest) = line.split_once('%')?;
            Some(format!("{} {}", percent.trim(), rest.trim_start_matches(['#', ' '])))
        });
        assert_eq!(guesses.collect::<Vec<_>>(), ANSWER, "{text}");
        assert_eq!(text.contains("random weights"), arguments.is_empty());
    }
    let drawing = std::fs::read(format!("{}/target/classify.png", env!("CARGO_TARGET_TMPDIR"))).expect("a drawing");
    assert!(drawing.starts_with(b"\x89PNG"));
}

#[test]
fn mistakes_are_errors_that_say_what_to_do() {
    let (model, picture, other) =
        (path("data/resnet18.pt2"), path("data/picture.png"), path("../../pt2/tests/programs/mlp.pt2"));
    for (arguments, part) in [
        (&[&*model][..], "usage: classify"),
        (&["no/such/model.pt2", &picture], "no/such/model.pt2"),
        (&[&model, "no/such/picture.png"], "no/such/picture.png"),
        (&[&model, &model], "neither a PNG nor a JPEG"),
        (&[&picture, &picture], "zip archive"),
        (&[&other, &picture], "it takes (x: float32["),
    ] {
        let output = classify(arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(part), "{arguments:?}: {text}");
    }
}
