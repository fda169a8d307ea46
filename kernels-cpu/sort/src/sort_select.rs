//! Sorting and selection of the elements of a row.
//!
//! The rank of an element and its index are packed into one integer, an *entry*. Entries have the order of their elements: NaN is after all
//! numbers, and equal elements are in the order of their indices. So no algorithm needs to be stable, and none compares floating-point
//! numbers.
#![expect(unsafe_code, reason = "the offsets were counted before")]

use std::marker::PhantomData;

use engine::data_movement::GRAIN_SIZE;
use engine::inlined::inlined;
use engine::math::vectorised;
use engine::reduce::min_max::Comparable;
use engine::thread_pool::{DisjointLines, DisjointSlices, parallel_each, region_thread_count};

/// An element type whose order is that of integers, the ranks.
pub(crate) trait Ranked: Comparable {
    /// The number of bits of a rank.
    const RANK_BITS: u32;

    /// Returns the element's rank. It is equal for equal elements, and for all NaN.
    fn rank(self) -> u64;

    /// Returns the element of a rank, or `None` if several elements have this rank.
    fn from_rank(rank: u64) -> Option<Self>;
}

/// Implements [`Ranked`] for floating-point types.
macro_rules! impl_ranked_floats {
    ($($ty:ty as $bits:ty;)*) => {$(
        #[expect(clippy::allow_attributes, reason = "one of the types is as wide")]
        #[allow(clippy::cast_lossless, clippy::cast_possible_truncation, trivial_numeric_casts, reason = "a rank has `RANK_BITS` bits")]
        impl Ranked for $ty {
            const RANK_BITS: u32 = <$bits>::BITS;

            #[inline(always)]
            fn rank(self) -> u64 {
                const SIGN_BIT: $bits = 1 << (<$bits>::BITS - 1);
                // Adding zero gives both zeros the same bits.
                let bits = (self + 0.0).to_bits();
                let rank = if bits & SIGN_BIT == 0 { bits | SIGN_BIT } else { !bits };
                (if self.is_nan() { <$bits>::MAX } else { rank }) as u64
            }

            #[inline(always)]
            fn from_rank(rank: u64) -> Option<Self> {
                const SIGN_BIT: $bits = 1 << (<$bits>::BITS - 1);
                let rank = rank as $bits;
                let bits = if rank & SIGN_BIT == 0 { !rank } else { rank ^ SIGN_BIT };
                (rank != SIGN_BIT && rank != <$bits>::MAX).then_some(Self::from_bits(bits))
            }
        }
    )*};
}
impl_ranked_floats! { f32 as u32; f64 as u64; }

inlined! {
    impl Ranked for i64 {
        const RANK_BITS: u32 = 64;
        fn rank(self) -> u64 = self.cast_unsigned() ^ 1 << 63;
        fn from_rank(rank: u64) -> Option<Self> = Some((rank ^ 1 << 63).cast_signed());
    }
}

/// The direction of a sort.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Ascending,
    Descending,
}

impl Direction {
    /// Converts a rank to its rank in this direction, or back: the conversion is its own inverse.
    #[inline(always)]
    fn rank_in_direction<T: Ranked>(self, rank: u64) -> u64 {
        if self == Self::Descending { rank ^ (u64::MAX >> (64 - T::RANK_BITS)) } else { rank }
    }
}

/// An integer with a rank in its upper bits and an index in its lower `shift` bits.
pub(crate) trait RankEntry: Copy + Ord + Default + Send + Sync {
    fn new(rank: u64, index: usize, shift: u32) -> Self;

    fn rank(self, shift: u32) -> u64;

    fn index(self, shift: u32) -> usize;

    /// Returns a buffer of indices as a buffer of entries, if both have the same type.
    fn index_buffer_as_entries(places: &mut [i64]) -> Option<&mut [Self]>;
}

/// Implements [`RankEntry`] for integers.
macro_rules! impl_rank_entry {
    ($($ty:ty: |$places:ident| $room:expr;)*) => {$(
        #[expect(clippy::allow_attributes, reason = "one of the types is as wide as a rank")]
        #[allow(clippy::cast_lossless, clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "the rank and the index have as many bits as were packed")]
        impl RankEntry for $ty {
            #[inline(always)]
            fn new(rank: u64, index: usize, shift: u32) -> Self {
                (rank as Self) << shift | index as Self
            }

            #[inline(always)]
            fn rank(self, shift: u32) -> u64 {
                (self >> shift) as u64
            }

            #[inline(always)]
            fn index(self, shift: u32) -> usize {
                (self & ((1 << shift) - 1)) as usize
            }

            fn index_buffer_as_entries($places: &mut [i64]) -> Option<&mut [Self]> {
                $room
            }
        }
    )*};
}
impl_rank_entry! { i64: |places| Some(places); u128: |_places| None; }

/// Sorts the elements of a row, or selects some, by converting them to entries.
pub(crate) struct RowSorter<T, E> {
    direction: Direction,
    /// The number that is subtracted from all ranks.
    base: u64,
    /// The number of bits of an index.
    shift: u32,
    types: PhantomData<(T, E)>,
}

impl<T: Ranked> RowSorter<T, i64> {
    /// Returns a sorter with 64-bit entries, if the range of the ranks and the indices fit into them.
    pub(crate) fn with_i64_entries(line: &[T], direction: Direction) -> Option<Self> {
        let shift = usize::BITS - line.len().leading_zeros();
        let (mut least, mut greatest) = (0, u64::MAX >> (64 - T::RANK_BITS));
        if T::RANK_BITS == 64 {
            let ranks = line.iter().map(|&element| direction.rank_in_direction::<T>(element.rank()));
            (least, greatest) =
                vectorised!(ranks.fold((u64::MAX, 0), |(least, greatest), rank| (rank.min(least), rank.max(greatest))));
        }
        let bits = 64 - greatest.saturating_sub(least).leading_zeros();
        (bits + shift < 64).then_some(Self { direction, base: least, shift, types: PhantomData })
    }
}

impl<T: Ranked> RowSorter<T, u128> {
    pub(crate) fn with_u128_entries(direction: Direction) -> Self {
        Self { direction, base: 0, shift: 64, types: PhantomData }
    }
}

/// Runs a block of code with the [`RowSorter`] of a row that has the narrowest entries.
macro_rules! with_row_sorter {
    ($line:expr, $direction:expr, $order:ident => $body:expr) => {
        if let Some($order) = $crate::sort_select::RowSorter::<_, i64>::with_i64_entries($line, $direction) {
            $body
        } else {
            let $order = $crate::sort_select::RowSorter::<_, u128>::with_u128_entries($direction);
            $body
        }
    };
}
pub(crate) use with_row_sorter;

/// The minimum number of candidates that a selection collects. Fewer would not be faster.
const MIN_CANDIDATES: usize = 1024;
/// The number of elements that a selection tests at once.
const ELEMENTS_PER_TEST: usize = 256;
/// The minimum number of entries for a radix sort. Fewer are sorted by comparison.
const MIN_RADIX_ENTRIES: usize = 1 << 11;

impl<T: Ranked, E: RankEntry> RowSorter<T, E> {
    #[inline(always)]
    fn relative_rank(&self, element: T) -> u64 {
        self.direction.rank_in_direction::<T>(element.rank()).wrapping_sub(self.base)
    }

    /// Returns the index in the row of an entry's element.
    #[inline(always)]
    pub(crate) fn index(&self, entry: E) -> usize {
        entry.index(self.shift)
    }

    /// Returns the element of an entry.
    #[inline(always)]
    pub(crate) fn element(&self, line: &[T], entry: E) -> T {
        let rank = entry.rank(self.shift).wrapping_add(self.base);
        // Most elements follow from their ranks, without a random access to the row.
        T::from_rank(self.direction.rank_in_direction::<T>(rank)).unwrap_or_else(|| line[self.index(entry)])
    }

    /// Returns whether the elements of two entries are equal, or both are NaN.
    pub(crate) fn is_equal(&self, a: E, b: E) -> bool {
        a.rank(self.shift) == b.rank(self.shift)
    }

    /// Converts all elements of a row to entries, in the order of their indices.
    pub(crate) fn to_entries(&self, line: &[T]) -> Vec<E> {
        let entries = line.iter().enumerate();
        entries.map(|(place, &element)| E::new(self.relative_rank(element), place, self.shift)).collect()
    }

    /// Returns the first `count` entries of a row, sorted. The row has at least `count` elements.
    pub(crate) fn select_first_entries(&self, line: &[T], count: usize) -> Vec<E> {
        if count == 0 {
            return Vec::new();
        }
        let room = line.len().min(MIN_CANDIDATES.max(2 * count));
        let mut kept = self.to_entries(&line[..room]);
        if room < line.len() {
            let mut bound = self.keep_first_entries(&mut kept, count);
            for (number, block) in line[room..].chunks(ELEMENTS_PER_TEST).enumerate() {
                // An element that equals the last kept element comes after that element.
                let none = vectorised!(
                    !block.iter().fold(false, |found, &element| found | (self.relative_rank(element) < bound))
                );
                if none {
                    continue;
                }
                for (place, &element) in (room + number * ELEMENTS_PER_TEST..).zip(block) {
                    if self.relative_rank(element) < bound {
                        kept.push(E::new(self.relative_rank(element), place, self.shift));
                        if kept.len() == room {
                            bound = self.keep_first_entries(&mut kept, count);
                        }
                    }
                }
            }
        }
        if count < line.len() {
            self.keep_first_entries(&mut kept, count);
            kept.sort_unstable();
        } else {
            self.sort_entries(&mut kept);
        }
        kept
    }

    /// Keeps the first `count` entries, in any order. Returns the largest rank among them.
    fn keep_first_entries(&self, kept: &mut Vec<E>, count: usize) -> u64 {
        let bound = kept.select_nth_unstable(count - 1).1.rank(self.shift);
        kept.truncate(count);
        bound
    }

    /// Sorts the elements of a row, and writes them and their indices.
    pub(crate) fn sort_row(&self, line: &[T], elements: &mut [T], places: &mut [i64]) {
        let give = |entry: E| (self.element(line, entry), i64::try_from(self.index(entry)).unwrap_or(i64::MAX));
        let Some(entries) = E::index_buffer_as_entries(places) else {
            let mut entries = self.to_entries(line);
            self.sort_entries(&mut entries);
            let to = elements.iter_mut().zip(places);
            return to.zip(entries).for_each(|((element, place), entry)| (*element, *place) = give(entry));
        };
        for (place, (to, &element)) in entries.iter_mut().zip(line).enumerate() {
            *to = E::new(self.relative_rank(element), place, self.shift);
        }
        self.sort_entries(entries);
        for (i, element) in elements.iter_mut().enumerate() {
            let Some(entry) = E::index_buffer_as_entries(places).and_then(|entries| entries.get(i).copied()) else {
                return;
            };
            (*element, places[i]) = give(entry);
        }
    }

    /// Sorts the result of [`to_entries`](Self::to_entries), whose entries are in the order of their indices.
    pub(crate) fn sort_entries(&self, entries: &mut [E]) {
        let Some(&any) = entries.first().filter(|_| entries.len() >= MIN_RADIX_ENTRIES) else {
            return entries.sort_unstable();
        };
        // Entries with equal ranks are in order already, so stable passes over the bytes of the ranks are enough.
        let rank = |entry: E| entry.rank(self.shift);
        let different = entries.iter().fold(0, |different, &entry| different | (rank(entry) ^ rank(any)));
        let mut spare = vec![E::default(); entries.len()];
        let (mut from, mut to) = (&mut *entries, &mut spare[..]);
        let mut away = false;
        for digit in (0..8).filter(|digit| different >> (8 * digit) & 0xff != 0) {
            self.radix_pass(from, to, digit);
            (from, to, away) = (to, from, !away);
        }
        if away {
            to.copy_from_slice(from);
        }
    }

    /// Sorts entries by one byte of their ranks, stably.
    fn radix_pass(&self, from: &[E], to: &mut [E], digit: u32) {
        let byte = |entry: E| (entry.rank(self.shift) >> (8 * digit) & 0xff) as usize;
        let step = from.len().div_ceil(region_thread_count().min(from.len() / GRAIN_SIZE).max(1));
        let pieces: Vec<&[E]> = from.chunks(step).collect();
        let mut starts = vec![[0; 256]; pieces.len()];
        DisjointLines::new(&mut starts, 1).for_each(1, |i, start| {
            let mut count = [0; 256];
            pieces[i].iter().for_each(|&entry| count[byte(entry)] += 1);
            start[0] = count;
        });
        let mut before = 0;
        for value in 0..256 {
            for starts in &mut starts {
                before += std::mem::replace(&mut starts[value], before);
            }
        }
        let to = DisjointSlices::new(&mut to[..from.len()]);
        parallel_each(pieces.len(), |i| {
            let mut next = starts[i];
            for &entry in pieces[i] {
                let place = &mut next[byte(entry)];
                // SAFETY: the entries were counted, so each entry of each piece has an index of its own, below the number of entries.
                unsafe { to.slice(*place..*place + 1)[0] = entry };
                *place += 1;
            }
        });
    }
}
