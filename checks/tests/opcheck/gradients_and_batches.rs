//! Mistakes of derivatives and batch rules.

use aten::prelude::*;
use dispatch_autograd::{not_differentiable, op_grad};
use dispatch_checks::Check;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Batch, Mapped, op_vmap};

use crate::{assert_finds, assert_passes, failing_report, map, matrix};

/// Defines operators that compute a square, with their derivatives.
macro_rules! define_squares {
    ($($schema:literal $name:ident $kernel:ident $derivative:ident => |$grad:ident, $this:ident| $result:expr;)*) => {$(
        #[op_def($schema)]
        pub fn $name(this: &Tensor) -> Result<Tensor>;

        #[op_impl($name, CompositeExplicitAutograd)]
        fn $kernel(this: &Tensor) -> Result<Tensor> {
            this * this
        }

        #[op_grad($name)]
        fn $derivative($grad: &Tensor, $this: &Tensor) -> Result<Tensor> {
            $result
        }
    )*};
}

define_squares! {
    "opcheck::correct_square(Tensor self) -> Tensor" correct_square correct_square_cpu correct_square_grad
        => |grad, this| grad * (this * 2.0)?;
    "opcheck::wrong_square(Tensor self) -> Tensor" wrong_square wrong_square_cpu wrong_square_grad
        => |grad, this| grad * this;
    "opcheck::wrong_second_order(Tensor self) -> Tensor" wrong_second_order wrong_second_order_cpu wrong_second_order_grad
        => |grad, this| grad * (&aten::detach(this)? * 2.0)?;
    "opcheck::permuted_square(Tensor self) -> Tensor" permuted_square permuted_square_cpu permuted_square_grad
        => |grad, this| grad * (this * 2.0)?;
    "opcheck::wrong_batched_gradient(Tensor self) -> Tensor" wrong_batched_gradient wrong_batched_gradient_cpu wrong_batched_gradient_grad
        => |grad, this| permuted_product(grad, &(this * 2.0)?);
}

#[op_vmap(permuted_square)]
fn permuted_square_batched(_batch: &Batch, this: Mapped) -> Result<Mapped> {
    Ok(Mapped::from_batch_first(permuted_square(&aten::flip(&this.batch_first()?, &[0])?)?))
}

/// A product whose batch rule exchanges slices.
#[op_def("opcheck::permuted_product(Tensor self, Tensor other) -> Tensor")]
pub fn permuted_product(this: &Tensor, other: &Tensor) -> Result<Tensor>;

#[op_impl(permuted_product, CompositeExplicitAutograd)]
fn permuted_product_cpu(this: &Tensor, other: &Tensor) -> Result<Tensor> {
    this * other
}

#[op_grad(permuted_product)]
fn permuted_product_grad(grad: &Tensor, this: &Tensor, other: &Tensor) -> Result<(Tensor, Tensor)> {
    Ok(((grad * other)?, (grad * this)?))
}

#[op_vmap(permuted_product)]
fn permuted_product_batched(_batch: &Batch, this: Mapped, other: Mapped) -> Result<Mapped> {
    let product = permuted_product(&this.batch_first()?, &other.batch_first()?)?;
    Ok(Mapped::from_batch_first(aten::flip(&product, &[0])?))
}

#[test]
fn a_correct_derivative_passes() {
    let report = assert_passes(correct_square::operator(), &matrix());
    assert_eq!(report.passed_count(Check::Numeric), 2);
}

#[test]
fn a_wrong_derivative_is_found() {
    assert_finds(wrong_square::operator(), &matrix(), "numeric: first order: the directional derivative is ");
}

/// A product whose derivative is wrong with respect to `target`.
#[op_def("opcheck::wrong_for_target(Tensor self, Tensor target) -> Tensor")]
pub fn wrong_for_target(this: &Tensor, target: &Tensor) -> Result<Tensor>;

#[op_impl(wrong_for_target, CompositeExplicitAutograd)]
fn wrong_for_target_any(this: &Tensor, target: &Tensor) -> Result<Tensor> {
    this * target
}

#[op_grad(wrong_for_target)]
fn wrong_for_target_grad(grad: &Tensor, this: &Tensor, target: &Tensor) -> Result<(Tensor, Tensor)> {
    Ok(((grad * target)?, (grad * (this * 2.0)?)?))
}

#[test]
fn the_argument_of_a_wrong_gradient_is_named() {
    let text = failing_report(wrong_for_target::operator(), [&matrix(), &matrix()]).to_string();
    let first = text.lines().find(|line| line.starts_with("numeric: first order: ")).unwrap();
    assert!(first.ends_with("; wrong with respect to `target`"), "{text}");
}

/// A product whose gradient with respect to `target` has wrong sizes.
#[op_def("opcheck::wrong_sizes(Tensor self, Tensor target) -> Tensor")]
pub fn wrong_sizes(this: &Tensor, target: &Tensor) -> Result<Tensor>;

#[op_impl(wrong_sizes, CompositeExplicitAutograd)]
fn wrong_sizes_any(this: &Tensor, target: &Tensor) -> Result<Tensor> {
    this * target
}

#[op_grad(wrong_sizes)]
fn wrong_sizes_grad(grad: &Tensor, this: &Tensor, target: &Tensor) -> Result<(Tensor, Tensor)> {
    Ok(((grad * target)?, (grad * this)?.sum()?))
}

#[test]
fn a_gradient_of_wrong_sizes_is_a_failure_of_the_derivative() {
    let text = failing_report(wrong_sizes::operator(), [&matrix(), &matrix()]).to_string();
    assert!(
        text.contains("numeric: first order: the gradient of `target`: failed: wrong sizes of a gradient"),
        "{text}"
    );
    assert!(
        text.contains("to do: correct the derivative (`#[op_grad]`): the gradient of an argument has the sizes"),
        "{text}"
    );
}

#[op_def("opcheck::declared_constant(Tensor self) -> Tensor")]
pub fn declared_constant(this: &Tensor) -> Result<Tensor>;

#[op_impl(declared_constant, CPU, dtypes(floating))]
fn declared_constant_cpu<T: Floating>(this: &Tensor) -> Result<Tensor> {
    map::<T>(this, |x| x * x)
}

not_differentiable!(declared_constant);

#[test]
fn a_derivative_that_is_declared_missing_is_not_checked() {
    let report = assert_passes(declared_constant::operator(), &matrix());
    let reasons: Vec<_> = report.unchecked().filter(|(check, _)| *check == Check::Numeric).collect();
    assert_eq!(reasons, [(Check::Numeric, "declared not differentiable")]);
}

#[op_def("opcheck::rounded_square(Tensor self) -> Tensor")]
pub fn rounded_square(this: &Tensor) -> Result<Tensor>;

#[op_impl(rounded_square, CPU, dtypes(floating))]
fn rounded_square_cpu<T: Floating>(this: &Tensor) -> Result<Tensor> {
    map::<T>(this, |x| x * x + 1e4)?.to(DType::F32)
}

#[op_grad(rounded_square)]
fn rounded_square_grad(grad: &Tensor, this: &Tensor) -> Result<Tensor> {
    grad * (this * 2.0)?
}

#[test]
fn a_result_of_single_precision_is_the_reason_of_imprecise_differences() {
    let report = assert_passes(rounded_square::operator(), &matrix());
    let mut reasons = report.unchecked().filter(|(check, _)| *check == Check::Numeric);
    assert!(reasons.any(|(_, reason)| reason.starts_with("its result is float32 for float64 inputs")), "{report}");
}

#[test]
fn a_wrong_second_derivative_is_found() {
    let text = failing_report(wrong_second_order::operator(), &matrix()).to_string();
    assert!(text.contains("numeric: second order: the directional derivative is "), "{text}");
    assert!(!text.contains("first order"), "{text}");
}

#[test]
fn a_batch_rule_that_permutes_slices_is_found() {
    assert_finds(permuted_square::operator(), &matrix(), "vmap: mapped over `self`: result 0 has");
    assert_finds(permuted_square::operator(), &matrix(), "to do: correct the batch rule (`#[op_vmap]`)");
}

#[test]
fn a_gradient_with_a_wrong_batch_rule_is_found() {
    assert_finds(wrong_batched_gradient::operator(), &matrix(), "vmap: gradients: result 0 has");
}
