//! Tests of random numbers: they equal the CPU's, and the generator's state afterwards does, too.

use dispatch_runtime::Spec;
use dispatch_runtime::prelude::*;

use crate::{ReverseThreadOrderGuard, copy_to_device, lock_first_device};

const FLOATING_DTYPES: [DType; 4] = [DType::F32, DType::F64, DType::F16, DType::BF16];

/// Returns the distance between adjacent numbers near one. A device's logarithms may differ from the CPU's in the last digit.
fn machine_epsilon(dtype: DType) -> f64 {
    f64::exp2(match dtype {
        DType::F64 => -52.0,
        DType::F32 => -23.0,
        DType::F16 => -10.0,
        _ => -7.0,
    })
}

/// Draws twice on both devices, compares the numbers, and returns those of the first draw.
#[track_caller]
fn assert_same_draws(
    case: &str,
    cuda: Device,
    arguments: &[&Tensor],
    f: impl Fn(&[&Tensor], &Generator) -> Result<Tensor>,
) -> Vec<f64> {
    let drawn = |device: Device| {
        let arguments: Vec<Tensor> = arguments.iter().map(|tensor| copy_to_device(tensor, device)).collect();
        let arguments: Vec<&Tensor> = arguments.iter().collect();
        let generator = Generator::new(device, 11);
        let twice = [(); 2].map(|()| f(&arguments, &generator).unwrap());
        let numbers = twice.map(|drawn| {
            let there = aten::to_dtype(&copy_to_device(&drawn, Device::CPU), DType::F64, false, false, None).unwrap();
            (
                drawn.dtype(),
                drawn.sizes().to_vec(),
                aten::clone(&there, Some(dispatch_runtime::MemoryFormat::Contiguous)).unwrap().to_vec::<f64>().unwrap(),
            )
        });
        device.synchronize().unwrap();
        (numbers, generator.position())
    };
    let (here, there) = (drawn(Device::CPU), drawn(cuda));
    assert_eq!(here.1, there.1, "{case}: the position");
    for ((dtype, sizes, here), (dtype_there, sizes_there, there)) in here.0.iter().zip(&there.0) {
        assert_eq!((dtype, sizes), (dtype_there, sizes_there), "{case}");
        for (at, (a, b)) in here.iter().zip(there).enumerate() {
            let near = (a - b).abs() <= 4.0 * machine_epsilon(*dtype) * a.abs();
            let same = near || a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            assert!(same, "{case} of {dtype}, at {at}: {b}, expected {a}");
        }
    }
    assert_ne!(here.0[0].2, here.0[1].2, "{case}: the same numbers twice");
    here.0.into_iter().next().unwrap().2
}

fn tensor_from_f64(values: &[f64], dtype: DType) -> Tensor {
    aten::to_dtype(&Tensor::from_slice(values), dtype, false, false, None).unwrap()
}

/// Returns a tensor of `count` elements that repeats these values.
fn tensor_of_repeated_values(values: &[f64], count: usize, dtype: DType) -> Tensor {
    tensor_from_f64(&values.iter().copied().cycle().take(count).collect::<Vec<f64>>(), dtype)
}

#[test]
fn poisson_binomial_and_gamma_equal_the_cpu() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let _reversed = ReverseThreadOrderGuard::set(true);
    for dtype in FLOATING_DTYPES {
        let rates = tensor_of_repeated_values(&[0.0, 0.3, 5.0, 11.9, 12.1, 40.0, 1e4], 700, dtype);
        assert_same_draws("poisson", cuda, &[&rates], |x, generator| aten::poisson(x[0], Some(generator)));
        let counts = tensor_of_repeated_values(&[0.0, 7.0, 7.9, 100.0, 1000.0, f64::NAN, -2.0], 700, dtype);
        let chances = tensor_of_repeated_values(&[0.3, 0.5, 0.999, 0.02, 1.0, 0.0, 1.5, f64::NAN], 700, dtype);
        assert_same_draws("binomial", cuda, &[&counts, &chances], |x, generator| {
            aten::binomial(x[0], x[1], Some(generator))
        });
        let shapes = tensor_of_repeated_values(&[0.0, 0.01, 0.2, 1.0, 3.5, 1e3, -1.0, f64::NAN], 700, dtype);
        let drawn = assert_same_draws("_standard_gamma", cuda, &[&shapes], |x, generator| {
            aten::_standard_gamma(x[0], Some(generator))
        });
        assert!(drawn[0] == 0.0 && drawn[4] > 0.0 && drawn[6].is_nan() && drawn[7].is_nan(), "{:?}", &drawn[..8]);
    }
    let many = tensor_of_repeated_values(&[1e9, 1e12, f64::INFINITY, 2.0], 200, DType::F64);
    assert_same_draws("poisson of many", cuda, &[&many], |x, generator| aten::poisson(x[0], Some(generator)));
    let half = tensor_from_f64(&[0.5], DType::F64);
    assert_same_draws("binomial of many", cuda, &[&many, &half], |x, generator| {
        aten::binomial(x[0], x[1], Some(generator))
    });
}

#[test]
fn draws_do_not_depend_on_strides() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let turned = aten::transpose_int(
        &aten::view(&tensor_of_repeated_values(&[0.5, 3.0, 20.0], 21, DType::F32), &[7, 3]).unwrap(),
        0,
        1,
    )
    .unwrap();
    let straight = aten::contiguous(&turned, dispatch_runtime::MemoryFormat::Contiguous).unwrap();
    let drawn = [turned, straight].map(|rates| {
        assert_same_draws("poisson", cuda, &[&rates], |x, generator| aten::poisson(x[0], Some(generator)))
    });
    assert_eq!(drawn[0], drawn[1]);
    let (column, row) = (
        aten::view(&tensor_from_f64(&[3.0, 50.0], DType::F32), &[2, 1]).unwrap(),
        tensor_from_f64(&[0.1, 0.5, 0.9], DType::F32),
    );
    assert_same_draws("binomial", cuda, &[&column, &row], |x, generator| aten::binomial(x[0], x[1], Some(generator)));
}

#[test]
fn a_cpu_scalar_parameter_applies_to_all_elements() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let (counts, half) =
        (tensor_of_repeated_values(&[3.0, 50.0, 700.0], 90, DType::F32), tensor_from_f64(&[0.5], DType::F32));
    let number = aten::view(&half, &[]).unwrap();
    let seeded = |device: Device| Generator::new(device, 5);
    let list = |drawn: Tensor| copy_to_device(&drawn, Device::CPU).to_vec::<f32>().unwrap();
    let expected = list(aten::binomial(&counts, &number, Some(&seeded(Device::CPU))).unwrap());
    assert_eq!(list(aten::binomial(&copy_to_device(&counts, cuda), &number, Some(&seeded(cuda))).unwrap()), expected);
    let one = aten::view(&tensor_from_f64(&[50.0], DType::F32), &[]).unwrap();
    let chances = tensor_of_repeated_values(&[0.1, 0.7], 90, DType::F32);
    let expected = list(aten::binomial(&one, &chances, Some(&seeded(Device::CPU))).unwrap());
    assert_eq!(list(aten::binomial(&one, &copy_to_device(&chances, cuda), Some(&seeded(cuda))).unwrap()), expected);
    let expected = list(aten::bernoulli_tensor(&counts, &number, Some(&seeded(Device::CPU))).unwrap());
    assert_eq!(
        list(aten::bernoulli_tensor(&copy_to_device(&counts, cuda), &number, Some(&seeded(cuda))).unwrap()),
        expected
    );
    for refused in [
        aten::binomial(&copy_to_device(&counts, cuda), &half, None),
        aten::binomial(&counts, &copy_to_device(&half, cuda), None),
        aten::bernoulli_tensor(&copy_to_device(&counts, cuda), &half, None),
    ] {
        assert!(refused.unwrap_err().to_string().contains("cuda:0"));
    }
}

#[test]
fn implicit_gradients_equal_the_cpu() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let near = |case: &str, dtype: DType, arguments: &[&[f64]], f: &dyn Fn(&[Tensor]) -> Result<Tensor>| {
        let of = |device: Device| {
            let arguments: Vec<Tensor> =
                arguments.iter().map(|values| copy_to_device(&tensor_from_f64(values, dtype), device)).collect();
            let result = copy_to_device(&f(&arguments).unwrap(), Device::CPU);
            aten::to_dtype(&result, DType::F64, false, false, None).unwrap().to_vec::<f64>().unwrap()
        };
        let bound = if dtype == DType::F64 { 1e-9 } else { 1e-6 };
        for (at, (a, b)) in of(Device::CPU).into_iter().zip(of(cuda)).enumerate() {
            assert!(
                (a - b).abs() <= bound * a.abs() || a.is_nan() && b.is_nan(),
                "{case} of {dtype}, at {at}: {b}, expected {a}"
            );
        }
    };
    for dtype in [DType::F64, DType::F32] {
        let shapes = &[1.0, 100.0, 0.1, 2.0, 3e6, 1000.0, 0.7, -1.0];
        let drawn = &[1.0, 90.0, 1e-6, 9.0, 3.001e6, 1010.0, 0.7, 1.0];
        near("_standard_gamma_grad", dtype, &[shapes, drawn], &|x| aten::_standard_gamma_grad(&x[0], &x[1]));
        let (parts, weights, totals) = (
            &[0.1, 0.5, 0.9, 0.3, 0.01, 0.6],
            &[0.5, 2.0, 30.0, 0.7, 1.0, 400.0],
            &[3.0, 4.0, 33.0, 1.7, 100.0, 700.0],
        );
        near("_dirichlet_grad", dtype, &[parts, weights, totals], &|x| aten::_dirichlet_grad(&x[0], &x[1], &x[2]));
    }
}

#[test]
fn dirichlet_and_rrelu_equal_the_cpu() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let weights = aten::view(&tensor_of_repeated_values(&[0.5, 1.0, 2.0, 4.5], 40, DType::F64), &[10, 4]).unwrap();
    assert_same_draws("_sample_dirichlet", cuda, &[&weights], |x, generator| {
        // A device may round the sum differently.
        aten::round_decimals(&aten::_sample_dirichlet(x[0], Some(generator))?, 12)
    });
    let x = tensor_of_repeated_values(&[-1.0, 2.0, -3.0], 300, DType::F32);
    assert_same_draws("rrelu", cuda, &[&x], |x, generator| {
        aten::rrelu(x[0], 0.1.into(), 0.3.into(), true, Some(generator))
    });
    assert_same_draws("rrelu_with_noise", cuda, &[&x], |x, generator| {
        let mut noise = aten::zeros_like(x[0], None, None, None, None, None)?;
        aten::rrelu_with_noise(x[0], &mut noise, 0.1.into(), 0.3.into(), true, Some(generator))?;
        Ok(noise)
    });
}

#[test]
fn multinomial_equals_the_cpu() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let _reversed = ReverseThreadOrderGuard::set(true);
    let weights = |count| tensor_of_repeated_values(&[0.0, 1.0, 0.25, 0.0, 3.0, 1e-20, 0.125], count, DType::F64);
    for (sizes, samples) in
        [(&[5_i64][..], 3), (&[256], 40), (&[257], 300), (&[3, 5], 4), (&[3, 1000], 200), (&[2, 5000], 1300)]
    {
        let count = usize::try_from(sizes.iter().product::<i64>()).unwrap();
        let weights = aten::view(&weights(count), sizes).unwrap();
        for dtype in FLOATING_DTYPES {
            let weights = aten::to_dtype(&weights, dtype, false, false, None).unwrap();
            let width = usize::try_from(*sizes.last().unwrap()).unwrap();
            let flat = aten::to_dtype(&weights, DType::F64, false, false, None).unwrap().to_vec::<f64>().unwrap();
            for replacement in [true, false] {
                let samples = if replacement { samples } else { samples.min(i64::try_from(width).unwrap()) };
                let drawn = assert_same_draws("multinomial", cuda, &[&weights], |x, generator| {
                    aten::multinomial(x[0], samples, replacement, Some(generator))
                });
                let weight = |(at, position): (usize, &f64)| {
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a position")]
                    let position = *position as usize;
                    flat[at / usize::try_from(samples).unwrap() * width + position]
                };
                if replacement {
                    assert!(drawn.iter().enumerate().map(weight).all(|weight| weight > 0.0), "{sizes:?}");
                }
            }
        }
    }
    for replacement in [true, false] {
        let none = copy_to_device(&aten::view(&weights(0), &[0, 5]).unwrap(), cuda);
        assert_eq!(aten::multinomial(&none, 3, replacement, None).unwrap().sizes(), [0, 3]);
    }
    let turned = aten::transpose_int(&aten::view(&weights(3000), &[1000, 3]).unwrap(), 0, 1).unwrap();
    assert_same_draws("multinomial", cuda, &[&turned], |x, generator| {
        aten::multinomial(x[0], 70, true, Some(generator))
    });
}

#[test]
fn zero_weights_are_drawn_last() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let weights = tensor_from_f64(&[0.0, 5e-324, 0.0, 1.0], DType::F64);
    for device in [Device::CPU, cuda] {
        for seed in 0..20 {
            let drawn =
                aten::multinomial(&copy_to_device(&weights, device), 4, false, Some(&Generator::new(device, seed)))
                    .unwrap();
            assert_eq!(copy_to_device(&drawn, Device::CPU).to_vec::<i64>().unwrap(), [3, 1, 0, 2], "{device}");
        }
        let drawn =
            aten::multinomial(&copy_to_device(&tensor_from_f64(&[0.0, 5e-324], DType::F64), device), 9, true, None)
                .unwrap();
        assert_eq!(copy_to_device(&drawn, Device::CPU).to_vec::<i64>().unwrap(), [1; 9], "{device}");
    }
    cuda.synchronize().unwrap();
}

#[test]
fn invalid_parameters_are_reported_at_the_next_wait() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let on = |values: &[f64]| copy_to_device(&Tensor::from_slice(values), cuda);
    let fault = |result: Result<Tensor>| {
        result.unwrap();
        cuda.synchronize().unwrap_err().to_string()
    };
    for bad in [-0.5, f64::NAN] {
        let output_text = fault(aten::poisson(&on(&[1.0, bad]), None));
        assert!(
            output_text.contains("aten::poisson, argument `self`") && output_text.contains(&bad.to_string()),
            "{output_text}"
        );
    }
    for replacement in [true, false] {
        for (weights, problem) in [
            ([1.0, -2.5], "-2.5"),
            ([f64::NAN, 1.0], "NaN"),
            ([1.0, f64::INFINITY], "inf"),
            ([0.0, 0.0], "the sum of a row"),
        ] {
            let output_text = fault(aten::multinomial(&on(&weights), 2, replacement, None));
            assert!(
                output_text.contains("aten::multinomial, argument `self`") && output_text.contains(problem),
                "{output_text}"
            );
            aten::multinomial(&Tensor::from_slice(&weights), 2, replacement, None).unwrap_err();
        }
    }
    let output_text = fault(aten::multinomial(&on(&[f64::MAX, f64::MAX]), 2, true, None));
    assert!(output_text.contains("the sum of a row"), "{output_text}");
    aten::multinomial(&Tensor::from_slice(&[f64::MAX, f64::MAX]), 2, true, None).unwrap_err();
    let output_text = fault(aten::bernoulli(&on(&[1.5]), None));
    assert!(output_text.contains("1.5 is not a valid value"), "{output_text}");
    cuda.synchronize().unwrap();
    let other = Generator::new(Device::CPU, 1);
    aten::poisson(&on(&[1.0]), Some(&other)).unwrap_err();
    aten::multinomial(&on(&[1.0]), 1, true, Some(&other)).unwrap_err();
}

#[test]
fn permutations_equal_the_cpu() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    for count in [50, 1000, 4096] {
        assert_same_draws("randperm", cuda, &[], |_, generator| {
            aten::randperm_generator(count, Some(generator), None, None, Some(generator.device()), None)
        });
    }
}

#[test]
fn threads_with_one_generator_draw_different_permutations() {
    let Some((cuda, _lock)) = lock_first_device() else { return };
    let generator = Generator::new(cuda, 11);
    let order = || {
        let mut order = Spec::contiguous(DType::I64, &[500]).on(cuda).unwrap();
        aten::randperm_generator_out(500, Some(&generator), &mut order).unwrap();
        copy_to_device(&order, Device::CPU).to_vec::<i64>().unwrap()
    };
    let draw = || (0..40).map(|_| order()).collect::<Vec<_>>();
    let mut orders: Vec<Vec<i64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(draw)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 160);
}
