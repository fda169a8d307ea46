//! Tests that `gradcheck` and `gradgradcheck` accept correct derivatives and find wrong ones.

#![allow(missing_docs, reason = "the operators are named after their mistakes")]

use std::cell::Cell;

use aten::prelude::*;
use dispatch_autograd::op_grad;
use dispatch_checks::{Error, gradcheck, gradgradcheck};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex64, ErrorKind};
use kernels_cpu as _;

/// Defines operators that compute a cube, with their derivatives.
macro_rules! define_cubes {
    ($($schema:literal $name:ident $kernel:ident $derivative:ident => |$grad:ident, $this:ident| $result:expr;)*) => {$(
        #[op_def($schema)]
        pub fn $name(this: &Tensor) -> Result<Tensor>;

        #[op_impl($name, CPU)]
        fn $kernel(this: &Tensor) -> Result<Tensor> {
            (this * this)? * this
        }

        #[op_grad($name)]
        fn $derivative($grad: &Tensor, $this: &Tensor) -> Result<Tensor> {
            $result
        }
    )*};
}

define_cubes! {
    "gradcheck::cube(Tensor self) -> Tensor" cube cube_cpu cube_grad => |grad, this| grad * (square(this)? * 3.0)?;
    "gradcheck::cube_with_half(Tensor self) -> Tensor" cube_with_half cube_with_half_cpu cube_with_half_grad
        => |grad, this| grad * (square(this)? * 1.5)?;
    "gradcheck::slightly_wrong(Tensor self) -> Tensor" slightly_wrong slightly_wrong_cpu slightly_wrong_grad
        => |grad, this| grad * (square(this)? * 3.00001)?;
    "gradcheck::wrong_second(Tensor self) -> Tensor" wrong_second wrong_second_cpu wrong_second_grad
        => |grad, this| grad * (square(&aten::detach(this)?)? * 3.0)?;
}

fn square(x: &Tensor) -> Result<Tensor> {
    x * x
}

#[op_def("gradcheck::single_precision(Tensor self) -> Tensor")]
pub fn single_precision(this: &Tensor) -> Result<Tensor>;

#[op_impl(single_precision, CPU, dtypes(f32))]
fn single_precision_cpu<T: Floating>(this: &Tensor) -> Result<Tensor> {
    Ok(Tensor::from_vec(this.to_vec::<T>()?, this.sizes())?)
}

#[test]
fn a_function_of_single_precision_has_no_derivative_to_check() {
    let error = gradcheck(single_precision, matrix().to(DType::F32).unwrap()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::Missing(_)), "{text}");
    assert!(text.starts_with("gradients are checked in double precision (`float64`), and the call failed: "), "{text}");
}

#[test]
fn the_input_of_a_wrong_gradient_is_named() {
    let wrong = |(x, y): &(Tensor, Tensor)| (x * y)? + aten::detach(y)?;
    let text = message(gradcheck(wrong, (&matrix(), &matrix())));
    assert!(text.contains("; wrong with respect to `inputs.1`\n"), "{text}");
}

#[op_def("gradcheck::without_derivative(Tensor self) -> Tensor")]
pub fn without_derivative(this: &Tensor) -> Result<Tensor>;

#[op_impl(without_derivative, CPU)]
fn without_derivative_cpu(this: &Tensor) -> Result<Tensor> {
    square(this)
}

fn matrix() -> Tensor {
    Tensor::from([[1.5, -2.5], [0.25, 3.0]])
}

fn message(result: Result<(), Error>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn correct_derivatives_pass() {
    let (x, y) = (matrix(), Tensor::from([[0.5, 1.0], [2.0, -1.0]]));
    gradcheck(cube, &x).unwrap();
    gradgradcheck(cube, &x).unwrap();
    gradcheck(|(x, y)| aten::mm(x, y), (&x, &y)).unwrap();
    gradcheck(|(x, y)| Ok((aten::mm(x, y)?, aten::exp(y)?)), (&x, &y)).unwrap();
    gradgradcheck(|all: &Vec<Tensor>| aten::mul(&all[0], &all[1]), &[&x, &y][..]).unwrap();
}

#[test]
fn inputs_are_converted_to_double_precision() {
    let x = Tensor::from([[1.5_f32, -2.5], [0.25, 3.0]]);
    let double = |x: &Tensor| {
        assert_eq!(x.dtype(), DType::F64);
        aten::sin(x)
    };
    gradcheck(double, &x).unwrap();
    let transposed = Tensor::from([[1.5, -2.5], [0.25, 3.0]]).t().unwrap();
    gradcheck(aten::sin, &transposed).unwrap();
}

#[test]
fn integers_are_inputs_without_gradients() {
    let places = Tensor::from([2_i64, 0]);
    gradcheck(|(x, places)| aten::index_select(x, 0, places), (&Tensor::from([1.0, 2.0, 3.0]), &places)).unwrap();
}

#[test]
fn complex_functions_are_differentiated_by_both_parts() {
    let z = Tensor::from([Complex64::new(0.5, -1.5), Complex64::new(-2.0, 0.25)]);
    gradcheck(aten::exp, &z).unwrap();
    gradgradcheck(|z| aten::mul(z, &aten::conj(z)?), &z).unwrap();
    let half = |z: &Tensor| aten::mul(z, &aten::detach(z)?);
    assert!(message(gradcheck(half, &z)).contains("the directional derivative is"));
}

#[test]
fn wrong_derivatives_are_found() {
    for wrong in [cube_with_half, slightly_wrong] {
        let text = message(gradcheck(wrong, matrix()));
        assert!(
            text.starts_with("the function: 1 of 1 checks failed\n\nnumeric: the directional derivative is "),
            "{text}"
        );
        assert!(text.contains("to do: correct the derivative (`#[op_grad]`)"), "{text}");
    }
}

#[test]
fn a_wrong_second_derivative_is_found_by_gradgradcheck() {
    gradcheck(wrong_second, matrix()).unwrap();
    assert!(message(gradgradcheck(wrong_second, matrix())).contains("the directional derivative is"));
}

#[test]
fn a_graph_that_ends_early_is_found() {
    let half = |x: &Tensor| aten::mul(x, &aten::detach(x)?);
    assert!(message(gradcheck(half, matrix())).contains("the directional derivative is"));
    let whole = |x: &Tensor| aten::detach(&aten::exp(x)?);
    assert!(matches!(gradcheck(whole, matrix()), Err(Error::NoDifferentiableResult)));
}

#[test]
fn functions_without_a_derivative_to_check_are_errors() {
    let (x, places) = (matrix(), Tensor::from([1_i64, 0]));
    assert!(matches!(gradcheck(aten::neg, &places), Err(Error::NoDifferentiableInput)));
    assert!(matches!(gradcheck(aten::exp, Tensor::zeros([0], DType::F64).unwrap()), Err(Error::NoDifferentiableInput)));
    assert!(matches!(gradcheck(|x| aten::argmax(x, None, false), &x), Err(Error::NoDifferentiableResult)));
    assert!(message(gradcheck(without_derivative, &x)).contains("gradcheck::without_derivative"));
}

#[test]
fn functions_that_are_not_smooth_or_not_deterministic_are_errors() {
    let zeros = Tensor::from([0.0, 0.0]);
    // Near zero, the absolute value is smooth.
    gradcheck(aten::abs, &zeros).unwrap();
    let rough = |x: &Tensor| aten::abs(&aten::sin(&(x * 1e7)?)?);
    assert!(matches!(gradcheck(rough, matrix()), Err(Error::NotSmooth)));
    let count = Cell::new(0.0);
    let counting = |x: &Tensor| {
        count.set(count.get() + 1.0);
        x * count.get()
    };
    assert!(matches!(gradcheck(counting, matrix()), Err(Error::NotDeterministic)));
}

#[test]
fn errors_and_panics_of_the_function_are_reported() {
    let text = message(gradcheck(|x| aten::mm(x, &Tensor::zeros([3, 3], DType::F64)?), matrix()));
    assert!(text.contains("numeric: failed: ") && text.contains("aten::mm"), "{text}");
    let text = message(gradcheck(|_: &Tensor| -> Result<Tensor> { panic!("test panic") }, matrix()));
    assert!(text.contains("numeric: panicked: test panic"), "{text}");
}

#[test]
fn an_error_converts_to_an_error_of_the_runtime() {
    let error: dispatch_runtime::Error = gradcheck(cube_with_half, matrix()).unwrap_err().into();
    assert!(matches!(error.kind(), ErrorKind::Kernel { .. }));
    assert!(error.to_string().contains("the directional derivative is"), "{error}");
}
