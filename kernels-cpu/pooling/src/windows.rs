//! Windows of pooling operators over images.

use aten::Window;

use engine::allocation::to_usize;

/// The range of a window in one dimension, and the number of elements by which an average divides, which may include padding.
#[derive(Clone, Copy)]
struct WindowSpan {
    start: usize,
    end: usize,
    divisor: i64,
}

/// The windows over an image: a list of spans for each of three dimensions.
pub(super) struct PoolWindows {
    spans: [Vec<WindowSpan>; 3],
    image: [usize; 3],
    step: [usize; 3],
    divisor: Option<i64>,
}

/// One window over an image.
pub(super) struct PoolWindow<'a> {
    spans: [WindowSpan; 3],
    windows: &'a PoolWindows,
    /// The divisor of an average over the window.
    pub(super) divisor: i64,
}

const UNIT_SPAN: WindowSpan = WindowSpan { start: 0, end: 1, divisor: 1 };

impl PoolWindows {
    /// Builds windows in the last `rank` dimensions. `dim` returns its spans, the size of the image and the step between elements.
    fn new(rank: usize, dim: impl Fn(usize) -> (Vec<WindowSpan>, i64, i64)) -> Self {
        let mut windows = Self {
            spans: [vec![UNIT_SPAN], vec![UNIT_SPAN], vec![UNIT_SPAN]],
            image: [1; 3],
            step: [1; 3],
            divisor: None,
        };
        for at in 0..rank {
            let (spans, image, step) = dim(at);
            let index = 3 - rank + at;
            (windows.spans[index], windows.image[index], windows.step[index]) =
                (spans, to_usize(image), to_usize(step));
        }
        windows
    }

    /// Returns the windows at all positions of a sliding window.
    pub(super) fn sliding(window: &Window, sizes: &[i64], results: &[i64]) -> Self {
        let rank = window.kernel.len();
        let (images, results) = (&sizes[sizes.len() - rank..], &results[sizes.len() - rank..]);
        Self::new(rank, |dim| {
            let (image, padding, dilation) = (images[dim], window.padding[dim], window.dilation[dim]);
            let spans = (0..results[dim]).map(|index| {
                let first = index * window.stride[dim] - padding;
                let end = first.saturating_add((window.kernel[dim] - 1).saturating_mul(dilation)).saturating_add(1);
                let divisor = end.min(image.saturating_add(padding)) - first;
                let start = if first < 0 {
                    first + ((-first - 1) / dilation).saturating_add(1).saturating_mul(dilation)
                } else {
                    first
                };
                WindowSpan { start: to_usize(start.min(image)), end: to_usize(end.min(image)), divisor }
            });
            (spans.collect(), image, dilation)
        })
    }

    /// Returns adaptive windows: one of about equal size for each element of the result.
    pub(super) fn adaptive(rank: usize, sizes: &[i64], results: &[i64]) -> Self {
        Self::new(rank, |dim| {
            let (image, count) = (sizes[sizes.len() - rank + dim], results[sizes.len() - rank + dim]);
            let spans = (0..count).map(|index| {
                let (whole, rest) = (index / count * image, (index % count).saturating_mul(image));
                let start = whole + rest / count;
                let end = 1 + ((index + 1).saturating_mul(image) - 1) / count;
                WindowSpan { start: to_usize(start), end: to_usize(end), divisor: end - start }
            });
            (spans.collect(), image, 1)
        })
    }

    /// Returns windows of one size that start at the given indices, a list for each dimension.
    pub(super) fn at_starts(starts: &[Vec<i64>], kernel: &[i64], image: &[i64]) -> Self {
        Self::new(kernel.len(), |dim| {
            let span = |&start: &i64| WindowSpan {
                start: to_usize(start),
                end: to_usize(start + kernel[dim]),
                divisor: kernel[dim],
            };
            (starts[dim].iter().map(span).collect(), image[dim], 1)
        })
    }

    /// Sets the divisor of averages: `divisor`, or the number of elements with or without `padding`.
    pub(super) fn with_divisor(mut self, padding: bool, divisor: Option<i64>) -> Self {
        self.divisor = divisor;
        if !padding {
            for span in self.spans.iter_mut().flatten() {
                span.divisor = i64::try_from(span.end.saturating_sub(span.start)).unwrap_or(i64::MAX);
            }
        }
        self
    }

    /// Returns the number of elements of an image.
    pub(super) fn image_area(&self) -> usize {
        self.image.iter().product()
    }

    /// Returns the number of windows.
    pub(super) fn window_count(&self) -> usize {
        self.spans.iter().map(Vec::len).product()
    }

    /// Calls `visit` with every window and its number.
    #[inline]
    pub(super) fn for_each(&self, mut visit: impl FnMut(usize, &PoolWindow<'_>)) {
        let mut index = 0;
        for &deep in &self.spans[0] {
            for &down in &self.spans[1] {
                for &across in &self.spans[2] {
                    let divisor = self
                        .divisor
                        .unwrap_or_else(|| deep.divisor.saturating_mul(down.divisor).saturating_mul(across.divisor));
                    visit(index, &PoolWindow { spans: [deep, down, across], windows: self, divisor });
                    index += 1;
                }
            }
        }
    }
}

impl PoolWindow<'_> {
    /// Returns the index of the window's first element in the image.
    #[inline]
    pub(super) fn first_index(&self) -> usize {
        let [_, height, width] = self.windows.image;
        let [deep, down, across] = self.spans;
        (deep.start * height + down.start) * width + across.start
    }

    /// Returns whether the window covers only padding.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.spans.iter().any(|span| span.start >= span.end)
    }

    /// Calls `visit` with the index of each element of the window.
    #[inline]
    pub(super) fn for_each(&self, mut visit: impl FnMut(usize)) {
        let [_, height, width] = self.windows.image;
        let [deep, down, across] = self.spans;
        let [deep_step, down_step, across_step] = self.windows.step;
        let mut plane = deep.start;
        while plane < deep.end {
            let mut row = down.start;
            while row < down.end {
                let line = (plane * height + row) * width;
                let mut at = across.start;
                while at < across.end {
                    visit(line + at);
                    at += across_step;
                }
                row += down_step;
            }
            plane += deep_step;
        }
    }
}
