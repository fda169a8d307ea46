//! Where numbers are among others.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::prelude::*;
use dispatch_runtime::{Geometry, Spec, result_dtype};

use crate::copying::packed;
use crate::kernel::Kernel;
use crate::launch::{Launch, Parameter, Place};
use crate::machine::Grid;
use crate::order::Ranks;
use crate::picks::site;

kernel! {
    // SAFETY: all tensors are packed or made here, with their counts. Places that come from a sorter are compared where they are read.
    static SEARCH = unsafe { Kernel::new("search", include_str!("../kernels/search.cu"), |instances| {
        for template in ["placed", "among"] {
            instances.each(template, &[DType::F32, DType::F64, DType::I64]);
        }
    }) };
}

/// `struct Row` of the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Row {
    at: Place,
    dtype: i32,
    width: i64,
}

impl Parameter for Row {}

impl Row {
    fn of(launch: Launch, packed: &Tensor) -> Result<Self> {
        let width = packed.sizes().last().copied().unwrap_or(1);
        Ok(Self { at: launch.place(packed)?, dtype: packed.dtype() as i32, width })
    }
}

/// What numbers of two dtypes are compared in.
fn compared(tensors: [&Tensor; 2]) -> DType {
    match result_dtype(tensors) {
        DType::F64 => DType::F64,
        dtype if dtype.is_floating() => DType::F32,
        _ => DType::I64,
    }
}

#[op_impl(aten::searchsorted, CUDA)]
fn searchsorted(
    sorted_sequence: &Tensor,
    this: &Tensor,
    out_int32: bool,
    right: bool,
    side: Option<&str>,
    sorter: Option<&Tensor>,
) -> Result<Tensor> {
    let (spec, right) = aten::searchsorted_spec(sorted_sequence, this, out_int32, right, side, sorter)?;
    found(spec, sorted_sequence, this, right, sorter)
}

#[op_impl(aten::bucketize, CUDA)]
fn bucketize(this: &Tensor, boundaries: &Tensor, out_int32: bool, right: bool) -> Result<Tensor> {
    let spec = aten::bucketize_spec(this, boundaries, out_int32, right)?;
    found(spec, boundaries, this, right, None)
}

fn found(spec: Spec, boundaries: &Tensor, wanted: &Tensor, right: bool, sorter: Option<&Tensor>) -> Result<Tensor> {
    let row = Spec { geometry: Geometry::contiguous(wanted.sizes()), ..spec.clone() }.on(boundaries.device())?;
    let each = match (boundaries.sizes(), wanted.sizes().last()) {
        ([_, _, ..], Some(&each)) => each,
        _ => i64::MAX,
    };
    let (launch, computed) = (Launch::on(&row)?, compared([boundaries, wanted]));
    let wanted = crate::index::here(wanted, boundaries)?;
    let (among, wanted) = (packed(boundaries, boundaries.dtype())?, packed(&wanted, wanted.dtype())?);
    let order = sorter.map(|sorter| packed(sorter, DType::I64)).transpose()?;
    let order = order.as_ref().map_or(Ok(Place::NULL), |order| launch.place(order))?;
    let (site, count) = (site!("aten::searchsorted", "sorter"), row.geometry().count());
    let sides = (Row::of(launch, &wanted)?, Row::of(launch, &among)?);
    let narrow = row.dtype() == DType::I32;
    let arguments = (count, sides.0, sides.1, each, right, order, launch.place(&row)?, narrow, site, launch.faults());
    launch.run(&SEARCH, "placed", &[computed], Grid::cover(count), arguments)?;
    if row.strides() == spec.geometry.strides() { Ok(row) } else { crate::moves::copied(&row, spec) }
}

#[op_impl(aten::isin_tensor_tensor, CUDA)]
fn isin(elements: &Tensor, test_elements: &Tensor, _assume_unique: bool, invert: bool) -> Result<Tensor> {
    let spec = aten::isin_spec(elements, test_elements)?;
    let both = [elements, test_elements];
    // Integers beside fractions keep their digits.
    let computed = match compared(both) {
        DType::F32 if !both.iter().all(|tensor| tensor.dtype().is_floating()) => DType::F64,
        other => other,
    };
    let on = if crate::number::is_single(elements) { test_elements } else { elements };
    let out = spec.on(on.device())?;
    let [elements, tests] = both.map(|tensor| crate::index::here(tensor, on));
    let (elements, tests) = (elements?, packed(&tests?, computed)?);
    let elements = packed(&elements, elements.dtype())?;
    let launch = Launch::on(&out)?;
    let (sorted, _) = Ranks::one(&tests).sorted()?;
    let (count, size) = (out.geometry().count(), tests.geometry().count());
    let arguments = (count, Row::of(launch, &elements)?, launch.place(&sorted)?, size, invert, launch.place(&out)?);
    launch.run(&SEARCH, "among", &[computed], Grid::cover(count), arguments)?;
    Ok(out)
}
