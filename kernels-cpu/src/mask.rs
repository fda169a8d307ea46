//! Which elements a mask picks.
//!
//! They are counted by the block first, so each block knows where among all of them its own begin, and threads can share the rest.

use dispatch_runtime::{Bool, DType, Result, Spec, Tensor, operands};

use crate::moves::{of_size, packed};
use crate::numbers::usized;
use crate::pool::{Lines, over};

/// The elements of a tensor that are not zero.
pub(crate) struct Picked {
    flags: Tensor,
    /// How many come before each block, and how many there are.
    starts: Vec<usize>,
}

/// How many elements are looked at together.
const BLOCK: usize = 1 << 12;
/// How many blocks are worth a thread.
const GRAIN: usize = 8;

/// Where a thread writes.
struct Ends<T>(*mut T);

// SAFETY: threads write places of their own.
unsafe impl<T: Send> Sync for Ends<T> {}

impl Picked {
    pub(crate) fn by(mask: &Tensor) -> Result<Self> {
        let flags = if mask.dtype() == DType::Bool && mask.geometry().is_contiguous() {
            mask.clone()
        } else {
            packed(mask, DType::Bool)?
        };
        let mut starts = {
            let flags = flags.read::<Bool>()?;
            let mut counts = vec![0; flags.len().div_ceil(BLOCK) + 1];
            let lines = Lines::new(&mut counts, 1);
            over(0..lines.len() - 1, GRAIN, |blocks| {
                for block in blocks {
                    let flags = &flags[block * BLOCK..flags.len().min((block + 1) * BLOCK)];
                    // SAFETY: every block is in one piece.
                    let count = unsafe { lines.get(block) };
                    count[0] = flags.iter().filter(|flag| flag.0 != 0).count();
                }
            });
            counts
        };
        let mut before = 0;
        for start in &mut starts {
            before += std::mem::replace(start, before);
        }
        Ok(Self { flags, starts })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Writes what `fill` makes of their places, a block of neighbours at a time. The last dimension counts fastest.
    pub(crate) fn write<T: Send>(&self, out: &mut [T], fill: impl Fn(&[usize], &mut [T]) + Sync) -> Result<()> {
        let flags = self.flags.read::<Bool>()?;
        let ends = &Ends(out[..self.count()].as_mut_ptr());
        over(0..self.starts.len() - 1, GRAIN, |blocks| {
            let mut places = [0; BLOCK];
            for block in blocks {
                let mut count = 0;
                for (place, flag) in (block * BLOCK..).zip(&flags[block * BLOCK..flags.len().min((block + 1) * BLOCK)])
                {
                    places[count % BLOCK] = place;
                    count += usize::from(flag.0 != 0);
                }
                // SAFETY: a block has so many, counted before, behind those of the blocks before it.
                let out = unsafe {
                    std::slice::from_raw_parts_mut(
                        ends.0.add(self.starts[block]),
                        count.min(self.starts[block + 1] - self.starts[block]),
                    )
                };
                fill(&places[..count], out);
            }
        });
        Ok(())
    }

    /// The elements at their places of a tensor that is as large, whose own lie side by side.
    pub(crate) fn elements(&self, this: &Tensor) -> Result<Tensor> {
        let count = self.count();
        let mut out = Spec::contiguous(this.dtype(), &[i64::try_from(count).unwrap_or(i64::MAX)]).on(this.device())?;
        let operands = operands!(write out; read this)?;
        let ([to], [from]) = (operands.written(), operands.read());
        let all = usized(this.geometry().count());
        of_size!(this.dtype().size(), Word => {
            // SAFETY: the operands have as many elements of this size, and hold them.
            let (to, from) = unsafe {
                (
                    std::slice::from_raw_parts_mut(to.start().cast::<Word>(), count),
                    std::slice::from_raw_parts(from.start().cast::<Word>(), all),
                )
            };
            self.write(to, |places, to| to.iter_mut().zip(places).for_each(|(to, &place)| *to = from[place]))?;
        });
        drop(operands);
        Ok(out)
    }

    /// Their places.
    pub(crate) fn places(&self) -> Result<Vec<i64>> {
        let mut all = vec![0; self.count()];
        self.write(&mut all, |places, out| {
            out.iter_mut().zip(places).for_each(|(to, &place)| *to = i64::try_from(place).unwrap_or(i64::MAX));
        })?;
        Ok(all)
    }

    /// Their positions in a dimension.
    pub(crate) fn positions(&self, dim: usize, out: &mut [i64]) -> Result<()> {
        let sizes = self.flags.sizes();
        let stride: usize = sizes[dim + 1..].iter().map(|&size| usized(size)).product();
        let size = usized(sizes[dim]);
        self.write(out, |places, out| {
            // Neighbours are likely to have the same, or to be one further.
            let (mut position, mut start, mut end) = (0, 0, 0);
            for (to, &place) in out.iter_mut().zip(places) {
                if stride == 1 && place < end {
                    position = place - start;
                } else if place >= end {
                    let number = place / stride;
                    position = number % size;
                    (start, end) = if stride == 1 {
                        (place - position, place - position + size)
                    } else {
                        (number * stride, (number + 1) * stride)
                    };
                }
                *to = i64::try_from(position).unwrap_or(i64::MAX);
            }
        })
    }
}
