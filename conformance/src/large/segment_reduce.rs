//! Large calls of segment reductions and embedding bags: each segment of rows is reduced to one row.

use dispatch_checks::plumbing::{Array, CallError, to_real};
use dispatch_runtime::{DType, Operator, Scalar};

use super::gather::{integer_array, scattered_index, to_usize};
use super::input::{ArrayLines, DTypeCategory, varied_number};
use super::reduction::reduce_by_name;
use super::trial::{ExpectedResult, LargeTrial, NamedArguments, fixed_tensor, fixed_value};
use super::{LineLayouts, TrialFamily};

pub(super) const SEGMENT_REDUCE_FAMILY: TrialFamily = TrialFamily {
    names: &[
        "aten::segment_reduce",
        "aten::_segment_reduce_backward",
        "aten::_embedding_bag",
        "aten::_embedding_bag_forward_only",
        "aten::embedding_bag",
        "aten::embedding_bag.padding_idx",
        "aten::_embedding_bag_backward",
        "aten::_embedding_bag_dense_backward",
        "aten::_embedding_bag_per_sample_weights_backward",
    ],
    kinds: &[DTypeCategory::Real],
    trials: create_trials,
};

/// The lengths of the segments: long ones and short ones.
const SEGMENT_LENGTHS: [i64; 6] = [60_000, 1, 2, 99, 100, 10_000];
const ROW_COUNT: i64 = 70_202;
const COLUMN_COUNT: usize = 3;

fn create_trials(operator: &'static Operator, _: DTypeCategory, _: LineLayouts) -> Result<Vec<LargeTrial>, CallError> {
    let name = operator.name();
    match name.base {
        "segment_reduce" => ["sum", "mean", "max", "min", "prod"].into_iter().map(segment_reduce_trial).collect(),
        "_segment_reduce_backward" => ["sum", "mean", "max"].into_iter().map(segment_reduce_backward_trial).collect(),
        base if base.ends_with("backward") => Ok(embedding_bag_backward_trials(base)),
        base => ["sum", "mean", "max"]
            .into_iter()
            .zip(0..)
            .map(|(word, mode)| embedding_bag_trial(base, word, mode))
            .collect(),
    }
}

fn element_function(reduce: &str) -> fn(i64) -> i64 {
    if reduce == "prod" { |i| if i % 3001 == 7 { 2 } else { 1 } } else { |i| varied_number(i) / 8 }
}

/// Reduces each segment of rows to one row.
fn reduce_segments(data: &Array, lengths: &[i64], reduce: &str) -> Result<Array, CallError> {
    let (mut start, mut rows) = (0, Vec::new());
    for &length in lengths {
        let part = data.narrowed(0, start, to_usize(length));
        start += to_usize(length);
        let name = match reduce {
            "max" => "aten::amax",
            "min" => "aten::amin",
            "prod" => "aten::prod.dim_int",
            _ => "aten::sum.dim_IntList",
        };
        let mut row = reduce_by_name(name, &part, 0)?;
        if reduce == "mean" {
            #[expect(clippy::cast_precision_loss, reason = "a segment has fewer than 2^52 rows")]
            row.elements.iter_mut().for_each(|x| *x = Scalar::Float(to_real(*x) / length as f64));
        }
        rows.push(row);
    }
    Ok(Array::concatenated(&rows, 0))
}

fn lengths_array() -> Array {
    Array::new(DType::I64, &[6], SEGMENT_LENGTHS.map(Scalar::Int).to_vec())
}

fn segment_reduce_trial(reduce: &'static str) -> Result<LargeTrial, CallError> {
    let data = DTypeCategory::Real.create_array(&[ROW_COUNT, 3], element_function(reduce));
    let expected = reduce_segments(&data, &SEGMENT_LENGTHS, reduce)?;
    let given =
        vec![("data", data.into()), ("reduce", fixed_value(reduce)), ("lengths", fixed_tensor(lengths_array()))];
    Ok(LargeTrial::new(reduce, given, vec![ExpectedResult::Elements(expected)]))
}

/// Returns the segment number of each row.
fn row_segments() -> Vec<usize> {
    SEGMENT_LENGTHS.iter().enumerate().flat_map(|(segment, &length)| vec![segment; to_usize(length)]).collect()
}

fn segment_reduce_backward_trial(reduce: &'static str) -> Result<LargeTrial, CallError> {
    let data = DTypeCategory::Real.create_array(&[ROW_COUNT, 3], element_function(reduce));
    let output = reduce_segments(&data, &SEGMENT_LENGTHS, reduce)?;
    let grad = DTypeCategory::Real.create_array(&[6, 3], |i| i % 5 - 2);
    let segments = row_segments();
    let mut ties = [0.0; 18];
    let place = |at: usize| segments[at / COLUMN_COUNT] * COLUMN_COUNT + at % COLUMN_COUNT;
    #[expect(clippy::float_cmp, reason = "an element is copied, not computed")]
    let is_most = |at: usize| to_real(data.elements[at]) == to_real(output.elements[place(at)]);
    (0..data.elements.len()).filter(|&at| is_most(at)).for_each(|at| ties[place(at)] += 1.0);
    let slope = |at: usize| {
        let grad = to_real(grad.elements[place(at)]);
        #[expect(clippy::cast_precision_loss, reason = "a segment has fewer than 2^52 rows")]
        Scalar::Float(match reduce {
            "mean" => grad / SEGMENT_LENGTHS[segments[at / COLUMN_COUNT]] as f64,
            "max" if is_most(at) => grad / ties[place(at)],
            "max" => 0.0,
            _ => grad,
        })
    };
    let expected = Array::new(DType::F64, &data.sizes, (0..data.elements.len()).map(slope).collect());
    let given = vec![
        ("grad", grad.into()),
        ("output", output.into()),
        ("data", data.into()),
        ("reduce", fixed_value(reduce)),
        ("lengths", fixed_tensor(lengths_array())),
    ];
    Ok(LargeTrial::new(reduce, given, vec![ExpectedResult::Elements(expected)]))
}

fn embedding_row(i: i64) -> i64 {
    scattered_index(i, 101)
}

fn offsets_array() -> Array {
    let starts = SEGMENT_LENGTHS.iter().scan(0, |next, &length| Some(std::mem::replace(next, *next + length)));
    Array::new(DType::I64, &[6], starts.map(Scalar::Int).collect())
}

fn embedding_table() -> Array {
    DTypeCategory::Real.create_array(&[101, 3], |i| varied_number(i) / 8)
}

fn embedding_bag_trial(base: &str, word: &'static str, mode: i64) -> Result<LargeTrial, CallError> {
    let table = embedding_table();
    let picked = (0..ROW_COUNT)
        .flat_map(|i| (0..COLUMN_COUNT).map(move |column| to_usize(embedding_row(i)) * COLUMN_COUNT + column));
    let picked = Array::new(DType::F64, &[ROW_COUNT, 3], picked.map(|at| table.elements[at]).collect());
    let expected = reduce_segments(&picked, &SEGMENT_LENGTHS, word)?;
    let mut given: NamedArguments = vec![
        ("weight", table.into()),
        ("indices", fixed_tensor(integer_array(&[ROW_COUNT], embedding_row))),
        ("offsets", fixed_tensor(offsets_array())),
        ("mode", fixed_value(mode)),
        ("scale_grad_by_freq", fixed_value(false)),
        ("sparse", fixed_value(false)),
        ("include_last_offset", fixed_value(false)),
    ];
    if base == "embedding_bag" {
        given.push(("per_sample_weights", fixed_value(dispatch_runtime::Value::None)));
    }
    Ok(LargeTrial::new(word, given, vec![ExpectedResult::Elements(expected)]))
}

/// Creates a trial of an embedding bag's backward operator in mode sum. Each row gets the gradient of its bag, and per-sample weights get
/// products.
fn embedding_bag_backward_trials(base: &str) -> Vec<LargeTrial> {
    let (segments, table) = (row_segments(), embedding_table());
    let grad = DTypeCategory::Real.create_array(&[6, 3], |i| i % 5 - 2);
    let bags: Vec<Scalar> = segments.iter().map(|&bag| Scalar::Int(i64::try_from(bag).unwrap_or(0))).collect();
    let none = || fixed_tensor(Array::new(DType::I64, &[6], vec![Scalar::Int(0); 6]));
    let mut given: NamedArguments = vec![
        ("grad", grad.clone().into()),
        ("indices", fixed_tensor(integer_array(&[ROW_COUNT], embedding_row))),
        ("offsets", fixed_tensor(offsets_array())),
        ("offset2bag", fixed_tensor(Array::new(DType::I64, &[ROW_COUNT], bags))),
        ("bag_size", fixed_tensor(lengths_array())),
        ("maximum_indices", none()),
        ("num_weights", fixed_value(101_i64)),
        ("scale_grad_by_freq", fixed_value(false)),
        ("mode", fixed_value(0_i64)),
        ("sparse", fixed_value(false)),
        ("per_sample_weights", fixed_value(dispatch_runtime::Value::None)),
    ];
    let expected = if base.contains("per_sample") {
        let of_row = |i: i64| {
            let (bag, row) = (segments[to_usize(i)], to_usize(embedding_row(i)));
            let product = |at: usize| {
                to_real(grad.elements[bag * COLUMN_COUNT + at]) * to_real(table.elements[row * COLUMN_COUNT + at])
            };
            Scalar::Float((0..COLUMN_COUNT).map(product).sum())
        };
        given.push(("weight", table.clone().into()));
        Array::new(DType::F64, &[ROW_COUNT], (0..ROW_COUNT).map(of_row).collect())
    } else {
        let mut sums = vec![0.0; 303];
        for i in 0..ROW_COUNT {
            for column in 0..COLUMN_COUNT {
                sums[to_usize(embedding_row(i)) * COLUMN_COUNT + column] +=
                    to_real(grad.elements[segments[to_usize(i)] * COLUMN_COUNT + column]);
            }
        }
        Array::from_floats(&[101, 3], &sums)
    };
    vec![LargeTrial::new("of sums", given, vec![ExpectedResult::Elements(expected)])]
}
