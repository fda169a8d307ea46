//! Tests calls with named arguments.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]

use dispatch_runtime::prelude::*;

#[op_def(
    "format_arguments(Tensor self, int[1]? dim=None, bool keepdim=False, *, Scalar alpha=1, float[2] scale=1.5, str mode=\"mean\", ScalarType? dtype=None) -> str"
)]
fn format_arguments(
    this: &Tensor,
    dim: Option<&[i64]>,
    keepdim: bool,
    alpha: Scalar,
    scale: &[f64],
    mode: &str,
    dtype: Option<DType>,
) -> Result<Str>;

#[op_impl(format_arguments)]
fn format_arguments_kernel(
    _: &Tensor,
    dim: Option<&[i64]>,
    keepdim: bool,
    alpha: Scalar,
    scale: &[f64],
    mode: &str,
    dtype: Option<DType>,
) -> Str {
    format!("{dim:?} {keepdim} {alpha} {scale:?} {mode} {dtype:?}").into()
}

#[op_def("seed_if_weighted(Tensor self, *, Generator? generator=None, Tensor? weight=None, int? seed=None) -> int?")]
fn seed_if_weighted(
    this: &Tensor,
    generator: Option<&Generator>,
    weight: Option<&Tensor>,
    seed: Option<i64>,
) -> Result<Option<i64>>;

#[op_impl(seed_if_weighted)]
fn seed_if_weighted_kernel(
    _: &Tensor,
    generator: Option<&Generator>,
    weight: Option<&Tensor>,
    seed: Option<i64>,
) -> Option<i64> {
    seed.filter(|_| generator.is_none() && weight.is_some())
}

#[test]
fn omitted_arguments_have_their_defaults() -> Result<()> {
    let x = &Tensor::from_slice(&[1.0_f32]);
    let plain = "None false 1 [1.5, 1.5] mean None";
    assert_eq!(&*format_arguments!(x)?, plain);
    assert_eq!(&*format_arguments!(this = x)?, plain);
    assert_eq!(&*format_arguments!(self = x,)?, plain);
    assert_eq!(&*format_arguments!(x, None, false)?, plain);
    Ok(())
}

#[test]
fn lists_are_accepted_in_each_form() -> Result<()> {
    let x = &Tensor::from_slice(&[1.0_f32]);
    let dims = vec![0_i64, 1];
    let array = [0_i64, 1];
    let wanted = "Some([0, 1]) false 1 [1.5, 1.5] mean None";
    for found in [
        format_arguments!(x, dim = [0, 1])?,
        format_arguments!(x, [0, 1])?,
        format_arguments!(x, dim = &[0, 1])?,
        format_arguments!(x, dim = &dims)?,
        format_arguments!(x, dim = &array)?,
        format_arguments!(x, dim = &dims[..])?,
        format_arguments!(x, dim = Some(&dims))?,
        format_arguments!(x, dim = Some(&[0, 1]))?,
        format_arguments!(x, dim = dims.get(..2))?,
    ] {
        assert_eq!(&*found, wanted);
    }
    assert_eq!(&*format_arguments!(x, dim = 3)?, "Some([3]) false 1 [1.5, 1.5] mean None");
    assert_eq!(&*format_arguments!(x, scale = 2.0, alpha = 0.5)?, "None false 0.5 [2.0, 2.0] mean None");
    Ok(())
}

#[test]
fn optional_arguments_are_accepted_with_and_without_some() -> Result<()> {
    let x = &Tensor::from_slice(&[1.0_f32]);
    assert_eq!(seed_if_weighted!(x, weight = x, seed = 3)?, Some(3));
    assert_eq!(seed_if_weighted!(x, weight = Some(x), seed = Some(3))?, Some(3));
    let weight = Some(x);
    assert_eq!(seed_if_weighted!(x, weight = weight, seed = 1 + 2)?, Some(3));
    assert_eq!(seed_if_weighted!(x, generator = None, weight = weight.filter(|_| false), seed = 3)?, None);
    assert!(format_arguments!(x, dtype = DType::F32, mode = "sum")?.contains("sum Some"));
    Ok(())
}

#[op_def(
    "return_argument_a(Tensor(a!) self, Tensor[] list, int a=0, Tensor? other=None, int[]? dims=None, str mode=\"\", Scalar z=1, *, Tensor(b!)? out=None) -> int"
)]
fn return_argument_a(
    this: &mut Tensor,
    list: &[Tensor],
    a: i64,
    other: Option<&Tensor>,
    dims: Option<&[i64]>,
    mode: &str,
    z: Scalar,
    out: Option<&mut Tensor>,
) -> Result<i64> {
    let _ = (this, list, other, dims, mode, z, out);
    Ok(a)
}

#[test]
fn arguments_are_evaluated_in_the_order_of_the_source() -> Result<()> {
    fn log_and_return<T>(log: &std::cell::RefCell<Vec<&'static str>>, name: &'static str, value: T) -> T {
        log.borrow_mut().push(name);
        value
    }

    let tensor = || Tensor::from_slice(&[1.0_f32]);
    let log = std::cell::RefCell::new(Vec::new());
    let (mut x, mut out) = (tensor(), tensor());
    let called = return_argument_a!(
        &mut x,
        z = log_and_return(&log, "z", 2),
        mode = &log_and_return(&log, "mode", String::from("temporary")),
        a = log_and_return(&log, "a", 7),
        list = log_and_return(&log, "list", &Vec::from([tensor()])),
    )?;
    assert_eq!((called, &log.take()[..]), (7, &["z", "mode", "a", "list"][..]));

    // Arguments that are temporaries, literals, coercions, reborrows, and borrows that end before the next one.
    let shared = &mut x;
    return_argument_a!(dims = Some(&[0, 1]), list = &[], this = shared)?;
    return_argument_a!(dims = [], other = &tensor(), list = [tensor()], this = shared, out = Some(&mut out))?;
    return_argument_a!(other = None, a = shared.sizes()[0], list = &Vec::new(), this = shared, out = &mut out)?;
    return_argument_a!(dims = &vec![1_i64], mode = &String::from("mode"), this = shared, list = &[tensor(), tensor()])?;
    return_argument_a!(list = &[], a = "3".parse().unwrap_or_default(), this = shared, z = 1.5)?;
    Ok(())
}
