//! Tests of special functions: the results equal the CPU backend's, for all kinds of arguments.

use dispatch_runtime::prelude::*;

use crate::{copy_to_device, lock_free_device};

/// Returns numbers of every size and sign, at the borders between methods of computation, infinities and NaN.
fn boundary_numbers() -> Vec<f64> {
    let sizes =
        [0.0, 1e-300, 1e-9, 0.3, 0.5, 1.0, 1.7, 2.0, 5.0, 8.5, 12.0, 19.5, 21.0, 60.5, 180.0, 1003.0, 2e6, 1e40];
    let both = sizes.into_iter().chain([f64::INFINITY]).flat_map(|size| [size, -size]);
    both.chain([f64::NAN]).collect()
}

fn tensor_from_f64(values: &[f64], dtype: DType) -> Tensor {
    aten::to_dtype(&Tensor::from_slice(values), dtype, false, false, None).unwrap()
}

fn to_f64_vec(tensor: &Tensor) -> Vec<f64> {
    aten::to_dtype(&copy_to_device(tensor, Device::CPU), DType::F64, false, false, None).unwrap().to_vec().unwrap()
}

/// Checks a function on both devices: the results agree up to a few units of the dtype.
#[track_caller]
fn assert_same_as_cpu<const N: usize>(
    case: &str,
    cuda: Device,
    inputs: [&[f64]; N],
    f: impl Fn([&Tensor; N]) -> Result<Tensor>,
) {
    for (dtype, near) in [(DType::F64, 1e-11), (DType::F32, 2e-7), (DType::F16, 1e-3), (DType::BF16, 8e-3)] {
        let here = inputs.map(|values| tensor_from_f64(values, dtype));
        let there = here.clone().map(|tensor| copy_to_device(&tensor, cuda));
        let (expected, found) = (to_f64_vec(&f(here.each_ref()).unwrap()), to_f64_vec(&f(there.each_ref()).unwrap()));
        for (at, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            let right = (found - expected).abs() <= near * expected.abs() + 1e-13
                || found.to_bits() == expected.to_bits()
                || found.is_nan() && expected.is_nan();
            let of: Vec<f64> = here.iter().map(|tensor| to_f64_vec(tensor)[at]).collect();
            assert!(right, "{case} of {of:?}, {dtype}: {found}, expected {expected}");
        }
    }
}

/// Returns the first and the second numbers of all pairs of two lists.
fn all_pairs(firsts: &[f64], seconds: &[f64]) -> [Vec<f64>; 2] {
    let both = || firsts.iter().flat_map(|&a| seconds.iter().map(move |&b| (a, b)));
    [both().map(|pair| pair.0).collect(), both().map(|pair| pair.1).collect()]
}

type UnaryFunction = fn(&Tensor) -> Result<Tensor>;
type BinaryFunction = fn(&Tensor, &Tensor) -> Result<Tensor>;

/// A list of operators with their names.
macro_rules! named_operators {
    ($($name:ident)+) => { [$((stringify!($name), aten::$name as _)),+] };
}

fn assert_unary_same_as_cpu<const N: usize>(cuda: Device, x: &[f64], functions: [(&str, UnaryFunction); N]) {
    for (case, f) in functions {
        assert_same_as_cpu(case, cuda, [x], |[x]| f(x));
    }
}

fn assert_binary_same_as_cpu<const N: usize>(
    cuda: Device,
    [a, b]: &[Vec<f64>; 2],
    functions: [(&str, BinaryFunction); N],
) {
    for (case, f) in functions {
        assert_same_as_cpu(case, cuda, [a, b], |[a, b]| f(a, b));
    }
}

#[test]
fn unary_special_functions_equal_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    assert_unary_same_as_cpu(
        cuda,
        &boundary_numbers(),
        named_operators! { digamma i0 special_i0e special_i1 special_i1e special_modified_bessel_i0 special_modified_bessel_i1
        special_modified_bessel_k0 special_modified_bessel_k1 special_scaled_modified_bessel_k0
        special_scaled_modified_bessel_k1 special_spherical_bessel_j0 },
    );
    // For large negative arguments the function oscillates, and near its zeros few digits are correct.
    let numbers: Vec<f64> = boundary_numbers().into_iter().filter(|x| x.is_nan() || *x >= -1e4).collect();
    assert_unary_same_as_cpu(cuda, &numbers, named_operators! { special_airy_ai });
}

#[test]
fn binary_special_functions_equal_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let numbers = boundary_numbers();
    assert_binary_same_as_cpu(cuda, &all_pairs(&numbers, &numbers), named_operators! { special_zeta });
    // For some pairs the sums have so many terms that rounding shows.
    let shapes: Vec<f64> = numbers.iter().copied().filter(|x| !(1e3..1e7).contains(x)).collect();
    assert_binary_same_as_cpu(cuda, &all_pairs(&shapes, &numbers), named_operators! { igamma igammac });
    let near: Vec<f64> = [-5.0, -1.0, 0.0, 1.0, 5.0].iter().map(|steps| 2e6 + steps * 1414.0).collect();
    assert_binary_same_as_cpu(cuda, &all_pairs(&[2e6], &near), named_operators! { igamma igammac });
}

#[test]
fn orthogonal_polynomials_equal_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let degrees = [-1.0, 0.0, 1.0, 2.9, 7.0, 8.0, 9.0, 40.0, 1000.0, 1001.0, f64::NAN];
    assert_binary_same_as_cpu(
        cuda,
        &all_pairs(&[-2.0, -1.0, -0.7, -1e-9, 0.0, 0.25, 0.99, 1.0, 1.5, f64::NAN], &degrees),
        named_operators! { special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v
        special_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u
        special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w special_hermite_polynomial_h
        special_hermite_polynomial_he special_laguerre_polynomial_l special_legendre_polynomial_p },
    );
    assert_binary_same_as_cpu(
        cuda,
        &all_pairs(&[-1.0, -0.7, 0.0, 0.25, 1.0, 5.0], &[3e6, 1e7]),
        named_operators! { special_laguerre_polynomial_l special_legendre_polynomial_p },
    );
}

#[test]
fn polygamma_of_any_order_equals_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    for order in [0, 1, 2, 3, 20, 171] {
        assert_same_as_cpu("polygamma", cuda, [&boundary_numbers()], |[x]| aten::polygamma(order, x));
    }
    let error = aten::polygamma(-1, &copy_to_device(&Tensor::from_slice(&[1.0_f32]), cuda)).unwrap_err().to_string();
    assert!(error.contains("`n`") && error.contains("at least 0"), "{error}");
}

#[test]
fn nextafter_steps_in_the_dtype() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let [a, b] = all_pairs(&boundary_numbers(), &boundary_numbers());
    for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16] {
        let here = [&a, &b].map(|values| tensor_from_f64(values, dtype));
        let there = here.clone().map(|tensor| copy_to_device(&tensor, cuda));
        let bits = |[a, b]: &[Tensor; 2]| -> Vec<u64> {
            let next = to_f64_vec(&aten::nextafter(a, b).unwrap());
            next.into_iter().map(|next| if next.is_nan() { 0x7ff8 << 48 } else { next.to_bits() }).collect()
        };
        assert_eq!(bits(&there), bits(&here), "{dtype}");
    }
}

#[test]
fn add_relu_wraps_in_its_dtype() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let [a, b] = all_pairs(&[-128.0, -100.0, -1.0, 0.0, 1.0, 100.0, 127.0], &[-128.0, -100.0, 0.0, 2.0, 100.0, 127.0]);
    for dtype in [DType::I8, DType::I16, DType::I32, DType::I64, DType::F32, DType::F64] {
        let [a, b] = [&a, &b].map(|values| tensor_from_f64(values, dtype));
        let relu = aten::relu(&aten::add(&a, &b, 3.into()).unwrap()).unwrap();
        let (there, other) = (copy_to_device(&a, cuda), copy_to_device(&b, cuda));
        let found = aten::_add_relu(&there, &other, 3.into()).unwrap();
        assert_eq!((found.dtype(), to_f64_vec(&found)), (dtype, to_f64_vec(&relu)));
        let mut wide = aten::zeros_like(&there, Some(DType::F64), None, None, None, None).unwrap();
        aten::_add_relu_out(&there, &other, 3.into(), &mut wide).unwrap();
        assert_eq!(to_f64_vec(&wide), to_f64_vec(&relu), "{dtype}");
        let mut written = there.clone();
        aten::_add_relu_(&mut written, &other, 3.into()).unwrap();
        assert_eq!(to_f64_vec(&written), to_f64_vec(&relu), "{dtype}");
        let found = aten::_add_relu_scalar(&copy_to_device(&a, cuda), 5.into(), 3.into()).unwrap();
        let relu = aten::relu(&aten::add_scalar(&a, 5.into(), 3.into()).unwrap()).unwrap();
        assert_eq!((found.dtype(), to_f64_vec(&found)), (dtype, to_f64_vec(&relu)));
    }
    let halves = copy_to_device(&tensor_from_f64(&a, DType::F16), cuda);
    assert!(aten::_add_relu(&halves, &halves, 1.into()).unwrap_err().to_string().contains("`self`"));
}

#[test]
fn glu_jvp_equals_the_cpu() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    let [x, dx] = all_pairs(&[-30.0, -1.5, 0.0, 0.3, 2.0, 20.0], &[-2.0, -0.7, 0.0, 1.0, 3.0]);
    assert_same_as_cpu("glu_jvp", cuda, [&x, &dx], |[x, dx]| {
        // Calls the function with interleaved halves, and then with one half after the other.
        let [x, dx] = [x, dx].map(|tensor| aten::reshape(tensor, &[15, 2]));
        let (x, dx) = (x?, dx?);
        let beside = aten::glu_jvp(&aten::glu(&x, 1)?, &x, &dx, 1)?;
        let (x, dx) = (aten::t(&x)?, aten::t(&dx)?);
        let mut after = aten::empty_like(&aten::t(&beside)?, None, None, None, None, None)?;
        aten::glu_jvp_out(&aten::glu(&x, 0)?, &x, &dx, 0, &mut after)?;
        aten::reshape(&aten::cat(&[aten::t(&beside)?, after], 1)?, &[-1])
    });
    let here = tensor_from_f64(&[1.0, 2.0], DType::F32);
    let there = copy_to_device(&here, cuda);
    let error = aten::glu_jvp(&tensor_from_f64(&[1.0], DType::F32), &there, &there, 0).unwrap_err().to_string();
    assert!(error.contains("`glu` is on cpu"), "{error}");
}

#[test]
fn conj_physical_of_real_numbers_is_a_copy() {
    let Some((cuda, _lock)) = lock_free_device() else { return };
    for dtype in [DType::F32, DType::BF16, DType::I64, DType::U8, DType::Bool] {
        let x = copy_to_device(&tensor_from_f64(&[0.0, 1.0, 7.0], dtype), cuda);
        let conjugate = aten::conj_physical(&x).unwrap();
        assert_eq!((conjugate.dtype(), to_f64_vec(&conjugate)), (dtype, to_f64_vec(&x)));
    }
}
