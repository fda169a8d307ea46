//! Windows that move over images.

use dispatch_runtime::{BadArgument, Dims};

/// How a window moves over an image: one number for each of its dimensions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// How large it is.
    pub kernel: Dims,
    /// How far it moves.
    pub stride: Dims,
    /// How far the image goes on around itself.
    pub padding: Dims,
    /// How far apart the window's elements are.
    pub dilation: Dims,
}

impl Window {
    /// A window for images of `rank` dimensions. A single number counts for all of them.
    pub(crate) fn new(
        rank: usize,
        (name, kernel): (&'static str, &[i64]),
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
    ) -> Result<Self, BadArgument> {
        Ok(Self {
            kernel: spread(name, kernel, rank, 1)?,
            stride: spread("stride", stride, rank, 1)?,
            padding: spread("padding", padding, rank, 0)?,
            dilation: spread("dilation", dilation, rank, 1)?,
        })
    }

    /// How often it fits into a dimension of this size.
    #[must_use]
    pub fn fits(&self, dim: usize, size: i64) -> Option<i64> {
        let covered = self.dilation[dim].checked_mul(self.kernel[dim] - 1)?.checked_add(1)?;
        let padded = self.padding[dim].checked_mul(2)?.checked_add(size)?;
        (padded >= covered).then(|| (padded - covered) / self.stride[dim] + 1)
    }

    /// The size of a dimension into which it fits `count` times, and which goes on for `more`.
    #[must_use]
    pub(crate) fn spans(&self, dim: usize, count: i64, more: i64) -> Option<i64> {
        let covered = self.dilation[dim].checked_mul(self.kernel[dim] - 1)?;
        let moved = (count - 1).checked_mul(self.stride[dim])?.checked_sub(self.padding[dim].checked_mul(2)?)?;
        moved.checked_add(covered)?.checked_add(more)?.checked_add(1)
    }
}

/// A list with a number for each dimension; a single number counts for all. None is below `least`.
pub(crate) fn spread(argument: &'static str, list: &[i64], rank: usize, least: i64) -> Result<Dims, BadArgument> {
    let spread = match list {
        [one] => Dims::from_elem(*one, rank),
        list if list.len() == rank => Dims::from_slice(list),
        _ => return Err(BadArgument::length(argument, list.len(), rank)),
    };
    match spread.iter().find(|&&number| number < least) {
        Some(number) => Err(BadArgument::number(argument, *number, least..)),
        None => Ok(spread),
    }
}
