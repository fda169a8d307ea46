//! Calls that PyTorch refuses are refused before an operator runs, and other calls are not.

use dispatch_pt2::{Program, Pt2Problem};
use dispatch_runtime::{DType, Device, Tensor, Value};
use serde_json::Value as Json;

fn program(name: &str) -> Program {
    Program::load(format!("tests/checks/{name}.pt2")).unwrap()
}

fn ones(dtype: DType, sizes: &[i64]) -> Value {
    aten::ones(sizes, Some(dtype), None, Some(Device::CPU), None).unwrap().into()
}

/// Makes an argument from its recording: `["f32", 2, 3]` is a tensor of ones.
fn argument(json: &Json) -> Value {
    match json {
        Json::Null => Value::None,
        Json::Bool(value) => (*value).into(),
        Json::String(text) => Value::from(text.as_str()),
        Json::Number(number) => number.as_i64().map_or_else(|| number.as_f64().unwrap().into(), Value::from),
        Json::Array(items) => {
            let dtype = match items[0].as_str().unwrap() {
                "f32" => DType::F32,
                "f64" => DType::F64,
                _ => DType::I64,
            };
            ones(dtype, &items[1..].iter().map(|size| size.as_i64().unwrap()).collect::<Vec<_>>())
        }
        Json::Object(_) => panic!("an argument is no object"),
    }
}

#[test]
fn the_calls_that_pytorch_refuses_are_refused() {
    let records: Json = serde_json::from_str(include_str!("calls.json")).unwrap();
    let (mut refused, mut accepted) = (0, 0);
    for record in records.as_array().unwrap() {
        let name = record["program"].as_str().unwrap();
        let program = program(name);
        for call in record["calls"].as_array().unwrap() {
            let leaves = call["arguments"].as_array().unwrap().iter().map(argument).collect();
            match (program.run_leaves(leaves), call["refused"].as_str()) {
                (Ok(_), None) => accepted += 1,
                (Err(error), Some(_)) => {
                    assert!(matches!(*error.problem, Pt2Problem::Input { .. }), "{name}: {call}: {error}");
                    refused += 1;
                }
                (ours, _) => panic!("{name}: {call}: {ours:?}"),
            }
        }
    }
    assert!(refused > 20 && accepted > 15, "{refused} refused, {accepted} accepted");
}

/// Returns the error of a call, without the path of the file.
fn refusal(name: &str, leaves: Vec<Value>) -> String {
    program(name).run_leaves(leaves).unwrap_err().problem.to_string()
}

fn f32s(sizes: &[i64]) -> Value {
    ones(DType::F32, sizes)
}

#[test]
fn a_refusal_names_the_argument_the_dimension_and_both_sizes() {
    let cases = [
        (
            refusal("equal", vec![f32s(&[4, 7]), f32s(&[4, 5])]),
            "argument `y`: dimension 1 is 5, and must be 7 (as dimension 1 of `x`)",
        ),
        (
            refusal("derived", vec![f32s(&[5, 2]), f32s(&[5, 3]), f32s(&[10])]),
            "argument `y`: dimension 0 is 5, and must be 6 (s77 + 1, and dimension 0 of `x` is s77 = 5)",
        ),
        (
            refusal("derived", vec![f32s(&[13, 2]), f32s(&[14, 3]), f32s(&[26])]),
            "argument `z`: dimension 0 is 26, and must be at most 24",
        ),
        (
            refusal("derived", vec![f32s(&[5, 3]), f32s(&[6, 3]), f32s(&[10])]),
            "argument `x`: dimension 1 is 3, and must be 2 (the size in the example; export with `dynamic_shapes` to allow others)",
        ),
        (
            refusal("hidden", vec![f32s(&[9]), f32s(&[11])]),
            "argument `x`: dimension 0 is 9, and must be 2*s2 for an integer s2",
        ),
        (
            refusal("guarded", vec![f32s(&[5, 2]), f32s(&[10, 2]), f32s(&[13])]),
            "argument `options.mask`: the program requires options.mask.size(0) % 4 == 0, and options.mask.size(0) is 13",
        ),
        (
            refusal(
                "specialised",
                vec![f32s(&[3]), 4.into(), true.into(), Value::from("relu"), Value::None, 2.5.into()],
            ),
            "argument `n`: it is 4, and must be 3, because the program was exported with this value",
        ),
        (refusal("counts", vec![f32s(&[2, 3]), 2.5.into()]), "argument `n`: it is 2.5, and must be an integer"),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}

#[test]
fn an_operator_that_refuses_a_dtype_names_the_argument() {
    let program = Program::load("tests/programs/mlp.pt2").unwrap();
    let error = program.run_leaves(vec![ones(DType::F64, &[1, 4])]).unwrap_err().to_string();
    assert!(error.starts_with("`tests/programs/mlp.pt2`: node `linear`"), "{error}");
    assert!(error.ends_with("; argument `x` is float64, and was float32 in the example"), "{error}");
}

#[test]
fn dtype_rank_and_kind_are_checked() {
    let cases = [
        (
            refusal("equal", vec![ones(DType::I64, &[4, 6]), f32s(&[4, 6])]),
            "argument `x`: its dtype is int64, and must be float32",
        ),
        (
            refusal("equal", vec![f32s(&[4, 6]), f32s(&[4])]),
            "argument `y`: it has 1 dimensions, and must have 2: [any, any]",
        ),
        (refusal("equal", vec![f32s(&[4, 6]), 1.5.into()]), "argument `y`: it is 1.5, and must be a tensor"),
        (
            refusal("specialised", vec![f32s(&[3]), 3.into(), true.into(), Value::from("relu"), f32s(&[]), 2.5.into()]),
            "argument `nothing`: it is a tensor, and must be None, because the program was exported with this value",
        ),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}

#[test]
fn number_and_structure_of_arguments_are_checked() {
    let problem = |result: Result<dispatch_pt2::Tree, dispatch_pt2::Pt2Error>| result.unwrap_err().problem;
    let equal = program("equal");
    let x = Tensor::from([[1.0_f32, 2.0]]);
    for inputs in [vec![x.clone()], vec![x.clone(), x.clone(), x.clone()], vec![]] {
        assert!(matches!(*problem(equal.run(inputs)), Pt2Problem::Arguments { .. }));
    }
    let guarded = program("guarded");
    let error = problem(guarded.run(dispatch_pt2::Inputs::new().with(&x).named("options", &x)));
    assert!(error.to_string().contains("`parts` must be a tuple"), "{error}");
}

#[test]
fn a_tensor_on_another_device_than_the_state_is_refused() {
    let program = Program::load("tests/programs/mlp.pt2").unwrap();
    let x = aten::ones(&[2, 4], Some(DType::F32), None, Some(Device::META), None).unwrap();
    let error = program.run(x).unwrap_err();
    assert!(error.to_string().contains("meta"), "{error}");
}
