//! Initial parameters: mean, deviation and bounds are those of PyTorch's formulas.

use std::f64::consts::SQRT_2;

use aten::prelude::*;
use dispatch_nn::{
    BatchNorm2d, Bilinear, Conv1d, Conv2d, Conv3d, ConvOptions, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d,
    ConvTransposeOptions, GroupNorm, InstanceNorm2d, InstanceNormOptions, LayerNorm, Linear, Module, PReLU, RMSNorm,
    init,
};
use dispatch_runtime::{manual_seed, prelude::*};

/// Asserts that mean and mean square are within five deviations of their expectations, for `fourth`, the expectation of fourth powers.
#[track_caller]
fn assert_moments(numbers: &[f64], mean: f64, variance: f64, fourth: f64, context: &str) {
    let count = numbers.len() as f64;
    let found = numbers.iter().sum::<f64>() / count;
    assert!((found - mean).abs() < 5.0 * (variance / count).sqrt(), "{context}: the mean is {found}, not {mean}");
    let found = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / count;
    let tolerance = 5.0 * ((fourth - variance * variance) / count).sqrt();
    assert!((found - variance).abs() < tolerance, "{context}: the variance is {found}, not {variance}");
}

#[track_caller]
fn assert_uniform(tensor: &Tensor, bound: f64, context: &str) {
    let numbers = tensor.detach().unwrap().to(DType::F64).unwrap().to_vec::<f64>().unwrap();
    let largest = numbers.iter().fold(0.0_f64, |largest, number| largest.max(number.abs()));
    assert!(largest <= bound * (1.0 + 1e-6), "{context}: {largest} is beyond {bound}");
    // The gap to the bound is exponentially distributed, with the mean `bound / count`.
    assert!(largest > bound * (1.0 - 12.0 / numbers.len() as f64), "{context}: {largest} is far from {bound}");
    assert_moments(&numbers, 0.0, bound * bound / 3.0, bound.powi(4) / 5.0, context);
}

#[track_caller]
fn assert_normal(tensor: &Tensor, mean: f64, std: f64, context: &str) {
    let numbers = tensor.detach().unwrap().to(DType::F64).unwrap().to_vec::<f64>().unwrap();
    assert_moments(&numbers, mean, std * std, 3.0 * std.powi(4), context);
    // The share within one deviation.
    let share = numbers.iter().filter(|number| (*number - mean).abs() < std).count() as f64 / numbers.len() as f64;
    assert!((share - 0.6827).abs() < 2.5 / (numbers.len() as f64).sqrt(), "{context}: {share}");
}

#[test]
fn products_and_convolutions_are_uniform() -> Result<()> {
    manual_seed(0);
    let conv = || ConvOptions { groups: 2, ..ConvOptions::default() };
    let transposed = || ConvTransposeOptions { groups: 2, ..ConvTransposeOptions::default() };
    // The number of weights of an output. PyTorch counts the second dimension of the weight, also of transposed convolutions.
    let layers: [(&str, Box<dyn Module>, f64); 10] = [
        ("Linear", Box::new(Linear::new(50, 200)?), 50.0),
        ("Linear without bias", Box::new(Linear::without_bias(50, 200)?), 50.0),
        ("Bilinear", Box::new(Bilinear::new(20, 5, 200)?), 20.0),
        ("Conv1d", Box::new(Conv1d::with(16, 200, 5, conv())?), 40.0),
        ("Conv2d", Box::new(Conv2d::with(8, 200, (2, 3), conv())?), 24.0),
        ("Conv3d", Box::new(Conv3d::new(3, 200, 3)?), 81.0),
        ("ConvTranspose1d", Box::new(ConvTranspose1d::with(16, 200, 5, transposed())?), 500.0),
        ("ConvTranspose2d", Box::new(ConvTranspose2d::with(8, 200, (2, 3), transposed())?), 600.0),
        ("ConvTranspose3d", Box::new(ConvTranspose3d::new(3, 200, 3)?), 5400.0),
        ("Conv2d of one group", Box::new(Conv2d::new(3, 200, 5)?), 75.0),
    ];
    for (name, layer, inputs) in layers {
        for parameter in layer.parameters() {
            assert_uniform(&parameter, inputs.sqrt().recip(), &format!("{} of {name}", parameter.name));
        }
    }
    Ok(())
}

#[test]
fn normalisations_begin_as_the_identity() -> Result<()> {
    let affine = InstanceNormOptions { affine: true, track_running_stats: true, ..InstanceNormOptions::default() };
    let layers: [Box<dyn Module>; 6] = [
        Box::new(BatchNorm2d::new(3)?),
        Box::new(InstanceNorm2d::with(3, affine)?),
        Box::new(GroupNorm::new(1, 3)?),
        Box::new(LayerNorm::new((3, 2))?),
        Box::new(RMSNorm::new(3)?),
        Box::new(PReLU::new()?),
    ];
    for (index, layer) in layers.into_iter().enumerate() {
        for (name, tensor) in layer.state_dict()? {
            let expected = match name.as_str() {
                "weight" if index == 5 => 0.25,
                "weight" | "running_var" => 1.0,
                _ => 0.0,
            };
            assert!(tensor.eq(expected)?.all()?.item::<bool>()?, "{index} {name}");
            let is_counter = name == "num_batches_tracked";
            assert_eq!(tensor.dtype(), if is_counter { DType::I64 } else { DType::F32 }, "{index} {name}");
        }
    }
    Ok(())
}

#[test]
fn functions_draw_from_their_distributions_and_are_not_recorded() -> Result<()> {
    manual_seed(1);
    let weight = Linear::new(100, 300)?.weight;
    let image = Conv2d::new(16, 32, (3, 5))?.weight;
    init::uniform_(&weight, -2.0..2.0)?;
    assert_uniform(&weight, 2.0, "uniform_");
    init::normal_(&weight, 3.0, 2.0)?;
    assert_normal(&weight, 3.0, 2.0, "normal_");
    init::xavier_uniform_(&weight, 2.0)?;
    assert_uniform(&weight, 2.0 * (6.0_f64 / 400.0).sqrt(), "xavier_uniform_");
    init::xavier_uniform_(&image, 1.0)?;
    assert_uniform(&image, (6.0_f64 / f64::from(15 * (16 + 32))).sqrt(), "xavier_uniform_ of a convolution");
    init::xavier_normal_(&weight, 2.0)?;
    assert_normal(&weight, 0.0, 2.0 * (2.0_f64 / 400.0).sqrt(), "xavier_normal_");
    init::kaiming_uniform_(&weight, init::KaimingOptions::default())?;
    assert_uniform(&weight, (6.0_f64 / 100.0).sqrt(), "kaiming_uniform_");
    let options =
        init::KaimingOptions { mode: init::FanMode::FanOut, nonlinearity: init::Nonlinearity::LeakyReLU(0.5) };
    init::kaiming_uniform_(&image, options)?;
    assert_uniform(&image, (3.0 * 2.0 / 1.25 / f64::from(32 * 15)).sqrt(), "kaiming_uniform_ of a convolution");
    init::kaiming_normal_(&weight, init::KaimingOptions { nonlinearity: init::Nonlinearity::Tanh, ..options })?;
    assert_normal(&weight, 0.0, 5.0 / 3.0 / 300_f64.sqrt(), "kaiming_normal_");
    init::constant_(&weight, 2.5)?;
    assert!(weight.eq(2.5)?.all()?.item::<bool>()?);
    init::ones_(&weight)?;
    assert!(weight.eq(1)?.all()?.item::<bool>()?);
    init::zeros_(&weight)?;
    assert!(weight.eq(0)?.all()?.item::<bool>()?);
    assert!(weight.is_leaf() && weight.requires_grad());
    Ok(())
}

#[test]
fn gains_are_those_of_pytorch() {
    let gains = [
        ("linear", 1.0),
        ("sigmoid", 1.0),
        ("tanh", 1.666_666_666_666_666_7),
        ("relu", SQRT_2),
        ("leaky_relu", 1.414_142_856_997_835_4),
        ("selu", 0.75),
    ];
    for (word, gain) in gains {
        let found = init::calculate_gain(word.parse().unwrap());
        assert!((found - gain).abs() < 1e-14, "{word}: {found}");
    }
}

#[test]
fn truncated_normals_have_the_moments_of_their_distribution() -> Result<()> {
    manual_seed(2);
    // Mean, deviation, bounds, and the first moment and the variance by numerical integration.
    for (mean, std, low, high) in [
        (0.0, 1.0, -2.0, 2.0),
        (1.0, 2.0, 0.0, 1.5),
        (0.0, 1.0, 5.0, 6.0),
        (0.0, 1.0, -30.0, -20.0),
        (0.0, 0.5, -9.0, 9.0),
    ] {
        let x = Tensor::empty(40_000, DType::F64)?;
        init::trunc_normal_(&x, mean, std, low..high)?;
        let numbers = x.to_vec::<f64>()?;
        assert!(numbers.iter().all(|number| (low..=high).contains(number)));
        let centre = mean.clamp(low, high);
        let log_density = |at: f64| -0.5 * (((at - mean) / std).powi(2) - ((centre - mean) / std).powi(2));
        let moment = |f: &dyn Fn(f64) -> f64| {
            let steps = 2_000_000;
            let width = (high - low) / f64::from(steps);
            let (mut sum, mut total) = (0.0, 0.0);
            for step in 0..steps {
                let at = low + (f64::from(step) + 0.5) * width;
                let weight = log_density(at).exp();
                (sum, total) = (weight.mul_add(f(at), sum), total + weight);
            }
            sum / total
        };
        let first = moment(&|at| at);
        let variance = moment(&|at| (at - first).powi(2));
        let fourth = moment(&|at| (at - first).powi(4));
        assert_moments(&numbers, first, variance, fourth, &format!("{mean} {std} {low} {high}"));
    }
    Ok(())
}

#[test]
fn orthogonal_matrices_are_orthogonal_and_have_no_direction() -> Result<()> {
    manual_seed(3);
    for (sizes, dtype, tolerance) in
        [(vec![20, 7], DType::F64, 1e-12), (vec![6, 2, 3, 2], DType::F64, 1e-12), (vec![16, 16], DType::F32, 1e-5)]
    {
        let x = Tensor::empty(&sizes, dtype)?;
        init::orthogonal_(&x, 2.0)?;
        let matrix = x.reshape((sizes[0], -1))?;
        let matrix = if matrix.sizes()[0] > matrix.sizes()[1] { matrix.t()? } else { matrix };
        let gap = (matrix.mm(&matrix.t()?)? - (Tensor::eye(matrix.sizes()[0], dtype)? * 4.0)?)?;
        assert!(gap.abs()?.max()?.item::<f64>()? < tolerance, "{sizes:?}");
    }
    // In a uniform rotation of the plane, each element is a cosine of a uniform angle.
    let mut numbers = Vec::new();
    for _ in 0..400 {
        let x = Tensor::empty((2, 2), DType::F64)?;
        init::orthogonal_(&x, 1.0)?;
        numbers.extend([x.i((0, 0))?.item::<f64>()?, x.i((1, 0))?.item::<f64>()?]);
    }
    assert_moments(&numbers, 0.0, 0.5, 3.0 / 8.0, "orthogonal_");
    Ok(())
}

#[test]
fn structured_matrices_have_their_structure() -> Result<()> {
    manual_seed(4);
    let x = Tensor::rand((2, 3), ())?;
    init::eye_(&x)?;
    assert_eq!(x.to_vec::<f32>()?, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    // torch.nn.init.dirac_(torch.empty(4, 3, 3), groups=2).nonzero()
    let x = Tensor::rand((4, 3, 3), ())?;
    init::dirac_(&x, 2)?;
    let ones = [[0, 0, 1], [1, 1, 1], [2, 0, 1], [3, 1, 1]];
    let expected = Tensor::zeros((4, 3, 3), ())?;
    for [output, input, at] in ones {
        expected.i((output, input, at))?.fill_(1)?;
    }
    assert!(x.equal(&expected)?);
    let x = Tensor::rand((200, 50), ())?;
    init::sparse_(&x, 0.301, 0.1)?;
    assert_eq!(x.eq(0)?.sum_dims(0)?.to_vec::<i64>()?, [61; 50]);
    let others = x.masked_select(&x.ne(0)?)?;
    assert_normal(&others, 0.0, 0.1, "sparse_");
    Ok(())
}
