//! Which elements a mask picks.
//!
//! They are counted by the block first, so each block knows where among all of them its own begin, and threads can share the rest.
#![expect(unsafe_code, reason = "places that were counted before")]

use dispatch_runtime::{Bool, DType, Operand, Result, Spec, Tensor, operands};

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
            let mut places = vec![0; BLOCK];
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
        of_size!(this.dtype().size(), Word => self.compress::<Word>(to, from)?);
        drop(operands);
        Ok(out)
    }

    /// The same for elements of the size of `W`, of which there is room for as many.
    fn compress<W: Copy + Send + Sync>(&self, to: &Operand<'_>, from: &Operand<'_>) -> Result<()> {
        // SAFETY: the operands have as many elements, and hold them.
        let (to, from) = unsafe {
            let all = std::slice::from_raw_parts(from.start().cast::<W>(), usized(from.geometry().count()));
            (std::slice::from_raw_parts_mut(to.start().cast::<W>(), self.count()), all)
        };
        self.write(to, |places, to| to.iter_mut().zip(places).for_each(|(to, &place)| *to = from[place]))
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

#[cfg(test)]
mod tests {
    use dispatch_runtime::{Geometry, Tensor};

    #[test]
    fn places_are_found_whatever_the_blocks() {
        // Rows that are shorter and longer than a block, and a stretch of several without any.
        for (high, wide) in [(3_i64, 20_011_i64), (20_011, 3), (70, 1000)] {
            let holds = |place: i64| place % 7 == 3 && !(9000..30_000).contains(&place) || place % 4099 == 0;
            let flags: Vec<bool> = (0..high * wide).map(holds).collect();
            let sized = |tensor: Tensor| tensor.restride(Geometry::contiguous(&[high, wide])).unwrap();
            let mask = aten::ne_scalar(
                &sized(Tensor::from_slice(&flags.iter().map(|&flag| i64::from(flag)).collect::<Vec<_>>())),
                0.into(),
            )
            .unwrap();
            let expected: Vec<i64> = (0..high * wide).filter(|&place| holds(place)).collect();
            let elements = sized(Tensor::from_slice(&(0..high * wide).collect::<Vec<_>>()));
            assert_eq!(aten::masked_select(&elements, &mask).unwrap().to_vec::<i64>().unwrap(), expected);
            let pairs: Vec<i64> = expected.iter().flat_map(|place| [place / wide, place % wide]).collect();
            let found = aten::alias_copy(&aten::nonzero(&mask).unwrap()).unwrap();
            assert_eq!(
                aten::contiguous(&found, dispatch_runtime::MemoryFormat::Contiguous).unwrap().to_vec::<i64>().unwrap(),
                pairs
            );
            let turned = aten::masked_select(&aten::t(&elements).unwrap(), &aten::t(&mask).unwrap()).unwrap();
            let mut turned = turned.to_vec::<i64>().unwrap();
            assert!(turned.is_sorted_by_key(|place| (place % wide, place / wide)));
            turned.sort_unstable();
            assert_eq!(turned, expected);
        }
    }
}
