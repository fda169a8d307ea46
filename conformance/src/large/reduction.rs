//! Large calls of reductions: the expected results are merged from partial results, by the same or by another reduction.

use dispatch_checks::plumbing::{Array, CallError, to_complex};
use dispatch_runtime::schema::TypeKind;
use dispatch_runtime::{Operator, Scalar, Value};

use super::input::{ArrayLines, DTypeCategory, mostly_zero_number, varied_number};
use super::trial::{
    ExpectedResult, LargeArgument, LargeTrial, NamedArguments, call_small, call_small_by_name, fixed_value,
};
use super::{LineLayouts, MAX_TRUSTED_ELEMENTS, TrialFamily};

pub(super) const REDUCTION_FAMILY: TrialFamily = TrialFamily {
    names: &[
        "aten::sum",
        "aten::sum.dim_IntList",
        "aten::nansum",
        "aten::prod",
        "aten::prod.dim_int",
        "aten::amax",
        "aten::amin",
        "aten::aminmax",
        "aten::max",
        "aten::min",
        "aten::any",
        "aten::any.dim",
        "aten::any.dims",
        "aten::all",
        "aten::all.dim",
        "aten::all.dims",
        "aten::count_nonzero",
        "aten::count_nonzero.dim_IntList",
        "aten::logsumexp",
        "aten::linalg_vector_norm",
        "aten::norm.Scalar",
        "aten::norm.ScalarOpt_dim",
        "aten::norm.ScalarOpt_dtype",
        "aten::norm.ScalarOpt_dim_dtype",
        "aten::frobenius_norm.dim",
        "aten::mean",
        "aten::mean.dim",
        "aten::nanmean",
        "aten::trace",
    ],
    kinds: &DTypeCategory::ALL,
    trials: create_trials,
};

/// The method that merges partial results.
#[derive(Clone, Copy)]
enum PartialMerge {
    /// By the operator itself.
    SameOperator,
    /// By other operators, one for each result.
    OtherOperators(&'static [&'static str]),
    /// By a mean, weighted by the number of elements of each partial result.
    WeightedMean,
}

const SUM_OPERATOR: &str = "aten::sum.dim_IntList";

fn merge_for(base: &str) -> PartialMerge {
    match base {
        "count_nonzero" => PartialMerge::OtherOperators(&[SUM_OPERATOR]),
        "aminmax" => PartialMerge::OtherOperators(&["aten::amin", "aten::amax"]),
        "mean" | "nanmean" => PartialMerge::WeightedMean,
        _ => PartialMerge::SameOperator,
    }
}

/// Returns the variants of a reduction: a label, arguments other than the dimension, and a merge that replaces the usual one.
fn reduction_variants(base: &str) -> Vec<(&'static str, NamedArguments, Option<PartialMerge>)> {
    let order = |name, order: f64| (name, fixed_value(Scalar::Float(order)));
    let by = |name: &'static str| {
        let orders = [("1", 1.0), ("2", 2.0), ("3", 3.0), ("inf", f64::INFINITY), ("-inf", f64::NEG_INFINITY)];
        let mut all: Vec<_> = orders.iter().map(|&(label, p)| (label, vec![order(name, p)], None)).collect();
        all.push(("0", vec![order(name, 0.0)], Some(PartialMerge::OtherOperators(&[SUM_OPERATOR]))));
        all
    };
    match base {
        "linalg_vector_norm" => by("ord"),
        "norm" => by("p"),
        _ => vec![("", Vec::new(), None)],
    }
}

/// Returns the elements to reduce. For products and extremes, a few elements differ from the others.
fn element_function(base: &str) -> fn(i64) -> i64 {
    match base {
        "prod" => |i| if i % 23_417 % 3001 == 7 { 2 } else { 1 - 2 * i64::from(i % 3 == 1) },
        // One element differs, near the end of each line.
        "all" => |i| i64::from(i % 23_417 != 23_390),
        "any" => |i| i64::from(i % 23_417 == 23_390),
        "amax" | "amin" | "aminmax" | "max" | "min" => |i| varied_number(i) / 2 + if i == 23_390 { 60 } else { 0 },
        _ => mostly_zero_number,
    }
}

fn create_trials(
    operator: &'static Operator,
    kind: DTypeCategory,
    layouts: LineLayouts,
) -> Result<Vec<LargeTrial>, CallError> {
    let name = operator.name();
    if name.base == "trace" {
        return trace_trials(operator, kind);
    }
    let mut trials = Vec::new();
    for (label, extra, way) in reduction_variants(name.base) {
        for lines in layouts {
            let array = lines.create_array(kind, element_function(name.base));
            let way = way.unwrap_or_else(|| merge_for(name.base));
            let expected = reduce_in_parts(operator, &array, lines.dim, &extra, way)?;
            let expected = expected.into_iter().map(ExpectedResult::Elements).collect();
            let given = reduction_arguments(operator, array, lines.dim, extra.clone());
            trials.push(LargeTrial::new(format!("{} {label}", lines.label()), given, expected));
        }
    }
    Ok(trials)
}

/// Returns the arguments that reduce an array over a dimension, or over all elements if the operator has no `dim`.
fn reduction_arguments(operator: &Operator, array: Array, dim: usize, extra: NamedArguments) -> NamedArguments {
    let mut given = extra;
    given.push(("self", LargeArgument::CastTensor(array)));
    if let Some((_, argument)) = operator.schema().argument("dim") {
        let dim = i64::try_from(dim).unwrap_or(0);
        let is_list = matches!(argument.ty.without_optional().kind, TypeKind::List(..));
        given.push(("dim", fixed_value(if is_list { Value::from(vec![dim]) } else { dim.into() })));
    }
    if operator.schema().argument("keepdim").is_some() {
        given.push(("keepdim", fixed_value(true)));
    }
    if operator.name().overload.ends_with("dtype") {
        given.push(("dtype", LargeArgument::DTypeArgument));
    }
    given
}

/// Computes the results of a reduction from partial results of few elements.
fn reduce_in_parts(
    operator: &'static Operator,
    array: &Array,
    dim: usize,
    extra: &NamedArguments,
    merge: PartialMerge,
) -> Result<Vec<Array>, CallError> {
    let takes_dim = operator.schema().argument("dim").is_some();
    let array = array.contiguous();
    if !takes_dim {
        let all = reduce_dim_in_parts(operator, &array.flattened(), 0, extra, merge)?;
        return Ok(all.iter().map(|result| result.reshaped(&[])).collect());
    }
    let mut results = reduce_dim_in_parts(operator, &array, dim, extra, merge)?;
    if operator.schema().argument("keepdim").is_none() {
        for result in &mut results {
            let mut sizes = array.sizes.clone();
            sizes.remove(dim);
            *result = result.reshaped(&sizes);
        }
    }
    Ok(results)
}

/// Computes the results of a reduction over a dimension, which is kept with size 1.
fn reduce_dim_in_parts(
    operator: &'static Operator,
    array: &Array,
    dim: usize,
    extra: &NamedArguments,
    merge: PartialMerge,
) -> Result<Vec<Array>, CallError> {
    let (outer, length, inner) = array.size_products_around(dim);
    let lines = outer * inner;
    let mut kept = array.sizes.clone();
    kept[dim] = 1;
    if length * lines <= MAX_TRUSTED_ELEMENTS {
        let results = call_small(operator, &reduction_arguments(operator, array.clone(), dim, extra.clone()))?;
        return Ok(results.iter().map(|result| result.reshaped(&kept)).collect());
    }
    if length <= MAX_TRUSTED_ELEMENTS && lines > 1 {
        // Many short lines: reduce a few lines per call.
        let other = usize::from(dim == 0);
        let parts = map_parts_along_dim(array, other, (MAX_TRUSTED_ELEMENTS / length).max(1), |part| {
            reduce_dim_in_parts(operator, part, dim, extra, merge)
        })?;
        return Ok(concatenate_results(&parts, other));
    }
    let each = MAX_TRUSTED_ELEMENTS / lines;
    let parts = map_parts_along_dim(array, dim, each, |part| reduce_dim_in_parts(operator, part, dim, extra, merge))?;
    let counts = map_parts_along_dim(array, dim, each, |part| Ok(part.size_products_around(dim).1))?;
    concatenate_results(&parts, dim)
        .into_iter()
        .enumerate()
        .map(|(at, partial)| match merge {
            PartialMerge::SameOperator => {
                Ok(reduce_dim_in_parts(operator, &partial, dim, extra, merge)?.swap_remove(at))
            }
            PartialMerge::OtherOperators(others) => reduce_by_name(others[at], &partial, dim),
            PartialMerge::WeightedMean => Ok(merge_weighted_means(&partial, dim, &counts)),
        })
        .collect()
}

fn map_parts_along_dim<T>(
    array: &Array,
    dim: usize,
    each: usize,
    mut f: impl FnMut(&Array) -> Result<T, CallError>,
) -> Result<Vec<T>, CallError> {
    let length = array.size_products_around(dim).1;
    (0..length).step_by(each).map(|from| f(&array.narrowed(dim, from, each.min(length - from)))).collect()
}

/// Concatenates, for each result, the partial results.
fn concatenate_results(parts: &[Vec<Array>], dim: usize) -> Vec<Array> {
    let of = |at: usize| parts.iter().map(|part| part[at].clone()).collect::<Vec<_>>();
    (0..parts[0].len()).map(|at| Array::concatenated(&of(at), dim)).collect()
}

/// Reduces an array by the operator of this name, along a dimension that is kept with size 1.
pub(super) fn reduce_by_name(name: &str, partial: &Array, dim: usize) -> Result<Array, CallError> {
    let operator = Operator::find(name).map_err(|error| CallError::NotImplemented(error.to_string()))?;
    Ok(reduce_dim_in_parts(operator, partial, dim, &Vec::new(), PartialMerge::SameOperator)?.swap_remove(0))
}

fn merge_weighted_means(partial: &Array, dim: usize, counts: &[usize]) -> Array {
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than a million elements")]
    let weight = |count: usize| count as f64;
    let total: f64 = counts.iter().copied().map(weight).sum();
    let means = partial.line_indices(dim).map(|line| {
        let weighted = line.iter().zip(counts).map(|(&at, &count)| to_complex(partial.elements[at]) * weight(count));
        let mean = weighted.sum::<dispatch_runtime::Complex64>() / total;
        if partial.dtype.is_complex() { mean.into() } else { mean.re.into() }
    });
    let means = means.collect();
    let mut sizes = partial.sizes.clone();
    sizes[dim] = 1;
    Array::new(partial.dtype, &sizes, means)
}

/// Creates the trial of `trace`, the sum of the diagonal of a matrix.
fn trace_trials(operator: &'static Operator, kind: DTypeCategory) -> Result<Vec<LargeTrial>, CallError> {
    let side: usize = 300;
    let array = kind.create_array(&[300, 300], mostly_zero_number);
    // Blocks along the diagonal have few elements and together the same diagonal.
    let mut parts = Vec::new();
    for first in (0..side).step_by(10) {
        let block = array.narrowed(0, first, 10).narrowed(1, first, 10);
        parts.extend(call_small(operator, &vec![("self", block.into())])?);
    }
    let parts = Array::concatenated(&parts.iter().map(|part| part.reshaped(&[1])).collect::<Vec<_>>(), 0);
    let total = call_small_by_name(SUM_OPERATOR, &vec![("self", parts.into()), ("dim", fixed_value(vec![0_i64]))])?;
    let given = vec![("self", LargeArgument::CastTensor(array))];
    Ok(vec![LargeTrial::new("of [300, 300]", given, vec![ExpectedResult::Elements(total.reshaped(&[]))])])
}
