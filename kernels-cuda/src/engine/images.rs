//! Batches of images and windows over them, as kernel parameters.

use crate::engine::walk::FastDivisor;
use crate::prelude::*;

define_parameters! {
    /// The kernels' `struct Images`: the sizes and strides of a batch of images.
    #[derive(Debug)]
    pub(crate) struct Images {
        channels: FastDivisor,
        sizes: [FastDivisor; 3],
        steps: [i64; 5],
        channels_last: u32,
    }
}

impl Images {
    /// Describes a tensor whose last `rank` dimensions are an image's. The dimensions before are the channels, and a batch if there is one.
    pub(crate) fn from_tensor(tensor: &Tensor, rank: usize) -> Self {
        let (mut sizes, mut steps) = ([1_u32; 5], [0; 5]);
        let own = tensor.sizes().iter().zip(tensor.strides()).rev();
        for (dim, (&size, &step)) in own.enumerate().take(rank + 2) {
            // The missing dimensions of a smaller image have size one: one plane, and one row.
            let at = if dim < rank { 4 - dim } else { 1 + rank - dim };
            (sizes[at], steps[at]) = (u32::try_from(size).unwrap_or(u32::MAX >> 1), step);
        }
        let channels_last = u32::from(sizes[1] > 1 && steps[1] == 1);
        let [_, channels, depth, height, width] = sizes.map(FastDivisor::new);
        Self { channels, sizes: [depth, height, width], steps, channels_last }
    }

    /// Whether neighbours in memory are of different channels (channels-last).
    pub(crate) fn is_channels_last(&self) -> bool {
        self.channels_last == 1
    }
}

define_parameters! {
    /// The kernels' `struct Window`: kernel size, stride, padding and dilation.
    #[derive(Debug)]
    pub(crate) struct Window {
        kernel: [i64; 3],
        stride: [i64; 3],
        padding: [i64; 3],
        dilation: [i64; 3],
    }
}

impl Window {
    /// Converts a window to three dimensions. Missing leading dimensions have size one.
    pub(crate) fn from_aten(window: &aten::Window) -> Self {
        let leading = |list: &[i64], one: i64| {
            let mut all = [one; 3];
            all[3 - list.len()..].copy_from_slice(list);
            all
        };
        Self {
            kernel: leading(&window.kernel, 1),
            stride: leading(&window.stride, 1),
            padding: leading(&window.padding, 0),
            dilation: leading(&window.dilation, 1),
        }
    }
}
