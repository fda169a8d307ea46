#include "images.cuh"

enum { REFLECTION, REPLICATION };

// The padding before each dimension, and its kind: reflection or replication.
struct Padding {
    i64 before[3];
    u32 kind;
};

__device__ __forceinline__ i64 source_index_of_position(const Padding &padding, const Images &inside, int dim, i64 position) {
    i64 at = position - padding.before[dim], last = inside.size(dim) - 1;
    if (padding.kind == REPLICATION) return at < 0 ? 0 : at > last ? last : at;
    at = at < 0 ? -at : at;
    return at > last ? 2 * last - at : at;
}

template <class T>
__global__ void __launch_bounds__(256) pad(u64 count, T *out, const T *in, Images padded, Images inside, Padding padding) {
    u64 number = global_thread_index();
    if (number >= count) return;
    ImageIndex index = padded.unravel_index(number);
    i64 at[3];
#pragma unroll
    for (int dim = 0; dim < 3; dim++) at[dim] = source_index_of_position(padding, inside, dim, index.spatial[dim]);
    out[padded.offset_of(index)] = in[inside.image_offset(index) + inside.offset_in_image(i32(at[0]), i32(at[1]), i32(at[2]))];
}

// The positions of a padded dimension that hold copies of one source element.
struct PaddedCopies {
    i64 first, count, positions[3];
    __device__ __forceinline__ PaddedCopies(const Padding &padding, const Images &inside, const Images &padded, int dim, i64 at) {
        i64 before = padding.before[dim], size = inside.size(dim), end = padded.size(dim);
        count = 0;
        if (padding.kind == REPLICATION) {
            first = at == 0 ? 0 : max_i64(at + before, 0);
            count = max_i64((at == size - 1 ? end : min_i64(at + before + 1, end)) - first, 0);
        } else {
            i64 candidates[3] = {before - at, at + before, 2 * (size - 1) - at + before};
            bool there[3] = {at > 0, true, at < size - 1};
#pragma unroll
            for (int i = 0; i < 3; i++)
                if (there[i] && candidates[i] >= 0 && candidates[i] < end) positions[count++] = candidates[i];
        }
    }
    __device__ __forceinline__ i32 padded_position(const Padding &padding, i64 copy) const {
        return i32(padding.kind == REPLICATION ? first + copy : copy == 0 ? positions[0] : copy == 1 ? positions[1] : positions[2]);
    }
};

template <class T>
__global__ void __launch_bounds__(256) pad_backward(u64 count, T *out, const T *grad, Images inside, Images padded, Padding padding) {
    u64 number = global_thread_index();
    if (number >= count) return;
    ImageIndex index = inside.unravel_index(number);
    const T *grads = grad + padded.image_offset(index);
    PaddedCopies planes(padding, inside, padded, 0, index.spatial[0]), rows(padding, inside, padded, 1, index.spatial[1]), columns(padding, inside, padded, 2, index.spatial[2]);
    accumulator_t<T> sum = 0;
    for (i64 i = 0; i < planes.count; i++)
        for (i64 j = 0; j < rows.count; j++)
#pragma unroll 1
            for (i64 k = 0; k < columns.count; k++)
                sum += as<accumulator_t<T>>(grads[padded.offset_in_image(planes.padded_position(padding, i), rows.padded_position(padding, j), columns.padded_position(padding, k))]);
    out[inside.offset_of(index)] = as<T>(sum);
}
