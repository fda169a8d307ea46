//! Kernels of `im2col` and `col2im`.

use aten::Window;
use dispatch_runtime::prelude::*;
use dispatch_runtime::{Complex32, Complex64, Spec};

use crate::geometry::ConvGeometry;
use engine::contiguous::{contiguous_elements, with_compute_type, write_contiguous};

#[op_impl(aten::im2col, CPU)]
fn im2col(plan: &Window, out: &mut Tensor, this: &Tensor) -> Result<()> {
    if this.dtype() == DType::Bool {
        let bytes = aten::to_dtype(this, DType::U8, false, false, None)?;
        let mut columns = Spec::contiguous(DType::U8, out.sizes()).on(out.device())?;
        im2col(plan, &mut columns, &bytes)?;
        return aten::copy_(out, &columns, false);
    }
    let geometry = ConvGeometry::for_image(plan, this.sizes());
    with_compute_type!(im2col "self", this.dtype(); T in [f32 f64 i64 Complex32 Complex64] => {
        let elements = contiguous_elements::<T>(this)?;
        write_contiguous(out, |out: &mut [T]| {
            for item in 0..geometry.batch {
                geometry.unfold(&elements[geometry.large_side_range(item)], &mut out[geometry.unfolded_range(item)]);
            }
            Ok(())
        })
    })
}

#[op_impl(aten::col2im, CPU)]
fn col2im(plan: &Window, out: &mut Tensor, this: &Tensor) -> Result<()> {
    let geometry = ConvGeometry::for_image(plan, out.sizes());
    with_compute_type!(col2im "self", this.dtype(); T in [f32 f64 i64 Complex32 Complex64] => {
        let elements = contiguous_elements::<T>(this)?;
        write_contiguous(out, |out: &mut [T]| {
            out.fill(T::ZERO);
            for item in 0..geometry.batch {
                geometry.fold(&elements[geometry.unfolded_range(item)], &mut out[geometry.large_side_range(item)]);
            }
            Ok(())
        })
    })
}
