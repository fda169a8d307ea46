//! Sliding windows over images: of convolutions and pooling.

use dispatch_runtime::{BadArgument, Dims};

/// A sliding window: kernel size, stride, padding and dilation, with one value for each dimension of the image.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// The number of elements of the window.
    pub kernel: Dims,
    /// The step between two positions of the window.
    pub stride: Dims,
    /// The number of elements added on each side of the image.
    pub padding: Dims,
    /// The distance between two elements of the window.
    pub dilation: Dims,
}

impl Window {
    /// Makes a window for images of `rank` dimensions. A list with one value applies to all dimensions.
    pub(crate) fn new(
        rank: usize,
        (name, kernel): (&'static str, &[i64]),
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
    ) -> Result<Self, BadArgument> {
        Ok(Self {
            kernel: expand_list_to_rank(name, kernel, rank, 1)?,
            stride: expand_list_to_rank("stride", stride, rank, 1)?,
            padding: expand_list_to_rank("padding", padding, rank, 0)?,
            dilation: expand_list_to_rank("dilation", dilation, rank, 1)?,
        })
    }

    /// Returns the number of window positions in dimension `dim` of an image of this size. Returns `None` if the window is larger than the
    /// padded image.
    #[must_use]
    pub fn position_count(&self, dim: usize, size: i64) -> Option<i64> {
        let covered = self.dilation[dim].checked_mul(self.kernel[dim] - 1)?.checked_add(1)?;
        let padded = self.padding[dim].checked_mul(2)?.checked_add(size)?;
        (padded >= covered).then(|| (padded - covered) / self.stride[dim] + 1)
    }

    /// Returns the size that dimension `dim` must have for `count` window positions, plus `extra` elements: the result size of a transposed
    /// convolution.
    #[must_use]
    pub(crate) fn transposed_output_size(&self, dim: usize, count: i64, extra: i64) -> Option<i64> {
        let covered = self.dilation[dim].checked_mul(self.kernel[dim] - 1)?;
        let moved = (count - 1).checked_mul(self.stride[dim])?.checked_sub(self.padding[dim].checked_mul(2)?)?;
        moved.checked_add(covered)?.checked_add(extra)?.checked_add(1)
    }
}

/// Expands a list to one value for each dimension: a single value applies to all. Refuses values below `min`.
pub(crate) fn expand_list_to_rank(
    argument: &'static str,
    list: &[i64],
    rank: usize,
    min: i64,
) -> Result<Dims, BadArgument> {
    let expanded = match list {
        [one] => Dims::from_elem(*one, rank),
        list if list.len() == rank => Dims::from_slice(list),
        _ => return Err(BadArgument::length(argument, list.len(), rank)),
    };
    match expanded.iter().find(|&&number| number < min) {
        Some(number) => Err(BadArgument::number(argument, *number, min..)),
        None => Ok(expanded),
    }
}
