//! Batch rules of operators that ignore leading dimensions, so the batch dimension is put in front.

use dispatch_macros::op_vmap;
use dispatch_runtime::{MemoryFormat, Result, Value};

use crate::batch::{Batch, Mapped};
use crate::shape_words::{align_rank, shift_dim};

macro_rules! leading_batch_rules {
    ($($operator:ident($this:ident $(, $argument:ident: $ty:ty)*);)*) => {$(
        #[op_vmap(aten::$operator)]
        fn $operator(_: &Batch, $this: Mapped $(, $argument: $ty)*) -> Result<Mapped> {
            Ok(Mapped::from_batch_first(aten::$operator(&$this.batch_first()? $(, $argument)*)?))
        }
    )*};
}

leading_batch_rules! {
    detach(this);
    alias_copy(this);
    triu(this, diagonal: i64);
    tril(this, diagonal: i64);
    constant_pad_nd(this, pad: &[i64], value: dispatch_runtime::Scalar);
}

/// Clones the batch. A channels-last format of a slice is dropped, as it does not apply to the batch.
#[op_vmap(aten::clone)]
fn clone(_: &Batch, this: Mapped, memory_format: Option<MemoryFormat>) -> Result<Mapped> {
    let plain =
        memory_format.filter(|format| !matches!(format, MemoryFormat::ChannelsLast | MemoryFormat::ChannelsLast3d));
    Ok(Mapped::from_batch_first(aten::clone(&this.batch_first()?, plain)?))
}

/// Reshapes each slice, with any strides.
#[op_vmap(aten::_unsafe_view)]
fn _unsafe_view(batch: &Batch, this: Mapped, size: &[i64]) -> Result<Mapped> {
    let mut sizes = vec![batch.size()];
    sizes.extend_from_slice(size);
    Ok(Mapped::from_batch_first(aten::reshape(&this.batch_first()?, &sizes)?))
}

/// Copies to the batched tensor below, and returns the tensor that was passed.
fn copy_in_place(batch: &Batch, arguments: &[Value]) -> Result<Option<Vec<Value>>> {
    let [Value::Tensor(written), Value::Tensor(src), Value::Bool(non_blocking)] = arguments else { return Ok(None) };
    let (this, src) = (batch.unwrap_tensor(written), batch.unwrap_tensor(src));
    let source = align_rank(&Mapped::from_batch_first(batch.expand_batch_first(&src)?), this.slice_rank())?;
    aten::copy_(&mut this.batch_first()?, &source, *non_blocking)?;
    Ok(Some(vec![written.clone().into()]))
}

value_rules! { |batch, _, arguments| copy_in_place(batch, arguments) => copy_ }

/// Batches `masked_fill`. A batched value is no scalar any more, so it is selected with `where`.
#[op_vmap(aten::masked_fill)]
fn masked_fill(_: &Batch, this: Mapped, mask: Mapped, value: Mapped) -> Result<Option<Mapped>> {
    let rank = this.slice_rank().max(mask.slice_rank());
    let [each, mask] = [&this, &mask]
        .map(|tensor| if tensor.is_mapped() { align_rank(tensor, rank) } else { Ok(tensor.tensor.clone()) });
    let (each, mask) = (each?, mask?);
    if !value.is_mapped() {
        return Ok(Some(Mapped::from_batch_first(aten::masked_fill(&each, &mask, &value.tensor)?)));
    }
    if value.slice_rank() > 0 || !value.tensor.dtype().can_cast(each.dtype()) {
        return Ok(None);
    }
    let value = aten::to_dtype(&align_rank(&value, rank)?, each.dtype(), false, false, None)?;
    Ok(Some(Mapped::from_batch_first(aten::where_self(&mask, &value, &each)?)))
}

/// Repeats each slice along its own dimensions, and along new dimensions in front of them.
#[op_vmap(aten::repeat)]
fn repeat(_: &Batch, this: Mapped, repeats: &[i64]) -> Result<Option<Mapped>> {
    if repeats.len() < this.slice_rank() {
        return Ok(None);
    }
    let once = [&[1], repeats].concat();
    Ok(Some(Mapped::from_batch_first(aten::repeat(&align_rank(&this, repeats.len())?, &once)?)))
}

#[op_vmap(aten::diag_embed)]
fn diag_embed(_: &Batch, this: Mapped, offset: i64, dim1: i64, dim2: i64) -> Result<Option<Mapped>> {
    let rank = this.slice_rank() + 1;
    if this.slice_rank() == 0 {
        return Ok(None);
    }
    let (dim1, dim2) = (shift_dim(dim1, rank)?, shift_dim(dim2, rank)?);
    Ok(Some(Mapped::from_batch_first(aten::diag_embed(&this.batch_first()?, offset, dim1, dim2)?)))
}

/// Moves channels into pixels. Any number of leading dimensions is allowed.
#[op_vmap(aten::pixel_shuffle)]
fn pixel_shuffle(_: &Batch, this: Mapped, upscale_factor: i64) -> Result<Option<Mapped>> {
    (this.slice_rank() >= 3)
        .then(|| Ok(Mapped::from_batch_first(aten::pixel_shuffle(&this.batch_first()?, upscale_factor)?)))
        .transpose()
}

#[op_vmap(aten::pixel_unshuffle)]
fn pixel_unshuffle(_: &Batch, this: Mapped, downscale_factor: i64) -> Result<Option<Mapped>> {
    (this.slice_rank() >= 3)
        .then(|| Ok(Mapped::from_batch_first(aten::pixel_unshuffle(&this.batch_first()?, downscale_factor)?)))
        .transpose()
}
