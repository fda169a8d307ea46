//! Functions of whole lines of tensors.
//!
//! A line has the elements of a tensor along the marked dimensions, at one position of the others. Contiguous lines are used without a
//! copy. Other lines are copied through a block, several neighbours at once, so that each cache line is fetched once.
#![expect(unsafe_code, reason = "lines and units divided among threads")]

use dispatch_runtime::{DType, Element, Operand, Operands};
use smallvec::SmallVec;

use super::to_isize;
use crate::convert::{ConvertFn, conversion_function};
use crate::thread_pool;

/// The fewest elements that are worth a thread.
const GRAIN_SIZE: usize = 32 * 1024;
/// The number of neighbouring lines that are copied to a block together: as many as a cache line has elements.
const LINES_PER_BLOCK: usize = 16;

/// One operand, and the geometry of its lines.
struct LineOperand {
    start: *mut u8,
    /// The size in bytes of an element of a line.
    size: usize,
    /// The conversion from an input's dtype to the line's, or from the line's to a result's.
    convert: ConvertFn,
    /// Whether lines are used without a copy.
    direct: bool,
    /// The number of elements of a line.
    length: usize,
    /// Sizes and strides in bytes along a line, from innermost to outermost.
    line_dims: SmallVec<[(usize, isize); 3]>,
    /// Strides in bytes between lines, one for each unmarked dimension, from innermost to outermost.
    outer_strides: SmallVec<[isize; 4]>,
}

// SAFETY: the operand that it points into is held for as long as the lines are read, and threads write different lines.
unsafe impl Sync for LineOperand {}

impl LineOperand {
    /// Returns an operand's lines along `dims`, with elements of `dtype`.
    fn new(dtype: DType, operand: &Operand<'_>, dims: &[bool], is_result: bool) -> Self {
        let geometry = operand.geometry();
        let element = to_isize(operand.dtype().size());
        let (mut line_dims, mut outer_strides) = (SmallVec::<[(usize, isize); 3]>::new(), SmallVec::new());
        for dim in (0..geometry.rank()).rev() {
            let size = usize::try_from(geometry.sizes()[dim]).unwrap_or(0);
            let stride = isize::try_from(geometry.strides()[dim]).unwrap_or(0).wrapping_mul(element);
            if !dims[dim] {
                outer_strides.push(stride);
            } else if size != 1 {
                match line_dims.last_mut() {
                    Some((inner, step)) if step.wrapping_mul(to_isize(*inner)) == stride => *inner *= size,
                    _ => line_dims.push((size, stride)),
                }
            }
        }
        if line_dims.is_empty() {
            line_dims.push((1, element));
        }
        let (from, to) = if is_result { (dtype, operand.dtype()) } else { (operand.dtype(), dtype) };
        let length = line_dims.iter().fold(1, |length: usize, line_dims| length.saturating_mul(line_dims.0));
        let direct = from == to && line_dims.len() == 1 && line_dims[0].1 == element;
        Self {
            start: operand.start(),
            size: dtype.size(),
            convert: conversion_function(from, to),
            direct,
            length,
            line_dims,
            outer_strides,
        }
    }

    /// Returns the address of the line at a position of the unmarked dimensions.
    fn line_pointer(&self, position: &[usize]) -> *mut u8 {
        let steps = position.iter().zip(&self.outer_strides);
        let offset =
            steps.fold(0, |offset: isize, (&at, stride)| offset.wrapping_add(to_isize(at).wrapping_mul(*stride)));
        self.start.wrapping_offset(offset)
    }

    /// Copies `count` neighbouring lines of an input to a block, or of a block to a result.
    fn copy_lines(&self, start: *mut u8, block: *mut u8, count: usize, is_result: bool) {
        let neighbour = self.outer_strides.first().copied().unwrap_or(0);
        let (run, step) = self.line_dims[0];
        let size = to_isize(self.size);
        let copy = |outside: *mut u8, stride: isize, inside: *mut u8, own: isize, count: usize| {
            // SAFETY: the operand has these elements, and a block has room for the lines that are copied through it.
            unsafe {
                if is_result {
                    (self.convert)(inside, own, outside, stride, count);
                } else {
                    (self.convert)(outside, stride, inside, own, count);
                }
            }
        };
        let mut at: SmallVec<[usize; 3]> = SmallVec::from_elem(0, self.line_dims.len());
        let (mut outside, mut done) = (start, 0);
        while done < self.length {
            if neighbour.abs() < step.abs() && count > 1 {
                for i in 0..run {
                    let inside = block.wrapping_add((done + i) * self.size);
                    copy(
                        outside.wrapping_offset(step * to_isize(i)),
                        neighbour,
                        inside,
                        size * to_isize(self.length),
                        count,
                    );
                }
            } else {
                for line in 0..count {
                    let inside = block.wrapping_add((line * self.length + done) * self.size);
                    copy(outside.wrapping_offset(neighbour * to_isize(line)), step, inside, size, run);
                }
            }
            done += run;
            for (at, &(size, stride)) in at.iter_mut().zip(&self.line_dims).skip(1) {
                *at += 1;
                outside = outside.wrapping_offset(stride);
                if *at < size {
                    break;
                }
                outside = outside.wrapping_offset(-stride * to_isize(size));
                *at = 0;
            }
        }
    }
}

/// Calls `f` with every line along the marked dimensions: the line's index, the elements of the inputs, and those of the outputs. The first
/// `O` outputs are of type `R`, the other `P` of type `S`. The operands have equal ranks, and equal sizes in the unmarked dimensions; each
/// has its own line length.
///
/// # Panics
///
/// Panics if the operands' sizes disagree, or if an operand is both read and written.
pub fn for_each_line<
    C: Element,
    R: Element,
    S: Element,
    const INPUTS: usize,
    const WRITTEN: usize,
    const FIRST_RESULTS: usize,
    const OTHER_RESULTS: usize,
>(
    dims: &[bool],
    operands: &Operands<'_, WRITTEN, INPUTS>,
    f: impl Fn(usize, [&[C]; INPUTS], [&mut [R]; FIRST_RESULTS], [&mut [S]; OTHER_RESULTS]) + Sync,
) {
    const { assert!(FIRST_RESULTS + OTHER_RESULTS == WRITTEN) };
    let (sizes, operands) =
        new_line_operands(dims, [C::DTYPE, R::DTYPE, S::DTYPE], operands.read(), operands.written(), FIRST_RESULTS);
    visit_lines(&sizes, &operands, INPUTS, &|number, at| {
        // SAFETY: `visit_lines` passes the line of every operand, of the type that the operand was made with, and no line to two calls. No
        // written line overlaps a line that is read.
        unsafe {
            let read = std::array::from_fn(|i| std::slice::from_raw_parts(at[i].cast::<C>(), operands[i].length));
            let first = std::array::from_fn(|i| {
                std::slice::from_raw_parts_mut(at[INPUTS + i].cast::<R>(), operands[INPUTS + i].length)
            });
            let second = std::array::from_fn(|i| {
                std::slice::from_raw_parts_mut(
                    at[INPUTS + FIRST_RESULTS + i].cast::<S>(),
                    operands[INPUTS + FIRST_RESULTS + i].length,
                )
            });
            f(number, read, first, second);
        }
    });
}

/// Returns the sizes of the unmarked dimensions, from innermost to outermost, and the lines of every operand. The three dtypes are those of
/// the inputs, of the first `first` results, and of the other results.
fn new_line_operands(
    dims: &[bool],
    [read, written, others]: [DType; 3],
    inputs: &[Operand<'_>],
    results: &[Operand<'_>],
    first: usize,
) -> (SmallVec<[usize; 4]>, SmallVec<[LineOperand; 4]>) {
    let all = results[0].geometry().sizes();
    for operand in inputs.iter().chain(results) {
        let own = operand.geometry().sizes();
        let agrees = own.len() == dims.len() && (0..own.len()).all(|dim| dims[dim] || own[dim] == all[dim]);
        assert!(agrees, "operands of sizes {own:?} and {all:?} differ in a dimension that is not along the lines");
    }
    assert!(
        !inputs.iter().any(|input| results.iter().any(|result| input.is_same_elements_as(result))),
        "an operand is both read and written"
    );
    let of_inputs = inputs.iter().map(|input| LineOperand::new(read, input, dims, false));
    let dtype = |i: usize| if i < first { written } else { others };
    let of_results = results.iter().enumerate().map(|(i, result)| LineOperand::new(dtype(i), result, dims, true));
    let sizes = all.iter().zip(dims).rev().filter(|(_, line_dims)| !**line_dims);
    let sizes = sizes.map(|(&size, _)| usize::try_from(size).unwrap_or(0)).collect();
    (sizes, of_inputs.chain(of_results).collect())
}

fn visit_lines(sizes: &[usize], operands: &[LineOperand], inputs: usize, f: &(dyn Fn(usize, &[*mut u8]) + Sync)) {
    let count = sizes.iter().fold(1, |count: usize, &size| count.saturating_mul(size));
    let longest = operands.iter().map(|operand| operand.length).max().unwrap_or(0);
    if longest == 0 {
        // The number of lines without elements can be arbitrarily large.
        return;
    }
    let inner = sizes.first().copied().unwrap_or(1);
    let together = if operands.iter().all(|operand| operand.direct) { usize::MAX } else { LINES_PER_BLOCK };
    thread_pool::parallel_for(0..count, (GRAIN_SIZE / longest.max(1)).max(1), |part| {
        let buffered_lines = LINES_PER_BLOCK.min(part.len());
        let mut blocks: SmallVec<[Vec<u128>; 4]> = operands
            .iter()
            .map(|operand| {
                if operand.direct {
                    Vec::new()
                } else {
                    vec![0; (buffered_lines * operand.length * operand.size).div_ceil(16)]
                }
            })
            .collect();
        let mut starts: SmallVec<[*mut u8; 4]> = SmallVec::from_elem(std::ptr::null_mut(), operands.len());
        let mut first = part.start;
        while first < part.end {
            let mut rest = first;
            let position: SmallVec<[usize; 4]> = sizes
                .iter()
                .map(|&size| {
                    let at = rest % size;
                    rest /= size;
                    at
                })
                .collect();
            let neighbours = together.min(part.end - first).min(inner - position.first().copied().unwrap_or(0));
            for (i, (operand, block)) in operands.iter().zip(&mut blocks).enumerate() {
                let at = operand.line_pointer(&position);
                starts[i] = if operand.direct { at } else { block.as_mut_ptr().cast() };
                if !operand.direct && i < inputs {
                    operand.copy_lines(at, starts[i], neighbours, false);
                }
            }
            for line in 0..neighbours {
                f(first + line, &starts);
                for (start, operand) in starts.iter_mut().zip(operands) {
                    let step = if operand.direct {
                        operand.outer_strides.first().copied().unwrap_or(0)
                    } else {
                        to_isize(operand.length * operand.size)
                    };
                    *start = start.wrapping_offset(step);
                }
            }
            for (operand, block) in operands.iter().zip(&mut blocks).skip(inputs) {
                if !operand.direct {
                    operand.copy_lines(operand.line_pointer(&position), block.as_mut_ptr().cast(), neighbours, true);
                }
            }
            first += neighbours;
        }
    });
}
