//! Calls whose gradients cannot be checked by finite differences, with the reasons.

use dispatch_runtime::Value;

use crate::case::Case;
use crate::datum::Datum;

/// Returns the reason why finite differences cannot check the gradient of a call, or `None` if they can.
pub(super) fn first_order_exemption(case: &Case) -> Option<&'static str> {
    Some(match case.operator.name().base {
        _ if case.is_unpredictable() => "its results are unpredictable",
        base if base.contains("fake_quant") => "it rounds, and its gradient is that of the numbers before",
        "_batch_norm_impl_index_backward" | "batch_norm_backward" => "its saved statistics depend on its input",
        "_grouped_mm" if has_overlapping_groups(case) => {
            "its groups overlap, and its gradient is that of separate groups"
        }
        base if base.ends_with("2d_aa_backward") && keeps_a_size(case) => {
            "the scale of a dimension that keeps its size is ignored, but not in the gradient"
        }
        "detach" => "it detaches its result from the graph",
        "embedding" | "_embedding_bag" if argument_is_true(case, "scale_grad_by_freq") => "its gradient is scaled",
        "embedding" if matches!(value_of_argument(case, "padding_idx"), Some(Value::Int(0..))) => {
            "its gradient is zero in the padding row"
        }
        "embedding" if argument_is_true(case, "sparse") => "its gradient is sparse, and there are no sparse tensors",
        "_ctc_loss" | "ctc_loss" => "its gradient assumes that its input is a log-softmax",
        "max_unpool2d" | "max_unpool3d" => "several elements that are written to one place all receive its gradient",
        "as_strided_scatter" => "its gradient in PyTorch is not its derivative",
        "ps_roi_pool" => {
            "its gradient in torchvision is not its derivative: it includes the last row and column of the image"
        }
        "fmod" | "remainder" if any_nonzero_magnitude(case, |number| number > 1e6) => {
            "finite differences step over its jumps"
        }
        _ if any_nonzero_magnitude(case, |number| number < f64::from(f32::MIN_POSITIVE)) => {
            "its arguments are smaller than the steps of finite differences"
        }
        _ => return None,
    })
}

/// Whether an operator refuses double precision, as in PyTorch.
pub(super) fn is_single_precision(case: &Case) -> bool {
    let name = case.operator.name();
    let bases = [
        "_scaled_mm",
        "_scaled_mm_v2",
        "_weight_int8pack_mm",
        "_weight_int4pack_mm_for_cpu",
        "_dyn_quant_matmul_4bit",
        "_saturate_weight_to_fp16",
        "choose_qparams_optimized",
        "_amp_foreach_non_finite_check_and_unscale",
        "_amp_foreach_non_finite_check_and_unscale_",
        "_amp_update_scale",
        "_amp_update_scale_",
        "_cast_Half",
        "fake_quantize_per_channel_affine",
        "fake_quantize_per_channel_affine_cachemask",
    ];
    name.namespace == "quantized_decomposed" || name.base.contains("moving_avg") || bases.contains(&name.base)
}

/// Whether an element of the arguments, other than 0, has a magnitude that satisfies the predicate.
fn any_nonzero_magnitude(case: &Case, predicate: impl Fn(f64) -> bool) -> bool {
    let arrays = case.arguments.iter().flat_map(Datum::arrays).filter(|array| array.dtype.is_floating());
    let mut numbers = arrays.flat_map(|array| &array.elements).filter_map(|number| number.to_f64());
    numbers.any(|number| number != 0.0 && predicate(number.abs()))
}

/// Returns the reason why a recorded gradient is not accurate to double precision, if it is not.
pub(super) fn imprecise_recording_reason(case: &Case) -> Option<&'static str> {
    let imprecise = ["special_bessel_j0", "special_bessel_j1", "special_bessel_y0", "special_bessel_y1"];
    imprecise.contains(&case.operator.name().base).then_some("PyTorch's values are accurate to seven digits only")
}

/// Returns the reason why a call has no second-order gradient to check, if it has none.
pub(super) fn second_order_exemption(case: &Case) -> Option<&'static str> {
    first_order_exemption(case).or_else(|| match case.operator.name().base {
        "_scaled_dot_product_flash_attention_for_cpu" => Some("PyTorch does not differentiate its gradient"),
        _ => None,
    })
}

/// Whether an argument has no gradient although the results vary with it: the regions of torchvision's operators, and the statistics of
/// batch normalisations.
pub(super) fn is_constant(case: &Case, position: usize) -> bool {
    let name = &case.operator.schema().arguments[position].name;
    match case.operator.name().base {
        "_batch_norm_no_update" | "_batch_norm_with_update_functional" | "_native_batch_norm_legit_functional" => {
            name.starts_with("running")
        }
        _ => case.operator.name().namespace == "torchvision" && name == "rois",
    }
}

/// Whether an operator expects symmetric matrices and reads only one triangle of them.
pub(super) fn reads_one_triangle(base: &str) -> bool {
    matches!(base, "linalg_cholesky_ex" | "_linalg_eigh")
}

/// Whether a group of `_grouped_mm` ends before the one before it.
fn has_overlapping_groups(case: &Case) -> bool {
    let ends = case.operator.schema().argument("offs").and_then(|(i, _)| case.arguments[i].as_array());
    ends.is_some_and(|ends| !ends.elements.is_sorted_by_key(|end| end.to_i64()))
}

/// Whether an image that is resized keeps its height or its width.
fn keeps_a_size(case: &Case) -> bool {
    let (output, input) = (value_of_argument(case, "output_size"), value_of_argument(case, "input_size"));
    let (Some(Value::Ints(output)), Some(Value::Ints(input))) = (output, input) else { return false };
    output.iter().rev().zip(input.iter().rev()).any(|(output, input)| output == input)
}

fn value_of_argument<'a>(case: &'a Case, name: &str) -> Option<&'a Value> {
    let (i, _) = case.operator.schema().argument(name)?;
    if let Datum::NonTensor(value) = &case.arguments[i] { Some(value) } else { None }
}

fn argument_is_true(case: &Case, name: &str) -> bool {
    matches!(value_of_argument(case, name), Some(Value::Bool(true)))
}
