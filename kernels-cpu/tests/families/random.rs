//! Tests of random operators: streams of a generator, distributions and permutations.

use dispatch_runtime::{BadArgument, DType, Device, Generator, Geometry, Result, Spec, Tensor, philox};

use kernels_cpu::thread_pool::{num_threads, set_num_threads};

fn seeded_generator(seed: u64) -> Generator {
    Generator::new(Device::CPU, seed)
}

fn zeros_on_cpu(sizes: &[i64], dtype: DType) -> Tensor {
    aten::zeros(sizes, Some(dtype), None, None, None).unwrap()
}

fn argument_of_error(result: Result<impl Sized>) -> String {
    let error = result.err().unwrap();
    std::error::Error::source(&error).unwrap().downcast_ref::<BadArgument>().unwrap().argument.to_string()
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "the integer has 24 bits")]
fn elements_use_the_documented_random_words() {
    let single = aten::uniform(&zeros_on_cpu(&[300], DType::F32), 0.0, 1.0, Some(&seeded_generator(7))).unwrap();
    let unit = |block, word: usize| (philox(7, [block, 0, 0, 0])[word] >> 8) as f32 / 16_777_216.0;
    let numbers = single.read::<f32>().unwrap();
    for (element, block, word) in [(0, 0, 0), (63, 63, 0), (64, 0, 1), (255, 63, 3), (256, 64, 0), (299, 107, 0)] {
        assert_eq!(numbers[element], unit(block, word), "{element}");
    }
    let integers =
        aten::random_from(&zeros_on_cpu(&[129], DType::I64), i64::MIN, None, Some(&seeded_generator(7))).unwrap();
    let [_, _, c, d] = philox(7, [3, 0, 0, 0]);
    let wide = u64::from(d) << 32 | u64::from(c);
    assert_eq!(integers.read::<i64>().unwrap()[67], i64::MIN.wrapping_add(wide.cast_signed()));
}

#[test]
fn results_do_not_depend_on_threads_or_strides() {
    let size = &[300, 500];
    let threads = num_threads();
    let mut drawn = Vec::new();
    for count in [1, 3] {
        set_num_threads(count);
        let mut turned = Spec::contiguous(DType::F32, &[500, 300]).on(Device::CPU).unwrap();
        turned = turned.restride(Geometry::strided(size, &[1, 300], 0).unwrap()).unwrap();
        aten::normal_(&mut turned, 1.0, 2.0, Some(&seeded_generator(3))).unwrap();
        let straight =
            aten::normal_float_float(1.0, 2.0, size, Some(&seeded_generator(3)), None, None, None, None).unwrap();
        drawn.push(aten::alias_copy(&turned).unwrap().to_vec::<f32>().unwrap());
        drawn.push(straight.to_vec::<f32>().unwrap());
    }
    set_num_threads(threads);
    assert!(drawn.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn each_call_continues_the_stream_of_the_generator() {
    let generator = seeded_generator(1);
    let (mut first, mut second) = (zeros_on_cpu(&[100], DType::F64), zeros_on_cpu(&[100], DType::F64));
    aten::uniform_(&mut first, 0.0, 1.0, Some(&generator)).unwrap();
    assert_eq!(generator.position(), 64);
    aten::uniform_(&mut second, 0.0, 1.0, Some(&generator)).unwrap();
    assert_ne!(first.to_vec::<f64>().unwrap(), second.to_vec::<f64>().unwrap());
}

#[test]
fn uniform_16_bit_floats_are_below_one_and_complex_parts_differ() {
    for dtype in [DType::F16, DType::BF16] {
        let drawn = aten::uniform(&zeros_on_cpu(&[20_000], dtype), 0.0, 1.0, Some(&seeded_generator(1))).unwrap();
        let wide = aten::_to_copy(&drawn, Some(DType::F32), None, None, None, false, None).unwrap();
        assert!(wide.read::<f32>().unwrap().iter().all(|x| (0.0..1.0).contains(x)), "{dtype}");
    }
    let complex =
        aten::normal_functional(&zeros_on_cpu(&[10_000], DType::C64), 0.0, 1.0, Some(&seeded_generator(1))).unwrap();
    let parts = complex.to_vec::<dispatch_runtime::Complex32>().unwrap();
    let power: f32 = parts.iter().map(dispatch_runtime::Complex32::norm_sqr).sum::<f32>() / 10_000.0;
    assert!((power - 1.0).abs() < 0.05 && parts.iter().all(|z| z.re.to_bits() != z.im.to_bits()), "{power}");
}

#[test]
fn multinomial_never_draws_zero_weights() {
    let weights = Tensor::from_slice(&[0.0_f32, 1.0, 0.0, 3.0, 0.0]);
    let drawn = aten::multinomial(&weights, 1000, true, Some(&seeded_generator(1))).unwrap().to_vec::<i64>().unwrap();
    assert!(drawn.iter().all(|position| [1, 3].contains(position)));
    let mut once = aten::multinomial(&weights, 2, false, Some(&seeded_generator(1))).unwrap().to_vec::<i64>().unwrap();
    once.sort_unstable();
    assert_eq!(once, [1, 3]);
    let even = Tensor::from_slice(&[1.0_f64; 50]);
    let mut all = aten::multinomial(&even, 50, false, Some(&seeded_generator(1))).unwrap().to_vec::<i64>().unwrap();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..50));
}

#[test]
fn multinomial_inverts_the_running_sums_of_weights() {
    // Integer weights, so that sums are exact. A whole piece has weight zero.
    let weights: Vec<f64> =
        (0..900_i32).map(|i| if (256..512).contains(&i) { 0.0 } else { f64::from(i % 5) }).collect();
    let drawn = aten::multinomial(&Tensor::from_slice(&weights), 500, true, Some(&seeded_generator(4))).unwrap();
    let numbers = aten::uniform(&zeros_on_cpu(&[500], DType::F64), 0.0, 1.0, Some(&seeded_generator(4))).unwrap();
    let all = weights.iter().sum::<f64>();
    for (position, number) in drawn.to_vec::<i64>().unwrap().into_iter().zip(numbers.to_vec::<f64>().unwrap()) {
        let below = |i: usize| weights[..i].iter().sum::<f64>();
        let position = usize::try_from(position).unwrap();
        assert!((below(position)..below(position + 1)).contains(&(number * all)), "{position} {number}");
    }
}

#[test]
fn zero_weights_are_drawn_last_without_replacement() {
    let weights = Tensor::from_slice(&[0.0, 5e-324, 0.0, 1.0]);
    let drawn = aten::multinomial(&weights, 4, false, Some(&seeded_generator(1))).unwrap();
    assert_eq!(drawn.to_vec::<i64>().unwrap(), [3, 1, 0, 2]);
}

#[test]
fn dropout_scales_kept_elements_and_their_gradients() {
    let input = aten::full(&[64], 2.0.into(), None, None, None, None).unwrap();
    let (result, mask) = aten::native_dropout(&input, 0.5, Some(true)).unwrap();
    let back = aten::native_dropout_backward(&input, &mask, aten::dropout_scale(0.5)).unwrap();
    assert_eq!(result.to_vec::<f32>().unwrap(), back.to_vec::<f32>().unwrap());
    let (whole, mask) = aten::native_dropout(&input, 0.5, Some(false)).unwrap();
    assert_eq!(whole.to_vec::<f32>().unwrap(), input.to_vec::<f32>().unwrap());
    assert!(mask.to_vec::<dispatch_runtime::Bool>().unwrap().into_iter().all(bool::from));
    assert!(aten::dropout(&input, 0.0, true).unwrap().same(&input));
    let none = aten::dropout(&input, 1.0, true).unwrap();
    assert_eq!(none.to_vec::<f32>().unwrap(), [0.0; 64]);
    let channels = aten::feature_dropout(&aten::view(&input, &[4, 4, 4]).unwrap(), 0.5, true).unwrap();
    assert!(channels.to_vec::<f32>().unwrap().chunks(4).all(|row| row.iter().all(|x| x.to_bits() == row[0].to_bits())));
}

#[test]
fn cpu_and_meta_refuse_the_same_arguments() {
    for device in [Device::CPU, Device::META] {
        let spec = |dtype| Spec::contiguous(dtype, &[3]).on(device).unwrap();
        let (x, bytes) = (spec(DType::F32), spec(DType::I8));
        assert_eq!(argument_of_error(aten::uniform(&x, 1.0, 0.0, None)), "to");
        assert_eq!(argument_of_error(aten::uniform(&x, f64::NAN, 0.0, None)), "from");
        assert_eq!(argument_of_error(aten::uniform(&bytes, 0.0, 1.0, None)), "self");
        assert_eq!(argument_of_error(aten::normal_(&mut x.clone(), 0.0, -1.0, None)), "std");
        assert_eq!(argument_of_error(aten::exponential(&x, 0.0, None)), "lambd");
        assert_eq!(argument_of_error(aten::geometric(&x, 1.0, None)), "p");
        assert_eq!(argument_of_error(aten::bernoulli_p(&x, 1.5, None)), "p");
        assert_eq!(argument_of_error(aten::bernoulli_tensor(&x, &bytes, None)), "p");
        assert_eq!(argument_of_error(aten::random_from(&bytes, -129, Some(3), None)), "from");
        assert_eq!(argument_of_error(aten::random_from(&bytes, 0, Some(129), None)), "to");
        assert_eq!(argument_of_error(aten::random_to(&x, 0, None)), "to");
        assert_eq!(argument_of_error(aten::multinomial(&x, 4, false, None)), "num_samples");
        assert_eq!(argument_of_error(aten::multinomial(&bytes, 1, false, None)), "self");
        let empty = Spec::contiguous(DType::F32, &[2, 0]).on(device).unwrap();
        assert_eq!(argument_of_error(aten::multinomial(&empty, 1, true, None)), "self");
        assert_eq!(argument_of_error(aten::native_dropout(&x, 1.5, Some(true))), "p");
        assert_eq!(argument_of_error(aten::native_dropout(&bytes, 0.5, Some(true))), "input");
        assert_eq!(argument_of_error(aten::randperm(300, Some(DType::U8), None, Some(device), None)), "n");
    }
    let zeros = zeros_on_cpu(&[3], DType::F32);
    assert_eq!(argument_of_error(aten::multinomial(&zeros, 1, false, None)), "self");
    assert_eq!(argument_of_error(aten::multinomial(&Tensor::from_slice(&[f64::MAX; 2]), 1, true, None)), "self");
    assert_eq!(argument_of_error(aten::bernoulli(&Tensor::from_slice(&[2.0_f32]), None)), "p");
}

#[test]
fn randperm_fills_the_range_of_uint8() {
    let mut drawn = aten::randperm_generator(256, Some(&seeded_generator(1)), Some(DType::U8), None, None, None)
        .unwrap()
        .to_vec::<u8>()
        .unwrap();
    assert!(!drawn.is_sorted());
    drawn.sort_unstable();
    assert!(drawn.into_iter().eq(0..=255));
    assert!(aten::randperm(0, None, None, None, None).unwrap().sizes() == [0]);
}

/// Returns the mean and the variance of the elements.
fn mean_and_variance(numbers: &Tensor) -> (f64, f64) {
    let numbers = numbers.to_vec::<f64>().unwrap();
    #[expect(clippy::cast_precision_loss, reason = "the count is small")]
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    (mean, numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count)
}

#[test]
fn samples_have_the_moments_of_their_distributions() {
    let all = |value: f64| Tensor::from_vec(vec![value; 40_000], [200, 200]).unwrap();
    let close = |found: (f64, f64), mean: f64, variance: f64| {
        let spread = (variance / 40_000.0).sqrt();
        assert!((found.0 - mean).abs() < 5.0 * spread, "{found:?}, expected {mean} {variance}");
        assert!((found.1 / variance - 1.0).abs() < 0.1, "{found:?}, expected {mean} {variance}");
    };
    for rate in [0.3, 5.0, 40.0, 1e4, 1e9] {
        close(mean_and_variance(&aten::poisson(&all(rate), Some(&seeded_generator(1))).unwrap()), rate, rate);
    }
    for (count, probability) in [(7.0, 0.3), (100.0, 0.02), (1000.0, 0.4), (1e6, 0.999), (1e12, 0.5)] {
        let drawn = aten::binomial(&all(count), &all(probability), Some(&seeded_generator(2))).unwrap();
        close(mean_and_variance(&drawn), count * probability, count * probability * (1.0 - probability));
    }
    for shape in [0.2, 1.0, 3.5, 1e3] {
        close(
            mean_and_variance(&aten::_standard_gamma(&all(shape), Some(&seeded_generator(3))).unwrap()),
            shape,
            shape,
        );
    }
}

#[test]
fn samples_of_limiting_parameters_are_right() {
    let counts = Tensor::from([3.0, 3.0, 3.0, 0.0, -2.0, f64::NAN]);
    let probabilities = Tensor::from([0.0, 1.0, 1.5, 0.5, 0.5, 0.5]);
    let drawn = aten::binomial(&counts, &probabilities, Some(&seeded_generator(1))).unwrap().to_vec::<f64>().unwrap();
    assert_eq!(drawn[..5], [0.0, 3.0, 3.0, 0.0, 0.0]);
    assert!(drawn[5].is_nan());
    let drawn = Tensor::from([0.0, 1e-5, -1.0, f64::NAN]);
    let drawn = aten::_standard_gamma(&drawn, Some(&seeded_generator(1))).unwrap().to_vec::<f64>().unwrap();
    assert!(drawn[0] == 0.0 && drawn[1] > 0.0 && drawn[2].is_nan() && drawn[3].is_nan(), "{drawn:?}");
    let still = aten::poisson(&Tensor::from([0.0]), None).unwrap();
    assert_eq!(still.to_vec::<f64>().unwrap(), [0.0]);
    assert_eq!(argument_of_error(aten::poisson(&Tensor::from([-1.0]), None)), "self");
    assert_eq!(argument_of_error(aten::binomial(&Tensor::from([3_i64]), &Tensor::from([0.5]), None)), "count");
    let shares = aten::_sample_dirichlet(&Tensor::from_vec(vec![0.01, 0.02, 2.0, 3.0], [2, 2]).unwrap(), None).unwrap();
    let shares = shares.to_vec::<f64>().unwrap();
    assert!(shares.chunks(2).all(|pair| (pair[0] + pair[1] - 1.0).abs() < 1e-12), "{shares:?}");
}

#[test]
fn generators_of_another_device_are_refused() {
    let other = Generator::new(Device::META, 1);
    let error = aten::uniform(&zeros_on_cpu(&[3], DType::F32), 0.0, 1.0, Some(&other)).unwrap_err().to_string();
    assert!(error.contains("on cpu") && error.contains("on meta"), "{error}");
}
