//! Batch rules of operators that ignore leading dimensions, so the batch dimension is put in front.

use dispatch_macros::op_vmap;
use dispatch_runtime::{MemoryFormat, Result, Value};

use crate::batch::{Batch, Mapped};
use crate::shape_words::{aligned, shift_dim};

macro_rules! batch_in_front {
    ($($operator:ident($this:ident $(, $argument:ident: $ty:ty)*);)*) => {$(
        #[op_vmap(aten::$operator)]
        fn $operator(_: &Batch, $this: Mapped $(, $argument: $ty)*) -> Result<Mapped> {
            Ok(Mapped::in_front(aten::$operator(&$this.front()? $(, $argument)*)?))
        }
    )*};
}

batch_in_front! {
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
    Ok(Mapped::in_front(aten::clone(&this.front()?, plain)?))
}

/// Reshapes each slice, with any strides.
#[op_vmap(aten::_unsafe_view)]
fn _unsafe_view(batch: &Batch, this: Mapped, size: &[i64]) -> Result<Mapped> {
    let mut sizes = vec![batch.size()];
    sizes.extend_from_slice(size);
    Ok(Mapped::in_front(aten::reshape(&this.front()?, &sizes)?))
}

/// Copies to the batched tensor below, and returns the tensor that was passed.
fn copied(batch: &Batch, arguments: &[Value]) -> Result<Option<Vec<Value>>> {
    let [Value::Tensor(written), Value::Tensor(src), Value::Bool(non_blocking)] = arguments else { return Ok(None) };
    let (this, src) = (batch.mapped(written), batch.mapped(src));
    let source = aligned(&Mapped::in_front(batch.each(&src)?), this.rank())?;
    aten::copy_(&mut this.front()?, &source, *non_blocking)?;
    Ok(Some(vec![written.clone().into()]))
}

by_values! { |batch, _, arguments| copied(batch, arguments) => copy_ }

/// Batches `masked_fill`. A batched value is no scalar any more, so it is selected with `where`.
#[op_vmap(aten::masked_fill)]
fn masked_fill(_: &Batch, this: Mapped, mask: Mapped, value: Mapped) -> Result<Option<Mapped>> {
    let rank = this.rank().max(mask.rank());
    let [each, mask] =
        [&this, &mask].map(|tensor| if tensor.is_mapped() { aligned(tensor, rank) } else { Ok(tensor.tensor.clone()) });
    let (each, mask) = (each?, mask?);
    if !value.is_mapped() {
        return Ok(Some(Mapped::in_front(aten::masked_fill(&each, &mask, &value.tensor)?)));
    }
    if value.rank() > 0 || !value.tensor.dtype().can_cast(each.dtype()) {
        return Ok(None);
    }
    let value = aten::to_dtype(&aligned(&value, rank)?, each.dtype(), false, false, None)?;
    Ok(Some(Mapped::in_front(aten::where_self(&mask, &value, &each)?)))
}

/// Repeats each slice along its own dimensions, and along new dimensions in front of them.
#[op_vmap(aten::repeat)]
fn repeat(_: &Batch, this: Mapped, repeats: &[i64]) -> Result<Option<Mapped>> {
    if repeats.len() < this.rank() {
        return Ok(None);
    }
    let once = [&[1], repeats].concat();
    Ok(Some(Mapped::in_front(aten::repeat(&aligned(&this, repeats.len())?, &once)?)))
}

#[op_vmap(aten::diag_embed)]
fn diag_embed(_: &Batch, this: Mapped, offset: i64, dim1: i64, dim2: i64) -> Result<Option<Mapped>> {
    let rank = this.rank() + 1;
    if this.rank() == 0 {
        return Ok(None);
    }
    let (dim1, dim2) = (shift_dim(dim1, rank)?, shift_dim(dim2, rank)?);
    Ok(Some(Mapped::in_front(aten::diag_embed(&this.front()?, offset, dim1, dim2)?)))
}

/// Moves channels into pixels. Any number of leading dimensions is allowed.
#[op_vmap(aten::pixel_shuffle)]
fn pixel_shuffle(_: &Batch, this: Mapped, upscale_factor: i64) -> Result<Option<Mapped>> {
    (this.rank() >= 3).then(|| Ok(Mapped::in_front(aten::pixel_shuffle(&this.front()?, upscale_factor)?))).transpose()
}

#[op_vmap(aten::pixel_unshuffle)]
fn pixel_unshuffle(_: &Batch, this: Mapped, downscale_factor: i64) -> Result<Option<Mapped>> {
    (this.rank() >= 3)
        .then(|| Ok(Mapped::in_front(aten::pixel_unshuffle(&this.front()?, downscale_factor)?)))
        .transpose()
}
