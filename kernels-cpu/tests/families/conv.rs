//! Tests of convolutions: results do not depend on how many channels, filters or images are computed together.

use dispatch_runtime::{Result, Tensor};

/// Returns a tensor of small integers, whose sums are exact in any order.
fn tensor_of_small_integers(sizes: &[i64], factor: i32) -> Result<Tensor> {
    let count = sizes.iter().product::<i64>();
    let numbers = (0..).take(usize::try_from(count).unwrap()).map(|i: i32| f64::from(i * factor % 7 - 3));
    Ok(Tensor::from_vec(numbers.collect(), sizes)?)
}

#[test]
fn weight_gradients_do_not_depend_on_the_number_of_filters_and_channels() -> Result<()> {
    for ([channels, filters, groups], [height, width], [stride, dilation]) in
        [([16, 8, 1], [5, 7], [1, 1]), ([30, 19, 2], [9, 6], [2, 1]), ([12, 64, 1], [70, 68], [1, 2])]
    {
        let (stride, padding, dilation) = ([stride, 1], [1, 2], [dilation, 1]);
        let input = tensor_of_small_integers(&[3, channels * groups, height, width], 5)?;
        let weight = tensor_of_small_integers(&[filters * groups, channels, 3, 3], 1)?;
        let out = aten::convolution(&input, &weight, None, &stride, &padding, &dilation, false, &[0, 0], groups)?;
        let grad = tensor_of_small_integers(out.sizes(), 3)?;
        let of_weight = |grad: &Tensor, input: &Tensor, weight: &Tensor, groups| {
            let mask = [false, true, false];
            aten::convolution_backward(
                grad,
                input,
                weight,
                None,
                &stride,
                &padding,
                &dilation,
                false,
                &[0, 0],
                groups,
                &mask,
            )
        };
        let many = of_weight(&grad, &input, &weight, groups)?.1;
        for filter in 0..filters * groups {
            let group = filter / filters;
            for channel in [0, channels / 2, channels - 1] {
                let grad = aten::narrow(&grad, 1, filter, 1)?;
                let input = aten::narrow(&input, 1, group * channels + channel, 1)?;
                let one = of_weight(&grad, &input, &tensor_of_small_integers(&[1, 1, 3, 3], 1)?, 1)?.1;
                let many = aten::narrow(&aten::narrow(&many, 0, filter, 1)?, 1, channel, 1)?;
                assert_eq!(many.to_vec::<f64>()?, one.to_vec::<f64>()?, "filter {filter} and channel {channel}");
            }
        }
    }
    Ok(())
}

#[test]
fn results_of_an_image_do_not_depend_on_its_batch() -> Result<()> {
    for ([images, groups], size, stride) in
        [([17, 1], [6, 7], [1, 1]), ([11, 2], [9, 5], [2, 1]), ([33, 1], [2, 3], [2, 2])]
    {
        let input = tensor_of_small_integers(&[images, 16 * groups, size[0], size[1]], 5)?;
        for transposed in [false, true] {
            let weight = tensor_of_small_integers(&[16 * groups, 16, 3, 2], 3)?;
            let bias = tensor_of_small_integers(&[16 * groups], 1)?;
            let convolved = |input: &Tensor| {
                let output_padding = [stride[0] - 1, 0].map(|more| if transposed { more } else { 0 });
                aten::convolution(
                    input,
                    &weight,
                    Some(&bias),
                    &stride,
                    &[1, 2],
                    &[1, 2],
                    transposed,
                    &output_padding,
                    groups,
                )
            };
            let all = convolved(&input)?;
            for image in 0..images {
                let alone = convolved(&aten::narrow(&input, 0, image, 1)?)?;
                assert_eq!(aten::narrow(&all, 0, image, 1)?.to_vec::<f64>()?, alone.to_vec::<f64>()?, "image {image}");
            }
        }
    }
    Ok(())
}
