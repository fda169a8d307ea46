//! Geometry of convolution windows.

use std::ops::Range;

use aten::Window;
use dispatch_runtime::Tensor;

use super::input_tile::ConvPass;
use engine::allocation::to_usize;
use engine::compute::ComputeType;
use engine::thread_pool::DisjointLines;

/// The fewest copied elements that are worth a thread.
const COPY_GRAIN_SIZE: usize = 1 << 15;

/// A window that moves over three-dimensional images, whose first dimension may have size 1.
pub(super) struct ConvGeometry {
    pub(super) batch: usize,
    pub(super) groups: usize,
    /// The number of channels of the large side in each group.
    pub(super) channels: usize,
    /// The number of channels of the small side in each group.
    pub(super) filters: usize,
    large: [usize; 3],
    small: [usize; 3],
    kernel: [usize; 3],
    stride: [usize; 3],
    padding: [usize; 3],
    dilation: [usize; 3],
}

fn pad_to_three_dims(numbers: &[i64], before: usize) -> [usize; 3] {
    let mut three_dims = [before; 3];
    let skipped = 3 - numbers.len();
    for (at, &number) in three_dims[skipped..].iter_mut().zip(numbers) {
        *at = to_usize(number);
    }
    three_dims
}

impl ConvGeometry {
    /// Returns the window of a convolution, from the sizes of its input and output.
    pub(super) fn for_convolution(
        window: &Window,
        [input, output]: [&[i64]; 2],
        weight: &Tensor,
        transposed: bool,
        groups: i64,
    ) -> Self {
        let (large, small) = if transposed { (&output[2..], &input[2..]) } else { (&input[2..], &output[2..]) };
        Self {
            batch: to_usize(input[0]),
            groups: to_usize(groups),
            channels: to_usize(weight.sizes()[1]),
            filters: to_usize(weight.sizes()[0] / groups),
            ..Self::from_window(window, large, small)
        }
    }

    /// Returns the window over an image, whose sizes are the last three.
    pub(super) fn for_image(window: &Window, sizes: &[i64]) -> Self {
        let image = &sizes[sizes.len() - 2..];
        let small: Vec<i64> = (0..2).map(|dim| window.position_count(dim, image[dim]).unwrap_or(0)).collect();
        Self {
            batch: if sizes.len() == 4 { to_usize(sizes[0]) } else { 1 },
            channels: to_usize(sizes[sizes.len() - 3]),
            ..Self::from_window(window, image, &small)
        }
    }

    fn from_window(window: &Window, large: &[i64], small: &[i64]) -> Self {
        Self {
            batch: 1,
            groups: 1,
            channels: 1,
            filters: 1,
            large: pad_to_three_dims(large, 1),
            small: pad_to_three_dims(small, 1),
            kernel: pad_to_three_dims(&window.kernel, 1),
            stride: pad_to_three_dims(&window.stride, 1),
            padding: pad_to_three_dims(&window.padding, 0),
            dilation: pad_to_three_dims(&window.dilation, 1),
        }
    }

    /// Returns the number of positions of the window.
    pub(super) fn position_count(&self) -> usize {
        self.small.iter().product()
    }

    /// Returns the number of elements of the window.
    pub(super) fn tap_count(&self) -> usize {
        self.kernel.iter().product()
    }

    /// Returns whether the window is one element and visits every element of the image.
    pub(super) fn is_pointwise(&self) -> bool {
        self.tap_count() == 1 && self.large == self.small && self.padding == [0; 3]
    }

    /// Returns whether no two positions of the window share an element and all of the window is inside the image, so that unfolding copies
    /// each element at most once.
    pub(super) fn has_disjoint_windows(&self) -> bool {
        let is_disjoint = |dim: usize| {
            self.padding[dim] == 0
                && (self.kernel[dim] == 1 || self.dilation[dim] == 1)
                && self.stride[dim] >= self.kernel[dim]
        };
        (0..3).all(is_disjoint)
    }

    /// Returns the window of one element over the unfolded image: its elements under the window are channels.
    pub(super) fn pointwise_over_unfolded(&self) -> Self {
        Self {
            channels: self.channels * self.tap_count(),
            large: self.small,
            kernel: [1; 3],
            stride: [1; 3],
            dilation: [1; 3],
            ..*self
        }
    }

    /// Returns the number of elements of the large side of all images, after unfolding.
    pub(super) fn unfolded_count(&self) -> usize {
        self.batch * self.groups * self.channels * self.tap_count() * self.position_count()
    }

    /// Returns the number of elements of a channel of the large side.
    pub(super) fn large_side_area(&self) -> usize {
        self.large.iter().product()
    }

    /// Returns the range of the elements of one group of one image. `item` counts the groups of all images.
    pub(super) fn large_side_range(&self, item: usize) -> Range<usize> {
        item * self.channels * self.large_side_area()..(item + 1) * self.channels * self.large_side_area()
    }

    /// Returns the range of the columns of an image.
    pub(super) fn unfolded_range(&self, item: usize) -> Range<usize> {
        let length = self.channels * self.tap_count() * self.position_count();
        item * length..(item + 1) * length
    }

    /// Returns the pass that computes the small side.
    pub(super) fn pass_to_small_side(&self) -> ConvPass {
        ConvPass::new([self.large, self.small], [[0; 3], [1; 3], self.stride], self.tap_count(), |number, dim| {
            let offset = self.tap_coordinates(number)[dim] * self.dilation[dim];
            Some(offset.cast_signed() - self.padding[dim].cast_signed())
        })
    }

    /// Returns the passes that compute the large side. With a stride, elements in different phases of the stride need different taps, so
    /// each phase is a pass.
    pub(super) fn passes_to_large_side(&self) -> Vec<ConvPass> {
        let [planes, rows, columns] = [0, 1, 2].map(|dim| 0..self.stride[dim].min(self.large[dim]));
        let lines = planes.flat_map(|z| rows.clone().map(move |y| (z, y)));
        let firsts = lines.flat_map(|(z, y)| columns.clone().map(move |x| [z, y, x]));
        let pass = |first: [usize; 3]| {
            ConvPass::new([self.small, self.large], [first, self.stride, [1; 3]], self.tap_count(), |number, dim| {
                let offset = (self.tap_coordinates(number)[dim] * self.dilation[dim]).cast_signed();
                let (at, step) =
                    ((first[dim] + self.padding[dim]).cast_signed() - offset, self.stride[dim].cast_signed());
                (at % step == 0).then_some(at / step)
            })
        };
        firsts.map(pass).collect()
    }

    /// Returns the coordinates of an element of the window.
    fn tap_coordinates(&self, tap: usize) -> [usize; 3] {
        let [_, down, across] = self.kernel;
        [tap / (down * across), tap / across % down, tap % across]
    }

    /// Copies the elements under the window to columns, with a row for each channel and element of the window.
    pub(super) fn unfold<T: ComputeType>(&self, large: &[T], columns: &mut [T]) {
        let (position_count, step) = (self.position_count().max(1), self.stride[2]);
        DisjointLines::new(columns, position_count).for_each(COPY_GRAIN_SIZE.div_ceil(position_count), |at, row| {
            row.fill(T::ZERO);
            let image = &large[at / self.tap_count() * self.large_side_area()..][..self.large_side_area()];
            self.visit_tap_runs(at % self.tap_count(), |position, at, count| {
                let row = &mut row[position..position + count];
                if step == 1 {
                    row.copy_from_slice(&image[at..at + count]);
                } else {
                    row.iter_mut().zip(image[at..].iter().step_by(step)).for_each(|(to, &from)| *to = from);
                }
            });
        });
    }

    /// Adds columns to the image elements that [`unfold`](Self::unfold) copied them from. Entries from outside the image are dropped.
    pub(super) fn fold<T: ComputeType>(&self, columns: &[T], large: &mut [T]) {
        let (position_count, step, area) = (self.position_count(), self.stride[2], self.large_side_area().max(1));
        let of_channel = self.tap_count() * position_count;
        DisjointLines::new(large, area).for_each(COPY_GRAIN_SIZE.div_ceil(area), |channel, image| {
            let rows = columns[channel * of_channel..][..of_channel].chunks_exact(position_count.max(1));
            for (tap, row) in rows.enumerate() {
                self.visit_tap_runs(tap, |position, at, count| {
                    let row = &row[position..position + count];
                    if step == 1 {
                        image[at..at + count].iter_mut().zip(row).for_each(|(to, &from)| *to = to.plus(from));
                    } else {
                        let image = image[at..].iter_mut().step_by(step);
                        image.zip(row).for_each(|(to, &from)| *to = to.plus(from));
                    }
                });
            }
        });
    }

    /// Visits the window positions at which an element of the window is inside the image, in runs along the last dimension: the first
    /// position, the index of the image element there, and the number of positions.
    fn visit_tap_runs(&self, tap: usize, mut run: impl FnMut(usize, usize, usize)) {
        let offset = self.tap_coordinates(tap);
        let line = self.small[2];
        // The image coordinate of the element at a window position, if it is inside the image.
        let inside = |dim: usize, position: usize| {
            let at = position * self.stride[dim] + offset[dim] * self.dilation[dim];
            at.checked_sub(self.padding[dim]).filter(|&at| at < self.large[dim])
        };
        let before = self.padding[2].saturating_sub(offset[2] * self.dilation[2]);
        let from = before.div_ceil(self.stride[2]);
        let end = (self.large[2] + self.padding[2]).saturating_sub(offset[2] * self.dilation[2]);
        let to = end.div_ceil(self.stride[2]).min(line);
        for row in 0..self.small[0] * self.small[1] {
            let (plane, row_in_plane) = (row / self.small[1], row % self.small[1]);
            let (Some(z), Some(y)) = (inside(0, plane), inside(1, row_in_plane)) else { continue };
            if from < to
                && let Some(x) = inside(2, from)
            {
                run(row * line + from, (z * self.large[1] + y) * self.large[2] + x, to - from);
            }
        }
    }
}
