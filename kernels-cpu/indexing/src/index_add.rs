//! Kernels that write or add elements at indices along one or several dimensions.

use aten::{IndexAddPlan, IndexPlan, ScatterReducePlan};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex32, Complex64, Spec};

use crate::combine::{CombineTarget, ready, reduced, summed};
use crate::index::{Lists, Negative, inside, positions};
use crate::scatter::{list_of, one, rows};
use engine::compute::Compute;
use engine::convert::computed_in;
use engine::data_movement::{Axis, Step, broadcast_contiguous, copy, copy_along, packed};
use engine::reduce::computed;

#[op_impl(aten::index_copy, CPU)]
fn index_copy(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, source: &Tensor) -> Result<()> {
    let list = list_of(this, *plan, index, Negative::IsOutside)?;
    copy(out, this)?;
    let axes = rows(source, *plan, &list, out.strides());
    copy_along(out, source, &axes)
}

#[op_impl(aten::index_add, CPU)]
fn index_add(plan: &IndexAddPlan, out: &mut Tensor, this: &Tensor, index: &Tensor, source: &Tensor) -> Result<()> {
    let list = list_of(this, plan.dim, index, Negative::IsOutside)?;
    let computed = computed_in(this.dtype());
    let scaled = if plan.alpha == Scalar::Int(1) {
        ready(source)?
    } else {
        let mut scaled = packed(source, computed)?;
        computed!(aten::index_add, computed, T: [f32, f64, Complex32, Complex64, i64] => {
            scale::<T>(&mut scaled, plan.alpha)
        })?;
        scaled
    };
    let axes = rows(&scaled, plan.dim, &list, out.strides());
    summed(out, this, &scaled, &axes)
}

fn scale<T: Compute>(tensor: &mut Tensor, by: Scalar) -> Result<()> {
    let by = T::from_scalar(by);
    tensor.write::<T>()?.iter_mut().for_each(|element| *element = element.times(by));
    Ok(())
}

#[op_impl(aten::index_reduce, CPU)]
fn index_reduce(plan: &ScatterReducePlan, out: &mut Tensor, _: ...) -> Result<()> {
    let list = list_of(this, plan.dim, index, Negative::IsOutside)?;
    let source = ready(source)?;
    let axes = rows(&source, plan.dim, &list, out.strides());
    reduced(out, this, &source, &CombineTarget::Along(&axes), plan.reduce, include_self)
}

#[op_impl(aten::index_fill_int_scalar, CPU)]
fn index_fill(plan: &usize, out: &mut Tensor, this: &Tensor, index: &Tensor, value: Scalar) -> Result<()> {
    let list = list_of(this, *plan, index, Negative::Wraps)?;
    copy(out, this)?;
    let mut axes = rows(this, *plan, &list, out.strides());
    axes.iter_mut().for_each(|axis| axis.from = Step::Stride(0));
    if let Some(axis) = axes.get_mut(*plan) {
        axis.size = i64::try_from(list.len()).unwrap_or(i64::MAX);
    }
    copy_along(out, &one(value, this.dtype())?, &axes)
}

#[op_impl(aten::index_put, CPU)]
fn index_put(plan: &IndexPlan, out: &mut Tensor, this: &Tensor, values: &Tensor, accumulate: bool) -> Result<()> {
    let spread = *values.sizes() != *plan.sizes || !values.geometry().is_contiguous();
    let values =
        if spread { broadcast_contiguous("values", values, this.dtype(), &plan.sizes)? } else { values.clone() };
    let lists = Lists::of(plan)?;
    let steps = lists.steps(0..lists.count(), this.sizes(), out.strides())?;
    let axes: Vec<Axis> = steps.into_iter().map(|(size, to, from)| Axis { size, to, from }).collect();
    if accumulate {
        return summed(out, this, &ready(&values)?, &axes);
    }
    copy(out, this)?;
    copy_along(out, &values, &axes)
}

#[op_impl(aten::put, CPU)]
fn put_flat(_plan: &(), out: &mut Tensor, _: ...) -> Result<()> {
    let mut list = positions(index)?;
    inside("index", &mut list, this.geometry().count(), Negative::Wraps)?;
    let axes = [Axis { size: index.geometry().count(), to: Step::Table(list), from: Step::Stride(1) }];
    let source = packed(source, source.dtype())?;
    // Indices count elements in row-major order.
    let is_row = out.geometry().is_contiguous();
    let mut row = if is_row { out.clone() } else { Spec::contiguous(this.dtype(), this.sizes()).on(this.device())? };
    if accumulate {
        summed(&mut row, this, &ready(&source)?, &axes)?;
    } else {
        copy(&mut row, this)?;
        copy_along(&mut row, &source, &axes)?;
    }
    if is_row { Ok(()) } else { copy(out, &row) }
}
