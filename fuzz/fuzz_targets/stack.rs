//! Fuzzes boxed calls: a stack of any values gives an error or a call, never a panic, and the operators return their arguments unchanged.
#![no_main]

use std::sync::LazyLock;

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex64, ErrorKind, Layout, MemoryFormat, Object};
use libfuzzer_sys::arbitrary::{Result as Decoded, Unstructured};
use libfuzzer_sys::fuzz_target;

/// An operator with one argument of every convertible type. It returns 16 of them, as an operator has at most 16 results.
#[op_def(
    "return_all_kinds(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d, int e, int[]? f, float g, float[] h, bool i, bool[] j, Scalar k, \
     Scalar[] l, complex m, str n, str[] o, ScalarType p, Layout q, MemoryFormat r, Device s, Generator? t, Any u) -> \
     (Tensor, Tensor?, Tensor[], Tensor?[], int, int[]?, float[], bool[], Scalar, Scalar[], str, str[], ScalarType, Device, \
     Generator?, Any)"
)]
#[rustfmt::skip]
fn return_all_kinds(
    a: &Tensor, b: Option<&Tensor>, c: &[Tensor], d: &[Option<Tensor>], e: i64, f: Option<&[i64]>, g: f64, h: &[f64], i: bool,
    j: &[bool], k: Scalar, l: &[Scalar], m: Complex64, n: &str, o: &[Str], p: DType, q: Layout, r: MemoryFormat, s: Device,
    t: Option<&Generator>, u: &Value,
) -> Result<(
    Tensor, Option<Tensor>, Vec<Tensor>, Vec<Option<Tensor>>, i64, Option<Vec<i64>>, Vec<f64>, Vec<bool>, Scalar, Vec<Scalar>, Str,
    Vec<Str>, DType, Device, Option<Generator>, Value,
)> {
    let _ = (g, i, m, q, r);
    Ok((
        a.clone(), b.cloned(), c.to_vec(), d.to_vec(), e, f.map(<[i64]>::to_vec), h.to_vec(), j.to_vec(), k, l.to_vec(), n.into(),
        o.to_vec(), p, s, t.cloned(), u.clone(),
    ))
}

/// An operator whose few arguments fit in the stack without allocation: one is written, one is optional. It has several results.
#[op_def("return_three_arguments(Tensor(a!) self, int n, str? name) -> (Tensor(a!), str?, int)")]
fn return_three_arguments(this: &mut Tensor, n: i64, name: Option<&str>) -> Result<(Option<Str>, i64)> {
    let _ = this.sizes();
    Ok((name.map(Str::from), n))
}

/// The kinds of values that each argument of an operator accepts, and the index of the argument that each result returns.
struct OperatorSignature {
    operator: &'static Operator,
    accepted: &'static [&'static [&'static str]],
    results: &'static [usize],
}

fn operator_cases() -> [OperatorSignature; 2] {
    [
        OperatorSignature {
            operator: return_all_kinds::operator(),
            accepted: &ACCEPTED_KINDS,
            results: &[0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 13, 14, 15, 18, 19, 20],
        },
        OperatorSignature {
            operator: return_three_arguments::operator(),
            accepted: &[&["Tensor"], &["int"], &["str", "None"]],
            results: &[0, 2, 1],
        },
    ]
}

/// The kinds of values that each argument of `return_all_kinds` accepts.
const ACCEPTED_KINDS: [&[&str]; 21] = [
    &["Tensor"],
    &["Tensor", "None"],
    &["Tensor[]"],
    &["Tensor?[]"],
    &["int"],
    &["int[]", "None"],
    &["float"],
    &["float[]"],
    &["bool"],
    &["bool[]"],
    &["bool", "int", "float", "complex"],
    &["Scalar[]"],
    &["complex"],
    &["str"],
    &["str[]"],
    &["ScalarType"],
    &["Layout"],
    &["MemoryFormat"],
    &["Device"],
    &["Generator", "None"],
    &[],
];

static SAMPLE_TENSOR: LazyLock<Tensor> = LazyLock::new(|| Tensor::from_slice(&[1.0_f32, 2.0]));

fn draw_value(input: &mut Unstructured<'_>, kind: u8) -> Decoded<Value> {
    let tensor = || SAMPLE_TENSOR.clone();
    Ok(match kind {
        0 => tensor().into(),
        1 => Value::None,
        2 => vec![tensor(); usize::from(input.arbitrary::<u8>()? % 4)].into(),
        3 => vec![input.arbitrary::<bool>()?.then(tensor), None].into(),
        4 => input.arbitrary::<i64>()?.into(),
        5 => input.arbitrary::<Vec<i64>>()?.into(),
        6 => input.arbitrary::<f64>()?.into(),
        7 => input.arbitrary::<Vec<f64>>()?.into(),
        8 => input.arbitrary::<bool>()?.into(),
        9 => input.arbitrary::<Vec<bool>>()?.into(),
        10 => Scalar::from(input.arbitrary::<i64>()?).into(),
        11 => input.arbitrary::<Vec<f64>>()?.into_iter().map(Scalar::from).collect::<Vec<_>>().into(),
        12 => Complex64::new(input.arbitrary()?, input.arbitrary()?).into(),
        13 => input.arbitrary::<&str>()?.into(),
        14 => input.arbitrary::<Vec<&str>>()?.into_iter().map(Str::from).collect::<Vec<_>>().into(),
        15 => DType::ALL[usize::from(input.arbitrary::<u8>()?) % DType::ALL.len()].into(),
        16 => Layout::Strided.into(),
        17 => MemoryFormat::Preserve.into(),
        18 => Device::CPU.with_index(input.arbitrary()?).unwrap_or(Device::CPU).into(),
        19 => Generator::new(Device::CPU, input.arbitrary()?).into(),
        20 => Value::Tuple(vec![Value::None, tensor().into()].into()),
        21 => Value::Dict(vec!["key".into(), tensor().into()].into()),
        _ => Object::new(input.arbitrary::<u8>()?).into(),
    })
}

/// Draws the kind of a value, mostly one that fits, so that complete calls succeed often.
fn draw_value_kind(input: &mut Unstructured<'_>, case: &OperatorSignature, position: usize) -> Decoded<u8> {
    let choice: u8 = input.arbitrary()?;
    let fitting = match (case.accepted.len(), position) {
        (3, 1) => 4,
        (3, 2) => 13,
        (_, position) => u8::try_from(position).unwrap_or(0),
    };
    Ok(if choice < 240 { fitting } else { choice - 240 + input.arbitrary::<u8>()? % 8 })
}

fn check_boxed_call(data: &[u8]) -> Decoded<()> {
    let mut input = Unstructured::new(data);
    let case = &operator_cases()[usize::from(input.arbitrary::<bool>()?)];
    let argument_count = case.accepted.len();
    let mut stack = Stack::new();
    let mut model: Vec<String> = Vec::new();
    // Values that belong to other calls are below the arguments. Sometimes one argument is missing.
    let below = usize::from(input.arbitrary::<u8>()? % 8);
    let count = argument_count + below - usize::from(input.arbitrary::<u8>()? > 250);
    for position in 0..count {
        let kind = draw_value_kind(&mut input, case, (position + argument_count * 8 - below) % argument_count)?;
        let value = draw_value(&mut input, kind)?;
        model.push(format!("{value:?}"));
        stack.push(value);
        if input.arbitrary::<u8>()? > 250 {
            assert_eq!(stack.pop().map(|value| format!("{value:?}")), model.pop());
        }
    }
    let printed = |stack: &Stack| stack.values().iter().map(|value| format!("{value:?}")).collect::<Vec<_>>();
    assert_eq!(printed(&stack), model);
    assert!(!stack.display_args(case.operator).to_string().is_empty());

    let fits = stack.top(argument_count).is_some_and(|arguments| {
        let accepts = |(value, kinds): (&Value, &&[&str])| kinds.is_empty() || kinds.contains(&value.kind());
        arguments.iter().zip(case.accepted).all(accepts)
    });
    match case.operator.call_boxed(&mut stack) {
        Ok(()) => {
            assert!(fits);
            let arguments = model.split_off(model.len() - argument_count);
            model.extend(case.results.iter().map(|&argument| arguments[argument].clone()));
            assert_eq!(printed(&stack), model);
        }
        Err(error) => {
            assert!(!fits, "{error}");
            let typed = matches!(error.kind(), ErrorKind::WrongArgument { .. } | ErrorKind::TooFewArguments { .. });
            assert!(typed, "{error}");
            assert_eq!(stack.len(), model.len());
        }
    }
    let dropped = usize::from(input.arbitrary::<u8>()?) % 32;
    let left = stack.len().saturating_sub(dropped);
    stack.drop_top(dropped);
    assert_eq!(stack.into_values().len(), left);
    Ok(())
}

fuzz_target!(|data: &[u8]| {
    // Too little data to decode is not a finding.
    let _ = check_boxed_call(data);
});
