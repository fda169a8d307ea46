//! CUDA kernels of reflection and replication padding.
#![expect(unsafe_code, reason = "kernels are native code")]

use aten::BorderPadPlan;

use crate::engine::images::Images;
use crate::engine::scalars::integer_dtype_of_same_size;
use crate::prelude::*;

kernel! {
    // SAFETY: both sides come with their own sizes and strides, and `aten` checked them against the padding.
    static PAD_KERNEL = unsafe { Kernel::new("pad", include_str!("../../../kernels/views/pad.cu"), |instances| {
        instances.add_for_each_dtype("pad", &[DType::U8, DType::I16, DType::I32, DType::I64]);
        instances.add_for_each_dtype("pad_backward", &NUMERIC_DTYPES);
    }) };
}

define_parameters! {
    /// The kernels' `struct Padding`: the padding before each dimension, and its kind.
    struct Padding {
        before: [i64; 3],
        kind: u32,
    }
}

impl Padding {
    fn new(plan: &BorderPadPlan, padding: &[i64]) -> Self {
        let mut before = [0; 3];
        // Paddings come in pairs (before, after), the last dimension first.
        for (dim, pair) in padding.chunks_exact(2).enumerate() {
            before[2 - dim] = pair[0];
        }
        Self { before, kind: u32::from(plan.border == aten::Border::Replicate) }
    }
}

fn launch_border_pad(
    template: &'static str,
    plan: &BorderPadPlan,
    out: &Tensor,
    from: &Tensor,
    dtype: DType,
    padding: &[i64],
) -> Result<()> {
    let (launch, count) = (Launch::on_device_of(out)?, out.geometry().count());
    let (images, pad_parameter) = (
        (Images::from_tensor(out, plan.dim_count), Images::from_tensor(from, plan.dim_count)),
        Padding::new(plan, padding),
    );
    let arguments = (count, out, from, images.0, images.1, pad_parameter);
    launch.run_per_element(&PAD_KERNEL, template, &[dtype], count, arguments)
}

macro_rules! define_border_pads {
    ($($name:ident $backward:ident;)*) => {$(
        #[op_impl(aten::$name, CUDA)]
        fn $name(plan: &BorderPadPlan, out: &mut Tensor, this: &Tensor, padding: &[i64]) -> Result<()> {
            launch_border_pad("pad", plan, out, this, integer_dtype_of_same_size(this.dtype()), padding)
        }

        #[op_impl(aten::$backward, CUDA)]
        fn $backward(plan: &BorderPadPlan, out: &mut Tensor, grad_output: &Tensor, padding: &[i64]) -> Result<()> {
            check_dtype(aten::$backward::operator(), "self", grad_output.dtype(), &NUMERIC_DTYPES)?;
            launch_border_pad("pad_backward", plan, out, grad_output, grad_output.dtype(), padding)
        }
    )*};
}

define_border_pads! {
    reflection_pad1d reflection_pad1d_backward;
    reflection_pad2d reflection_pad2d_backward;
    reflection_pad3d reflection_pad3d_backward;
    replication_pad1d replication_pad1d_backward;
    replication_pad2d replication_pad2d_backward;
    replication_pad3d replication_pad3d_backward;
}
