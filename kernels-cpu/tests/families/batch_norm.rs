//! Tests of the gradients of batch normalisation.

use dispatch_runtime::{Result, Tensor};

/// Checks that gradients do not depend on the layout of planes: long planes are processed one by one, short planes together with all of
/// their channel.
#[test]
fn gradients_do_not_depend_on_the_shape_of_planes() -> Result<()> {
    let numbers = |factor: i32| {
        let values = (0..2 * 3 * 128).map(|i| f64::from(i * factor % 23) - 11.0);
        Tensor::from_vec(values.collect(), [2, 3, 128])
    };
    // Each plane divided into four, as the planes of four images.
    let split_planes =
        |x: &Tensor| aten::reshape(&aten::permute(&aten::view(x, &[2, 3, 4, 32])?, &[0, 2, 1, 3])?, &[8, 3, 32]);
    let [weight, mean, spread] = [[0.5, -2.0, 3.0], [1.0, 0.0, -2.0], [0.1, 0.5, 0.25]];
    let [weight, mean, spread] = [weight, mean, spread].map(|values| Tensor::from_slice(&values));
    let statistics = (Some(&mean), Some(&spread));
    for train in [true, false] {
        let gradients = |[grad, input]: [&Tensor; 2]| {
            let (weight, (mean, spread), wanted) = (Some(&weight), statistics, [true; 3]);
            aten::native_batch_norm_backward(grad, input, weight, mean, spread, mean, spread, train, 1e-5, &wanted)
        };
        let (grad, input) = (numbers(7)?, numbers(5)?);
        let (of_input, of_weight, of_bias) = gradients([&grad, &input])?;
        let short = gradients([&split_planes(&grad)?, &split_planes(&input)?])?;
        for (long, short) in [(split_planes(&of_input)?, short.0), (of_weight, short.1), (of_bias, short.2)] {
            let (long, short) = (long.to_vec::<f64>()?, short.to_vec::<f64>()?);
            assert!(long.iter().zip(&short).all(|(long, short)| (long - short).abs() < 1e-10), "{long:?} {short:?}");
            assert!(long.iter().any(|gradient| gradient.abs() > 1.0));
        }
    }
    Ok(())
}
