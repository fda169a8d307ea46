//! Large calls of operators that read elements at indices.

use dispatch_checks::plumbing::{Array, CallError, Datum, to_complex};
use dispatch_runtime::{DType, Operator, Scalar};

use super::input::{ArrayLines, DTypeCategory, LineLayout, varied_number};
use super::trial::{ExpectedResult, LargeArgument, LargeTrial, NamedArguments, fixed_tensor, fixed_value};
use super::{LineLayouts, TrialFamily};

pub(super) const GATHER_FAMILY: TrialFamily = TrialFamily {
    names: &[
        "aten::gather",
        "aten::take_along_dim",
        "aten::index_select",
        "aten::take",
        "aten::index.Tensor",
        "aten::_unsafe_index.Tensor",
        "aten::_unsafe_masked_index",
        "aten::embedding",
        "aten::masked_select",
        "aten::nonzero",
        "aten::argwhere",
        "aten::nonzero_static",
        "aten::one_hot",
    ],
    kinds: &DTypeCategory::ALL,
    trials: create_trials,
};

const ELEMENT_COUNT: i64 = 70_253;

#[expect(clippy::unnecessary_wraps, reason = "the functions of all families have one type")]
fn create_trials(
    operator: &'static Operator,
    kind: DTypeCategory,
    layouts: LineLayouts,
) -> Result<Vec<LargeTrial>, CallError> {
    let name = operator.name();
    let trials = match name.base {
        "gather" | "take_along_dim" | "index_select" => {
            layouts.iter().map(|lines| gather_along_dim_trial(name.base, *lines, kind)).collect()
        }
        "take" => vec![take_trial(kind)],
        "index" | "_unsafe_index" | "_unsafe_masked_index" => vec![index_trial(name.base, kind)],
        "embedding" => vec![embedding_trial(kind)],
        "one_hot" if kind == DTypeCategory::Integer => vec![one_hot_trial()],
        "one_hot" => Vec::new(),
        _ => layouts.iter().map(|lines| nonzero_trial(name.base, *lines, kind)).collect(),
    };
    Ok(trials)
}

/// Returns a scattered index below `end`. Over `end` consecutive `i`, every index occurs.
pub(super) fn scattered_index(i: i64, end: i64) -> i64 {
    // The factor is a prime that does not divide `end`.
    (i * 7919 + 3) % end
}

pub(super) fn integer_array(sizes: &[i64], f: impl Fn(i64) -> i64) -> Array {
    DTypeCategory::Integer.create_array(sizes, f)
}

pub(super) fn to_usize(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// Returns an array of the elements at these logical indices.
fn expected_elements_at(data: &Array, sizes: &[i64], places: impl Iterator<Item = i64>) -> ExpectedResult {
    ExpectedResult::Elements(Array::new(
        data.dtype,
        sizes,
        places.map(|place| data.elements[to_usize(place)]).collect(),
    ))
}

fn gather_along_dim_trial(base: &str, lines: LineLayout, kind: DTypeCategory) -> LargeTrial {
    let array = lines.create_array(kind, varied_number);
    let (_, length, inner) = array.size_products_around(lines.dim);
    let (length, inner) = (i64::try_from(length).unwrap_or(1), i64::try_from(inner).unwrap_or(1));
    let dim = ("dim", fixed_value(i64::try_from(lines.dim).unwrap_or(0)));
    // Splits a logical index into that of the line's first element, and the index within the line.
    let split = move |place: i64| (place / (length * inner) * length * inner + place % inner, place / inner % length);
    let of = array.contiguous();
    let all = 0..of.sizes.iter().product();
    if base == "index_select" {
        let index = integer_array(&[length], |i| scattered_index(i, length));
        let places = all.map(|place| {
            let (start, at) = split(place);
            start + scattered_index(at, length) * inner
        });
        let (expected, given) = (
            expected_elements_at(&of, &of.sizes, places),
            vec![("self", array.into()), dim, ("index", fixed_tensor(index))],
        );
        return LargeTrial::new(lines.label(), given, vec![expected]);
    }
    let index = integer_array(&of.sizes, |place| scattered_index(place, length));
    let places = all.map(|place| split(place).0 + scattered_index(place, length) * inner);
    let expected = expected_elements_at(&of, &of.sizes, places);
    let name = if base == "gather" { "index" } else { "indices" };
    LargeTrial::new(lines.label(), vec![("self", array.into()), dim, (name, fixed_tensor(index))], vec![expected])
}

fn take_trial(kind: DTypeCategory) -> LargeTrial {
    let array = kind.create_array(&[3, 23_417], varied_number);
    let index = integer_array(&[ELEMENT_COUNT], |i| scattered_index(i, 70_251) - 70_251 * (i % 2));
    let expected =
        expected_elements_at(&array, &[ELEMENT_COUNT], (0..ELEMENT_COUNT).map(|i| scattered_index(i, 70_251)));
    LargeTrial::new("of [3, 23417]", vec![("self", array.into()), ("index", fixed_tensor(index))], vec![expected])
}

/// Creates a trial of advanced indexing with lists of rows and columns.
fn index_trial(base: &str, kind: DTypeCategory) -> LargeTrial {
    let array = kind.create_array(&[300, 301], varied_number);
    let (rows, columns) = (
        integer_array(&[ELEMENT_COUNT], |i| scattered_index(i, 300)),
        integer_array(&[ELEMENT_COUNT], |i| scattered_index(i + 7, 301)),
    );
    let place = |i: i64| scattered_index(i, 300) * 301 + scattered_index(i + 7, 301);
    let indices = LargeArgument::Fixed(Datum::OptionalArrays(vec![Some(rows), Some(columns)]));
    let mut given: NamedArguments = vec![("self", array.clone().into()), ("indices", indices)];
    if base != "_unsafe_masked_index" {
        return LargeTrial::new(
            "of [300, 301]",
            given,
            vec![expected_elements_at(&array, &[ELEMENT_COUNT], (0..ELEMENT_COUNT).map(place))],
        );
    }
    let mask =
        Array::new(DType::Bool, &[ELEMENT_COUNT], (0..ELEMENT_COUNT).map(|i| Scalar::Bool(i % 3 != 0)).collect());
    given.extend([("mask", fixed_tensor(mask)), ("fill", fixed_value(1_i64))]);
    let element = |i: i64| if i % 3 == 0 { Scalar::Int(1) } else { array.elements[to_usize(place(i))] };
    let expected = Array::new(kind.reference_dtype(), &[ELEMENT_COUNT], (0..ELEMENT_COUNT).map(element).collect());
    LargeTrial::new("of [300, 301]", given, vec![ExpectedResult::Elements(expected)])
}

fn embedding_trial(kind: DTypeCategory) -> LargeTrial {
    let weight = kind.create_array(&[101, 3], varied_number);
    let index = integer_array(&[ELEMENT_COUNT / 3], |i| scattered_index(i, 101));
    let places = (0..ELEMENT_COUNT / 3).flat_map(|i| (0..3).map(move |column| scattered_index(i, 101) * 3 + column));
    let expected = expected_elements_at(&weight, &[ELEMENT_COUNT / 3, 3], places);
    LargeTrial::new("of [101, 3]", vec![("weight", weight.into()), ("indices", fixed_tensor(index))], vec![expected])
}

fn one_hot_trial() -> LargeTrial {
    let classes = integer_array(&[ELEMENT_COUNT / 3], |i| scattered_index(i, 4));
    let expected =
        integer_array(&[ELEMENT_COUNT / 3, 4], |place| i64::from(scattered_index(place / 4, 4) == place % 4));
    // The operator accepts only this dtype.
    let given = vec![("self", fixed_tensor(classes)), ("num_classes", fixed_value(4_i64))];
    LargeTrial::new("of four", given, vec![ExpectedResult::Elements(expected)])
}

/// Creates a trial of an operator that selects nonzero or masked elements.
fn nonzero_trial(base: &str, lines: LineLayout, kind: DTypeCategory) -> LargeTrial {
    let array = lines.create_array(kind, |i| if i % 5 == 0 || i % 7 == 0 { varied_number(i) } else { 0 });
    let of = array.contiguous();
    let is_set = |at: &usize| to_complex(of.elements[*at]).norm() != 0.0;
    let set: Vec<usize> = (0..of.elements.len()).filter(is_set).collect();
    if base == "masked_select" {
        let mask = Array { dtype: DType::Bool, ..array.clone() };
        let expected = expected_elements_at(&of, &[to_i64(set.len())], set.iter().map(|&at| to_i64(at)));
        return LargeTrial::new(
            lines.label(),
            vec![("self", array.into()), ("mask", fixed_tensor(mask))],
            vec![expected],
        );
    }
    let rank = of.sizes.len();
    let mut rows: Vec<Scalar> =
        set.iter().flat_map(|&at| multi_index(to_i64(at), &of.sizes)).map(Scalar::Int).collect();
    let mut count = to_i64(set.len());
    let mut given: NamedArguments = vec![("self", LargeArgument::CastTensor(array))];
    if base == "nonzero_static" {
        count += 10;
        rows.extend(vec![Scalar::Int(-5); rank * 10]);
        given.extend([("size", fixed_value(count)), ("fill_value", fixed_value(-5_i64))]);
    }
    let sizes = [count, i64::try_from(rank).unwrap_or(0)];
    LargeTrial::new(lines.label(), given, vec![ExpectedResult::Elements(Array::new(DType::I64, &sizes, rows))])
}

pub(super) fn to_i64(at: usize) -> i64 {
    i64::try_from(at).unwrap_or(0)
}

/// Returns the index in each dimension of the element at a logical index.
pub(super) fn multi_index(mut place: i64, sizes: &[i64]) -> Vec<i64> {
    let mut position = sizes.to_vec();
    for (at, size) in position.iter_mut().zip(sizes).rev() {
        *at = place % size;
        place /= size;
    }
    position
}
