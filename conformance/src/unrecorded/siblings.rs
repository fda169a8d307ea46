//! Siblings: the recorded operator with which each unrecorded one is compared, and the compared calls.

use dispatch_checks::plumbing::{Array, Datum};
use dispatch_runtime::{DType, Scalar, Value};

use super::{DerivedCall, ExpectedOutcome, RecordedSibling, non_tensor};

/// Operators outside the core set that are compared with a sibling.
pub(super) const NON_CORE_OPERATORS: [&str; 6] = [
    "aten::reflection_pad1d_backward",
    "aten::reflection_pad2d_backward",
    "aten::reflection_pad3d_backward",
    "aten::replication_pad1d_backward",
    "aten::replication_pad2d_backward",
    "aten::replication_pad3d_backward",
];

/// Returns the name of the recorded operator with which an operator is compared.
pub(super) fn sibling_name(name: &str) -> Option<&'static str> {
    if let Some(backward) = NON_CORE_OPERATORS.into_iter().find(|&operator| operator == name) {
        return backward.strip_suffix("_backward");
    }
    Some(match name {
        "aten::_adaptive_avg_pool2d_backward" => "aten::_adaptive_avg_pool2d",
        "aten::_native_batch_norm_legit_no_training" => "aten::native_batch_norm",
        "aten::_embedding_bag" => "aten::_embedding_bag_forward_only",
        "aten::avg_pool2d_backward" => "aten::avg_pool2d",
        "aten::bitwise_and.Scalar" => "aten::bitwise_and.Tensor",
        "aten::bitwise_or.Scalar" => "aten::bitwise_or.Tensor",
        "aten::bitwise_xor.Scalar" => "aten::bitwise_xor.Tensor",
        "aten::col2im" => "aten::im2col",
        "aten::convolution_backward" => "aten::convolution",
        "aten::copy" | "aten::_to_copy" => "aten::copy_",
        "aten::div.Scalar_mode" => "aten::div.Tensor_mode",
        "aten::embedding_dense_backward" => "aten::embedding",
        "aten::empty.memory_format" | "aten::empty_strided" => "aten::zeros",
        "aten::fmod.Scalar" => "aten::fmod.Tensor",
        "aten::gt.Scalar" => "aten::gt.Tensor",
        "aten::pow.Scalar" => "aten::pow.Tensor_Tensor",
        "aten::scatter.value" => "aten::scatter_.value",
        "aten::sym_numel" | "aten::sym_size.int" | "aten::sym_stride.int" | "aten::sym_storage_offset" => "aten::clone",
        "aten::upsample_bilinear2d.vec" => "aten::upsample_bilinear2d",
        "aten::upsample_nearest2d.vec" => "aten::upsample_nearest2d",
        "aten::var.dim" => "aten::var.correction",
        _ => return None,
    })
}

/// Derives a call of the operator from a recorded call of its sibling. Returns `None` if that is not possible.
pub(super) fn derive_call(name: &str, sibling: &RecordedSibling<'_>) -> Option<DerivedCall> {
    match name {
        "aten::bitwise_and.Scalar"
        | "aten::bitwise_or.Scalar"
        | "aten::bitwise_xor.Scalar"
        | "aten::div.Scalar_mode"
        | "aten::fmod.Scalar"
        | "aten::gt.Scalar" => derive_scalar_call(sibling, "other", "self", &["rounding_mode"]),
        "aten::pow.Scalar" => derive_scalar_call(sibling, "self", "exponent", &[]),
        "aten::_embedding_bag" => {
            let names = ["weight", "indices", "offsets", "scale_grad_by_freq", "mode", "sparse", "per_sample_weights"];
            let given = [&names[..], &["include_last_offset", "padding_idx"]].concat();
            Some(derive_with_same_arguments(sibling, &given, sibling.results.iter().take(1).cloned().collect()))
        }
        "aten::_native_batch_norm_legit_no_training" => {
            let is_training = matches!(sibling.argument("training"), Some(Datum::NonTensor(Value::Bool(true))));
            let names = ["input", "weight", "bias", "running_mean", "running_var", "momentum", "eps"];
            let has_statistics =
                sibling.array_argument("running_mean").is_some() && sibling.array_argument("running_var").is_some();
            let results = sibling.results.iter().take(1).cloned().collect();
            (!is_training && has_statistics).then(|| derive_with_same_arguments(sibling, &names, results))
        }
        "aten::scatter.value" => {
            Some(derive_with_same_arguments(sibling, &["self", "dim", "index", "value"], sibling.results.clone()))
        }
        "aten::copy" => {
            Some(derive_with_same_arguments(sibling, &["self", "src", "non_blocking"], sibling.results.clone()))
        }
        "aten::_to_copy" => {
            let (this, source) = (sibling.array_argument("self")?, sibling.array_argument("src")?);
            let result = sibling.results.clone();
            let given = vec![("self", Datum::Array(source.clone())), ("dtype", non_tensor(this.dtype))];
            (this.sizes == source.sizes).then_some(DerivedCall { given, expected: ExpectedOutcome::Results(result) })
        }
        "aten::upsample_bilinear2d.vec" | "aten::upsample_nearest2d.vec" => {
            let mut call =
                derive_with_same_arguments(sibling, &["output_size", "align_corners"], sibling.results.clone());
            call.given.push(("input", sibling.argument("self")?));
            let scaled = ["scales_h", "scales_w"]
                .iter()
                .any(|name| !matches!(sibling.argument(name), None | Some(Datum::NonTensor(Value::None))));
            (!scaled).then_some(call)
        }
        "aten::var.dim" => {
            let unbiased = match sibling.argument("correction")? {
                Datum::NonTensor(Value::None | Value::Int(1)) => true,
                Datum::NonTensor(Value::Int(0)) => false,
                _ => return None,
            };
            let mut call = derive_with_same_arguments(sibling, &["self", "dim", "keepdim"], sibling.results.clone());
            call.given.push(("unbiased", non_tensor(unbiased)));
            Some(call)
        }
        "aten::empty.memory_format" | "aten::empty_strided" => {
            let zeros = sibling.results.first()?.as_array()?.clone();
            let mut call = derive_with_same_arguments(sibling, &["size", "dtype"], Vec::new());
            call.given.push(("stride", non_tensor(zeros.strides.clone())));
            Some(DerivedCall { expected: ExpectedOutcome::TensorOutline(zeros), ..call })
        }
        _ => derive_geometry_call(name, sibling).or_else(|| derive_backward_call(name, sibling)),
    }
}

/// Creates a call with the named arguments of the sibling.
fn derive_with_same_arguments(
    sibling: &RecordedSibling<'_>,
    names: &[&'static str],
    results: Vec<Datum>,
) -> DerivedCall {
    let given = names.iter().filter_map(|&name| sibling.argument(name).map(|datum| (name, datum))).collect();
    DerivedCall { given, expected: ExpectedOutcome::Results(results) }
}

/// Creates a call with a scalar argument. The sibling gets a tensor without dimensions with this scalar, which must have the dtype category
/// of the other argument.
fn derive_scalar_call(
    sibling: &RecordedSibling<'_>,
    scalar: &'static str,
    tensor: &'static str,
    further: &[&'static str],
) -> Option<DerivedCall> {
    let (holder, other) = (sibling.array_argument(scalar)?, sibling.array_argument(tensor)?);
    let kind = |dtype: DType| (dtype.is_floating(), dtype.is_integral());
    if kind(holder.dtype) != kind(other.dtype) || other.sizes.is_empty() {
        return None;
    }
    let number = *holder.elements.first()?;
    let reference = sibling.arguments_with(scalar, Datum::Array(Array::new(holder.dtype, &[], vec![number])))?;
    let mut call = derive_with_same_arguments(sibling, further, Vec::new());
    call.given.extend([(scalar, non_tensor(number)), (tensor, Datum::Array(other))]);
    Some(DerivedCall { expected: ExpectedOutcome::Sibling(reference), ..call })
}

/// Creates a call that returns a property of a tensor's geometry.
fn derive_geometry_call(name: &str, sibling: &RecordedSibling<'_>) -> Option<DerivedCall> {
    let array = sibling.array_argument("self")?;
    let last = array.sizes.len().wrapping_sub(1);
    let answer = match name {
        "aten::sym_numel" => i64::try_from(array.elements.len()).ok()?,
        "aten::sym_storage_offset" => array.offset,
        "aten::sym_size.int" => *array.sizes.get(last)?,
        "aten::sym_stride.int" => *array.strides.get(last)?,
        _ => return None,
    };
    let given = vec![("self", Datum::Array(array)), ("dim", non_tensor(-1_i64))];
    Some(DerivedCall { given, expected: ExpectedOutcome::Results(vec![non_tensor(answer)]) })
}

/// Creates a call of a backward operator: it must return the recorded gradient for the recorded cotangent.
fn derive_backward_call(name: &str, sibling: &RecordedSibling<'_>) -> Option<DerivedCall> {
    let double = RecordedSibling {
        schema: sibling.schema,
        arguments: sibling.arguments.iter().map(Datum::in_double_precision).collect(),
        results: Vec::new(),
        gradients: Vec::new(),
    };
    let result = sibling.results.first()?.as_array()?;
    let elements = (1..=result.elements.len()).scan(0.0_f64, |k, _| {
        *k += 1.0;
        Some(Scalar::Float(k.cos()))
    });
    let cotangent = Datum::Array(Array::new(DType::F64, &result.sizes, elements.collect()));
    let gradient = |position: usize, argument: &str| -> Option<Datum> {
        let elements = sibling.gradients.get(position)?.as_ref()?.iter().map(|&x| Scalar::Float(x)).collect();
        Some(Datum::Array(Array::new(DType::F64, &double.array_argument(argument)?.sizes, elements)))
    };
    let (names, argument): (&[&'static str], &str) = match name {
        "aten::_adaptive_avg_pool2d_backward" => (&["self"], "self"),
        "aten::avg_pool2d_backward" => (
            &["self", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"],
            "self",
        ),
        "aten::col2im" => (&["kernel_size", "dilation", "padding", "stride"], "self"),
        "aten::embedding_dense_backward" => (&["indices", "padding_idx", "scale_grad_by_freq"], "weight"),
        "aten::convolution_backward" => {
            (&["input", "weight", "stride", "padding", "dilation", "transposed", "output_padding", "groups"], "input")
        }
        _ if name.contains("_pad") => (&["self", "padding"], "self"),
        _ => return None,
    };
    let mut call = derive_with_same_arguments(&double, names, vec![gradient(0, argument)?]);
    match name {
        "aten::col2im" => {
            let sizes = double.array_argument("self")?.sizes;
            call.given.push(("output_size", non_tensor(sizes[sizes.len().checked_sub(2)?..].to_vec())));
            call.given.push(("self", cotangent));
        }
        "aten::embedding_dense_backward" => {
            call.given.push(("num_weights", non_tensor(*double.array_argument("weight")?.sizes.first()?)));
            call.given.push(("grad_output", cotangent));
        }
        "aten::convolution_backward" => {
            let bias = double.array_argument("bias");
            let mut expected = vec![gradient(0, "input")?, gradient(1, "weight")?];
            if bias.is_some() {
                expected.push(gradient(2, "bias")?);
            }
            call.given.push(("output_mask", non_tensor(vec![true, true, bias.is_some()])));
            call.given.push(("bias_sizes", bias.map_or(Datum::NonTensor(Value::None), |bias| non_tensor(bias.sizes))));
            call.given.push(("grad_output", cotangent));
            call.expected = ExpectedOutcome::Results(expected);
        }
        _ => call.given.push(("grad_output", cotangent)),
    }
    Some(call)
}
