//! Batch rules defined by `#[op_vmap]`.

use dispatch_runtime::{Argument, DType, Error, Layout, MemoryFormat, Result, Scalar, Tensor, Value};

use crate::batch::{Batch, Mapped};
use crate::error::VmapError;

/// The batch rule of an operator. Not public API: `#[op_vmap]` submits it.
#[doc(hidden)]
pub struct BatchRule {
    pub(crate) run: Run,
}

/// The generated function of a rule. It returns `None` if the rule does not cover these arguments: the call is then a loop.
type Run = fn(&Batch, &mut [Value]) -> Result<Option<Vec<Value>>>;

impl BatchRule {
    #[must_use]
    pub const fn new(run: Run) -> Self {
        Self { run }
    }
}

/// A type that a parameter of a batch rule may have.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a batch rule cannot take `{Self}`",
    label = "not what a batch rule takes",
    note = "it takes a tensor as `Mapped`, tensors as `Option<Mapped>`, `Vec<Mapped>` or `Vec<Option<Mapped>>`, and all else as kernels do"
)]
pub trait Take<'a>: Sized {
    fn take(batch: &Batch, value: &'a mut Value) -> Option<Self>;
}

/// A type that a batch rule may return.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a batch rule cannot give `{Self}`",
    label = "not what a batch rule gives",
    note = "it gives a tensor as `Mapped`, several as a tuple, a list as `Vec<Mapped>`, and an `Option` of these where it may not hold"
)]
pub trait Give {
    fn give(self, batch: &Batch) -> Result<Option<Vec<Value>>>;
}

#[doc(hidden)]
pub fn take<'a, T: Take<'a>>(batch: &Batch, value: &'a mut Value) -> Result<T> {
    T::take(batch, value).ok_or_else(lost)
}

#[doc(hidden)]
pub fn give(batch: &Batch, results: impl Give) -> Result<Option<Vec<Value>>> {
    results.give(batch)
}

/// Returns the error that a rule's parameters do not match the operator's arguments.
#[doc(hidden)]
#[cold]
#[must_use]
pub fn lost() -> Error {
    VmapError::Results { operator: "a batch rule's operator".to_owned() }.into()
}

impl Take<'_> for Mapped {
    fn take(batch: &Batch, value: &mut Value) -> Option<Self> {
        value.as_tensor().map(|tensor| batch.mapped(tensor))
    }
}

impl Take<'_> for Option<Mapped> {
    fn take(batch: &Batch, value: &mut Value) -> Option<Self> {
        if let Value::None = value { Some(None) } else { Mapped::take(batch, value).map(Some) }
    }
}

impl Take<'_> for Vec<Mapped> {
    fn take(batch: &Batch, value: &mut Value) -> Option<Self> {
        let tensors = <&[Tensor]>::from_value(value)?;
        Some(tensors.iter().map(|tensor| batch.mapped(tensor)).collect())
    }
}

impl Take<'_> for Vec<Option<Mapped>> {
    fn take(batch: &Batch, value: &mut Value) -> Option<Self> {
        let tensors = <&[Option<Tensor>]>::from_value(value)?;
        Some(tensors.iter().map(|tensor| tensor.as_ref().map(|tensor| batch.mapped(tensor))).collect())
    }
}

macro_rules! as_they_are {
    ($($ty:ty)*) => {$(
        impl<'a> Take<'a> for $ty {
            fn take(_: &Batch, value: &'a mut Value) -> Option<Self> {
                Argument::from_value(value)
            }
        }

        impl<'a> Take<'a> for Option<$ty> {
            fn take(_: &Batch, value: &'a mut Value) -> Option<Self> {
                Argument::from_value(value)
            }
        }
    )*};
}

as_they_are! { i64 f64 bool Scalar DType Layout MemoryFormat &'a [i64] &'a [f64] &'a [bool] &'a str }

impl Give for Mapped {
    fn give(self, batch: &Batch) -> Result<Option<Vec<Value>>> {
        Ok(Some(vec![batch.shown(self)?.into()]))
    }
}

/// A result that is not a tensor is the same for all slices.
impl Give for i64 {
    fn give(self, _: &Batch) -> Result<Option<Vec<Value>>> {
        Ok(Some(vec![self.into()]))
    }
}

impl<T: Give> Give for Option<T> {
    fn give(self, batch: &Batch) -> Result<Option<Vec<Value>>> {
        self.map_or(Ok(None), |results| results.give(batch))
    }
}

impl Give for (Mapped, Mapped) {
    fn give(self, batch: &Batch) -> Result<Option<Vec<Value>>> {
        Ok(Some(vec![batch.shown(self.0)?.into(), batch.shown(self.1)?.into()]))
    }
}

impl Give for (Mapped, Mapped, Mapped) {
    fn give(self, batch: &Batch) -> Result<Option<Vec<Value>>> {
        Ok(Some(vec![batch.shown(self.0)?.into(), batch.shown(self.1)?.into(), batch.shown(self.2)?.into()]))
    }
}

impl Give for Vec<Mapped> {
    fn give(self, batch: &Batch) -> Result<Option<Vec<Value>>> {
        let tensors: Vec<Tensor> = self.into_iter().map(|mapped| batch.shown(mapped)).collect::<Result<_>>()?;
        Ok(Some(vec![tensors.into()]))
    }
}
