//! Tests that complex gradients equal those of PyTorch.

use aten::prelude::*;
use dispatch_autograd::{Differentiable, Differentiation};
use dispatch_runtime::Complex64;
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

type ComplexFunction = fn(&Tensor) -> Result<Tensor>;

/// Returns the gradient at 1 + 2i and 0.5 - i as real and imaginary parts, if the gradient of the result is 1 + i.
fn gradient_parts(function: ComplexFunction) -> Result<Vec<f64>> {
    let z = Tensor::from([[1.0, 2.0], [0.5, -1.0]]).view_as_complex()?.requires_grad_(true)?;
    let seed = Tensor::from([[1.0, 1.0], [1.0, 1.0]]).view_as_complex()?;
    let gradients = Differentiation::of_outputs(&[&function(&z)?]).with_seeds(&[&seed]).grad(&[&z])?;
    gradients[0].as_ref().map_or_else(|| Ok(Vec::new()), |gradient| gradient.view_as_real()?.to_vec())
}

#[test]
fn gradients_of_complex_functions_are_conjugated_derivatives() {
    let expected: [(&str, ComplexFunction, [f64; 4]); 23] = [
        (
            "sqrt",
            ExponentialMethods::sqrt,
            [0.108_643_448_375_82, 0.460_221_032_629_963, 0.650_850_826_034_644, 0.153_645_038_156_066],
        ),
        (
            "rsqrt",
            ExponentialMethods::rsqrt,
            [0.162_359_723_376_821, -0.135_501_585_876_321, -0.383_256_360_938_711, 0.459_222_645_565_289],
        ),
        (
            "sigmoid",
            ExponentialMethods::sigmoid,
            [-0.279_829_472_135_38, 0.561_607_087_275_263, 0.368_036_796_932_451, 0.210_420_338_027_323],
        ),
        (
            "sin",
            TrigonometryMethods::sin,
            [-1.019_174_792_132_135, 5.084_620_806_171_466, 1.917_602_121_935_566, 0.790_759_191_473_602],
        ),
        (
            "cos",
            TrigonometryMethods::cos,
            [-5.125_379_554_637_775, -1.206_177_471_794_562, 0.291_543_809_798_537, -1.771_128_338_710_565],
        ),
        (
            "tan",
            TrigonometryMethods::tan,
            [0.039_963_303_935_059, -0.097_288_856_263_963, -0.002_071_663_939_932, 0.657_388_587_340_978],
        ),
        (
            "acosh",
            TrigonometryMethods::acosh,
            [-0.227_544_930_281_114, 0.549_342_056_733_905, 0.861_564_149_968_347, -0.499_985_091_980_739],
        ),
        (
            "asinh",
            TrigonometryMethods::asinh,
            [-0.153_645_038_156_066, 0.650_850_826_034_644, 1.382_504_600_619_313, 0.170_194_093_778_535],
        ),
        (
            "acos",
            TrigonometryMethods::acos,
            [-0.549_342_056_733_905, -0.227_544_930_281_114, -0.499_985_091_980_739, -0.861_564_149_968_347],
        ),
        ("atan", TrigonometryMethods::atan, [-0.3, 0.1, 1.176_470_588_235_294, -0.705_882_352_941_176]),
        ("atanh", TrigonometryMethods::atanh, [0.25, 0.0, 0.184_615_384_615_385, 0.676_923_076_923_077]),
        (
            "log2",
            ExponentialMethods::log2,
            [-0.288_539_008_177_793, 0.865_617_024_533_378, 1.731_234_049_066_756, -0.577_078_016_355_585],
        ),
        (
            "sgn",
            ArithmeticMethods::sgn,
            [0.178_885_438_199_983, -0.089_442_719_099_992, 1.073_312_629_199_899, 0.536_656_314_599_949],
        ),
        ("square", |z| z * z, [6.0, -2.0, -1.0, 3.0]),
        ("inverse square", |z| 1 / (z * z)?, [0.144, 0.208, 1.664, 1.152]),
        (
            "power",
            |z| z.pow(z),
            [-0.577_688_823_185_989, -0.448_473_009_556_299, -0.477_313_875_515_499, 0.611_025_201_594_244],
        ),
        ("products", |z| z.view([2, 1])?.mm(&z.view([1, 2])?)?.sum_dims(0), [5.0, 1.0, 5.0, 1.0]),
        ("cumprod", |z| z.cumprod(0), [0.5, 2.5, 3.0, -1.0]),
        ("scaled", |z| aten::add(z, z, Complex64::new(0.0, 2.0).into()), [3.0, -1.0, 3.0, -1.0]),
        ("softness", |z| z.conj()? * z, [2.0, 4.0, 1.0, -2.0]),
        ("vdot", |z| aten::stack(&[z.vdot(&(z * z)?)?, z.select(0, 0)?], 0), [12.0, 18.0, 0.75, 2.25]),
        ("prod", |z| aten::stack(&[z.prod()?, z.select(0, 1)?], 0), [-0.5, 1.5, 4.0, 0.0]),
        ("real", |z| z.real()? * z, [4.0, 1.0, 0.0, 0.5]),
    ];
    for (name, function, expected) in expected {
        let found = gradient_parts(function).unwrap_or_else(|error| panic!("{name}: {error}"));
        let close = found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12);
        assert!(close && found.len() == 4, "{name}: {found:?}, not {expected:?}");
    }
}

#[test]
fn real_and_imaginary_parts_have_separate_gradients() {
    let z = aten::view_as_complex(&Tensor::from([[1.0, 2.0], [0.5, -1.0]])).unwrap().requires_grad_(true).unwrap();
    ((z.real().unwrap() * 3.0).unwrap() + (z.imag().unwrap() * 5.0).unwrap())
        .unwrap()
        .sum()
        .unwrap()
        .backward()
        .unwrap();
    let gradient = aten::view_as_real(&z.grad().unwrap()).unwrap();
    assert_eq!(gradient.to_vec::<f64>().unwrap(), [3.0, 5.0, 3.0, 5.0]);
}
