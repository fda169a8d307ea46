//! How far rows are from each other.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::prelude::*;

use crate::copying::packed;
use crate::kernel::Kernel;
use crate::launch::{Launch, Parameter};
use crate::machine::Grid;
use crate::number::{FLOATING, check_dtype};

kernel! {
    // SAFETY: all tensors are packed or made here, of sizes that `aten` compared.
    static DISTANCE = unsafe { Kernel::new("distance", include_str!("../kernels/distance.cu"), |instances| {
        for template in ["apart", "pairs_apart", "pulled", "pairs_pulled"] {
            instances.each(template, &FLOATING);
        }
    }) };
}

/// `struct Norm` of the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Norm {
    power: f64,
    kind: u32,
}

impl Parameter for Norm {}

impl Norm {
    fn of(power: f64) -> Self {
        let kind = match power {
            0.0 => 0,
            1.0 => 1,
            2.0 => 2,
            f64::INFINITY => 4,
            _ => 3,
        };
        Self { power, kind }
    }
}

/// `struct Rows` of the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Rows {
    height: i64,
    breadth: i64,
    width: i64,
}

impl Parameter for Rows {}

impl Rows {
    /// Of two batches of matrices, whose rows meet in a result of these sizes.
    fn of(x: &Tensor, result: &[i64]) -> Self {
        let [height, breadth] = [result.len() - 2, result.len() - 1].map(|dim| result[dim]);
        Self { height, breadth, width: x.sizes().last().copied().unwrap_or(0) }
    }

    fn pairs(this: &Tensor) -> Self {
        Self { height: this.sizes()[0], breadth: 0, width: this.sizes()[1] }
    }
}

/// A batch of matrices side by side, as often as the result has batches.
fn stretched(x: &Tensor, result: &[i64]) -> Result<Tensor> {
    let sizes = [&result[..result.len() - 2], &x.sizes()[x.sizes().len() - 2..]].concat();
    let wide = aten::expand(x, &sizes, false)?;
    packed(&wide, x.dtype())
}

/// A warp for each.
fn warps(count: i64) -> Grid {
    Grid::of(count.max(0).unsigned_abs().div_ceil(8), 256)
}

#[op_impl(aten::_cdist_forward, CUDA)]
fn _cdist_forward(x1: &Tensor, x2: &Tensor, p: f64, compute_mode: Option<i64>) -> Result<Tensor> {
    let spec = aten::cdist_spec(x1, x2, p, compute_mode)?;
    if aten::by_product(&spec, p, compute_mode) {
        return aten::_euclidean_dist(x1, x2);
    }
    check_dtype(aten::_cdist_forward::operator(), "x1", spec.dtype, &FLOATING)?;
    let out = spec.on(x1.device())?;
    let (left, right) = (stretched(x1, out.sizes())?, stretched(x2, out.sizes())?);
    let (launch, count) = (Launch::on(&out)?, out.geometry().count());
    let places = (launch.place(&out)?, launch.place(&left)?, launch.place(&right)?);
    let arguments = (count, places.0, places.1, places.2, Rows::of(x1, out.sizes()), Norm::of(p));
    launch.run(&DISTANCE, "apart", &[out.dtype()], warps(count), arguments)?;
    Ok(out)
}

#[op_impl(aten::_cdist_backward, CUDA)]
fn _cdist_backward(grad: &Tensor, x1: &Tensor, x2: &Tensor, p: f64, cdist: &Tensor) -> Result<Tensor> {
    let spec = aten::cdist_gradient_spec(grad, x1, x2, p, cdist)?;
    check_dtype(aten::_cdist_backward::operator(), "x1", spec.dtype, &FLOATING)?;
    let out = spec.on(x1.device())?;
    let (left, right) = (stretched(x1, cdist.sizes())?, stretched(x2, cdist.sizes())?);
    let (grad, distances) = (packed(grad, out.dtype())?, packed(cdist, out.dtype())?);
    let (launch, count) = (Launch::on(&out)?, out.geometry().count());
    let places = (launch.place(&out)?, launch.place(&grad)?, launch.place(&left)?, launch.place(&right)?);
    let rows = Rows::of(x1, cdist.sizes());
    let arguments = (count, places.0, places.1, places.2, places.3, launch.place(&distances)?, rows, Norm::of(p));
    launch.run(&DISTANCE, "pulled", &[out.dtype()], Grid::cover(count), arguments)?;
    Ok(out)
}

#[op_impl(aten::_pdist_forward, CUDA)]
fn _pdist_forward(this: &Tensor, p: f64) -> Result<Tensor> {
    let spec = aten::pdist_spec(this, p)?;
    check_dtype(aten::_pdist_forward::operator(), "self", spec.dtype, &FLOATING)?;
    let (out, elements) = (spec.on(this.device())?, packed(this, this.dtype())?);
    let (launch, count) = (Launch::on(&out)?, out.geometry().count());
    let arguments = (count, launch.place(&out)?, launch.place(&elements)?, Rows::pairs(this), Norm::of(p));
    launch.run(&DISTANCE, "pairs_apart", &[out.dtype()], warps(count), arguments)?;
    Ok(out)
}

#[op_impl(aten::_pdist_backward, CUDA)]
fn _pdist_backward(grad: &Tensor, this: &Tensor, p: f64, pdist: &Tensor) -> Result<Tensor> {
    let spec = aten::pdist_gradient_spec(grad, this, p, pdist)?;
    check_dtype(aten::_pdist_backward::operator(), "self", spec.dtype, &FLOATING)?;
    let (out, elements) = (spec.on(this.device())?, packed(this, this.dtype())?);
    let (grad, distances) = (packed(grad, out.dtype())?, packed(pdist, out.dtype())?);
    let (launch, count) = (Launch::on(&out)?, out.geometry().count());
    let places = (launch.place(&out)?, launch.place(&grad)?, launch.place(&elements)?, launch.place(&distances)?);
    let arguments = (count, places.0, places.1, places.2, places.3, Rows::pairs(this), Norm::of(p));
    launch.run(&DISTANCE, "pairs_pulled", &[out.dtype()], Grid::cover(count), arguments)?;
    Ok(out)
}
