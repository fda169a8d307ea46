//! Wrong options and inputs are errors that name them.

use aten::prelude::*;
use dispatch_nn::{
    AvgPool1d, AvgPoolOptions, BCELoss, BatchNorm1d, BatchNorm2d, CELU, CTCLoss, ChannelShuffle, Conv1d, Conv2d,
    ConvOptions, ConvTranspose1d, ConvTransposeOptions, CrossEntropyLoss, Dropout, Flatten, Fold, Forward,
    FractionalMaxPool2d, GLU, GroupNorm, Hardtanh, HuberLoss, InstanceNorm1d, InterpolationMode, LPPool1d,
    LocalResponseNorm, MSELoss, MaxPool1d, MaxPoolOptions, MaxUnpool1d, MultiMarginLoss, NLLLoss, PReLU, PReLUOptions,
    PadMode, Padding, PixelShuffle, RReLU, ReflectionPad1d, ReflectionPad2d, SmoothL1Loss, Softmax, Softmax2d,
    Softshrink, TripletMarginLoss, Unflatten, Upsample, UpsamplingNearest2d, init,
};
use dispatch_runtime::prelude::*;
use kernels_cpu as _;

#[track_caller]
fn assert_error<T>(result: Result<T>, text: &str) {
    match result {
        Ok(_) => panic!("no error with the text `{text}`"),
        Err(error) => assert!(error.to_string().contains(text), "{error}"),
    }
}

#[test]
fn options_that_do_not_fit_are_refused_when_a_layer_is_made() {
    let default = ConvOptions::default;
    assert_error(Conv2d::new(2, 2, (1, 2, 3)), "kernel_size");
    assert_error(Conv2d::new(2, 2, 0), "kernel_size");
    assert_error(Conv2d::new(0, 2, 1), "in_channels");
    assert_error(Conv2d::with(2, 3, 1, ConvOptions { groups: 2, ..default() }), "out_channels");
    assert_error(Conv2d::with(3, 2, 1, ConvOptions { groups: 2, ..default() }), "in_channels");
    assert_error(Conv2d::with(3, 2, 1, ConvOptions { groups: 0, ..default() }), "groups");
    assert_error(Conv1d::with(1, 1, 1, ConvOptions { stride: 0.into(), ..default() }), "stride");
    assert_error(Conv1d::with(1, 1, 1, ConvOptions { padding: (-1).into(), ..default() }), "padding");
    let same = ConvOptions { stride: 2.into(), padding: Padding::Same, ..default() };
    assert_error(Conv1d::with(1, 1, 1, same), "`same` needs an output as large as the input");
    let options =
        ConvTransposeOptions { output_padding: 2.into(), stride: 2.into(), ..ConvTransposeOptions::default() };
    assert_error(ConvTranspose1d::with(1, 1, 1, options), "output_padding");
    assert_error(GroupNorm::new(2, 3), "num_groups");
    assert_error(Dropout::new(1.5), "`p` is 1.5");
    assert_error(Dropout::new(f64::NAN), "`p`");
    let options = MaxPoolOptions { padding: 2.into(), ..MaxPoolOptions::default() };
    assert_error(MaxPool1d::with(3, options), "half of a window");
    let options = AvgPoolOptions { divisor: Some(2), ..AvgPoolOptions::default() };
    assert_error(AvgPool1d::with(3, options), "divisor");
    assert_error(LPPool1d::new(0.0, 2), "norm_type");
    assert_error(FractionalMaxPool2d::with_ratio(2, [1.0]), "output_ratio");
    assert_error(FractionalMaxPool2d::with_ratio(2, [0.5, 0.5, 0.5]), "output_ratio");
    assert_error(ReflectionPad2d::new((1, 2)), "padding");
    assert_error(PixelShuffle::new(0), "upscale_factor");
    assert_error(Fold::new((0, 1), 1), "output_size");
    assert_error(Upsample::by_factor([f64::INFINITY], "nearest".parse().unwrap()), "scale_factor");
}

#[test]
fn options_that_do_not_fit_are_refused_when_a_layer_is_used() -> Result<()> {
    let (x, y) = (Tensor::rand((3, 4), ())?, Tensor::rand((3, 4), ())?);
    let classes = Tensor::from([0_i64, 1, 3]);
    let smooth = CrossEntropyLoss { label_smoothing: 2.0, ..CrossEntropyLoss::new() };
    let (log_probs, lengths) = (x.unsqueeze(1)?.log_softmax(-1)?, Tensor::from([5_i64]));
    let results = [
        (SmoothL1Loss { beta: -1.0, ..SmoothL1Loss::new() }.forward(&x, &y), "beta"),
        (HuberLoss { delta: 0.0, ..HuberLoss::new() }.forward(&x, &y), "delta"),
        (MultiMarginLoss { p: 3, ..MultiMarginLoss::new() }.forward(&x, &classes), "`p`"),
        (TripletMarginLoss { margin: 0.0, ..TripletMarginLoss::new() }.forward(&x, &y, &y), "margin"),
        (smooth.forward(&x, &classes), "label_smoothing"),
        (CrossEntropyLoss::new().forward(&x, &Tensor::from([0_i64, 1, 4])), "4"),
        (NLLLoss::new().forward(&x, &Tensor::from([0_i64, 1, -1])), "-1"),
        (BCELoss::new().forward(&(&x + 2)?, &y), ""),
        (MSELoss::new().forward(&x, &Tensor::rand(3, ())?), ""),
        (RReLU { lower: 1.0, upper: 0.5, ..RReLU::new() }.forward(&x), "lower"),
        (Hardtanh { min_val: 1.0, max_val: -1.0 }.forward(&x), "min_val"),
        (Softshrink { lambd: -1.0 }.forward(&x), "lambd"),
        (CELU { alpha: 0.0 }.forward(&x), "alpha"),
        (GLU { dim: 0 }.forward(&x), ""),
        (Softmax::new(2).forward(&x), "dim"),
        (PReLU::with(PReLUOptions { num_parameters: 3, init: 0.5 })?.forward(&x), "weight"),
        (Flatten { start_dim: 2, end_dim: -1 }.forward(&x), "dim"),
        (Unflatten::new(1, (2, 3)).forward(&x), ""),
        (PixelShuffle::new(2)?.forward(&x.unsqueeze(0)?), ""),
        (ChannelShuffle::new(2)?.forward(&x.unsqueeze(0)?), "multiple of 2"),
        (Fold::new(4, 2)?.forward(&x), ""),
        (Upsample::to_size((1, 2, 3), InterpolationMode::Nearest).forward(&x.unsqueeze(0)?), "size"),
        (UpsamplingNearest2d::to_size(2).forward(&x), "dimensions"),
        (ReflectionPad1d::new(4)?.forward(&x), ""),
        (LocalResponseNorm::new(0).forward(&x.unsqueeze(0)?), "size"),
        (CTCLoss::new().forward(&log_probs, &classes.unsqueeze(0)?, &lengths, &lengths), "lengths"),
    ];
    let accepted: Vec<_> = results
        .into_iter()
        .enumerate()
        .filter(|(_, (result, text))| result.as_ref().err().is_none_or(|error| !error.to_string().contains(text)))
        .collect();
    assert!(accepted.is_empty(), "{accepted:?}");
    Ok(())
}

#[test]
fn sizes_beyond_memory_are_errors() {
    assert_error(Conv2d::new(i64::MAX, i64::MAX, i64::MAX), "");
    let options = ConvOptions {
        padding: Padding::Same,
        dilation: i64::MAX.into(),
        padding_mode: PadMode::Circular,
        ..ConvOptions::default()
    };
    let layer = Conv1d::with(1, 1, 3, options).unwrap();
    assert_error(layer.forward(&Tensor::ones((1, 4), ()).unwrap()), "");
    let options = ConvTransposeOptions { stride: i64::MAX.into(), ..ConvTransposeOptions::default() };
    let layer = ConvTranspose1d::with(1, 1, 3, options).unwrap();
    let x = Tensor::ones((1, 4), ()).unwrap();
    assert_error(layer.forward(&x), "");
    assert_error(layer.forward_with_output_size(&x, 4), "output_size");
    assert_error(BatchNorm1d::new(-1), "");
    assert_error(BatchNorm1d::new(i64::MAX), "");
}

#[test]
fn inputs_that_do_not_fit_are_refused() -> Result<()> {
    let image = Tensor::ones((2, 3, 4, 4), ())?;
    assert_error(BatchNorm1d::new(3)?.forward(&image), "dimensions");
    assert_error(BatchNorm2d::new(2)?.forward(&image), "");
    assert_error(BatchNorm1d::new(3)?.forward(&Tensor::ones((1, 3), ())?), "one value has no variance");
    assert_error(InstanceNorm1d::new(3)?.forward(&Tensor::ones((2, 3, 1), ())?), "one value has no variance");
    assert_error(Softmax2d.forward(&Tensor::ones(3, ())?), "dimensions");
    let layer =
        ConvTranspose1d::with(1, 1, 2, ConvTransposeOptions { stride: 2.into(), ..ConvTransposeOptions::default() })?;
    assert_error(layer.forward_with_output_size(&Tensor::ones((1, 1, 3), ())?, 9), "output_size");
    let (maxima, indices) = MaxPool1d::new(2)?.forward_with_indices(&Tensor::ones((1, 4), ())?)?;
    assert_error(MaxUnpool1d::new(2)?.forward_with_output_size(&maxima, &indices, 7), "output_size");
    assert_error(MaxUnpool1d::new(2)?.forward(&Tensor::ones((), ())?, &indices), "input");
    let vector = Tensor::ones(3, ())?;
    assert_error(init::xavier_uniform_(&vector, 1.0), "dimensions");
    assert_error(init::orthogonal_(&vector, 1.0), "dimensions");
    assert_error(init::eye_(&vector), "dimensions");
    assert_error(init::dirac_(&vector, 1), "dimensions");
    assert_error(init::dirac_(&Tensor::ones((3, 2, 1), ())?, 2), "groups");
    assert_error(init::sparse_(&Tensor::ones((3, 2), ())?, 1.5, 1.0), "sparsity");
    assert_error(init::trunc_normal_(&vector, 0.0, 0.0, -1.0..1.0), "std");
    assert_error(init::trunc_normal_(&vector, 0.0, 1.0, 1.0..1.0), "range");
    Ok(())
}
