//! Tests of `aten::functional` against values from PyTorch.

#![expect(clippy::unreadable_literal, reason = "the figures are copied from PyTorch's output")]

use aten::functional::{
    self, AttentionOptions, InProjection, InterpolationMode, MultiHeadAttention, OutputSize, ReturnedWeights,
};
use aten::prelude::*;
use aten::{Reduction, functional::interpolate};
use dispatch_runtime::prelude::*;
// Links the CPU kernels.
use kernels_cpu as _;

/// Returns a tensor of `sin(0.7 f i + f)` for the indices `i` of its elements.
fn sine_tensor(sizes: &[i64], f: f64) -> Tensor {
    let count: i64 = sizes.iter().product();
    let indices = Tensor::arange(0..count, DType::F64).unwrap();
    ((indices * (0.7 * f)).unwrap() + f).unwrap().sin().unwrap().reshape(sizes).unwrap()
}

#[track_caller]
fn assert_near(found: &Tensor, expected: &[f64]) {
    let found = found.reshape(-1).unwrap().to_vec::<f64>().unwrap();
    assert_eq!(found.len(), expected.len());
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() < 1e-8, "{found} instead of {expected} at {at}");
    }
}

#[test]
fn interpolate_matches_pytorch() {
    let (line, image, volume) =
        (sine_tensor(&[1, 2, 4], 1.0), sine_tensor(&[1, 1, 3, 4], 1.0), sine_tensor(&[1, 1, 2, 2, 3], 1.0));
    #[rustfmt::skip]
    let cases: [(&Tensor, OutputSize<'_>, InterpolationMode, &[f64]); 8] = [
        (&line, OutputSize::Sizes(&[6]), InterpolationMode::Nearest, &[0.8414709848, 0.8414709848, 0.9916648105, 0.6754631806, 0.6754631806, 0.04158066243, -0.6118578909, -0.6118578909, -0.9775301177, -0.8834546557, -0.8834546557, -0.3738766648]),
        (&image, OutputSize::ScaleFactors(&[1.5, 0.5]), InterpolationMode::Nearest, &[0.8414709848, 0.6754631806, 0.8414709848, 0.6754631806, -0.6118578909, -0.8834546557, 0.3115413635, 0.9893582466]),
        (&line, OutputSize::ScaleFactors(&[1.7]), InterpolationMode::NearestExact, &[0.8414709848, 0.8414709848, 0.9916648105, 0.6754631806, 0.6754631806, 0.04158066243, -0.6118578909, -0.6118578909, -0.9775301177, -0.8834546557, -0.8834546557, -0.3738766648]),
        (&line, OutputSize::ScaleFactors(&[1.6]), InterpolationMode::Linear { align_corners: false }, &[0.8414709848, 0.9071807835, 0.9719022086, 0.7742761899, 0.4773748936, 0.08119831982, -0.6118578909, -0.7718394901, -0.9716504013, -0.9128532376, -0.7242115336, -0.4057252893]),
        (&image, OutputSize::Sizes(&[4, 2]), InterpolationMode::Linear { align_corners: true }, &[0.8414709848, 0.04158066243, -0.1274149324, -0.2353908891, -0.3040581395, -0.02826136653, 0.3115413635, 0.6629692301]),
        (&volume, OutputSize::Sizes(&[1, 3, 2]), InterpolationMode::Linear { align_corners: false }, &[0.06147964161, 0.4473502222, 0.2215868336, 0.1882887169, 0.3816940256, -0.07077278838]),
        (&image, OutputSize::Sizes(&[2, 5]), InterpolationMode::Cubic { align_corners: false }, &[0.4796457655, 0.5056184029, 0.4013682515, 0.135268489, -0.1099827395, 0.0320541667, 0.2631589567, 0.4773329511, 0.4990249735, 0.40757289]),
        (&image, OutputSize::ScaleFactors(&[0.7]), InterpolationMode::Area, &[0.06093694666, -0.1350718694, -0.1068525061, 0.09874903904]),
    ];
    for (input, size, mode, expected) in cases {
        assert_near(&interpolate(input, size, mode).unwrap(), expected);
    }
}

#[test]
fn interpolate_refuses_unsupported_ranks_and_factors() {
    let line = sine_tensor(&[1, 2, 4], 1.0);
    assert!(interpolate(&line, OutputSize::Sizes(&[6]), InterpolationMode::Cubic { align_corners: false }).is_err());
    assert!(interpolate(&line, OutputSize::ScaleFactors(&[2.0, 2.0]), InterpolationMode::Nearest).is_err());
    assert!(interpolate(&sine_tensor(&[2, 4], 1.0), OutputSize::Sizes(&[6]), InterpolationMode::Nearest).is_err());
}

#[test]
fn normalize_and_local_response_norm_match_pytorch() {
    assert_near(
        &functional::normalize(&sine_tensor(&[2, 3], 1.0), 3.0, 0, 1e-12).unwrap(),
        &[0.9999597838, 0.9320897241, 0.6283416798, 0.04941226848, -0.5751000204, -0.9093358955],
    );
    let three_dimensional = functional::local_response_norm(&sine_tensor(&[1, 3, 2], 1.0), 2, 0.5, 0.75, 1.0).unwrap();
    assert_near(
        &three_dimensional,
        &[0.7446491857, 0.8409412268, 0.5576819237, 0.03525162641, -0.531120865, -0.8322266671],
    );
    let four_dimensional = functional::local_response_norm(&sine_tensor(&[1, 3, 1, 2], 1.0), 3, 0.5, 0.5, 2.0).unwrap();
    assert_near(
        &four_dimensional,
        &[0.5680878365, 0.6740892624, 0.4496648284, 0.0272787738, -0.4184102925, -0.6651944456],
    );
}

#[test]
fn losses_match_pytorch() {
    let (input, target) = (sine_tensor(&[2, 3], 1.0), sine_tensor(&[2, 3], 2.0));
    let rows = sine_tensor(&[2], 3.0).abs().unwrap();
    let each = functional::gaussian_nll_loss(&input, &target, &rows, true, 1e-6, Reduction::None).unwrap();
    assert_near(&each, &[-0.0438340864, 5.451212942, 9.840444828, 0.8887919636, 2.228236331, 1.923329788]);
    let column = rows.unsqueeze(1).unwrap();
    let mean = functional::gaussian_nll_loss(&input, &target, &column, false, 1e-6, Reduction::Mean).unwrap();
    assert_near(&mean, &[2.462425094]);
    let negative = (-&rows).unwrap();
    assert!(functional::gaussian_nll_loss(&input, &target, &negative, false, 1e-6, Reduction::Mean).is_err());
    let manhattan = |x: &Tensor, y: &Tensor| (x - y)?.abs()?.sum_dims(-1);
    let negative = sine_tensor(&[2, 3], 3.0);
    let triplet = functional::triplet_margin_with_distance_loss(
        &input,
        &target,
        &negative,
        manhattan,
        2.0,
        true,
        Reduction::None,
    );
    assert_near(&triplet.unwrap(), &[2.250624991, 2.922437291]);
}

#[test]
fn lp_pool_matches_pytorch() {
    let steps = functional::lp_pool1d(&sine_tensor(&[1, 1, 5], 1.0).abs().unwrap(), 3.0, &[2], &[1], false);
    assert_near(&steps.unwrap(), &[1.162503885, 1.086722669, 0.6755156995, 0.6119218948]);
    assert_near(
        &functional::lp_pool2d(&sine_tensor(&[1, 3, 4], 1.0), 2.0, &[2, 3], &[], true).unwrap(),
        &[2.063528619, 0.6515659107, 1.89690812, 1.623936329],
    );
    let line = sine_tensor(&[1, 1, 4], 1.0);
    assert_near(&functional::lp_pool1d(&line, f64::INFINITY, &[2], &[], false).unwrap(), &[0.9916648105, 0.6754631806]);
    assert_near(
        &functional::lp_pool1d(&line, f64::NEG_INFINITY, &[2], &[], false).unwrap(),
        &[0.8414709848, 0.04158066243],
    );
    assert!(functional::lp_pool1d(&line, 0.0, &[2], &[], false).is_err());
}

#[test]
fn activations_match_pytorch() {
    let x = sine_tensor(&[3], 1.0);
    assert_near(&functional::softmin(&x, 0, None).unwrap(), &[0.3288258456, 0.2829681763, 0.3882059781]);
    assert_near(&functional::softsign(&x).unwrap(), &[0.4569558748, 0.4979074818, 0.403150119]);
    assert_near(&functional::tanhshrink(&x).unwrap(), &[0.1548835778, 0.2335935018, 0.08690110928]);
}

#[test]
fn unfold_and_fold_match_pytorch() {
    let columns = functional::unfold(&sine_tensor(&[1, 1, 2, 3], 1.0), &[2], &[1], &[0], &[1]).unwrap();
    assert_near(
        &columns,
        &[
            0.8414709848,
            0.9916648105,
            0.9916648105,
            0.6754631806,
            0.04158066243,
            -0.6118578909,
            -0.6118578909,
            -0.9775301177,
        ],
    );
    let image = functional::fold(&sine_tensor(&[1, 4, 2], 1.0), &[2, 3], &[2], &[1], &[0], &[1]).unwrap();
    assert_near(&image, &[0.8414709848, 1.667127991, 0.04158066243, -0.6118578909, -1.860984773, -0.3738766648]);
}

#[test]
fn gumbel_softmax_samples_sum_to_one() {
    let _own = Generator::new(Device::CPU, 3).make_default();
    let logits = sine_tensor(&[64, 5], 1.0);
    let soft = functional::gumbel_softmax(&logits, 0.5, false, -1).unwrap();
    assert_near(&soft.sum_dims(-1).unwrap(), &[1.0; 64]);
    let hard = functional::gumbel_softmax(&logits, 0.5, true, -1).unwrap();
    assert_near(&hard.amax_dims(-1).unwrap(), &[1.0; 64]);
    assert_near(&hard.sum_dims(-1).unwrap(), &[1.0; 64]);
    let counts = hard.sum_dims(0).unwrap();
    assert!(counts.amin().unwrap().item::<f64>().unwrap() > 0.0, "every class is sampled");
}

#[test]
fn channel_dropout_drops_whole_channels() {
    let _own = Generator::new(Device::CPU, 3).make_default();
    let kept = functional::dropout1d(&Tensor::ones([50, 4], DType::F64).unwrap(), 0.5, true).unwrap();
    let rows = kept.sum_dims(1).unwrap().to_vec::<f64>().unwrap();
    assert!(rows.iter().all(|row| [0.0, 8.0].contains(row)) && rows.contains(&0.0) && rows.contains(&8.0));
    assert!(functional::dropout3d(&Tensor::ones([2, 2], ()).unwrap(), 0.5, true).is_err());
}

/// The parameters of an attention layer with four features.
struct AttentionParameters {
    packed: Tensor,
    in_bias: Tensor,
    out_weight: Tensor,
    out_bias: Tensor,
}

impl AttentionParameters {
    fn new() -> Self {
        Self {
            packed: sine_tensor(&[12, 4], 0.9),
            in_bias: sine_tensor(&[12], 0.4),
            out_weight: sine_tensor(&[4, 4], 1.1),
            out_bias: sine_tensor(&[4], 0.2),
        }
    }

    fn multi_head_attention(&self) -> MultiHeadAttention<'_> {
        MultiHeadAttention {
            heads: 2,
            in_projection: InProjection::Packed(&self.packed),
            in_bias: Some(&self.in_bias),
            extra_key_value: None,
            add_zero_attn: false,
            dropout: 0.0,
            out_weight: &self.out_weight,
            out_bias: Some(&self.out_bias),
        }
    }
}

const MASKED_ATTENTION_RESULT: [f64; 16] = [
    1.352170243,
    -0.7573416411,
    1.48579881,
    -0.3722918269,
    0.4671405781,
    0.1804101068,
    0.4988813613,
    0.6600484827,
    1.151224027,
    -0.5860748223,
    1.344860911,
    -0.2622173468,
    0.6818559094,
    -0.09345457275,
    0.8308567693,
    0.2712213484,
];

#[test]
fn multi_head_attention_with_masks_matches_pytorch() {
    let parameters = AttentionParameters::new();
    let (query, key) = (sine_tensor(&[2, 2, 4], 1.0), sine_tensor(&[3, 2, 4], 1.3));
    let (pairs, padding) =
        (Tensor::from([[false, true, false], [false, false, true]]), Tensor::from([[false, false, true], [false; 3]]));
    let options = AttentionOptions {
        key_padding_mask: Some(&padding),
        attn_mask: Some(&pairs),
        is_causal: false,
        weights: ReturnedWeights::Averaged,
    };
    let attend = |options| {
        functional::multi_head_attention_forward(&query, &key, &key, &parameters.multi_head_attention(), options)
            .unwrap()
    };
    let (result, weights) = attend(options);
    assert_near(&result, &MASKED_ATTENTION_RESULT);
    assert_near(
        &weights.unwrap(),
        &[
            1.0,
            0.0,
            0.0,
            0.04622539702,
            0.953774603,
            0.0,
            0.2933323969,
            0.0,
            0.7066676031,
            0.1169945098,
            0.8830054902,
            0.0,
        ],
    );
    let (result, weights) = attend(AttentionOptions { weights: ReturnedWeights::None, ..options });
    assert_near(&result, &MASKED_ATTENTION_RESULT);
    assert!(weights.is_none());
}

#[test]
fn a_causal_multi_head_attention_is_that_with_a_mask_of_later_keys() {
    let parameters = AttentionParameters::new();
    let (layer, x) = (parameters.multi_head_attention(), sine_tensor(&[3, 2, 4], 1.3));
    let future = Tensor::ones((3, 3), DType::Bool).unwrap().triu(1).unwrap();
    let padding = Tensor::from([[false, false, true], [false; 3]]);
    for (key_padding_mask, weights) in
        [(None, ReturnedWeights::None), (None, ReturnedWeights::Averaged), (Some(&padding), ReturnedWeights::None)]
    {
        let attend = |attn_mask, is_causal| {
            let options = AttentionOptions { key_padding_mask, attn_mask, is_causal, weights };
            functional::multi_head_attention_forward(&x, &x, &x, &layer, options).unwrap().0
        };
        assert!(attend(None, true).allclose(&attend(Some(&future), false)).unwrap());
        assert!(attend(Some(&future), true).allclose(&attend(Some(&future), false)).unwrap());
    }
}

#[test]
fn attention_drops_weights_with_the_probability_of_dropout() {
    // All keys have the same weight, and the values are one-hot: each element of the result is a weight.
    let (zeros, values) =
        (Tensor::zeros((1, 100, 8), ()).unwrap(), Tensor::eye(100, ()).unwrap().unsqueeze(0).unwrap());
    let attend = |p| aten::scaled_dot_product_attention(&zeros, &zeros, &values, None, p, false, None, false);
    let elements = attend(0.25).unwrap().to_vec::<f32>().unwrap();
    let kept = elements.iter().filter(|&&weight| weight > 0.0).count();
    // 10,000 draws: the deviation is 43.
    assert!(kept.abs_diff(7500) < 250, "{kept}");
    assert!(elements.iter().all(|&weight| weight == 0.0 || (weight - 0.01 / 0.75).abs() < 1e-6));
    assert!(attend(1.0).unwrap().to_vec::<f32>().unwrap().iter().all(|&weight| weight == 0.0));
    assert!(attend(1.5).is_err());
}

#[test]
fn multi_head_attention_with_extra_keys_matches_pytorch() {
    let parameters = AttentionParameters::new();
    let x = sine_tensor(&[3, 2, 4], 1.3);
    let extra_key_value = [sine_tensor(&[1, 1, 4], 0.3), sine_tensor(&[1, 1, 4], 0.6)];
    let layer = MultiHeadAttention {
        extra_key_value: Some([&extra_key_value[0], &extra_key_value[1]]),
        add_zero_attn: true,
        ..parameters.multi_head_attention()
    };
    let shifted = Tensor::full([2, 3], 0.5, DType::F64).unwrap();
    let options = AttentionOptions {
        key_padding_mask: Some(&shifted),
        weights: ReturnedWeights::PerHead,
        ..AttentionOptions::default()
    };
    let (result, weights) = functional::multi_head_attention_forward(&x, &x, &x, &layer, options).unwrap();
    assert_near(
        &result,
        &[
            1.88527794,
            -1.411504801,
            2.258536548,
            -1.260673568,
            0.5667045881,
            -0.07504801926,
            0.9092647897,
            0.09629611301,
            0.8780831137,
            -0.3291166776,
            1.105060036,
            -0.04048317743,
            0.8272933276,
            -0.3709957179,
            1.239449079,
            -0.2668725575,
            0.646448456,
            -0.07043091562,
            0.8203042246,
            0.2692627606,
            0.9913965569,
            -0.4649748054,
            1.262947613,
            -0.2198014211,
        ],
    );
    let weights = weights.unwrap();
    assert_eq!(weights.sizes(), [2, 2, 3, 5]);
    assert_near(
        &weights.i((0, 0, 0)).unwrap(),
        &[0.04644560545, 0.1177355168, 0.7201076546, 0.07136473251, 0.04434649065],
    );
}

#[test]
fn multi_head_attention_with_separate_weights_matches_pytorch() {
    let parameters = AttentionParameters::new();
    let (query, key) = (sine_tensor(&[2, 2, 4], 1.0), sine_tensor(&[3, 2, 4], 1.3));
    let narrow = key.narrow(2, 0, 3).unwrap();
    let part = |at| parameters.packed.narrow(0, at, 4).unwrap();
    let (of_query, of_key, of_value) = (part(0), part(4), part(8).narrow(1, 0, 3).unwrap());
    let each = InProjection::Separate { query: &of_query, key: &of_key, value: &of_value };
    let layer = MultiHeadAttention { in_projection: each, ..parameters.multi_head_attention() };
    let (result, _) =
        functional::multi_head_attention_forward(&query, &key, &narrow, &layer, AttentionOptions::default()).unwrap();
    assert_near(
        &result,
        &[
            1.10616985,
            -0.5764668941,
            1.370735669,
            -0.3234766625,
            0.4726677507,
            0.1541176981,
            0.5458392933,
            0.5926031134,
            0.9126500755,
            -0.3827040495,
            1.177464591,
            -0.1314303233,
            0.5491648739,
            0.07911659373,
            0.6190599404,
            0.5214406097,
        ],
    );
    let one = key.select(1, 0).unwrap();
    let options = AttentionOptions { weights: ReturnedWeights::Averaged, ..AttentionOptions::default() };
    let (result, weights) =
        functional::multi_head_attention_forward(&one, &one, &one, &parameters.multi_head_attention(), options)
            .unwrap();
    assert_near(
        &result,
        &[
            1.950291975,
            -1.425267485,
            2.220995686,
            -1.171971533,
            1.214124781,
            -0.6190273469,
            1.347740234,
            -0.2350125498,
            0.6178653576,
            -0.01776041546,
            0.7437460733,
            0.3694182197,
        ],
    );
    assert_near(
        &weights.unwrap(),
        &[
            0.3481814099,
            0.1088098902,
            0.5430087,
            0.910065602,
            0.04794028625,
            0.04199411179,
            0.7857755535,
            0.09307936948,
            0.121145077,
        ],
    );
}

#[test]
fn multi_head_attention_refuses_heads_that_do_not_divide_the_features() {
    let parameters = AttentionParameters::new();
    let x = sine_tensor(&[3, 2, 4], 1.0);
    let layer = MultiHeadAttention { heads: 3, ..parameters.multi_head_attention() };
    let error = functional::multi_head_attention_forward(&x, &x, &x, &layer, AttentionOptions::default()).unwrap_err();
    assert!(error.to_string().contains("heads"), "{error}");
}
