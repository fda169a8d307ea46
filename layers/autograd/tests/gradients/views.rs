//! Tests of in-place operators and views.

use aten::prelude::*;
use dispatch_autograd::{Differentiable, Differentiation, GradientError, grad, op_grad};
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Geometry, guard};
use kernels_cpu as _;

/// A view operator of another crate, with a derivative.
#[op_def("tail(Tensor(a) self, int from) -> Tensor(a)")]
fn tail(this: &Tensor, from: i64) -> Result<Tensor>;

#[op_impl(tail, CPU)]
fn tail_cpu(this: &Tensor, from: i64) -> Result<Tensor> {
    let (geometry, sizes) = (this.geometry(), this.sizes());
    let rest = Geometry::strided(&[sizes[0] - from], this.strides(), geometry.offset() + from * this.strides()[0]);
    Ok(this.restride(rest.unwrap())?)
}

#[op_grad(tail)]
fn tail_grad(grad: &Tensor, this: &dispatch_autograd::TensorOutline, from: i64) -> Result<Tensor> {
    let whole = this.zeros()?;
    aten::copy_(&mut tail(&whole, from)?, grad, false)?;
    Ok(whole)
}

/// An in-place operator of another crate, with a derivative.
#[op_def("triple_(Tensor(a!) self) -> Tensor(a!)")]
fn triple_(this: &mut Tensor) -> Result<()>;

#[op_impl(triple_, CPU)]
fn triple_cpu(this: &mut Tensor) -> Result<()> {
    this.elements_mut::<f64>()?.for_each(|element| *element *= 3.0);
    Ok(())
}

#[op_grad(triple_)]
fn triple_grad(grad: &Tensor) -> Result<Tensor> {
    grad * 3.0
}

/// An in-place operator without a declared derivative.
#[op_def("overwrite_without_derivative_(Tensor(a!) self) -> Tensor(a!)")]
fn overwrite_without_derivative_(this: &mut Tensor) -> Result<()>;

#[op_impl(overwrite_without_derivative_, CPU)]
fn overwrite_without_derivative_cpu(this: &mut Tensor) -> Result<()> {
    triple_cpu(this)
}

#[op_def("without_derivative(Tensor self) -> Tensor")]
fn without_derivative(this: &Tensor) -> Result<Tensor>;

#[op_impl(without_derivative, CPU)]
fn without_derivative_cpu(this: &Tensor) -> Result<Tensor> {
    Ok(Tensor::from_slice(&this.to_vec::<f64>()?))
}

fn leaf_tensor(values: &[f64]) -> Tensor {
    Tensor::from_slice(values).requires_grad_(true).unwrap()
}

fn copy_of_tensor(tensor: &Tensor) -> Tensor {
    aten::clone(tensor, None).unwrap()
}

fn gradient_elements(tensor: &Tensor) -> Vec<f64> {
    tensor.grad().expect("a gradient was accumulated").to_vec().unwrap()
}

fn gradient_error(error: &Error) -> &GradientError {
    std::error::Error::source(error).and_then(|source| source.downcast_ref()).unwrap_or_else(|| panic!("{error}"))
}

fn is_saved_tensor_modified(error: &Error, operator: &str) -> bool {
    matches!(gradient_error(error), GradientError::SavedTensorModified { operator: found, .. } if found == operator)
}

#[test]
fn an_in_place_operator_has_the_gradient_of_its_functional_form() {
    let x = leaf_tensor(&[1.0, -2.0]);
    let mut y = copy_of_tensor(&x);
    aten::mul_(&mut y, &Tensor::from([3.0, 5.0])).unwrap();
    aten::relu_(&mut y).unwrap();
    y.sum().unwrap().backward().unwrap();
    assert_eq!(gradient_elements(&x), [3.0, 0.0]);
}

#[test]
fn an_in_place_product_saves_the_value_before_the_write() {
    let (x, w) = (leaf_tensor(&[2.0]), leaf_tensor(&[5.0]));
    let mut y = copy_of_tensor(&x);
    aten::mul_(&mut y, &w).unwrap();
    y.backward().unwrap();
    assert_eq!((gradient_elements(&x), gradient_elements(&w)), (vec![5.0], vec![2.0]));
}

#[test]
fn a_tensor_times_itself_in_place_is_a_square() {
    let x = leaf_tensor(&[3.0]);
    let mut y = copy_of_tensor(&x);
    let other = y.clone();
    aten::mul_(&mut y, &other).unwrap();
    y.backward().unwrap();
    assert_eq!(gradient_elements(&x), [6.0]);
}

#[test]
fn a_write_to_a_view_changes_the_gradient_of_its_base() {
    let x = leaf_tensor(&[1.0, 2.0, 3.0]);
    let base = copy_of_tensor(&x);
    let mut end = tail(&base, 1).unwrap();
    aten::mul_(&mut end, &Tensor::from([10.0, 20.0])).unwrap();
    base.sum().unwrap().backward().unwrap();
    assert_eq!(gradient_elements(&x), [1.0, 10.0, 20.0]);
}

#[test]
fn a_write_to_a_base_changes_the_gradient_of_its_views() {
    let x = leaf_tensor(&[1.0, 2.0, 3.0]);
    let mut base = copy_of_tensor(&x);
    let end = tail(&base, 1).unwrap();
    aten::mul_(&mut base, &Tensor::from([10.0, 20.0, 30.0])).unwrap();
    (&end * &end).unwrap().sum().unwrap().backward().unwrap();
    assert_eq!(gradient_elements(&x), [0.0, 2.0 * 40.0 * 20.0, 2.0 * 90.0 * 30.0]);
}

#[test]
fn a_write_to_a_view_changes_other_views_of_the_base() {
    let x = leaf_tensor(&[1.0, 2.0, 3.0]);
    let base = copy_of_tensor(&x);
    let (mut first, second) = (tail(&base, 1).unwrap(), tail(&base, 2).unwrap());
    aten::mul_(&mut first, &Tensor::from([10.0, 20.0])).unwrap();
    second.backward().unwrap();
    assert_eq!(gradient_elements(&x), [0.0, 0.0, 20.0]);
}

#[test]
fn a_write_to_a_view_of_a_view_reaches_the_base() {
    let x = leaf_tensor(&[1.0, 2.0, 3.0, 4.0]);
    let base = copy_of_tensor(&x);
    let mut deep = tail(&tail(&base, 1).unwrap(), 1).unwrap();
    triple_(&mut deep).unwrap();
    triple_(&mut deep).unwrap();
    base.sum().unwrap().backward().unwrap();
    assert_eq!(gradient_elements(&x), [1.0, 1.0, 9.0, 9.0]);
}

#[test]
fn a_recorded_write_gives_a_plain_tensor_a_history() {
    let w = leaf_tensor(&[5.0]);
    let base = Tensor::from([1.0, 2.0, 3.0]);
    let (mut written, read) = (tail(&base, 1).unwrap(), tail(&base, 2).unwrap());
    aten::mul_(&mut written, &w).unwrap();
    assert!(base.requires_grad());
    read.sum().unwrap().backward().unwrap();
    assert_eq!(gradient_elements(&w), [3.0]);
}

#[test]
fn a_copy_into_a_view_ends_the_gradient_of_the_old_elements() {
    let (x, y) = (leaf_tensor(&[1.0, 2.0]), leaf_tensor(&[7.0]));
    let base = copy_of_tensor(&x);
    aten::copy_(&mut tail(&base, 1).unwrap(), &y, false).unwrap();
    (&base * &Tensor::from([2.0, 3.0])).unwrap().sum().unwrap().backward().unwrap();
    assert_eq!((gradient_elements(&x), gradient_elements(&y)), (vec![2.0, 0.0], vec![3.0]));
}

#[test]
fn second_derivatives_go_through_views() {
    let x = leaf_tensor(&[1.0, 2.0]);
    let base = copy_of_tensor(&x);
    let mut end = tail(&base, 1).unwrap();
    let other = copy_of_tensor(&end);
    aten::mul_(&mut end, &other).unwrap();
    let y = (&base * &base).unwrap().sum().unwrap();
    let first = Differentiation::of_outputs(&[&y]).create_graph().grad(&[&x]).unwrap().remove(0).unwrap();
    assert_eq!(first.to_vec::<f64>().unwrap(), [2.0, 32.0]);
    let second = grad(&[&first.sum().unwrap()], &[&x]).unwrap().remove(0).unwrap();
    assert_eq!(second.to_vec::<f64>().unwrap(), [2.0, 48.0]);
}

#[test]
fn overwriting_a_saved_tensor_is_an_error_through_every_alias() {
    type WriteToSavedTensor = fn(&Tensor);
    let writers: [(&str, WriteToSavedTensor); 6] = [
        ("the base", |saved| aten::add_(&mut saved.clone(), &Tensor::from(1.0), 1.into()).unwrap()),
        ("a view", |saved| aten::add_(&mut tail(saved, 1).unwrap(), &Tensor::from(1.0), 1.into()).unwrap()),
        ("a clone of the handle", |saved| aten::copy_(&mut saved.clone(), &Tensor::from(1.0), false).unwrap()),
        ("an operator without a derivative", |saved| overwrite_without_derivative_(&mut saved.clone()).unwrap()),
        ("a write guard", |saved| saved.clone().write::<f64>().unwrap()[0] = 7.0),
        ("a detached tensor", |saved| {
            aten::add_(&mut saved.detach().unwrap(), &Tensor::from(1.0), 1.into()).unwrap();
        }),
    ];
    for (name, write) in writers {
        let x = leaf_tensor(&[1.0, 2.0]);
        let saved = copy_of_tensor(&x);
        let y = (&saved * &saved).unwrap();
        write(&saved);
        let error = y.sum().unwrap().backward().unwrap_err();
        assert!(is_saved_tensor_modified(&error, "aten::mul.Tensor"), "through {name}: {error}");
        assert!(error.to_string().contains("version") && error.to_string().contains("clone"), "{error}");
    }
}

#[test]
fn overwriting_a_saved_result_is_an_error() {
    let x = leaf_tensor(&[1.0, -2.0]);
    let mut y = x.relu().unwrap();
    aten::add_(&mut y, &Tensor::from(1.0), 1.into()).unwrap();
    let error = y.sum().unwrap().backward().unwrap_err();
    assert!(
        matches!(gradient_error(&error), GradientError::SavedTensorModified { saved, .. } if saved == "result"),
        "{error}"
    );
}

#[test]
fn a_tensor_that_no_derivative_needs_can_be_overwritten() {
    let x = leaf_tensor(&[1.0, 2.0]);
    let mut y = (&x + &x).unwrap();
    aten::mul_(&mut y, &Tensor::from(3.0)).unwrap();
    y.sum().unwrap().backward().unwrap();
    assert_eq!(gradient_elements(&x), [6.0, 6.0]);
}

#[test]
fn a_recorded_write_to_a_leaf_is_an_error() {
    let mut x = leaf_tensor(&[1.0, 2.0]);
    let error = aten::add_(&mut x, &Tensor::from(1.0), 1.into()).unwrap_err();
    assert!(
        matches!(gradient_error(&error), GradientError::LeafWritten { argument, .. } if argument == "self"),
        "{error}"
    );
    let error = triple_(&mut x).unwrap_err();
    assert!(matches!(gradient_error(&error), GradientError::LeafWritten { .. }), "{error}");
    let error = triple_(&mut tail(&x, 1).unwrap()).unwrap_err();
    assert!(matches!(gradient_error(&error), GradientError::ViewOfLeafWritten { .. }), "{error}");
    assert_eq!(x.to_vec::<f64>().unwrap(), [1.0, 2.0]);
    let _off = guard::no_grad();
    triple_(&mut tail(&x, 1).unwrap()).unwrap();
    assert_eq!(x.to_vec::<f64>().unwrap(), [1.0, 6.0]);
    assert!(x.is_leaf() && x.requires_grad());
}

#[test]
fn a_later_recorded_write_to_an_unrecorded_view_is_an_error() {
    let x = leaf_tensor(&[1.0, 2.0]);
    let base = copy_of_tensor(&x);
    let mut view = {
        let _off = guard::no_grad();
        tail(&base, 1).unwrap()
    };
    let error = aten::mul_(&mut view, &leaf_tensor(&[2.0])).unwrap_err();
    assert!(matches!(gradient_error(&error), GradientError::ViewWritten { .. }), "{error}");
    assert!(!view.requires_grad());
}

#[test]
fn inference_tensors_can_be_written_to_only_in_inference_mode() {
    let mut made = {
        let _inference = guard::inference_mode();
        let mut made = Tensor::from([1.0]);
        triple_(&mut made).unwrap();
        made
    };
    let error = triple_(&mut made).unwrap_err();
    assert!(matches!(gradient_error(&error), GradientError::InferenceTensorWritten { .. }), "{error}");
    assert_eq!(made.to_vec::<f64>().unwrap(), [3.0]);
}

#[test]
fn a_backward_through_an_operator_without_derivative_names_it() {
    let x = leaf_tensor(&[1.0, 2.0]);
    let y = without_derivative(&x).unwrap();
    assert!(y.requires_grad());
    let error = y.sum().unwrap().backward().unwrap_err();
    assert!(
        matches!(gradient_error(&error), GradientError::NoDerivative { operator } if operator.ends_with("::without_derivative")),
        "{error}"
    );
    let mut z = copy_of_tensor(&x);
    overwrite_without_derivative_(&mut z).unwrap();
    let error = z.sum().unwrap().backward().unwrap_err();
    assert!(
        matches!(gradient_error(&error), GradientError::NoDerivative { operator } if operator.ends_with("::overwrite_without_derivative_")),
        "{error}"
    );
}

#[test]
fn out_forms_are_an_error_if_an_argument_requires_gradients() {
    let x = leaf_tensor(&[1.0]);
    let mut out = Tensor::from([0.0]);
    let error = aten::mul_out(&x, &x, &mut out).unwrap_err();
    assert!(
        matches!(gradient_error(&error), GradientError::OutRequiresGrad { argument, .. } if argument == "self"),
        "{error}"
    );
    let _off = guard::no_grad();
    aten::mul_out(&x, &x, &mut out).unwrap();
}

#[test]
fn an_in_place_transpose_makes_a_view_and_writes_nothing() {
    let x = leaf_tensor(&[1.0, 2.0]);
    let y = (&x * &x).unwrap();
    let mut matrix = copy_of_tensor(&y).view([2, 1]).unwrap();
    let version = matrix.storage().version();
    aten::t_(&mut matrix).unwrap();
    assert_eq!((matrix.sizes(), matrix.storage().version()), (&[1, 2][..], version));
}
