// Kernels of `nonzero`, `masked_select` and `masked_scatter`. A block reads TILE flags; the selected elements before each block are counted
// in advance.
#include "prefix_sum.cuh"

static const u32 EACH = 16, TILE = 256 * EACH;

// Returns a bit for each of this thread's flags that is not zero.
__device__ __forceinline__ u32 picked(const u8 *mask, i64 count) {
    i64 first = i64(blockIdx.x) * TILE + threadIdx.x * EACH;
    u32 bits = 0;
    if (first + EACH <= count && u64(mask) % 16 == 0) {
        uint4 words = *(const uint4 *)(mask + first);
        u32 all[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
        for (u32 i = 0; i < EACH; i++) bits |= u32((all[i / 4] >> i % 4 * 8 & 255) != 0) << i;
    } else {
        for (u32 i = 0; i < EACH && first + i < count; i++) bits |= u32(mask[first + i] != 0) << i;
    }
    return bits;
}

__global__ void __launch_bounds__(256) counted(i64 count, const u8 *mask, i64 *counts) {
    __shared__ i32 scratch[32];
    i32 all = joined_in_block(i32(__popc(picked(mask, count))), Plus(), scratch);
    if (threadIdx.x == 0) counts[blockIdx.x] = all;
}

// Calls `f` with each selected position and the number of selected ones before it. Consecutive ones are in adjacent threads.
template <class F> __device__ __forceinline__ void each_picked(i64 count, const u8 *mask, const i64 *starts, F f) {
    __shared__ u32 scratch[32];
    __shared__ unsigned short list[TILE];
    u32 bits = picked(mask, count), all, before = before_in_block(u32(__popc(bits)), scratch, all);
    for (u32 i = 0; i < EACH; i++)
        if (bits >> i & 1) list[before++] = threadIdx.x * EACH + i;
    __syncthreads();
    i64 start = starts[blockIdx.x], first = i64(blockIdx.x) * TILE;
    for (u32 i = threadIdx.x; i < all; i += blockDim.x) f(first + list[i], start + i);
}

// The sizes and the strides of the mask, in elements.
struct Dimensions {
    u32 rank;
    i64 sizes[16], steps[16];
};

// Writes the indices of each selected element: that of dimension `dim` to row `n` and column `dim`, with strides `row` and `col`. Writes at
// most `most` rows.
__global__ void __launch_bounds__(256)
    positions(i64 count, const u8 *mask, const i64 *starts, i64 *to, i64 row, i64 col, i64 most, Dimensions dims) {
    each_picked(count, mask, starts, [&](i64 place, i64 n) {
        if (n >= most) return;
        for (u32 dim = 0; dim < dims.rank; dim++) to[n * row + dim * col] = place / dims.steps[dim] % dims.sizes[dim];
    });
}

// Converts a position to an offset in memory, in elements.
struct Spread {
    u32 rank;
    i64 sizes[16], steps[16];
    __device__ __forceinline__ i64 of(i64 place) const {
        if (rank == 0) return place;
        i64 at = 0;
        for (u32 dim = rank; dim-- > 0;) {
            i64 next = place / sizes[dim];
            at += (place - next * sizes[dim]) * steps[dim];
            place = next;
        }
        return at;
    }
};

// Copies the selected elements. Writes at most `most`, the number that was counted, as the mask may have changed since.
template <class W>
__global__ void __launch_bounds__(256)
    selected(i64 count, const u8 *mask, const i64 *starts, W *to, i64 most, const W *from, Spread spread) {
    each_picked(count, mask, starts, [&](i64 place, i64 n) {
        if (n < most) to[n] = from[spread.of(place)];
    });
}

// Writes the n-th element of `from` to the n-th selected position. Reports an error if `from` has too few elements.
template <class W>
__global__ void __launch_bounds__(256)
    replaced(i64 count, const u8 *mask, const i64 *starts, W *to, const W *from, Spread spread, i64 size, u32 site, Fault *fault) {
    each_picked(count, mask, starts, [&](i64 place, i64 n) {
        if (n < size) {
            to[spread.of(place)] = from[n];
        } else {
            report(fault, site, INDEX_OUT_OF_RANGE, n, size);
        }
    });
}
