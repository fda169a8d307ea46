//! Searches: `searchsorted`, `bucketize` and `isin`.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Spec};

/// The index at which each value would be inserted into its sorted row: before equal elements, or after them if `right`.
#[op_def(
    "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
    plan,
    out = "Tensor_out"
)]
pub fn searchsorted(_: ...) -> Result<Tensor>;

/// Returns the plan of [`searchsorted`]. The plan's value is whether values are inserted after equal elements.
#[op_plan(searchsorted)]
fn searchsorted_plan(
    sorted_sequence: &Tensor,
    this: &Tensor,
    out_int32: bool,
    right: bool,
    side: Option<&str>,
    sorter: Option<&Tensor>,
) -> Result<Plan<bool>, BadArgument> {
    let right = match side {
        None => right,
        Some("right") => true,
        Some("left") if !right => false,
        Some("left") => {
            return Err(BadArgument::keyword("side", "left", &["right"]).because("the argument `right` is true"));
        }
        Some(other) => return Err(BadArgument::keyword("side", other, &["left", "right"])),
    };
    check_orderable("sorted_sequence", sorted_sequence)?;
    check_orderable("self", this)?;
    match (sorted_sequence.sizes(), this.sizes()) {
        ([], _) => return Err(BadArgument::rank("sorted_sequence", 0, 1..)),
        ([_], _) => {}
        ([outer @ .., _], [others @ .., _]) if outer == others => {}
        ([outer @ .., _], other) => {
            return Err(BadArgument::sizes(
                "self",
                other,
                format!("the sizes {outer:?} and one more size, as `sorted_sequence` has"),
            ));
        }
    }
    if let Some(sorter) = sorter {
        if sorter.sizes() != sorted_sequence.sizes() {
            return Err(BadArgument::sizes("sorter", sorter.sizes(), sorted_sequence.sizes()).like("sorted_sequence"));
        }
        if sorter.dtype() != DType::I64 {
            return Err(BadArgument::dtype("sorter", sorter.dtype(), DType::I64));
        }
    }
    let count = sorted_sequence.sizes().last().copied().unwrap_or(0);
    if out_int32 && count >= i64::from(i32::MAX) {
        return Err(BadArgument::number("out_int32", true, false).because("indices may exceed int32"));
    }
    let dtype = if out_int32 { DType::I32 } else { DType::I64 };
    Ok(Plan::new(right, [Spec::contiguous(dtype, this.sizes())]))
}

/// Refuses complex numbers, which have no order, and booleans.
fn check_orderable(argument: &'static str, tensor: &Tensor) -> Result<(), BadArgument> {
    if tensor.dtype().is_floating() || tensor.dtype().is_integral() {
        Ok(())
    } else {
        Err(BadArgument::dtype(argument, tensor.dtype(), DTypes::FloatingOrIntegral))
    }
}

/// [`searchsorted`] for a scalar.
#[op_def(
    "searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
    out = "Scalar_out", calls = searchsorted(sorted_sequence, &scalar_to_numeric_tensor(this), out_int32, right, side, sorter))]
pub fn searchsorted_scalar(_: ...) -> Result<Tensor>;

/// The index of the bucket of each element, between sorted `boundaries`.
#[op_def(
    "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
    plan,
    out = "Tensor_out"
)]
pub fn bucketize(_: ...) -> Result<Tensor>;

#[op_plan(bucketize)]
fn bucketize_plan(this: &Tensor, boundaries: &Tensor, out_int32: bool, right: bool) -> Result<Plan<bool>, BadArgument> {
    if boundaries.sizes().len() != 1 {
        return Err(BadArgument::rank("boundaries", boundaries.sizes().len(), 1));
    }
    check_orderable("boundaries", boundaries)?;
    searchsorted_plan(boundaries, this, out_int32, right, None, None)
}

/// The index of the bucket of a scalar, between sorted `boundaries`.
#[op_def(
    "bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
    out = "Scalar_out"
)]
pub fn bucketize_scalar(this: Scalar, boundaries: &Tensor, out_int32: bool, right: bool) -> Result<Tensor> {
    bucketize(&scalar_to_numeric_tensor(this), boundaries, out_int32, right)
}

/// Converts a scalar to a tensor. A boolean becomes the integer 0 or 1.
fn scalar_to_numeric_tensor(number: Scalar) -> Tensor {
    Tensor::number(if let Scalar::Bool(truth) = number { i64::from(truth).into() } else { number })
}

/// Whether each of `elements` is one of `test_elements`; the opposite if `invert`.
#[op_def(
    "isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor",
    plan,
    out = "Tensor_Tensor_out"
)]
pub fn isin_tensor_tensor(_: ...) -> Result<Tensor>;

#[op_plan(isin_tensor_tensor)]
fn isin_plan(elements: &Tensor, test_elements: &Tensor) -> Result<Plan<()>, BadArgument> {
    check_orderable("elements", elements)?;
    check_orderable("test_elements", test_elements)?;
    Ok(Plan::new((), [Spec::contiguous(DType::Bool, elements.sizes())]))
}

/// Whether each of `elements` is equal to the scalar `test_element`; the opposite if `invert`.
#[op_def(
    "isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> Tensor",
    out = "Tensor_Scalar_out"
)]
pub fn isin_tensor_scalar(_: ...) -> Result<Tensor> {
    isin_tensor_tensor(elements, &Tensor::number(test_element), assume_unique, invert)
}

/// Whether the scalar `element` is one of `test_elements`; the opposite if `invert`.
#[op_def(
    "isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor",
    out = "Scalar_Tensor_out"
)]
pub fn isin_scalar_tensor(_: ...) -> Result<Tensor> {
    isin_tensor_tensor(&Tensor::number(element), test_elements, assume_unique, invert)
}
