//! CUDA kernels of `im2col` and `col2im`: the patches under a window as columns of a matrix, and the sums of such columns.
#![expect(unsafe_code, reason = "kernels are native code")]

use crate::engine::elementwise::REAL_DTYPES;
use crate::engine::images::{Images, Window};
use crate::engine::scalars::integer_dtype_of_same_size;
use crate::engine::walk::FastDivisor;
use crate::prelude::*;

kernel! {
    // SAFETY: images and columns come with their own strides, and `aten` computed the window's positions that are inside.
    static IM2COL_KERNEL = unsafe { Kernel::new("im2col", include_str!("../../../kernels/conv/im2col.cu"), |instances| {
        instances.add_for_each_dtype("im2col", &[DType::U8, DType::I16, DType::I32, DType::I64]);
        instances.add_for_each_dtype("col2im", &NUMERIC_DTYPES);
    }) };
}

define_parameters! {
    /// The kernels' `struct PatchMatrix`: the sizes and strides of a matrix of patches.
    struct PatchMatrix {
        /// The window's positions across and down, and its width and height.
        counts: [FastDivisor; 4],
        steps: [i64; 3],
    }
}

impl PatchMatrix {
    fn new(columns: &Tensor, window: &aten::Window, image: &[i64]) -> Self {
        let fits = |dim: usize| window.position_count(dim, image[image.len() - 2 + dim]).unwrap_or(1);
        let counts = [fits(1), fits(0), window.kernel[1], window.kernel[0]];
        let counts = counts.map(|count| FastDivisor::new(u32::try_from(count).unwrap_or(u32::MAX >> 1)));
        let steps = match *columns.strides() {
            [batch, row, column] => [batch, row, column],
            [row, column] => [0, row, column],
            _ => [0; 3],
        };
        Self { counts, steps }
    }
}

#[op_impl(aten::im2col, CUDA)]
fn im2col(plan: &aten::Window, out: &mut Tensor, this: &Tensor) -> Result<()> {
    check_dtype(aten::im2col::operator(), "self", this.dtype(), &REAL_DTYPES)?;
    let (launch, count) = (Launch::on_device_of(out)?, out.geometry().count());
    let columns = PatchMatrix::new(out, plan, this.sizes());
    let arguments = (count, out, this, Images::from_tensor(this, 2), columns, Window::from_aten(plan));
    launch.run_per_element(&IM2COL_KERNEL, "im2col", &[integer_dtype_of_same_size(this.dtype())], count, arguments)
}

#[op_impl(aten::col2im, CUDA)]
fn col2im(plan: &aten::Window, out: &mut Tensor, this: &Tensor) -> Result<()> {
    check_dtype(aten::col2im::operator(), "self", this.dtype(), &NUMERIC_DTYPES)?;
    let (launch, count) = (Launch::on_device_of(out)?, out.geometry().count());
    let columns = PatchMatrix::new(this, plan, out.sizes());
    let arguments = (count, &*out, this, Images::from_tensor(out, 2), columns, Window::from_aten(plan));
    launch.run_per_element(&IM2COL_KERNEL, "col2im", &[this.dtype()], count, arguments)
}
