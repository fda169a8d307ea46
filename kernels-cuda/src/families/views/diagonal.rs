//! CUDA kernels of `tril` and `triu`, the lower and upper triangles of matrices.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::data_movement::{Side, WORDS, word};
use crate::engine::walk::Steps;
use crate::prelude::*;

kernel! {
    // SAFETY: the launch passes the strides of both tensors through the sizes of the walk.
    static DIAGONAL = unsafe { Kernel::new("diagonal", include_str!("../../../kernels/views/diagonal.cu"), |instances| {
        instances.each("triangle", WORDS);
    }) };
}

#[op_impl(aten::tril, CUDA)]
fn tril(_plan: &(), out: &mut Tensor, this: &Tensor, diagonal: i64) -> Result<()> {
    triangle(out, this, diagonal, true)
}

#[op_impl(aten::triu, CUDA)]
fn triu(_plan: &(), out: &mut Tensor, this: &Tensor, diagonal: i64) -> Result<()> {
    triangle(out, this, diagonal, false)
}

fn triangle(out: &Tensor, this: &Tensor, diagonal: i64, lower: bool) -> Result<()> {
    if out.geometry().count() == 0 {
        return Ok(());
    }
    let (launch, rank) = (Launch::on(out)?, out.sizes().len());
    let (to, from) = (Side::of(launch, out, out.sizes())?, Side::of(launch, this, out.sizes())?);
    // Two more operands of the walk have stride 1 in the rows or the columns, so their offsets are the row and column indices.
    let counted = |counted: usize| (0..rank).map(|dim| i64::from(dim == counted)).collect::<Dims>();
    let steps = Steps::new(out.sizes(), &[to.steps, from.steps, counted(rank - 2), counted(rank - 1)]);
    for (walk, count, offsets) in steps.parts() {
        let (row, col) = (offsets[2].cast_signed(), offsets[3].cast_signed());
        let arguments = (count, to.at.offset(offsets[0]), from.at.offset(offsets[1]), walk, row, col, diagonal, lower);
        launch.cover(&DIAGONAL, "triangle", &[word(this.dtype().size())], count.into(), arguments)?;
    }
    Ok(())
}
