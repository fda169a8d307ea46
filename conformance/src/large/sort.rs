//! Large calls of operators that sort or compare: the expected results are computed by one stable sort.

use std::cmp::Ordering;

use dispatch_checks::plumbing::{Array, CallError, to_real};
use dispatch_runtime::{DType, Operator, Scalar};

use super::input::{ArrayLines, DTypeCategory, LineLayout, varied_number};
use super::trial::{ExpectedResult, LargeArgument, LargeTrial, NamedArguments, fixed_value};
use super::{LineLayouts, TrialFamily};

pub(super) const SORT_FAMILY: TrialFamily = TrialFamily {
    names: &[
        "aten::sort",
        "aten::sort.stable",
        "aten::argsort",
        "aten::argsort.stable",
        "aten::msort",
        "aten::topk",
        "aten::kthvalue",
        "aten::median",
        "aten::median.dim",
        "aten::nanmedian",
        "aten::nanmedian.dim",
        "aten::mode",
        "aten::quantile",
        "aten::quantile.scalar",
        "aten::nanquantile",
        "aten::nanquantile.scalar",
        "aten::_unique",
        "aten::_unique2",
        "aten::unique_consecutive",
        "aten::searchsorted.Tensor",
        "aten::searchsorted.Scalar",
        "aten::bucketize.Tensor",
        "aten::bucketize.Scalar",
        "aten::isin.Tensor_Tensor",
        "aten::isin.Tensor_Scalar",
        "aten::isin.Scalar_Tensor",
    ],
    kinds: DTypeCategory::ORDERED,
    trials: create_trials,
};

#[expect(clippy::unnecessary_wraps, reason = "the functions of all families have one type")]
fn create_trials(
    operator: &'static Operator,
    kind: DTypeCategory,
    layouts: LineLayouts,
) -> Result<Vec<LargeTrial>, CallError> {
    let name = operator.name();
    let of = |lines: &LineLayout| -> Vec<LargeTrial> {
        let array = lines.create_array(kind, varied_number);
        match name.base {
            "sort" | "argsort" | "msort" => sort_trials(operator, *lines, &array),
            "topk" | "kthvalue" | "mode" | "median" | "nanmedian" => rank_selection_trials(operator, *lines, &array),
            "quantile" | "nanquantile" if kind == DTypeCategory::Real => quantile_trials(operator, *lines, &array),
            "quantile" | "nanquantile" => Vec::new(),
            "_unique" | "_unique2" | "unique_consecutive" => unique_trials(operator, *lines, kind),
            _ => search_trials(operator, *lines, kind),
        }
    };
    Ok(layouts.iter().flat_map(of).collect())
}

fn compare_scalars(a: Scalar, b: Scalar) -> Ordering {
    to_real(a).total_cmp(&to_real(b))
}

/// Returns, for each line along a dimension, its logical indices, and the order of its elements.
fn line_orders(array: &Array, dim: usize, descending: bool) -> Vec<(Vec<usize>, Vec<usize>)> {
    let sorted = array.line_indices(dim).map(|line| {
        let mut order: Vec<usize> = (0..line.len()).collect();
        let by = |&a: &usize, &b: &usize| compare_scalars(array.elements[line[a]], array.elements[line[b]]);
        order.sort_by(|a, b| if descending { by(b, a) } else { by(a, b) });
        (line, order)
    });
    sorted.collect()
}

fn index_to_scalar(position: usize) -> Scalar {
    Scalar::Int(i64::try_from(position).unwrap_or(i64::MAX))
}

fn self_and_dim_arguments(array: &Array, dim: usize) -> NamedArguments {
    vec![("self", LargeArgument::CastTensor(array.clone())), ("dim", fixed_value(i64::try_from(dim).unwrap_or(0)))]
}

fn sort_trials(operator: &'static Operator, lines: LineLayout, array: &Array) -> Vec<LargeTrial> {
    let name = operator.name();
    let (of, has_dim) = (array.contiguous(), operator.schema().argument("dim").is_some());
    if !has_dim && lines.dim != 0 {
        return Vec::new();
    }
    let directions: &[bool] = if has_dim { &[false, true] } else { &[false] };
    let trial = |&descending: &bool| {
        let (mut values, mut indices) = (of.clone(), Array { dtype: DType::I64, ..of.clone() });
        for (line, order) in line_orders(&of, lines.dim, descending) {
            for (&to, from) in line.iter().zip(order) {
                values.elements[to] = of.elements[line[from]];
                indices.elements[to] = index_to_scalar(from);
            }
        }
        let is_stable = name.overload == "stable";
        let positions = if is_stable {
            ExpectedResult::Elements(indices)
        } else {
            ExpectedResult::Indices { of: of.clone(), dim: Some(lines.dim), values: values.clone() }
        };
        let mut given = self_and_dim_arguments(array, lines.dim);
        if is_stable {
            given.push(("stable", fixed_value(true)));
        }
        if has_dim {
            given.push(("descending", fixed_value(descending)));
        }
        let expected = match name.base {
            "argsort" => vec![positions],
            "msort" => vec![ExpectedResult::Elements(values)],
            _ => vec![ExpectedResult::Elements(values), positions],
        };
        LargeTrial::new(format!("{}, descending: {descending}", lines.label()), given, expected)
    };
    directions.iter().map(trial).collect()
}

/// Creates trials of operators that select elements of each line by rank or frequency.
fn rank_selection_trials(operator: &'static Operator, lines: LineLayout, array: &Array) -> Vec<LargeTrial> {
    let (name, of) = (operator.name(), array.contiguous());
    let of_all = operator.schema().argument("dim").is_none();
    let (of, dim) = if of_all { (of.flattened(), 0) } else { (of, lines.dim) };
    let (_, length, _) = of.size_products_around(dim);
    let count = if name.base == "topk" { (length / 3).clamp(1, 1000) } else { 1 };
    let all = line_orders(&of, dim, name.base == "topk");
    let mut sizes = of.sizes.clone();
    sizes[dim] = i64::try_from(count).unwrap_or(0);
    let mut values = Array::new(of.dtype, &sizes, vec![Scalar::Int(0); all.len() * count]);
    for ((line, order), to) in all.iter().zip(values.line_indices(dim)) {
        let at = |rank: usize| of.elements[line[order[rank]]];
        let picks = match name.base {
            "topk" => (0..count).map(at).collect(),
            "kthvalue" => vec![at(2 * length / 3)],
            "mode" => vec![most_frequent(&(0..length).map(at).collect::<Vec<_>>())],
            _ => vec![at((length - 1) / 2)],
        };
        to.iter().zip(picks).for_each(|(&to, value)| values.elements[to] = value);
    }
    if of_all {
        let expected = vec![ExpectedResult::Elements(values.reshaped(&[]))];
        return vec![LargeTrial::new(
            lines.label(),
            vec![("self", LargeArgument::CastTensor(array.clone()))],
            expected,
        )];
    }
    let mut given = self_and_dim_arguments(array, dim);
    match name.base {
        "topk" => given.push(("k", fixed_value(i64::try_from(count).unwrap_or(0)))),
        "kthvalue" => given.push(("k", fixed_value(i64::try_from(2 * length / 3 + 1).unwrap_or(0)))),
        _ => {}
    }
    if name.base != "topk" {
        given.push(("keepdim", fixed_value(true)));
    }
    let positions = ExpectedResult::Indices { of, dim: Some(dim), values: values.clone() };
    vec![LargeTrial::new(lines.label(), given, vec![ExpectedResult::Elements(values), positions])]
}

/// Returns the most frequent of sorted scalars, and the least of several that are equally frequent.
fn most_frequent(sorted: &[Scalar]) -> Scalar {
    let runs = sorted.chunk_by(|&a, &b| compare_scalars(a, b).is_eq());
    let longest = runs.reduce(|best, run| if run.len() > best.len() { run } else { best });
    longest.map_or(Scalar::Int(0), |run| run[0])
}

fn quantile_trials(operator: &'static Operator, lines: LineLayout, array: &Array) -> Vec<LargeTrial> {
    const QUANTILES: [f64; 3] = [0.25, 0.5, 0.999];
    let of = array.contiguous();
    let all = line_orders(&of, lines.dim, false);
    let at_share = |share: f64, line: &[usize], order: &[usize]| {
        #[expect(clippy::cast_precision_loss, reason = "a line has fewer than 2^52 elements")]
        let place = share * (order.len() - 1) as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the position is inside of a line")]
        let below = place.floor() as usize;
        let value = |rank: usize| to_real(of.elements[line[order[rank.min(order.len() - 1)]]]);
        Scalar::Float(value(below) + (value(below + 1) - value(below)) * place.fract())
    };
    let mut sizes = of.sizes.clone();
    sizes[lines.dim] = 1;
    let of_share = |share: f64| all.iter().map(|(line, order)| at_share(share, line, order)).collect::<Vec<Scalar>>();
    let mut given = self_and_dim_arguments(array, lines.dim);
    given.push(("keepdim", fixed_value(true)));
    if operator.name().overload == "scalar" {
        given.push(("q", fixed_value(QUANTILES[0])));
        let values = Array::new(of.dtype, &sizes, of_share(QUANTILES[0]));
        return vec![LargeTrial::new(lines.label(), given, vec![ExpectedResult::Elements(values)])];
    }
    given.push(("q", LargeArgument::CastTensor(Array::from_floats(&[3], &QUANTILES))));
    sizes.insert(0, 3);
    let values = Array::new(of.dtype, &sizes, QUANTILES.iter().flat_map(|&share| of_share(share)).collect());
    vec![LargeTrial::new(lines.label(), given, vec![ExpectedResult::Elements(values)])]
}

fn unique_trials(operator: &'static Operator, lines: LineLayout, kind: DTypeCategory) -> Vec<LargeTrial> {
    let is_consecutive = operator.name().base == "unique_consecutive";
    // Runs of nine equal elements. Neighbouring runs may be equal.
    let array = lines.create_array(kind, |i| if is_consecutive { varied_number(i / 9) / 3 } else { varied_number(i) });
    let of = array.contiguous();
    let mut order: Vec<usize> = (0..of.elements.len()).collect();
    if !is_consecutive {
        order.sort_by(|&a, &b| compare_scalars(of.elements[a], of.elements[b]));
    }
    let (mut values, mut counts) = (Vec::new(), Vec::new());
    let mut inverse = vec![Scalar::Int(0); order.len()];
    for run in order.chunk_by(|&a, &b| compare_scalars(of.elements[a], of.elements[b]).is_eq()) {
        for &at in run {
            inverse[at] = index_to_scalar(values.len());
        }
        values.push(of.elements[run[0]]);
        counts.push(index_to_scalar(run.len()));
    }
    let count = [i64::try_from(values.len()).unwrap_or(0)];
    let mut given: NamedArguments =
        vec![("self", LargeArgument::CastTensor(array)), ("return_inverse", fixed_value(true))];
    let mut expected = vec![
        ExpectedResult::Elements(Array::new(of.dtype, &count, values)),
        ExpectedResult::Elements(Array::new(DType::I64, &of.sizes, inverse)),
    ];
    if operator.schema().argument("return_counts").is_some() {
        given.push(("return_counts", fixed_value(true)));
        expected.push(ExpectedResult::Elements(Array::new(DType::I64, &count, counts)));
    }
    vec![LargeTrial::new(lines.label(), given, expected)]
}

/// Creates trials of operators that search elements in a tensor.
fn search_trials(operator: &'static Operator, lines: LineLayout, kind: DTypeCategory) -> Vec<LargeTrial> {
    let name = operator.name();
    let length = lines.sizes.iter().product::<i64>();
    let rising = kind.create_array(&[length], |i| i * 100 / length);
    let many = lines.create_array(kind, |i| varied_number(i).abs());
    let few = kind.create_array(&[4], |i| [0, 7, 50, 100][usize::try_from(i).unwrap_or(0)]);
    let wanted = if name.overload.ends_with("Scalar") || name.overload.starts_with("Scalar") { 50 } else { 0 };
    let scalar = |number: i64| fixed_value(kind.to_scalar(number));
    let below = |sequence: &Array, x: Scalar, right: bool| {
        sequence.elements.partition_point(|&y| to_real(y) < to_real(x) || right && to_real(y) <= to_real(x))
    };
    let places = |queries: &Array, right: bool| {
        let places = queries.elements.iter().map(|&x| index_to_scalar(below(&rising, x, right)));
        ExpectedResult::Elements(Array::new(DType::I64, &queries.sizes, places.collect()))
    };
    let among = |elements: &Array, tests: &Array| {
        let is_in = |x: &Scalar| tests.elements.iter().any(|y| compare_scalars(*x, *y).is_eq());
        let found = elements.elements.iter().map(|x| Scalar::Bool(is_in(x)));
        ExpectedResult::Elements(Array::new(DType::Bool, &elements.sizes, found.collect()))
    };
    let one = Array::new(kind.reference_dtype(), &[], vec![kind.to_scalar(wanted)]);
    match (name.base, name.overload) {
        ("searchsorted" | "bucketize", overload) => {
            let sequence = if name.base == "bucketize" { "boundaries" } else { "sorted_sequence" };
            let (label, looked_for, queries) = match overload {
                "Tensor" => (lines.label(), many.clone().into(), many.contiguous()),
                _ => ("one".to_owned(), scalar(wanted), one),
            };
            let trial = |right: bool| {
                let given = vec![
                    (sequence, rising.clone().into()),
                    ("self", looked_for.clone()),
                    ("right", fixed_value(right)),
                ];
                LargeTrial::new(format!("{label}, right: {right}"), given, vec![places(&queries, right)])
            };
            vec![trial(false), trial(true)]
        }
        (_, "Tensor_Tensor") => {
            let trial = |label: String, elements: &Array, tests: &Array| {
                let given = vec![("elements", elements.clone().into()), ("test_elements", tests.clone().into())];
                LargeTrial::new(label, given, vec![among(&elements.contiguous(), tests)])
            };
            let label = lines.label();
            vec![trial(format!("{label} in few"), &many, &few), trial(format!("few in {label}"), &few, &many)]
        }
        (_, "Tensor_Scalar") => {
            let given = vec![("elements", many.clone().into()), ("test_element", scalar(wanted))];
            vec![LargeTrial::new(lines.label(), given, vec![among(&many.contiguous(), &one)])]
        }
        _ => {
            let given = vec![("element", scalar(wanted)), ("test_elements", many.clone().into())];
            vec![LargeTrial::new(lines.label(), given, vec![among(&one, &many.contiguous())])]
        }
    }
}
