//! CUDA kernels of `cdist` and `pdist`, the distances between rows.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::CdistPlan;

use crate::prelude::*;

kernel! {
    // SAFETY: all tensors are packed or allocated here, of sizes that `aten` checked.
    static DISTANCE_KERNEL = unsafe { Kernel::new("distance", include_str!("../../../kernels/products/distance.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["distances", "pair_distances", "distance_gradient", "pair_distance_gradient"], &FLOATING_DTYPES);
    }) };
}

define_parameters! {
    /// The kernels' `struct Norm`: the power and the kind of a norm.
    struct Norm {
        power: f64,
        kind: u32,
    }
}

impl Norm {
    fn from_power(power: f64) -> Self {
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

define_parameters! {
    /// The kernels' `struct DistanceShape`: the sizes of the compared matrices.
    struct DistanceShape {
        height: i64,
        breadth: i64,
        width: i64,
    }
}

impl DistanceShape {
    /// Returns the sizes of two batches of matrices for `cdist`, whose result has the sizes `result`.
    fn for_cdist(x: &Tensor, result: &[i64]) -> Self {
        let [height, breadth] = [result.len() - 2, result.len() - 1].map(|dim| result[dim]);
        Self { height, breadth, width: x.sizes().last().copied().unwrap_or(0) }
    }

    fn for_pdist(this: &Tensor) -> Self {
        Self { height: this.sizes()[0], breadth: 0, width: this.sizes()[1] }
    }
}

/// Returns a batch of matrices, contiguous and broadcast to the batch dimensions of the result.
fn broadcast_batch(x: &Tensor, result: &[i64]) -> Result<Tensor> {
    let sizes = [&result[..result.len() - 2], &x.sizes()[x.sizes().len() - 2..]].concat();
    contiguous(&aten::expand(x, &sizes, false)?, x.dtype())
}

/// Returns a grid with a warp for each of `count` distances.
fn warp_grid(count: i64) -> Grid {
    Grid::from_block_count(count.max(0).unsigned_abs().div_ceil(8), 256)
}

#[op_impl(aten::_cdist_forward, CUDA)]
fn _cdist_forward(plan: &CdistPlan, out: &mut Tensor, x1: &Tensor, x2: &Tensor, p: f64) -> Result<()> {
    if plan.use_matmul {
        return aten::_euclidean_dist_out(x1, x2, out);
    }
    check_dtype(aten::_cdist_forward::operator(), "x1", x1.dtype(), &FLOATING_DTYPES)?;
    let (left, right) = (broadcast_batch(x1, out.sizes())?, broadcast_batch(x2, out.sizes())?);
    let count = out.geometry().count();
    let arguments = (count, &*out, &left, &right, DistanceShape::for_cdist(x1, out.sizes()), Norm::from_power(p));
    Ok(Launch::on_device_of(out)?.run(&DISTANCE_KERNEL, "distances", &[out.dtype()], warp_grid(count), arguments)?)
}

#[op_impl(aten::_cdist_backward, CUDA)]
fn _cdist_backward(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    check_dtype(aten::_cdist_backward::operator(), "x1", x1.dtype(), &FLOATING_DTYPES)?;
    let (left, right) = (broadcast_batch(x1, cdist.sizes())?, broadcast_batch(x2, cdist.sizes())?);
    let (grad, distances) = (contiguous(grad, out.dtype())?, contiguous(cdist, out.dtype())?);
    let count = out.geometry().count();
    let arguments = (
        count,
        &*out,
        &grad,
        &left,
        &right,
        &distances,
        DistanceShape::for_cdist(x1, cdist.sizes()),
        Norm::from_power(p),
    );
    Launch::on_device_of(out)?.run_per_element(&DISTANCE_KERNEL, "distance_gradient", &[out.dtype()], count, arguments)
}

#[op_impl(aten::_pdist_forward, CUDA)]
fn _pdist_forward(_plan: &(), out: &mut Tensor, this: &Tensor, p: f64) -> Result<()> {
    check_dtype(aten::_pdist_forward::operator(), "self", this.dtype(), &FLOATING_DTYPES)?;
    let elements = contiguous(this, this.dtype())?;
    let count = out.geometry().count();
    let arguments = (count, &*out, &elements, DistanceShape::for_pdist(this), Norm::from_power(p));
    Ok(Launch::on_device_of(out)?.run(
        &DISTANCE_KERNEL,
        "pair_distances",
        &[out.dtype()],
        warp_grid(count),
        arguments,
    )?)
}

#[op_impl(aten::_pdist_backward, CUDA)]
fn _pdist_backward(_plan: &(), out: &mut Tensor, grad: &Tensor, this: &Tensor, p: f64, pdist: &Tensor) -> Result<()> {
    check_dtype(aten::_pdist_backward::operator(), "self", this.dtype(), &FLOATING_DTYPES)?;
    let elements = contiguous(this, this.dtype())?;
    let (grad, distances) = (contiguous(grad, out.dtype())?, contiguous(pdist, out.dtype())?);
    let count = out.geometry().count();
    let arguments = (count, &*out, &grad, &elements, &distances, DistanceShape::for_pdist(this), Norm::from_power(p));
    Launch::on_device_of(out)?.run_per_element(
        &DISTANCE_KERNEL,
        "pair_distance_gradient",
        &[out.dtype()],
        count,
        arguments,
    )
}
