//! Outputs and gradients of the recorded programs agree with PyTorch's.

use std::collections::BTreeMap;

use aten::prelude::*;
use dispatch_autograd::Differentiable as _;
use dispatch_files::load_safetensors;
use dispatch_nn::Module as _;
use dispatch_pt2::Program;
use dispatch_runtime::{DType, Tensor, Value};

use super::{archive, program};

const EXPECTED: &str = "tests/runs/expected.safetensors";

/// The recorded tensors of one run, by their names below the run.
type Run = BTreeMap<String, Tensor>;

/// Returns the runs of each recorded program.
fn recorded() -> BTreeMap<String, BTreeMap<usize, Run>> {
    let mut programs: BTreeMap<String, BTreeMap<usize, Run>> = BTreeMap::new();
    for (key, tensor) in load_safetensors(EXPECTED).unwrap() {
        let [program, run, rest] = *key.splitn(3, '/').collect::<Vec<_>>() else { panic!("{key}") };
        let run = programs.entry(program.to_owned()).or_default().entry(run.parse().unwrap()).or_default();
        run.insert(rest.to_owned(), tensor);
    }
    programs
}

/// Returns the tensors `PREFIX/0`, `PREFIX/1` and so on.
fn numbered(run: &Run, prefix: &str) -> Vec<Tensor> {
    (0..).map_while(|at| run.get(&format!("{prefix}/{at}")).cloned()).collect()
}

fn difference(found: &Tensor, expected: &Tensor) -> f64 {
    assert_eq!((found.sizes(), found.dtype()), (expected.sizes(), expected.dtype()));
    if expected.geometry().count() == 0 {
        return 0.0;
    }
    let [found, expected] = [found, expected].map(|tensor| tensor.detach().unwrap().to(DType::F64).unwrap());
    let largest = |tensor: &Tensor| tensor.abs().unwrap().amax().unwrap().item::<f64>().unwrap();
    largest(&(&found - &expected).unwrap()) / largest(&expected).max(1e-3)
}

fn tolerance(tensor: &Tensor) -> f64 {
    if tensor.dtype() == DType::BF16 { 1.6e-2 } else { 1e-5 }
}

/// Runs a program once, and compares the outputs and the gradients.
fn check_run(program: &Program, name: &str, run: &Run) {
    let inputs = numbered(run, "in").into_iter().map(|input| {
        let input = aten::clone(&input, None).unwrap();
        if input.dtype().is_floating() && name != "writes" && name != "writes_core" {
            input.requires_grad_(true).unwrap()
        } else {
            input
        }
    });
    let inputs: Vec<Tensor> = inputs.collect();
    let leaves = inputs.iter().map(Value::from).collect();
    let outputs = program.run_leaves(leaves).unwrap_or_else(|error| panic!("{name}: {error}"));
    let outputs: Vec<Tensor> = outputs.iter().filter_map(Value::as_tensor).cloned().collect();
    let expected = numbered(run, "out");
    assert_eq!(outputs.len(), expected.len(), "{name}");
    let is_random = name.starts_with("vmap_random");
    for (at, (output, expected)) in outputs.iter().zip(&expected).enumerate() {
        let found = difference(output, expected);
        assert!(is_random || found <= tolerance(expected), "{name}: output {at} differs by {found:e}");
    }
    if is_random || !run.keys().any(|key| key.starts_with("grad/")) {
        return;
    }
    let losses = outputs.iter().filter(|output| output.requires_grad()).map(|output| {
        let cotangent = Tensor::arange(0..output.geometry().count(), DType::F64).unwrap().cos().unwrap();
        let cotangent = cotangent.to(output.dtype()).unwrap().reshape(output.sizes()).unwrap();
        (output * &cotangent).unwrap().sum().unwrap().to(DType::F32).unwrap()
    });
    let loss = losses.reduce(|a, b| (a + b).unwrap()).unwrap();
    loss.backward().unwrap();
    let parameters = program.parameters().into_iter().map(|param| (param.name.clone(), param.grad()));
    let inputs = inputs.iter().enumerate().map(|(at, input)| (at.to_string(), input.grad()));
    for (key, gradient) in inputs.chain(parameters) {
        let expected = run.get(&format!("grad/{key}"));
        // PyTorch's control flow returns zeros for values that do not affect the results.
        let zeros = expected.map(|expected| (expected * 0.0).unwrap());
        match (gradient.or(zeros), expected) {
            (Some(gradient), Some(expected)) => {
                let found = difference(&gradient, expected);
                assert!(found <= tolerance(&loss), "{name}: the gradient of {key} differs by {found:e}");
            }
            (gradient, _) => assert!(gradient.is_none(), "{name}: unexpected gradient of {key}"),
        }
    }
}

#[test]
fn outputs_and_gradients_agree_with_pytorch() {
    let (archive, recorded) = (archive(), recorded());
    assert!(recorded.len() >= 30);
    for name in archive.program_names() {
        let Some(runs) = recorded.get(name.strip_suffix("_core").unwrap_or(name)) else { continue };
        for run in runs.values() {
            // Each run starts without gradients.
            let program = archive.program(name).unwrap_or_else(|error| panic!("{name}: {error}"));
            check_run(&program, name, run);
        }
    }
}

#[test]
fn samples_of_a_random_region_differ_as_its_randomness_tells() {
    for (name, same) in [("vmap_random_same", true), ("vmap_random_different", false)] {
        let output = program(name).run(Tensor::zeros((3, 4), DType::F32).unwrap()).unwrap();
        let output = output.as_tensor().unwrap().to_vec::<f32>().unwrap();
        assert_eq!(output[..4] == output[4..8], same, "{name}: {output:?}");
        assert!(output.iter().any(|number| number.to_bits() != output[0].to_bits()));
    }
}

#[test]
fn a_map_of_no_slices_is_refused() {
    let program = program("map_dynamic");
    let error = program.run(Tensor::zeros((0, 4), DType::F32).unwrap()).unwrap_err();
    assert!(error.to_string().contains("size 0"), "{error}");
}
