//! Correct operators of many kinds pass: PyTorch's, and a new one with all forms.

use aten::prelude::*;
use dispatch_autograd::op_grad;
use dispatch_checks::{Case, Check};
use dispatch_runtime::PointwisePlan;
use dispatch_runtime::prelude::*;

use crate::{assert_passes, matrix, vector};

/// `sqrt(self^2 + 1) - 1`
#[op_def("opcheck::soft_abs(Tensor self) -> Tensor", shape = pointwise, dtypes(floating), inplace, out = "out")]
pub fn soft_abs(this: &Tensor) -> Result<Tensor>;

#[op_impl(soft_abs, CPU, dtypes(floating), in_place, strided)]
fn soft_abs_cpu<T: Floating>(_plan: &PointwisePlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let mut elements = this.to_vec::<T>()?.into_iter();
    out.elements_mut::<T>()?.for_each(|to| {
        if let Some(x) = elements.next() {
            *to = T::from_f64(x.to_f64().hypot(1.0) - 1.0);
        }
    });
    Ok(())
}

#[op_grad(soft_abs)]
fn soft_abs_grad(grad: &Tensor, this: &Tensor, result: &Tensor) -> Result<Tensor> {
    (grad * this)? / (result + 1.0)?
}

#[test]
fn an_operator_with_all_forms_passes_every_check() {
    let report = assert_passes(soft_abs::operator(), &matrix());
    for check in [
        Check::Values,
        Check::Meta,
        Check::InPlace,
        Check::Out,
        Check::Layouts,
        Check::Changes,
        Check::InPlaceGradients,
        Check::Numeric,
        Check::Vmap,
        Check::Trace,
    ] {
        assert!(report.passed_count(check) > 0, "{check} in {report}");
    }
    assert!(report.to_string().starts_with("opcheck::soft_abs(Tensor self) -> Tensor: 0 of "), "{report}");
    assert_passes(soft_abs::operator(), &matrix().to(DType::F32).unwrap());
    assert_passes(soft_abs::operator(), &matrix().t().unwrap());
    assert_passes(soft_abs::operator(), &Tensor::from(0.5));
    assert_passes(soft_abs::operator(), &Tensor::zeros([0, 3], DType::F32).unwrap());
}

#[test]
fn operators_of_pytorch_pass() {
    let (x, y) = (matrix(), vector());
    assert_passes(aten::add::operator(), (&x, &y, Scalar::Float(0.5)));
    assert_passes(aten::mm::operator(), [&x, &x.t().unwrap()]);
    assert_passes(aten::sum_dim_intlist::operator(), Case::new().input(&x).named("dim", vec![1_i64]));
    assert_passes(aten::view::operator(), (&x, vec![3_i64, 2]));
    assert_passes(aten::relu_::operator(), &x);
    assert_passes(aten::nonzero::operator(), &x);
    assert_passes(aten::cat::operator(), (vec![x.clone(), x.clone()], 1_i64));
    assert_passes(aten::index_select::operator(), (&x, 1_i64, &Tensor::from([2_i64, 0])));
    assert_passes(aten::zeros::operator(), Case::new().input(vec![2_i64, 3]).named("dtype", DType::F32));
}

#[test]
fn random_operators_are_checked_without_their_elements() {
    let report = assert_passes(aten::rand_like::operator(), &matrix());
    assert!(report.passed_count(Check::Vmap) > 0, "{report}");
}

#[test]
fn an_operator_of_one_dtype_is_not_checked_in_double_precision() {
    let report = assert_passes(single_precision::operator(), &Tensor::from([0.5_f32, 2.0]));
    let reasons: Vec<_> = report.unchecked().filter(|(check, _)| *check == Check::Numeric).collect();
    assert!(reasons.len() == 1 && reasons[0].1.contains("double precision"), "{reasons:?}");
    let report = assert_passes(single_precision::operator(), &Tensor::from([[0.5_f32, 2.0]]));
    assert_eq!(report.failed().count(), 0);
}

#[op_def("opcheck::single_precision(Tensor self) -> Tensor", shape = pointwise)]
pub fn single_precision(this: &Tensor) -> Result<Tensor>;

#[op_impl(single_precision, CPU, dtypes(f32))]
fn single_precision_cpu<T: Floating>(_plan: &PointwisePlan, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let mut elements = this.to_vec::<T>()?.into_iter();
    out.elements_mut::<T>()?.for_each(|to| *to = elements.next().unwrap_or(T::ZERO));
    Ok(())
}
