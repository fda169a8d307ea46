//! Large calls of operators that write elements at indices: the expected results are computed by a loop.

use dispatch_runtime::{DType, Operator, Scalar};

use super::gather::{numbers, scattered, usized};
use super::input::{Kind, Lines, varied};
use super::trial::{Expected, Given, Named, Trial, fixed, positions};
use super::{Family, Layouts};
use crate::array::Array;
use crate::datum::Datum;
use crate::tensors::complex;
use crate::verdict::Stop;

pub(super) const FAMILY: Family = Family {
    names: &[
        "aten::scatter.src",
        "aten::scatter.value",
        "aten::scatter.reduce",
        "aten::scatter.value_reduce",
        "aten::scatter_add",
        "aten::scatter_reduce.two",
        "aten::index_add",
        "aten::index_copy",
        "aten::index_fill.int_Scalar",
        "aten::index_fill.int_Tensor",
        "aten::index_reduce",
        "aten::index_put",
        "aten::_index_put_impl",
        "aten::_index_put_impl_",
        "aten::_unsafe_index_put",
        "aten::_unsafe_masked_index_put_accumulate",
        "aten::put",
        "aten::masked_scatter",
        "aten::embedding_dense_backward",
        "aten::select_scatter",
        "aten::slice_scatter",
        "aten::diagonal_scatter",
        "aten::as_strided_scatter",
    ],
    kinds: &Kind::ALL,
    trials,
};

const COUNT: i64 = 70_253;

#[expect(clippy::unnecessary_wraps, reason = "all families have one type")]
fn trials(operator: &'static Operator, kind: Kind, layouts: Layouts) -> Result<Vec<Trial>, Stop> {
    let name = operator.name();
    let trials = match (name.base, name.overload) {
        ("scatter" | "scatter_add" | "scatter_reduce", overload) => {
            layouts.iter().flat_map(|lines| scatter(name.base, overload, *lines, kind)).collect()
        }
        ("index_add" | "index_copy" | "index_fill" | "index_reduce", overload) => {
            layouts.iter().flat_map(|lines| by_index(name.base, overload, *lines, kind)).collect()
        }
        ("masked_scatter", _) => vec![masked(kind)],
        ("embedding_dense_backward", _) => vec![embedding(kind)],
        (base, _) if base.ends_with("_scatter") => vec![view(base, kind)],
        (base, _) => put(base, kind),
    };
    Ok(trials)
}

/// The combination of an old element with a written one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Replace,
    Add,
    Multiply,
    Most,
    Least,
    Mean,
}

impl How {
    fn join(self, old: Scalar, new: Scalar) -> Scalar {
        let is_more = complex(new).re > complex(old).re;
        let ordered = |is_new: bool| if is_new { new } else { old };
        match (self, old, new) {
            (Self::Replace, ..) => new,
            (Self::Add | Self::Mean, Scalar::Int(a), Scalar::Int(b)) => Scalar::Int(a + b),
            (Self::Multiply, Scalar::Int(a), Scalar::Int(b)) => Scalar::Int(a * b),
            (Self::Add | Self::Mean, Scalar::Float(a), Scalar::Float(b)) => Scalar::Float(a + b),
            (Self::Multiply, Scalar::Float(a), Scalar::Float(b)) => Scalar::Float(a * b),
            (Self::Add | Self::Mean, ..) => Scalar::Complex(complex(old) + complex(new)),
            (Self::Multiply, ..) => Scalar::Complex(complex(old) * complex(new)),
            (Self::Most, ..) => ordered(is_more),
            (Self::Least, ..) => ordered(!is_more),
        }
    }

    /// Returns the elements to write, by the index in a line. Their combination fits a narrow dtype.
    fn numbers(self) -> fn(i64) -> i64 {
        match self {
            // Neighbours cancel, except for the 1 that the first 200 have in addition.
            Self::Add | Self::Mean => |i| varied(i / 2) / 8 * (1 - 2 * (i % 2)) + i64::from(i < 200),
            Self::Multiply => |i| if i % 3001 == 7 { 2 } else { [1, -1, 1][usized(i % 3)] },
            _ => |i| varied(i) / 2,
        }
    }

    const fn is_once(self) -> bool {
        matches!(self, Self::Replace)
    }
}

/// Writes elements at logical indices of an array. If `fresh`, the first write to an element replaces the old value.
fn written(base: &Array, writes: impl Iterator<Item = (i64, Scalar)>, how: How, fresh: bool) -> Array {
    let mut out = base.contiguous();
    let mut counts = vec![i32::from(!fresh); out.elements.len()];
    let mut touched = vec![false; out.elements.len()];
    for (place, new) in writes {
        let at = usized(place);
        let old = &mut out.elements[at];
        *old = if counts[at] == 0 { new } else { how.join(*old, new) };
        counts[at] += 1;
        touched[at] = true;
    }
    if how == How::Mean {
        let shared = out.elements.iter_mut().zip(counts).zip(touched).filter(|(_, touched)| *touched);
        shared.for_each(|((sum, count), _)| *sum = Scalar::Float(complex(*sum).re / f64::from(count)));
    }
    out
}

/// Returns the target index of index `at` of a line. If `once`, no two indices have the same target; otherwise many have the same.
fn target(at: i64, line: i64, length: i64, once: bool) -> i64 {
    if once { (scattered(at, length) + line) % length } else { at / 2 % length.min(3) }
}

/// Splits a logical index into that of its line's first element, the number of the line, and the index within the line.
fn split(place: i64, length: i64, inner: i64) -> (i64, i64, i64) {
    let start = place / (length * inner) * length * inner + place % inner;
    (start, place / (length * inner) * inner + place % inner, place / inner % length)
}

fn shape(lines: Lines) -> (i64, i64, i64) {
    let inner: i64 = lines.sizes[lines.dim + 1..].iter().product();
    (lines.sizes[lines.dim], inner, lines.sizes.iter().product())
}

fn dim_of(lines: Lines) -> (&'static str, Given) {
    ("dim", fixed(i64::try_from(lines.dim).unwrap_or(0)))
}

fn ways(base: &str, overload: &str, kind: Kind) -> Vec<(How, &'static str, bool)> {
    let ordered = kind != Kind::Complex;
    match (base, overload) {
        ("scatter", "reduce" | "value_reduce") => vec![(How::Add, "add", false), (How::Multiply, "multiply", false)],
        ("scatter_reduce" | "index_reduce", _) => {
            let mut all = vec![(How::Multiply, "prod", false), (How::Multiply, "prod", true)];
            if base == "scatter_reduce" {
                all.extend([(How::Add, "sum", false), (How::Add, "sum", true)]);
            }
            if ordered {
                all.extend([(How::Most, "amax", false), (How::Least, "amin", true)]);
            }
            if kind == Kind::Real {
                all.extend([(How::Mean, "mean", false), (How::Mean, "mean", true)]);
            }
            all
        }
        ("scatter_add" | "index_add", _) => vec![(How::Add, "", false)],
        _ => vec![(How::Replace, "", false)],
    }
}

fn scatter(base: &str, overload: &str, lines: Lines, kind: Kind) -> Vec<Trial> {
    let (length, inner, count) = shape(lines);
    let is_value = overload.starts_with("value");
    let trial = |(how, word, fresh): (How, &'static str, bool)| {
        let this = lines.array(kind, |i| i % 4);
        let source = lines.array(kind, |place| how.numbers()(split(place, length, inner).2));
        let to = |place: i64| {
            let (start, line, at) = split(place, length, inner);
            (start, target(at, line, length, how.is_once()))
        };
        let index = numbers(lines.sizes, |place| to(place).1);
        // Repeated multiplication with -1 does not grow.
        let value = if how == How::Multiply { -1 } else { 3 };
        let from = source.contiguous();
        let number = if kind == Kind::Complex { Scalar::Int(value) } else { kind.number(value) };
        let writes = (0..count).map(|place| {
            let (start, at) = to(place);
            (start + at * inner, if is_value { number } else { from.elements[usized(place)] })
        });
        let expected = written(&this, writes, how, fresh);
        let mut given: Named = vec![("self", this.into()), dim_of(lines), ("index", positions(index))];
        given.push(if is_value { ("value", fixed(number)) } else { ("src", source.into()) });
        if !word.is_empty() {
            given.push(("reduce", fixed(word)));
        }
        if base == "scatter_reduce" {
            given.push(("include_self", fixed(!fresh)));
        }
        Trial::new(format!("{} {word}, fresh: {fresh}", lines.label()), given, vec![Expected::Numbers(expected)])
    };
    ways(base, overload, kind).into_iter().map(trial).collect()
}

fn by_index(base: &str, overload: &str, lines: Lines, kind: Kind) -> Vec<Trial> {
    let (length, inner, count) = shape(lines);
    let trial = |(how, word, fresh): (How, &'static str, bool)| {
        let this = lines.array(kind, |i| i % 4);
        let source = lines.array(kind, |place| how.numbers()(split(place, length, inner).2));
        let to = |at: i64| target(at, 0, length, how.is_once());
        let fills = base == "index_fill";
        // Some indices of a filled dimension are not written.
        let some = if fills { length / 2 + 1 } else { length };
        let index = numbers(&[some], to);
        let from = source.contiguous();
        let writes = (0..count).filter_map(|place| {
            let (start, _, at) = split(place, length, inner);
            let element = if fills { kind.number(3) } else { from.elements[usized(place)] };
            (at < some).then_some((start + to(at) * inner, element))
        });
        let expected = written(&this, writes, how, fresh);
        let mut given: Named = vec![("self", this.into()), dim_of(lines), ("index", positions(index))];
        match (fills, overload) {
            (true, "int_Tensor") => given.push(("value", Array::new(kind.wide(), &[], vec![kind.number(3)]).into())),
            (true, _) => given.push(("value", fixed(kind.number(3)))),
            _ => given.push(("source", source.into())),
        }
        if base == "index_reduce" {
            given.extend([("reduce", fixed(word)), ("include_self", fixed(!fresh))]);
        }
        Trial::new(format!("{} {word}, fresh: {fresh}", lines.label()), given, vec![Expected::Numbers(expected)])
    };
    ways(base, overload, kind).into_iter().map(trial).collect()
}

/// Creates trials that write at lists of rows and columns, or at indices of the flattened array.
fn put(base: &str, kind: Kind) -> Vec<Trial> {
    let is_masked = base.contains("masked");
    let ways: &[How] = if is_masked { &[How::Add] } else { &[How::Replace, How::Add] };
    let trial = |&how: &How| {
        let this = kind.array(&[300, 301], |i| i % 4);
        let source = kind.array(&[COUNT], how.numbers());
        // Each index is written twice, or once.
        let place = |i: i64| ((if how.is_once() { i } else { i / 2 }) * 7919 + 3) % 90_300;
        let writes = (0..COUNT).filter(|i| !is_masked || i % 3 != 0);
        let writes = writes.map(|i| (place(i), source.elements[usized(i)]));
        let expected = written(&this, writes, how, false);
        let mut given: Named = vec![("self", this.into())];
        if base == "put" {
            given.extend([("index", positions(numbers(&[COUNT], place))), ("source", source.into())]);
        } else {
            let lists = [numbers(&[COUNT], |i| place(i) / 301), numbers(&[COUNT], |i| place(i) % 301)];
            let indices = Given::Fixed(Datum::OptionalArrays(lists.map(Some).to_vec()));
            given.extend([("indices", indices), ("values", source.into())]);
        }
        if is_masked {
            let mask = (0..COUNT).map(|i| Scalar::Bool(i % 3 != 0)).collect();
            given.push(("mask", positions(Array::new(DType::Bool, &[COUNT], mask))));
        } else {
            given.push(("accumulate", fixed(how == How::Add)));
        }
        Trial::new(format!("adding: {}", how == How::Add), given, vec![Expected::Numbers(expected)])
    };
    ways.iter().map(trial).collect()
}

fn masked(kind: Kind) -> Trial {
    let (this, source) = (kind.array(&[COUNT], |i| i % 4), kind.array(&[COUNT], varied));
    let mask = Array::new(DType::Bool, &[COUNT], (0..COUNT).map(|i| Scalar::Bool(i % 3 != 0)).collect());
    let places = (0..COUNT).filter(|i| i % 3 != 0).zip(source.elements.clone());
    let expected = written(&this, places, How::Replace, false);
    let given = vec![("self", this.into()), ("mask", positions(mask)), ("source", source.into())];
    Trial::new("of two thirds", given, vec![Expected::Numbers(expected)])
}

fn embedding(kind: Kind) -> Trial {
    let grad = kind.array(&[COUNT / 3, 3], |place| How::Add.numbers()(place / 3));
    let index = |i: i64| scattered(i / 2, 101);
    let zeros = kind.array(&[101, 3], |_| 0);
    let zeros = Array { elements: vec![zero_of(zeros.elements[0]); 303], ..zeros };
    let writes = (0..COUNT / 3 * 3).map(|place| (index(place / 3) * 3 + place % 3, grad.elements[usized(place)]));
    let expected = written(&zeros, writes, How::Add, false);
    let given = vec![
        ("grad_output", grad.into()),
        ("indices", positions(numbers(&[COUNT / 3], index))),
        ("num_weights", fixed(101_i64)),
        ("padding_idx", fixed(-1_i64)),
        ("scale_grad_by_freq", fixed(false)),
    ];
    Trial::new("of [101, 3]", given, vec![Expected::Numbers(expected)])
}

/// Returns zero, as the same variant of scalar.
fn zero_of(number: Scalar) -> Scalar {
    match number {
        Scalar::Int(_) | Scalar::Bool(_) => Scalar::Int(0),
        Scalar::Float(_) => Scalar::Float(0.0),
        Scalar::Complex(_) => Scalar::Complex(dispatch_runtime::Complex64::default()),
    }
}

/// Creates a trial that replaces the elements of a view.
fn view(base: &str, kind: Kind) -> Trial {
    let this = kind.array(&[300, 301], varied);
    // The view's sizes, strides and offset, and the arguments that select it.
    let (sizes, steps, first, told): (Vec<i64>, [i64; 2], i64, Named) = match base {
        "select_scatter" => (vec![300], [301, 0], 7, vec![("dim", fixed(1_i64)), ("index", fixed(7_i64))]),
        "slice_scatter" => {
            let told =
                vec![("dim", fixed(0_i64)), ("start", fixed(2_i64)), ("end", fixed(300_i64)), ("step", fixed(2_i64))];
            (vec![149, 301], [602, 1], 602, told)
        }
        "diagonal_scatter" => (vec![300], [302, 0], 1, vec![("offset", fixed(1_i64))]),
        _ => {
            let told = vec![
                ("size", fixed(vec![150_i64, 200])),
                ("stride", fixed(vec![602_i64, 1])),
                ("storage_offset", fixed(5_i64)),
            ];
            (vec![150, 200], [602, 1], 5, told)
        }
    };
    let columns = sizes.get(1).copied().unwrap_or(1);
    let source = kind.array(&sizes, |i| varied(i + 50));
    let count: i64 = sizes.iter().product();
    let place = |i: i64| first + i / columns * steps[0] + i % columns * steps[1];
    let writes = (0..count).map(|i| (place(i), source.elements[usized(i)]));
    let expected = written(&this, writes, How::Replace, false);
    let mut given: Named = vec![("self", this.into()), ("src", source.into())];
    given.extend(told);
    Trial::new("of [300, 301]", given, vec![Expected::Numbers(expected)])
}
