//! Images looked at where a grid says.

use dispatch_runtime::prelude::*;

use crate::op_grad;

macro_rules! samplers {
    ($($name:ident $backward:ident;)*) => {$(
        #[op_grad(aten::$name)]
        fn $name(
            grad: &Tensor,
            input: &Tensor,
            grid: &Tensor,
            interpolation_mode: i64,
            padding_mode: i64,
            align_corners: bool,
            needs: &[bool],
        ) -> Result<(Option<Tensor>, Option<Tensor>)> {
            let modes = (interpolation_mode, padding_mode);
            let (of_input, of_grid) = aten::$backward(grad, input, grid, modes.0, modes.1, align_corners, needs)?;
            Ok((needs[0].then_some(of_input), needs[1].then_some(of_grid)))
        }
    )*};
}

samplers! {
    grid_sampler_2d grid_sampler_2d_backward;
    grid_sampler_3d grid_sampler_3d_backward;
}
