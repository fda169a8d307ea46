//! Products of float8 matrices with scales.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Problem, Spec};

use super::weight_only::check_matrices;
use crate::prelude::*;

/// The number of a scaling with one scale for a whole matrix.
const ONE_SCALE: i64 = 0;
/// The number of a scaling with a scale for each row of the first matrix, or each column of the second.
const SCALE_PER_LINE: i64 = 1;

/// The product of two float8 matrices, each times its scales, plus a bias for each column. The scales are single numbers, or a column for
/// the rows of `self` and a row for the columns of `mat2`.
///
/// `scale_result` divides the result if `out_dtype` is a float8 dtype. `use_fast_accum` is for other devices.
#[op_def(
    "_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, Tensor? scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False) -> Tensor",
    plan, float8, body = CompositeExplicitAutograd
)]
pub fn _scaled_mm(_: ...) -> Result<Tensor> {
    let plan = _scaled_mm::plan(this, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum)?;
    let [Spec { dtype, .. }] = plan.outputs;
    let product = multiply_scaled((this, scale_a), (mat2, scale_b), bias)?;
    match scale_result {
        Some(scale) if out_dtype.is_some() && dtype.is_float8() => (product / &scale.reshape(())?)?.to(dtype),
        _ => product.to(dtype),
    }
}

/// [`_scaled_mm`], into `out` and in its dtype.
#[op_def(
    "_scaled_mm.out(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, Tensor? scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False, *, Tensor(a!) out) -> Tensor(a!)",
    body = CompositeExplicitAutograd
)]
pub fn _scaled_mm_out(_: ...) -> Result<()> {
    if let Some(expected) = out_dtype.filter(|&dtype| dtype != out.dtype()) {
        return Err(BadArgument::dtype("out", out.dtype(), expected).like("out_dtype").into());
    }
    let dtype = out_dtype.or_else(|| (out.dtype() != this.dtype()).then(|| out.dtype()));
    let Plan { outputs: [spec], .. } =
        _scaled_mm::plan(this, mat2, scale_a, scale_b, bias, scale_result, dtype, use_fast_accum)?;
    spec.fit_output("out", out)?;
    let product = _scaled_mm(this, mat2, scale_a, scale_b, bias, scale_result, dtype, use_fast_accum)?;
    crate::copy_(out, &product, false)
}

#[op_plan(_scaled_mm)]
fn scaled_mm_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    let sizes = check_scaled(("self", this), ("mat2", mat2), bias)?;
    let is_line_scaled = scale_a.sizes() == [sizes.0, 1] && scale_b.sizes() == [1, sizes.1];
    for (name, scale) in [("scale_a", scale_a), ("scale_b", scale_b)] {
        check_scale_dtype(name, scale)?;
        if scale.geometry().count() != 1 && !is_line_scaled {
            let expected =
                format!("one element, or {:?} in `scale_a` and {:?} in `scale_b`", [sizes.0, 1], [1, sizes.1]);
            return Err(BadArgument::sizes(name, scale.sizes(), expected));
        }
    }
    if let Some(scale) = scale_result {
        check_scale_dtype("scale_result", scale)?;
        super::affine::check_single("scale_result", scale)?;
    }
    Ok(Plan::new((), [Spec::contiguous(out_dtype.unwrap_or_else(|| this.dtype()), &[sizes.0, sizes.1])]))
}

/// The product of two float8 matrices, each times its scales, plus a bias for each column. The numbers in `recipe_a` and `recipe_b` name
/// the kind of scaling: 0 for a single scale, 1 for a scale of each row of `self` and of each column of `mat2`.
#[op_def(
    "_scaled_mm_v2(Tensor self, Tensor mat2, Tensor[] scale_a, int[] recipe_a, int[] swizzle_a, Tensor[] scale_b, int[] recipe_b, int[] swizzle_b, Tensor? bias, ScalarType? out_dtype, int[] contraction_dim=[], bool use_fast_accum=False) -> Tensor",
    plan, float8, out = "out", body = CompositeExplicitAutograd
)]
pub fn _scaled_mm_v2(_: ...) -> Result<Tensor> {
    let plan = _scaled_mm_v2::plan(
        this,
        mat2,
        scale_a,
        recipe_a,
        swizzle_a,
        scale_b,
        recipe_b,
        swizzle_b,
        bias,
        out_dtype,
        contraction_dim,
        use_fast_accum,
    )?;
    let [Spec { dtype, .. }] = plan.outputs;
    multiply_scaled((this, &scale_a[0]), (mat2, &scale_b[0]), bias)?.to(dtype)
}

#[op_plan(_scaled_mm_v2)]
fn scaled_mm_v2_plan(_: ...) -> Result<Plan<()>, BadArgument> {
    let (rows, columns) = check_scaled(("self", this), ("mat2", mat2), bias)?;
    for (name, swizzle) in [("swizzle_a", swizzle_a), ("swizzle_b", swizzle_b)] {
        if swizzle.iter().any(|&kind| kind != 0) {
            return Err(BadArgument::value(name, format!("{swizzle:?}"), "[0], because scales are in their order"));
        }
    }
    if !matches!(contraction_dim, [] | [1 | -1, 0 | -2]) {
        let found = format!("{contraction_dim:?}");
        return Err(BadArgument::value("contraction_dim", found, "empty or [1, 0], the inner dimensions"));
    }
    for (name, recipe) in [("recipe_a", recipe_a), ("recipe_b", recipe_b)] {
        if !matches!(recipe, [ONE_SCALE | SCALE_PER_LINE]) || recipe != recipe_a {
            return Err(BadArgument::value(
                name,
                format!("{recipe:?}"),
                "[0] for one scale, or [1] for one of each line",
            ));
        }
    }
    let lines = |count: i64| if recipe_a == [SCALE_PER_LINE] { count } else { 1 };
    for (name, scales, count) in [("scale_a", scale_a, lines(rows)), ("scale_b", scale_b, lines(columns))] {
        let [scale] = scales else {
            return Err(BadArgument::length(name, scales.len(), 1));
        };
        check_scale_dtype(name, scale)?;
        if scale.geometry().count() != count {
            return Err(BadArgument::sizes(name, scale.sizes(), dispatch_runtime::Sizes::ElementCount(count.into())));
        }
        let expected = if name == "scale_a" { [count, 1] } else { [1, count] };
        if recipe_a == [SCALE_PER_LINE] && scale.sizes() != expected {
            return Err(BadArgument::sizes(name, scale.sizes(), &expected[..]));
        }
    }
    Ok(Plan::new((), [Spec::contiguous(out_dtype.unwrap_or_else(|| this.dtype()), &[rows, columns])]))
}

/// Multiplies two matrices times their scales, in single precision.
fn multiply_scaled(first: (&Tensor, &Tensor), second: (&Tensor, &Tensor), bias: Option<&Tensor>) -> Result<Tensor> {
    let scaled = |(matrix, scale): (&Tensor, &Tensor)| {
        let scale = if scale.geometry().count() == 1 { scale.reshape(())? } else { scale.clone() };
        matrix.to(DType::F32)? * scale
    };
    let product = crate::mm(&scaled(first)?, &scaled(second)?)?;
    match bias {
        Some(bias) => product + bias.to(DType::F32)?,
        None => Ok(product),
    }
}

/// Refuses what is no product of float8 matrices. Returns the sizes of the product.
fn check_scaled(
    first: (&'static str, &Tensor),
    second: (&'static str, &Tensor),
    bias: Option<&Tensor>,
) -> Result<(i64, i64), BadArgument> {
    let sizes = check_matrices(first, second)?;
    for (name, matrix) in [first, second] {
        if !matrix.dtype().is_float8() {
            return Err(BadArgument::dtype(name, matrix.dtype(), "a float8 dtype"));
        }
    }
    if let Some(bias) = bias.filter(|bias| bias.geometry().count() != sizes.1 || bias.sizes().last() != Some(&sizes.1))
    {
        return Err(BadArgument::sizes("bias", bias.sizes(), &[sizes.1][..]));
    }
    Ok(sizes)
}

fn check_scale_dtype(name: &'static str, scale: &Tensor) -> Result<(), BadArgument> {
    if scale.dtype() == DType::F32 {
        return Ok(());
    }
    Err(BadArgument::new(name, Problem::DType { found: scale.dtype(), expected: DType::F32.into() }))
}
