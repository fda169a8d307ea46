//! Sample inputs: the arguments of the export's example.

use aten::prelude::*;
use dispatch_pt2::{Archive, Program, Pt2Problem};

use crate::zip_builder::{Entry, PYTORCH, program_path, with_changed_entry, write_zip};

fn with_samples(data: &[u8]) -> Archive {
    let change = |entry: &mut Entry| entry.data = data.to_vec();
    Archive::from_bytes(write_zip(&with_changed_entry("mlp", "data/sample_inputs/model.pt", change), PYTORCH)).unwrap()
}

#[test]
fn containers_and_named_arguments_reach_the_program() {
    let archive = Archive::open(program_path("structured")).unwrap();
    let inputs = archive.sample_inputs("model").unwrap().unwrap();
    let output = archive.program("model").unwrap().run(inputs).unwrap();
    let result: Vec<f32> = output.get("result").unwrap().as_tensor().unwrap().to_vec().unwrap();
    // first * 3 + second - shift + bias, of the numbers in record.py.
    #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
    let number = |at: i64| ((at % 17) - 8) as f32 / 4.0;
    let expected = [0, 1].map(|at| number(1 + at) * 3.0 + number(5 + at) - number(9 + at) + number(11 + at));
    assert_eq!(result, expected);
}

#[test]
fn samples_may_be_absent() {
    assert!(with_samples(b"").sample_inputs("model").unwrap().is_none());
    let change = |entry: &mut Entry| entry.name = "mlp/other".to_owned();
    let entries = with_changed_entry("mlp", "data/sample_inputs/model.pt", change);
    assert!(Archive::from_bytes(write_zip(&entries, PYTORCH)).unwrap().sample_inputs("model").unwrap().is_none());
}

#[test]
fn samples_of_an_unknown_program_are_an_error() {
    let error = with_samples(b"").sample_inputs("other").unwrap_err();
    assert!(matches!(&*error.problem, Pt2Problem::NoProgram { found, .. } if *found == ["model"]), "{error}");
}

#[test]
fn damaged_and_foreign_samples_are_errors_of_the_samples_alone() {
    for data in [&b"no archive"[..], &[0; 100]] {
        let archive = with_samples(data);
        let error = archive.sample_inputs("model").unwrap_err();
        assert!(matches!(*error.problem, Pt2Problem::SampleInputs(_)), "{error}");
        assert!(archive.program("model").is_ok());
    }
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/../files/tests/torch/");
    // A pickle that calls `os.system`.
    let command = std::fs::read(format!("{files}command.pt")).unwrap();
    let error = with_samples(&command).sample_inputs("model").unwrap_err();
    assert!(error.to_string().contains("system"), "{error}");
    // A state dict is no pair of arguments.
    let linear = std::fs::read(format!("{files}linear.pt")).unwrap();
    let error = with_samples(&linear).sample_inputs("model").unwrap_err();
    assert!(
        matches!(&*error.problem, Pt2Problem::Entry { entry, .. } if entry == "data/sample_inputs/model.pt"),
        "{error}"
    );
}

#[test]
fn samples_are_fresh_for_each_call() {
    let archive = Archive::open(program_path("mlp")).unwrap();
    let inputs = || archive.sample_inputs("model").unwrap().unwrap();
    let program = Program::load(program_path("mlp")).unwrap();
    assert_eq!(
        program.run(inputs()).unwrap().tensors()[0].detach().unwrap().to_vec::<f32>().unwrap(),
        program.run(inputs()).unwrap().tensors()[0].detach().unwrap().to_vec::<f32>().unwrap()
    );
}
