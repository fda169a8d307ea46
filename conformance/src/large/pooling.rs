//! Large calls of pooling operators: the windows do not overlap, so the expected image is pooled tile by tile.

use dispatch_checks::plumbing::{Array, CallError, to_complex, to_integer};
use dispatch_runtime::{DType, Geometry, Operator, Scalar};

use super::gather::{multi_index, to_i64, to_usize};
use super::input::{ArrayLines, DTypeCategory, varied_number};
use super::reduction::reduce_by_name;
use super::trial::{ExpectedResult, LargeArgument, LargeTrial, NamedArguments, call_small, fixed_tensor, fixed_value};
use super::{LineLayouts, TrialFamily};

pub(super) const POOLING_FAMILY: TrialFamily = TrialFamily {
    names: &[
        "aten::avg_pool1d",
        "aten::avg_pool2d",
        "aten::avg_pool3d",
        "aten::max_pool1d",
        "aten::max_pool2d",
        "aten::max_pool3d",
        "aten::max_pool1d_with_indices",
        "aten::max_pool2d_with_indices",
        "aten::max_pool3d_with_indices",
        "aten::adaptive_avg_pool1d",
        "aten::adaptive_avg_pool2d",
        "aten::adaptive_avg_pool3d",
        "aten::_adaptive_avg_pool2d",
        "aten::_adaptive_avg_pool3d",
        "aten::adaptive_max_pool1d",
        "aten::adaptive_max_pool2d",
        "aten::adaptive_max_pool3d",
        "aten::avg_pool2d_backward",
        "aten::avg_pool3d_backward",
        "aten::_adaptive_avg_pool2d_backward",
        "aten::_adaptive_avg_pool3d_backward",
        "aten::max_pool2d_with_indices_backward",
        "aten::max_pool3d_with_indices_backward",
        "aten::adaptive_max_pool2d_backward",
        "aten::adaptive_max_pool3d_backward",
        "aten::fractional_max_pool2d_backward",
        "aten::fractional_max_pool3d_backward",
        "aten::max_unpool2d",
        "aten::max_unpool3d",
    ],
    kinds: DTypeCategory::ORDERED,
    trials: create_trials,
};

/// A partition of an image: the sizes of the image and of a tile, with the channels first, and the size of a window.
struct Tiling {
    rank: usize,
    image: &'static [i64],
    tile: &'static [i64],
    window: i64,
}

const TILINGS: [Tiling; 3] = [
    Tiling { rank: 1, image: &[2, 36_036], tile: &[1, 99], window: 3 },
    Tiling { rank: 2, image: &[2, 198, 198], tile: &[1, 9, 9], window: 3 },
    Tiling { rank: 3, image: &[1, 44, 44, 44], tile: &[1, 4, 4, 4], window: 2 },
];

impl Tiling {
    /// Returns the sizes after pooling.
    fn pooled_sizes(&self, sizes: &[i64]) -> Vec<i64> {
        sizes[..1].iter().copied().chain(sizes[1..].iter().map(|size| size / self.window)).collect()
    }

    /// Returns the image reshaped to one row per channel.
    fn flatten_channels(&self, image: &Array) -> Array {
        image.reshaped(&[self.image[0], self.image[1..].iter().product()])
    }

    /// Returns the index of the first element of each tile in an array of these sizes.
    fn tile_origins(sizes: &[i64], tile: &[i64]) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new()];
        for (&size, &tile) in sizes.iter().zip(tile) {
            let starts: Vec<usize> = (0..size).step_by(usize::try_from(tile).unwrap_or(1)).map(to_usize).collect();
            all = all.iter().flat_map(|at| starts.iter().map(move |&start| [&at[..], &[start]].concat())).collect();
        }
        all
    }

    /// Returns the arguments that are no tensors, for an image of these sizes.
    fn non_tensor_arguments(&self, operator: &Operator, sizes: &[i64]) -> NamedArguments {
        let window = || fixed_value(vec![self.window; self.rank]);
        let pooled = self.pooled_sizes(sizes)[1..].to_vec();
        let is_unpooling = operator.name().base.contains("unpool");
        let given: [(&'static str, LargeArgument); 8] = [
            ("kernel_size", window()),
            ("stride", window()),
            ("padding", fixed_value(vec![0_i64; self.rank])),
            ("dilation", fixed_value(vec![1_i64; self.rank])),
            ("ceil_mode", fixed_value(false)),
            ("count_include_pad", fixed_value(true)),
            ("output_size", fixed_value(if is_unpooling { sizes[1..].to_vec() } else { pooled })),
            ("return_indices", fixed_value(true)),
        ];
        given.into_iter().filter(|(name, _)| operator.schema().argument(name).is_some()).collect()
    }
}

fn create_trials(
    operator: &'static Operator,
    kind: DTypeCategory,
    _: LineLayouts,
) -> Result<Vec<LargeTrial>, CallError> {
    let name = operator.name();
    let Some(tiling) = TILINGS.iter().find(|tiling| name.base.contains(&format!("{}d", tiling.rank))) else {
        return Ok(Vec::new());
    };
    let image = kind.create_array(tiling.image, |i| varied_number(i) / 2 + i % 7);
    let pooled = kind.create_array(&tiling.pooled_sizes(tiling.image), |i| varied_number(i + 3) / 2);
    let needs_places = operator.schema().argument("indices").is_some();
    let places = if needs_places { Some(one_index_per_window(tiling)) } else { None };
    let is_backward = name.base.contains("backward");
    let is_unpooling = name.base.contains("unpool");
    let mut given = tiling.non_tensor_arguments(operator, tiling.image);
    if is_unpooling {
        given.push(("self", pooled.clone().into()));
    } else {
        given.push(("self", image.clone().into()));
    }
    if is_backward {
        given.push(("grad_output", pooled.clone().into()));
    }
    if let Some(places) = &places {
        given.push(("indices", fixed_tensor(places.clone())));
    }
    let result_sizes =
        if is_backward || is_unpooling { tiling.image.to_vec() } else { tiling.pooled_sizes(tiling.image) };
    let result_tile = if is_backward || is_unpooling { tiling.tile.to_vec() } else { tiling.pooled_sizes(tiling.tile) };
    let count = to_usize(result_sizes.iter().product());
    let mut results = Vec::<Array>::new();
    let small_tile = tiling.pooled_sizes(tiling.tile);
    for (origin, own) in
        Tiling::tile_origins(tiling.image, tiling.tile).iter().zip(Tiling::tile_origins(&pooled.sizes, &small_tile))
    {
        let mut call = tiling.non_tensor_arguments(operator, tiling.tile);
        let (part, slopes) = (copy_tile(&image, origin, tiling.tile), copy_tile(&pooled, &own, &small_tile));
        if is_unpooling {
            call.push(("self", slopes.into()));
        } else {
            call.push(("self", part.into()));
            if is_backward {
                call.push(("grad_output", slopes.into()));
            }
        }
        if let Some(places) = &places {
            call.push((
                "indices",
                fixed_tensor(translate_indices(tiling, &copy_tile(places, &own, &small_tile), origin, false)),
            ));
        }
        let start = if is_backward || is_unpooling { origin } else { &own };
        for (at, found) in call_small(operator, &call)?.into_iter().enumerate() {
            if results.len() <= at {
                results.push(Array::new(found.dtype, &result_sizes, vec![Scalar::Int(0); count]));
            }
            let found = if at == 1 { translate_indices(tiling, &found, origin, true) } else { found };
            write_tile(&mut results[at], &found, start, &result_tile);
        }
    }
    let mut expected = Vec::new();
    for (at, result) in results.iter().enumerate() {
        expected.push(if at == 1 {
            // Any index of a largest element is correct.
            ExpectedResult::Indices { of: tiling.flatten_channels(&image), dim: Some(1), values: results[0].clone() }
        } else {
            ExpectedResult::Elements(result.clone())
        });
    }
    let mut trials = vec![LargeTrial::new(format!("{:?}", tiling.image), given, expected)];
    if name.base.contains("adaptive") && !is_backward {
        trials.push(single_window_trial(operator, tiling, &image)?);
    }
    Ok(trials)
}

/// Creates a trial that pools each channel of the image to one element.
fn single_window_trial(operator: &'static Operator, tiling: &Tiling, image: &Array) -> Result<LargeTrial, CallError> {
    let flat = tiling.flatten_channels(image);
    let is_average = operator.name().base.contains("avg");
    let name = if is_average { "aten::sum.dim_IntList" } else { "aten::amax" };
    let mut found = reduce_by_name(name, &flat, 1)?;
    if is_average {
        #[expect(clippy::cast_precision_loss, reason = "an image has fewer than 2^52 elements")]
        let area = flat.sizes[1] as f64;
        found.elements.iter_mut().for_each(|x| *x = Scalar::Float(to_complex(*x).re / area));
    }
    let mut sizes = vec![1; tiling.rank + 1];
    sizes[0] = tiling.image[0];
    let values = found.reshaped(&sizes);
    let mut expected = vec![ExpectedResult::Elements(values.clone())];
    if operator.schema().returns.len() == 2 {
        expected.push(ExpectedResult::Indices { of: flat, dim: Some(1), values });
    }
    let given = vec![
        ("self", LargeArgument::CastTensor(image.clone())),
        ("output_size", fixed_value(vec![1_i64; tiling.rank])),
    ];
    Ok(LargeTrial::new("under one window", given, expected))
}

/// Returns, for each window, the index within the channel of one of its elements.
fn one_index_per_window(tiling: &Tiling) -> Array {
    let sizes = tiling.pooled_sizes(tiling.image);
    let count: i64 = sizes.iter().product();
    let whole = Geometry::contiguous(tiling.image);
    let place = |number: i64| {
        let at = multi_index(number, &sizes).into_iter().zip(whole.strides()).zip(0..).skip(1);
        Scalar::Int(at.map(|((at, stride), dim)| (at * tiling.window + (number + dim) % tiling.window) * stride).sum())
    };
    Array::new(DType::I64, &sizes, (0..count).map(place).collect())
}

/// Converts indices within a channel of a tile to indices within a channel of the image, or back.
fn translate_indices(tiling: &Tiling, places: &Array, origin: &[usize], outwards: bool) -> Array {
    let (from, to) = if outwards { (tiling.tile, tiling.image) } else { (tiling.image, tiling.tile) };
    let (whole, sign) = (Geometry::contiguous(&to[1..]), if outwards { 1 } else { -1 });
    let shift = |place: i64| -> i64 {
        let at = multi_index(place, &from[1..]).into_iter().zip(&origin[1..]).zip(whole.strides());
        at.map(|((at, &start), stride)| (at + sign * to_i64(start)) * stride).sum()
    };
    let elements = places.elements.iter().map(|place| Scalar::Int(shift(to_integer(*place)))).collect();
    Array::new(DType::I64, &places.sizes, elements)
}

/// Returns the logical index in the whole array of each element of a tile.
fn tile_indices(whole: &[i64], origin: &[usize], tile: &[i64]) -> Vec<usize> {
    let whole = Geometry::contiguous(whole);
    let start = origin.iter().zip(whole.strides()).map(|(&at, stride)| to_i64(at) * stride).sum();
    dispatch_checks::plumbing::storage_indices(tile, whole.strides(), start)
}

/// Returns a tile of the whole array.
fn copy_tile(whole: &Array, origin: &[usize], tile: &[i64]) -> Array {
    let places = tile_indices(&whole.sizes, origin, tile);
    Array::new(whole.dtype, tile, places.iter().map(|&at| whole.elements[at]).collect())
}

/// Writes a tile into the whole array.
fn write_tile(whole: &mut Array, tile: &Array, origin: &[usize], sizes: &[i64]) {
    let places = tile_indices(&whole.sizes, origin, sizes);
    places.iter().zip(&tile.elements).for_each(|(&at, &element)| whole.elements[at] = element);
}
