//! Repeating, flipping, rolling and rotating.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, DTypes, Dims, Problem, Spec, wrap_dim};

use crate::{check_same_device, to_dtype};

/// Repeats the tensor `repeats` times along each dimension.
#[op_def("repeat(Tensor self, SymInt[] repeats) -> Tensor", plan, float8, out = "out")]
pub fn repeat(_: ...) -> Result<Tensor>;

/// Plans a repeat. The plan's value is the number of new dimensions, which come first.
#[op_plan(repeat)]
fn repeat_plan(this: &Tensor, repeats: &[i64]) -> Result<Plan<usize>, BadArgument> {
    let new = repeats.len().checked_sub(this.sizes().len());
    let rank = this.sizes().len();
    let new = new.ok_or_else(|| {
        BadArgument::length("repeats", repeats.len(), rank..).because("`self` has this number of dimensions")
    })?;
    if let Some(&times) = repeats.iter().find(|&&times| times < 0) {
        return Err(BadArgument::number("repeats", times, 0..));
    }
    let own = std::iter::repeat_n(1, new).chain(this.sizes().iter().copied());
    let sizes: Dims = own.zip(repeats).map(|(size, &times)| size.saturating_mul(times)).collect();
    Ok(Plan::new(new, [Spec::contiguous(this.dtype(), &sizes)]))
}

/// Computes [`repeat`] along the last dimensions, if `dims` has fewer entries than there are dimensions.
#[op_def("tile(Tensor self, SymInt[] dims) -> Tensor")]
pub fn tile(this: &Tensor, dims: &[i64]) -> Result<Tensor> {
    let missing = this.sizes().len().saturating_sub(dims.len());
    let repeats: Dims = std::iter::repeat_n(1, missing).chain(dims.iter().copied()).collect();
    repeat(this, &repeats)
}

/// Reverses the elements along dimensions.
#[op_def("flip(Tensor self, int[] dims) -> Tensor", plan, out = "out")]
pub fn flip(_: ...) -> Result<Tensor>;

/// Plans a flip. The plan's value says for each dimension whether it is reversed.
#[op_plan(flip)]
fn flip_plan(this: &Tensor, dims: &[i64]) -> Result<Plan<Vec<bool>>, BadArgument> {
    let rank = this.sizes().len();
    let mut is_reversed = vec![false; rank];
    for &dim in dims {
        let at = wrap_dim("dims", dim, rank)?;
        if rank > 0 && std::mem::replace(&mut is_reversed[at], true) {
            return Err(BadArgument::new("dims", Problem::RepeatedDim { dim }));
        }
    }
    Ok(Plan::new(is_reversed, [Spec::like(this, this.dtype())]))
}

/// Reverses the columns.
#[op_def("fliplr(Tensor self) -> Tensor")]
pub fn fliplr(this: &Tensor) -> Result<Tensor> {
    if this.sizes().len() < 2 {
        return Err(BadArgument::rank("self", this.sizes().len(), 2..).into());
    }
    flip(this, &[1])
}

/// Reverses the rows.
#[op_def("flipud(Tensor self) -> Tensor")]
pub fn flipud(this: &Tensor) -> Result<Tensor> {
    if this.sizes().is_empty() {
        return Err(BadArgument::rank("self", 0, 1..).into());
    }
    flip(this, &[0])
}

/// Shifts the elements along dimensions. Elements shifted beyond one end enter at the other.
#[op_def("roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", plan, float8, out = "out")]
pub fn roll(_: ...) -> Result<Tensor>;

/// The shifts of a roll.
pub enum RollShifts {
    /// The shift of all elements in row-major order.
    Flat(i64),
    /// The shift along each dimension.
    PerDim(Vec<i64>),
}

#[op_plan(roll)]
fn roll_plan(this: &Tensor, shifts: &[i64], dims: &[i64]) -> Result<Plan<RollShifts>, BadArgument> {
    let spec = Spec::contiguous(this.dtype(), this.sizes());
    if let (&[shift], []) = (shifts, dims) {
        return Ok(Plan::new(RollShifts::Flat(shift.rem_euclid(this.geometry().count().max(1))), [spec]));
    }
    if shifts.is_empty() || shifts.len() != dims.len() {
        return Err(BadArgument::length("shifts", shifts.len(), dims.len()).like("dims"));
    }
    let rank = this.sizes().len();
    let mut dim_shifts = vec![0_i64; rank];
    for (&shift, &dim) in shifts.iter().zip(dims) {
        let at = wrap_dim("dims", dim, rank)?;
        if let Some(dim_shifts) = dim_shifts.get_mut(at) {
            let size = this.sizes()[at].max(1);
            let left = size - shift.rem_euclid(size);
            *dim_shifts = if *dim_shifts < left { *dim_shifts + (size - left) } else { *dim_shifts - left };
        }
    }
    Ok(Plan::new(RollShifts::PerDim(dim_shifts), [spec]))
}

/// Rotates a plane by `k` right angles, from the first of two dimensions towards the second.
#[op_def("rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", out = "out")]
pub fn rot90(this: &Tensor, k: i64, dims: &[i64]) -> Result<Tensor> {
    let &[a, b] = dims else {
        return Err(BadArgument::length("dims", dims.len(), 2).into());
    };
    let rank = this.sizes().len();
    if rank < 2 {
        return Err(BadArgument::rank("self", rank, 2..).into());
    }
    if wrap_dim("dims", a, rank)? == wrap_dim("dims", b, rank)? {
        return Err(BadArgument::new("dims", Problem::RepeatedDim { dim: b }).into());
    }
    match k.rem_euclid(4) {
        1 => crate::transpose_int(&flip(this, &[b])?, a, b),
        2 => flip(this, dims),
        3 => flip(&crate::transpose_int(this, a, b)?, &[b]),
        _ => crate::alias_copy(this),
    }
}

/// Returns each index `i` repeated `repeats[i]` times.
#[op_def(
    "repeat_interleave.Tensor(Tensor repeats, *, SymInt? output_size=None) -> Tensor",
    plan,
    data_dependent,
    out = "Tensor_out"
)]
pub fn repeat_interleave(_: ...) -> Result<Tensor>;

#[op_plan(repeat_interleave)]
fn repeat_interleave_plan(repeats: &Tensor) -> Result<Plan<(), 0>, BadArgument> {
    if repeats.sizes().len() != 1 {
        return Err(BadArgument::rank("repeats", repeats.sizes().len(), 1));
    }
    if !repeats.dtype().is_integral() {
        return Err(BadArgument::dtype("repeats", repeats.dtype(), DTypes::Integral));
    }
    Ok(Plan::without_outputs(()))
}

fn check_repeats_dtype(repeats: &Tensor) -> Result<(), BadArgument> {
    if repeats.dtype().is_integral() {
        Ok(())
    } else {
        Err(BadArgument::dtype("repeats", repeats.dtype(), "an integral dtype"))
    }
}

/// Repeats each slice along a dimension as often as its entry in `repeats`.
#[op_def(
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
    check = check_repeats_dtype(repeats)
)]
pub fn repeat_interleave_self_tensor(_: ...) -> Result<Tensor> {
    check_same_device([("self", this), ("repeats", repeats)])?;
    let (this, dim) = match dim {
        Some(dim) => (this.clone(), dim),
        None => (crate::flatten_using_ints(this, 0, -1)?, 0),
    };
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    let size = this.sizes().get(at).copied().unwrap_or(1);
    let repeats = match repeats.sizes() {
        [] | [1] => crate::expand(&crate::reshape(repeats, &[1])?, &[size], false)?,
        &[count] if count == size => repeats.clone(),
        other => {
            return Err(BadArgument::sizes(
                "repeats",
                other,
                format!("[{size}], one number for each index of the dimension, or a single number"),
            )
            .into());
        }
    };
    // The indices have the dtype of the repeats, and a narrow dtype may not hold them.
    let is_narrow = repeats.dtype().is_integral() && repeats.dtype().size() < DType::I32.size();
    let repeats = if is_narrow { to_dtype(&repeats, DType::I64, false, false, None)? } else { repeats };
    crate::index_select(&this, dim, &repeat_interleave(&repeats, output_size)?)
}

/// Repeats each slice along a dimension `repeats` times.
#[op_def(
    "repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor"
)]
pub fn repeat_interleave_self_int(_: ...) -> Result<Tensor> {
    let (this, dim) = match dim {
        Some(dim) => (this.clone(), dim),
        None => (crate::flatten_using_ints(this, 0, -1)?, 0),
    };
    let at = wrap_dim("dim", dim, this.sizes().len())?;
    if repeats < 0 {
        return Err(BadArgument::number("repeats", repeats, 0..).into());
    }
    let size = this.sizes().get(at).copied().ok_or_else(|| BadArgument::rank("self", 0, 1..))?;
    if output_size.is_some_and(|wanted| wanted != size.saturating_mul(repeats)) {
        return Err(BadArgument::number("output_size", output_size.unwrap_or(0), size.saturating_mul(repeats)).into());
    }
    let mut sizes = Dims::from_slice(this.sizes());
    sizes.insert(at + 1, repeats);
    let inner = i64::try_from(at).unwrap_or(0);
    let wide = crate::expand(&crate::unsqueeze(&this, inner + 1)?, &sizes, false)?;
    crate::flatten_using_ints(&crate::alias_copy(&wide)?, inner, inner + 1)
}
