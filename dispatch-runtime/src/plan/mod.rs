//! The contract of an operator, written once: every check, the dtype and the geometry of every result, and one value for its kernels.
//!
//! `#[op_plan]` implements [`Planned`] for the type of the operator. A planned kernel calls the plan as an ordinary function, and gets the
//! value and the memory of the results. Code that knows a call by its values alone, such as the kernel for Meta, uses
//! [`Planned::outline`].

mod checks;
mod contraction;
mod meta;
mod on_meta;
mod outline;
mod output;
mod pointwise;
mod reduction;
mod shape_inference;
mod variants;

use crate::error::Result;
use crate::key::Device;
use crate::operator::Operation;
use crate::spec::Spec;
use crate::tensor::Tensor;
use crate::value::Value;

pub use checks::{Plans, PlansList, TakesOut, TakesPlan};
pub use contraction::product;
pub use meta::meta_planned;
pub use on_meta::{OnMeta, check_on_meta};
pub use outline::outline;
pub use output::{Target, Tensors, Writes, check_outputs_apart, place};
pub use pointwise::{Part, Pointwise, fresh_pointwise, pointwise};
pub use reduction::{DimFlags, Listed, Reduced, reduced_dims, reduced_sizes, reduction};
pub use variants::{form, meta};

/// A value for the kernels of an operator, and a description of its `N` results.
///
/// ```
/// use dispatch_runtime::{DType, Plan, Spec};
///
/// let plan = Plan::new("rows", [Spec::contiguous(DType::F32, &[2, 3])]);
/// assert_eq!(plan.outputs[0].geometry.sizes(), [2, 3]);
/// ```
#[derive(Clone, Debug)]
pub struct Plan<V, const N: usize = 1> {
    /// What the arguments mean to a kernel, so that it need not find out again.
    pub value: V,
    /// The results.
    pub outputs: [Spec; N],
}

impl<V, const N: usize> Plan<V, N> {
    /// The plan of a call with these results.
    #[inline(always)]
    pub const fn new(value: V, outputs: [Spec; N]) -> Self {
        Self { value, outputs }
    }
}

impl<V> Plan<V, 0> {
    /// The plan of a call that writes its arguments only, or whose kernel makes the results itself.
    ///
    /// ```
    /// let plan = dispatch_runtime::Plan::checked(());
    /// assert!(plan.outputs.is_empty());
    /// ```
    #[inline(always)]
    pub const fn checked(value: V) -> Self {
        Self { value, outputs: [] }
    }
}

/// The plan of an operator that returns a `Tensor[]`: the arguments decide the number of results.
///
/// ```
/// use dispatch_runtime::{DType, PlanList, Spec};
///
/// let halves = PlanList { value: (), outputs: vec![Spec::contiguous(DType::F32, &[2]); 2] };
/// assert_eq!(halves.outputs.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct PlanList<V> {
    /// As in [`Plan`].
    pub value: V,
    /// The results.
    pub outputs: Vec<Spec>,
}

/// An operator with a plan.
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::{BadArgument, Planned, Spec};
///
/// #[op_def("doubled(Tensor self) -> Tensor", plan)]
/// fn doubled(this: &Tensor) -> Result<Tensor>;
///
/// #[op_plan(doubled)]
/// fn plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
///     Ok(Plan::new((), [Spec::contiguous(this.dtype(), this.sizes())]))
/// }
///
/// let outline = doubled::outline(&mut [Tensor::from_slice(&[1.0_f32]).into()]).unwrap();
/// assert_eq!(outline[0].dtype, DType::F32);
/// ```
#[diagnostic::on_unimplemented(
    message = "operator `{Self}` says `plan`, but nothing makes one",
    label = "write `#[op_plan({Self})]` over a function that gives a `Plan`"
)]
pub trait Planned: Operation {
    /// The value that kernels get as `plan`.
    type Value<'a>;

    /// The description of the results of a boxed call.
    ///
    /// # Errors
    ///
    /// As the plan itself, and if an argument is of the wrong kind.
    fn outline(arguments: &mut [Value]) -> Result<Vec<Spec>>;
}

/// An operator with a form that writes its first argument. `#[op_def]` implements it for operators with a plan.
///
/// ```
/// use dispatch_runtime::prelude::*;
/// use dispatch_runtime::{BadArgument, HasInPlace, HasOut, Spec};
///
/// #[op_def("tripled(Tensor self) -> Tensor", plan, inplace, out = "out")]
/// fn tripled(this: &Tensor) -> Result<Tensor>;
///
/// #[op_plan(tripled)]
/// fn plan(this: &Tensor) -> Result<Plan<()>, BadArgument> {
///     Ok(Plan::new((), [Spec::contiguous(this.dtype(), this.sizes())]))
/// }
///
/// assert_eq!(<tripled as HasInPlace>::Form::operator().name().base, "tripled_");
/// assert_eq!(<tripled as HasOut>::Form::operator().name().overload, "out");
/// ```
pub trait HasInPlace: Operation {
    /// The form.
    type Form: Operation;
}

/// An operator with a form that writes tensors of the caller's. See [`HasInPlace`].
pub trait HasOut: Operation {
    /// The form.
    type Form: Operation;
}

/// Memory for a list of results.
pub fn all_on(outputs: Vec<Spec>, device: Device) -> Result<Vec<Tensor>> {
    outputs.into_iter().map(|spec| spec.on(device)).collect()
}
