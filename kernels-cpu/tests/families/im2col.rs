//! Tests of `im2col` and `col2im`.

use dispatch_runtime::{Result, Tensor};

/// A window with as many positions as the image has elements.
#[derive(Clone, Copy, Debug)]
struct SlidingWindow {
    image: [usize; 2],
    kernel: usize,
    dilation: usize,
}

impl SlidingWindow {
    fn same_padding(self) -> usize {
        self.dilation * (self.kernel - 1) / 2
    }

    /// Returns the index of the image element under the element `tap` of the window at the position `place`; `None` in the padding.
    fn image_index_under_tap(self, tap: usize, place: usize) -> Option<usize> {
        let [height, width] = self.image;
        let along = |place: usize, offset: usize, size: usize| {
            (place + offset * self.dilation).checked_sub(self.same_padding()).filter(|&at| at < size)
        };
        let y = along(place / width, tap / self.kernel, height)?;
        Some(y * width + along(place % width, tap % self.kernel, width)?)
    }
}

fn tensor_of_consecutive_integers(count: usize, sizes: &[i64]) -> Result<Tensor> {
    Ok(Tensor::from_vec((1..).take(count).collect::<Vec<i64>>(), sizes)?)
}

#[test]
fn im2col_and_col2im_equal_their_definition() -> Result<()> {
    let images = (1..5).flat_map(|height| (1..5).map(move |width| [height, width]));
    let windows = [(1, 1), (3, 1), (3, 2), (5, 1), (3, 5)];
    let windows = images.flat_map(|image| windows.map(|(kernel, dilation)| SlidingWindow { image, kernel, dilation }));
    for window in windows {
        let [height, width] = window.image;
        let (area, taps) = (height * width, window.kernel * window.kernel);
        let size = |size: usize| i64::try_from(size).unwrap();
        let [kernel, padding, dilation] =
            [window.kernel, window.same_padding(), window.dilation].map(|along| [size(along); 2]);
        let image = tensor_of_consecutive_integers(area, &[1, 1, size(height), size(width)])?;
        let columns = aten::im2col(&image, &kernel, &dilation, &padding, &[1, 1])?;
        let places = || (0..taps).flat_map(|tap| (0..area).map(move |place| (tap, place)));
        let expected =
            places().map(|(tap, place)| window.image_index_under_tap(tap, place).map_or(0, |at| size(at + 1)));
        assert_eq!(columns.to_vec::<i64>()?, expected.collect::<Vec<_>>(), "{window:?}");

        let columns = tensor_of_consecutive_integers(taps * area, &[1, size(taps), size(area)])?;
        let sums = aten::col2im(&columns, &[size(height), size(width)], &kernel, &dilation, &padding, &[1, 1])?;
        let mut expected = vec![0; area];
        for (column, (tap, place)) in (1..).zip(places()) {
            if let Some(at) = window.image_index_under_tap(tap, place) {
                expected[at] += column;
            }
        }
        assert_eq!(sums.to_vec::<i64>()?, expected, "{window:?}");
    }
    Ok(())
}
