//! Elements in order.
//!
//! An element and its place become one number, an *entry*, and entries are ordered as their elements are: what is not a number after all
//! numbers, and equals by their places. So no algorithm needs to be stable, and none compares fractions.

use crate::math::vectorised;
use crate::moves::GRAIN;
use crate::pool::{each, threads_here};
use crate::reduction::extremes::Ordered;

/// An element that is ordered by a number.
pub(crate) trait Ranked: Ordered {
    /// Whether ranks have 32 bits.
    const NARROW: bool;

    /// Equal for equal elements, and for all that are not numbers.
    fn rank(self) -> u64;
}

macro_rules! ranked_fractions {
    ($($ty:ty as $bits:ty, $narrow:literal;)*) => {$(
        impl Ranked for $ty {
            const NARROW: bool = $narrow;

            #[inline(always)]
            #[expect(clippy::allow_attributes, reason = "one of the types is as wide")]
            #[allow(clippy::cast_lossless, trivial_numeric_casts, reason = "a rank is not narrower")]
            fn rank(self) -> u64 {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                // Both zeros are the same.
                let bits = (self + 0.0).to_bits();
                let rank = if bits & SIGN == 0 { bits | SIGN } else { !bits };
                (if self.is_none() { <$bits>::MAX } else { rank }) as u64
            }
        }
    )*};
}
ranked_fractions! { f32 as u32, true; f64 as u64, false; }

impl Ranked for i64 {
    const NARROW: bool = false;

    #[inline(always)]
    fn rank(self) -> u64 {
        self.cast_unsigned() ^ 1 << 63
    }
}

/// Which elements come first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    Smallest,
    Largest,
}

impl First {
    #[inline(always)]
    fn rank<T: Ranked>(self, element: T) -> u64 {
        let turned = if T::NARROW { u64::from(u32::MAX) } else { u64::MAX };
        if self == Self::Largest { element.rank() ^ turned } else { element.rank() }
    }
}

/// A rank, and below it a place.
pub(crate) trait Entry: Copy + Ord + Send + Sync {
    /// How many bytes of a rank there are.
    const DIGITS: u32;

    fn new(rank: u64, place: usize) -> Self;

    fn rank(self) -> u64;

    fn place(self) -> usize;
}

macro_rules! entries {
    ($($ty:ty: $half:literal;)*) => {$(
        #[expect(clippy::cast_possible_truncation, clippy::allow_attributes, reason = "halves are taken apart")]
        #[allow(clippy::cast_lossless, trivial_numeric_casts, reason = "one of the types is as wide as a rank")]
        impl Entry for $ty {
            const DIGITS: u32 = $half / 8;

            #[inline(always)]
            fn new(rank: u64, place: usize) -> Self {
                (rank as Self) << $half | place as Self
            }

            #[inline(always)]
            fn rank(self) -> u64 {
                (self >> $half) as u64
            }

            #[inline(always)]
            fn place(self) -> usize {
                (self & (1 << $half) - 1) as usize
            }
        }
    )*};
}
entries! { u64: 32; u128: 64; }

/// Runs a body with the narrowest entries that the elements of a line have.
macro_rules! with_entries {
    ($line:ident: $ty:ty, $entry:ident => $body:expr) => {
        if <$ty as $crate::order::Ranked>::NARROW && u32::try_from($line.len()).is_ok() {
            type $entry = u64;
            $body
        } else {
            type $entry = u128;
            $body
        }
    };
}
pub(crate) use with_entries;

/// All elements of a line, as they lie.
pub(crate) fn entries<T: Ranked, E: Entry>(line: &[T], first: First) -> Vec<E> {
    line.iter().enumerate().map(|(place, &element)| E::new(first.rank(element), place)).collect()
}

/// The first `count` elements of a line, of which there are as many, in order.
pub(crate) fn foremost<T: Ranked, E: Entry>(line: &[T], count: usize, first: First) -> Vec<E> {
    if count == 0 {
        return Vec::new();
    }
    let room = line.len().min(FEW.max(2 * count));
    let mut kept: Vec<E> = entries(&line[..room], first);
    if room < line.len() {
        let mut bound = keep(&mut kept, count);
        for (number, block) in line[room..].chunks(BLOCK).enumerate() {
            // Of those that are equal to the last one kept, it came first.
            let none = vectorised(
                #[inline(always)]
                || !block.iter().fold(false, |found, &element| found | (first.rank(element) < bound)),
            );
            if none {
                continue;
            }
            for (i, &element) in block.iter().enumerate() {
                let rank = first.rank(element);
                if rank < bound {
                    kept.push(E::new(rank, room + number * BLOCK + i));
                    if kept.len() == room {
                        bound = keep(&mut kept, count);
                    }
                }
            }
        }
    }
    if count < kept.len() {
        keep(&mut kept, count);
    }
    sort(&mut kept);
    kept
}

/// With fewer candidates there is nothing to be gained.
const FEW: usize = 1024;
/// How many elements are looked at together.
const BLOCK: usize = 256;

/// Leaves the first `count`, in any order, and gives the largest rank among them.
fn keep<E: Entry>(kept: &mut Vec<E>, count: usize) -> u64 {
    let bound = kept.select_nth_unstable(count - 1).1.rank();
    kept.truncate(count);
    bound
}

/// Puts entries of one line in order.
pub(crate) fn sort<E: Entry>(entries: &mut Vec<E>) {
    let Some(&any) = entries.first().filter(|_| entries.len() >= LONG) else {
        return entries.sort_unstable();
    };
    // Entries are in the order of their places if they have not been chosen among, and then digits of ranks are enough.
    if !entries.is_sorted_by_key(|entry| entry.place()) {
        return entries.sort_unstable();
    }
    let different = entries.iter().fold(0, |different, entry| different | (entry.rank() ^ any.rank()));
    let mut spare = entries.clone();
    for digit in (0..E::DIGITS).filter(|digit| different >> (8 * digit) & 0xff != 0) {
        deal(entries, &mut spare, digit);
        std::mem::swap(entries, &mut spare);
    }
}

/// Fewer entries are sorted by comparing them.
const LONG: usize = 1 << 11;

/// Where a thread writes.
struct Ends<E>(*mut E);

// SAFETY: threads write places of their own.
unsafe impl<E> Sync for Ends<E> {}

/// Puts entries in the order of one byte of their ranks, and otherwise leaves them in theirs.
fn deal<E: Entry>(from: &[E], to: &mut [E], digit: u32) {
    let byte = |entry: E| (entry.rank() >> (8 * digit) & 0xff) as usize;
    let step = from.len().div_ceil(threads_here().min(from.len() / GRAIN).max(1));
    let pieces: Vec<&[E]> = from.chunks(step).collect();
    let counts: Vec<std::sync::Mutex<[usize; 256]>> = pieces.iter().map(|_| std::sync::Mutex::new([0; 256])).collect();
    each(pieces.len(), |piece| {
        let mut count = [0; 256];
        pieces[piece].iter().for_each(|&entry| count[byte(entry)] += 1);
        *counts[piece].lock().unwrap_or_else(std::sync::PoisonError::into_inner) = count;
    });
    let mut starts: Vec<[usize; 256]> =
        counts.into_iter().map(|count| count.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)).collect();
    let mut start = 0;
    for value in 0..256 {
        for counts in &mut starts {
            start += std::mem::replace(&mut counts[value], start);
        }
    }
    let ends = &Ends(to[..from.len()].as_mut_ptr());
    each(pieces.len(), |piece| {
        let mut next = starts[piece];
        for &entry in pieces[piece] {
            let place = &mut next[byte(entry)];
            // SAFETY: counted, so every entry of every piece has a place of its own among as many as there are.
            unsafe { ends.0.add(*place).write(entry) };
            *place += 1;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranks_are_ordered_as_elements_are() {
        let ordered = [f32::NEG_INFINITY, -2.0, -f32::MIN_POSITIVE, 0.0, 1e-45, 3.0, f32::INFINITY, f32::NAN];
        assert!(ordered.map(Ranked::rank).is_sorted_by(|a, b| a < b));
        assert!(ordered.map(|x| f64::from(x).rank()).is_sorted_by(|a, b| a < b));
        assert!([i64::MIN, -1, 0, 7, i64::MAX].map(Ranked::rank).is_sorted_by(|a, b| a < b));
        assert_eq!((-0.0_f32).rank(), 0.0_f32.rank());
        assert_eq!((-f64::NAN).rank(), f64::NAN.rank());
    }

    /// Long enough for digits, with many equals.
    fn numbers(seed: u64, count: usize, kinds: u64) -> Vec<i64> {
        let mut state = seed | 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i64::try_from((state >> 33) % kinds).unwrap() - 5
        };
        (0..count).map(|_| next()).collect()
    }

    proptest! {
        #[test]
        fn equals_stay_in_their_order(
            seed in any::<u64>(), count in 0_usize..100_000, kinds in 1_u64..1 << 20, largest in any::<bool>(), some in 0_usize..5000,
        ) {
            let line = numbers(seed, count, kinds);
            let first = if largest { First::Largest } else { First::Smallest };
            let mut expected: Vec<usize> = (0..count).collect();
            expected.sort_by(|&a, &b| if largest { line[b].cmp(&line[a]) } else { line[a].cmp(&line[b]) });
            let places = |entries: Vec<u128>| entries.into_iter().map(Entry::place).collect::<Vec<_>>();
            prop_assert!(places(foremost(&line, count, first)) == expected);
            let some = some.min(count);
            prop_assert!(places(foremost(&line, some, first)) == expected[..some]);
            #[expect(clippy::cast_precision_loss, reason = "any numbers will do")]
            let narrow: Vec<f32> = line.iter().map(|&x| x as f32 / 4.0).collect();
            let narrow: Vec<u64> = foremost(&narrow, count, first);
            prop_assert!(narrow.into_iter().map(Entry::place).eq(expected));
        }
    }
}
