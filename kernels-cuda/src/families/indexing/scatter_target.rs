//! Where elements go, and what they and those that are there are made.

use aten::Reduce;

use crate::engine::data_movement::Side;
use crate::engine::gather::{Combine, Lists, Source, combined, computed_in, put, share};
use crate::prelude::*;

/// The join of a reduction, and what changes nothing in it, of a type that is computed in.
fn combine_of(how: Reduce, computed: DType) -> (Combine, Scalar) {
    let real = |fraction: f64, narrow: i32, wide: i64| match computed {
        DType::F32 | DType::F64 => Scalar::Float(fraction),
        DType::I32 => Scalar::Int(narrow.into()),
        _ => Scalar::Int(wide),
    };
    match how {
        Reduce::Sum | Reduce::Mean => (Combine::Sum, Scalar::Int(0)),
        Reduce::Product => (Combine::Product, Scalar::Int(1)),
        Reduce::Greatest => (Combine::Greatest, real(f64::NEG_INFINITY, i32::MIN, i64::MIN)),
        Reduce::Least => (Combine::Least, real(f64::INFINITY, i32::MAX, i64::MAX)),
    }
}

/// Finds, in a tensor, the side that elements go to and the lists of their positions.
type Positions<'a> = dyn Fn(Launch, &Tensor) -> Result<(Side, Lists)> + 'a;

/// Where elements go in a tensor that is laid out somehow.
pub(super) struct ScatterTarget<'a> {
    pub(super) launch: Launch,
    pub(super) sizes: &'a [i64],
    pub(super) lists: &'a Positions<'a>,
}

impl<'a> ScatterTarget<'a> {
    /// A target through these sizes, on the device of a tensor.
    pub(super) fn of(this: &Tensor, sizes: &'a [i64], lists: &'a Positions<'a>) -> Result<Self> {
        Ok(Self { launch: Launch::on(this)?, sizes, lists })
    }

    /// Writes `this` with elements in place of its own.
    pub(super) fn put(&self, out: &mut Tensor, this: &Tensor, source: &Source) -> Result<()> {
        write(out, this)?;
        let (to, lists) = (self.lists)(self.launch, out)?;
        put(self.launch, out.dtype(), self.sizes, &to, source, lists)
    }

    /// Writes `this` with elements of `dtype` made one with its own.
    pub(super) fn combine(
        &self,
        out: &mut Tensor,
        this: &Tensor,
        source: &Source,
        dtype: DType,
        how: Reduce,
        include: bool,
    ) -> Result<()> {
        let computed = computed_in(out.dtype());
        if computed.is_complex() {
            return Err(BadArgument::dtype("self", this.dtype(), DTypes::Real).into());
        }
        if out.dtype() != computed {
            let mut sum = Spec { dtype: computed, geometry: out.geometry().clone().at(0) }.on(out.device())?;
            self.combine(&mut sum, this, source, dtype, how, include)?;
            return write(out, &sum);
        }
        write(out, this)?;
        let (combine, neutral) = combine_of(how, computed);
        if !include {
            let (to, lists) = (self.lists)(self.launch, out)?;
            put(self.launch, computed, self.sizes, &to, &Source::Number(neutral), lists)?;
        }
        let (to, lists) = (self.lists)(self.launch, out)?;
        combined(self.launch, [computed, dtype], self.sizes, &to, source, lists, combine)?;
        if how == Reduce::Mean {
            let mut counts = Spec { dtype: DType::I64, geometry: out.geometry().clone().at(0) }.on(out.device())?;
            write(&mut counts, &Tensor::number(i64::from(include).into()))?;
            let (to, lists) = (self.lists)(self.launch, &counts)?;
            let one = Source::Number(1.into());
            combined(self.launch, [DType::I64; 2], self.sizes, &to, &one, lists, Combine::Sum)?;
            share(self.launch, out, &counts)?;
        }
        Ok(())
    }
}
