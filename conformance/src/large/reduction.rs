//! Large calls of reductions: the expected results are merged from partial results, by the same or by another reduction.

use dispatch_runtime::schema::TypeKind;
use dispatch_runtime::{Operator, Scalar, Value};

use super::input::{Kind, sparse, varied};
use super::trial::{Expected, Given, Named, Trial, first_of, fixed, small};
use super::{FEW, Family, Layouts};
use crate::array::Array;
use crate::tensors::complex;
use crate::verdict::Stop;

pub(super) const FAMILY: Family = Family {
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
    kinds: &Kind::ALL,
    trials,
};

/// The way to merge partial results.
#[derive(Clone, Copy)]
enum Merge {
    Itself,
    /// Merge by other operators, one for each result.
    By(&'static [&'static str]),
    /// Merge by a mean, weighted by the number of elements of each partial result.
    Mean,
}

const SUM: &str = "aten::sum.dim_IntList";

fn merge(base: &str) -> Merge {
    match base {
        "count_nonzero" => Merge::By(&[SUM]),
        "aminmax" => Merge::By(&["aten::amin", "aten::amax"]),
        "mean" | "nanmean" => Merge::Mean,
        _ => Merge::Itself,
    }
}

/// Returns the variants of a reduction: a label, arguments other than the dimension, and a merge that replaces the usual one.
fn variants(base: &str) -> Vec<(&'static str, Named, Option<Merge>)> {
    let order = |name, order: f64| (name, fixed(Scalar::Float(order)));
    let by = |name: &'static str| {
        let orders = [("1", 1.0), ("2", 2.0), ("3", 3.0), ("inf", f64::INFINITY), ("-inf", f64::NEG_INFINITY)];
        let mut all: Vec<_> = orders.iter().map(|&(label, p)| (label, vec![order(name, p)], None)).collect();
        all.push(("0", vec![order(name, 0.0)], Some(Merge::By(&[SUM]))));
        all
    };
    match base {
        "linalg_vector_norm" => by("ord"),
        "norm" => by("p"),
        _ => vec![("", Vec::new(), None)],
    }
}

/// Returns the elements to reduce. For products and extremes, a few elements differ from the others.
fn numbers(base: &str) -> fn(i64) -> i64 {
    match base {
        "prod" => |i| if i % 23_417 % 3001 == 7 { 2 } else { 1 - 2 * i64::from(i % 3 == 1) },
        // One element differs, near the end of each line.
        "all" => |i| i64::from(i % 23_417 != 23_390),
        "any" => |i| i64::from(i % 23_417 == 23_390),
        "amax" | "amin" | "aminmax" | "max" | "min" => |i| varied(i) / 2 + if i == 23_390 { 60 } else { 0 },
        _ => sparse,
    }
}

fn trials(operator: &'static Operator, kind: Kind, layouts: Layouts) -> Result<Vec<Trial>, Stop> {
    let name = operator.name();
    if name.base == "trace" {
        return trace(operator, kind);
    }
    let mut trials = Vec::new();
    for (label, extra, way) in variants(name.base) {
        for lines in layouts {
            let array = lines.array(kind, numbers(name.base));
            let way = way.unwrap_or_else(|| merge(name.base));
            let expected = folded(operator, &array, lines.dim, &extra, way)?;
            let expected = expected.into_iter().map(Expected::Numbers).collect();
            let given = over(operator, array, lines.dim, extra.clone());
            trials.push(Trial::new(format!("{} {label}", lines.label()), given, expected));
        }
    }
    Ok(trials)
}

/// Returns the arguments that reduce an array over a dimension, or over all elements if the operator has no `dim`.
fn over(operator: &Operator, array: Array, dim: usize, extra: Named) -> Named {
    let mut given = extra;
    given.push(("self", Given::Data(array)));
    if let Some((_, argument)) = operator.schema().argument("dim") {
        let dim = i64::try_from(dim).unwrap_or(0);
        let is_list = matches!(argument.ty.required().kind, TypeKind::List(..));
        given.push(("dim", fixed(if is_list { Value::from(vec![dim]) } else { dim.into() })));
    }
    if operator.schema().argument("keepdim").is_some() {
        given.push(("keepdim", fixed(true)));
    }
    if operator.name().overload.ends_with("dtype") {
        given.push(("dtype", Given::Dtype));
    }
    given
}

/// Computes the results of a reduction from partial results of few elements.
fn folded(
    operator: &'static Operator,
    array: &Array,
    dim: usize,
    extra: &Named,
    merge: Merge,
) -> Result<Vec<Array>, Stop> {
    let takes_dim = operator.schema().argument("dim").is_some();
    let array = array.contiguous();
    if !takes_dim {
        let all = parts_folded(operator, &array.row(), 0, extra, merge)?;
        return Ok(all.iter().map(|result| result.sized(&[])).collect());
    }
    let mut results = parts_folded(operator, &array, dim, extra, merge)?;
    if operator.schema().argument("keepdim").is_none() {
        for result in &mut results {
            let mut sizes = array.sizes.clone();
            sizes.remove(dim);
            *result = result.sized(&sizes);
        }
    }
    Ok(results)
}

/// Computes the results of a reduction over a dimension, which is kept with size 1.
fn parts_folded(
    operator: &'static Operator,
    array: &Array,
    dim: usize,
    extra: &Named,
    merge: Merge,
) -> Result<Vec<Array>, Stop> {
    let (outer, length, inner) = array.split(dim);
    let lines = outer * inner;
    let mut kept = array.sizes.clone();
    kept[dim] = 1;
    if length * lines <= FEW {
        let results = small(operator, &over(operator, array.clone(), dim, extra.clone()))?;
        return Ok(results.iter().map(|result| result.sized(&kept)).collect());
    }
    if length <= FEW && lines > 1 {
        // Many short lines: reduce a few lines per call.
        let other = usize::from(dim == 0);
        let parts = cut(array, other, (FEW / length).max(1), |part| parts_folded(operator, part, dim, extra, merge))?;
        return Ok(together(&parts, other));
    }
    let each = FEW / lines;
    let parts = cut(array, dim, each, |part| parts_folded(operator, part, dim, extra, merge))?;
    let counts = cut(array, dim, each, |part| Ok(part.split(dim).1))?;
    together(&parts, dim)
        .into_iter()
        .enumerate()
        .map(|(at, partial)| match merge {
            Merge::Itself => Ok(parts_folded(operator, &partial, dim, extra, merge)?.swap_remove(at)),
            Merge::By(others) => merged_by(others[at], &partial, dim),
            Merge::Mean => Ok(mean(&partial, dim, &counts)),
        })
        .collect()
}

fn cut<T>(
    array: &Array,
    dim: usize,
    each: usize,
    mut f: impl FnMut(&Array) -> Result<T, Stop>,
) -> Result<Vec<T>, Stop> {
    let length = array.split(dim).1;
    (0..length).step_by(each).map(|from| f(&array.part(dim, from, each.min(length - from)))).collect()
}

/// Concatenates, for each result, the partial results.
fn together(parts: &[Vec<Array>], dim: usize) -> Vec<Array> {
    let of = |at: usize| parts.iter().map(|part| part[at].clone()).collect::<Vec<_>>();
    (0..parts[0].len()).map(|at| Array::joined(&of(at), dim)).collect()
}

/// Reduces an array by the operator of this name, along a dimension that is kept with size 1.
pub(super) fn merged_by(name: &str, partial: &Array, dim: usize) -> Result<Array, Stop> {
    let operator = Operator::find(name).map_err(|error| Stop::NotImplemented(error.to_string()))?;
    Ok(parts_folded(operator, partial, dim, &Vec::new(), Merge::Itself)?.swap_remove(0))
}

fn mean(partial: &Array, dim: usize, counts: &[usize]) -> Array {
    #[expect(clippy::cast_precision_loss, reason = "there are fewer than a million")]
    let weight = |count: usize| count as f64;
    let total: f64 = counts.iter().copied().map(weight).sum();
    let means = partial.lines(dim).map(|line| {
        let weighted = line.iter().zip(counts).map(|(&at, &count)| complex(partial.elements[at]) * weight(count));
        let mean = weighted.sum::<dispatch_runtime::Complex64>() / total;
        if partial.dtype.is_complex() { mean.into() } else { mean.re.into() }
    });
    let means = means.collect();
    let mut sizes = partial.sizes.clone();
    sizes[dim] = 1;
    Array::new(partial.dtype, &sizes, means)
}

/// Creates the trial of `trace`, the sum of the diagonal of a matrix.
fn trace(operator: &'static Operator, kind: Kind) -> Result<Vec<Trial>, Stop> {
    let side: usize = 300;
    let array = kind.array(&[300, 300], sparse);
    // Blocks along the diagonal have few elements and together the same diagonal.
    let mut parts = Vec::new();
    for first in (0..side).step_by(10) {
        let block = array.part(0, first, 10).part(1, first, 10);
        parts.extend(small(operator, &vec![("self", block.into())])?);
    }
    let parts = Array::joined(&parts.iter().map(|part| part.sized(&[1])).collect::<Vec<_>>(), 0);
    let total = first_of(SUM, &vec![("self", parts.into()), ("dim", fixed(vec![0_i64]))])?;
    let given = vec![("self", Given::Data(array))];
    Ok(vec![Trial::new("of [300, 300]", given, vec![Expected::Numbers(total.sized(&[]))])])
}
