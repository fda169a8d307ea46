//! Where differences say nothing about a gradient, and why.

/// Operators whose results are no function of the numbers in their arguments that differences could follow.
pub(super) fn first_order(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "aten::detach" => "it cuts the history",
        _ => return None,
    })
}

/// Operators without gradients of gradients, in PyTorch as here.
pub(super) fn second_order(operator: &str) -> Option<&'static str> {
    first_order(operator)
}

/// Operators of symmetric matrices, of which they read only one half.
pub(super) fn symmetric(base: &str) -> bool {
    matches!(base, "linalg_cholesky_ex" | "_linalg_eigh")
}
