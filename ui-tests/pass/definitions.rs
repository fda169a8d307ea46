//! Tests definitions with a schema in a string, in bare tokens, or inferred.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]

use dispatch_runtime::prelude::*;

#[op_def]
fn inferred_schema(
    this: &Tensor,
    out: &mut Tensor,
    rest: &[Tensor],
    weight: Option<&Tensor>,
    dim: Option<&[i64]>,
    alpha: Scalar,
    mode: &str,
    r#type: DType,
    _unused: bool,
) -> Result<(Tensor, Option<Tensor>, Vec<i64>, Str)>;

#[op_def(schema_from_tokens(Tensor(a!) self, int[2]? dim=[1, -1], *, str mode="mean", float eps=1e-5, bool[3] mask=[True, False, True], Device? device=None, complex z=0) -> Tensor(a!))]
fn schema_from_tokens(
    this: &mut Tensor,
    dim: Option<&[i64]>,
    mode: &str,
    eps: f64,
    mask: &[bool],
    device: Option<Device>,
    z: dispatch_runtime::Complex64,
) -> Result<()>;

#[op_def(spelled::namespaced.Tensor(Tensor self) -> (Tensor a, Tensor b))]
fn namespaced(this: &Tensor) -> Result<(Tensor, Tensor)>;

#[op_def("spelled::namespaced.Scalar_mode(Tensor self, Scalar other=2) -> (Tensor a, Tensor b)")]
fn namespaced_scalar_mode(this: &Tensor, other: Scalar) -> Result<(Tensor, Tensor)>;

/// An operator with documentation and a type alias as its result.
#[op_def("with_std_result(Tensor self) -> Tensor")]
fn with_std_result(this: &Tensor) -> std::result::Result<Tensor, Error>;

#[op_def("minus(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", operator = Sub)]
fn minus(this: &Tensor, other: &Tensor, alpha: Scalar) -> Result<Tensor>;

#[op_impl(minus, CPU)]
fn minus_cpu(this: &Tensor, _: &Tensor, alpha: Scalar) -> Result<Tensor> {
    assert_eq!(alpha, Scalar::Int(1));
    Ok(this.clone())
}

#[test]
fn schemas_are_inferred_from_signatures_or_parsed_from_tokens() {
    assert_eq!(
        inferred_schema::operator().schema().to_string(),
        "definitions::inferred_schema(Tensor self, Tensor(a!) out, Tensor[] rest, Tensor? weight, int[]? dim, Scalar alpha, str mode, \
         ScalarType type, bool unused) -> (Tensor, Tensor?, int[], str)"
    );
    assert_eq!(
        schema_from_tokens::operator().schema().to_string(),
        "definitions::schema_from_tokens(Tensor(a!) self, int[2]? dim=[1, -1], *, str mode=\"mean\", float eps=1.0000000000000001e-05, \
         bool[3] mask=[True, False, True], Device? device=None, complex z=0.+0.j) -> Tensor(a!)"
    );
}

#[test]
fn a_schema_may_contain_its_namespace() {
    assert_eq!(namespaced::operator().name().to_string(), "spelled::namespaced.Tensor");
    assert_eq!(namespaced_scalar_mode::operator().name().to_string(), "spelled::namespaced.Scalar_mode");
    assert_eq!(with_std_result::operator().schema().arguments.len(), 1);
}

#[test]
fn a_rust_operator_calls_the_operator() -> Result<()> {
    let x = Tensor::from_slice(&[1.0_f32]);
    let difference = (&x - &x)?;
    assert_eq!(difference.sizes(), [1]);
    Ok(())
}
