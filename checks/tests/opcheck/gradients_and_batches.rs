//! Mistakes of derivatives and batch rules.

use dispatch_autograd::op_grad;
use dispatch_checks::Check;
use dispatch_runtime::prelude::*;
use dispatch_vmap::{Batch, Mapped, op_vmap};

use crate::{assert_finds, assert_passes, failing_report, matrix};

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
