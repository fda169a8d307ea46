//! Large calls of segment reductions and embedding bags: each segment of rows is reduced to one row.

use dispatch_runtime::{DType, Operator, Scalar};

use super::gather::{integer_array, scattered_index, to_usize};
use super::input::{Kind, varied_number};
use super::reduction::reduce_with;
use super::trial::{Expected, NamedArguments, Trial, fixed_value, index_argument};
use super::{Family, Layouts};
use crate::array::Array;
use crate::tensors::to_real;
use crate::verdict::CallError;

pub(super) const FAMILY: Family = Family {
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
    kinds: &[Kind::Real],
    trials,
};

/// The lengths of the segments: long ones and short ones.
const LENGTHS: [i64; 6] = [60_000, 1, 2, 99, 100, 10_000];
const ROWS: i64 = 70_202;
const WIDTH: usize = 3;

fn trials(operator: &'static Operator, _: Kind, _: Layouts) -> Result<Vec<Trial>, CallError> {
    let name = operator.name();
    match name.base {
        "segment_reduce" => ["sum", "mean", "max", "min", "prod"].into_iter().map(forward_trial).collect(),
        "_segment_reduce_backward" => ["sum", "mean", "max"].into_iter().map(backward_trial).collect(),
        base if base.ends_with("backward") => Ok(bag_backward_trials(base)),
        base => ["sum", "mean", "max"].into_iter().zip(0..).map(|(word, mode)| bag_trial(base, word, mode)).collect(),
    }
}

fn input_numbers(reduce: &str) -> fn(i64) -> i64 {
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
        let mut row = reduce_with(name, &part, 0)?;
        if reduce == "mean" {
            #[expect(clippy::cast_precision_loss, reason = "a segment has fewer than 2^52 rows")]
            row.elements.iter_mut().for_each(|x| *x = Scalar::Float(to_real(*x) / length as f64));
        }
        rows.push(row);
    }
    Ok(Array::concatenated(&rows, 0))
}

fn lengths() -> Array {
    Array::new(DType::I64, &[6], LENGTHS.map(Scalar::Int).to_vec())
}

fn forward_trial(reduce: &'static str) -> Result<Trial, CallError> {
    let data = Kind::Real.array(&[ROWS, 3], input_numbers(reduce));
    let expected = reduce_segments(&data, &LENGTHS, reduce)?;
    let given = vec![("data", data.into()), ("reduce", fixed_value(reduce)), ("lengths", index_argument(lengths()))];
    Ok(Trial::new(reduce, given, vec![Expected::Elements(expected)]))
}

/// Returns the segment number of each row.
fn segment_of_rows() -> Vec<usize> {
    LENGTHS.iter().enumerate().flat_map(|(segment, &length)| vec![segment; to_usize(length)]).collect()
}

fn backward_trial(reduce: &'static str) -> Result<Trial, CallError> {
    let data = Kind::Real.array(&[ROWS, 3], input_numbers(reduce));
    let output = reduce_segments(&data, &LENGTHS, reduce)?;
    let grad = Kind::Real.array(&[6, 3], |i| i % 5 - 2);
    let segments = segment_of_rows();
    let mut ties = [0.0; 18];
    let place = |at: usize| segments[at / WIDTH] * WIDTH + at % WIDTH;
    #[expect(clippy::float_cmp, reason = "an element is copied, not computed")]
    let is_most = |at: usize| to_real(data.elements[at]) == to_real(output.elements[place(at)]);
    (0..data.elements.len()).filter(|&at| is_most(at)).for_each(|at| ties[place(at)] += 1.0);
    let slope = |at: usize| {
        let grad = to_real(grad.elements[place(at)]);
        #[expect(clippy::cast_precision_loss, reason = "a segment has fewer than 2^52 rows")]
        Scalar::Float(match reduce {
            "mean" => grad / LENGTHS[segments[at / WIDTH]] as f64,
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
        ("lengths", index_argument(lengths())),
    ];
    Ok(Trial::new(reduce, given, vec![Expected::Elements(expected)]))
}

fn row_index(i: i64) -> i64 {
    scattered_index(i, 101)
}

fn offsets() -> Array {
    let starts = LENGTHS.iter().scan(0, |next, &length| Some(std::mem::replace(next, *next + length)));
    Array::new(DType::I64, &[6], starts.map(Scalar::Int).collect())
}

fn embedding_table() -> Array {
    Kind::Real.array(&[101, 3], |i| varied_number(i) / 8)
}

fn bag_trial(base: &str, word: &'static str, mode: i64) -> Result<Trial, CallError> {
    let table = embedding_table();
    let picked = (0..ROWS).flat_map(|i| (0..WIDTH).map(move |column| to_usize(row_index(i)) * WIDTH + column));
    let picked = Array::new(DType::F64, &[ROWS, 3], picked.map(|at| table.elements[at]).collect());
    let expected = reduce_segments(&picked, &LENGTHS, word)?;
    let mut given: NamedArguments = vec![
        ("weight", table.into()),
        ("indices", index_argument(integer_array(&[ROWS], row_index))),
        ("offsets", index_argument(offsets())),
        ("mode", fixed_value(mode)),
        ("scale_grad_by_freq", fixed_value(false)),
        ("sparse", fixed_value(false)),
        ("include_last_offset", fixed_value(false)),
    ];
    if base == "embedding_bag" {
        given.push(("per_sample_weights", fixed_value(dispatch_runtime::Value::None)));
    }
    Ok(Trial::new(word, given, vec![Expected::Elements(expected)]))
}

/// Creates a trial of an embedding bag's backward operator in mode sum. Each row gets the gradient of its bag, and per-sample weights get
/// products.
fn bag_backward_trials(base: &str) -> Vec<Trial> {
    let (segments, table) = (segment_of_rows(), embedding_table());
    let grad = Kind::Real.array(&[6, 3], |i| i % 5 - 2);
    let bags: Vec<Scalar> = segments.iter().map(|&bag| Scalar::Int(i64::try_from(bag).unwrap_or(0))).collect();
    let none = || index_argument(Array::new(DType::I64, &[6], vec![Scalar::Int(0); 6]));
    let mut given: NamedArguments = vec![
        ("grad", grad.clone().into()),
        ("indices", index_argument(integer_array(&[ROWS], row_index))),
        ("offsets", index_argument(offsets())),
        ("offset2bag", index_argument(Array::new(DType::I64, &[ROWS], bags))),
        ("bag_size", index_argument(lengths())),
        ("maximum_indices", none()),
        ("num_weights", fixed_value(101_i64)),
        ("scale_grad_by_freq", fixed_value(false)),
        ("mode", fixed_value(0_i64)),
        ("sparse", fixed_value(false)),
        ("per_sample_weights", fixed_value(dispatch_runtime::Value::None)),
    ];
    let expected = if base.contains("per_sample") {
        let of_row = |i: i64| {
            let (bag, row) = (segments[to_usize(i)], to_usize(row_index(i)));
            let product =
                |at: usize| to_real(grad.elements[bag * WIDTH + at]) * to_real(table.elements[row * WIDTH + at]);
            Scalar::Float((0..WIDTH).map(product).sum())
        };
        given.push(("weight", table.clone().into()));
        Array::new(DType::F64, &[ROWS], (0..ROWS).map(of_row).collect())
    } else {
        let mut sums = vec![0.0; 303];
        for i in 0..ROWS {
            for column in 0..WIDTH {
                sums[to_usize(row_index(i)) * WIDTH + column] +=
                    to_real(grad.elements[segments[to_usize(i)] * WIDTH + column]);
            }
        }
        Array::from_floats(&[101, 3], &sums)
    };
    vec![Trial::new("of sums", given, vec![Expected::Elements(expected)])]
}
