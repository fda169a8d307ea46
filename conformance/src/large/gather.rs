//! Large calls of operators that read elements at indices.

use dispatch_runtime::{DType, Operator, Scalar};

use super::input::{Kind, Lines, varied};
use super::trial::{Expected, Given, Named, Trial, fixed, positions};
use super::{Family, Layouts};
use crate::array::Array;
use crate::datum::Datum;
use crate::tensors::complex;
use crate::verdict::Stop;

pub(super) const FAMILY: Family = Family {
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
    kinds: &Kind::ALL,
    trials,
};

const COUNT: i64 = 70_253;

#[expect(clippy::unnecessary_wraps, reason = "all families have one type")]
fn trials(operator: &'static Operator, kind: Kind, layouts: Layouts) -> Result<Vec<Trial>, Stop> {
    let name = operator.name();
    let trials = match name.base {
        "gather" | "take_along_dim" | "index_select" => {
            layouts.iter().map(|lines| along(name.base, *lines, kind)).collect()
        }
        "take" => vec![taken(kind)],
        "index" | "_unsafe_index" | "_unsafe_masked_index" => vec![indexed(name.base, kind)],
        "embedding" => vec![embedded(kind)],
        "one_hot" if kind == Kind::Whole => vec![one_hot()],
        "one_hot" => Vec::new(),
        _ => layouts.iter().map(|lines| where_set(name.base, *lines, kind)).collect(),
    };
    Ok(trials)
}

/// Returns a scattered index below `end`. Over `end` consecutive `i`, every index occurs.
pub(super) fn scattered(i: i64, end: i64) -> i64 {
    // The factor is a prime that does not divide `end`.
    (i * 7919 + 3) % end
}

pub(super) fn numbers(sizes: &[i64], f: impl Fn(i64) -> i64) -> Array {
    Kind::Whole.array(sizes, f)
}

pub(super) fn usized(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// Returns an array of the elements at these logical indices.
fn read(data: &Array, sizes: &[i64], places: impl Iterator<Item = i64>) -> Expected {
    Expected::Numbers(Array::new(data.dtype, sizes, places.map(|place| data.elements[usized(place)]).collect()))
}

fn along(base: &str, lines: Lines, kind: Kind) -> Trial {
    let array = lines.array(kind, varied);
    let (_, length, inner) = array.split(lines.dim);
    let (length, inner) = (i64::try_from(length).unwrap_or(1), i64::try_from(inner).unwrap_or(1));
    let dim = ("dim", fixed(i64::try_from(lines.dim).unwrap_or(0)));
    // Splits a logical index into that of the line's first element, and the index within the line.
    let split = move |place: i64| (place / (length * inner) * length * inner + place % inner, place / inner % length);
    let of = array.contiguous();
    let all = 0..of.sizes.iter().product();
    if base == "index_select" {
        let index = numbers(&[length], |i| scattered(i, length));
        let places = all.map(|place| {
            let (start, at) = split(place);
            start + scattered(at, length) * inner
        });
        let (expected, given) =
            (read(&of, &of.sizes, places), vec![("self", array.into()), dim, ("index", positions(index))]);
        return Trial::new(lines.label(), given, vec![expected]);
    }
    let index = numbers(&of.sizes, |place| scattered(place, length));
    let places = all.map(|place| split(place).0 + scattered(place, length) * inner);
    let expected = read(&of, &of.sizes, places);
    let name = if base == "gather" { "index" } else { "indices" };
    Trial::new(lines.label(), vec![("self", array.into()), dim, (name, positions(index))], vec![expected])
}

fn taken(kind: Kind) -> Trial {
    let array = kind.array(&[3, 23_417], varied);
    let index = numbers(&[COUNT], |i| scattered(i, 70_251) - 70_251 * (i % 2));
    let expected = read(&array, &[COUNT], (0..COUNT).map(|i| scattered(i, 70_251)));
    Trial::new("of [3, 23417]", vec![("self", array.into()), ("index", positions(index))], vec![expected])
}

/// Creates a trial of advanced indexing with lists of rows and columns.
fn indexed(base: &str, kind: Kind) -> Trial {
    let array = kind.array(&[300, 301], varied);
    let (rows, columns) = (numbers(&[COUNT], |i| scattered(i, 300)), numbers(&[COUNT], |i| scattered(i + 7, 301)));
    let place = |i: i64| scattered(i, 300) * 301 + scattered(i + 7, 301);
    let indices = Given::Fixed(Datum::OptionalArrays(vec![Some(rows), Some(columns)]));
    let mut given: Named = vec![("self", array.clone().into()), ("indices", indices)];
    if base != "_unsafe_masked_index" {
        return Trial::new("of [300, 301]", given, vec![read(&array, &[COUNT], (0..COUNT).map(place))]);
    }
    let mask = Array::new(DType::Bool, &[COUNT], (0..COUNT).map(|i| Scalar::Bool(i % 3 != 0)).collect());
    given.extend([("mask", positions(mask)), ("fill", fixed(1_i64))]);
    let element = |i: i64| if i % 3 == 0 { Scalar::Int(1) } else { array.elements[usized(place(i))] };
    let expected = Array::new(kind.wide(), &[COUNT], (0..COUNT).map(element).collect());
    Trial::new("of [300, 301]", given, vec![Expected::Numbers(expected)])
}

fn embedded(kind: Kind) -> Trial {
    let weight = kind.array(&[101, 3], varied);
    let index = numbers(&[COUNT / 3], |i| scattered(i, 101));
    let places = (0..COUNT / 3).flat_map(|i| (0..3).map(move |column| scattered(i, 101) * 3 + column));
    let expected = read(&weight, &[COUNT / 3, 3], places);
    Trial::new("of [101, 3]", vec![("weight", weight.into()), ("indices", positions(index))], vec![expected])
}

fn one_hot() -> Trial {
    let classes = numbers(&[COUNT / 3], |i| scattered(i, 4));
    let expected = numbers(&[COUNT / 3, 4], |place| i64::from(scattered(place / 4, 4) == place % 4));
    // The operator accepts only this dtype.
    let given = vec![("self", positions(classes)), ("num_classes", fixed(4_i64))];
    Trial::new("of four", given, vec![Expected::Numbers(expected)])
}

/// Creates a trial of an operator that selects nonzero or masked elements.
fn where_set(base: &str, lines: Lines, kind: Kind) -> Trial {
    let array = lines.array(kind, |i| if i % 5 == 0 || i % 7 == 0 { varied(i) } else { 0 });
    let of = array.contiguous();
    let is_set = |at: &usize| complex(of.elements[*at]).norm() != 0.0;
    let set: Vec<usize> = (0..of.elements.len()).filter(is_set).collect();
    if base == "masked_select" {
        let mask = Array { dtype: DType::Bool, ..array.clone() };
        let expected = read(&of, &[number(set.len())], set.iter().map(|&at| number(at)));
        return Trial::new(lines.label(), vec![("self", array.into()), ("mask", positions(mask))], vec![expected]);
    }
    let rank = of.sizes.len();
    let mut rows: Vec<Scalar> = set.iter().flat_map(|&at| position(number(at), &of.sizes)).map(Scalar::Int).collect();
    let mut count = number(set.len());
    let mut given: Named = vec![("self", Given::Data(array))];
    if base == "nonzero_static" {
        count += 10;
        rows.extend(vec![Scalar::Int(-5); rank * 10]);
        given.extend([("size", fixed(count)), ("fill_value", fixed(-5_i64))]);
    }
    let sizes = [count, i64::try_from(rank).unwrap_or(0)];
    Trial::new(lines.label(), given, vec![Expected::Numbers(Array::new(DType::I64, &sizes, rows))])
}

pub(super) fn number(at: usize) -> i64 {
    i64::try_from(at).unwrap_or(0)
}

/// Returns the index in each dimension of the element at a logical index.
pub(super) fn position(mut place: i64, sizes: &[i64]) -> Vec<i64> {
    let mut position = sizes.to_vec();
    for (at, size) in position.iter_mut().zip(sizes).rev() {
        *at = place % size;
        place /= size;
    }
    position
}
