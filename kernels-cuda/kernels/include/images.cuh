// Batches of images of up to three dimensions, with any strides.
#pragma once
#include "opdispatch.cuh"

// The indices of an element of a batch of images.
struct ImageIndex {
    u32 batch, channel, spatial[3];
};

__device__ __forceinline__ u64 divide_u64(u64 x, const Divisor &by) { return x >> 31 ? x / by.value : by.divide(u32(x)); }

// The sizes and strides of a batch of images.
struct Images {
    Divisor channels, sizes[3];
    // The strides of the batch, channel, plane, row and column, in elements.
    i64 steps[5];
    u32 channels_last;
    __device__ __forceinline__ void split_off_index(u64 &rest, const Divisor &size, u32 &at) const {
        u64 more = divide_u64(rest, size);
        at = u32(rest - more * size.value);
        rest = more;
    }
    // Returns the indices of the element with this number. Consecutive numbers are adjacent in memory.
    __device__ __forceinline__ ImageIndex unravel_index(u64 number) const {
        ImageIndex index;
        if (channels_last) split_off_index(number, channels, index.channel);
#pragma unroll
        for (int dim = 2; dim >= 0; dim--) split_off_index(number, sizes[dim], index.spatial[dim]);
        if (!channels_last) split_off_index(number, channels, index.channel);
        index.batch = u32(number);
        return index;
    }
    __device__ __forceinline__ i64 image_offset(u32 batch, u32 channel) const { return i64(batch) * steps[0] + i64(channel) * steps[1]; }
    __device__ __forceinline__ i64 image_offset(const ImageIndex &index) const { return image_offset(index.batch, index.channel); }
    __device__ __forceinline__ i64 offset_in_image(i32 plane, i32 row, i32 column) const {
        return plane * steps[2] + row * steps[3] + column * steps[4];
    }
    __device__ __forceinline__ i64 offset_of(const ImageIndex &index) const {
        return image_offset(index) + offset_in_image(i32(index.spatial[0]), i32(index.spatial[1]), i32(index.spatial[2]));
    }
    __device__ __forceinline__ i32 size(int dim) const { return i32(sizes[dim].value); }
};

// The type that elements of images are accumulated in.
template <class T> struct Accumulator { typedef i64 type; };
template <> struct Accumulator<float> { typedef float type; };
template <> struct Accumulator<f16> { typedef float type; };
template <> struct Accumulator<bf16> { typedef float type; };
template <> struct Accumulator<double> { typedef double type; };
template <class T> using accumulator_t = typename Accumulator<T>::type;

__device__ __forceinline__ u64 global_thread_index() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

// A window that moves over images: kernel size, stride, padding and dilation.
struct Window {
    i64 kernel[3], stride[3], padding[3], dilation[3];
};

__device__ __forceinline__ i64 max_i64(i64 a, i64 b) { return a > b ? a : b; }
__device__ __forceinline__ i64 min_i64(i64 a, i64 b) { return a < b ? a : b; }
