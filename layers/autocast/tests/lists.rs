//! Tests that compare every operator of the autocast lists, with many dtypes, with recordings of PyTorch.

mod recorded;

use aten::prelude::*;
use dispatch_autocast as autocast;
use dispatch_runtime::keys::{Autocast, AutocastCPU, AutocastMeta};
use dispatch_runtime::prelude::*;
// Links the CPU kernels.
use kernels_cpu as _;
use recorded::{Call, ListedOperator, dtype_names, load_recorded_operators, parse_arguments};

/// The backend and the low-precision dtype of each column of the recording.
const RECORDED_COLUMNS: [(&str, DType); 4] =
    [("cpu", DType::BF16), ("cpu", DType::F16), ("cuda", DType::F16), ("cuda", DType::BF16)];

fn recorded_calls() -> impl Iterator<Item = (&'static Operator, [&'static str; 2], Call)> {
    load_recorded_operators().into_iter().flat_map(|ListedOperator { operator, policies, calls }| {
        calls.into_iter().map(move |call| (operator, policies, call))
    })
}

fn call_under_autocast(operator: &Operator, text: &str, device: Device, low: DType) -> Result<Vec<Value>> {
    let arguments = parse_arguments(operator, text, device);
    let _on = autocast::enable(device, low)?;
    operator.call(arguments)
}

/// Compares the results on `device` with column `i` of the recording; `device` must have the lists of that column.
fn check_result_dtypes(i: usize, device: Device) {
    let (mut checked, mut wrong) = (0, Vec::new());
    for (operator, _, Call { arguments: text, results }) in recorded_calls().filter(|(.., call)| call.results[i] != "-")
    {
        let ours = match call_under_autocast(operator, text, device, RECORDED_COLUMNS[i].1) {
            Ok(results) => dtype_names(&results),
            Err(error) if error.to_string().contains("unsafe under autocast") => "banned".to_owned(),
            Err(error) => error.to_string(),
        };
        checked += 1;
        if ours != results[i] {
            wrong.push(format!("{operator} {text}: {ours}, not {}", results[i]));
        }
    }
    assert!(checked > 500, "only {checked} calls");
    assert!(wrong.is_empty(), "{} of {checked} calls:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn results_on_the_cpu_in_bfloat16_have_the_dtypes_of_pytorch() {
    check_result_dtypes(0, Device::CPU);
}

#[test]
fn results_on_the_cpu_in_float16_have_the_dtypes_of_pytorch() {
    check_result_dtypes(1, Device::CPU);
}

/// Meta has no lists, so it uses those of CUDA.
#[test]
fn results_on_other_backends_in_float16_have_the_dtypes_of_cuda() {
    check_result_dtypes(2, Device::META);
}

#[test]
fn results_on_other_backends_in_bfloat16_have_the_dtypes_of_cuda() {
    check_result_dtypes(3, Device::META);
}

fn registered_policy(operator: &Operator, key: Key) -> String {
    let cell = operator.table().into_iter().find(|cell| cell.key == key).unwrap();
    match &cell.kernels[..] {
        [kernel] if !cell.falls_through => kernel.split('`').nth(1).unwrap().to_owned(),
        _ => "untouched".to_owned(),
    }
}

#[test]
fn the_lists_equal_the_recorded_lists_of_pytorch() {
    let recorded = load_recorded_operators();
    for ListedOperator { operator, policies, .. } in &recorded {
        assert_eq!(
            [registered_policy(operator, AutocastCPU), registered_policy(operator, AutocastMeta)],
            *policies,
            "{operator}"
        );
    }
    for key in [Autocast, AutocastCPU] {
        for name in dispatch_runtime::operator_names_with_kernel_for(key) {
            assert!(recorded.iter().any(|listed| listed.operator.name().to_string() == name), "{name} is not recorded");
        }
    }
}

/// Casts the arguments as the policy does, and calls the operator without autocast.
fn call_with_manual_casts(
    operator: &Operator,
    mut arguments: Vec<Value>,
    policy: &str,
    low: DType,
) -> Result<Vec<Value>> {
    let to = match policy {
        "lower" => low,
        "fp32" => DType::F32,
        _ => return operator.call(arguments),
    };
    for value in &mut arguments {
        if let Value::Tensor(tensor) = value
            && tensor.dtype().is_floating()
            && tensor.dtype() != DType::F64
        {
            *tensor = tensor.to(to)?;
        }
    }
    operator.call(arguments)
}

/// Returns the dtype and the bits of every result. Elements are converted to `f64`, which holds every dtype here exactly.
fn dtypes_and_bits(results: &[Value]) -> Vec<(DType, Vec<u64>)> {
    let exact = |tensor: &Tensor| {
        let wide = tensor.to(DType::F64).unwrap();
        (tensor.dtype(), wide.to_vec::<f64>().unwrap().into_iter().map(f64::to_bits).collect())
    };
    results.iter().filter_map(Value::as_tensor).map(exact).collect()
}

#[test]
fn results_on_the_cpu_equal_those_of_manual_casts() {
    let (mut checked, low) = (0, DType::BF16);
    // A composite without a policy is excluded: it calls operators that have one.
    let alone = |policy: &str, operator: &Operator| {
        ["lower", "fp32"].contains(&policy) || policy == "untouched" && operator.schema().name.base != "tensordot"
    };
    for (operator, [policy, _], Call { arguments: text, results }) in recorded_calls() {
        if results[0] == "-" || !alone(policy, operator) {
            continue;
        }
        let ours = call_under_autocast(operator, text, Device::CPU, low).unwrap();
        let expected =
            call_with_manual_casts(operator, parse_arguments(operator, text, Device::CPU), policy, low).unwrap();
        assert_eq!(dtypes_and_bits(&ours), dtypes_and_bits(&expected), "{operator} {text}");
        checked += 1;
    }
    assert!(checked > 500, "only {checked} calls");
}

#[test]
fn registrations_pass_verification() {
    assert!(dispatch_runtime::verify().is_empty(), "{:?}", dispatch_runtime::verify());
}
