//! Batches of sequences of different lengths: padded to one length, or packed without padding.
//!
//! A pack holds the elements of all sequences step by step, the longest sequence first, and the number of sequences of each step.

use dispatch_runtime::prelude::*;
use dispatch_runtime::{BadArgument, Dims, ErrorKind};

use crate::{
    check_same_device, constant_pad_nd, flatten_using_ints, full, index_copy, index_select, integers_with_capacity,
    reshape, stack, sum_i128, to_device, transpose_int,
};

/// Pads sequences to the length of the longest, at the end or at the start, and stacks them.
#[op_def(
    r#"pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0., str padding_side="right") -> Tensor"#
)]
pub fn pad_sequence(sequences: &[Tensor], batch_first: bool, padding_value: f64, padding_side: &str) -> Result<Tensor> {
    let [first, ..] = sequences else {
        return Err(BadArgument::length("sequences", 0, 1..).into());
    };
    let pad_at_end = match padding_side {
        "right" => true,
        "left" => false,
        other => return Err(BadArgument::keyword("padding_side", other, &["right", "left"]).into()),
    };
    let Some((_, inner_sizes)) = first.sizes().split_first() else {
        return Err(BadArgument::rank("sequences", 0, 1..).into());
    };
    let mut length = 0;
    for sequence in sequences {
        match sequence.sizes().split_first() {
            Some((&own, others)) if others == inner_sizes => length = length.max(own),
            _ => {
                return Err(BadArgument::sizes(
                    "sequences",
                    sequence.sizes(),
                    format!("a length, followed by the sizes {inner_sizes:?}"),
                )
                .into());
            }
        }
    }
    let padded = sequences.iter().map(|sequence| {
        let mut pad = vec![0; 2 * sequence.sizes().len()];
        let at = pad.len() - if pad_at_end { 1 } else { 2 };
        pad[at] = length - sequence.sizes()[0];
        constant_pad_nd(sequence, &pad, padding_value.into())
    });
    stack(&padded.collect::<Result<Vec<_>>>()?, i64::from(!batch_first))
}

/// Packs padded sequences without their padding. Returns the data and the number of sequences of each step.
#[op_def("_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)", out = "out")]
pub fn _pack_padded_sequence(input: &Tensor, lengths: &Tensor, batch_first: bool) -> Result<(Tensor, Tensor)> {
    check_counts_device(("input", input), ("lengths", lengths))?;
    let input = transpose_if_batch_first(input, batch_first)?;
    let lengths = read_integer_tensor(lengths, _pack_padded_sequence::operator())?;
    let [steps, batch] = [input.sizes()[0], input.sizes()[1]];
    let sorted = lengths.windows(2).all(|pair| pair[0] >= pair[1]);
    let fits = i64::try_from(lengths.len()) == Ok(batch) && lengths.iter().all(|length| (1..=steps).contains(length));
    if !(sorted && fits) {
        let expected = format!("{batch} lengths from 1 to {steps}, the longest first");
        return Err(BadArgument::value("lengths", format!("{lengths:?}"), expected).into());
    }
    let longest = lengths.first().copied().unwrap_or(0);
    let mut sizes = integers_with_capacity(longest)?;
    sizes.extend((0..longest).map(|step| count_to_i64(lengths.iter().filter(|&&length| length > step).count())));
    let data =
        index_select(&flatten_using_ints(&input, 0, 1)?, 0, &padded_row_indices(&sizes, batch, input.device())?)?;
    Ok((data, Tensor::from_slice(&sizes)))
}

/// Computes the gradient of [`_pack_padded_sequence`].
#[op_def(
    "_pack_padded_sequence_backward(Tensor grad, SymInt[] input_size, Tensor batch_sizes, bool batch_first) -> Tensor"
)]
pub fn _pack_padded_sequence_backward(_: ...) -> Result<Tensor> {
    let &[first, second, ..] = input_size else {
        return Err(BadArgument::length("input_size", input_size.len(), 2..).into());
    };
    let (steps, batch) = if batch_first { (second, first) } else { (first, second) };
    let sizes = read_batch_sizes(batch_sizes, grad, _pack_padded_sequence_backward::operator())?;
    if count_to_i64(sizes.len()) > steps || sizes.first().is_some_and(|&most| most > batch) {
        let expected = format!("{} steps and {} sequences or more, as `batch_sizes` has", sizes.len(), sizes[0]);
        return Err(BadArgument::value("input_size", format!("{input_size:?}"), expected).into());
    }
    pad_packed_rows(grad, &sizes, (steps, batch), 0.into(), batch_first)
}

/// Pads packed sequences to the length of the longest, or to `total_length`. Also returns the length of each.
#[op_def(
    "_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Scalar padding_value, int total_length) -> (Tensor, Tensor)"
)]
pub fn _pad_packed_sequence(_: ...) -> Result<(Tensor, Tensor)> {
    padding_value.check_fits("padding_value", data.dtype())?;
    let sizes = read_batch_sizes(batch_sizes, data, _pad_packed_sequence::operator())?;
    let (longest, batch) = (count_to_i64(sizes.len()), sizes.first().copied().unwrap_or(0));
    if total_length > 0 && total_length < longest {
        return Err(BadArgument::number("total_length", total_length, longest..)
            .because("the longest sequence has this length")
            .into());
    }
    let steps = if total_length > 0 { total_length } else { longest };
    let mut lengths = integers_with_capacity(batch)?;
    lengths.extend((0..batch).map(|at| count_to_i64(sizes.iter().filter(|&&size| size > at).count())));
    Ok((pad_packed_rows(data, &sizes, (steps, batch), padding_value, batch_first)?, Tensor::from_slice(&lengths)))
}

fn count_to_i64(elements: usize) -> i64 {
    i64::try_from(elements).unwrap_or(i64::MAX)
}

/// Checks that `counts` is on the CPU, where it is read, or on the device of `data`. If `data` is on Meta, both must be.
fn check_counts_device(data: (&'static str, &Tensor), counts: (&'static str, &Tensor)) -> Result<(), BadArgument> {
    let is_read_on_cpu = counts.1.device() == Device::CPU && data.1.device() != Device::META;
    if is_read_on_cpu { Ok(()) } else { check_same_device([data, counts]) }
}

/// Copies the elements of an integer tensor to a list. On Meta, returns [`ErrorKind::DataDependent`].
fn read_integer_tensor(tensor: &Tensor, operator: &'static Operator) -> Result<Vec<i64>> {
    if tensor.device() == Device::META {
        return Err(ErrorKind::DataDependent { operator: operator.name() }.into());
    }
    to_device(tensor, Device::CPU, DType::I64, false, false, None)?.to_vec::<i64>()
}

/// Reads the number of sequences of each step of a pack.
///
/// # Errors
///
/// Returns an error if a count is not positive or exceeds the one before, or if the counts do not add up to the rows of `data`. On Meta,
/// returns [`ErrorKind::DataDependent`].
pub(crate) fn read_batch_sizes(batch_sizes: &Tensor, data: &Tensor, operator: &'static Operator) -> Result<Vec<i64>> {
    check_counts_device(("data", data), ("batch_sizes", batch_sizes))?;
    let sizes = read_integer_tensor(batch_sizes, operator)?;
    let rows = data.sizes().first().copied().unwrap_or(0);
    let is_descending = sizes.windows(2).all(|pair| pair[0] >= pair[1]) && sizes.last().is_some_and(|&last| last > 0);
    if is_descending && sum_i128(&sizes) == i128::from(rows) {
        return Ok(sizes);
    }
    let expected = format!("positive numbers in descending order with the sum {rows}");
    Err(BadArgument::value("batch_sizes", format!("{sizes:?}"), expected).into())
}

/// Returns the indices of a pack's rows among the rows of padded sequences.
fn padded_row_indices(sizes: &[i64], batch: i64, device: Device) -> Result<Tensor> {
    let mut places = integers_with_capacity(i64::try_from(sum_i128(sizes)).unwrap_or(i64::MAX))?;
    places.extend(sizes.iter().zip(0..).flat_map(|(&size, step)| (0..size).map(move |at| step * batch + at)));
    to_device(&Tensor::from_slice(&places), device, DType::I64, false, false, None)
}

/// Swaps the first two dimensions, steps and sequences, if `batch_first` is true.
fn transpose_if_batch_first(input: &Tensor, batch_first: bool) -> Result<Tensor> {
    if input.sizes().len() < 2 {
        return Err(BadArgument::rank("input", input.sizes().len(), 2..).into());
    }
    if batch_first { transpose_int(input, 0, 1) } else { Ok(input.clone()) }
}

fn pad_packed_rows(
    data: &Tensor,
    sizes: &[i64],
    (steps, batch): (i64, i64),
    padding: Scalar,
    batch_first: bool,
) -> Result<Tensor> {
    let inner_sizes = data.sizes().get(1..).unwrap_or_default();
    let mut flat = Dims::from_slice(&[steps.saturating_mul(batch)]);
    flat.extend(inner_sizes.iter().copied());
    let mut padded = full(&flat, padding, Some(data.dtype()), None, Some(data.device()), None)?;
    // Rows without elements are not copied. There may be too many of them for a list of indices.
    if padded.geometry().count() > 0 {
        padded = index_copy(&padded, 0, &padded_row_indices(sizes, batch, data.device())?, data)?;
    }
    transpose_if_batch_first(&reshape(&padded, &[&[steps, batch], inner_sizes].concat())?, batch_first)
}
