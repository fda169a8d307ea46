//! Tests that channels-last images keep their format and their elements, and that the Meta kernel agrees.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use aten::prelude::*;
use dispatch_runtime::MemoryFormat::{self, ChannelsLast, ChannelsLast3d, Contiguous};
use dispatch_runtime::prelude::*;

/// Returns a tensor of these sizes with distinct elements.
fn tensor_of_distinct_numbers(sizes: &[i64]) -> Tensor {
    let count = u32::try_from(sizes.iter().product::<i64>()).unwrap();
    Tensor::from_vec((0..count).map(|i| (1.7 * f64::from(i)).sin()).collect::<Vec<f64>>(), sizes).unwrap()
}

type ImageOperator<'a> = &'a dyn Fn(&Tensor) -> Result<Tensor>;

/// Checks that `f` has equal results for `like` and its channels-last copy, and that the result for the copy has the format `expected`.
fn assert_format_of_result(expected: MemoryFormat, like: &Tensor, f: impl Fn(&Tensor) -> Tensor) {
    let format = if like.sizes().len() == 4 { ChannelsLast } else { ChannelsLast3d };
    let innermost = aten::contiguous(like, format).unwrap();
    assert_eq!(innermost.geometry().suggested_format(), format);
    let (plain, kept) = (f(like), f(&innermost));
    assert_eq!(kept.geometry().suggested_format(), expected);
    assert_eq!(kept.to_vec::<f64>().unwrap(), plain.to_vec::<f64>().unwrap());
    let on_meta = f(&innermost.to(Device::META).unwrap());
    assert_eq!((on_meta.sizes(), on_meta.strides()), (kept.sizes(), kept.strides()));
}

#[test]
fn operators_on_images_keep_channels_last() {
    let image = tensor_of_distinct_numbers(&[2, 3, 6, 5]);
    let weight = |x: &Tensor| tensor_of_distinct_numbers(&[4, 3, 3, 3]).to(x.device()).unwrap();
    let cases: [(&str, ImageOperator<'_>); 9] = [
        ("conv2d", &|x| aten::conv2d(x, &weight(x), None, &[1], &[1], &[1], 1)),
        ("max_pool2d", &|x| aten::max_pool2d(x, &[2], &[], &[0], &[1], false)),
        ("avg_pool2d", &|x| aten::avg_pool2d(x, &[2], &[], &[0], false, true, None)),
        ("_adaptive_avg_pool2d", &|x| aten::_adaptive_avg_pool2d(x, &[2, 3])),
        ("upsample_nearest2d", &|x| aten::upsample_nearest2d(x, &[7, 8], None, None)),
        ("upsample_bicubic2d", &|x| aten::upsample_bicubic2d(x, &[7, 8], false, None, None)),
        ("reflection_pad2d", &|x| aten::reflection_pad2d(x, &[1, 2, 1, 2])),
        ("constant_pad_nd", &|x| aten::constant_pad_nd(x, &[1, 2, 1, 2], 3.into())),
        ("cat", &|x| aten::cat(&[x.clone(), x.clone()], 1)),
    ];
    for (name, f) in cases {
        assert_format_of_result(ChannelsLast, &image, |x| f(x).unwrap_or_else(|error| panic!("{name}: {error}")));
    }
}

#[test]
fn max_pool_indices_have_the_strides_of_the_maxima() {
    let found = aten::contiguous(&tensor_of_distinct_numbers(&[2, 3, 6, 5]), ChannelsLast).unwrap();
    let (maxima, indices) = aten::max_pool2d_with_indices(&found, &[2], &[], &[0], &[1], false).unwrap();
    assert_eq!(indices.strides(), maxima.strides());
    let back = aten::max_pool2d_with_indices_backward(&maxima, &found, &[2], &[], &[0], &[1], false, &indices).unwrap();
    assert_eq!(back.geometry().suggested_format(), ChannelsLast);
}

#[test]
fn convolutions_take_channels_last_from_the_weight() {
    let (image, weight) = (tensor_of_distinct_numbers(&[2, 3, 6, 5]), tensor_of_distinct_numbers(&[4, 3, 3, 3]));
    let innermost = aten::contiguous(&weight, ChannelsLast).unwrap();
    let convolved = |weight: &Tensor| aten::conv2d(&image, weight, None, &[1], &[0], &[1], 1).unwrap();
    let (kept, plain) = (convolved(&innermost), convolved(&weight));
    assert_eq!(kept.geometry().suggested_format(), ChannelsLast);
    assert_eq!(kept.to_vec::<f64>().unwrap(), plain.to_vec::<f64>().unwrap());
}

#[test]
fn max_pool3d_keeps_channels_last_and_avg_pool3d_does_not() {
    let volume = tensor_of_distinct_numbers(&[2, 3, 4, 6, 5]);
    assert_format_of_result(ChannelsLast3d, &volume, |x| aten::max_pool3d(x, &[2], &[], &[0], &[1], false).unwrap());
    assert_format_of_result(Contiguous, &volume, |x| aten::avg_pool3d(x, &[2], &[], &[0], false, true, None).unwrap());
}
