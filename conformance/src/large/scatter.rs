//! Large calls of operators that write elements at indices: the expected results are computed by a loop.

use dispatch_checks::plumbing::{Array, CallError, Datum, to_complex};
use dispatch_runtime::{DType, Operator, Scalar};

use super::gather::{integer_array, scattered_index, to_usize};
use super::input::{DTypeCategory, LineLayout, varied_number};
use super::trial::{ExpectedResult, LargeArgument, LargeTrial, NamedArguments, fixed_tensor, fixed_value};
use super::{LineLayouts, TrialFamily};

pub(super) const SCATTER_FAMILY: TrialFamily = TrialFamily {
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
    let trials = match (name.base, name.overload) {
        ("scatter" | "scatter_add" | "scatter_reduce", overload) => {
            layouts.iter().flat_map(|lines| scatter_trials(name.base, overload, *lines, kind)).collect()
        }
        ("index_add" | "index_copy" | "index_fill" | "index_reduce", overload) => {
            layouts.iter().flat_map(|lines| index_trials(name.base, overload, *lines, kind)).collect()
        }
        ("masked_scatter", _) => vec![masked_scatter_trial(kind)],
        ("embedding_dense_backward", _) => vec![embedding_backward_trial(kind)],
        (base, _) if base.ends_with("_scatter") => vec![view_scatter_trial(base, kind)],
        (base, _) => put_trials(base, kind),
    };
    Ok(trials)
}

/// The combination of an old element with a written one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CombineRule {
    Replace,
    Add,
    Multiply,
    Max,
    Min,
    Mean,
}

impl CombineRule {
    fn apply(self, old: Scalar, new: Scalar) -> Scalar {
        let is_more = to_complex(new).re > to_complex(old).re;
        let ordered = |is_new: bool| if is_new { new } else { old };
        match (self, old, new) {
            (Self::Replace, ..) => new,
            (Self::Add | Self::Mean, Scalar::Int(a), Scalar::Int(b)) => Scalar::Int(a + b),
            (Self::Multiply, Scalar::Int(a), Scalar::Int(b)) => Scalar::Int(a * b),
            (Self::Add | Self::Mean, Scalar::Float(a), Scalar::Float(b)) => Scalar::Float(a + b),
            (Self::Multiply, Scalar::Float(a), Scalar::Float(b)) => Scalar::Float(a * b),
            (Self::Add | Self::Mean, ..) => Scalar::Complex(to_complex(old) + to_complex(new)),
            (Self::Multiply, ..) => Scalar::Complex(to_complex(old) * to_complex(new)),
            (Self::Max, ..) => ordered(is_more),
            (Self::Min, ..) => ordered(!is_more),
        }
    }

    /// Returns the elements to write, by the index in a line. Their combination fits a narrow dtype.
    fn element_function(self) -> fn(i64) -> i64 {
        match self {
            // Neighbours cancel, except for the 1 that the first 200 have in addition.
            Self::Add | Self::Mean => |i| varied_number(i / 2) / 8 * (1 - 2 * (i % 2)) + i64::from(i < 200),
            Self::Multiply => |i| if i % 3001 == 7 { 2 } else { [1, -1, 1][to_usize(i % 3)] },
            _ => |i| varied_number(i) / 2,
        }
    }

    const fn needs_distinct_targets(self) -> bool {
        matches!(self, Self::Replace)
    }
}

/// Writes elements at logical indices of an array. If `excludes_self`, the first write to an element replaces the old value.
fn write_elements(
    base: &Array,
    writes: impl Iterator<Item = (i64, Scalar)>,
    combine: CombineRule,
    excludes_self: bool,
) -> Array {
    let mut out = base.contiguous();
    let mut counts = vec![i32::from(!excludes_self); out.elements.len()];
    let mut touched = vec![false; out.elements.len()];
    for (place, new) in writes {
        let at = to_usize(place);
        let old = &mut out.elements[at];
        *old = if counts[at] == 0 { new } else { combine.apply(*old, new) };
        counts[at] += 1;
        touched[at] = true;
    }
    if combine == CombineRule::Mean {
        let shared = out.elements.iter_mut().zip(counts).zip(touched).filter(|(_, touched)| *touched);
        shared.for_each(|((sum, count), _)| *sum = Scalar::Float(to_complex(*sum).re / f64::from(count)));
    }
    out
}

/// Returns the target index of index `at` of a line. If `once`, no two indices have the same target; otherwise many have the same.
fn target_index(at: i64, line: i64, length: i64, once: bool) -> i64 {
    if once { (scattered_index(at, length) + line) % length } else { at / 2 % length.min(3) }
}

/// Splits a logical index into that of its line's first element, the number of the line, and the index within the line.
fn split_logical_index(place: i64, length: i64, inner: i64) -> (i64, i64, i64) {
    let start = place / (length * inner) * length * inner + place % inner;
    (start, place / (length * inner) * inner + place % inner, place / inner % length)
}

fn length_inner_and_count(lines: LineLayout) -> (i64, i64, i64) {
    let inner: i64 = lines.sizes[lines.dim + 1..].iter().product();
    (lines.sizes[lines.dim], inner, lines.sizes.iter().product())
}

fn dim_argument(lines: LineLayout) -> (&'static str, LargeArgument) {
    ("dim", fixed_value(i64::try_from(lines.dim).unwrap_or(0)))
}

fn combination_variants(base: &str, overload: &str, kind: DTypeCategory) -> Vec<(CombineRule, &'static str, bool)> {
    let ordered = kind != DTypeCategory::Complex;
    match (base, overload) {
        ("scatter", "reduce" | "value_reduce") => {
            vec![(CombineRule::Add, "add", false), (CombineRule::Multiply, "multiply", false)]
        }
        ("scatter_reduce" | "index_reduce", _) => {
            let mut all = vec![(CombineRule::Multiply, "prod", false), (CombineRule::Multiply, "prod", true)];
            if base == "scatter_reduce" {
                all.extend([(CombineRule::Add, "sum", false), (CombineRule::Add, "sum", true)]);
            }
            if ordered {
                all.extend([(CombineRule::Max, "amax", false), (CombineRule::Min, "amin", true)]);
            }
            if kind == DTypeCategory::Real {
                all.extend([(CombineRule::Mean, "mean", false), (CombineRule::Mean, "mean", true)]);
            }
            all
        }
        ("scatter_add" | "index_add", _) => vec![(CombineRule::Add, "", false)],
        _ => vec![(CombineRule::Replace, "", false)],
    }
}

fn scatter_trials(base: &str, overload: &str, lines: LineLayout, kind: DTypeCategory) -> Vec<LargeTrial> {
    let (length, inner, count) = length_inner_and_count(lines);
    let is_value = overload.starts_with("value");
    let trial = |(combine, word, excludes_self): (CombineRule, &'static str, bool)| {
        let this = lines.create_array(kind, |i| i % 4);
        let source =
            lines.create_array(kind, |place| combine.element_function()(split_logical_index(place, length, inner).2));
        let to = |place: i64| {
            let (start, line, at) = split_logical_index(place, length, inner);
            (start, target_index(at, line, length, combine.needs_distinct_targets()))
        };
        let index = integer_array(lines.sizes, |place| to(place).1);
        // Repeated multiplication with -1 does not grow.
        let value = if combine == CombineRule::Multiply { -1 } else { 3 };
        let from = source.contiguous();
        let number = if kind == DTypeCategory::Complex { Scalar::Int(value) } else { kind.to_scalar(value) };
        let writes = (0..count).map(|place| {
            let (start, at) = to(place);
            (start + at * inner, if is_value { number } else { from.elements[to_usize(place)] })
        });
        let expected = write_elements(&this, writes, combine, excludes_self);
        let mut given: NamedArguments =
            vec![("self", this.into()), dim_argument(lines), ("index", fixed_tensor(index))];
        given.push(if is_value { ("value", fixed_value(number)) } else { ("src", source.into()) });
        if !word.is_empty() {
            given.push(("reduce", fixed_value(word)));
        }
        if base == "scatter_reduce" {
            given.push(("include_self", fixed_value(!excludes_self)));
        }
        LargeTrial::new(
            format!("{} {word}, excludes_self: {excludes_self}", lines.label()),
            given,
            vec![ExpectedResult::Elements(expected)],
        )
    };
    combination_variants(base, overload, kind).into_iter().map(trial).collect()
}

fn index_trials(base: &str, overload: &str, lines: LineLayout, kind: DTypeCategory) -> Vec<LargeTrial> {
    let (length, inner, count) = length_inner_and_count(lines);
    let trial = |(combine, word, excludes_self): (CombineRule, &'static str, bool)| {
        let this = lines.create_array(kind, |i| i % 4);
        let source =
            lines.create_array(kind, |place| combine.element_function()(split_logical_index(place, length, inner).2));
        let to = |at: i64| target_index(at, 0, length, combine.needs_distinct_targets());
        let fills = base == "index_fill";
        // `index_fill` writes at some indices of the dimension and not at others.
        let some = if fills { length / 2 + 1 } else { length };
        let index = integer_array(&[some], to);
        let from = source.contiguous();
        let writes = (0..count).filter_map(|place| {
            let (start, _, at) = split_logical_index(place, length, inner);
            let element = if fills { kind.to_scalar(3) } else { from.elements[to_usize(place)] };
            (at < some).then_some((start + to(at) * inner, element))
        });
        let expected = write_elements(&this, writes, combine, excludes_self);
        let mut given: NamedArguments =
            vec![("self", this.into()), dim_argument(lines), ("index", fixed_tensor(index))];
        match (fills, overload) {
            (true, "int_Tensor") => {
                given.push(("value", Array::new(kind.reference_dtype(), &[], vec![kind.to_scalar(3)]).into()));
            }
            (true, _) => given.push(("value", fixed_value(kind.to_scalar(3)))),
            _ => given.push(("source", source.into())),
        }
        if base == "index_reduce" {
            given.extend([("reduce", fixed_value(word)), ("include_self", fixed_value(!excludes_self))]);
        }
        LargeTrial::new(
            format!("{} {word}, excludes_self: {excludes_self}", lines.label()),
            given,
            vec![ExpectedResult::Elements(expected)],
        )
    };
    combination_variants(base, overload, kind).into_iter().map(trial).collect()
}

/// Creates trials that write at lists of rows and columns, or at indices of the flattened array.
fn put_trials(base: &str, kind: DTypeCategory) -> Vec<LargeTrial> {
    let is_masked = base.contains("masked");
    let combinations: &[CombineRule] =
        if is_masked { &[CombineRule::Add] } else { &[CombineRule::Replace, CombineRule::Add] };
    let trial = |&combine: &CombineRule| {
        let this = kind.create_array(&[300, 301], |i| i % 4);
        let source = kind.create_array(&[ELEMENT_COUNT], combine.element_function());
        // Each index is written twice, or once.
        let place = |i: i64| ((if combine.needs_distinct_targets() { i } else { i / 2 }) * 7919 + 3) % 90_300;
        let writes = (0..ELEMENT_COUNT).filter(|i| !is_masked || i % 3 != 0);
        let writes = writes.map(|i| (place(i), source.elements[to_usize(i)]));
        let expected = write_elements(&this, writes, combine, false);
        let mut given: NamedArguments = vec![("self", this.into())];
        if base == "put" {
            given.extend([("index", fixed_tensor(integer_array(&[ELEMENT_COUNT], place))), ("source", source.into())]);
        } else {
            let lists = [
                integer_array(&[ELEMENT_COUNT], |i| place(i) / 301),
                integer_array(&[ELEMENT_COUNT], |i| place(i) % 301),
            ];
            let indices = LargeArgument::Fixed(Datum::OptionalArrays(lists.map(Some).to_vec()));
            given.extend([("indices", indices), ("values", source.into())]);
        }
        if is_masked {
            let mask = (0..ELEMENT_COUNT).map(|i| Scalar::Bool(i % 3 != 0)).collect();
            given.push(("mask", fixed_tensor(Array::new(DType::Bool, &[ELEMENT_COUNT], mask))));
        } else {
            given.push(("accumulate", fixed_value(combine == CombineRule::Add)));
        }
        LargeTrial::new(
            format!("adding: {}", combine == CombineRule::Add),
            given,
            vec![ExpectedResult::Elements(expected)],
        )
    };
    combinations.iter().map(trial).collect()
}

fn masked_scatter_trial(kind: DTypeCategory) -> LargeTrial {
    let (this, source) =
        (kind.create_array(&[ELEMENT_COUNT], |i| i % 4), kind.create_array(&[ELEMENT_COUNT], varied_number));
    let mask =
        Array::new(DType::Bool, &[ELEMENT_COUNT], (0..ELEMENT_COUNT).map(|i| Scalar::Bool(i % 3 != 0)).collect());
    let places = (0..ELEMENT_COUNT).filter(|i| i % 3 != 0).zip(source.elements.clone());
    let expected = write_elements(&this, places, CombineRule::Replace, false);
    let given = vec![("self", this.into()), ("mask", fixed_tensor(mask)), ("source", source.into())];
    LargeTrial::new("of two thirds", given, vec![ExpectedResult::Elements(expected)])
}

fn embedding_backward_trial(kind: DTypeCategory) -> LargeTrial {
    let grad = kind.create_array(&[ELEMENT_COUNT / 3, 3], |place| CombineRule::Add.element_function()(place / 3));
    let index = |i: i64| scattered_index(i / 2, 101);
    let zeros = kind.create_array(&[101, 3], |_| 0);
    let zeros = Array { elements: vec![zero_scalar_like(zeros.elements[0]); 303], ..zeros };
    let writes =
        (0..ELEMENT_COUNT / 3 * 3).map(|place| (index(place / 3) * 3 + place % 3, grad.elements[to_usize(place)]));
    let expected = write_elements(&zeros, writes, CombineRule::Add, false);
    let given = vec![
        ("grad_output", grad.into()),
        ("indices", fixed_tensor(integer_array(&[ELEMENT_COUNT / 3], index))),
        ("num_weights", fixed_value(101_i64)),
        ("padding_idx", fixed_value(-1_i64)),
        ("scale_grad_by_freq", fixed_value(false)),
    ];
    LargeTrial::new("of [101, 3]", given, vec![ExpectedResult::Elements(expected)])
}

/// Returns zero, as the same variant of scalar.
fn zero_scalar_like(number: Scalar) -> Scalar {
    match number {
        Scalar::Int(_) | Scalar::Bool(_) => Scalar::Int(0),
        Scalar::Float(_) => Scalar::Float(0.0),
        Scalar::Complex(_) => Scalar::Complex(dispatch_runtime::Complex64::default()),
    }
}

/// Creates a trial that replaces the elements of a view.
fn view_scatter_trial(base: &str, kind: DTypeCategory) -> LargeTrial {
    let this = kind.create_array(&[300, 301], varied_number);
    // The view's sizes, strides and offset, and the arguments that select it.
    let (sizes, steps, first, view_arguments): (Vec<i64>, [i64; 2], i64, NamedArguments) = match base {
        "select_scatter" => (vec![300], [301, 0], 7, vec![("dim", fixed_value(1_i64)), ("index", fixed_value(7_i64))]),
        "slice_scatter" => {
            let view_arguments = vec![
                ("dim", fixed_value(0_i64)),
                ("start", fixed_value(2_i64)),
                ("end", fixed_value(300_i64)),
                ("step", fixed_value(2_i64)),
            ];
            (vec![149, 301], [602, 1], 602, view_arguments)
        }
        "diagonal_scatter" => (vec![300], [302, 0], 1, vec![("offset", fixed_value(1_i64))]),
        _ => {
            let view_arguments = vec![
                ("size", fixed_value(vec![150_i64, 200])),
                ("stride", fixed_value(vec![602_i64, 1])),
                ("storage_offset", fixed_value(5_i64)),
            ];
            (vec![150, 200], [602, 1], 5, view_arguments)
        }
    };
    let columns = sizes.get(1).copied().unwrap_or(1);
    let source = kind.create_array(&sizes, |i| varied_number(i + 50));
    let count: i64 = sizes.iter().product();
    let place = |i: i64| first + i / columns * steps[0] + i % columns * steps[1];
    let writes = (0..count).map(|i| (place(i), source.elements[to_usize(i)]));
    let expected = write_elements(&this, writes, CombineRule::Replace, false);
    let mut given: NamedArguments = vec![("self", this.into()), ("src", source.into())];
    given.extend(view_arguments);
    LargeTrial::new("of [300, 301]", given, vec![ExpectedResult::Elements(expected)])
}
