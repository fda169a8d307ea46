//! The target of a scatter: writes elements to indexed positions, or combines them with the elements there.

use aten::ReductionType;

use crate::engine::data_movement::StridedPointer;
use crate::engine::gather::{
    CombineOperation, IndexLists, ScatterSource, combine_dtype, divide_by_counts, scatter, scatter_reduce,
};
use crate::prelude::*;

/// Returns the operation of a reduction and its neutral element, in the computed type.
fn operation_and_neutral_element(how: ReductionType, computed: DType) -> (CombineOperation, Scalar) {
    let real = |fraction: f64, narrow: i32, wide: i64| match computed {
        DType::F32 | DType::F64 => Scalar::Float(fraction),
        DType::I32 => Scalar::Int(narrow.into()),
        _ => Scalar::Int(wide),
    };
    match how {
        ReductionType::Sum | ReductionType::Mean => (CombineOperation::Sum, Scalar::Int(0)),
        ReductionType::Product => (CombineOperation::Product, Scalar::Int(1)),
        ReductionType::Max => (CombineOperation::Max, real(f64::NEG_INFINITY, i32::MIN, i64::MIN)),
        ReductionType::Min => (CombineOperation::Min, real(f64::INFINITY, i32::MAX, i64::MAX)),
    }
}

/// A function that returns a tensor's address and strides as the target of a scatter, and the lists of indices into it.
type TargetFn<'a> = dyn Fn(Launch, &Tensor) -> Result<(StridedPointer, IndexLists)> + 'a;

/// The target of a scatter, for a tensor of any layout.
pub(super) struct ScatterTarget<'a> {
    pub(super) launch: Launch,
    pub(super) sizes: &'a [i64],
    pub(super) lists: &'a TargetFn<'a>,
}

impl<'a> ScatterTarget<'a> {
    /// Creates a target with the sizes of the index, on the device of a tensor.
    pub(super) fn for_tensor(this: &Tensor, sizes: &'a [i64], lists: &'a TargetFn<'a>) -> Result<Self> {
        Ok(Self { launch: Launch::on_device_of(this)?, sizes, lists })
    }

    /// Writes `this` to `out`, with the indexed elements replaced by the source.
    pub(super) fn scatter(&self, out: &mut Tensor, this: &Tensor, source: &ScatterSource) -> Result<()> {
        copy_into(out, this)?;
        let (to, lists) = (self.lists)(self.launch, out)?;
        scatter(self.launch, out.dtype(), self.sizes, &to, source, lists)
    }

    /// Writes `this` to `out`, with the indexed elements combined with the source, whose elements have `dtype`.
    pub(super) fn combine(
        &self,
        out: &mut Tensor,
        this: &Tensor,
        source: &ScatterSource,
        dtype: DType,
        how: ReductionType,
        include: bool,
    ) -> Result<()> {
        let computed = combine_dtype(out.dtype());
        if computed.is_complex() {
            return Err(BadArgument::dtype("self", this.dtype(), DTypes::Real).into());
        }
        if out.dtype() != computed {
            let mut sum = Spec { dtype: computed, geometry: out.geometry().clone().with_offset(0) }.on(out.device())?;
            self.combine(&mut sum, this, source, dtype, how, include)?;
            return copy_into(out, &sum);
        }
        copy_into(out, this)?;
        let (combine, neutral) = operation_and_neutral_element(how, computed);
        if !include {
            let (to, lists) = (self.lists)(self.launch, out)?;
            scatter(self.launch, computed, self.sizes, &to, &ScatterSource::Scalar(neutral), lists)?;
        }
        let (to, lists) = (self.lists)(self.launch, out)?;
        scatter_reduce(self.launch, [computed, dtype], self.sizes, &to, source, lists, combine)?;
        if how == ReductionType::Mean {
            let mut counts =
                Spec { dtype: DType::I64, geometry: out.geometry().clone().with_offset(0) }.on(out.device())?;
            copy_into(&mut counts, &Tensor::number(i64::from(include).into()))?;
            let (to, lists) = (self.lists)(self.launch, &counts)?;
            let one = ScatterSource::Scalar(1.into());
            scatter_reduce(self.launch, [DType::I64; 2], self.sizes, &to, &one, lists, CombineOperation::Sum)?;
            divide_by_counts(self.launch, out, &counts)?;
        }
        Ok(())
    }
}
