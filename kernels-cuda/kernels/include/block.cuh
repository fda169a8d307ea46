// Operations of a warp or a block. Blocks have a multiple of 32 threads, in one dimension.
#pragma once
#include "opdispatch.cuh"

// Exchanges a value with another lane, word by word.
template <class T, class Exchange> __device__ __forceinline__ T exchange_words(T value, Exchange exchange) {
    static_assert(sizeof(T) % 4 == 0, "whole words");
    union Words {
        T value;
        u32 words[sizeof(T) / 4];
        __device__ Words() {}
    } in;
    in.value = value;
#pragma unroll
    for (u32 i = 0; i < sizeof(T) / 4; i++) in.words[i] = exchange(in.words[i]);
    return in.value;
}
template <class T> __device__ __forceinline__ T shuffle_xor(T value, int distance) {
    return exchange_words(value, [=](u32 word) { return __shfl_xor_sync(~0u, word, distance); });
}

// Joins the values of all lanes of a warp, in a fixed order. Each lane gets the result.
template <class T, class Join> __device__ __forceinline__ T reduce_warp(T value, Join join) {
#pragma unroll
    for (int distance = 16; distance; distance /= 2) value = join(value, shuffle_xor(value, distance));
    return value;
}

// Joins the values of all threads of a block. `scratch` is shared memory for 32 values. It synchronises the block before it writes
// `scratch`, so it can be called again at once.
template <class T, class Join> __device__ __forceinline__ T reduce_block(T value, Join join, T *scratch) {
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    value = reduce_warp(value, join);
    __syncthreads();
    if (lane == 0) scratch[warp] = value;
    __syncthreads();
    value = scratch[0];
    for (u32 i = 1; i < warps; i++) value = join(value, scratch[i]);
    return value;
}

// Joins the values of each group of `lanes` threads: a power of two of at most 32, or else the whole block.
template <class T, class Join> __device__ __forceinline__ T reduce_group(u32 lanes, T value, Join join, T *scratch) {
    if (lanes > 32) return reduce_block(value, join, scratch);
    for (u32 distance = lanes / 2; distance; distance /= 2) value = join(value, shuffle_xor(value, distance));
    return value;
}

struct Plus {
    template <class T> __device__ __forceinline__ T operator()(T a, T b) const { return a + b; }
};
