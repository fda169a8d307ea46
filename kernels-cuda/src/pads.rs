//! Borders that continue what is inside.
#![expect(unsafe_code, reason = "kernels are native code")]

use dispatch_runtime::prelude::*;
use dispatch_runtime::{DType, Spec};

use crate::images::Images;
use crate::kernel::Kernel;
use crate::launch::{Launch, Parameter};
use crate::machine::Grid;
use crate::number::{NUMBERS, check_dtype, moved};

kernel! {
    // SAFETY: both sides come with their own sizes and steps, and `aten` compared them with the padding.
    static PADS = unsafe { Kernel::new("pads", include_str!("../kernels/pads.cu"), |instances| {
        instances.each("bordered", &[DType::U8, DType::I16, DType::I32, DType::I64]);
        instances.each("unbordered", &NUMBERS);
    }) };
}

/// `struct Border` of the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Border {
    before: [i64; 3],
    kind: u32,
}

impl Parameter for Border {}

impl Border {
    fn new(border: aten::Border, padding: &[i64]) -> Self {
        let mut before = [0; 3];
        // Paddings come in pairs, that of the last dimension first.
        for (dim, pair) in padding.chunks_exact(2).enumerate() {
            before[2 - dim] = pair[0];
        }
        Self { before, kind: u32::from(border == aten::Border::Repeated) }
    }
}

fn bordered(this: &Tensor, padding: &[i64], count: usize, border: aten::Border) -> Result<Tensor> {
    let spec = aten::bordered_spec(this, padding, count, border)?;
    filled("bordered", this, spec, moved(this.dtype()), count, Border::new(border, padding))
}

fn filled(
    template: &'static str,
    from: &Tensor,
    spec: Spec,
    dtype: DType,
    rank: usize,
    border: Border,
) -> Result<Tensor> {
    let out = spec.on(from.device())?;
    let (launch, count) = (Launch::on(&out)?, out.geometry().count());
    let images = (Images::of(&out, rank), Images::of(from, rank));
    let arguments = (count, launch.place(&out)?, launch.place(from)?, images.0, images.1, border);
    launch.run(&PADS, template, &[dtype], Grid::cover(count), arguments)?;
    Ok(out)
}

macro_rules! borders {
    ($($name:ident $backward:ident $count:literal $border:ident;)*) => {$(
        #[op_impl(aten::$name, CUDA)]
        fn $name(this: &Tensor, padding: &[i64]) -> Result<Tensor> {
            bordered(this, padding, $count, aten::Border::$border)
        }

        #[op_impl(aten::$backward, CUDA)]
        fn $backward(grad_output: &Tensor, this: &Tensor, padding: &[i64]) -> Result<Tensor> {
            let spec = aten::unbordered_spec(grad_output, this, padding, $count, aten::Border::$border)?;
            check_dtype(aten::$backward::operator(), "self", this.dtype(), &NUMBERS)?;
            let border = Border::new(aten::Border::$border, padding);
            filled("unbordered", grad_output, spec, this.dtype(), $count, border)
        }
    )*};
}

borders! {
    reflection_pad1d reflection_pad1d_backward 1 Mirrored;
    reflection_pad2d reflection_pad2d_backward 2 Mirrored;
    reflection_pad3d reflection_pad3d_backward 3 Mirrored;
    replication_pad1d replication_pad1d_backward 1 Repeated;
    replication_pad2d replication_pad2d_backward 2 Repeated;
    replication_pad3d replication_pad3d_backward 3 Repeated;
}
