//! Lines of real numbers, before a forward transform or after an inverse one.
//!
//! A line of even length is folded: its pairs are the complex numbers of a line of half the length. The transform of that line has the sums
//! and differences of the frequencies `k` and `length / 2 - k`.

use dispatch_runtime::OutOfMemory;
use engine::math::vectorised;
use rustfft::num_complex::Complex;

use crate::line_transform::{FftFloat, LineTransform};
use crate::lines::{for_each_chunk, lines_per_chunk};

/// Transforms real lines of `from`. The lines of `to` have this number of frequencies: all, or the first half.
pub(crate) fn transform_real_lines<T: FftFloat>(
    transform: &LineTransform<T>,
    from: &[T],
    to: &mut [Complex<T>],
    frequencies: usize,
    scale: T,
) -> Result<(), OutOfMemory> {
    let length = transform.kind.length;
    let (together, each) = (lines_per_chunk(length), transform.complex.len());
    let scratch_length = together * each + transform.scratch_in_place();
    for_each_chunk(to, frequencies, together, scratch_length, |lines, to, scratch| {
        let (work, scratch) = scratch.split_at_mut(together * each);
        let work = &mut work[..lines.len() * each];
        let from = &from[lines.start * length..lines.end * length];
        if transform.kind.is_folded() {
            for (element, &[re, im]) in work.iter_mut().zip(from.as_chunks::<2>().0) {
                *element = Complex::new(re, im);
            }
        } else {
            for (element, &real) in work.iter_mut().zip(from) {
                *element = Complex::new(real, T::zero());
            }
        }
        transform.complex.process_with_scratch(work, scratch);
        vectorised(
            #[inline(always)]
            || {
                for (to, work) in to.chunks_exact_mut(frequencies).zip(work.chunks_exact(each)) {
                    if transform.kind.is_folded() {
                        write_frequencies(work, to, &transform.fold_factors, scale);
                    } else {
                        to.iter_mut().zip(work).for_each(|(to, &frequency)| *to = frequency * scale);
                    }
                }
            },
        );
    })
}

/// Transforms lines of the first half of frequencies to real lines. The imaginary parts of the frequencies that are real in such a
/// transform are ignored.
pub(crate) fn transform_to_real_lines<T: FftFloat>(
    transform: &LineTransform<T>,
    from: &[Complex<T>],
    to: &mut [T],
    scale: T,
) -> Result<(), OutOfMemory> {
    let length = transform.kind.length;
    let frequencies = length / 2 + 1;
    let (together, each) = (lines_per_chunk(length), transform.complex.len());
    let scratch_length = together * each + transform.scratch_in_place();
    for_each_chunk(to, length, together, scratch_length, |lines, to, scratch| {
        let (work, scratch) = scratch.split_at_mut(together * each);
        let work = &mut work[..lines.len() * each];
        let from = &from[lines.start * frequencies..lines.end * frequencies];
        vectorised(
            #[inline(always)]
            || {
                for (work, from) in work.chunks_exact_mut(each).zip(from.chunks_exact(frequencies)) {
                    if transform.kind.is_folded() {
                        fold_frequencies(from, work, &transform.fold_factors);
                    } else {
                        mirror_frequencies(from, work);
                    }
                }
            },
        );
        transform.complex.process_with_scratch(work, scratch);
        vectorised(
            #[inline(always)]
            || {
                if transform.kind.is_folded() {
                    for (pair, element) in to.as_chunks_mut::<2>().0.iter_mut().zip(work) {
                        *pair = [element.re * scale, element.im * scale];
                    }
                } else {
                    to.iter_mut().zip(work).for_each(|(to, element)| *to = element.re * scale);
                }
            },
        );
    })
}

/// Writes the frequencies of a line from those of the folded line: one half, or all.
#[inline(always)]
fn write_frequencies<T: FftFloat>(folded: &[Complex<T>], to: &mut [Complex<T>], factors: &[Complex<T>], scale: T) {
    let half = folded.len();
    let (first, zero) = (folded[0], T::zero());
    to[0] = Complex::new((first.re + first.im) * scale, zero);
    to[half] = Complex::new((first.re - first.im) * scale, zero);
    combine_pairs(folded, to, half, factors, scale * T::rounded(0.5));
    let (known, mirrored) = to.split_at_mut(half + 1);
    for (to, known) in mirrored.iter_mut().rev().zip(&known[1..]) {
        *to = known.conj();
    }
}

/// Writes the frequencies of the folded line from the first half of those of a line.
#[inline(always)]
fn fold_frequencies<T: FftFloat>(from: &[Complex<T>], folded: &mut [Complex<T>], factors: &[Complex<T>]) {
    let half = folded.len();
    let (first, last) = (from[0].re, from[half].re);
    folded[0] = Complex::new(first + last, first - last);
    combine_pairs(from, folded, half, factors, T::one());
}

/// Writes all frequencies of a line of odd length from the first half of them.
#[inline(always)]
fn mirror_frequencies<T: FftFloat>(from: &[Complex<T>], to: &mut [Complex<T>]) {
    let (known, mirrored) = to.split_at_mut(from.len());
    known.copy_from_slice(from);
    known[0].im = T::zero();
    for (to, known) in mirrored.iter_mut().rev().zip(&from[1..]) {
        *to = known.conj();
    }
}

/// The number of pairs that are combined together.
const BLOCK_LENGTH: usize = 8;

/// Combines the elements `k` and `half - k`: the sum, and the difference times a factor. `k` is not 0.
#[inline(always)]
fn combine_pairs<T: FftFloat>(
    from: &[Complex<T>],
    to: &mut [Complex<T>],
    half: usize,
    factors: &[Complex<T>],
    scale: T,
) {
    if half < 2 {
        return;
    }
    let middle = half / 2;
    let (from_low, from_high) = (&from[1..=middle], &from[half - middle..half]);
    if half.is_multiple_of(2) {
        let (element, at) = (from[middle], middle);
        // The element is its own partner.
        let partner = element.conj();
        to[at] = (element + partner + (element - partner) * factors[at]) * scale;
    }
    let pairs = (half - 1) / 2;
    let (low, high) = to[1..half].split_at_mut(half / 2);
    let high_start = high.len() - pairs;
    let (low, high) = (&mut low[..pairs], &mut high[high_start..]);
    let (from_low, from_high) = (&from_low[..pairs], &from_high[from_high.len() - pairs..]);
    let factors = &factors[1..=pairs];
    // Blocks of a constant length become vector instructions, although one operand is read backwards.
    let (low_blocks, low_rest) = low.as_chunks_mut::<BLOCK_LENGTH>();
    let (high_rest, high_blocks) = high.as_rchunks_mut::<BLOCK_LENGTH>();
    let (a_blocks, a_rest) = from_low.as_chunks::<BLOCK_LENGTH>();
    let (b_rest, b_blocks) = from_high.as_rchunks::<BLOCK_LENGTH>();
    let (factor_blocks, factors_rest) = factors.as_chunks::<BLOCK_LENGTH>();
    let to_blocks = low_blocks.iter_mut().zip(high_blocks.iter_mut().rev());
    let from_blocks = a_blocks.iter().zip(b_blocks.iter().rev()).zip(factor_blocks);
    for ((low, high), ((a, b), factors)) in to_blocks.zip(from_blocks) {
        combine_block(low, high, a, b, factors, scale);
    }
    let to_rest = low_rest.iter_mut().zip(high_rest.iter_mut().rev());
    let from_rest = a_rest.iter().zip(b_rest.iter().rev()).zip(factors_rest);
    for ((low, high), ((&a, &b), &factor)) in to_rest.zip(from_rest) {
        [*low, *high] = combine_pair(a, b, factor, scale);
    }
}

/// Combines the elements of a block. `high` and `b` are in descending order.
#[inline(always)]
fn combine_block<T: FftFloat>(
    low: &mut [Complex<T>; BLOCK_LENGTH],
    high: &mut [Complex<T>; BLOCK_LENGTH],
    a: &[Complex<T>; BLOCK_LENGTH],
    b: &[Complex<T>; BLOCK_LENGTH],
    factors: &[Complex<T>; BLOCK_LENGTH],
    scale: T,
) {
    for at in 0..BLOCK_LENGTH {
        let mirrored = BLOCK_LENGTH - 1 - at;
        [low[at], high[mirrored]] = combine_pair(a[at], b[mirrored], factors[at], scale);
    }
}

#[inline(always)]
fn combine_pair<T: FftFloat>(a: Complex<T>, b: Complex<T>, factor: Complex<T>, scale: T) -> [Complex<T>; 2] {
    let (sum, difference) = (a + b.conj(), (a - b.conj()) * factor);
    [(sum + difference) * scale, (sum - difference).conj() * scale]
}
