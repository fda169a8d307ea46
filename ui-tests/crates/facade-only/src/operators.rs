//! Operators with kernels, plans, derivatives, batch rules and policies.

use crate::other_meanings::*;

use ::opdispatch as api;
use ::opdispatch::backend::{self, op_meta, op_row};
use ::opdispatch::prelude::{link, not_differentiable, op_def, op_grad, op_impl, op_plan};

type Found<T> = ::core::result::Result<T, api::Error>;

link!(opdispatch);

/// Doubles each element.
#[op_def("doubled(Tensor self) -> Tensor", shape = pointwise, dtypes(floating), inplace, out = "out")]
pub fn doubled(this: &api::Tensor) -> api::Result<api::Tensor>;

#[op_impl(doubled, CPU, dtypes(floating), in_place, when(this.geometry().is_contiguous()), priority = 1)]
fn doubled_slices<T: backend::Floating>(
    _plan: &backend::PointwisePlan,
    out: &mut api::Tensor,
    this: &api::Tensor,
) -> api::Result<()> {
    let mut operands = backend::operands!(write out; read this)?;
    match operands.slices::<T>()? {
        ([to], [::core::option::Option::Some(from)]) => to.iter_mut().zip(from).for_each(|(to, x)| *to = *x + *x),
        ([to], [::core::option::Option::None]) => to.iter_mut().for_each(|x| *x = *x + *x),
    }
    ::core::result::Result::Ok(())
}

#[op_impl(doubled, CPU, dtypes(floating))]
fn doubled_elements<T: backend::Floating>(
    _plan: &backend::PointwisePlan,
    out: &mut api::Tensor,
    this: &api::Tensor,
) -> api::Result<()> {
    let mut elements = this.to_vec::<T>()?.into_iter().map(|x| x + x);
    out.elements_mut::<T>()?.for_each(|to| *to = elements.next().unwrap_or(T::ZERO));
    ::core::result::Result::Ok(())
}

#[op_grad(doubled)]
fn doubled_grad(grad: &api::Tensor) -> api::Result<api::Tensor> {
    doubled(grad)
}

macro_rules! name_of_row {
    ($name:ident $all:tt (this;) [f32, f64]) => {
        pub(crate) const ROW: &::core::primitive::str = ::core::stringify!($name);
    };
}

op_row! { doubled => name_of_row, }

/// Sums over dimensions.
#[op_def("sum_all(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor", shape = reduce(dim), check = checked(this))]
pub fn sum_all(_: ...) -> api::Result<api::Tensor>;

fn checked(this: &api::Tensor) -> api::Result<()> {
    ::core::result::Result::Ok(api::runtime::check_not_float8("self", ::core::option::Option::Some(this.dtype()))?)
}

#[op_impl(sum_all, CPU)]
fn sum_all_cpu(_: ...) -> api::Result<api::Tensor> {
    api::aten::sum_dim_intlist!(this, dim = dim, keepdim = keepdim)
}

not_differentiable!(sum_all);

/// Multiplies matrices.
#[op_def("product(Tensor self, Tensor mat2) -> Tensor", shape = "mk,kn->mn")]
pub fn product(this: &api::Tensor, mat2: &api::Tensor) -> api::Result<api::Tensor>;

#[op_impl(product, CompositeExplicitAutograd)]
fn product_by_aten(this: &api::Tensor, mat2: &api::Tensor) -> Found<api::Tensor> {
    api::aten::mm(this, mat2)
}

#[op_grad(product)]
fn product_grad(grad: &api::Tensor, this: &api::Tensor, mat2: &api::Tensor) -> (impl Gradient, impl Gradient) {
    (move || product(grad, &api::aten::t(mat2)?), move || product(&api::aten::t(this)?, grad))
}

use api::autograd::Gradient;

#[api::vmap::op_vmap(doubled)]
fn doubled_of_each(_: &api::vmap::Batch, this: api::vmap::Mapped) -> api::Result<api::vmap::Mapped> {
    ::core::result::Result::Ok(api::vmap::Mapped::from_batch_first(doubled(&this.batch_first()?)?))
}

/// Repeats the elements of a vector.
#[op_def("repeated(Tensor self, int times=2) -> Tensor", plan, out = "out")]
pub fn repeated(this: &api::Tensor, times: ::core::primitive::i64) -> api::Result<api::Tensor>;

#[op_plan(repeated)]
fn repeated_plan(
    this: &api::Tensor,
    times: ::core::primitive::i64,
) -> api::Result<backend::Plan<::core::primitive::usize>, backend::BadArgument> {
    match (this.sizes(), ::core::primitive::usize::try_from(times)) {
        ([size], ::core::result::Result::Ok(count)) => ::core::result::Result::Ok(backend::Plan::new(
            count,
            [backend::Spec::contiguous(this.dtype(), &[size * times])],
        )),
        ([_], ::core::result::Result::Err(_)) => {
            ::core::result::Result::Err(backend::BadArgument::number("times", times, 0..))
        }
        (sizes, _) => ::core::result::Result::Err(backend::BadArgument::rank("self", sizes.len(), 1)),
    }
}

#[op_impl(repeated, CPU, dtypes(all))]
fn repeated_cpu<T: backend::Element>(
    plan: &::core::primitive::usize,
    out: &mut api::Tensor,
    this: &api::Tensor,
) -> api::Result<()> {
    out.write::<T>()?.copy_from_slice(&this.to_vec::<T>()?.repeat(*plan));
    ::core::result::Result::Ok(())
}

/// A call of another operator.
#[op_def("shifted(Tensor self, Scalar by=inf, *, Scalar times=2) -> Tensor", calls = api::aten::add_scalar(this, by, times))]
pub fn shifted(_: ...) -> api::Result<api::Tensor>;

/// A call for each element of a list.
#[op_def("total(Tensor[] self) -> Tensor[]", each = doubled(this), inplace)]
pub fn total(_: ...) -> api::Result<::std::vec::Vec<api::Tensor>>;

/// An operator without a plan, with a Meta kernel.
#[op_def("halved(Tensor self) -> Tensor")]
pub fn halved(this: &api::Tensor) -> api::Result<api::Tensor>;

#[op_meta(halved)]
fn halved_meta(this: &api::Tensor) -> api::Result<api::Tensor> {
    backend::Spec::contiguous(this.dtype(), &[this.sizes()[0] / 2]).on(api::Device::META)
}

#[op_impl(halved, CPU, boxed)]
fn halved_boxed(op: &backend::Operator, _: backend::KeySet, stack: &mut backend::Stack) -> api::Result<()> {
    stack.drop_top(op.argument_count());
    stack.push(api::Tensor::from([0.5]));
    ::core::result::Result::Ok(())
}

/// Arguments and results of many types, with defaults.
#[op_def(
    "describe(Tensor? self=None, int[2] size=3, float low=-inf, complex turn=1j, str mode=\"sum\", bool flag=True, \
     Device device=\"cpu\", ScalarType? dtype=None, Layout? layout=None, float[]? weights=None) -> (str, int, float[], bool?)"
)]
pub fn describe(
    _: ...
) -> api::Result<(
    backend::Str,
    ::core::primitive::i64,
    ::std::vec::Vec<::core::primitive::f64>,
    ::core::option::Option<::core::primitive::bool>,
)>;

#[op_impl(describe)]
fn describe_any(
    _: ...
) -> (
    backend::Str,
    ::core::primitive::i64,
    ::std::vec::Vec<::core::primitive::f64>,
    ::core::option::Option<::core::primitive::bool>,
) {
    let _ = (this, device, layout, dtype);
    let text = ::std::format!("{mode} {low} {turn} {weights:?}");
    (text.into(), size.iter().sum(), ::std::vec![low], ::core::option::Option::Some(flag))
}

api::autocast!(lower: product);
api::autocast!(promote on CPU: doubled);
api::autocast!(banned: halved => "use `doubled`");
api::autocast!(untouched: shifted);

/// Named calls, in the schema's order and in another one.
pub(crate) fn call_by_name() -> api::Result<backend::Str> {
    let x = api::Tensor::from([1.0]);
    doubled!(&x)?;
    repeated!(times = 3, this = &x)?;
    shifted!(&x, times = 0.5)?;
    let (text, ..) = describe!(weights = [0.5], mode = "mean", this = &x)?;
    ::core::result::Result::Ok(text)
}
