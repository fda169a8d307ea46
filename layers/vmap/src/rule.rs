//! Batch rules defined by `#[op_vmap]`.

use dispatch_runtime::{Argument, DType, Error, Layout, MemoryFormat, Result, Scalar, Tensor, Value};

use crate::batch::{Batch, Mapped};
use crate::error::VmapError;

/// The batch rule of an operator. Not public API: `#[op_vmap]` submits it.
#[doc(hidden)]
pub struct BatchRule {
    pub(crate) run: BatchRuleFn,
}

/// The generated function of a rule. It returns `None` if the rule does not cover these arguments: the call is then a loop.
type BatchRuleFn = fn(&Batch, &mut [Value]) -> Result<Option<Vec<Value>>>;

impl BatchRule {
    #[must_use]
    pub const fn new(run: BatchRuleFn) -> Self {
        Self { run }
    }
}

/// A type that a parameter of a batch rule may have.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parameter type of batch rules",
    label = "not a parameter type of batch rules",
    note = "a tensor is a `Mapped`, several tensors are `Option<Mapped>`, `Vec<Mapped>` or `Vec<Option<Mapped>>`, and all other arguments have the types that kernels use"
)]
pub trait RuleArgument<'a>: Sized {
    fn from_batched_value(batch: &Batch, value: &'a mut Value) -> Option<Self>;
}

/// A type that a batch rule may return.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a result type of batch rules",
    label = "not a result type of batch rules",
    note = "a tensor is a `Mapped`, several results are a tuple, a list is a `Vec<Mapped>`, and a rule that does not cover all calls returns an `Option` of these"
)]
pub trait RuleResult {
    fn into_values(self, batch: &Batch) -> Result<Option<Vec<Value>>>;
}

#[doc(hidden)]
pub fn unpack_argument<'a, T: RuleArgument<'a>>(batch: &Batch, value: &'a mut Value) -> Result<T> {
    T::from_batched_value(batch, value).ok_or_else(rule_arguments_error)
}

#[doc(hidden)]
pub fn pack_results(batch: &Batch, results: impl RuleResult) -> Result<Option<Vec<Value>>> {
    results.into_values(batch)
}

/// Returns the error that a rule's parameters do not match the operator's arguments.
#[doc(hidden)]
#[cold]
#[must_use]
pub fn rule_arguments_error() -> Error {
    VmapError::UnexpectedResults { operator: "a batch rule's operator".to_owned() }.into()
}

impl RuleArgument<'_> for Mapped {
    fn from_batched_value(batch: &Batch, value: &mut Value) -> Option<Self> {
        value.as_tensor().map(|tensor| batch.unwrap_tensor(tensor))
    }
}

impl RuleArgument<'_> for Option<Mapped> {
    fn from_batched_value(batch: &Batch, value: &mut Value) -> Option<Self> {
        if let Value::None = value { Some(None) } else { Mapped::from_batched_value(batch, value).map(Some) }
    }
}

impl RuleArgument<'_> for Vec<Mapped> {
    fn from_batched_value(batch: &Batch, value: &mut Value) -> Option<Self> {
        let tensors = <&[Tensor]>::from_value(value)?;
        Some(tensors.iter().map(|tensor| batch.unwrap_tensor(tensor)).collect())
    }
}

impl RuleArgument<'_> for Vec<Option<Mapped>> {
    fn from_batched_value(batch: &Batch, value: &mut Value) -> Option<Self> {
        let tensors = <&[Option<Tensor>]>::from_value(value)?;
        Some(tensors.iter().map(|tensor| tensor.as_ref().map(|tensor| batch.unwrap_tensor(tensor))).collect())
    }
}

macro_rules! impl_rule_argument_for_plain_types {
    ($($ty:ty)*) => {$(
        impl<'a> RuleArgument<'a> for $ty {
            fn from_batched_value(_: &Batch, value: &'a mut Value) -> Option<Self> {
                Argument::from_value(value)
            }
        }

        impl<'a> RuleArgument<'a> for Option<$ty> {
            fn from_batched_value(_: &Batch, value: &'a mut Value) -> Option<Self> {
                Argument::from_value(value)
            }
        }
    )*};
}

impl_rule_argument_for_plain_types! { i64 f64 bool Scalar DType Layout MemoryFormat &'a [i64] &'a [f64] &'a [bool] &'a str }

impl RuleResult for Mapped {
    fn into_values(self, batch: &Batch) -> Result<Option<Vec<Value>>> {
        Ok(Some(vec![batch.wrap_tensor(self)?.into()]))
    }
}

/// A result that is not a tensor is the same for all slices.
impl RuleResult for i64 {
    fn into_values(self, _: &Batch) -> Result<Option<Vec<Value>>> {
        Ok(Some(vec![self.into()]))
    }
}

impl<T: RuleResult> RuleResult for Option<T> {
    fn into_values(self, batch: &Batch) -> Result<Option<Vec<Value>>> {
        self.map_or(Ok(None), |results| results.into_values(batch))
    }
}

macro_rules! impl_rule_result_for_tuples {
    ($(($($mapped:ident),+))*) => {$(
        impl RuleResult for ($(impl_rule_result_for_tuples!(@ Mapped $mapped),)+) {
            fn into_values(self, batch: &Batch) -> Result<Option<Vec<Value>>> {
                let ($($mapped,)+) = self;
                Ok(Some(vec![$(batch.wrap_tensor($mapped)?.into()),+]))
            }
        }
    )*};
    (@ $ty:ident $mapped:ident) => { $ty };
}

impl_rule_result_for_tuples! { (a, b) (a, b, c) (a, b, c, d) (a, b, c, d, e) }

impl RuleResult for Vec<Mapped> {
    fn into_values(self, batch: &Batch) -> Result<Option<Vec<Value>>> {
        let tensors: Vec<Tensor> = self.into_iter().map(|mapped| batch.wrap_tensor(mapped)).collect::<Result<_>>()?;
        Ok(Some(vec![tensors.into()]))
    }
}
