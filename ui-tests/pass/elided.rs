//! Tests `_: ...` for the arguments of the schema, in definitions, plans, and kernels with and without a plan.
#![forbid(unsafe_code)]
#![deny(warnings, unused_qualifications)]

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Spec};

#[op_def("add_number(Tensor self, Tensor other, int by, *, bool twice=False) -> Tensor", plan, inplace, out = "out")]
fn add_number(_: ...) -> Result<Tensor>;

#[op_plan(add_number)]
fn add_number_plan(_: ...) -> Result<Plan<i64>, BadArgument> {
    if other.sizes() != this.sizes() {
        return Err(BadArgument::sizes("other", other.sizes(), this.sizes()).like("self"));
    }
    Ok(Plan::new(if twice { 2 * by } else { by }, [Spec::like(this, DType::I64)]))
}

#[op_impl(add_number, CPU, in_place)]
fn add_number_cpu(plan: &i64, out: &mut Tensor, _: ...) -> Result<()> {
    let sums: Vec<i64> = this.to_vec::<i64>()?.iter().zip(other.to_vec::<i64>()?).map(|(a, b)| a + b + plan).collect();
    out.write::<i64>()?.copy_from_slice(&sums);
    Ok(())
}

/// A generic kernel for an operator of another crate.
#[op_impl(myops::mymul, CPU, dtypes(floating))]
fn mymul_cpu<T: Number>(_: ...) -> Result<Tensor> {
    assert_eq!(other.dtype(), T::DTYPE);
    Ok(this.clone())
}

#[op_impl(myops::weighted, CPU, when(weight.is_none()))]
fn weighted_cpu(_: ...) -> Tensor {
    this.clone()
}

/// One kernel of two operators: the expansion of the first attribute contains the second one.
#[op_impl(myops::flip, CPU)]
#[op_impl(myops::square, CPU)]
fn flip_and_square_cpu(_: ...) -> Tensor {
    this.clone()
}

#[test]
fn elided_parameters_are_those_of_the_schema() {
    let (mut a, b) = (Tensor::from_slice(&[1_i64, 2]), Tensor::from_slice(&[10_i64, 20]));
    assert_eq!(add_number(&a, &b, 3, true).unwrap().to_vec::<i64>().unwrap(), [17, 28]);
    add_number_(&mut a, &b, 3, false).unwrap();
    assert_eq!(a.to_vec::<i64>().unwrap(), [14, 25]);
    assert!(add_number(&a, &Tensor::from_slice(&[1_i64]), 3, false).is_err());
    let x = Tensor::from_slice(&[1.0_f32]);
    assert!(myops::mymul(&x, &x).unwrap().same(&x) && myops::weighted(&x, None).unwrap().same(&x));
    assert!(myops::square(&x).unwrap().same(&x) && myops::flip(&x).unwrap().same(&x));
}
