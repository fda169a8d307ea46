//! Fixed places for blocks, such that blocks in use at the same time do not overlap.

use super::region::Place;

/// A block, with the times of its allocation and of its free.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockLifetime {
    pub(super) size: usize,
    pub(super) first: usize,
    pub(super) last: usize,
}

/// Returns a place for each block. The largest blocks are placed first, each in the smallest gap between those that are in use at the same
/// time.
pub(super) fn places(blocks: &[BlockLifetime]) -> Vec<Place> {
    let mut by_size: Vec<usize> = (0..blocks.len()).collect();
    by_size.sort_by_key(|&at| std::cmp::Reverse(blocks[at].size));
    let mut places = vec![0..0; blocks.len()];
    for (rank, &at) in by_size.iter().enumerate() {
        let block = blocks[at];
        let overlaps = |other: &BlockLifetime| other.first <= block.last && block.first <= other.last;
        let larger = by_size[..rank].iter().filter(|&&other| overlaps(&blocks[other]));
        let mut taken: Vec<&Place> = larger.map(|&other| &places[other]).collect();
        taken.sort_unstable_by_key(|place| place.start);
        let start = smallest_gap(&taken, block.size);
        places[at] = start..start.saturating_add(block.size);
    }
    places
}

/// Returns the start of the smallest gap of at least `size` bytes between places in ascending order, or their end if there is none.
fn smallest_gap(taken: &[&Place], size: usize) -> usize {
    let (mut free_from, mut best) = (0_usize, None::<(usize, usize)>);
    for place in taken {
        let gap = place.start.saturating_sub(free_from);
        if gap >= size && best.is_none_or(|(_, smallest)| gap < smallest) {
            best = Some((free_from, gap));
        }
        free_from = free_from.max(place.end);
    }
    best.map_or(free_from, |(start, _)| start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lifetime((size, first, length): (usize, usize, usize)) -> BlockLifetime {
        BlockLifetime { size, first, last: first + length }
    }

    /// Returns the largest size in use at one time.
    fn peak(blocks: &[BlockLifetime]) -> usize {
        let in_use = |time| blocks.iter().filter(move |block| block.first <= time && time <= block.last);
        blocks.iter().map(|block| in_use(block.first).map(|block| block.size).sum()).max().unwrap_or(0)
    }

    #[test]
    fn a_chain_of_equal_blocks_takes_the_place_of_two() {
        let chain: Vec<_> = (0..10).map(|step| lifetime((64, step, 1))).collect();
        assert_eq!(places(&chain).iter().map(|place| place.end).max(), Some(128));
    }

    proptest! {
        #[test]
        fn blocks_in_use_at_the_same_time_do_not_overlap(
            blocks in prop::collection::vec((1_usize..100, 0_usize..50, 0_usize..20), 0..60)
        ) {
            let blocks: Vec<_> = blocks.into_iter().map(lifetime).collect();
            let places = places(&blocks);
            for (at, (block, place)) in blocks.iter().zip(&places).enumerate() {
                prop_assert_eq!(place.len(), block.size);
                for (other, other_place) in blocks[..at].iter().zip(&places) {
                    let at_the_same_time = other.first <= block.last && block.first <= other.last;
                    let apart = place.end <= other_place.start || other_place.end <= place.start;
                    prop_assert!(apart || !at_the_same_time, "{block:?} {place:?} {other:?} {other_place:?}");
                }
            }
            let end = places.iter().map(|place| place.end).max().unwrap_or(0);
            prop_assert!(end >= peak(&blocks) && end <= blocks.iter().map(|block| block.size).sum());
        }
    }
}
