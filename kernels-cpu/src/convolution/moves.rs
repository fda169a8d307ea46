//! Where a window goes.

use std::ops::Range;

use aten::{Convolution, Window};
use dispatch_runtime::Tensor;

use crate::compute::Compute;
use crate::math::vectorised;

/// A window that moves over images of three dimensions, of which the first may be of size 1.
pub(super) struct Moves {
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

/// What an element of the window meets, seen from some places, where that is the plane itself some elements further on.
struct Shift {
    /// From which of the places it meets the plane, counted from the first of them.
    inside: Range<usize>,
    /// What it meets from the first of those.
    start: usize,
    /// In these columns it would meet the end of another line.
    outside: Range<usize>,
    /// The column of the first place.
    column: usize,
}

#[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "sizes of tensors that are there")]
fn size(size: i64) -> usize {
    size as usize
}

fn three(numbers: &[i64], before: usize) -> [usize; 3] {
    let mut three = [before; 3];
    let skipped = 3 - numbers.len();
    for (at, &number) in three[skipped..].iter_mut().zip(numbers) {
        *at = size(number);
    }
    three
}

impl Moves {
    pub(super) fn of(found: &Convolution, input: &Tensor, weight: &Tensor, transposed: bool, groups: i64) -> Self {
        let (input, output) = (input.sizes(), &found.sizes);
        let (large, small) = if transposed { (&output[2..], &input[2..]) } else { (&input[2..], &output[2..]) };
        Self {
            batch: size(input[0]),
            groups: size(groups),
            channels: size(weight.sizes()[1]),
            filters: size(weight.sizes()[0] / groups),
            ..Self::window(&found.window, large, small)
        }
    }

    /// A window over an image, the last three of these sizes.
    pub(super) fn of_image(window: &Window, sizes: &[i64]) -> Self {
        let image = &sizes[sizes.len() - 2..];
        let small: Vec<i64> = (0..2).map(|dim| window.fits(dim, image[dim]).unwrap_or(0)).collect();
        Self {
            batch: if sizes.len() == 4 { size(sizes[0]) } else { 1 },
            channels: size(sizes[sizes.len() - 3]),
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

    /// Whether the patches are the image.
    pub(super) fn is_pointwise(&self) -> bool {
        self.taps() == 1 && self.large == self.small && self.stride == [1; 3] && self.padding == [0; 3]
    }

    fn area(&self) -> usize {
        self.large.iter().product()
    }

    /// Where channels of a group of an image are.
    pub(super) fn large_range(&self, item: usize, channels: Range<usize>) -> Range<usize> {
        let start = item * self.channels;
        (start + channels.start) * self.area()..(start + channels.end) * self.area()
    }

    pub(super) fn large_of<'a, T>(&self, large: &'a [T], item: usize) -> &'a [T] {
        &large[self.large_range(item, 0..self.channels)]
    }

    /// Where the columns of an image are.
    pub(super) fn columns_of(&self, item: usize) -> Range<usize> {
        let length = self.channels * self.taps() * self.places();
        item * length..(item + 1) * length
    }

    /// Puts what is under the window into columns, a row for each channel and element of the window.
    pub(super) fn unfold<T: Compute>(
        &self,
        large: &[T],
        channels: Range<usize>,
        places: Range<usize>,
        columns: &mut [T],
    ) {
        let (width, step) = (places.len(), self.stride[2]);
        if width == 0 {
            return;
        }
        let shifts = self.shifts(&places);
        let mut rows = columns.chunks_exact_mut(width);
        for channel in channels {
            let image = &large[channel * self.area()..][..self.area()];
            for tap in 0..self.taps() {
                let Some(row) = rows.next() else { return };
                if let Some(shift) = shifts.get(tap) {
                    let inside = shift.inside.clone();
                    row[..inside.start].fill(T::ZERO);
                    row[inside.end..].fill(T::ZERO);
                    row[inside.clone()].copy_from_slice(&image[shift.start..][..inside.len()]);
                    self.clear_outside(shift, row);
                    continue;
                }
                row.fill(T::ZERO);
                self.runs(tap, places.clone(), |place, at, count| {
                    let row = &mut row[place..place + count];
                    if step == 1 {
                        row.copy_from_slice(&image[at..at + count]);
                    } else {
                        row.iter_mut().zip(image[at..].iter().step_by(step)).for_each(|(to, &from)| *to = from);
                    }
                });
            }
        }
    }

    /// Adds columns to where they were taken from. What they have from outside of the image is lost.
    pub(super) fn fold<T: Compute>(&self, columns: &mut [T], channels: Range<usize>, large: &mut [T]) {
        let (width, step) = (self.places(), self.stride[2]);
        if width == 0 {
            return;
        }
        let shifts = self.shifts(&(0..width));
        let mut rows = columns.chunks_exact_mut(width);
        for channel in 0..channels.len() {
            let image = &mut large[channel * self.area()..][..self.area()];
            for tap in 0..self.taps() {
                let Some(row) = rows.next() else { return };
                if let Some(shift) = shifts.get(tap) {
                    let inside = shift.inside.clone();
                    self.clear_outside(shift, row);
                    let (to, from) = (&mut image[shift.start..][..inside.len()], &row[inside]);
                    vectorised(
                        #[inline(always)]
                        || to.iter_mut().zip(from).for_each(|(to, &from)| *to = to.plus(from)),
                    );
                    continue;
                }
                self.runs(tap, 0..width, |place, at, count| {
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
    }

    /// Adds the products of a single channel with a single filter.
    pub(super) fn slide<T: Compute>(&self, image: &[T], filter: &[T], places: Range<usize>, small: &mut [T]) {
        let step = self.stride[2];
        for (tap, &factor) in filter.iter().enumerate() {
            self.runs(tap, places.clone(), |place, at, count| {
                let to = &mut small[place..place + count];
                if step == 1 {
                    let from = &image[at..at + count];
                    vectorised(
                        #[inline(always)]
                        || to.iter_mut().zip(from).for_each(|(to, &x)| *to = to.plus(factor.times(x))),
                    );
                } else {
                    let from = image[at..].iter().step_by(step);
                    to.iter_mut().zip(from).for_each(|(to, &x)| *to = to.plus(factor.times(x)));
                }
            });
        }
    }

    /// What each element of the window meets from these places; none where that is no shift: the image and the places are a plane of one
    /// size, and the window goes over it step by step.
    fn shifts(&self, places: &Range<usize>) -> Vec<Shift> {
        if self.large != self.small || self.stride != [1; 3] || self.large[0] != 1 || self.kernel[0] != 1 {
            return Vec::new();
        }
        (0..self.taps()).map(|tap| self.shift(tap, places)).collect()
    }

    fn shift(&self, tap: usize, places: &Range<usize>) -> Shift {
        let along =
            |dim: usize, offset: usize| (offset * self.dilation[dim]).cast_signed() - self.padding[dim].cast_signed();
        let (down, across) = (along(1, tap / self.kernel[2]), along(2, tap % self.kernel[2]));
        let line = self.large[2];
        let outside = match usize::try_from(across) {
            Ok(right) => line.saturating_sub(right)..line,
            Err(_) => 0..across.unsigned_abs().min(line),
        };
        let elements = down * line.cast_signed() + across;
        let (area, (start, end)) = (self.area().cast_signed(), (places.start.cast_signed(), places.end.cast_signed()));
        let last = end.min(area - elements).max(start);
        let first = start.max(-elements).min(last);
        Shift {
            inside: (first - start).unsigned_abs()..(last - start).unsigned_abs(),
            start: usize::try_from(first + elements).unwrap_or(0).min(self.area()),
            outside,
            column: places.start % line.max(1),
        }
    }

    /// Puts zeros in a row of places, where a shift leads out of a line.
    fn clear_outside<T: Compute>(&self, shift: &Shift, row: &mut [T]) {
        let line = self.small[2];
        for column in shift.outside.clone() {
            let before = if column < shift.column { line } else { 0 };
            let mut place = before + column - shift.column;
            while let Some(element) = row.get_mut(place) {
                *element = T::ZERO;
                place += line;
            }
        }
    }

    /// The places at which an element of the window is inside of the image, in runs along the last dimension: the first of them,
    /// counted from the first asked for, where the element is then, and how many there are.
    fn runs(&self, tap: usize, places: Range<usize>, mut run: impl FnMut(usize, usize, usize)) {
        let [_, down, across] = self.kernel;
        let offset = [tap / (down * across), tap / across % down, tap % across];
        let line = self.small[2];
        // Where the element is for a place of the window, as far as the image goes.
        let inside = |dim: usize, place: usize| {
            let at = place * self.stride[dim] + offset[dim] * self.dilation[dim];
            at.checked_sub(self.padding[dim]).filter(|&at| at < self.large[dim])
        };
        let before = self.padding[2].saturating_sub(offset[2] * self.dilation[2]);
        let from = before.div_ceil(self.stride[2]);
        let end = (self.large[2] + self.padding[2]).saturating_sub(offset[2] * self.dilation[2]);
        let to = end.div_ceil(self.stride[2]);
        for row in places.start / line..places.end.div_ceil(line) {
            let (plane, row_in_plane) = (row / self.small[1], row % self.small[1]);
            let (Some(z), Some(y)) = (inside(0, plane), inside(1, row_in_plane)) else { continue };
            let first = from.max(places.start.saturating_sub(row * line));
            let last = to.min(line).min(places.end - row * line);
            if first < last
                && let Some(x) = inside(2, first)
            {
                let at = (z * self.large[1] + y) * self.large[2] + x;
                run(row * line + first - places.start, at, last - first);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window that leaves as many places as the image has elements.
    fn moves([height, width]: [usize; 2], kernel: usize, dilation: usize) -> Moves {
        let padding = dilation * (kernel - 1) / 2;
        Moves {
            batch: 1,
            groups: 1,
            channels: 1,
            filters: 1,
            large: [1, height, width],
            small: [1, height, width],
            kernel: [1, kernel, kernel],
            stride: [1; 3],
            padding: [0, padding, padding],
            dilation: [1, dilation, dilation],
        }
    }

    /// The element of the image that lies under an element of the window.
    fn under(moves: &Moves, tap: usize, place: usize) -> Option<usize> {
        let [_, height, width] = moves.large;
        let along = |dim: usize, place: usize, offset: usize, size: usize| {
            (place + offset * moves.dilation[dim]).checked_sub(moves.padding[dim]).filter(|&at| at < size)
        };
        let y = along(1, place / width, tap / moves.kernel[2], height)?;
        Some(y * width + along(2, place % width, tap % moves.kernel[2], width)?)
    }

    #[test]
    fn columns_are_what_lies_under_the_window_and_go_back_to_it() {
        let sizes = (1..5).flat_map(|height| (1..5).map(move |width| [height, width]));
        let windows = [(1, 1), (3, 1), (3, 2), (5, 1), (3, 5)];
        for (size, (kernel, dilation)) in sizes.flat_map(|size| windows.map(|window| (size, window))) {
            let moves = moves(size, kernel, dilation);
            let (area, taps) = (moves.area(), moves.taps());
            let image: Vec<i64> = (1..=i64::try_from(area).unwrap()).collect();
            for (start, end) in (0..area).flat_map(|start| (start + 1..=area).map(move |end| (start, end))) {
                let mut columns = vec![-1; taps * (end - start)];
                moves.unfold(&image, 0..1, start..end, &mut columns);
                let expected = (0..taps)
                    .flat_map(|tap| (start..end).map(move |place| (tap, place)))
                    .map(|(tap, place)| under(&moves, tap, place).map_or(0, |at| image[at]));
                assert_eq!(columns, expected.collect::<Vec<_>>(), "{size:?}, {kernel}, {dilation}, {start}..{end}");
            }
            let (mut columns, mut sums) = ((0..).take(taps * area).collect::<Vec<i64>>(), vec![1; area]);
            let mut expected = sums.clone();
            for (at, &column) in columns.iter().enumerate() {
                if let Some(under) = under(&moves, at / area, at % area) {
                    expected[under] += column;
                }
            }
            moves.fold(&mut columns, 0..1, &mut sums);
            assert_eq!(sums, expected, "{size:?}, {kernel}, {dilation}");
        }
    }
}
