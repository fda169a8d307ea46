//! Batch rules of reductions over all elements of a slice.

use dispatch_macros::op_vmap;
use dispatch_runtime::{DType, Result, Tensor};

use crate::batch::{Batch, Mapped};

/// Flattens each slice to one row.
pub(super) fn flatten_slices(batch: &Batch, mapped: &Mapped) -> Result<Tensor> {
    let front = mapped.batch_first()?;
    let count = dispatch_runtime::element_count(&front.sizes()[1..]);
    aten::reshape(&front, &[batch.size(), count])
}

macro_rules! full_reduction_rules {
    ($($operator:ident($($dtype:ident)?) => |$rows:ident| $result:expr;)*) => {$(
        #[op_vmap(aten::$operator)]
        fn $operator(batch: &Batch, this: Mapped $(, $dtype: Option<DType>)?) -> Result<Mapped> {
            let $rows = flatten_slices(batch, &this)?;
            Ok(Mapped::from_batch_first($result?))
        }
    )*};
}

full_reduction_rules! {
    sum(dtype) => |x| aten::sum_dim_intlist(&x, Some(&[1]), false, dtype);
    mean(dtype) => |x| aten::mean_dim(&x, Some(&[1]), false, dtype);
    prod(dtype) => |x| aten::prod_dim_int(&x, 1, false, dtype);
    max() => |x| aten::amax(&x, &[1], false);
    min() => |x| aten::amin(&x, &[1], false);
    any() => |x| aten::any_dim(&x, 1, false);
    all() => |x| aten::all_dim(&x, 1, false);
}

#[cfg(feature = "sort")]
macro_rules! median_rules {
    ($($operator:ident: $dim_operator:ident;)*) => {$(
        #[op_vmap(aten::$operator)]
        fn $operator(batch: &Batch, this: Mapped) -> Result<Option<Mapped>> {
            let rows = flatten_slices(batch, &this)?;
            // `median_dim` rejects an empty dimension, `median` does not. So an empty slice is left to the loop over slices.
            if rows.sizes()[1] == 0 {
                return Ok(None);
            }
            Ok(Some(Mapped::from_batch_first(aten::$dim_operator(&rows, 1, false)?.0)))
        }
    )*};
}

#[cfg(feature = "sort")]
median_rules! {
    median: median_dim;
    nanmedian: nanmedian_dim;
}
