//! CUDA kernels of `segment_reduce`: each segment of a dimension is reduced to one element.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::{ReductionType, SegmentReducePlan};

use crate::engine::gather::computed_in;
use crate::engine::prefix_sum::exclusive_sum;
use crate::engine::transfer::contiguous_copy;
use crate::prelude::*;

kernel! {
    // SAFETY: all tensors are packed or allocated here, of sizes that `aten` checked. The bounds of a segment are checked where they are
    // read.
    static SEGMENT_REDUCE = unsafe { Kernel::new("segment_reduce", include_str!("../../../kernels/indexing/segment_reduce.cu"), |instances| {
        instances.all(&["reduced", "spread"], &[DType::F32, DType::F64]);
    }) };
}

parameters! {
    /// The kernels' `struct Segments`: the bounds of the segments and the sizes of the data.
    struct Given {
        count: i64,
        lines: i64,
        size: i64,
        width: i64,
        told: Place,
        before: Place,
        reduce: i32,
        partial: bool,
        site: Site,
        fault: Place,
    }
}

impl Given {
    fn threads(&self) -> Grid {
        Grid::cover(self.lines * self.count * self.width)
    }
}

/// The lengths or offsets of segments, on the device.
struct Boundaries {
    numbers: Tensor,
    before: Option<Tensor>,
}

impl Boundaries {
    fn of(segments: &SegmentReducePlan<'_>) -> Result<Self> {
        let (told, by_ends) = segments.boundaries;
        let numbers = contiguous(told, DType::I64)?;
        if by_ends {
            return Ok(Self { numbers, before: None });
        }
        let before = contiguous_copy(&numbers, DType::I64)?;
        exclusive_sum(Launch::on(&before)?, &before)?;
        Ok(Self { numbers, before: Some(before) })
    }

    fn given(&self, launch: Launch, segments: &SegmentReducePlan<'_>, data: &Tensor, partial: bool) -> Result<Given> {
        let (sizes, axis) = (data.sizes(), segments.axis);
        Ok(Given {
            count: segments.count,
            lines: sizes[..axis].iter().product(),
            size: sizes[axis],
            width: sizes[axis + 1..].iter().product(),
            told: launch.place(&self.numbers)?,
            before: launch.place_or_null(self.before.as_ref())?,
            reduce: segments.reduce as i32,
            partial,
            site: Site::of("aten::segment_reduce", if self.before.is_some() { "lengths" } else { "offsets" }),
            fault: launch.faults(),
        })
    }
}

/// Returns the initial value of a segment's reduction.
fn begin(initial: Option<Scalar>, otherwise: f64) -> f64 {
    initial.map_or(otherwise, |initial| f64::from_bits(crate::engine::number::encoded(initial, DType::F64)))
}

#[op_impl(aten::segment_reduce, CUDA)]
fn segment_reduce(plan: &SegmentReducePlan<'_>, out: &mut Tensor, _: ...) -> Result<()> {
    let (launch, boundaries, dtype) = (Launch::on(out)?, Boundaries::of(plan)?, data.dtype());
    let given = boundaries.given(launch, plan, data, r#unsafe)?;
    let elements = contiguous(data, dtype)?;
    let start = begin(
        initial,
        match plan.reduce {
            ReductionType::Sum | ReductionType::Mean => 0.0,
            ReductionType::Product => 1.0,
            ReductionType::Max => f64::NEG_INFINITY,
            ReductionType::Min => f64::INFINITY,
        },
    );
    let arguments = (given, &elements, dtype as i32, out, start, initial.is_none());
    Ok(launch.run(&SEGMENT_REDUCE, "reduced", &[computed_in(dtype)], given.threads(), arguments)?)
}

#[op_impl(aten::_segment_reduce_backward, CUDA)]
fn _segment_reduce_backward(plan: &SegmentReducePlan<'_>, out: &mut Tensor, _: ...) -> Result<()> {
    let (dtype, computed) = (data.dtype(), computed_in(data.dtype()));
    let (launch, boundaries) = (Launch::on(out)?, Boundaries::of(plan)?);
    let given = boundaries.given(launch, plan, data, true)?;
    let (grads, results, elements) = (contiguous(grad, dtype)?, contiguous(output, dtype)?, contiguous(data, dtype)?);
    computed_contiguous(out, computed, |out| {
        write(out, &Tensor::number(0.into()))?;
        let arguments = (given, &grads, &results, &elements, dtype as i32, out, begin(initial, 1.0));
        Ok(launch.run(&SEGMENT_REDUCE, "spread", &[computed], given.threads(), arguments)?)
    })
}
