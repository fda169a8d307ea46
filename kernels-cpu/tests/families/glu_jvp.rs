//! Tests that `glu_jvp` equals its formula and the differences of `glu`.

use aten::prelude::*;
use dispatch_runtime::prelude::*;

fn tensor_of_sines(sizes: &[i64], seed: f64, dtype: DType) -> Result<Tensor> {
    let count = u32::try_from(sizes.iter().product::<i64>()).unwrap_or(0);
    let values = (0..count).map(|i| (seed + 1.7 * f64::from(i)).sin() * 2.0);
    Tensor::from_vec(values.collect::<Vec<f64>>(), sizes)?.to(dtype)
}

/// Returns the arguments of `glu_jvp`: the result of `glu`, its input `x`, and the tangent `dx`.
fn glu_jvp_arguments(sizes: &[i64], dim: i64, dtype: DType) -> Result<[Tensor; 3]> {
    let (x, dx) = (tensor_of_sines(sizes, 1.0, dtype)?, tensor_of_sines(sizes, 2.0, dtype)?);
    Ok([aten::glu(&x, dim)?, x, dx])
}

/// Computes `glu_jvp` by its formula with other operators, in double precision.
fn glu_jvp_by_formula([glu, x, dx]: &[Tensor; 3], dim: i64) -> Result<Tensor> {
    let double = |tensor: &Tensor| tensor.to(DType::F64);
    let (x, dx) = (aten::chunk(&double(x)?, 2, dim)?, aten::chunk(&double(dx)?, 2, dim)?);
    let sigmoid = x[1].sigmoid()?;
    (&sigmoid * &dx[0])? + ((&dx[1] - (&sigmoid * &dx[1])?)? * double(glu)?)?
}

#[track_caller]
fn assert_near(found: &Tensor, expected: &Tensor, tolerance: f64) -> Result<()> {
    assert_eq!(found.sizes(), expected.sizes());
    let [found, expected] = [found, expected].map(|tensor| tensor.to(DType::F64)?.contiguous()?.to_vec::<f64>());
    let (found, expected) = (found?, expected?);
    let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * b.abs().max(1.0);
    assert!(found.iter().zip(&expected).all(is_near), "{found:?}, expected {expected:?}");
    Ok(())
}

#[test]
fn glu_jvp_equals_its_formula() -> Result<()> {
    for (dtype, tolerance) in [(DType::F64, 1e-14), (DType::F32, 1e-6), (DType::F16, 2e-3), (DType::BF16, 2e-2)] {
        for dim in [0, 1, -1, -3] {
            let given = glu_jvp_arguments(&[2, 4, 6], dim, dtype)?;
            let [glu, x, dx] = &given;
            let found = aten::glu_jvp(glu, x, dx, dim)?;
            assert_eq!(found.dtype(), dtype);
            assert_near(&found, &glu_jvp_by_formula(&given, dim)?, tolerance)?;
            // Repeats the check for the same elements with other strides.
            let [glu, x, dx] = &[glu, x, dx].map(|t| t.transpose(0, 2)?.contiguous()?.transpose(0, 2));
            let [Ok(glu), Ok(x), Ok(dx)] = [glu, x, dx] else { panic!("a strided copy failed") };
            let turned = aten::glu_jvp(glu, x, dx, dim)?;
            assert_eq!(turned.strides(), glu.strides());
            assert_near(&turned, &found, 0.0)?;
        }
    }
    Ok(())
}

#[test]
fn glu_jvp_equals_differences_of_glu() -> Result<()> {
    let [glu, x, dx] = glu_jvp_arguments(&[3, 4], 1, DType::F64)?;
    let step = (&dx * 1e-6)?;
    let (after, before) = (aten::glu(&(&x + &step)?, 1)?, aten::glu(&(&x - &step)?, 1)?);
    assert_near(&aten::glu_jvp(&glu, &x, &dx, 1)?, &((after - before)? / 2e-6)?, 1e-8)
}

#[test]
fn glu_jvp_out_gives_the_same_result() -> Result<()> {
    let [glu, x, dx] = glu_jvp_arguments(&[3, 4], 1, DType::F64)?;
    let expected = aten::glu_jvp(&glu, &x, &dx, 1)?;
    for mut out in [Tensor::empty(0, DType::F64)?, Tensor::empty([2, 3], DType::F64)?.t()?] {
        aten::glu_jvp_out(&glu, &x, &dx, 1, &mut out)?;
        assert_near(&out, &expected, 0.0)?;
    }
    // `out` is also an input.
    let mut written = glu.clone();
    aten::glu_jvp_out(&glu, &x, &dx, 1, &mut written)?;
    assert_near(&written, &expected, 0.0)?;
    let small = aten::glu_jvp_out(&glu, &x, &dx, 1, &mut Tensor::empty([3, 1], DType::F64)?).unwrap_err().to_string();
    assert!(small.contains("`out`"), "{small}");
    Ok(())
}

#[test]
fn glu_jvp_of_empty_inputs_is_empty() -> Result<()> {
    let [glu, x, dx] = glu_jvp_arguments(&[0, 4], 1, DType::F32)?;
    assert_eq!(aten::glu_jvp(&glu, &x, &dx, 1)?.sizes(), [0, 2]);
    Ok(())
}

#[test]
fn glu_jvp_errors_name_the_argument_on_cpu_and_meta() -> Result<()> {
    let of = |sizes: &[i64], dtype| Tensor::zeros(sizes, dtype);
    let (glu, x) = (of(&[2, 2], DType::F32)?, of(&[2, 4], DType::F32)?);
    let cases = [
        (glu.clone(), of(&[2, 3], DType::F32)?, x.clone(), 1, "`x` has sizes [2, 3]"),
        (of(&[], DType::F32)?, of(&[], DType::F32)?, of(&[], DType::F32)?, 0, "`x` has 0 dimensions"),
        (glu.clone(), of(&[2, 4], DType::I32)?, x.clone(), 1, "`x` is of int32"),
        (glu.clone(), of(&[2, 4], DType::C64)?, x.clone(), 1, "`x` is of complex64"),
        (x.clone(), x.clone(), x.clone(), 1, "`glu` has sizes [2, 4]"),
        (glu.clone(), x.clone(), x.clone(), 0, "`glu` has sizes [2, 2]"),
        (of(&[1, 2], DType::F32)?, x.clone(), x.clone(), 1, "`glu` has sizes [1, 2]"),
        (of(&[2, 2], DType::F64)?, x.clone(), x.clone(), 1, "`glu` is of float64"),
        (glu.clone(), x.clone(), glu.clone(), 1, "`dx` has sizes [2, 2]"),
        (glu.clone(), x.clone(), of(&[2, 4], DType::F16)?, 1, "`dx` is of float16"),
        (glu.clone(), x.clone(), x.clone(), 2, "`dim` is 2"),
    ];
    for (glu, x, dx, dim, expected) in cases {
        let error = aten::glu_jvp(&glu, &x, &dx, dim).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}, expected {expected}");
        let [Ok(glu), Ok(x), Ok(dx)] = [glu, x, dx].map(|tensor| tensor.to(Device::META)) else {
            panic!("a copy to Meta failed")
        };
        assert_eq!(aten::glu_jvp(&glu, &x, &dx, dim).unwrap_err().to_string(), error);
    }
    let error = aten::glu_jvp(&glu.to(Device::META)?, &x, &x, 1).unwrap_err().to_string();
    assert!(error.contains("is on cpu, but the others are on meta"), "{error}");
    Ok(())
}
