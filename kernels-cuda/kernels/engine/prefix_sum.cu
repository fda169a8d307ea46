// Kernels of exclusive prefix sums. A block sums TILE counts.
#include "prefix_sum.cuh"

static const u32 ELEMENTS_PER_THREAD = 8, TILE = 256 * ELEMENTS_PER_THREAD;

// Computes the sum of each tile.
template <class T> __global__ void __launch_bounds__(256) sum_tiles(i64 count, const T *counts, T *sums) {
    __shared__ T scratch[32];
    T sum = 0;
    for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) {
        i64 at = i64(blockIdx.x) * TILE + i * 256 + threadIdx.x;
        if (at < count) sum += counts[at];
    }
    sum = reduce_block(sum, Plus(), scratch);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// Computes the prefix sums of each tile, plus its start if `starts` is not null. The last block writes the sum of all counts to `total`,
// unless it is null.
template <class T>
__global__ void __launch_bounds__(256) prefix_sums(i64 count, T *counts, const T *starts, T *total) {
    __shared__ T scratch[32];
    T values[ELEMENTS_PER_THREAD], sum = 0;
    i64 first = i64(blockIdx.x) * TILE + threadIdx.x * ELEMENTS_PER_THREAD;
#pragma unroll
    for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) {
        values[i] = first + i < count ? counts[first + i] : T(0);
        sum += values[i];
    }
    T all, start = starts ? starts[blockIdx.x] : T(0), before = start + block_exclusive_sum(sum, scratch, all);
#pragma unroll
    for (u32 i = 0; i < ELEMENTS_PER_THREAD; i++) {
        if (first + i < count) counts[first + i] = before;
        before += values[i];
    }
    if (total && blockIdx.x + 1 == gridDim.x && threadIdx.x == 0) *total = start + all;
}
