//! CUDA kernels of `segment_reduce`: each segment of a dimension is reduced to one element.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::{ReductionType, SegmentReducePlan};

use crate::engine::gather::combine_dtype;
use crate::engine::prefix_sum::exclusive_prefix_sum;
use crate::engine::transfer::contiguous_copy;
use crate::prelude::*;

kernel! {
    // SAFETY: all tensors are packed or allocated here, of sizes that `aten` checked. The bounds of a segment are checked where they are
    // read.
    static SEGMENT_REDUCE_KERNEL = unsafe { Kernel::new("segment_reduce", include_str!("../../../kernels/indexing/segment_reduce.cu"), |instances| {
        instances.add_templates_for_each_dtype(&["reduce_segments", "segment_gradients"], &[DType::F32, DType::F64]);
    }) };
}

define_parameters! {
    /// The kernels' `struct Segments`: the bounds of the segments and the sizes of the data.
    struct SegmentsParameter {
        count: i64,
        lines: i64,
        size: i64,
        width: i64,
        boundaries: DevicePointer,
        starts: DevicePointer,
        reduce: i32,
        partial: bool,
        site: FaultSite,
        fault: DevicePointer,
    }
}

impl SegmentsParameter {
    fn grid(&self) -> Grid {
        Grid::for_elements(self.lines * self.count * self.width)
    }
}

/// The lengths or offsets of segments, on the device.
struct SegmentBoundaries {
    numbers: Tensor,
    starts: Option<Tensor>,
}

impl SegmentBoundaries {
    fn from_plan(segments: &SegmentReducePlan<'_>) -> Result<Self> {
        let (told, by_ends) = segments.boundaries;
        let numbers = contiguous(told, DType::I64)?;
        if by_ends {
            return Ok(Self { numbers, starts: None });
        }
        let starts = contiguous_copy(&numbers, DType::I64)?;
        exclusive_prefix_sum(Launch::on_device_of(&starts)?, &starts)?;
        Ok(Self { numbers, starts: Some(starts) })
    }

    fn parameter(
        &self,
        launch: Launch,
        segments: &SegmentReducePlan<'_>,
        data: &Tensor,
        partial: bool,
    ) -> Result<SegmentsParameter> {
        let (sizes, axis) = (data.sizes(), segments.axis);
        Ok(SegmentsParameter {
            count: segments.count,
            lines: sizes[..axis].iter().product(),
            size: sizes[axis],
            width: sizes[axis + 1..].iter().product(),
            boundaries: launch.pointer(&self.numbers)?,
            starts: launch.pointer_or_null(self.starts.as_ref())?,
            reduce: segments.reduce as i32,
            partial,
            site: FaultSite::for_argument(
                "aten::segment_reduce",
                if self.starts.is_some() { "lengths" } else { "offsets" },
            ),
            fault: launch.fault_record(),
        })
    }
}

/// Returns the initial value of a segment's reduction.
fn initial_or_default(initial: Option<Scalar>, otherwise: f64) -> f64 {
    initial.map_or(otherwise, |initial| f64::from_bits(crate::engine::scalars::encode_scalar(initial, DType::F64)))
}

#[op_impl(aten::segment_reduce, CUDA)]
fn segment_reduce(plan: &SegmentReducePlan<'_>, out: &mut Tensor, _: ...) -> Result<()> {
    let (launch, boundaries, dtype) = (Launch::on_device_of(out)?, SegmentBoundaries::from_plan(plan)?, data.dtype());
    let parameter = boundaries.parameter(launch, plan, data, r#unsafe)?;
    let elements = contiguous(data, dtype)?;
    let start = initial_or_default(
        initial,
        match plan.reduce {
            ReductionType::Sum | ReductionType::Mean => 0.0,
            ReductionType::Product => 1.0,
            ReductionType::Max => f64::NEG_INFINITY,
            ReductionType::Min => f64::INFINITY,
        },
    );
    let arguments = (parameter, &elements, dtype as i32, out, start, initial.is_none());
    Ok(launch.run(&SEGMENT_REDUCE_KERNEL, "reduce_segments", &[combine_dtype(dtype)], parameter.grid(), arguments)?)
}

#[op_impl(aten::_segment_reduce_backward, CUDA)]
fn _segment_reduce_backward(plan: &SegmentReducePlan<'_>, out: &mut Tensor, _: ...) -> Result<()> {
    let (dtype, computed) = (data.dtype(), combine_dtype(data.dtype()));
    let (launch, boundaries) = (Launch::on_device_of(out)?, SegmentBoundaries::from_plan(plan)?);
    let parameter = boundaries.parameter(launch, plan, data, true)?;
    let (grads, results, elements) = (contiguous(grad, dtype)?, contiguous(output, dtype)?, contiguous(data, dtype)?);
    with_contiguous_output(out, computed, |out| {
        copy_into(out, &Tensor::number(0.into()))?;
        let arguments = (parameter, &grads, &results, &elements, dtype as i32, out, initial_or_default(initial, 1.0));
        Ok(launch.run(&SEGMENT_REDUCE_KERNEL, "segment_gradients", &[computed], parameter.grid(), arguments)?)
    })
}
