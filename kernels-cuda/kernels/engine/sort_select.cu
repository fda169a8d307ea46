// Kernels of sorting and selection. Sort keys (sort_key.cuh) are sorted with their positions. Equal keys are sorted by position.
#include "prefix_sum.cuh"
#include "sort_key.cuh"

// Sorts pairs of key and position in shared memory (bitonic sort), two for each thread, in groups of `width`, a power of two.
template <class K> __device__ __forceinline__ void bitonic_sort(K *keys, u32 *positions, u32 width) {
    for (u32 run = 2; run <= width; run *= 2) {
        for (u32 apart = run / 2; apart; apart /= 2) {
            __syncthreads();
            u32 low = 2 * threadIdx.x - (threadIdx.x & (apart - 1)), high = low + apart;
            K a = keys[low], b = keys[high];
            u32 from_a = positions[low], from_b = positions[high];
            bool rising = (low & run & (width - 1)) == 0;
            if ((a > b || (a == b && from_a > from_b)) == rising) {
                keys[low] = b, keys[high] = a;
                positions[low] = from_b, positions[high] = from_a;
            }
        }
    }
    __syncthreads();
}

static const u32 NO_POSITION = ~0u;

// Sorts short lines, several in a block, and writes the first `most` elements of each.
template <class T>
__global__ void __launch_bounds__(1024) sort_short_lines(SortInput lines, u32 width, u32 most, u8 *values, i64 *indices) {
    typedef typename SortKey<T>::type K;
    DYNAMIC_SHARED_MEMORY(bytes);
    u32 capacity = 2 * blockDim.x;
    K *keys = (K *)bytes;
    u32 *positions = (u32 *)(keys + capacity);
    u32 first = blockIdx.x * (capacity / width);
    for (u32 i = threadIdx.x; i < capacity; i += blockDim.x) {
        u32 line = first + i / width, at = i & (width - 1);
        bool here = line < lines.count && at < lines.size;
        keys[i] = here ? lines.key_at<K>(u64(line) * lines.size + at) : K(~K(0));
        positions[i] = here ? at : NO_POSITION;
    }
    bitonic_sort(keys, positions, width);
    for (u32 i = threadIdx.x; i < capacity; i += blockDim.x) {
        u32 line = first + i / width, at = i & (width - 1);
        if (line >= lines.count || at >= most) continue;
        u64 to = u64(line) * most + at;
        indices[to] = positions[i];
        copy_element(values + to * lines.element_size, lines.elements + (u64(line) * lines.size + positions[i]) * lines.element_size, lines.element_size);
    }
}

// A selected key of a line: its rank among equal keys (`rank`, from one), and how often the key occurs.
template <class K> struct SelectedKey {
    K key;
    u32 rank, count;
};

// Selects the `nth` smallest key of a line, counted from one, digit by digit. Keys have `bits` bits.
template <class K>
__device__ __forceinline__ SelectedKey<K> radix_select(const SortInput &lines, u64 first, u32 nth, u32 bits, u32 *counts) {
    __shared__ u32 chosen, before_chosen;
    K known = 0, mask = 0;
    u32 times = 0;
    // If another kernel writes the elements meanwhile, no digit may be chosen, so the variables have initial values.
    if (threadIdx.x == 0) chosen = 0, before_chosen = 0;
    // The bits above the highest digit are equal in all keys.
    if (bits < 8 * sizeof(K)) mask = K(~K(0)) << bits, known = lines.descending ? mask : K(0);
    for (u32 shift = bits; shift > 0;) {
        shift -= 8;
        for (u32 i = threadIdx.x; i < 256; i += blockDim.x) counts[i] = 0;
        __syncthreads();
        for (u32 i = threadIdx.x; i < lines.size; i += blockDim.x) {
            K key = lines.key_at<K>(first + i);
            if ((key & mask) == known) atomicAdd(&counts[key >> shift & 255], 1u);
        }
        __syncthreads();
        if (threadIdx.x < 32) {
            u32 own = 0;
            for (u32 i = 0; i < 8; i++) own += counts[threadIdx.x * 8 + i];
            u32 before = own;
#pragma unroll
            for (u32 by = 1; by < 32; by *= 2) {
                u32 other = __shfl_up_sync(~0u, before, by);
                if (threadIdx.x >= by) before += other;
            }
            before -= own;
            if (before < nth && nth <= before + own) {
                u32 digit = threadIdx.x * 8;
                while (before + counts[digit] < nth) before += counts[digit++];
                chosen = digit, before_chosen = before;
            }
        }
        __syncthreads();
        known |= K(chosen) << shift;
        mask |= K(255) << shift;
        nth -= before_chosen;
        times = counts[chosen];
        __syncthreads();
    }
    return {known, nth, times};
}

// Writes the first `most` elements of each line, in order, with a block for each line. A block has a thread for each two of these elements,
// at least.
template <class T>
__global__ void __launch_bounds__(512)
    select_first(SortInput lines, u32 width, u32 most, u32 bits, u8 *values, i64 *indices) {
    typedef typename SortKey<T>::type K;
    DYNAMIC_SHARED_MEMORY(bytes);
    __shared__ u32 counts[256], scratch[32], taken;
    u32 capacity = 2 * blockDim.x;
    K *keys = (K *)bytes;
    u32 *positions = (u32 *)(keys + capacity);
    u64 first = u64(blockIdx.x) * lines.size;
    SelectedKey<K> found = radix_select<K>(lines, first, most, bits, counts);
    for (u32 i = threadIdx.x; i < capacity; i += blockDim.x) keys[i] = K(~K(0)), positions[i] = NO_POSITION;
    if (threadIdx.x == 0) taken = 0;
    __syncthreads();
    bool all_equals = found.count == found.rank;
    for (u32 i = threadIdx.x; i < lines.size; i += blockDim.x) {
        K key = lines.key_at<K>(first + i);
        if (key < found.key || (all_equals && key == found.key)) {
            u32 to = atomicAdd(&taken, 1u);
            if (to < capacity) keys[to] = key, positions[to] = i;
        }
    }
    __syncthreads();
    // If more keys are equal to the last one than needed, takes the first of them.
    u32 start = taken, seen = 0;
    for (u32 base = 0; !all_equals && base < lines.size && seen < found.rank; base += blockDim.x) {
        u32 i = base + threadIdx.x, all;
        u32 equal = i < lines.size && lines.key_at<K>(first + i) == found.key, before = block_exclusive_sum(equal, scratch, all);
        u32 to = start + seen + before;
        if (equal && seen + before < found.rank && to < capacity) keys[to] = found.key, positions[to] = i;
        seen += all;
    }
    bitonic_sort(keys, positions, width);
    for (u32 i = threadIdx.x; i < most; i += blockDim.x) {
        u64 to = u64(blockIdx.x) * most + i;
        u32 position = positions[i] == NO_POSITION ? 0 : positions[i];
        indices[to] = position;
        copy_element(values + to * lines.element_size, lines.elements + (first + position) * lines.element_size, lines.element_size);
    }
}

enum { NTH, MEDIAN, NANMEDIAN };

// Writes one element of each line: the `nth` smallest, counted from one, or the median.
template <class T>
__global__ void __launch_bounds__(512) select_nth(SortInput lines, u32 nth, i32 which, u32 bits, u8 *values, i64 *indices) {
    typedef typename SortKey<T>::type K;
    __shared__ u32 counts[256], scratch[32], position;
    u64 first = u64(blockIdx.x) * lines.size;
    u32 none = 0;
    if (threadIdx.x == 0) position = 0;
    if (which != NTH) {
        if (is_floating(lines.dtype))
            for (u32 i = threadIdx.x; i < lines.size; i += blockDim.x) none += lines.key_at<K>(first + i) == (bits < 8 * sizeof(K) ? (K(1) << bits) - 1 : K(~K(0)));
        none = reduce_block(none, Plus(), scratch);
        u32 numbers = lines.size - none;
        // The first NaN comes directly after all numbers.
        nth = which == MEDIAN && none ? numbers + 1 : numbers ? (numbers - 1) / 2 + 1 : 1;
    }
    SelectedKey<K> found = radix_select<K>(lines, first, nth, bits, counts);
    if (found.count == 1) {
        for (u32 i = threadIdx.x; i < lines.size; i += blockDim.x)
            if (lines.key_at<K>(first + i) == found.key) position = i;
    } else {
        u32 seen = 0;
        for (u32 base = 0; base < lines.size && seen < found.rank; base += blockDim.x) {
            u32 i = base + threadIdx.x, all;
            u32 equal = i < lines.size && lines.key_at<K>(first + i) == found.key, before = block_exclusive_sum(equal, scratch, all);
            if (equal && seen + before + 1 == found.rank) position = i;
            seen += all;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        indices[blockIdx.x] = position;
        copy_element(values + u64(blockIdx.x) * lines.element_size, lines.elements + (first + position) * lines.element_size, lines.element_size);
    }
}

// Radix sort of long lines, by digits of eight bits, the lowest first. A block has a tile of a line.
template <class K> struct RadixTile {
    static const u32 ELEMENTS_PER_THREAD = 64 / sizeof(K), SIZE = 256 * ELEMENTS_PER_THREAD;
};

template <class T> __global__ void __launch_bounds__(256) make_keys(SortInput lines, typename SortKey<T>::type *keys) {
    u64 at = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at < u64(lines.count) * lines.size) keys[at] = lines.key_at<typename SortKey<T>::type>(at);
}

// Counts each digit of a tile, at `counts[line][digit][tile]`. Their prefix sums are the positions of the tile's digits.
template <class T>
__global__ void __launch_bounds__(256) count_digits(u32 size, u32 tiles, const typename SortKey<T>::type *keys, u32 shift, i32 *counts) {
    typedef typename SortKey<T>::type K;
    __shared__ i32 own[256];
    u32 line = blockIdx.x / tiles, tile = blockIdx.x - line * tiles;
    own[threadIdx.x] = 0;
    __syncthreads();
    for (u32 i = 0; i < RadixTile<K>::ELEMENTS_PER_THREAD; i++) {
        u32 at = tile * RadixTile<K>::SIZE + i * 256 + threadIdx.x;
        if (at < size) atomicAdd(&own[keys[u64(line) * size + at] >> shift & 255], 1);
    }
    __syncthreads();
    counts[(u64(line) * 256 + threadIdx.x) * tiles + tile] = own[threadIdx.x];
}

// Returns the lanes of the warp that have the same digit, among the lanes with an element.
__device__ __forceinline__ u32 lanes_with_digit(u32 digit, bool here) {
    u32 lanes = __ballot_sync(~0u, here);
#pragma unroll
    for (u32 bit = 0; bit < 8; bit++) {
        bool mine = digit >> bit & 1;
        u32 those = __ballot_sync(~0u, mine);
        lanes &= mine ? those : ~those;
    }
    return lanes;
}

// Moves a tile's keys and positions to the positions of their digits, in their order. If `positions` is null, the positions are those of
// the keys.
template <class T>
__global__ void __launch_bounds__(256)
    scatter_by_digit(u32 size, u32 tiles, const typename SortKey<T>::type *keys, const u32 *positions, u32 shift, const i32 *starts,
             typename SortKey<T>::type *to_keys, u32 *to_positions) {
    typedef typename SortKey<T>::type K;
    const u32 ELEMENTS_PER_THREAD = RadixTile<K>::ELEMENTS_PER_THREAD, SIZE = RadixTile<K>::SIZE;
    __shared__ K tile_keys[SIZE];
    __shared__ u32 tile_positions[SIZE], warps[8][256], starts_here[256], scratch[32];
    u32 line = blockIdx.x / tiles, begin = (blockIdx.x - line * tiles) * SIZE;
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    u64 first = u64(line) * size;
    K key[ELEMENTS_PER_THREAD];
    u32 position[ELEMENTS_PER_THREAD], rank[ELEMENTS_PER_THREAD];
#pragma unroll
    for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) {
        u32 at = begin + warp * 32 * ELEMENTS_PER_THREAD + i * 32 + lane;
        bool here = at < size;
        key[i] = here ? keys[first + at] : K(0);
        position[i] = here ? positions ? positions[first + at] : at : NO_POSITION;
    }
    for (u32 i = 0; i < 8; i++) warps[i][threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) {
        u32 digit = u32(key[i] >> shift) & 255;
        bool here = position[i] != NO_POSITION;
        u32 lanes = lanes_with_digit(digit, here), before = here ? warps[warp][digit] : 0;
        __syncwarp();
        if (here && lane + 1 == 32 - __clz(i32(lanes))) warps[warp][digit] = before + __popc(lanes);
        __syncwarp();
        rank[i] = before + __popc(lanes & ((1u << lane) - 1));
    }
    __syncthreads();
    u32 own = 0, all;
    for (u32 i = 0; i < 8; i++) own += warps[i][threadIdx.x];
    u32 before = block_exclusive_sum(own, scratch, all);
    starts_here[threadIdx.x] = u32(starts[(u64(line) * 256 + threadIdx.x) * tiles + begin / SIZE]) - before;
    for (u32 i = 0; i < 8; i++) {
        u32 count = warps[i][threadIdx.x];
        warps[i][threadIdx.x] = before;
        before += count;
    }
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) {
        if (position[i] == NO_POSITION) continue;
        u32 to = warps[warp][u32(key[i] >> shift) & 255] + rank[i];
        tile_keys[to] = key[i];
        tile_positions[to] = position[i];
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < all; i += 256) {
        K moved = tile_keys[i];
        u32 to = starts_here[u32(moved >> shift) & 255] + i;
        to_keys[to] = moved;
        to_positions[to] = tile_positions[i];
    }
}

// Writes the elements of the first `most` sorted positions of each line, and these positions.
__global__ void __launch_bounds__(256) write_first(SortInput lines, u32 most, const u32 *positions, u8 *values, i64 *indices) {
    u64 to = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (to >= u64(lines.count) * most) return;
    u64 line = to / most;
    u32 position = positions[line * lines.size + (to - line * most)];
    indices[to] = position;
    copy_element(values + to * lines.element_size, lines.elements + (line * lines.size + position) * lines.element_size, lines.element_size);
}

// Writes the most frequent element of each sorted line, the smallest one if there are several, and its last index.
template <class T>
__global__ void __launch_bounds__(512) most_frequent(SortInput lines, const i64 *positions, u8 *values, i64 *indices) {
    typedef typename SortKey<T>::type K;
    __shared__ u64 scratch[32];
    u64 first = u64(blockIdx.x) * lines.size;
    // The count in the upper half, and the distance from the end in the lower half.
    u64 best = 0;
    for (u32 i = threadIdx.x; i < lines.size; i += blockDim.x) {
        K key = lines.key_at<K>(first + i);
        if (i > 0 && lines.key_at<K>(first + i - 1) == key) continue;
        u32 low = i + 1, left = lines.size - low;
        while (left > 0) {
            u32 half = left / 2;
            bool same = lines.key_at<K>(first + low + half) == key;
            low = same ? low + half + 1 : low;
            left = same ? left - half - 1 : half;
        }
        u64 mine = u64(low - i) << 32 | (lines.size - i);
        best = mine > best ? mine : best;
    }
    best = reduce_block(best, [](u64 a, u64 b) { return a > b ? a : b; }, scratch);
    if (threadIdx.x == 0) {
        u64 last = first + (lines.size - u32(best)) + u32(best >> 32) - 1;
        indices[blockIdx.x] = positions[last];
        copy_element(values + u64(blockIdx.x) * lines.element_size, lines.elements + last * lines.element_size, lines.element_size);
    }
}
