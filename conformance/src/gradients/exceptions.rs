//! Calls whose gradients cannot be checked by finite differences, with the reasons.

use dispatch_runtime::Value;

use crate::case::Case;
use crate::datum::Datum;

/// Returns the reason why the gradient of a call differs from the derivative of its results, if it does so in PyTorch too.
pub(super) fn first_order(case: &Case) -> Option<&'static str> {
    Some(match case.operator.name().base {
        _ if case.is_arbitrary() => "its results are arbitrary",
        "detach" => "it cuts the history",
        "embedding" | "_embedding_bag" if is_true(case, "scale_grad_by_freq") => "its gradient is scaled",
        "embedding" if matches!(argument(case, "padding_idx"), Some(Value::Int(0..))) => {
            "its gradient leaves out a row"
        }
        "embedding" if is_true(case, "sparse") => "its gradient is sparse, and there are no sparse tensors",
        "_ctc_loss" | "ctc_loss" => "its gradient is that of what was normalised",
        "max_unpool2d" | "max_unpool3d" => "elements that meet in one place all have its gradient",
        "as_strided_scatter" => "its gradient is that of what it writes over",
        "fmod" | "remainder" if has(case, |number| number > 1e6) => "differences step over where it jumps",
        _ if has(case, |number| number < f64::from(f32::MIN_POSITIVE)) => "differences step over its numbers",
        _ => return None,
    })
}

/// Whether an element of the arguments, other than 0, has a magnitude that satisfies the predicate.
fn has(case: &Case, like_that: impl Fn(f64) -> bool) -> bool {
    let arrays = case.arguments.iter().flat_map(Datum::arrays).filter(|array| array.dtype.is_floating());
    let mut numbers = arrays.flat_map(|array| &array.elements).filter_map(|number| number.to_f64());
    numbers.any(|number| number != 0.0 && like_that(number.abs()))
}

/// Returns the reason why a recorded gradient is not accurate to double precision, if it is not.
pub(super) fn recorded(case: &Case) -> Option<&'static str> {
    let imprecise = ["special_bessel_j0", "special_bessel_j1", "special_bessel_y0", "special_bessel_y1"];
    imprecise.contains(&case.operator.name().base).then_some("PyTorch's own values are right to seven digits")
}

/// Returns the reason why a call has no second-order gradient to check, if it has none.
pub(super) fn second_order(case: &Case) -> Option<&'static str> {
    first_order(case).or_else(|| match case.operator.name().base {
        "_scaled_dot_product_flash_attention_for_cpu" => Some("its gradient has none in PyTorch"),
        _ => None,
    })
}

/// Whether an operator expects symmetric matrices and reads only one triangle of them.
pub(super) fn symmetric(base: &str) -> bool {
    matches!(base, "linalg_cholesky_ex" | "_linalg_eigh")
}

fn argument<'a>(case: &'a Case, name: &str) -> Option<&'a Value> {
    let (i, _) = case.operator.schema().argument(name)?;
    if let Datum::Plain(value) = &case.arguments[i] { Some(value) } else { None }
}

fn is_true(case: &Case, name: &str) -> bool {
    matches!(argument(case, name), Some(Value::Bool(true)))
}
