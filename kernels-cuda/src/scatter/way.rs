//! Where elements go, and what they and those that are there are made.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

use crate::copying::write;
use crate::launch::Launch;
use crate::moves::{Side, copied};
use crate::picks::{Join, Lists, Source, combined, computed_in, put, share};

/// How elements that are there and that come are made one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Reduce {
    join: Join,
    mean: bool,
}

impl Reduce {
    pub(super) const SUM: Self = Self { join: Join::Sum, mean: false };

    pub(super) fn parse(word: &str) -> Result<Self, BadArgument> {
        let join = match word {
            "sum" | "add" | "mean" => Join::Sum,
            "prod" | "multiply" => Join::Product,
            "amax" => Join::Greatest,
            "amin" => Join::Least,
            _ => return Err(BadArgument::value("reduce", word, "`sum`, `prod`, `mean`, `amax` or `amin`")),
        };
        Ok(Self { join, mean: word == "mean" })
    }

    /// What changes nothing, of a type that is computed in.
    fn neutral(self, computed: DType) -> Scalar {
        let real = |fraction: f64, narrow: i32, wide: i64| match computed {
            DType::F32 | DType::F64 => Scalar::Float(fraction),
            DType::I32 => Scalar::Int(narrow.into()),
            _ => Scalar::Int(wide),
        };
        match self.join {
            Join::Sum => Scalar::Int(0),
            Join::Product => Scalar::Int(1),
            Join::Greatest => real(f64::NEG_INFINITY, i32::MIN, i64::MIN),
            Join::Least => real(f64::INFINITY, i32::MAX, i64::MAX),
        }
    }
}

/// Where elements go in a tensor that is laid out somehow.
pub(super) struct Way<'a> {
    pub(super) launch: Launch,
    pub(super) sizes: &'a [i64],
    pub(super) lists: &'a dyn Fn(&Tensor) -> Result<(Side, Lists)>,
}

impl Way<'_> {
    /// A copy of `this` with elements in place of its own.
    pub(super) fn put(&self, this: &Tensor, source: &Source, spec: Spec) -> Result<Tensor> {
        let out = copied(this, spec)?;
        let (to, lists) = (self.lists)(&out)?;
        put(self.launch, out.dtype(), self.sizes, &to, source, lists)?;
        Ok(out)
    }

    /// A copy of `this` with elements of `dtype` made one with its own.
    pub(super) fn combine(
        &self,
        this: &Tensor,
        source: &Source,
        dtype: DType,
        how: Reduce,
        include: bool,
        spec: Spec,
    ) -> Result<Tensor> {
        let computed = computed_in(this.dtype());
        if computed.is_complex() {
            return Err(BadArgument::dtype("self", this.dtype(), "real").into());
        }
        let sum = copied(this, Spec { dtype: computed, geometry: spec.geometry.clone() })?;
        if !include {
            let (to, lists) = (self.lists)(&sum)?;
            let neutral = Source::Number(how.neutral(computed));
            put(self.launch, computed, self.sizes, &to, &neutral, lists)?;
        }
        let (to, lists) = (self.lists)(&sum)?;
        combined(self.launch, [computed, dtype], self.sizes, &to, source, lists, how.join)?;
        if how.mean {
            let mut counts = Spec { dtype: DType::I64, geometry: spec.geometry.clone() }.on(this.device())?;
            write(&mut counts, &Tensor::number(i64::from(include).into()))?;
            let (to, lists) = (self.lists)(&counts)?;
            let one = Source::Number(1.into());
            combined(self.launch, [DType::I64; 2], self.sizes, &to, &one, lists, Join::Sum)?;
            share(self.launch, &sum, &counts)?;
        }
        if spec.dtype == computed { Ok(sum) } else { copied(&sum, spec) }
    }
}
