//! Packed sequences: batches of sequences of different lengths, for recurrent layers.

use std::cmp::Reverse;

use aten::prelude::*;
use dispatch_runtime::{BadArgument, DType, Device, Result, Scalar, Tensor};

/// A batch of sequences of different lengths without padding: the elements of all sequences step by step, the longest sequence first.
///
/// ```
/// # use kernels_cpu as _;
/// use aten::prelude::*;
/// use dispatch_nn::{LSTM, utils::rnn::{PadOptions, pack_padded_sequence, pad_packed_sequence}};
/// use dispatch_runtime::Tensor;
///
/// let (x, lengths) = (Tensor::randn((5, 3, 4), ())?, Tensor::from([2_i64, 5, 3]));
/// let packed = pack_padded_sequence(&x, &lengths, false)?;
/// assert_eq!(packed.data.sizes(), [10, 4]);
/// let (output, state) = LSTM::new(4, 8)?.forward_packed(&packed, None)?;
/// let (padded, lengths) = pad_packed_sequence(&output, PadOptions::default())?;
/// assert_eq!((padded.sizes(), lengths.to_vec::<i64>()?), (&[5, 3, 8][..], vec![2, 5, 3]));
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PackedSequence {
    /// The elements of all sequences, step by step.
    pub data: Tensor,
    /// The number of sequences of each step, on the CPU.
    pub batch_sizes: Tensor,
    /// The order of the sequences in the pack, or `None` if it is the order in which they were given.
    pub sorted_indices: Option<Tensor>,
    /// The place of each given sequence in the pack.
    pub unsorted_indices: Option<Tensor>,
}

/// The options of [`pad_packed_sequence`].
///
/// ```
/// use dispatch_nn::utils::rnn::PadOptions;
/// let options = PadOptions { batch_first: true, ..PadOptions::default() };
/// assert_eq!(options.total_length, None);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PadOptions {
    /// Whether the result has sizes `[batch, length, ..]` instead of `[length, batch, ..]`.
    pub batch_first: bool,
    /// The value of the padding.
    pub padding_value: Scalar,
    /// The length of the result, if it is not that of the longest sequence.
    pub total_length: Option<i64>,
}

impl Default for PadOptions {
    fn default() -> Self {
        Self { batch_first: false, padding_value: Scalar::Float(0.0), total_length: None }
    }
}

/// Packs padded sequences of the given lengths, of sizes `[length, batch, ..]`, or `[batch, length, ..]` if `batch_first`. The lengths may
/// have any order, as with PyTorch's `enforce_sorted=False`.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::utils::rnn::pack_padded_sequence;
/// use dispatch_runtime::Tensor;
/// let padded = Tensor::from([[1.0, 0.0], [2.0, 3.0]]);
/// let packed = pack_padded_sequence(&padded, &Tensor::from([1_i64, 2]), true)?;
/// assert_eq!(packed.data.to_vec::<f64>()?, [2.0, 1.0, 3.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] if there is not one length for each sequence, or if one is not between 1 and the length of the input.
pub fn pack_padded_sequence(input: &Tensor, lengths: &Tensor, batch_first: bool) -> Result<PackedSequence> {
    let batch_dim = usize::from(!batch_first);
    let Some(&batch) = input.sizes().get(batch_dim).filter(|_| input.sizes().len() >= 2) else {
        return Err(BadArgument::rank("input", input.sizes().len(), 2..).into());
    };
    if lengths.sizes() != [batch] {
        let error = BadArgument::sizes("lengths", lengths.sizes(), &[batch][..]);
        return Err(error.because("each sequence has a length").into());
    }
    let each = lengths.to((Device::CPU, DType::I64))?.to_vec::<i64>()?;
    if each.is_sorted_by_key(|&length| Reverse(length)) {
        let (data, batch_sizes) = aten::_pack_padded_sequence(input, &Tensor::from_slice(&each), batch_first)?;
        return Ok(PackedSequence { data, batch_sizes, sorted_indices: None, unsorted_indices: None });
    }
    let mut order: Vec<(i64, i64)> = (0..).zip(each).collect();
    order.sort_by_key(|&(_, length)| Reverse(length));
    let (indices, sorted): (Vec<i64>, Vec<i64>) = order.into_iter().unzip();
    let mut places: Vec<(i64, i64)> = indices.iter().copied().zip(0..).collect();
    places.sort_unstable();
    let places: Vec<i64> = places.into_iter().map(|(_, place)| place).collect();
    let sorted_indices = Tensor::from_slice(&indices).to(input.device())?;
    let unsorted_indices = Tensor::from_slice(&places).to(input.device())?;
    let input = input.index_select(batch_dim, &sorted_indices)?;
    let (data, batch_sizes) = aten::_pack_padded_sequence(&input, &Tensor::from_slice(&sorted), batch_first)?;
    let (sorted_indices, unsorted_indices) = (Some(sorted_indices), Some(unsorted_indices));
    Ok(PackedSequence { data, batch_sizes, sorted_indices, unsorted_indices })
}

/// Pads packed sequences to one length. Also returns the length of each, on the CPU.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::utils::rnn::{PadOptions, pack_sequence, pad_packed_sequence};
/// use dispatch_runtime::Tensor;
/// let packed = pack_sequence(&[Tensor::from([1.0]), Tensor::from([2.0, 3.0])])?;
/// let options = PadOptions { batch_first: true, ..PadOptions::default() };
/// assert_eq!(pad_packed_sequence(&packed, options)?.0.to_vec::<f64>()?, [1.0, 0.0, 2.0, 3.0]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] if `total_length` is less than the length of the longest sequence.
pub fn pad_packed_sequence(sequence: &PackedSequence, options: PadOptions) -> Result<(Tensor, Tensor)> {
    let PackedSequence { data, batch_sizes, unsorted_indices, .. } = sequence;
    let PadOptions { batch_first, padding_value, total_length } = options;
    if let Some(length) = total_length
        && length < 1
    {
        return Err(BadArgument::number("total_length", length, 1..).into());
    }
    let (padded, lengths) =
        aten::_pad_packed_sequence(data, batch_sizes, batch_first, padding_value, total_length.unwrap_or(-1))?;
    match unsorted_indices {
        Some(places) => {
            let padded = padded.index_select(usize::from(!batch_first), places)?;
            Ok((padded, lengths.index_select(0, &places.to(Device::CPU)?)?))
        }
        None => Ok((padded, lengths)),
    }
}

/// Packs sequences of sizes `[length, ..]`, in any order of lengths.
///
/// ```
/// # use kernels_cpu as _;
/// use dispatch_nn::utils::rnn::pack_sequence;
/// use dispatch_runtime::Tensor;
/// let packed = pack_sequence(&[Tensor::from([1.0]), Tensor::from([2.0, 3.0])])?;
/// assert_eq!(packed.batch_sizes.to_vec::<i64>()?, [2, 1]);
/// # Ok::<(), dispatch_runtime::Error>(())
/// ```
///
/// # Errors
///
/// Returns [`BadArgument`] if there is no sequence, if one is empty, or if other sizes than the length differ.
pub fn pack_sequence(sequences: &[Tensor]) -> Result<PackedSequence> {
    let padded = aten::pad_sequence(sequences, false, 0.0, "right")?;
    let lengths: Vec<i64> = sequences.iter().map(|one| one.sizes().first().copied().unwrap_or(0)).collect();
    pack_padded_sequence(&padded, &Tensor::from_slice(&lengths), false)
}
