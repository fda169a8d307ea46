// Parameters and functions that the attention kernels share.
#pragma once
#include "block.cuh"

// The elements [item, head, row, column] of a tensor: its address and strides.
struct StridedHeads {
    u8 *address;
    i64 strides[4];
    __device__ __forceinline__ i64 row_offset(u32 item, u32 head, u32 row) const {
        return i64(item) * strides[0] + i64(head) * strides[1] + i64(row) * strides[2];
    }
};

struct AttentionTask {
    StridedHeads query, key, value, mask, out, grad, grad_query, grad_key, grad_value;
    // The logsumexp of each query's scores, and for each query the dot product of its result and the result's gradient.
    StridedHeads logsumexps, output_dots;
    u32 items, heads, groups, rows, keys, width;
    i32 dtype, mask_dtype;
    u32 is_causal;
    double scale;
};

// Returns the offset that is subtracted from scores: their maximum, or zero if all are minus infinity.
template <class C> __device__ __forceinline__ C score_offset(C highest) { return highest == Limits<C>::min_value() ? C(0) : highest; }

struct MaxOfTwo {
    template <class C> __device__ __forceinline__ C operator()(C a, C b) const { return b > a ? b : a; }
};
template <int LANES, class C, class Join> __device__ __forceinline__ C reduce_lanes(C value, Join join) {
#pragma unroll
    for (int distance = LANES / 2; distance; distance /= 2) value = join(value, shuffle_xor(value, distance));
    return value;
}

__device__ __forceinline__ u32 min_u32(u32 a, u32 b) { return a < b ? a : b; }
