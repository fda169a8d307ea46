//! Plans: the contract of an operator, written once. A plan has every check, the dtype and geometry of every result, and one value for the
//! kernels.
//!
//! `#[op_plan]` implements [`Planned`] for the type of the operator. A planned kernel calls the plan as an ordinary function, and gets the
//! value and the memory of the results. Code that has only the boxed values of a call, such as the Meta kernel, uses
//! [`Planned::result_specs`].

mod check_on_meta;
mod each;
mod forms;
mod meta;
mod output;
mod pointwise;
mod product;
mod reduction;
mod result_specs;
mod shape_inference;
mod type_checks;

use crate::error::Result;
use crate::key::Device;
use crate::operator::Operation;
use crate::spec::Spec;
use crate::tensor::Tensor;
use crate::value::Value;

pub use check_on_meta::{CheckOnMeta, check_argument_on_meta};
pub use each::{ListArgument, call_each};
pub use forms::{form_kernel, form_meta_kernel};
pub use meta::planned_meta_kernel;
pub use output::{DirectOutputKinds, HasTensors, OutputTensor, check_outputs_disjoint, result_device};
pub use pointwise::{PointwiseOperand, PointwisePlan, allocate_pointwise, pointwise_plan};
pub use product::product_plan;
pub use reduction::{DimFlags, DimList, ReductionDims, reduced_dims, reduced_sizes, reduction_plan};
pub use result_specs::shape_word_specs;
pub use type_checks::{OutputParameter, PlanParameter, ReturnsPlan, ReturnsPlanList};

/// The plan of a call: a value for the operator's kernels, and a description of its `N` results.
///
/// ```
/// use dispatch_runtime::{DType, Plan, Spec};
///
/// let plan = Plan::new("rows", [Spec::contiguous(DType::F32, &[2, 3])]);
/// assert_eq!(plan.outputs[0].geometry.sizes(), [2, 3]);
/// ```
#[derive(Clone, Debug)]
pub struct Plan<V, const N: usize = 1> {
    /// The arguments in the form that the kernel needs, so that it does not check or convert them again.
    pub value: V,
    /// The dtype and geometry of each result.
    pub outputs: [Spec; N],
}

impl<V, const N: usize> Plan<V, N> {
    /// Makes the plan of a call with these results.
    #[inline(always)]
    pub const fn new(value: V, outputs: [Spec; N]) -> Self {
        Self { value, outputs }
    }
}

impl<V> Plan<V, 0> {
    /// Makes the plan of a call that only writes its arguments, or whose kernel makes the results itself.
    ///
    /// ```
    /// let plan = dispatch_runtime::Plan::without_outputs(());
    /// assert!(plan.outputs.is_empty());
    /// ```
    #[inline(always)]
    pub const fn without_outputs(value: V) -> Self {
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
    /// The plan's value, which kernels receive, as in [`Plan`].
    pub value: V,
    /// The dtype and geometry of each result.
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
/// let result_specs = doubled::result_specs(&mut [Tensor::from_slice(&[1.0_f32]).into()]).unwrap();
/// assert_eq!(result_specs[0].dtype, DType::F32);
/// ```
#[diagnostic::on_unimplemented(
    message = "operator `{Self}` is defined with `plan`, but has no plan function",
    label = "write `#[op_plan({Self})]` on a function that returns a `Plan`"
)]
pub trait Planned: Operation {
    /// The value that kernels get as `plan`.
    type Value<'a>;

    /// Returns the dtype and geometry of each result of a boxed call.
    ///
    /// # Errors
    ///
    /// Returns the errors of the plan, and an error if an argument is of the wrong kind.
    fn result_specs(arguments: &mut [Value]) -> Result<Vec<Spec>>;
}

/// An operator with an in-place form, which writes its first argument. `#[op_def]` implements it for operators with a plan.
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
    /// The operator of the in-place form.
    type Form: Operation;
}

/// An operator with an `out=` form, which writes the caller's tensors. See [`HasInPlace`].
pub trait HasOut: Operation {
    /// The operator of the `out=` form.
    type Form: Operation;
}

/// Allocates one tensor on `device` for each spec of a list.
pub fn allocate_all_on(outputs: Vec<Spec>, device: Device) -> Result<Vec<Tensor>> {
    outputs.into_iter().map(|spec| spec.on(device)).collect()
}
