//! Large calls of normalisations and their gradients: the expected results are computed by the formula. The elements of a group share a
//! mean and a scale, those of a channel a weight.

use dispatch_checks::plumbing::{Array, CallError, to_real};
use dispatch_runtime::{DType, Operator, Scalar, Value};

use super::gather::to_usize;
use super::input::{DTypeCategory, mostly_zero_number};
use super::reduction::reduce_by_name;
use super::trial::{ExpectedResult, LargeTrial, NamedArguments, fixed_value};
use super::{LineLayouts, TrialFamily};

pub(super) const NORM_FAMILY: TrialFamily = TrialFamily {
    names: &[
        "aten::native_batch_norm",
        "aten::_native_batch_norm_legit",
        "aten::_native_batch_norm_legit.no_stats",
        "aten::_native_batch_norm_legit_no_training",
        "aten::_batch_norm_with_update",
        "aten::batch_norm",
        "aten::native_batch_norm_backward",
        "aten::native_group_norm",
        "aten::group_norm",
        "aten::native_group_norm_backward",
        "aten::instance_norm",
        "aten::native_layer_norm",
        "aten::layer_norm",
        "aten::native_layer_norm_backward",
        "aten::_fused_rms_norm",
        "aten::rms_norm",
        "aten::_fused_rms_norm_backward",
        "aten::_weight_norm",
        "aten::_weight_norm_interface",
        "aten::_weight_norm_interface_backward",
        "aten::_weight_norm_differentiable_backward",
        "aten::norm_except_dim",
    ],
    kinds: &[DTypeCategory::Real],
    trials: create_trials,
};

const NORM_EPS: f64 = 0.25;

/// The normalised sizes, and the group and channel of each logical index.
struct NormLayout {
    sizes: Vec<i64>,
    group: fn(&[i64], i64) -> i64,
    channel: fn(&[i64], i64) -> i64,
    /// The sizes of tensors with one element per group, and of those with one per channel.
    groups: Vec<i64>,
    channels: Vec<i64>,
    /// RMS normalisation: elements are scaled, and no mean is subtracted.
    is_scaled: bool,
    named: NamedArguments,
}

fn norm_layouts(base: &str) -> Vec<NormLayout> {
    let channel = |sizes: &[i64], place: i64| place / sizes[2] % sizes[1];
    let layout = |sizes: &[i64], group, channel, groups: &[i64], channels: &[i64], named| NormLayout {
        sizes: sizes.to_vec(),
        group,
        channel,
        groups: groups.to_vec(),
        channels: channels.to_vec(),
        is_scaled: base.contains("rms"),
        named,
    };
    if base.contains("batch") {
        let each = |sizes: &[i64]| layout(sizes, channel, channel, &sizes[1..2], &sizes[1..2], Vec::new());
        return vec![each(&[300, 3, 101]), each(&[2, 3, 11_711])];
    }
    if base.contains("instance") {
        return vec![layout(&[2, 3, 11_711], |sizes, place| place / sizes[2], channel, &[2, 3], &[3], Vec::new())];
    }
    if base.contains("group") {
        let named = vec![
            ("N", fixed_value(2_i64)),
            ("C", fixed_value(4_i64)),
            ("HxW", fixed_value(8_800_i64)),
            ("group", fixed_value(2_i64)),
            ("num_groups", fixed_value(2_i64)),
        ];
        return vec![layout(&[2, 4, 8_800], |sizes, place| place / sizes[2] / 2, channel, &[2, 2], &[4], named)];
    }
    let rows = |sizes: &[i64], place: i64| place / sizes[1];
    let columns = |sizes: &[i64], place: i64| place % sizes[1];
    let each = |sizes: &[i64; 2]| {
        let named = vec![("normalized_shape", fixed_value(vec![sizes[1]]))];
        layout(sizes, rows, columns, &[sizes[0], 1], &[sizes[1]], named)
    };
    vec![each(&[3, 23_417]), each(&[23_417, 3])]
}

fn create_trials(operator: &'static Operator, _: DTypeCategory, _: LineLayouts) -> Result<Vec<LargeTrial>, CallError> {
    let name = operator.name();
    if name.base.contains("weight_norm") || name.base == "norm_except_dim" {
        return [([3, 23_417], 0), ([23_417, 3], 1)]
            .into_iter()
            .map(|(sizes, dim)| weight_norm_trial(operator, &sizes, dim))
            .collect();
    }
    let layouts = norm_layouts(name.base);
    Ok(layouts
        .iter()
        .map(|parts| {
            if name.base.contains("backward") {
                norm_backward_trial(parts)
            } else {
                norm_forward_trial(operator, parts)
            }
        })
        .collect())
}

fn element_count(sizes: &[i64]) -> usize {
    to_usize(sizes.iter().product())
}

impl NormLayout {
    /// Returns each logical index with its group and its channel.
    fn indices_with_group_and_channel(&self) -> impl Iterator<Item = (usize, [usize; 2])> + '_ {
        let of = move |place: i64| [(self.group)(&self.sizes, place), (self.channel)(&self.sizes, place)].map(to_usize);
        (0..self.sizes.iter().product()).map(move |place| (to_usize(place), of(place)))
    }

    /// Returns the mean of `f` over each group.
    fn group_means(&self, f: impl Fn(usize, [usize; 2]) -> f64) -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); element_count(&self.groups)];
        self.indices_with_group_and_channel().for_each(|(place, at)| {
            sums[at[0]].0 += f(place, at);
            sums[at[0]].1 += 1.0;
        });
        sums.iter().map(|(sum, count)| sum / count).collect()
    }

    /// Returns the sum of `f` over each channel.
    fn channel_sums(&self, f: impl Fn(usize, [usize; 2]) -> f64) -> Array {
        let mut sums = vec![0.0; element_count(&self.channels)];
        self.indices_with_group_and_channel().for_each(|(place, at)| sums[at[1]] += f(place, at));
        Array::from_floats(&self.channels, &sums)
    }

    fn map_elements(&self, f: impl Fn(usize, [usize; 2]) -> f64) -> Array {
        let mut elements = vec![0.0; element_count(&self.sizes)];
        self.indices_with_group_and_channel().for_each(|(place, at)| elements[place] = f(place, at));
        Array::from_floats(&self.sizes, &elements)
    }

    fn input_array(&self) -> Array {
        DTypeCategory::Real.create_array(&self.sizes, |i| mostly_zero_number(i) + i % 3)
    }

    fn weight_array(&self) -> Array {
        DTypeCategory::Real.create_array(&self.channels, |i| i % 3 + 1)
    }
}

fn norm_forward_trial(operator: &'static Operator, parts: &NormLayout) -> LargeTrial {
    let base = operator.name().base;
    let (input, weight) = (parts.input_array(), parts.weight_array());
    let bias = DTypeCategory::Real.create_array(&parts.channels, |i| i % 2);
    let x = |place: usize| to_real(input.elements[place]);
    let is_given = base == "_native_batch_norm_legit_no_training";
    let takes_statistics = is_given || base.ends_with("update") || base == "_native_batch_norm_legit";
    let statistic = |f: fn(i64) -> i64| {
        if takes_statistics {
            DTypeCategory::Real.create_array(&parts.channels, f).into()
        } else {
            fixed_value(Value::None)
        }
    };
    let (means, squares) = if is_given {
        (vec![0.0, 1.0, 0.0], vec![2.0; 3])
    } else {
        let means = if parts.is_scaled {
            vec![0.0; element_count(&parts.groups)]
        } else {
            parts.group_means(|place, _| x(place))
        };
        let squares = parts.group_means(|place, at| (x(place) - means[at[0]]).powi(2));
        (means, squares)
    };
    let scales: Vec<f64> = squares.iter().map(|square| (square + NORM_EPS).sqrt().recip()).collect();
    let w = |at: [usize; 2]| to_real(weight.elements[at[1]]);
    let b = |at: [usize; 2]| if parts.is_scaled { 0.0 } else { to_real(bias.elements[at[1]]) };
    let out = parts.map_elements(|place, at| (x(place) - means[at[0]]) * scales[at[0]] * w(at) + b(at));
    let mut given: NamedArguments = vec![
        ("input", input.clone().into()),
        ("weight", weight.clone().into()),
        ("bias", bias.clone().into()),
        ("running_mean", statistic(|i| i % 2)),
        ("running_var", statistic(|_| 2)),
        ("training", fixed_value(true)),
        ("use_input_stats", fixed_value(true)),
        ("momentum", fixed_value(0.5)),
        ("eps", fixed_value(NORM_EPS)),
        ("cudnn_enabled", fixed_value(false)),
    ];
    given.extend(parts.named.clone());
    let mut expected = vec![ExpectedResult::Elements(out)];
    if operator.schema().returns.len() > 1 && !is_given {
        if !parts.is_scaled {
            expected.push(ExpectedResult::Elements(Array::from_floats(&parts.groups, &means)));
        }
        expected.push(ExpectedResult::Elements(Array::from_floats(&parts.groups, &scales)));
    }
    LargeTrial::new(format!("of {:?}", parts.sizes), given, expected)
}

/// Creates a trial of a backward operator, with means and scales that every dtype represents exactly.
fn norm_backward_trial(parts: &NormLayout) -> LargeTrial {
    const GIVEN_MEAN: f64 = 1.0;
    const GIVEN_SCALE: f64 = 0.5;
    let mean = if parts.is_scaled { 0.0 } else { GIVEN_MEAN };
    let (input, weight) = (parts.input_array(), parts.weight_array());
    let grad = DTypeCategory::Real.create_array(&parts.sizes, |i| mostly_zero_number(i + 11));
    let own = |place: usize| (to_real(input.elements[place]) - mean) * GIVEN_SCALE;
    let slope = |place: usize| to_real(grad.elements[place]);
    let weighted = |place: usize, at: [usize; 2]| slope(place) * to_real(weight.elements[at[1]]);
    let flat = if parts.is_scaled { vec![0.0; element_count(&parts.groups)] } else { parts.group_means(weighted) };
    let along = parts.group_means(|place, at| weighted(place, at) * own(place));
    let of_input =
        parts.map_elements(|place, at| GIVEN_SCALE * (weighted(place, at) - flat[at[0]] - own(place) * along[at[0]]));
    let of_weight = parts.channel_sums(|place, _| slope(place) * own(place));
    let of_bias = parts.channel_sums(|place, _| slope(place));
    let of_groups = |number: f64| Array::from_floats(&parts.groups, &vec![number; element_count(&parts.groups)]);
    let mut given: NamedArguments = vec![
        ("grad_out", grad.clone().into()),
        ("input", input.clone().into()),
        ("weight", weight.clone().into()),
        ("bias", parts.weight_array().into()),
        ("mean", of_groups(mean).into()),
        ("rstd", of_groups(GIVEN_SCALE).into()),
        ("save_mean", of_groups(mean).into()),
        ("save_invstd", of_groups(GIVEN_SCALE).into()),
        ("train", fixed_value(true)),
        ("eps", fixed_value(NORM_EPS)),
        ("output_mask", fixed_value(if parts.is_scaled { vec![true; 2] } else { vec![true; 3] })),
    ];
    given.extend(parts.named.clone());
    let mut expected = vec![ExpectedResult::Elements(of_input), ExpectedResult::Elements(of_weight)];
    if !parts.is_scaled {
        expected.push(ExpectedResult::Elements(of_bias));
    }
    LargeTrial::new(format!("of {:?}", parts.sizes), given, expected)
}

/// Creates a trial of a weight normalisation: each slice along `dim` has a direction and a norm.
fn weight_norm_trial(operator: &'static Operator, sizes: &[i64; 2], dim: usize) -> Result<LargeTrial, CallError> {
    let base = operator.name().base;
    let v = DTypeCategory::Real.create_array(sizes, mostly_zero_number);
    let mut norms = reduce_by_name("aten::linalg_vector_norm", &v, 1 - dim)?;
    let kept = norms.sizes.clone();
    let g = DTypeCategory::Real.create_array(&kept, |i| i + 1);
    let is_backward = base.contains("backward");
    if is_backward {
        // Every dtype represents these norms exactly.
        norms = DTypeCategory::Real.create_array(&kept, |_| 2);
    }
    let of =
        |place: usize| if dim == 0 { place / element_count(&sizes[1..]) } else { place % element_count(&sizes[1..]) };
    let at = |array: &Array, place: usize| to_real(array.elements[place]);
    let dims = fixed_value(i64::try_from(dim).unwrap_or(0));
    let label = format!("of {sizes:?}");
    let elements = |f: &dyn Fn(usize) -> f64| {
        Array::new(DType::F64, sizes, (0..v.elements.len()).map(|place| Scalar::Float(f(place))).collect())
    };
    if !is_backward {
        let scaled = elements(&|place| at(&v, place) * at(&g, of(place)) / at(&norms, of(place)));
        let expected = match base {
            "norm_except_dim" => vec![ExpectedResult::Elements(norms.clone())],
            "_weight_norm" => vec![ExpectedResult::Elements(scaled)],
            _ => vec![ExpectedResult::Elements(scaled), ExpectedResult::Elements(norms.clone())],
        };
        return Ok(LargeTrial::new(
            label,
            vec![("v", v.clone().into()), ("g", g.clone().into()), ("dim", dims)],
            expected,
        ));
    }
    let grad = DTypeCategory::Real.create_array(sizes, |i| mostly_zero_number(i + 11));
    let mut along = vec![0.0; g.elements.len()];
    (0..v.elements.len()).for_each(|place| along[of(place)] += at(&grad, place) * at(&v, place));
    let of_v = elements(&|place| {
        let (norm, along) = (at(&norms, of(place)), along[of(place)]);
        at(&g, of(place)) / norm * (at(&grad, place) - at(&v, place) * along / (norm * norm))
    });
    let of_g = along.iter().zip(&norms.elements).map(|(along, norm)| Scalar::Float(along / to_real(*norm)));
    let of_g = Array::new(DType::F64, &kept, of_g.collect());
    let given: NamedArguments = vec![
        ("grad_w", grad.clone().into()),
        ("saved_v", v.clone().into()),
        ("saved_g", g.clone().into()),
        ("saved_norms", norms.clone().into()),
        ("dim", dims),
    ];
    Ok(LargeTrial::new(label, given, vec![ExpectedResult::Elements(of_v), ExpectedResult::Elements(of_g)]))
}
