// Prefix sums of a block.
#pragma once
#include "block.cuh"

// Returns the sum of the values of the threads before this one, and in `total` the sum of all values. `scratch` is shared memory for 32
// values. It synchronises the block before it writes `scratch`, so it can be called again at once.
template <class T> __device__ __forceinline__ T block_exclusive_sum(T value, T *scratch, T &total) {
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    T sum = value;
#pragma unroll
    for (u32 by = 1; by < 32; by *= 2) {
        T other = __shfl_up_sync(~0u, sum, by);
        if (lane >= by) sum += other;
    }
    __syncthreads();
    if (lane == 31) scratch[warp] = sum;
    __syncthreads();
    T before = 0;
    total = 0;
    for (u32 i = 0; i < warps; i++) {
        if (i == warp) before = total;
        total += scratch[i];
    }
    return before + sum - value;
}
