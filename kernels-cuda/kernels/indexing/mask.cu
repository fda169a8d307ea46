// Kernels of `nonzero`, `masked_select` and `masked_scatter`. A block reads TILE flags; the selected elements before each block are counted
// in advance.
#include "prefix_sum.cuh"

static const u32 FLAGS_PER_THREAD = 16, TILE = 256 * FLAGS_PER_THREAD;

// Returns a bit for each of this thread's flags that is not zero.
__device__ __forceinline__ u32 nonzero_flag_bits(const u8 *mask, i64 count) {
    i64 first = i64(blockIdx.x) * TILE + threadIdx.x * FLAGS_PER_THREAD;
    u32 bits = 0;
    if (first + FLAGS_PER_THREAD <= count && u64(mask) % 16 == 0) {
        uint4 words = *(const uint4 *)(mask + first);
        u32 all[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
        for (u32 i = 0; i < FLAGS_PER_THREAD; i++) bits |= u32((all[i / 4] >> i % 4 * 8 & 255) != 0) << i;
    } else {
        for (u32 i = 0; i < FLAGS_PER_THREAD && first + i < count; i++) bits |= u32(mask[first + i] != 0) << i;
    }
    return bits;
}

__global__ void __launch_bounds__(256) count_flags(i64 count, const u8 *mask, i64 *counts) {
    __shared__ i32 scratch[32];
    i32 all = reduce_block(i32(__popc(nonzero_flag_bits(mask, count))), Plus(), scratch);
    if (threadIdx.x == 0) counts[blockIdx.x] = all;
}

// Calls `f` with each selected position and the number of selected ones before it. Consecutive ones are in adjacent threads.
template <class F> __device__ __forceinline__ void for_each_selected(i64 count, const u8 *mask, const i64 *starts, F f) {
    __shared__ u32 scratch[32];
    __shared__ unsigned short list[TILE];
    u32 bits = nonzero_flag_bits(mask, count), all, before = block_exclusive_sum(u32(__popc(bits)), scratch, all);
    for (u32 i = 0; i < FLAGS_PER_THREAD; i++)
        if (bits >> i & 1) list[before++] = threadIdx.x * FLAGS_PER_THREAD + i;
    __syncthreads();
    i64 start = starts[blockIdx.x], first = i64(blockIdx.x) * TILE;
    for (u32 i = threadIdx.x; i < all; i += blockDim.x) f(first + list[i], start + i);
}

// The sizes and the strides of the mask, in elements.
struct MaskDims {
    u32 rank;
    i64 sizes[16], strides[16];
};

// Writes the indices of each selected element: that of dimension `dim` to row `n` and column `dim`, with strides `row` and `col`. Writes at
// most `most` rows.
__global__ void __launch_bounds__(256)
    selected_indices(i64 count, const u8 *mask, const i64 *starts, i64 *to, i64 row, i64 col, i64 most, MaskDims dims) {
    for_each_selected(count, mask, starts, [&](i64 position, i64 n) {
        if (n >= most) return;
        for (u32 dim = 0; dim < dims.rank; dim++) to[n * row + dim * col] = position / dims.strides[dim] % dims.sizes[dim];
    });
}

// Converts a position to an offset in memory, in elements.
struct OffsetOfPosition {
    u32 rank;
    i64 sizes[16], strides[16];
    __device__ __forceinline__ i64 memory_offset(i64 position) const {
        if (rank == 0) return position;
        i64 at = 0;
        for (u32 dim = rank; dim-- > 0;) {
            i64 next = position / sizes[dim];
            at += (position - next * sizes[dim]) * strides[dim];
            position = next;
        }
        return at;
    }
};

// Copies the selected elements. Writes at most `most`, the number that was counted, as the mask may have changed since.
template <class W>
__global__ void __launch_bounds__(256)
    masked_select(i64 count, const u8 *mask, const i64 *starts, W *to, i64 most, const W *from, OffsetOfPosition strides) {
    for_each_selected(count, mask, starts, [&](i64 position, i64 n) {
        if (n < most) to[n] = from[strides.memory_offset(position)];
    });
}

// Writes the n-th element of `from` to the n-th selected position. Reports an error if `from` has too few elements.
template <class W>
__global__ void __launch_bounds__(256)
    masked_scatter(i64 count, const u8 *mask, const i64 *starts, W *to, const W *from, OffsetOfPosition strides, i64 size, u32 site, Fault *fault) {
    for_each_selected(count, mask, starts, [&](i64 position, i64 n) {
        if (n < size) {
            to[strides.memory_offset(position)] = from[n];
        } else {
            report_fault(fault, site, INDEX_OUT_OF_RANGE, n, size);
        }
    });
}
