//! The tensors of a program's state: dtypes, geometries, aliases, ties.

#![allow(clippy::float_cmp, reason = "the numbers are exact")]

use aten::prelude::*;
use std::collections::BTreeMap;

use dispatch_autograd::Differentiable;
use dispatch_files::load_safetensors;
use dispatch_nn::Module;
use dispatch_pt2::{Archive, Inputs, PayloadProblem, Program, Pt2Error, Pt2Problem, Tree};
use dispatch_runtime::{DType, Tensor};
use serde_json::{Value, json};

use crate::zip_builder::{PYTORCH, program_path, with_changed_entry, with_changed_json, write_zip};

fn load(name: &str) -> Program {
    Program::load(program_path(name)).unwrap()
}

fn sample_inputs(name: &str) -> Inputs {
    Archive::open(program_path(name)).unwrap().sample_inputs("model").unwrap().unwrap()
}

/// Returns PyTorch's outputs of a program.
fn expected(name: &str) -> Vec<Vec<f64>> {
    let all = load_safetensors(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/expected.safetensors")).unwrap();
    let outputs = (0..).map_while(|at| all.get(&format!("{name}.{at}")));
    outputs.map(to_f64).collect()
}

fn to_f64(tensor: &Tensor) -> Vec<f64> {
    match tensor.dtype() {
        DType::F64 => tensor.to_vec().unwrap(),
        _ => tensor.to_vec::<f32>().unwrap().into_iter().map(f64::from).collect(),
    }
}

fn assert_outputs(name: &str, output: &Tree) {
    let (expected, found) = (expected(name), output.tensors());
    assert_eq!(found.len(), expected.len(), "{name}");
    for (found, expected) in found.iter().zip(expected) {
        let found = to_f64(&found.detach().unwrap());
        assert_eq!(found.len(), expected.len(), "{name}");
        let close = found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() <= 1e-6);
        assert!(close, "{name}: {found:?} is not {expected:?}");
    }
}

fn buffer(program: &Program, name: &str) -> Tensor {
    program.buffers().into_iter().find(|(found, _)| found == name).unwrap().1
}

#[test]
fn programs_of_every_kind_of_state_give_pytorchs_outputs() {
    for name in ["mlp", "mlp_core", "nested", "tied", "constants", "frozen", "dtypes", "strided", "views"] {
        let program = load(name);
        assert_outputs(name, &program.run(sample_inputs(name)).unwrap());
    }
}

#[test]
fn each_dtype_of_the_runtime_is_read() {
    let program = load("dtypes");
    let dtypes: BTreeMap<String, DType> =
        program.buffers().into_iter().map(|(name, tensor)| (name, tensor.dtype())).collect();
    assert_eq!(dtypes.len(), 17);
    assert_eq!((dtypes["of_bool"], dtypes["of_bfloat16"]), (DType::Bool, DType::BF16));
    assert_eq!((dtypes["of_float8_e4m3fn"], dtypes["of_complex128"]), (DType::F8E4M3FN, DType::C128));
}

#[test]
fn geometries_are_those_of_the_file() {
    let program = load("strided");
    let geometry = |tensor: &Tensor| (tensor.sizes().to_vec(), tensor.strides().to_vec(), tensor.geometry().offset());
    assert_eq!(geometry(&program.parameters()[0].param), (vec![3, 2], vec![1, 3], 0));
    assert_eq!(geometry(&buffer(&program, "expanded")), (vec![3, 4], vec![1, 0], 0));
    assert_eq!(geometry(&buffer(&program, "every_second")), (vec![4], vec![2], 1));
    assert_eq!(geometry(&buffer(&program, "scalar")), (vec![], vec![], 0));
    assert_eq!(buffer(&program, "empty").sizes(), [0, 4]);
}

#[test]
fn a_write_to_a_buffer_is_seen_in_its_views() {
    let program = load("views");
    let (whole, tail) = (buffer(&program, "whole"), buffer(&program, "tail"));
    assert!(whole.storage().same(tail.storage()));
    let before: Vec<f32> = whole.to_vec().unwrap();
    let output = program.run(Tensor::from([10.0_f32, 20.0])).unwrap();
    let after: Vec<f32> = whole.to_vec().unwrap();
    assert_eq!((after[4], after[5]), (before[4] + 10.0, before[5] + 20.0));
    assert_eq!(output.tensors()[0].to_vec::<f32>().unwrap(), after);
    assert_eq!(output.tensors()[1].to_vec::<f32>().unwrap()[5], after[5]);
}

#[test]
fn constants_are_buffers_that_are_not_saved_and_keep_their_aliases() {
    let program = load("constants");
    let saved: Vec<String> = program.state_dict().unwrap().into_keys().collect();
    assert_eq!(saved, ["persistent", "weight"]);
    assert_eq!(program.buffers().len(), 5);
    assert!(buffer(&program, "attribute").storage().same(buffer(&program, "end").storage()));
}

#[test]
fn a_tied_parameter_is_one_leaf_with_the_sum_of_its_gradients() {
    let program = load("tied");
    let parameters = program.parameters();
    assert_eq!(parameters.len(), 1);
    assert_eq!(program.state_dict().unwrap().len(), 2);
    let weight: Vec<f32> = parameters[0].param.detach().unwrap().to_vec().unwrap();
    let tokens = [0_usize, 1, 1, 4, 2, 0];
    let output = program.run(Tensor::from([[0_i64, 1, 1], [4, 2, 0]])).unwrap();
    // The gradient of the sum of all outputs: `sum of the rows of the weight` for each use of a token, and `sum of the embedded tokens` for
    // each row of the last layer.
    aten::sum(output.as_tensor().unwrap(), None).unwrap().backward().unwrap();
    let gradient: Vec<f32> = parameters[0].param.grad().unwrap().to_vec().unwrap();
    for row in 0..5 {
        for column in 0..3 {
            let rows: f32 = (0..5).map(|row| weight[row * 3 + column]).sum();
            let embedded: f32 = tokens.iter().map(|token| weight[token * 3 + column]).sum();
            let uses = tokens.iter().filter(|token| **token == row).count();
            let expected = (0..uses).map(|_| rows).sum::<f32>() + embedded;
            assert!((gradient[row * 3 + column] - expected).abs() < 1e-4);
        }
    }
}

#[test]
fn frozen_parameters_get_no_gradient() {
    let program = load("frozen");
    let output = program.run(sample_inputs("frozen")).unwrap();
    aten::sum(output.as_tensor().unwrap(), None).unwrap().backward().unwrap();
    let with_gradient: Vec<String> = program
        .parameters()
        .into_iter()
        .filter(|named| named.param.grad().is_some())
        .map(|named| {
            assert!(named.param.requires_grad());
            named.name
        })
        .collect();
    assert_eq!(with_gradient, ["trained.weight", "trained.bias"]);
    assert_eq!(program.parameters().len(), 4);
}

#[test]
fn programs_of_one_archive_share_the_data_that_the_file_has_once() {
    let x = || Tensor::from([[1.0_f32, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    for (file, shared) in [("two_programs", false), ("shared_data", true)] {
        let archive = Archive::open(program_path(file)).unwrap();
        let (plain, double) = (archive.program("plain").unwrap(), archive.program("double").unwrap());
        let first: Vec<f32> = plain.run(x()).unwrap().tensors()[0].detach().unwrap().to_vec().unwrap();
        let second: Vec<f32> = double.run(x()).unwrap().tensors()[0].detach().unwrap().to_vec().unwrap();
        assert_eq!(second, first.iter().map(|value| value * 2.0).collect::<Vec<_>>());
        let counts = [&plain, &double].map(|program| buffer(program, "count").item::<f32>().unwrap());
        assert_eq!(counts, if shared { [2.0, 2.0] } else { [1.0, 1.0] }, "{file}");
        let weight = |program: &Program| program.parameters()[0].param.storage().identity();
        assert_eq!(weight(&plain) == weight(&double), shared);
    }
}

#[test]
fn an_archive_can_be_dropped_before_its_programs() {
    let archive = Archive::open(program_path("mlp")).unwrap();
    let program = archive.program("model").unwrap();
    drop(archive);
    assert_outputs("mlp", &program.run(sample_inputs("mlp")).unwrap());
}

#[test]
fn unknown_operators_are_reported_at_once_with_their_modules() {
    let error = Program::load(program_path("unknown_operator")).unwrap_err();
    let Pt2Problem::UnknownOperators(unknown) = &*error.problem else { panic!("{error}") };
    let found: Vec<_> = unknown.iter().map(|operator| (&*operator.target, &*operator.module)).collect();
    let expected = [
        ("torch.ops.aten.relux.default", "blocks.0"),
        ("torch.ops.mylib.squash.default", "blocks.0"),
        ("torch.ops.aten.sigmoid.Other", ""),
    ];
    assert_eq!(found, expected);
    let text = error.to_string();
    for words in ["3 unknown operators", "did you mean aten::relu", "link the crate", "no such overload"] {
        assert!(text.contains(words), "{text}");
    }
}

/// Returns the error of `mlp` after a change of the record of its first weight.
fn payload_error(change: impl FnOnce(&mut Value)) -> Pt2Error {
    let bytes = with_changed_json("mlp", "data/weights/model_weights_config.json", |config| {
        change(&mut config["config"]["hidden.weight"]);
    });
    Archive::from_bytes(bytes).unwrap().program("model").unwrap_err()
}

fn assert_payload(expected: &PayloadProblem, change: impl FnOnce(&mut Value)) {
    let error = payload_error(change);
    let Pt2Problem::Payload { tensor, reason } = &*error.problem else { panic!("{error}") };
    assert_eq!((&**tensor, reason), ("hidden.weight", expected));
}

#[test]
fn unusable_data_of_a_tensor_are_refused_with_its_name() {
    let meta = |key: &'static str, value: Value| move |payload: &mut Value| payload["tensor_meta"][key] = value;
    let int = |value: i64| json!({ "as_int": value });
    assert_payload(&PayloadProblem::Pickled, |payload| payload["use_pickle"] = json!(true));
    assert_payload(&PayloadProblem::NotAParameter, |payload| payload["is_param"] = json!(false));
    for path_name in ["/etc/passwd", "../../x", "", "model_weights_config.json", "a\\b"] {
        let expected = PayloadProblem::OutsideFolder { path_name: path_name.to_owned(), folder: "data/weights/" };
        assert_payload(&expected, |payload| payload["path_name"] = json!(path_name));
    }
    for id in [0, 9, 28, 34, 35, 99, -1, i64::MAX] {
        assert_payload(&PayloadProblem::DType { id }, meta("dtype", json!(id)));
    }
    for id in [0, 1, 2, 6, 8, -1] {
        assert_payload(&PayloadProblem::Layout { id }, meta("layout", json!(id)));
    }
    assert_payload(&PayloadProblem::RankMismatch { sizes: 1, strides: 2 }, meta("sizes", json!([int(32)])));
    let expression = json!({ "as_expr": { "expr_str": "s0", "hint": int(8) } });
    assert_payload(&PayloadProblem::NotANumber, meta("sizes", json!([expression, int(4)])));
    assert_payload(&PayloadProblem::NotANumber, meta("storage_offset", json!({ "as_bool": true })));
    let negative = |quantity| PayloadProblem::Negative { quantity, value: -1 };
    assert_payload(&negative("size"), meta("sizes", json!([int(-1), int(4)])));
    assert_payload(&negative("stride"), meta("strides", json!([int(4), int(-1)])));
    assert_payload(&negative("storage offset"), meta("storage_offset", int(-1)));
    // The 32 elements of the weight are 128 bytes.
    let short = |needed: &str, found| PayloadProblem::TooShort { needed: needed.to_owned(), found };
    assert_payload(&short("33", 32), meta("storage_offset", int(1)));
    assert_payload(&short("36", 32), meta("sizes", json!([int(9), int(4)])));
    assert_payload(&short("32", 16), meta("dtype", json!(5)));
    let large = json!([int(i64::MAX), int(i64::MAX)]);
    let error = payload_error(|payload| {
        payload["tensor_meta"]["sizes"] = large.clone();
        payload["tensor_meta"]["strides"] = large;
    });
    assert!(error.to_string().contains("the data have 32"), "{error}");
    // An expanded tensor of more elements than numbers can count.
    let error = payload_error(|payload| {
        payload["tensor_meta"]["sizes"] = json!([int(i64::MAX), int(i64::MAX)]);
        payload["tensor_meta"]["strides"] = json!([int(0), int(0)]);
    });
    assert!(matches!(&*error.problem, Pt2Problem::Payload { .. }), "{error}");
}

#[test]
fn data_of_a_wrong_size_are_refused() {
    let error = |size: usize| {
        let entries = with_changed_entry("mlp", "data/weights/weight_0", |entry| entry.data.truncate(size));
        Program::from_bytes(write_zip(&entries, PYTORCH)).unwrap_err().to_string()
    };
    assert!(error(127).contains("127 bytes are not a whole number of elements of 4 bytes"), "{}", error(127));
    assert!(error(124).contains("needs 32 elements, and the data have 31"), "{}", error(124));
    // PyTorch makes zeros of an empty file.
    assert!(error(0).contains("the data have 0"), "{}", error(0));
}

#[test]
fn a_tensor_without_elements_needs_no_data_wherever_it_begins() {
    let bytes = with_changed_json("strided", "data/weights/model_weights_config.json", |config| {
        config["config"]["empty"]["tensor_meta"]["storage_offset"] = json!({ "as_int": i64::MAX });
    });
    let program = Program::from_bytes(bytes).unwrap();
    assert_outputs("strided", &program.run(sample_inputs("strided")).unwrap());
}

#[test]
fn lists_of_tensors_are_needed() {
    for (name, kind) in [("weights", "weights"), ("constants", "constants")] {
        let config = format!("data/{name}/model_{kind}_config.json");
        let rename = |to: String| {
            let entries = with_changed_entry("mlp", &config, |entry| entry.name = to);
            Program::from_bytes(write_zip(&entries, PYTORCH)).unwrap_err().to_string()
        };
        let error = rename("mlp/x".to_owned());
        assert!(error.contains(&format!("no entry `{config}`")), "{error}");
        let error = rename(format!("mlp/data/{name}/model.pt"));
        assert!(error.contains("a pickle of all tensors"), "{error}");
    }
}

#[test]
fn a_buffer_with_the_data_of_a_parameter_gets_no_gradient() {
    let program = load("shared_with_buffer");
    let output = program.run(sample_inputs("shared_with_buffer")).unwrap();
    aten::sum(output.as_tensor().unwrap(), None).unwrap().backward().unwrap();
    let (weight, copy) = (&program.parameters()[0].param, buffer(&program, "copy"));
    assert!(weight.storage().same(copy.storage()) && weight.requires_grad() && !copy.requires_grad());
    // x * weight * copy, of which the copy counts as a constant.
    let expected: Vec<f32> = copy.to_vec::<f32>().unwrap().iter().map(|value| value * 2.0).collect();
    assert_eq!(weight.grad().unwrap().to_vec::<f32>().unwrap(), expected);
}
