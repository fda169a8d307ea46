//! Large calls of histograms: the expected counts are sums of the counts of slices.

use dispatch_checks::plumbing::{Array, CallError, to_complex};
use dispatch_runtime::{Operator, Scalar, Value};

use super::input::{ArrayLines, DTypeCategory, varied_number};
use super::trial::{ExpectedResult, LargeArgument, LargeTrial, NamedArguments, call_small, fixed_value};
use super::{LineLayouts, MAX_TRUSTED_ELEMENTS, TrialFamily};

pub(super) const HISTOGRAM_FAMILY: TrialFamily = TrialFamily {
    names: &[
        "aten::bincount",
        "aten::histc",
        "aten::histogram.bin_ct",
        "aten::histogram.bins_tensor",
        "aten::histogramdd",
        "aten::histogramdd.TensorList_bins",
        "aten::histogramdd.int_bins",
        "aten::_histogramdd_bin_edges",
        "aten::_histogramdd_from_bin_cts",
        "aten::_histogramdd_from_bin_tensors",
    ],
    kinds: DTypeCategory::ORDERED,
    trials: create_trials,
};

const ELEMENT_COUNT: i64 = 70_253;

fn create_trials(
    operator: &'static Operator,
    kind: DTypeCategory,
    _: LineLayouts,
) -> Result<Vec<LargeTrial>, CallError> {
    let name = operator.name();
    let (line, points) = (
        kind.create_array(&[ELEMENT_COUNT], varied_number),
        kind.create_array(&[ELEMENT_COUNT / 2 + 1, 2], varied_number),
    );
    let edges = kind.create_array(&[11], |i| i * 20 - 100);
    let ends: Value = vec![-100.5, 100.5].into();
    let both: Value = vec![-100.5, 100.5, -100.5, 100.5].into();
    let variants: Vec<(Array, NamedArguments)> = match (name.base, name.overload) {
        ("bincount", _) => {
            let positive = kind.create_array(&[ELEMENT_COUNT], |i| varied_number(i).abs());
            vec![(positive, vec![("minlength", fixed_value(101_i64))])]
        }
        ("histc", _) => vec![
            (
                line.clone(),
                vec![("bins", fixed_value(7_i64)), ("min", fixed_value(-100_i64)), ("max", fixed_value(100_i64))],
            ),
            // All elements are in one bin.
            (line, vec![("bins", fixed_value(1_i64)), ("min", fixed_value(-101_i64)), ("max", fixed_value(101_i64))]),
        ],
        ("histogram", "bin_ct") => vec![(line, vec![("bins", fixed_value(9_i64)), ("range", fixed_value(ends))])],
        ("histogram", _) => vec![(line, vec![("bins", LargeArgument::CastTensor(edges))])],
        ("histogramdd", "TensorList_bins") | ("_histogramdd_from_bin_tensors", _) => {
            let bins = LargeArgument::CastTensors(vec![edges.clone(), edges]);
            vec![(points, vec![("bins", bins)])]
        }
        ("histogramdd", "int_bins") => vec![(points, vec![("bins", fixed_value(5_i64)), ("range", fixed_value(both))])],
        _ => vec![(points, vec![("bins", fixed_value(vec![5_i64, 3])), ("range", fixed_value(both))])],
    };
    let trial = |(array, extra): (Array, NamedArguments)| {
        let rows = MAX_TRUSTED_ELEMENTS / array.size_products_around(0).2;
        let length = array.size_products_around(0).1;
        let mut expected: Vec<Array> = Vec::new();
        for from in (0..length).step_by(rows) {
            let mut given = extra.clone();
            given.push(("self", array.narrowed(0, from, rows.min(length - from)).into()));
            let found = call_small(operator, &given)?;
            match expected.first_mut().filter(|_| name.base != "_histogramdd_bin_edges") {
                Some(counts) => add_counts(counts, &found[0]),
                None => expected = found,
            }
        }
        let mut given = extra;
        given.push(("self", array.into()));
        Ok(LargeTrial::new("counted", given, expected.into_iter().map(ExpectedResult::Elements).collect()))
    };
    variants.into_iter().map(trial).collect()
}

fn add_counts(counts: &mut Array, more: &Array) {
    for (count, more) in counts.elements.iter_mut().zip(&more.elements) {
        *count = match (*count, *more) {
            (Scalar::Int(a), Scalar::Int(b)) => Scalar::Int(a + b),
            (a, b) => Scalar::Float(to_complex(a).re + to_complex(b).re),
        };
    }
}
