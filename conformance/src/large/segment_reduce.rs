//! Large calls of segment reductions and embedding bags: each segment of rows is reduced to one row.

use dispatch_runtime::{DType, Operator, Scalar};

use super::gather::{numbers, scattered, usized};
use super::input::{Kind, varied};
use super::reduction::merged_by;
use super::trial::{Expected, Named, Trial, fixed, positions};
use super::{Family, Layouts};
use crate::array::Array;
use crate::tensors::real;
use crate::verdict::Stop;

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

fn trials(operator: &'static Operator, _: Kind, _: Layouts) -> Result<Vec<Trial>, Stop> {
    let name = operator.name();
    match name.base {
        "segment_reduce" => ["sum", "mean", "max", "min", "prod"].into_iter().map(reduced).collect(),
        "_segment_reduce_backward" => ["sum", "mean", "max"].into_iter().map(back).collect(),
        base if base.ends_with("backward") => Ok(bags_back(base)),
        base => ["sum", "mean", "max"].into_iter().zip(0..).map(|(word, mode)| bagged(base, word, mode)).collect(),
    }
}

fn numbers_for(reduce: &str) -> fn(i64) -> i64 {
    if reduce == "prod" { |i| if i % 3001 == 7 { 2 } else { 1 } } else { |i| varied(i) / 8 }
}

/// Reduces each segment of rows to one row.
fn each(data: &Array, lengths: &[i64], reduce: &str) -> Result<Array, Stop> {
    let (mut start, mut rows) = (0, Vec::new());
    for &length in lengths {
        let part = data.part(0, start, usized(length));
        start += usized(length);
        let name = match reduce {
            "max" => "aten::amax",
            "min" => "aten::amin",
            "prod" => "aten::prod.dim_int",
            _ => "aten::sum.dim_IntList",
        };
        let mut row = merged_by(name, &part, 0)?;
        if reduce == "mean" {
            #[expect(clippy::cast_precision_loss, reason = "a segment has fewer rows")]
            row.elements.iter_mut().for_each(|x| *x = Scalar::Float(real(*x) / length as f64));
        }
        rows.push(row);
    }
    Ok(Array::joined(&rows, 0))
}

fn lengths() -> Array {
    Array::new(DType::I64, &[6], LENGTHS.map(Scalar::Int).to_vec())
}

fn reduced(reduce: &'static str) -> Result<Trial, Stop> {
    let data = Kind::Real.array(&[ROWS, 3], numbers_for(reduce));
    let expected = each(&data, &LENGTHS, reduce)?;
    let given = vec![("data", data.into()), ("reduce", fixed(reduce)), ("lengths", positions(lengths()))];
    Ok(Trial::new(reduce, given, vec![Expected::Numbers(expected)]))
}

/// Returns the segment number of each row.
fn segment_of_rows() -> Vec<usize> {
    LENGTHS.iter().enumerate().flat_map(|(segment, &length)| vec![segment; usized(length)]).collect()
}

fn back(reduce: &'static str) -> Result<Trial, Stop> {
    let data = Kind::Real.array(&[ROWS, 3], numbers_for(reduce));
    let output = each(&data, &LENGTHS, reduce)?;
    let grad = Kind::Real.array(&[6, 3], |i| i % 5 - 2);
    let segments = segment_of_rows();
    let mut ties = [0.0; 18];
    let place = |at: usize| segments[at / WIDTH] * WIDTH + at % WIDTH;
    #[expect(clippy::float_cmp, reason = "an element is copied, not computed")]
    let is_most = |at: usize| real(data.elements[at]) == real(output.elements[place(at)]);
    (0..data.elements.len()).filter(|&at| is_most(at)).for_each(|at| ties[place(at)] += 1.0);
    let slope = |at: usize| {
        let grad = real(grad.elements[place(at)]);
        #[expect(clippy::cast_precision_loss, reason = "a segment has fewer rows")]
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
        ("reduce", fixed(reduce)),
        ("lengths", positions(lengths())),
    ];
    Ok(Trial::new(reduce, given, vec![Expected::Numbers(expected)]))
}

fn row(i: i64) -> i64 {
    scattered(i, 101)
}

fn offsets() -> Array {
    let starts = LENGTHS.iter().scan(0, |next, &length| Some(std::mem::replace(next, *next + length)));
    Array::new(DType::I64, &[6], starts.map(Scalar::Int).collect())
}

fn table() -> Array {
    Kind::Real.array(&[101, 3], |i| varied(i) / 8)
}

fn bagged(base: &str, word: &'static str, mode: i64) -> Result<Trial, Stop> {
    let table = table();
    let picked = (0..ROWS).flat_map(|i| (0..WIDTH).map(move |column| usized(row(i)) * WIDTH + column));
    let picked = Array::new(DType::F64, &[ROWS, 3], picked.map(|at| table.elements[at]).collect());
    let expected = each(&picked, &LENGTHS, word)?;
    let mut given: Named = vec![
        ("weight", table.into()),
        ("indices", positions(numbers(&[ROWS], row))),
        ("offsets", positions(offsets())),
        ("mode", fixed(mode)),
        ("scale_grad_by_freq", fixed(false)),
        ("sparse", fixed(false)),
        ("include_last_offset", fixed(false)),
    ];
    if base == "embedding_bag" {
        given.push(("per_sample_weights", fixed(dispatch_runtime::Value::None)));
    }
    Ok(Trial::new(word, given, vec![Expected::Numbers(expected)]))
}

/// Creates a trial of an embedding bag's backward operator in mode sum. Each row gets the gradient of its bag, and per-sample weights get
/// products.
fn bags_back(base: &str) -> Vec<Trial> {
    let (segments, table) = (segment_of_rows(), table());
    let grad = Kind::Real.array(&[6, 3], |i| i % 5 - 2);
    let bags: Vec<Scalar> = segments.iter().map(|&bag| Scalar::Int(i64::try_from(bag).unwrap_or(0))).collect();
    let none = || positions(Array::new(DType::I64, &[6], vec![Scalar::Int(0); 6]));
    let mut given: Named = vec![
        ("grad", grad.clone().into()),
        ("indices", positions(numbers(&[ROWS], row))),
        ("offsets", positions(offsets())),
        ("offset2bag", positions(Array::new(DType::I64, &[ROWS], bags))),
        ("bag_size", positions(lengths())),
        ("maximum_indices", none()),
        ("num_weights", fixed(101_i64)),
        ("scale_grad_by_freq", fixed(false)),
        ("mode", fixed(0_i64)),
        ("sparse", fixed(false)),
        ("per_sample_weights", fixed(dispatch_runtime::Value::None)),
    ];
    let expected = if base.contains("per_sample") {
        let of_row = |i: i64| {
            let (bag, row) = (segments[usized(i)], usized(row(i)));
            let product = |at: usize| real(grad.elements[bag * WIDTH + at]) * real(table.elements[row * WIDTH + at]);
            Scalar::Float((0..WIDTH).map(product).sum())
        };
        given.push(("weight", table.clone().into()));
        Array::new(DType::F64, &[ROWS], (0..ROWS).map(of_row).collect())
    } else {
        let mut sums = vec![0.0; 303];
        for i in 0..ROWS {
            for column in 0..WIDTH {
                sums[usized(row(i)) * WIDTH + column] += real(grad.elements[segments[usized(i)] * WIDTH + column]);
            }
        }
        Array::floats(&[101, 3], &sums)
    };
    vec![Trial::new("of sums", given, vec![Expected::Numbers(expected)])]
}
