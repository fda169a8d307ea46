//! Calls whose gradients cannot be checked by finite differences, with the reasons.

use dispatch_runtime::{Complex64, Operator, Scalar, Value};

use super::finite_differences::COARSEST_STEP;
use crate::datum::Datum;
use crate::known_operators::known_base;
use crate::reference_call::ReferenceCall;
use crate::tensors::to_complex;

/// Returns the reason why finite differences cannot check the gradient of a call, or `None` if they can.
pub(super) fn first_order_exemption(case: &ReferenceCall) -> Option<&'static str> {
    Some(match known_base(case.operator.name()) {
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
        "linalg_eig" => "its eigenvectors are unique only up to a phase",
        "_linalg_eigvals" | "linalg_eigvals" if has_close_eigenvalues(case) => {
            "it is not smooth at matrices with close eigenvalues"
        }
        "_linalg_eigh" | "_linalg_svd" | "linalg_eigh" | "linalg_svd" | "svd" if is_complex(case) => {
            "complex vectors are unique only up to a phase"
        }
        "nan_to_num" if is_complex(case) => {
            "its gradient in PyTorch is zero for both parts of a number if one is not finite"
        }
        "linalg_svd" | "_linalg_svd" | "svd" if has_vectors_without_values(case) => {
            "singular vectors without a singular value have no gradient"
        }
        "linalg_pinv" if argument_is_true(case, "hermitian") && is_asymmetric(case) => {
            "its gradient in PyTorch assumes that both triangles are the same matrix"
        }
        "cholesky_inverse" | "cholesky_solve" => {
            "its gradient in PyTorch is not its derivative: it includes the triangle that is not read"
        }
        "linalg_qr" if !matches!(value_of_argument(case, "mode"), Some(Value::Str(mode)) if ***mode == *"reduced") => {
            "the vectors that complete a basis have no derivative"
        }
        "linalg_cholesky" | "linalg_cholesky_ex" if is_indefinite(case) => "the decomposition does not exist",
        base if SOLVERS.contains(&base) && is_nearly_singular(case) => "it is not smooth at singular matrices",
        base if DECOMPOSITIONS.contains(&base) && has_close_singular_values(case) => {
            "it is not smooth at matrices with close or small singular values"
        }
        "fmod" | "remainder" if any_nonzero_magnitude(case, |number| number > 1e6) => {
            "finite differences step over its jumps"
        }
        "abs" if is_complex(case) && any_nonzero_magnitude(case, |number| number < COARSEST_STEP) => {
            "the gradient turns around within a step of finite differences"
        }
        _ if any_nonzero_magnitude(case, |number| number < f64::from(f32::MIN_POSITIVE)) => {
            "its arguments are smaller than the steps of finite differences"
        }
        _ => return None,
    })
}

/// Whether an operator refuses double precision, as in PyTorch.
pub(super) fn is_single_precision(case: &ReferenceCall) -> bool {
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
    name.namespace == "quantized_decomposed"
        || known_base(name).contains("moving_avg")
        || bases.contains(&known_base(name))
}

/// Whether an element of the arguments, other than 0, has a magnitude that satisfies the predicate.
fn any_nonzero_magnitude(case: &ReferenceCall, predicate: impl Fn(f64) -> bool) -> bool {
    let arrays = case
        .arguments
        .iter()
        .flat_map(Datum::arrays)
        .filter(|array| array.dtype.is_floating() || array.dtype.is_complex());
    let mut magnitudes = arrays.flat_map(|array| &array.elements).map(|&number| to_complex(number).norm());
    magnitudes.any(|magnitude| magnitude != 0.0 && predicate(magnitude))
}

/// Returns the reason why a recorded gradient is not accurate to double precision, if it is not.
pub(super) fn imprecise_recording_reason(case: &ReferenceCall) -> Option<&'static str> {
    let imprecise = ["special_bessel_j0", "special_bessel_j1", "special_bessel_y0", "special_bessel_y1"];
    match known_base(case.operator.name()) {
        base if imprecise.contains(&base) => Some("PyTorch's values are accurate to seven digits only"),
        base if DETERMINANTS.contains(&base) && is_nearly_singular(case) => {
            Some("PyTorch's gradient of a singular matrix is zero")
        }
        _ => None,
    }
}

/// Returns the reason why a call has no second-order gradient to check, if it has none.
pub(super) fn second_order_exemption(case: &ReferenceCall) -> Option<&'static str> {
    first_order_exemption(case).or_else(|| match known_base(case.operator.name()) {
        "_scaled_dot_product_flash_attention_for_cpu" => Some("PyTorch does not differentiate its gradient"),
        base if DETERMINANTS.contains(&base) && is_nearly_singular(case) => {
            Some("its gradient at a singular matrix comes from singular vectors, which are not smooth")
        }
        _ => None,
    })
}

/// Whether an argument has no gradient although the results vary with it: the regions of torchvision's operators, and the statistics of
/// batch normalisations.
pub(super) fn is_constant(case: &ReferenceCall, position: usize) -> bool {
    let name = &case.operator.schema().arguments[position].name;
    match known_base(case.operator.name()) {
        "_batch_norm_no_update" | "_batch_norm_with_update_functional" | "_native_batch_norm_legit_functional" => {
            name.starts_with("running")
        }
        _ => case.operator.name().namespace == "torchvision" && name == "rois",
    }
}

/// Whether a call expects symmetric matrices and reads only one triangle of them.
pub(super) fn reads_one_triangle(case: &ReferenceCall) -> bool {
    let operators = [
        "linalg_cholesky",
        "linalg_cholesky_ex",
        "_linalg_eigh",
        "linalg_eigh",
        "linalg_eigvalsh",
        "linalg_matrix_sqrth",
    ];
    operators.contains(&known_base(case.operator.name())) || argument_is_true(case, "hermitian")
}

/// Operators that are not smooth at matrices with equal singular values, or with one that is zero.
const DECOMPOSITIONS: [&str; 17] = [
    "_linalg_eigh",
    "_linalg_svd",
    "linalg_cond",
    "linalg_eigh",
    "linalg_eigvalsh",
    "linalg_matrix_norm",
    "linalg_matrix_rank",
    "linalg_matrix_sqrth",
    "linalg_norm",
    "linalg_pinv",
    "linalg_polar",
    "linalg_svd",
    "linalg_svdvals",
    "nuclear_norm",
    "pinverse",
    "svd",
    "linalg_lstsq",
];

const DETERMINANTS: [&str; 3] = ["_linalg_det", "det", "linalg_det"];

/// Operators that are not smooth at singular matrices.
const SOLVERS: [&str; 21] = [
    "_linalg_slogdet",
    "_linalg_solve_ex",
    "_lu_with_info",
    "inverse",
    "linalg_cholesky",
    "linalg_cholesky_ex",
    "linalg_inv",
    "linalg_inv_ex",
    "linalg_lu",
    "linalg_lu_factor",
    "linalg_lu_factor_ex",
    "linalg_lu_solve",
    "linalg_qr",
    "linalg_slogdet",
    "linalg_solve",
    "linalg_solve_ex",
    "linalg_solve_triangular",
    "logdet",
    "lu_solve",
    "slogdet",
    "triangular_solve",
];

/// Whether a matrix has a singular value that is small, compared with its largest one or with the steps of finite differences.
fn is_nearly_singular(case: &ReferenceCall) -> bool {
    let argument = usize::from(known_base(case.operator.name()) == "triangular_solve");
    singular_values(case, argument).is_some_and(|matrices| {
        matrices.iter().any(|values| values.last().is_some_and(|&last| last < 1e-6 * values[0].max(1e-6)))
    })
}

/// Whether two singular values of a matrix are close, compared with its largest one, or one is small.
fn has_close_singular_values(case: &ReferenceCall) -> bool {
    singular_values(case, 0).is_some_and(|matrices| {
        matrices.iter().any(|values| {
            let gaps = values.windows(2).map(|pair| pair[0] - pair[1]).chain(values.last().copied());
            gaps.into_iter().any(|gap| gap < 1e-2 * values[0].max(1.0))
        })
    })
}

/// Whether the first argument is complex.
fn is_complex(case: &ReferenceCall) -> bool {
    case.arguments.first().and_then(Datum::as_array).is_some_and(|array| array.dtype.is_complex())
}

/// Whether two eigenvalues of a matrix are close, compared with the largest one.
fn has_close_eigenvalues(case: &ReferenceCall) -> bool {
    let eigenvalues = in_double_precision(case, 0).and_then(|matrices| {
        let results = Operator::find("aten::linalg_eigvals").ok()?.call(vec![matrices]).ok()?;
        Datum::from_value(results.first()?).ok()
    });
    let Some(Datum::Array(values)) = eigenvalues else { return false };
    let count = values.sizes.last().map_or(0, |&size| usize::try_from(size).unwrap_or(0)).max(1);
    let numbers: Vec<Complex64> = values.elements.iter().map(|&value| to_complex(value)).collect();
    numbers.chunks(count).any(|values| {
        let largest = values.iter().map(|value| value.norm()).fold(1.0, f64::max);
        let is_close =
            |(i, value): (usize, &Complex64)| values[..i].iter().any(|other| (value - other).norm() < 1e-2 * largest);
        values.iter().enumerate().any(is_close)
    })
}

/// Whether a symmetric matrix has an eigenvalue that is not positive.
fn is_indefinite(case: &ReferenceCall) -> bool {
    let eigenvalues = in_double_precision(case, 0).and_then(|matrices| {
        Operator::find("aten::linalg_eigvalsh").ok()?.call(vec![matrices, "L".into()]).ok().map(|values| rows(&values))
    });
    eigenvalues.flatten().is_some_and(|values| values.iter().flatten().any(|&value| value <= 0.0))
}

/// Returns the singular values of each matrix of an argument.
fn singular_values(case: &ReferenceCall, argument: usize) -> Option<Vec<Vec<f64>>> {
    let matrices = in_double_precision(case, argument)?;
    rows(&Operator::find("aten::linalg_svdvals").ok()?.call(vec![matrices, Value::None]).ok()?)
}

fn in_double_precision(case: &ReferenceCall, argument: usize) -> Option<Value> {
    let array = case.arguments.get(argument).and_then(Datum::as_array)?;
    Datum::Array(array.clone()).in_double_precision().to_value(case.device).ok()
}

/// Returns the rows of a result.
fn rows(results: &[Value]) -> Option<Vec<Vec<f64>>> {
    let Datum::Array(values) = Datum::from_value(results.first()?).ok()? else { return None };
    let count = values.sizes.last().map_or(0, |&size| usize::try_from(size).unwrap_or(0)).max(1);
    let numbers: Vec<f64> = values.elements.iter().map(|value| value.to_f64().unwrap_or(f64::NAN)).collect();
    Some(numbers.chunks(count).map(<[f64]>::to_vec).collect())
}

/// Whether the first argument has a square matrix that is not symmetric.
fn is_asymmetric(case: &ReferenceCall) -> bool {
    let Some(matrices) = case.arguments.first().and_then(Datum::as_array) else { return false };
    let size = matrices.sizes.last().map_or(0, |&size| usize::try_from(size).unwrap_or(0)).max(1);
    let element = |matrix: &[Scalar], row: usize, column: usize| matrix[row * size + column].to_f64();
    matrices.elements.chunks_exact(size * size).any(|matrix| {
        (0..size).any(|row| (0..row).any(|column| element(matrix, row, column) != element(matrix, column, row)))
    })
}

/// Whether some singular vectors have no singular value. They are not unique, so they have no gradient.
fn has_vectors_without_values(case: &ReferenceCall) -> bool {
    let all_vectors =
        argument_is_true(case, "full_matrices") || matches!(value_of_argument(case, "some"), Some(Value::Bool(false)));
    let sizes = case.arguments.first().and_then(Datum::as_array).map_or(&[][..], |array| &array.sizes);
    all_vectors && matches!(sizes, [.., rows, columns] if rows != columns)
}

/// Whether a group of `_grouped_mm` ends before the one before it.
fn has_overlapping_groups(case: &ReferenceCall) -> bool {
    let ends = case.operator.schema().argument("offs").and_then(|(i, _)| case.arguments[i].as_array());
    ends.is_some_and(|ends| !ends.elements.is_sorted_by_key(|end| end.to_i64()))
}

/// Whether an image that is resized keeps its height or its width.
fn keeps_a_size(case: &ReferenceCall) -> bool {
    let (output, input) = (value_of_argument(case, "output_size"), value_of_argument(case, "input_size"));
    let (Some(Value::Ints(output)), Some(Value::Ints(input))) = (output, input) else { return false };
    output.iter().rev().zip(input.iter().rev()).any(|(output, input)| output == input)
}

fn value_of_argument<'a>(case: &'a ReferenceCall, name: &str) -> Option<&'a Value> {
    let (i, _) = case.operator.schema().argument(name)?;
    if let Datum::NonTensor(value) = &case.arguments[i] { Some(value) } else { None }
}

fn argument_is_true(case: &ReferenceCall, name: &str) -> bool {
    matches!(value_of_argument(case, name), Some(Value::Bool(true)))
}
