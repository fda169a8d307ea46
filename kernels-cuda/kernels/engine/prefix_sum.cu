// Kernels of exclusive prefix sums. A block sums TILE counts.
#include "prefix_sum.cuh"

static const u32 EACH = 8, TILE = 256 * EACH;

// Computes the sum of each tile.
template <class T> __global__ void __launch_bounds__(256) sums(i64 count, const T *counts, T *sums) {
    __shared__ T scratch[32];
    T sum = 0;
    for (u32 i = 0; i < EACH; i++) {
        i64 at = i64(blockIdx.x) * TILE + i * 256 + threadIdx.x;
        if (at < count) sum += counts[at];
    }
    sum = joined_in_block(sum, Plus(), scratch);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// Computes the prefix sums of each tile, plus its start if `starts` is not null. The last block writes the sum of all counts to `total`,
// unless it is null.
template <class T>
__global__ void __launch_bounds__(256) prefix(i64 count, T *counts, const T *starts, T *total) {
    __shared__ T scratch[32];
    T values[EACH], sum = 0;
    i64 first = i64(blockIdx.x) * TILE + threadIdx.x * EACH;
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
        values[i] = first + i < count ? counts[first + i] : T(0);
        sum += values[i];
    }
    T all, start = starts ? starts[blockIdx.x] : T(0), before = start + before_in_block(sum, scratch, all);
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
        if (first + i < count) counts[first + i] = before;
        before += values[i];
    }
    if (total && blockIdx.x + 1 == gridDim.x && threadIdx.x == 0) *total = start + all;
}
