//! Windows over images.

use aten::Window;

use engine::allocation::usized;

/// The range of a window in one dimension, and the number of its elements in an average, which may include padding.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    counts: i64,
}

/// The windows over an image: a list of spans for each of three dimensions.
pub(super) struct PoolWindows {
    spans: [Vec<Span>; 3],
    image: [usize; 3],
    step: [usize; 3],
    divisor: Option<i64>,
}

/// One window over an image.
pub(super) struct Part<'a> {
    spans: [Span; 3],
    windows: &'a PoolWindows,
    /// The divisor of an average over the window.
    pub(super) counts: i64,
}

const WHOLE: Span = Span { start: 0, end: 1, counts: 1 };

impl PoolWindows {
    /// Builds windows in the last `rank` dimensions. `dim` returns its spans, the size of the image and the step between elements.
    fn of(rank: usize, dim: impl Fn(usize) -> (Vec<Span>, i64, i64)) -> Self {
        let mut windows =
            Self { spans: [vec![WHOLE], vec![WHOLE], vec![WHOLE]], image: [1; 3], step: [1; 3], divisor: None };
        for at in 0..rank {
            let (spans, image, step) = dim(at);
            let place = 3 - rank + at;
            (windows.spans[place], windows.image[place], windows.step[place]) = (spans, usized(image), usized(step));
        }
        windows
    }

    /// Returns the windows at all positions of a sliding window.
    pub(super) fn of_window(window: &Window, sizes: &[i64], results: &[i64]) -> Self {
        let rank = window.kernel.len();
        let (images, results) = (&sizes[sizes.len() - rank..], &results[sizes.len() - rank..]);
        Self::of(rank, |dim| {
            let (image, padding, dilation) = (images[dim], window.padding[dim], window.dilation[dim]);
            let spans = (0..results[dim]).map(|place| {
                let first = place * window.stride[dim] - padding;
                let end = first.saturating_add((window.kernel[dim] - 1).saturating_mul(dilation)).saturating_add(1);
                let counts = end.min(image.saturating_add(padding)) - first;
                let start = if first < 0 {
                    first + ((-first - 1) / dilation).saturating_add(1).saturating_mul(dilation)
                } else {
                    first
                };
                Span { start: usized(start.min(image)), end: usized(end.min(image)), counts }
            });
            (spans.collect(), image, dilation)
        })
    }

    /// Returns adaptive windows: one of about equal size for each element of the result.
    pub(super) fn adaptive(rank: usize, sizes: &[i64], results: &[i64]) -> Self {
        Self::of(rank, |dim| {
            let (image, count) = (sizes[sizes.len() - rank + dim], results[sizes.len() - rank + dim]);
            let spans = (0..count).map(|place| {
                let (whole, rest) = (place / count * image, (place % count).saturating_mul(image));
                let start = whole + rest / count;
                let end = 1 + ((place + 1).saturating_mul(image) - 1) / count;
                Span { start: usized(start), end: usized(end), counts: end - start }
            });
            (spans.collect(), image, 1)
        })
    }

    /// Returns windows of one size, with lists of first indices for each dimension.
    pub(super) fn starting(starts: &[Vec<i64>], kernel: &[i64], image: &[i64]) -> Self {
        Self::of(kernel.len(), |dim| {
            let span =
                |&start: &i64| Span { start: usized(start), end: usized(start + kernel[dim]), counts: kernel[dim] };
            (starts[dim].iter().map(span).collect(), image[dim], 1)
        })
    }

    /// Sets the divisor of averages: `divisor`, or the number of elements with or without `padding`.
    pub(super) fn counting(mut self, padding: bool, divisor: Option<i64>) -> Self {
        self.divisor = divisor;
        if !padding {
            for span in self.spans.iter_mut().flatten() {
                span.counts = i64::try_from(span.end.saturating_sub(span.start)).unwrap_or(i64::MAX);
            }
        }
        self
    }

    /// Returns the number of elements of an image.
    pub(super) fn area(&self) -> usize {
        self.image.iter().product()
    }

    /// Returns the number of windows.
    pub(super) fn places(&self) -> usize {
        self.spans.iter().map(Vec::len).product()
    }

    /// Calls `visit` with every window and its number.
    #[inline]
    pub(super) fn each(&self, mut visit: impl FnMut(usize, &Part<'_>)) {
        let mut place = 0;
        for &deep in &self.spans[0] {
            for &down in &self.spans[1] {
                for &across in &self.spans[2] {
                    let counts = self
                        .divisor
                        .unwrap_or_else(|| deep.counts.saturating_mul(down.counts).saturating_mul(across.counts));
                    visit(place, &Part { spans: [deep, down, across], windows: self, counts });
                    place += 1;
                }
            }
        }
    }
}

impl Part<'_> {
    /// Returns the index of the window's first element in the image.
    #[inline]
    pub(super) fn first(&self) -> usize {
        let [_, height, width] = self.windows.image;
        let [deep, down, across] = self.spans;
        (deep.start * height + down.start) * width + across.start
    }

    /// Checks if the window covers only padding.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.spans.iter().any(|span| span.start >= span.end)
    }

    /// Calls `visit` with the index of each element of the window.
    #[inline]
    pub(super) fn each(&self, mut visit: impl FnMut(usize)) {
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
