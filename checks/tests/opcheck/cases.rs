//! Cases: the inputs fit the schema, or the error says what is wrong.

use aten::prelude::*;
use dispatch_checks::{Case, Error, opcheck};
use dispatch_runtime::prelude::*;

use crate::{assert_finds, assert_passes, matrix, vector};

fn error_of(case: impl Into<Case>) -> Error {
    opcheck(aten::sum_dim_intlist::operator(), case).unwrap_err()
}

#[test]
fn inputs_that_do_not_fit_the_schema_are_errors() {
    let x = matrix();
    let error = error_of(Case::new().input(&x).named("axis", vec![1_i64]));
    assert!(
        error.to_string().starts_with("the input `axis` is not needed: the operator is aten::sum.dim_IntList("),
        "{error}"
    );
    let error = error_of(Case::new().input(&x).named("self", &x));
    assert!(error.to_string().starts_with("the input `self` is not needed"), "{error}");
    let error = error_of(Case::new().input(&x).named("dim", vec![1_i64]).named("dim", vec![0_i64]));
    assert!(matches!(error, Error::UnexpectedInput { .. }));
    let error = error_of((&x, vec![1_i64], true, DType::F64, 5_i64));
    assert!(error.to_string().starts_with("input 4 is not needed"), "{error}");
    let error = error_of(());
    assert!(matches!(error, Error::MissingArgument { argument, .. } if argument == "self"));
}

#[test]
fn an_input_of_a_wrong_type_is_a_failed_call() {
    assert_finds(aten::sum_dim_intlist::operator(), (&matrix(), "rows"), "values: failed: ");
}

#[test]
fn expected_results_are_compared() {
    let (x, rows) = (matrix(), Tensor::from([-0.25, 2.0]));
    let case = || Case::new().input(&x).named("dim", vec![1_i64]);
    assert_passes(aten::sum_dim_intlist::operator(), case().expect(&rows));
    assert_finds(
        aten::sum_dim_intlist::operator(),
        case().expect(Tensor::from([-0.25, 2.5])),
        "values: result 0 has 2.0 at 1, expected 2.5 (1 of 2 elements differ)\n  to do: correct the kernel, or the expected result",
    );
    assert_finds(
        aten::sum_dim_intlist::operator(),
        case().expect(&rows).expect(&rows),
        "values: returned 1 values, expected 2",
    );
    assert_finds(
        aten::sum_dim_intlist::operator(),
        case().expect(rows.to(DType::F32).unwrap()),
        "values: result 0 is of float64, expected float32",
    );
}

#[op_def("opcheck::without_kernel(Tensor self) -> Tensor")]
pub fn without_kernel(this: &Tensor) -> Result<Tensor>;

#[test]
fn an_operator_without_a_kernel_is_an_error() {
    let error = opcheck(without_kernel::operator(), &vector()).unwrap_err();
    assert!(matches!(&error, Error::Missing(message) if message.contains("opcheck::without_kernel")), "{error}");
}

#[test]
fn an_operator_that_refuses_the_inputs_is_reported() {
    assert_finds(aten::mm::operator(), [&matrix(), &vector()], "values: failed: ");
}
