//! Where a window goes.

use std::ops::Range;

use aten::Window;
use dispatch_runtime::Tensor;

use super::input_tile::Pass;
use engine::allocation::usized;
use engine::compute::Compute;

/// A window that moves over images of three dimensions, of which the first may be of size 1.
pub(super) struct ConvGeometry {
    pub(super) batch: usize,
    pub(super) groups: usize,
    /// Channels of the large side, for each group.
    pub(super) channels: usize,
    /// Channels of the small side, for each group.
    pub(super) filters: usize,
    large: [usize; 3],
    small: [usize; 3],
    kernel: [usize; 3],
    stride: [usize; 3],
    padding: [usize; 3],
    dilation: [usize; 3],
}

fn three(numbers: &[i64], before: usize) -> [usize; 3] {
    let mut three = [before; 3];
    let skipped = 3 - numbers.len();
    for (at, &number) in three[skipped..].iter_mut().zip(numbers) {
        *at = usized(number);
    }
    three
}

impl ConvGeometry {
    /// A window over the sides of a convolution, given the sizes of its input and output.
    pub(super) fn of(
        window: &Window,
        [input, output]: [&[i64]; 2],
        weight: &Tensor,
        transposed: bool,
        groups: i64,
    ) -> Self {
        let (large, small) = if transposed { (&output[2..], &input[2..]) } else { (&input[2..], &output[2..]) };
        Self {
            batch: usized(input[0]),
            groups: usized(groups),
            channels: usized(weight.sizes()[1]),
            filters: usized(weight.sizes()[0] / groups),
            ..Self::window(window, large, small)
        }
    }

    /// A window over an image, the last three of these sizes.
    pub(super) fn of_image(window: &Window, sizes: &[i64]) -> Self {
        let image = &sizes[sizes.len() - 2..];
        let small: Vec<i64> = (0..2).map(|dim| window.fits(dim, image[dim]).unwrap_or(0)).collect();
        Self {
            batch: if sizes.len() == 4 { usized(sizes[0]) } else { 1 },
            channels: usized(sizes[sizes.len() - 3]),
            ..Self::window(window, image, &small)
        }
    }

    fn window(window: &Window, large: &[i64], small: &[i64]) -> Self {
        Self {
            batch: 1,
            groups: 1,
            channels: 1,
            filters: 1,
            large: three(large, 1),
            small: three(small, 1),
            kernel: three(&window.kernel, 1),
            stride: three(&window.stride, 1),
            padding: three(&window.padding, 0),
            dilation: three(&window.dilation, 1),
        }
    }

    /// How many places the window has.
    pub(super) fn places(&self) -> usize {
        self.small.iter().product()
    }

    /// How many elements are under it.
    pub(super) fn taps(&self) -> usize {
        self.kernel.iter().product()
    }

    /// Whether the window is one element, and goes everywhere.
    pub(super) fn is_pointwise(&self) -> bool {
        self.taps() == 1 && self.large == self.small && self.padding == [0; 3]
    }

    /// How many elements a channel of the large side has.
    pub(super) fn area(&self) -> usize {
        self.large.iter().product()
    }

    /// Where the channels of a group of an image are.
    pub(super) fn large_range(&self, item: usize) -> Range<usize> {
        item * self.channels * self.area()..(item + 1) * self.channels * self.area()
    }

    /// Where the columns of an image are.
    pub(super) fn columns_of(&self, item: usize) -> Range<usize> {
        let length = self.channels * self.taps() * self.places();
        item * length..(item + 1) * length
    }

    /// The sums that the small side consists of.
    pub(super) fn gathering(&self) -> Pass {
        Pass::new([self.large, self.small], [[0; 3], [1; 3], self.stride], self.taps(), |number, dim| {
            let offset = self.offset(number)[dim] * self.dilation[dim];
            Some(offset.cast_signed() - self.padding[dim].cast_signed())
        })
    }

    /// Those that the large side consists of. Elements that the window's moves set apart meet other elements of it.
    pub(super) fn scattering(&self) -> Vec<Pass> {
        let [planes, rows, columns] = [0, 1, 2].map(|dim| 0..self.stride[dim].min(self.large[dim]));
        let lines = planes.flat_map(|z| rows.clone().map(move |y| (z, y)));
        let firsts = lines.flat_map(|(z, y)| columns.clone().map(move |x| [z, y, x]));
        let pass = |first: [usize; 3]| {
            Pass::new([self.small, self.large], [first, self.stride, [1; 3]], self.taps(), |number, dim| {
                let offset = (self.offset(number)[dim] * self.dilation[dim]).cast_signed();
                let (at, step) =
                    ((first[dim] + self.padding[dim]).cast_signed() - offset, self.stride[dim].cast_signed());
                (at % step == 0).then_some(at / step)
            })
        };
        firsts.map(pass).collect()
    }

    /// Which element of the window this is.
    fn offset(&self, tap: usize) -> [usize; 3] {
        let [_, down, across] = self.kernel;
        [tap / (down * across), tap / across % down, tap % across]
    }

    /// Puts what is under the window into columns, a row for each channel and element of the window.
    pub(super) fn unfold<T: Compute>(&self, large: &[T], columns: &mut [T]) {
        let (places, step) = (self.places(), self.stride[2]);
        columns.fill(T::ZERO);
        for (at, row) in columns.chunks_exact_mut(places.max(1)).enumerate() {
            let image = &large[at / self.taps() * self.area()..][..self.area()];
            self.runs(at % self.taps(), |place, at, count| {
                let row = &mut row[place..place + count];
                if step == 1 {
                    row.copy_from_slice(&image[at..at + count]);
                } else {
                    row.iter_mut().zip(image[at..].iter().step_by(step)).for_each(|(to, &from)| *to = from);
                }
            });
        }
    }

    /// Adds columns to where they were taken from. What they have from outside of the image is lost.
    pub(super) fn fold<T: Compute>(&self, columns: &[T], large: &mut [T]) {
        let (places, step) = (self.places(), self.stride[2]);
        for (at, row) in columns.chunks_exact(places.max(1)).enumerate() {
            let image = &mut large[at / self.taps() * self.area()..][..self.area()];
            self.runs(at % self.taps(), |place, at, count| {
                let row = &row[place..place + count];
                if step == 1 {
                    image[at..at + count].iter_mut().zip(row).for_each(|(to, &from)| *to = to.plus(from));
                } else {
                    let image = image[at..].iter_mut().step_by(step);
                    image.zip(row).for_each(|(to, &from)| *to = to.plus(from));
                }
            });
        }
    }

    /// The places at which an element of the window is inside of the image, in runs along the last dimension: the first of them, where
    /// the element is then, and how many there are.
    fn runs(&self, tap: usize, mut run: impl FnMut(usize, usize, usize)) {
        let offset = self.offset(tap);
        let line = self.small[2];
        // Where the element is for a place of the window, as far as the image goes.
        let inside = |dim: usize, place: usize| {
            let at = place * self.stride[dim] + offset[dim] * self.dilation[dim];
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
