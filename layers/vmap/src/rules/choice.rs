//! One of two elements, as a mask says.

use dispatch_macros::op_vmap;
use dispatch_runtime::Result;

use crate::batch::{Batch, Mapped};
use crate::words::aligned;

/// A value of each slice's own is a tensor to choose from, and not one number.
#[op_vmap(aten::masked_fill)]
fn masked_fill(_: &Batch, this: Mapped, mask: Mapped, value: Mapped) -> Result<Mapped> {
    let rank = this.rank().max(mask.rank());
    let [elements, mask] = [this, mask]
        .map(|operand| if operand.is_mapped() { aligned(&operand, rank) } else { Ok(operand.tensor().clone()) });
    let (elements, mask) = (elements?, mask?);
    if !value.is_mapped() {
        return Ok(Mapped::in_front(aten::masked_fill(&elements, &mask, value.tensor())?));
    }
    let value = aten::to_dtype(&aligned(&value, rank)?, elements.dtype(), false, false, None)?;
    Ok(Mapped::in_front(aten::where_self(&mask, &value, &elements)?))
}
