//! CUDA kernels of `tril` and `triu`, the lower and upper triangles of matrices.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::data_movement::{StridedPointer, WORD_DTYPES, word_dtype_of_size};
use crate::engine::walk::WalkDims;
use crate::prelude::*;

kernel! {
    // SAFETY: the launch passes the strides of both tensors through the sizes of the walk.
    static DIAGONAL_KERNEL = unsafe { Kernel::new("diagonal", include_str!("../../../kernels/views/diagonal.cu"), |instances| {
        instances.add_for_each_dtype("copy_triangle", WORD_DTYPES);
    }) };
}

#[op_impl(aten::tril, CUDA)]
fn tril(_plan: &(), out: &mut Tensor, this: &Tensor, diagonal: i64) -> Result<()> {
    copy_triangle(out, this, diagonal, true)
}

#[op_impl(aten::triu, CUDA)]
fn triu(_plan: &(), out: &mut Tensor, this: &Tensor, diagonal: i64) -> Result<()> {
    copy_triangle(out, this, diagonal, false)
}

fn copy_triangle(out: &Tensor, this: &Tensor, diagonal: i64, lower: bool) -> Result<()> {
    if out.geometry().count() == 0 {
        return Ok(());
    }
    let (launch, rank) = (Launch::on_device_of(out)?, out.sizes().len());
    let (to, from) = (
        StridedPointer::from_tensor(launch, out, out.sizes())?,
        StridedPointer::from_tensor(launch, this, out.sizes())?,
    );
    // Two more operands of the walk have stride 1 in the rows or the columns, so their offsets are the row and column indices.
    let counted = |counted: usize| (0..rank).map(|dim| i64::from(dim == counted)).collect::<Dims>();
    let steps = WalkDims::new(out.sizes(), &[to.byte_strides, from.byte_strides, counted(rank - 2), counted(rank - 1)]);
    for (walk, count, offsets) in steps.split_for_32_bits() {
        let (row, col) = (offsets[2].cast_signed(), offsets[3].cast_signed());
        let arguments =
            (count, to.address.offset(offsets[0]), from.address.offset(offsets[1]), walk, row, col, diagonal, lower);
        launch.run_per_element(
            &DIAGONAL_KERNEL,
            "copy_triangle",
            &[word_dtype_of_size(this.dtype().size())],
            count.into(),
            arguments,
        )?;
    }
    Ok(())
}
